/* Which of the runs differ (DESIGN section 4). A case runs as schedule A with poison 1 and schedule B with
 * poison 2; where an output differs, A/2 and B/1 are run as well. If A/1 and B/1, or A/2 and B/2, differ, the
 * schedule decides the result (ORD-02), be it that the poison shows under some schedule: what is read too
 * early lies there as poison still. Else, if A/1 and A/2 differ, memory that is not input was read (RES-01).
 * An element that holds its own poison after both runs, and that no store reached as far as that is known,
 * was left as it was (RES-01). Where A and B are one
 * schedule, the crossed runs are repetitions: they tell nondeterminism from the effect of the poison on an
 * executor that does not fix the schedule.
 *
 * B may also come after an earlier call. Then more runs tell which of the two makes the difference: the
 * recipe's schedule alone, the earlier call alone; without a fixed schedule, A/1 once more. */
#include "judging.h"

#include <stdio.h>
#include <string.h>

#include "schedule.h"

enum { A1 = 0, B2 = 1 };

static int find_run(const cupel_evidence *e, uint64_t schedule, bool history, cupel_poison poison,
                    int besides) {
    for (int r = 0; r < e->run_count; r++)
        if (r != besides && e->runs[r].schedule == schedule && e->runs[r].history == history &&
            e->runs[r].poison == poison)
            return r;
    return -1;
}

static int run_a2(const cupel_evidence *e) {
    return find_run(e, e->runs[A1].schedule, e->runs[A1].history, e->runs[B2].poison, B2);
}
static int run_b1(const cupel_evidence *e) {
    return find_run(e, e->runs[B2].schedule, e->runs[B2].history, e->runs[A1].poison, A1);
}
/* B's schedule without its history, and its history under A's schedule; with the finite poison, which is told
 * from a NaN result where nothing is written. */
static int run_schedule_alone(const cupel_evidence *e) {
    return find_run(e, e->runs[B2].schedule, e->runs[A1].history, e->runs[B2].poison, B2);
}
static int run_history_alone(const cupel_evidence *e) {
    return find_run(e, e->runs[A1].schedule, e->runs[B2].history, e->runs[B2].poison, B2);
}
static int run_a1_again(const cupel_evidence *e) {
    return find_run(e, e->runs[A1].schedule, e->runs[A1].history, e->runs[A1].poison, A1);
}

static bool same_schedule(const cupel_evidence *e) {
    return e->runs[A1].schedule == e->runs[B2].schedule;
}
static bool same_history(const cupel_evidence *e) {
    return e->runs[A1].history == e->runs[B2].history;
}
/* Do A and B run alike, but for the poison? */
static bool run_alike(const cupel_evidence *e) {
    return same_schedule(e) && same_history(e);
}

static bool two_finished(const cupel_judging *j) {
    return j->evidence->run_count >= 2 && cupel_judging_finished(j, A1) && cupel_judging_finished(j, B2);
}

static bool is_kept(const cupel_output_view *view, int64_t i) {
    return view->allowed && (view->allowed->classes[i] & CUPEL_KEEP);
}

/* Do two runs differ at element i? NaNs are equal whatever their payload; kept elements are compared with
 * their own content elsewhere. */
static bool differs(const cupel_output_view *view, int r, int s, int64_t i) {
    if (cupel_view_not_run(view, i)) return false;
    const unsigned char *a = cupel_view_element(view, r, i), *b = cupel_view_element(view, s, i);
    return !cupel_elements_equal(view->output->type, a, b) && !is_kept(view, i);
}

static bool same_bytes(const cupel_output_view *view, int r, int s) {
    return view->after[r] == view->after[s] ||
           !memcmp(view->after[r], view->after[s], (size_t)view->count * view->size);
}

/* Is it known of run r that some access reached the element's bytes? */
static bool is_reached(const cupel_judging *j, const cupel_output_view *view, int r, int64_t i) {
    const cupel_case_tensor *tensor = &j->evidence->c->tensors[view->tensor];
    const uint8_t *reached = j->evidence->runs[r].observation->buffers[tensor->buffer].reached;
    if (!reached) return false;
    int64_t at = tensor->offset, size = (int64_t)view->size;
    for (int axis = tensor->rank - 1; axis >= 0; axis--) {
        at += i % tensor->shape[axis] * tensor->stride[axis] * size;
        i /= tensor->shape[axis];
    }
    for (int64_t byte = at; byte < at + size; byte++)
        if (reached[byte >> 3] >> (byte & 7) & 1) return true;
    return false;
}

/* Holds its own poison after both runs, the poisons being different, and no store is known to have left it
 * there. */
static bool is_unwritten(cupel_judging *j, cupel_output_view *view, int64_t i) {
    if (!view->poisoned) return false;
    const unsigned char *before1 = cupel_judging_before(j, view, A1),
                        *before2 = cupel_judging_before(j, view, B2);
    if (!before1 || !before2) return false;
    size_t at = (size_t)i * view->size;
    return memcmp(before1 + at, before2 + at, view->size) &&
           !memcmp(before1 + at, view->after[A1] + at, view->size) &&
           !memcmp(before2 + at, view->after[B2] + at, view->size) && !is_reached(j, view, A1, i) &&
           !is_reached(j, view, B2, i);
}

/* The first element that differs for another reason than that nobody wrote it; -1 when there is none. */
static int64_t first_difference(cupel_judging *j, cupel_output_view *view, int r, int s) {
    if (r < 0 || s < 0 || !view->after[r] || !view->after[s] || same_bytes(view, r, s)) return -1;
    for (int64_t i = 0; i < view->count; i++)
        if (differs(view, r, s, i) && !is_unwritten(j, view, i)) return i;
    return -1;
}

/* Does the contract claim equal bytes for this case? */
static bool asserts_determinism(const cupel_judging *j) {
    const cupel_evidence *e = j->evidence;
    switch (e->c->contract->deterministic) {
    case CUPEL_DETERMINISTIC_ACROSS_VARIANTS:
    case CUPEL_DETERMINISTIC_TRUE: return true;
    case CUPEL_DETERMINISTIC_FALSE: return false;
    case CUPEL_DETERMINISTIC_AUTO: break;
    }
    return !e->float_atomics_unknown && !j->float_atomics;
}

/* Can a difference become a finding at all? Where neither the schedule is fixed nor determinism claimed, only
 * values count. */
static bool differences_matter(const cupel_judging *j) {
    return j->evidence->schedule_fixed || asserts_determinism(j);
}

/* On a fixed schedule two runs of the same schedule settle the question by themselves. */
static bool settled_by_two(const cupel_evidence *e) {
    return e->schedule_fixed && run_alike(e);
}

static bool has_all_runs(const cupel_evidence *e) {
    if (run_a2(e) < 0 || run_b1(e) < 0) return false;
    if (same_history(e)) return true;
    if (!e->schedule_fixed && run_a1_again(e) < 0) return false;
    return same_schedule(e) || (run_schedule_alone(e) >= 0 && run_history_alone(e) >= 0);
}

static bool is_wrong(const cupel_output_view *view, int r, int64_t i) {
    return cupel_judge_element(view->allowed, i, cupel_view_element(view, r, i)) > CUPEL_NOT_JUDGED;
}

/* The first element that is wrong in run s and another, not wrong, in run r; -1 when there is none. */
static int64_t first_spoilt(cupel_judging *j, cupel_output_view *view, int r, int s) {
    if (!view->allowed || r < 0 || s < 0 || !view->after[r] || !view->after[s] || same_bytes(view, r, s))
        return -1;
    for (int64_t i = 0; i < view->count; i++)
        if (differs(view, r, s, i) && is_wrong(view, s, i) && !is_wrong(view, r, i) &&
            !is_unwritten(j, view, i))
            return i;
    return -1;
}

bool cupel_runs_want_more(cupel_judging *j) {
    const cupel_evidence *e = j->evidence;
    if (!two_finished(j) || settled_by_two(e) || has_all_runs(e)) return false;
    for (int v = 0; v < j->view_count; v++) {
        cupel_output_view *view = &j->views[v];
        if (differences_matter(j) && first_difference(j, view, A1, B2) >= 0) return true;
        if (!same_history(e) && first_spoilt(j, view, A1, B2) >= 0) return true;
    }
    return false;
}

/* The differing element that makes the better example: one whose result is wrong in one of the runs, else the
 * first. */
static int64_t pick(cupel_judging *j, cupel_output_view *view, int r, int s, int64_t first, int *run) {
    *run = r;
    for (int64_t i = first; view->allowed && i < view->count; i++) {
        if (!differs(view, r, s, i) || is_unwritten(j, view, i)) continue;
        if (is_wrong(view, r, i)) return i;
        if (!is_wrong(view, s, i)) continue;
        *run = s;
        return i;
    }
    return first;
}

static const cupel_access *uninitialised_read(const cupel_judging *j) {
    for (int r = 0; r < j->evidence->run_count; r++) {
        const cupel_observation *seen = j->evidence->runs[r].observation;
        for (int a = 0; a < seen->access_count && a < CUPEL_ACCESS_MAX; a++)
            if (seen->accesses[a].kind == CUPEL_ACCESS_UNINITIALISED_READ) return &seen->accesses[a];
    }
    return NULL;
}

static cupel_finding_run run_of(const cupel_judging *j, int r) {
    const cupel_run *run = &j->evidence->runs[r];
    return (cupel_finding_run){r, run->schedule, run->poison, run->history};
}

/* One sentence about an element that is `one` in run r and `two` in run s. */
static int tell_difference(const cupel_judging *j, cupel_finding_kind kind, int s, const char *where,
                           const char *one, const char *two, char *text, size_t size) {
    const cupel_run *run = &j->evidence->runs[s];
    char before[96], schedule[160];
    cupel_history_describe(j->evidence->c->recipe, before, sizeof before);
    cupel_schedule_describe(run->schedule, schedule, sizeof schedule);
    if (kind == CUPEL_FINDING_STRAY_READ)
        return snprintf(text, size, "%s is %s or %s, depending on what lies in memory that is not input",
                        where, one, two);
    if (kind == CUPEL_FINDING_HISTORY)
        return snprintf(text, size, "%s is %s when nothing was called before, and %s after %s%s%s", where,
                        one, two, before, run->schedule ? "; both under the schedule: " : "",
                        run->schedule ? schedule : "");
    if (!j->evidence->schedule_fixed)
        return snprintf(text, size, "%s is %s or %s, from one run to the next", where, one, two);
    return snprintf(text, size, "%s is %s in run A (canonical order) and %s in run B (%s%s%s)", where, one,
                    two, schedule, run->history ? "; after " : "", run->history ? before : "");
}

/* "y" or "shared memory" */
static void name_memory(const cupel_judging *j, const cupel_access *access, char *text, size_t size) {
    static const char *const spaces[] = {"global memory", "shared memory", "local memory"};
    const cupel_case *c = j->evidence->c;
    snprintf(text, size, "%s", spaces[access->space <= CUPEL_SPACE_LOCAL ? access->space : 0]);
    for (int t = 0; access->space == CUPEL_SPACE_GLOBAL && t < c->tensor_count; t++)
        if (c->tensors[t].buffer == access->buffer && access->offset >= 0 &&
            (uint64_t)access->offset < c->buffers[access->buffer].size) {
            snprintf(text, size, "%s", c->contract->tensors[t].name);
            return;
        }
}

static void add_difference(cupel_judging *j, cupel_output_view *view, cupel_finding_kind kind, int r, int s,
                           int64_t first) {
    cupel_finding *finding = cupel_judging_add(j, kind);
    if (!finding) return;
    int run = r;
    int64_t i = pick(j, view, r, s, first, &run);
    cupel_judging_element(view, i, cupel_view_element(view, run, i), finding);
    char where[160], one[32], two[32];
    cupel_judging_where(view->output->name, view->output->rank, view->output->shape, i, where, sizeof where);
    cupel_judging_number(view->output->type, cupel_decode(view->output->type, cupel_view_element(view, r, i)),
                         one, sizeof one);
    cupel_judging_number(view->output->type, cupel_decode(view->output->type, cupel_view_element(view, s, i)),
                         two, sizeof two);
    finding->run_a = run_of(j, r);
    finding->run_b = run_of(j, s);
    if (!asserts_determinism(j) && kind == CUPEL_FINDING_HISTORY) {
        /* stands by the value alone: the exact oracle has to confirm it */
        j->out->element_counts[finding - j->out->findings] = 1;
        j->out->elements[finding - j->out->findings][0] =
            (cupel_suspect_element){.index = i, .bits = finding->got_bits};
    }
    int used = tell_difference(j, kind, s, where, one, two, finding->text, sizeof finding->text);
    const cupel_access *access = kind == CUPEL_FINDING_STRAY_READ ? uninitialised_read(j) : NULL;
    if (access && used > 0 && (size_t)used < sizeof finding->text) {
        finding->has_access = true;
        finding->access = *access;
        finding->place = access->place;
        char what[96];
        name_memory(j, access, what, sizeof what);
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "; line %d reads %s before anything is written there", access->place.line, what);
    }
    cupel_judging_keep(j, finding);
}

/* What the runs say about one output: its finding's kind, and the two runs that show it. */
typedef struct difference {
    cupel_finding_kind kind; /* CUPEL_FINDING_KIND_COUNT: nothing */
    int r, s;
    int64_t first;
} difference;

/* A and B differ: by chance, by the schedule alone, by the earlier call alone, or by both together? */
static difference tell_apart(cupel_judging *j, cupel_output_view *view, difference d) {
    const cupel_evidence *e = j->evidence;
    if (same_history(e)) return d;
    if (!e->schedule_fixed) {
        difference chance = {CUPEL_FINDING_NONDETERMINISM, A1, run_a1_again(e), -1};
        chance.first = first_difference(j, view, A1, chance.s);
        if (chance.first >= 0) return chance;
    }
    if (same_schedule(e)) {
        d.kind = CUPEL_FINDING_HISTORY;
        return d;
    }
    int a2 = run_a2(e);
    difference alone = {CUPEL_FINDING_NONDETERMINISM, a2, run_schedule_alone(e), -1};
    alone.first = first_difference(j, view, a2, alone.s);
    if (alone.first >= 0) return alone;
    alone = (difference){CUPEL_FINDING_HISTORY, a2, run_history_alone(e), -1};
    alone.first = first_difference(j, view, a2, alone.s);
    if (alone.first >= 0) return alone;
    /* both are needed: what the earlier call leaves shows under this schedule */
    alone = (difference){CUPEL_FINDING_HISTORY, run_schedule_alone(e), B2, -1};
    alone.first = first_difference(j, view, alone.r, alone.s);
    return alone.first >= 0 ? alone : d;
}

static difference by_schedule(cupel_judging *j, cupel_output_view *view) {
    int a2 = run_a2(j->evidence), b1 = run_b1(j->evidence);
    difference d = {CUPEL_FINDING_NONDETERMINISM, A1, b1, first_difference(j, view, A1, b1)};
    if (d.first >= 0) return tell_apart(j, view, d);
    d = (difference){CUPEL_FINDING_NONDETERMINISM, a2, B2, first_difference(j, view, a2, B2)};
    if (d.first >= 0) return tell_apart(j, view, d);
    d.kind = CUPEL_FINDING_KIND_COUNT;
    return d;
}

static difference by_poison(cupel_judging *j, cupel_output_view *view) {
    int a2 = run_alike(j->evidence) ? B2 : run_a2(j->evidence);
    difference d = {CUPEL_FINDING_STRAY_READ, A1, a2, first_difference(j, view, A1, a2)};
    if (d.first < 0) d.kind = CUPEL_FINDING_KIND_COUNT;
    return d;
}

/* Where bytes may differ from run to run, an earlier call is to blame for a value that is wrong after it and
 * right without it. */
static difference by_history(cupel_judging *j, cupel_output_view *view) {
    const cupel_evidence *e = j->evidence;
    difference d = {CUPEL_FINDING_KIND_COUNT, -1, -1, -1};
    if (same_history(e) || !has_all_runs(e)) return d;
    d.r = run_a2(e);
    d.s = same_schedule(e) ? B2 : run_history_alone(e);
    d.first = first_spoilt(j, view, d.r, d.s);
    int again = e->schedule_fixed ? A1 : run_a1_again(e);
    if (d.first >= 0 && view->after[again] && !differs(view, A1, again, d.first))
        d.kind = CUPEL_FINDING_HISTORY;
    return d;
}

/* The runs are asked for the schedule first, where equal bytes are claimed. */
static difference decide(cupel_judging *j, cupel_output_view *view) {
    difference d = {CUPEL_FINDING_KIND_COUNT, -1, -1, -1};
    if (first_difference(j, view, A1, B2) < 0) return d;
    bool asserted = asserts_determinism(j), fixed = j->evidence->schedule_fixed;
    if (asserted && has_all_runs(j->evidence)) d = by_schedule(j, view);
    if (!asserted) d = by_history(j, view);
    if (d.kind != CUPEL_FINDING_KIND_COUNT) return d;
    return fixed || (asserted && has_all_runs(j->evidence)) ? by_poison(j, view) : d;
}

static void excuse_differences(cupel_judging *j, cupel_output_view *view, int r, int s) {
    if (r < 0 || s < 0 || !view->after[r] || !view->after[s]) return;
    for (int64_t i = 0; i < view->count; i++)
        if (differs(view, r, s, i)) cupel_judging_excuse(j, view, i);
}

static void judge_unwritten(cupel_judging *j, cupel_output_view *view) {
    if (!view->poisoned || j->evidence->blocks_left_out || same_bytes(view, A1, B2)) return;
    int64_t first = -1, count = 0;
    for (int64_t i = 0; i < view->count; i++) {
        if (is_kept(view, i) || !is_unwritten(j, view, i)) continue;
        if (first < 0) first = i;
        count++;
        cupel_judging_excuse(j, view, i);
    }
    cupel_finding *finding = count ? cupel_judging_add(j, CUPEL_FINDING_UNWRITTEN) : NULL;
    if (!finding) return;
    char where[160];
    int buffer = j->evidence->c->tensors[view->tensor].buffer;
    bool known = j->evidence->runs[A1].observation->buffers[buffer].reached != NULL;
    cupel_judging_element(view, first, cupel_view_element(view, A1, first), finding);
    cupel_judging_where(view->output->name, view->output->rank, view->output->shape, first, where,
                        sizeof where);
    finding->wrong_elements = count;
    finding->judged_elements = view->count;
    snprintf(finding->text, sizeof finding->text,
             known ? "%s is never written (%lld of %lld elements still hold what lay there before the launch)"
                   : "%s holds what lay there before the launch (so do %lld of %lld elements)",
             where, (long long)count, (long long)view->count);
    cupel_judging_keep(j, finding);
}

static void judge_difference(cupel_judging *j, cupel_output_view *view) {
    difference d = decide(j, view);
    if (d.kind == CUPEL_FINDING_KIND_COUNT) return;
    /* A proven read out of bounds is told with its line; that poison reaches the result follows from it. */
    bool told = d.kind == CUPEL_FINDING_STRAY_READ &&
                cupel_judging_has_access(j, 1u << CUPEL_ACCESS_OUT_OF_BOUNDS_READ);
    if (!told) add_difference(j, view, d.kind, d.r, d.s, d.first);
    excuse_differences(j, view, A1, B2);
    excuse_differences(j, view, d.r, d.s);
    for (int r = 1; d.kind != CUPEL_FINDING_STRAY_READ && r < j->evidence->run_count; r++)
        excuse_differences(j, view, A1, r);
}

/* Were runs compared that ought to agree although the schedule (or the moment) differs? */
static bool exercises_determinism(const cupel_judging *j) {
    return !run_alike(j->evidence) || !j->evidence->schedule_fixed;
}

static int64_t compared_elements(const cupel_judging *j) {
    int64_t count = 0;
    for (int v = 0; v < j->view_count; v++) count += cupel_view_run(&j->views[v]);
    return count;
}

void cupel_gate_determinism(cupel_judging *j) {
    if (!two_finished(j)) return;
    for (int v = 0; v < j->view_count; v++) {
        judge_unwritten(j, &j->views[v]);
        judge_difference(j, &j->views[v]);
    }
    int64_t count = compared_elements(j);
    j->determinism_counted = asserts_determinism(j) && exercises_determinism(j);
    if (j->determinism_counted)
        cupel_judging_tally(j, CUPEL_GATE_ORD_02, count, count);
    else if (j->scoreboard && j->float_atomics &&
             j->evidence->c->contract->deterministic == CUPEL_DETERMINISTIC_AUTO)
        j->scoreboard->float_atomic_cases++;
}
