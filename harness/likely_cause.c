#include "likely_cause_impl.h"

#include <math.h>

/* Operations that all runs together may take: some tenths of a second. */
static const double budget = 3e7;

/* The usual orders of evaluation; each is tried fused and not, and with the hardware's functions where the
 * contract admits them. */
static const cupel_shadow_plan orders[] = {
    {.order = CUPEL_SHADOW_SEQUENTIAL},
    {.order = CUPEL_SHADOW_LANES, .lanes = 32},
    {.order = CUPEL_SHADOW_LANES, .lanes = 256},
    {.order = CUPEL_SHADOW_PAIRWISE},
};
enum { ORDERS = sizeof orders / sizeof *orders, FORMS = 4 };

/* How long the blocks may be between which a scan loses its carry. */
static const int blocks[] = {2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

/* In how many parts a sum may be taken where the accumulator is in doubt, and how the parts are formed. */
static const int parts[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
static const cupel_shadow_summation divisions[] = {CUPEL_SHADOW_LANES, CUPEL_SHADOW_STEPS,
                                                   CUPEL_SHADOW_CHUNKS, CUPEL_SHADOW_TILES};
enum { PARTS = sizeof parts / sizeof *parts, DIVISIONS = sizeof divisions / sizeof *divisions };

/* Operands: both, or one of the two, are narrowed; ties to even or away. */
enum { SIDES = 3, TIES = 2 };

/* ---- what is compared ---- */

/* Another order is another answer, whatever its roundings: the shadow's order within a block is not the
 * kernel's. Where it is outside the allowed set itself, and both are no farther apart than two conforming
 * kernels, they are of one order. So with operands of products: the order of the sum is left open. */
static bool within_roundings(const cupel_cause_search *s, const unsigned char *a, const unsigned char *b,
                             int64_t i) {
    const cupel_allowed *allowed = s->allowed;
    const double x = cupel_decode(allowed->type, a), y = cupel_decode(allowed->type, b);
    const double room = 2 * (allowed->radius[i] + cupel_format_ulp(allowed->type, fmax(fabs(x), fabs(y))));
    return isfinite(x) && isfinite(y) && fabs(x - y) <= room && isfinite(room);
}

static bool same(const cupel_cause_search *s, cupel_shadow_fault fault, const unsigned char *bytes,
                 int64_t i) {
    const unsigned char *a = bytes + (size_t)i * s->size, *b = s->got + (size_t)i * s->size;
    if (cupel_elements_equal(s->allowed->type, a, b)) return true;
    if (cupel_format_of(s->allowed->type)->kind != CUPEL_KIND_REAL) return false;
    return (CUPEL_SHADOW_ORDER_FAULTS >> fault & 1) && within_roundings(s, a, b, i) &&
           cupel_judge_element(s->allowed, i, a) > CUPEL_NOT_JUDGED;
}

bool cupel_cause_is_bad(const cupel_cause_search *s, int64_t i) {
    if (s->finding->kind == CUPEL_FINDING_INACCURATE) return i == s->finding->index;
    return cupel_judge_element(s->allowed, i, s->got + (size_t)i * s->size) > CUPEL_NOT_JUDGED;
}

/* Would the fault alone give such a result? A NaN or an infinity is the same in any shadow that goes wrong
 * far enough (fp16 sums of large numbers end in inf - inf), so that equal bits say nothing; finite bits do,
 * and the classes that a fault is known for. */
static bool explains(const cupel_cause_search *s, cupel_shadow_fault fault, int64_t i) {
    const cupel_dtype type = s->allowed->type;
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) return true;
    const double got = cupel_decode(type, s->got + (size_t)i * s->size);
    if (isfinite(got)) return true;
    switch (fault) {
    case CUPEL_SHADOW_NO_MAXIMUM:                       /* exp overflows: inf, and inf / inf */
    case CUPEL_SHADOW_ONE_PASS: return true;            /* a variance of 0, or below */
    case CUPEL_SHADOW_F16_ACCUMULATOR:                  /* beyond 65504 */
    case CUPEL_SHADOW_F16_PRODUCTS:                     /* as are its operands */
    case CUPEL_SHADOW_FLUSHED:                          /* divided by */
    case CUPEL_SHADOW_NAN_SWALLOWED: return isinf(got); /* beside the NaN */
    default: return false;
    }
}

static cupel_likeness likeness_of(const cupel_cause_search *s, cupel_shadow_fault fault,
                                  const unsigned char *bytes) {
    cupel_likeness found = CUPEL_LIKE_EVERYWHERE;
    int64_t explained = 0;
    for (int64_t i = 0; i < s->allowed->count; i++) {
        const bool bad = cupel_cause_is_bad(s, i);
        explained += bad && explains(s, fault, i);
        if ((s->allowed->classes[i] & CUPEL_KEEP) || same(s, fault, bytes, i)) continue;
        if (bad) return CUPEL_UNLIKE;
        found = CUPEL_LIKE_WHERE_WRONG;
    }
    return explained > 0 ? found : CUPEL_UNLIKE;
}

/* ---- the shadows ---- */

static bool is_one_of(cupel_shadow_fault fault, unsigned faults) {
    return faults >> fault & 1;
}

/* In how many ways a fault is tried. */
static int ways_of(const cupel_cause_search *s, cupel_shadow_fault fault) {
    const int forms = s->rules.fast_math ? FORMS : FORMS / 2;
    if (is_one_of(fault, CUPEL_SHADOW_CARRY_FAULTS)) return BLOCKS;
    if (is_one_of(fault, CUPEL_SHADOW_OPERAND_FAULTS)) return ORDERS * forms * SIDES * TIES;
    if (is_one_of(fault, CUPEL_SHADOW_ACCUMULATOR_FAULTS))
        return ORDERS * forms + PARTS * DIVISIONS * FORMS / 2;
    return ORDERS * forms;
}

static cupel_shadow_plan in_parts(int way) {
    cupel_shadow_plan plan = {.order = divisions[way / 2 % DIVISIONS], .lanes = parts[way / 2 / DIVISIONS]};
    plan.fused = way & 1;
    return plan;
}

static cupel_shadow_plan plan_of(const cupel_cause_search *s, cupel_shadow_fault fault, int way) {
    const int forms = s->rules.fast_math ? FORMS : FORMS / 2, usual = ORDERS * forms;
    cupel_shadow_plan plan;
    if (is_one_of(fault, CUPEL_SHADOW_CARRY_FAULTS)) {
        plan = (cupel_shadow_plan){.lanes = blocks[way]};
    } else if (is_one_of(fault, CUPEL_SHADOW_ACCUMULATOR_FAULTS) && way >= usual) {
        plan = in_parts(way - usual);
    } else {
        const int form = way % forms, variant = way / usual; /* of operands */
        plan = orders[way % usual / forms];
        plan.fused = form & 1;
        plan.hardware = plan.reciprocal = (form & 2) != 0;
        plan.ties_away = variant % TIES;
        plan.keep_left = variant / TIES == 1;
        plan.keep_right = variant / TIES == 2;
    }
    plan.fault = fault;
    return plan;
}

const unsigned char *cupel_cause_run(const cupel_cause_search *s, const cupel_shadow_plan *plan) {
    cupel_shadow_output *outputs;
    cupel_error err;
    cupel_arena_reset(s->scratch);
    outputs = cupel_arena_alloc(s->scratch, (size_t)s->trial->graph->output_count * sizeof *outputs);
    if (!outputs || cupel_shadow_run(s->trial->graph, &s->bindings, &s->rules, plan, s->scratch, outputs,
                                     &err) != CUPEL_OK)
        return NULL;
    return outputs[s->finding->output].bytes;
}

cupel_likeness cupel_cause_likeness(cupel_cause_search *s, cupel_shadow_fault fault) {
    cupel_likeness best = CUPEL_UNLIKE;
    const int ways = ways_of(s, fault);
    for (int way = 0; way < ways && best != CUPEL_LIKE_EVERYWHERE && s->left >= s->cost; way++) {
        const cupel_shadow_plan plan = plan_of(s, fault, way);
        const unsigned char *bytes = cupel_cause_run(s, &plan);
        const cupel_likeness found = bytes ? likeness_of(s, fault, bytes) : CUPEL_UNLIKE;
        s->left -= s->cost;
        if (found > best) best = found;
    }
    return best;
}

static bool nearly(const cupel_cause_search *s, const unsigned char *bytes) {
    int64_t told = 0;
    for (int64_t i = 0; i < s->allowed->count; i++) {
        const unsigned char *a = bytes + (size_t)i * s->size, *b = s->got + (size_t)i * s->size;
        const bool bad = cupel_cause_is_bad(s, i);
        if ((s->allowed->classes[i] & CUPEL_KEEP) || s->allowed->reasons[i] != CUPEL_REASON_JUDGED) continue;
        if (!cupel_elements_equal(s->allowed->type, a, b) && !within_roundings(s, a, b, i)) return false;
        if (bad && cupel_judge_element(s->allowed, i, a) <= CUPEL_NOT_JUDGED) return false;
        told += bad && isfinite(cupel_decode(s->allowed->type, b));
    }
    return told > 0;
}

bool cupel_cause_nearly(cupel_cause_search *s, cupel_shadow_fault fault) {
    if (!is_one_of(fault, CUPEL_SHADOW_OPERAND_FAULTS)) return false;
    if (cupel_format_of(s->allowed->type)->kind != CUPEL_KIND_REAL) return false;
    const int forms = s->rules.fast_math ? FORMS : FORMS / 2;
    for (int variant = 0; variant < SIDES * TIES && s->left >= s->cost; variant++) {
        const cupel_shadow_plan plan = plan_of(s, fault, variant * ORDERS * forms);
        const unsigned char *bytes = cupel_cause_run(s, &plan);
        s->left -= s->cost;
        if (bytes && nearly(s, bytes)) return true;
    }
    return false;
}

/* ---- the search ---- */

/* Operations of one run, roughly. */
static double cost_of(const cupel_graph *graph) {
    double cost = 0;
    for (int i = 0; i < graph->node_count; i++) {
        const cupel_node *n = &graph->nodes[i];
        double each = 1;
        if (n->op == CUPEL_OP_MATMUL) {
            const cupel_node *a = &graph->nodes[n->args[0]];
            each = (double)a->shape[a->rank - 1];
        }
        cost += (double)n->count * each;
    }
    return cost;
}

static bool is_about_values(const cupel_finding *finding) {
    return finding->output >= 0 && finding->index >= 0 &&
           (finding->kind == CUPEL_FINDING_WRONG_VALUE || finding->kind == CUPEL_FINDING_WRONG_CLASS ||
            finding->kind == CUPEL_FINDING_INACCURATE);
}

bool cupel_cause_open(const cupel_trial *trial, const cupel_finding *finding, cupel_cause_search *s) {
    *s = (cupel_cause_search){.trial = trial, .finding = finding};
    if (!is_about_values(finding) || !trial->graph || !trial->allowed || !trial->c) return false;
    s->rules = cupel_binding_rules(&trial->c->binding);
    s->faults = cupel_shadow_applicable(trial->graph, &s->rules);
    s->cost = cost_of(trial->graph);
    s->left = budget;
    if (s->cost * __builtin_popcount(s->faults) * ORDERS * FORMS > budget) return false;
    s->kept = cupel_arena_create(0);
    s->scratch = cupel_arena_create(0);
    s->allowed = &trial->allowed[finding->output];
    s->size = cupel_format_of(s->allowed->type)->size;
    if (s->kept && s->scratch && cupel_trial_bind(trial->c, s->kept, &s->bindings))
        s->got = cupel_trial_result(trial, finding->output, s->kept);
    if (s->got) return true;
    cupel_cause_close(s);
    return false;
}

void cupel_cause_close(cupel_cause_search *s) {
    cupel_arena_free(s->scratch);
    cupel_arena_free(s->kept);
    s->scratch = s->kept = NULL;
}

/* The first fault that gives the bits, one that gives them everywhere before one that does not. */
static void search_faults(cupel_cause_search *s, cupel_cause *cause) {
    cupel_likeness best = CUPEL_UNLIKE;
    for (int f = CUPEL_SHADOW_NO_FAULT + 1; f < CUPEL_SHADOW_FAULT_COUNT; f++) {
        const cupel_shadow_fault fault = (cupel_shadow_fault)f;
        const bool sum = is_one_of(fault, CUPEL_SHADOW_SUM_FAULTS);
        if (!is_one_of(fault, s->faults) || (best == CUPEL_LIKE_EVERYWHERE && !sum)) continue;
        const cupel_likeness found = cupel_cause_likeness(s, fault);
        if (found != CUPEL_UNLIKE && sum) cause->others |= 1u << f;
        if (found <= best) continue;
        best = found;
        cause->fault = fault;
        cause->everywhere = found == CUPEL_LIKE_EVERYWHERE;
    }
    if (s->finding->kind == CUPEL_FINDING_INACCURATE &&
        is_one_of(cause->fault, CUPEL_SHADOW_ACCUMULATOR_FAULTS) &&
        !cupel_cause_tells_accumulator(s, cause->fault))
        *cause = (cupel_cause){.fault = CUPEL_SHADOW_NO_FAULT};
    if (!is_one_of(cause->fault, CUPEL_SHADOW_SUM_FAULTS)) cause->others = 0;
    cause->others &= ~(1u << cause->fault);
}

/* Where no shadow has the kernel's order of summation. */
static void search_nearly(cupel_cause_search *s, cupel_cause *cause) {
    for (int f = CUPEL_SHADOW_NO_FAULT + 1; f < CUPEL_SHADOW_FAULT_COUNT; f++) {
        if (!is_one_of((cupel_shadow_fault)f, s->faults) || !cupel_cause_nearly(s, (cupel_shadow_fault)f))
            continue;
        if (cause->fault == CUPEL_SHADOW_NO_FAULT)
            *cause = (cupel_cause){
                .fault = (cupel_shadow_fault)f, .everywhere = true, .basis = CUPEL_CAUSE_RESULT};
        else
            cause->others |= 1u << f;
    }
}

void cupel_likely_cause_find(const cupel_trial *trial, cupel_finding *finding) {
    cupel_cause_search s;
    finding->cause = (cupel_cause){.fault = CUPEL_SHADOW_NO_FAULT};
    if (finding->has_race && cupel_finding_is_about_values(finding->kind)) {
        finding->cause.race = true; /* what order gave is no fault of the arithmetic */
        return;
    }
    if (!cupel_cause_open(trial, finding, &s)) return;
    search_faults(&s, &finding->cause);
    if (is_one_of(finding->cause.fault, CUPEL_SHADOW_ORDER_FAULTS)) finding->cause.basis = CUPEL_CAUSE_RESULT;
    if (finding->cause.fault == CUPEL_SHADOW_NO_FAULT && finding->kind != CUPEL_FINDING_INACCURATE)
        search_nearly(&s, &finding->cause);
    cupel_cause_close(&s);
}
