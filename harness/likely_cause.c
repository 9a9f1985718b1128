#include "likely_cause.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

typedef struct search {
    const cupel_trial *trial;
    cupel_finding *finding;
    const cupel_allowed *allowed;
    const unsigned char *got;
    size_t size;
    cupel_rules rules;
    cupel_bindings bindings;
    cupel_arena *arena;
} search;

/* ---- what is compared ---- */

/* Another order is another answer, whatever its roundings: the shadow's order within a block is not the
 * kernel's. Where it is outside the allowed set itself, and both are no farther apart than two conforming
 * kernels, they are of one order. */
static bool nearly_same(const search *s, const unsigned char *a, const unsigned char *b, int64_t i) {
    const cupel_allowed *allowed = s->allowed;
    const double x = cupel_decode(allowed->type, a), y = cupel_decode(allowed->type, b);
    const double room = 2 * (allowed->radius[i] + cupel_format_ulp(allowed->type, fmax(fabs(x), fabs(y))));
    return isfinite(x) && isfinite(y) && fabs(x - y) <= room && isfinite(room) &&
           cupel_judge_element(allowed, i, a) > CUPEL_NOT_JUDGED;
}

static bool same(const search *s, cupel_shadow_fault fault, const unsigned char *bytes, int64_t i) {
    const unsigned char *a = bytes + (size_t)i * s->size, *b = s->got + (size_t)i * s->size;
    if (!memcmp(a, b, s->size)) return true;
    if (cupel_format_of(s->allowed->type)->kind != CUPEL_KIND_REAL) return false;
    if (cupel_element_is_nan(s->allowed->type, a) && cupel_element_is_nan(s->allowed->type, b)) return true;
    return (CUPEL_SHADOW_ORDER_FAULTS >> fault & 1) && nearly_same(s, a, b, i);
}

/* Is element i what the finding is about? */
static bool is_bad(const search *s, int64_t i) {
    if (s->finding->kind == CUPEL_FINDING_INACCURATE) return i == s->finding->index;
    return cupel_judge_element(s->allowed, i, s->got + (size_t)i * s->size) > CUPEL_NOT_JUDGED;
}

/* Would the fault alone give such a result? A NaN or an infinity is the same in any shadow that goes wrong
 * far enough (fp16 sums of large numbers end in inf - inf), so that equal bits say nothing; finite bits do,
 * and the classes that a fault is known for. */
static bool explains(const search *s, cupel_shadow_fault fault, int64_t i) {
    const cupel_dtype type = s->allowed->type;
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) return true;
    const double got = cupel_decode(type, s->got + (size_t)i * s->size);
    if (isfinite(got)) return true;
    switch (fault) {
    case CUPEL_SHADOW_NO_MAXIMUM:                       /* exp overflows: inf, and inf / inf */
    case CUPEL_SHADOW_ONE_PASS: return true;            /* a variance of 0, or below */
    case CUPEL_SHADOW_F16_ACCUMULATOR:                  /* beyond 65504 */
    case CUPEL_SHADOW_FLUSHED:                          /* divided by */
    case CUPEL_SHADOW_NAN_SWALLOWED: return isinf(got); /* beside the NaN */
    default: return false;
    }
}

typedef enum likeness { UNLIKE, WHERE_WRONG, EVERYWHERE } likeness;

static likeness likeness_of(const search *s, cupel_shadow_fault fault, const unsigned char *bytes) {
    likeness found = EVERYWHERE;
    int64_t explained = 0;
    for (int64_t i = 0; i < s->allowed->count; i++) {
        const bool bad = is_bad(s, i);
        explained += bad && explains(s, fault, i);
        if ((s->allowed->classes[i] & CUPEL_KEEP) || same(s, fault, bytes, i)) continue;
        if (bad) return UNLIKE;
        found = WHERE_WRONG;
    }
    return explained > 0 ? found : UNLIKE;
}

/* ---- the shadows ---- */

static bool loses_carry(cupel_shadow_fault fault) {
    return CUPEL_SHADOW_CARRY_FAULTS >> fault & 1;
}

static cupel_shadow_plan plan_of(cupel_shadow_fault fault, int order, int form) {
    cupel_shadow_plan plan = orders[loses_carry(fault) ? 0 : order];
    if (loses_carry(fault)) plan.lanes = blocks[order];
    plan.fault = fault;
    plan.fused = form & 1;
    plan.hardware = plan.reciprocal = (form & 2) != 0;
    return plan;
}

static likeness try_plan(const search *s, const cupel_shadow_plan *plan) {
    cupel_shadow_output *outputs;
    cupel_error err;
    cupel_arena_reset(s->arena);
    outputs = cupel_arena_alloc(s->arena, (size_t)s->trial->graph->output_count * sizeof *outputs);
    if (!outputs ||
        cupel_shadow_run(s->trial->graph, &s->bindings, &s->rules, plan, s->arena, outputs, &err) != CUPEL_OK)
        return UNLIKE;
    return likeness_of(s, plan->fault, outputs[s->finding->output].bytes);
}

static void search_faults(const search *s) {
    const unsigned faults = cupel_shadow_applicable(s->trial->graph, &s->rules);
    const int forms = s->rules.fast_math ? FORMS : FORMS / 2;
    likeness best = UNLIKE;
    for (int f = CUPEL_SHADOW_NO_FAULT + 1; f < CUPEL_SHADOW_FAULT_COUNT; f++) {
        const int ways = loses_carry((cupel_shadow_fault)f) ? BLOCKS : ORDERS * forms;
        for (int i = 0; (faults >> f & 1) && i < ways; i++) {
            const cupel_shadow_plan plan = loses_carry((cupel_shadow_fault)f)
                                               ? plan_of((cupel_shadow_fault)f, i, 0)
                                               : plan_of((cupel_shadow_fault)f, i / forms, i % forms);
            const likeness found = try_plan(s, &plan);
            if (found <= best) continue;
            best = found;
            s->finding->cause = (cupel_shadow_fault)f;
            s->finding->cause_everywhere = found == EVERYWHERE;
        }
        if (best == EVERYWHERE) return;
    }
}

/* Operations of one run, roughly. */
static double cost_of(const cupel_graph *graph, const cupel_rules *rules) {
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
    return cost * __builtin_popcount(cupel_shadow_applicable(graph, rules)) * ORDERS * FORMS;
}

static bool is_about_values(const cupel_finding *finding) {
    return finding->output >= 0 && finding->index >= 0 &&
           (finding->kind == CUPEL_FINDING_WRONG_VALUE || finding->kind == CUPEL_FINDING_WRONG_CLASS ||
            finding->kind == CUPEL_FINDING_INACCURATE);
}

void cupel_likely_cause_find(const cupel_trial *trial, cupel_finding *finding) {
    finding->cause = CUPEL_SHADOW_NO_FAULT;
    if (!is_about_values(finding) || !trial->graph || !trial->allowed || !trial->c) return;
    const cupel_rules rules = cupel_binding_rules(&trial->c->binding);
    if (cost_of(trial->graph, &rules) > budget) return;
    cupel_arena *kept = cupel_arena_create(0), *arena = cupel_arena_create(0);
    cupel_bindings bindings;
    const bool bound = kept && cupel_trial_bind(trial->c, kept, &bindings);
    const unsigned char *got = bound ? cupel_trial_result(trial, finding->output, kept) : NULL;
    if (got && arena) {
        const search s = {.trial = trial,
                          .finding = finding,
                          .allowed = &trial->allowed[finding->output],
                          .got = got,
                          .size = cupel_format_of(trial->allowed[finding->output].type)->size,
                          .rules = rules,
                          .bindings = bindings,
                          .arena = arena};
        search_faults(&s);
    }
    cupel_arena_free(arena);
    cupel_arena_free(kept);
}

void cupel_likely_cause_describe(const cupel_finding *finding, char *text, size_t size) {
    text[0] = '\0';
    if (finding->cause == CUPEL_SHADOW_NO_FAULT) return;
    const bool order = CUPEL_SHADOW_ORDER_FAULTS >> finding->cause & 1;
    snprintf(text, size, "the same %s as with %s%s", order ? "result" : "bits",
             cupel_shadow_fault_sentence(finding->cause),
             finding->cause_everywhere ? "" : ", wherever the result is wrong");
}
