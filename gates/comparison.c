/* The gates that judge values share one comparison: every element of every output against its allowed set.
 * What a case exercises is for each gate's own file to say; what a mismatch is blamed on is decided later, by
 * necessity. */
#include "judging.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Mismatches of one kind in one output. */
typedef struct mismatches {
    int64_t wrong;
    int count;
    cupel_suspect_element worst[CUPEL_SUSPECT_ELEMENTS_MAX]; /* descending */
} mismatches;

typedef struct comparison {
    cupel_judging *j;
    cupel_output_view *view;
    int run;
    double worst_ratio;
    double normal;     /* smallest normal number of the type, 0 for integers */
    int64_t subnormal; /* judged elements that EXC-02 is about */
    mismatches by_kind[CUPEL_FINDING_KIND_COUNT];
} comparison;

static cupel_finding_kind kind_of(cupel_judgement judgement) {
    switch (judgement) {
    case CUPEL_WRONG_NAN:
    case CUPEL_WRONG_INF:
    case CUPEL_MISSING_NAN:
    case CUPEL_MISSING_INF: return CUPEL_FINDING_WRONG_CLASS;
    case CUPEL_WRONG_ZERO_SIGN: return CUPEL_FINDING_WRONG_ZERO_SIGN;
    case CUPEL_NOT_KEPT: return CUPEL_FINDING_NOT_KEPT;
    case CUPEL_WRONG_VALUE:
    case CUPEL_ALLOWED:
    case CUPEL_NOT_JUDGED: break;
    }
    return CUPEL_FINDING_WRONG_VALUE;
}

/* Is a worse than b? Without a ratio (classes) the earlier element is the better example. */
static bool worse(const cupel_suspect_element *a, const cupel_suspect_element *b) {
    double x = isnan(a->ratio) ? -1 : a->ratio, y = isnan(b->ratio) ? -1 : b->ratio;
    return x > y || (x == y && a->index < b->index);
}

static void note(mismatches *m, cupel_suspect_element element) {
    m->wrong++;
    int at = m->count;
    while (at > 0 && worse(&element, &m->worst[at - 1])) at--;
    if (at == CUPEL_SUSPECT_ELEMENTS_MAX) return;
    if (m->count < CUPEL_SUSPECT_ELEMENTS_MAX) m->count++;
    memmove(&m->worst[at + 1], &m->worst[at], (size_t)(m->count - 1 - at) * sizeof *m->worst);
    m->worst[at] = element;
}

/* An element that may be left alone is right when its bytes are those from before the launch. */
static cupel_judgement judge_kept(comparison *c, int64_t i, const unsigned char *element) {
    const unsigned char *before = cupel_judging_before(c->j, c->view, c->run);
    if (!before) return CUPEL_NOT_JUDGED;
    if (!memcmp(before + (size_t)i * c->view->size, element, c->view->size)) return CUPEL_ALLOWED;
    const cupel_allowed *all = c->view->allowed;
    uint8_t classes = all->classes[i] & (uint8_t)~CUPEL_KEEP;
    if (!(classes & CUPEL_CLASS_MASK)) return CUPEL_NOT_KEPT;
    cupel_allowed one = {.type = all->type,
                         .count = 1,
                         .value = &all->value[i],
                         .lo = &all->lo[i],
                         .hi = &all->hi[i],
                         .least = all->least ? &all->least[i] : NULL,
                         .most = all->most ? &all->most[i] : NULL,
                         .radius = &all->radius[i],
                         .classes = &classes,
                         .reasons = &all->reasons[i]};
    return cupel_judge_element(&one, 0, element);
}

static cupel_judgement judge_element(comparison *c, int64_t i, const unsigned char *element) {
    const cupel_allowed *allowed = c->view->allowed;
    if (allowed->reasons[i] != CUPEL_REASON_JUDGED) return CUPEL_NOT_JUDGED;
    if (allowed->classes[i] & CUPEL_KEEP) return judge_kept(c, i, element);
    return cupel_judge_element(allowed, i, element);
}

static void pass(comparison *c, double ratio) {
    if (ratio > c->worst_ratio) c->worst_ratio = ratio;
}

static void judge_slowly(comparison *c, int64_t i) {
    const unsigned char *element = cupel_view_element(c->view, c->run, i);
    cupel_judgement judgement = judge_element(c, i, element);
    if (judgement == CUPEL_NOT_JUDGED) return;
    if (judgement == CUPEL_ALLOWED) {
        if (!(c->view->allowed->classes[i] & CUPEL_KEEP))
            pass(c, cupel_judge_ratio(c->view->allowed, i, element));
        return;
    }
    if (cupel_view_excused(c->view, i)) return;
    cupel_suspect_element suspect = {.index = i, .ratio = cupel_judge_ratio(c->view->allowed, i, element)};
    memcpy(&suspect.bits, element, c->view->size);
    note(&c->by_kind[kind_of(judgement)], suspect);
}

/* A flush to zero would be seen at this element: its exact result is subnormal and zero is not allowed (or
 * flushing is declared, and the result is the zero or the subnormal number). */
static bool shows_flushing(const comparison *c, int64_t i) {
    const cupel_allowed *allowed = c->view->allowed;
    double value = fabs(allowed->value[i]);
    if (!(value > 0 && value < c->normal) || allowed->reasons[i] != CUPEL_REASON_JUDGED) return false;
    return allowed->lo[i] > 0 || allowed->hi[i] < 0 ||
           c->j->evidence->c->contract->subnormals == CUPEL_SUBNORMALS_FLUSH;
}

/* Most elements are finite numbers inside their interval: settled by two comparisons, NaN failing both.
 * Everything else takes the slow way, and so does whatever may be the new worst ratio. */
static void judge_reals(comparison *c, const double *decoded) {
    const cupel_allowed *allowed = c->view->allowed;
    for (int64_t i = 0; i < c->view->count; i++) {
        if (allowed->reasons[i] == CUPEL_REASON_NOT_RUN) continue;
        double x = decoded[i], value = allowed->value[i], lo = allowed->lo[i], hi = allowed->hi[i];
        if (fabs(value) < c->normal && shows_flushing(c, i)) c->subnormal++;
        if (allowed->classes[i] == CUPEL_CLASS_FINITE && allowed->reasons[i] == CUPEL_REASON_JUDGED &&
            x >= lo && x <= hi) {
            double room = x > value ? hi - value : value - lo;
            if (!(fabs(x - value) > c->worst_ratio * room)) continue;
        }
        judge_slowly(c, i);
    }
}

/* Allowed elements that no good kernel comes near: evidence. An output with a wrong element has its finding
 * already. */
static void note_inaccurate(comparison *c, const double *decoded) {
    const cupel_allowed *allowed = c->view->allowed;
    double *const *radii = c->j->evidence->good_radii;
    const double *good = radii ? radii[c->view->index] : NULL;
    if (!good || c->by_kind[CUPEL_FINDING_WRONG_VALUE].wrong || c->by_kind[CUPEL_FINDING_WRONG_CLASS].wrong)
        return;
    for (int64_t i = 0; i < c->view->count; i++) {
        const double error = fabs(decoded[i] - allowed->value[i]);
        if (!(error > good[i]) || allowed->reasons[i] != CUPEL_REASON_JUDGED) continue;
        cupel_suspect_element suspect = {.index = i, .ratio = error / good[i]};
        memcpy(&suspect.bits, cupel_view_element(c->view, c->run, i), c->view->size);
        note(&c->by_kind[CUPEL_FINDING_INACCURATE], suspect);
    }
}

static void judge_first_run(comparison *c) {
    cupel_output_view *view = c->view;
    double *decoded = NULL;
    if (cupel_format_of(view->output->type)->kind == CUPEL_KIND_REAL)
        decoded = cupel_arena_raw(c->j->arena, (size_t)view->count + 1, sizeof *decoded);
    if (decoded) {
        cupel_decode_many(view->output->type, view->after[c->run], (size_t)view->count, decoded);
        judge_reals(c, decoded);
        note_inaccurate(c, decoded);
        return;
    }
    for (int64_t i = 0; i < view->count; i++) judge_slowly(c, i);
}

/* Was element i of this run judged in an earlier one already: are its bytes an earlier run's, or was it wrong
 * there? */
static bool judged_before(comparison *c, int run, int64_t i) {
    cupel_output_view *view = c->view;
    for (int earlier = 0; earlier < run; earlier++) {
        if (!view->after[earlier]) continue;
        const unsigned char *before = cupel_view_element(view, earlier, i);
        if (!memcmp(before, cupel_view_element(view, run, i), view->size)) return true;
        c->run = earlier;
        if (judge_element(c, i, before) > CUPEL_NOT_JUDGED) return true;
    }
    return false;
}

/* Later runs are judged where their bytes are new; a wrong element is counted once. Kept elements are new in
 * every run: what lay there before is the run's own. */
static void judge_later_run(comparison *c, int first, int run) {
    cupel_output_view *view = c->view;
    if (!memcmp(view->after[first], view->after[run], (size_t)view->count * view->size)) return;
    for (int64_t i = 0; i < view->count; i++) {
        if (cupel_view_not_run(view, i) || judged_before(c, run, i)) continue;
        c->run = run;
        judge_slowly(c, i);
    }
}

/* 64-bit integers as they are: their doubles hide what differs. */
static void write_integer(cupel_dtype type, uint64_t bits, char *text, size_t size) {
    if (type == CUPEL_U64)
        snprintf(text, size, "%" PRIu64, bits);
    else
        snprintf(text, size, "%" PRId64, (int64_t)bits);
}

static void describe(const cupel_output_view *view, const cupel_finding *finding, char *text, size_t size) {
    const cupel_allowed *allowed = view->allowed;
    int64_t i = finding->index;
    char where[160], got[32], lo[32], hi[32], classes[64] = "";
    cupel_judging_where(view->output->name, view->output->rank, view->output->shape, i, where, sizeof where);
    cupel_judging_number(view->output->type, finding->got, got, sizeof got);
    cupel_judging_number(view->output->type, allowed->lo[i], lo, sizeof lo);
    cupel_judging_number(view->output->type, allowed->hi[i], hi, sizeof hi);
    if (allowed->least) {
        write_integer(view->output->type, finding->got_bits, got, sizeof got);
        write_integer(view->output->type, allowed->least[i], lo, sizeof lo);
        write_integer(view->output->type, allowed->most[i], hi, sizeof hi);
    }
    int permitted = allowed->classes[i];
    if (permitted & CUPEL_CLASS_POS_INF) strcat(classes, " or +inf");
    if (permitted & CUPEL_CLASS_NEG_INF) strcat(classes, " or -inf");
    if (permitted & CUPEL_CLASS_NAN) strcat(classes, " or NaN");
    if (finding->kind == CUPEL_FINDING_INACCURATE) {
        char value[32];
        cupel_judging_number(view->output->type, allowed->value[i], value, sizeof value);
        snprintf(text, size, "%s is %s, exactly %s: allowed, but %.3g times as far as good kernels may come",
                 where, got, value, finding->ratio);
    } else if (finding->kind == CUPEL_FINDING_NOT_KEPT)
        snprintf(text, size, "%s was to be left as it was and is now %s", where, got);
    else if (finding->kind == CUPEL_FINDING_WRONG_ZERO_SIGN)
        snprintf(text, size, "%s is a zero of the wrong sign", where);
    else if ((permitted & CUPEL_CLASS_FINITE) && strcmp(lo, hi) == 0)
        snprintf(text, size, "%s is %s, allowed: %s%s%s", where, got, classes[0] ? "" : "only ", lo, classes);
    else if (permitted & CUPEL_CLASS_FINITE)
        snprintf(text, size, "%s is %s, allowed: %s to %s%s", where, got, lo, hi, classes);
    else
        snprintf(text, size, "%s is %s, allowed:%s", where, got, classes[0] ? classes + 3 : " nothing else");
}

static void add_mismatches(comparison *c, cupel_finding_kind kind) {
    const mismatches *m = &c->by_kind[kind];
    cupel_finding *finding = m->count ? cupel_judging_add(c->j, kind) : NULL;
    if (!finding) return;
    int at = c->j->out->finding_count;
    c->j->out->element_counts[at] = m->count;
    memcpy(c->j->out->elements[at], m->worst, sizeof m->worst);
    unsigned char bytes[8];
    memcpy(bytes, &m->worst[0].bits, sizeof bytes);
    cupel_judging_element(c->view, m->worst[0].index, bytes, finding);
    finding->wrong_elements = m->wrong;
    if (kind == CUPEL_FINDING_INACCURATE) {
        finding->standing = CUPEL_STANDING_EVIDENCE;
        finding->ratio = m->worst[0].ratio;
    }
    describe(c->view, finding, finding->text, sizeof finding->text);
    cupel_judging_keep(c->j, finding);
}

static void tally_gate(cupel_judging *j, cupel_gate gate, int64_t judged, int64_t considered, double worst) {
    cupel_judging_tally(j, gate, judged, considered);
    if (worst > j->scoreboard->gates[gate].worst_ratio) j->scoreboard->gates[gate].worst_ratio = worst;
}

static void tally_types(cupel_judging *j) {
    const cupel_case *c = j->evidence->c;
    for (int v = 0; v < c->contract->type_count; v++)
        if (c->binding.types[v] >= 0 && c->binding.types[v] < CUPEL_DTYPE_COUNT)
            j->scoreboard->judged_by_type[v][c->binding.types[v]]++;
}

/* A case counts for every gate that it exercises (DESIGN section 4, third column). */
static void tally(cupel_judging *j, const cupel_compared *compared) {
    unsigned gates = 0;
    if (!j->scoreboard) return;
    for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++) {
        const cupel_gate_info *info = cupel_gate_info_of((cupel_gate)gate);
        const int64_t judged = info->exercised ? info->exercised(compared) : -1;
        if (judged < 0) continue;
        tally_gate(j, (cupel_gate)gate, judged, compared->considered, j->out->worst_ratio);
        if (judged > 0) gates |= 1u << gate;
    }
    cupel_strawmen_try(j, gates);
    if (compared->judged) tally_types(j);
    for (int v = 0; v < j->view_count; v++)
        if (j->views[v].allowed)
            cupel_scoreboard_count_output(j->scoreboard, j->views[v].tensor, j->views[v].allowed);
}

/* The output in every run that finished; its findings are added. Returns the elements that EXC-02 is about.
 */
static int64_t judge_output(cupel_judging *j, cupel_output_view *view) {
    comparison c = {.j = j, .view = view, .run = -1};
    if (cupel_format_of(view->output->type)->kind == CUPEL_KIND_REAL)
        c.normal = cupel_format_normal(view->output->type);
    int first = -1;
    for (int r = 0; r < j->evidence->run_count; r++) {
        if (!view->after[r]) continue;
        c.run = r;
        if (first < 0) {
            first = r;
            judge_first_run(&c);
        } else
            judge_later_run(&c, first, r);
    }
    for (int kind = 0; kind < CUPEL_FINDING_KIND_COUNT; kind++) add_mismatches(&c, (cupel_finding_kind)kind);
    if (c.worst_ratio > j->out->worst_ratio) j->out->worst_ratio = c.worst_ratio;
    if (view->index < j->out->closeness_count) j->out->closeness[view->index].ratio = c.worst_ratio;
    return c.subnormal;
}

/* Nothing is known of any output's closeness yet, but whose it would be. */
static void start_closeness(cupel_judging *j) {
    cupel_gate gate =
        cupel_gate_by_necessity(CUPEL_FINDING_WRONG_VALUE, CUPEL_FAULT_NONE, j->evidence->traits);
    j->out->closeness_count = j->view_count < CUPEL_TENSOR_MAX ? j->view_count : CUPEL_TENSOR_MAX;
    for (int v = 0; v < j->out->closeness_count; v++) j->out->closeness[v] = (cupel_closeness){gate, 0};
}

void cupel_gate_values(cupel_judging *j) {
    start_closeness(j);
    cupel_compared compared = {.evidence = j->evidence};
    bool any = false;
    for (int v = 0; v < j->view_count; v++) {
        cupel_output_view *view = &j->views[v];
        bool finished = false;
        for (int r = 0; r < j->evidence->run_count; r++) finished = finished || view->after[r];
        if (!finished || !view->allowed) continue;
        any = true;
        compared.subnormal += judge_output(j, view);
        int64_t left = view->allowed->judged - view->excused_count;
        left = left > 0 ? left : 0;
        compared.judged += left;
        compared.considered += cupel_view_run(view);
        if (cupel_claims_gradient(j->evidence->c->contract, view->tensor)) compared.gradient += left;
    }
    if (any) tally(j, &compared);
}
