/* On a minimal case several faults may give the same bits: of one product an accumulator and operands of half
 * precision make the same number. A larger case, a witness, tells them apart. */
#include <math.h>
#include <string.h>

#include "likely_cause_impl.h"

typedef enum testimony { OPEN, CONFIRMED, REFUTED } testimony;

/* Elements of the output are sums as they are, moved at most. */
static bool is_plain_sum(const cupel_cause_search *s) {
    const cupel_graph *graph = s->trial->graph;
    const cupel_node *n =
        &graph->nodes[cupel_graph_behind_views(graph, graph->outputs[s->finding->output].node)];
    return n->kind == CUPEL_VALUE_REAL && (n->op == CUPEL_OP_SUM || n->op == CUPEL_OP_MATMUL);
}

static double got_at(const cupel_cause_search *s, int64_t i) {
    return cupel_decode(s->allowed->type, s->got + (size_t)i * s->size);
}

static bool is_judged(const cupel_cause_search *s, int64_t i) {
    return s->allowed->reasons[i] == CUPEL_REASON_JUDGED && !(s->allowed->classes[i] & CUPEL_KEEP);
}

/* No farther from the exact value than a conforming result that is rounded to the type at last. */
static bool is_rounded_once(const cupel_cause_search *s, cupel_dtype type, int64_t i, double x) {
    const double exact = s->allowed->value[i];
    const double rounding = 0.5 * cupel_format_ulp(type, fmax(fabs(x), fabs(exact)));
    return fabs(x - exact) <= s->allowed->radius[i] + rounding;
}

/* Is every result a number of the narrow type, which those of a wider accumulator are by chance only? The
 * chance of one wrong element is 2^-(the digits that the type lacks); of all of them it must be small. */
static bool lies_on_grid(const cupel_cause_search *s, cupel_dtype type) {
    static const int digits_wanted = 40;
    const int lacking = cupel_format_of(s->allowed->type)->precision - cupel_format_of(type)->precision;
    int digits = 0;
    bool beyond = false;
    if (lacking <= 0) return false;
    for (int64_t i = 0; i < s->allowed->count; i++) {
        const double x = got_at(s, i);
        if (!is_judged(s, i) || !isfinite(x)) continue;
        if (cupel_round(type, x) != x) return false;
        if (!cupel_cause_is_bad(s, i)) continue;
        digits += digits < digits_wanted ? lacking : 0;
        beyond = beyond || !is_rounded_once(s, type, i, x);
    }
    return beyond && digits >= digits_wanted;
}

/* Would the contract with the narrow type under `accumulate` allow every result? */
static bool is_allowed_with(const cupel_cause_search *s, cupel_dtype type) {
    cupel_rules rules = s->rules;
    cupel_error err;
    rules.working = type;
    cupel_arena_reset(s->scratch);
    cupel_allowed *outputs =
        cupel_arena_alloc(s->scratch, (size_t)s->trial->graph->output_count * sizeof *outputs);
    if (!outputs ||
        cupel_oracle_bounded(s->trial->graph, &s->bindings, &rules, s->scratch, outputs, &err) != CUPEL_OK)
        return false;
    for (int64_t i = 0; i < s->allowed->count; i++)
        if (is_judged(s, i) && cupel_judge_element(&outputs[s->finding->output], i,
                                                   s->got + (size_t)i * s->size) > CUPEL_NOT_JUDGED)
            return false;
    return true;
}

/* Results that were rounded to the type once, at last, where every shadow that accumulates in it is off by
 * more: the accumulator is not to blame. */
static bool is_rounding_alone(cupel_cause_search *s, cupel_shadow_fault fault, cupel_dtype type) {
    enum { TOLD = 4 };
    static const cupel_shadow_plan orders[] = {{.fused = true},
                                               {.order = CUPEL_SHADOW_PAIRWISE},
                                               {.order = CUPEL_SHADOW_LANES, .lanes = 32, .fused = true}};
    for (int64_t i = 0; i < s->allowed->count; i++)
        if (is_judged(s, i) && !is_rounded_once(s, type, i, got_at(s, i))) return false;
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        cupel_shadow_plan plan = orders[k];
        plan.fault = fault;
        const unsigned char *bytes = cupel_cause_run(s, &plan);
        int beyond = 0;
        for (int64_t i = 0; bytes && i < s->allowed->count; i++)
            beyond +=
                is_judged(s, i) &&
                !is_rounded_once(s, type, i, cupel_decode(s->allowed->type, bytes + (size_t)i * s->size));
        if (beyond < TOLD) return false;
    }
    return true;
}

bool cupel_cause_tells_accumulator(const cupel_cause_search *s, cupel_shadow_fault fault) {
    const cupel_dtype type = cupel_shadow_accumulator(&s->rules, fault);
    if (!is_plain_sum(s)) return true;
    for (int64_t i = 0; i < s->allowed->count; i++)
        if (is_judged(s, i) && !is_rounded_once(s, type, i, got_at(s, i))) return true;
    return false;
}

static testimony of_accumulator(cupel_cause_search *s, cupel_shadow_fault fault) {
    const cupel_dtype type = cupel_shadow_accumulator(&s->rules, fault);
    if (!is_plain_sum(s) || cupel_format_of(s->allowed->type)->kind != CUPEL_KIND_REAL) return OPEN;
    if (is_rounding_alone(s, fault, type)) return REFUTED;
    return lies_on_grid(s, type) && is_allowed_with(s, type) ? CONFIRMED : OPEN;
}

static bool has_bad(const cupel_cause_search *s) {
    for (int64_t i = 0; i < s->allowed->count; i++)
        if (cupel_cause_is_bad(s, i)) return true;
    return false;
}

typedef struct verdicts {
    unsigned bits, result, grid, refuted; /* faults, a bit each */
} verdicts;

static void hear(cupel_cause_search *s, cupel_shadow_fault fault, verdicts *v) {
    const unsigned bit = 1u << fault;
    /* what does not give the minimal case's bits cannot be known by those of a larger one */
    const bool by_bits =
        s->finding->cause.fault != CUPEL_SHADOW_NO_FAULT &&
        (!(CUPEL_SHADOW_ACCUMULATOR_FAULTS & bit) || cupel_cause_tells_accumulator(s, fault));
    if (by_bits && cupel_cause_likeness(s, fault) != CUPEL_UNLIKE) {
        v->bits |= bit;
    } else if (CUPEL_SHADOW_OPERAND_FAULTS & bit) {
        if (cupel_cause_nearly(s, fault))
            v->result |= bit;
        else if (s->left >= s->cost)
            v->refuted |= bit;
    } else {
        const testimony said = of_accumulator(s, fault);
        if (said == CONFIRMED) v->grid |= bit;
        if (said == REFUTED) v->refuted |= bit;
    }
}

static cupel_shadow_fault first_of(unsigned faults) {
    return faults ? (cupel_shadow_fault)__builtin_ctz(faults) : CUPEL_SHADOW_NO_FAULT;
}

static void take(cupel_cause *cause, unsigned faults, cupel_cause_basis basis) {
    const cupel_shadow_fault first = first_of(faults);
    /* what the minimal case says of the bits stays said */
    if (cause->fault == CUPEL_SHADOW_NO_FAULT) cause->basis = basis, cause->everywhere = true;
    cause->fault = first;
    cause->others = faults & ~(1u << first);
}

static void settle(cupel_cause *cause, const verdicts *v, unsigned asked) {
    const bool open = cause->fault == CUPEL_SHADOW_NO_FAULT; /* nothing gives the minimal case's bits */
    if (v->bits)
        take(cause, v->bits, CUPEL_CAUSE_BITS);
    else if (v->result)
        take(cause, v->result, CUPEL_CAUSE_RESULT);
    else if (v->grid)
        take(cause, v->grid, CUPEL_CAUSE_GRID);
    else if (!open)
        take(cause, asked & ~v->refuted, cause->basis);
}

unsigned cupel_likely_cause_open(const cupel_trial *trial, const cupel_finding *finding) {
    const unsigned own = 1u << finding->cause.fault;
    cupel_cause_search s;
    unsigned open = 0;
    if (finding->kind == CUPEL_FINDING_INACCURATE) return 0;
    if (own & CUPEL_SHADOW_SUM_FAULTS) return own | finding->cause.others;
    if (finding->cause.fault != CUPEL_SHADOW_NO_FAULT || !cupel_cause_open(trial, finding, &s)) return 0;
    /* no order that was tried is the kernel's: which accumulators could it have? */
    for (int f = 0; f < CUPEL_SHADOW_FAULT_COUNT && is_plain_sum(&s); f++)
        if ((s.faults & CUPEL_SHADOW_ACCUMULATOR_FAULTS) >> f & 1 &&
            is_allowed_with(&s, cupel_shadow_accumulator(&s.rules, (cupel_shadow_fault)f)))
            open |= 1u << f;
    cupel_cause_close(&s);
    return open;
}

bool cupel_likely_cause_weigh(const cupel_trial *witness, unsigned open, cupel_finding *finding) {
    cupel_cause_search s;
    verdicts v = {0};
    if (!cupel_cause_open(witness, finding, &s)) return false;
    const bool told = has_bad(&s);
    for (int f = 0; told && f < CUPEL_SHADOW_FAULT_COUNT; f++)
        if ((open & s.faults) >> f & 1) hear(&s, (cupel_shadow_fault)f, &v);
    cupel_cause_close(&s);
    if (!told) return false;
    settle(&finding->cause, &v, open);
    return __builtin_popcount(v.bits | v.result | v.grid) == 1 ||
           finding->cause.fault == CUPEL_SHADOW_NO_FAULT;
}
