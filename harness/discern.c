#include "discern.h"

/* Elements of nodes that shadows may evaluate: so many in any case, and beyond them a share of the elements
 * that the search has seen. One case may take no more than a part of it. */
static const double allowance = 1.6e7, share = 0.25, most = 4e6;

/* In the order in which they are asked: those that leave the allowed set on most inputs first. */
static const cupel_shadow_fault order_faults[] = {CUPEL_SHADOW_LAST_TIE, CUPEL_SHADOW_REVERSED_SCAN,
                                                  CUPEL_SHADOW_EXCLUSIVE_SCAN};
static const cupel_shadow_fault sum_faults[] = {CUPEL_SHADOW_F16_ACCUMULATOR, CUPEL_SHADOW_BF16_ACCUMULATOR,
                                                CUPEL_SHADOW_F32_ACCUMULATOR, CUPEL_SHADOW_TF32_PRODUCTS};

static int64_t wrong_elements(const cupel_allowed *allowed, const unsigned char *bytes) {
    const size_t size = cupel_format_of(allowed->type)->size;
    int64_t wrong = 0;
    for (int64_t i = 0; i < allowed->count; i++)
        wrong += !(allowed->classes[i] & CUPEL_KEEP) &&
                 cupel_judge_element(allowed, i, bytes + (size_t)i * size) > CUPEL_NOT_JUDGED;
    return wrong;
}

cupel_code cupel_discern_fault(const cupel_trial *trial, const cupel_bindings *bindings,
                               const cupel_rules *rules, cupel_shadow_fault fault, cupel_arena *arena,
                               int64_t *wrong, cupel_error *err) {
    const int outputs = trial->graph->output_count;
    const cupel_shadow_plan plan = {.fault = fault};
    cupel_shadow_output *results = cupel_arena_alloc(arena, (size_t)(outputs + 1) * sizeof *results);
    *wrong = 0;
    if (!results) return cupel_fail(err, CUPEL_MEMORY, "no memory for a shadow");
    CUPEL_TRY(cupel_shadow_run(trial->graph, bindings, rules, &plan, arena, results, err));
    for (int o = 0; o < outputs; o++) *wrong += wrong_elements(&trial->allowed[o], results[o].bytes);
    return CUPEL_OK;
}

typedef struct question {
    const cupel_trial *trial;
    const cupel_bindings *bindings;
    const cupel_rules *rules;
    cupel_scoreboard *scoreboard;
    double cost; /* of one shadow */
    cupel_arena *arena;
    cupel_error *err;
} question;

static bool affordable(const question *q) {
    const double spent = (double)q->scoreboard->discerned + q->cost;
    return q->cost <= most && spent <= allowance + share * (double)q->scoreboard->elements;
}

/* The first of the faults that leaves the allowed set is enough. */
static cupel_code ask(question *q, const cupel_shadow_fault *faults, int count, int64_t *found) {
    const unsigned applicable = cupel_shadow_applicable(q->trial->graph, q->rules);
    for (int i = 0; i < count && *found == 0; i++) {
        if (!(applicable >> faults[i] & 1) || !affordable(q)) continue;
        q->scoreboard->discerned += (int64_t)q->cost;
        cupel_arena_reset(q->arena);
        CUPEL_TRY(cupel_discern_fault(q->trial, q->bindings, q->rules, faults[i], q->arena, found, q->err));
    }
    return CUPEL_OK;
}

static bool is_open(const question *q, cupel_gate gate) {
    return q->scoreboard->gates[gate].cases < CUPEL_DISCERN_CASES;
}

cupel_code cupel_discern(cupel_trial *trial, const cupel_bindings *bindings, const cupel_rules *rules,
                         cupel_scoreboard *scoreboard, cupel_error *err) {
    enum {
        ORDERS = sizeof order_faults / sizeof *order_faults,
        SUMS = sizeof sum_faults / sizeof *sum_faults
    };
    trial->discerned = (cupel_discerned){0, 0};
    if (!scoreboard || !trial->allowed) return CUPEL_OK;
    question q = {.trial = trial, .bindings = bindings, .rules = rules, .scoreboard = scoreboard, .err = err};
    q.cost = cupel_shadow_cost(trial->graph);
    const bool order = is_open(&q, CUPEL_GATE_ORD_03), sums = is_open(&q, CUPEL_GATE_PRC_02);
    if (!(order || sums) || !affordable(&q)) return CUPEL_OK;
    q.arena = cupel_arena_create(0);
    if (!q.arena) return cupel_fail(err, CUPEL_MEMORY, "no memory for a shadow");
    cupel_code code = order ? ask(&q, order_faults, ORDERS, &trial->discerned.order) : CUPEL_OK;
    if (code == CUPEL_OK && sums) code = ask(&q, sum_faults, SUMS, &trial->discerned.sums);
    cupel_arena_free(q.arena);
    return code;
}
