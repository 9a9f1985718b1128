/* The totals of several searches together. */
#include "gate.h"

static void add_all(int64_t *to, const int64_t *from, int count) {
    for (int i = 0; i < count; i++) to[i] += from[i];
}

static void add_tally(cupel_gate_tally *to, const cupel_gate_tally *from) {
    to->cases += from->cases;
    to->judged += from->judged;
    to->considered += from->considered;
    to->failures += from->failures;
    if (from->worst_ratio > to->worst_ratio) to->worst_ratio = from->worst_ratio;
}

void cupel_scoreboard_add(cupel_scoreboard *scoreboard, const cupel_scoreboard *more) {
    bool first = scoreboard->cases == 0;
    if (more->cases == 0) return;
    for (int d = 0; d < CUPEL_DIM_MAX; d++) {
        if (first || more->smallest[d] < scoreboard->smallest[d]) scoreboard->smallest[d] = more->smallest[d];
        if (first || more->largest[d] > scoreboard->largest[d]) scoreboard->largest[d] = more->largest[d];
    }
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) add_tally(&scoreboard->gates[g], &more->gates[g]);
    scoreboard->cases += more->cases;
    scoreboard->elements += more->elements;
    add_all(scoreboard->cases_by_pattern, more->cases_by_pattern, CUPEL_PATTERN_COUNT);
    add_all(scoreboard->not_judged, more->not_judged, CUPEL_REASON_COUNT);
    for (int t = 0; t < CUPEL_TYPE_MAX; t++)
        add_all(scoreboard->judged_by_type[t], more->judged_by_type[t], CUPEL_DTYPE_COUNT);
    scoreboard->float_atomic_cases += more->float_atomic_cases;
    scoreboard->unsupported += more->unsupported;
    scoreboard->shadowed += more->shadowed;
}
