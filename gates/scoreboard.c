/* What the oracle knew of each output, and the totals of several searches together. */
#include <math.h>

#include "gate.h"

void cupel_scoreboard_count_output(cupel_scoreboard *scoreboard, int tensor, const cupel_allowed *allowed) {
    cupel_output_tally *output = &scoreboard->outputs[tensor];
    int64_t coarse = 0;
    for (int r = 0; r < CUPEL_REASON_COUNT; r++)
        if (r != CUPEL_REASON_NOT_RUN) output->by_reason[r] += allowed->by_reason[r];
    for (int64_t i = 0; i < allowed->count; i++)
        coarse +=
            (allowed->reasons[i] == CUPEL_REASON_JUDGED) & (allowed->radius[i] > fabs(allowed->value[i]));
    output->coarse += coarse;
}

int64_t cupel_scoreboard_by_reason(const cupel_scoreboard *scoreboard, cupel_reason reason) {
    int64_t count = 0;
    for (int t = 0; t < CUPEL_TENSOR_MAX; t++) count += scoreboard->outputs[t].by_reason[reason];
    return count;
}

int64_t cupel_output_considered(const cupel_output_tally *output) {
    int64_t count = 0;
    for (int r = 0; r < CUPEL_REASON_COUNT; r++) count += output->by_reason[r];
    return count;
}

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

/* What the constants and the last outputs are is for a search to know. */
static void add_strawmen(cupel_strawmen *to, const cupel_strawmen *from) {
    for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++) {
        to->tried[gate] |= from->tried[gate];
        to->rejected[gate] |= from->rejected[gate];
    }
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
    for (int d = 0; d < CUPEL_DIM_MAX; d++)
        add_all(scoreboard->cases_by_variant[d], more->cases_by_variant[d], CUPEL_VARIANT_VALUES_MAX + 1);
    for (int t = 0; t < CUPEL_TENSOR_MAX; t++) {
        add_all(scoreboard->outputs[t].by_reason, more->outputs[t].by_reason, CUPEL_REASON_COUNT);
        scoreboard->outputs[t].coarse += more->outputs[t].coarse;
    }
    for (int t = 0; t < CUPEL_TYPE_MAX; t++)
        add_all(scoreboard->judged_by_type[t], more->judged_by_type[t], CUPEL_DTYPE_COUNT);
    scoreboard->float_atomic_cases += more->float_atomic_cases;
    scoreboard->unsupported += more->unsupported;
    scoreboard->sampled += more->sampled;
    scoreboard->shadowed += more->shadowed;
    scoreboard->discerned += more->discerned;
    add_strawmen(&scoreboard->strawmen, &more->strawmen);
}
