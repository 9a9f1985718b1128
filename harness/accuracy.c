#include "accuracy.h"

#include <math.h>

#include "good_radius.h"

/* An element this many ulps off is worth a look; below, the two ulps of slack and the factor decide. */
static const double ulps_least = 32;

/* Sums shorter than this have sharp bounds: the evidence radius would be the sound one. */
enum { TERMS_LEAST = 32 };

/* Elements of nodes that the shadows may evaluate for each element of a tensor that the search has seen: a
 * few percent of the time that running the cases takes (docs/oracle.md). And of one case. */
static const double share = 1, most = 2e8;

enum { RUNS = 15 };

static bool has_long_sum(const cupel_graph *graph) {
    for (int i = 0; i < graph->node_count; i++) {
        const cupel_node *n = &graph->nodes[i];
        const cupel_node *first = n->arg_count > 0 ? &graph->nodes[n->args[0]] : n;
        const bool sums = n->op == CUPEL_OP_SUM || n->op == CUPEL_OP_MATMUL || n->op == CUPEL_OP_CUMSUM;
        if (sums && n->kind == CUPEL_VALUE_REAL && first->rank > 0 &&
            first->shape[first->rank - 1] >= TERMS_LEAST)
            return true;
    }
    return false;
}

/* The output's elements after the first run, decoded; NULL where there are none. */
static double *results_of(const cupel_trial *trial, int output, cupel_arena *arena) {
    const cupel_allowed *allowed = &trial->allowed[output];
    const int tensor = cupel_contract_tensor(trial->c->contract, allowed->name);
    if (tensor < 0 || cupel_format_of(allowed->type)->kind != CUPEL_KIND_REAL) return NULL;
    if (trial->c->contract->tensors[tensor].has_tolerance) return NULL;
    const unsigned char *bytes = cupel_trial_result(trial, output, arena);
    double *values = cupel_arena_raw(arena, (size_t)allowed->count + 1, sizeof *values);
    if (!bytes || !values) return NULL;
    cupel_decode_many(allowed->type, bytes, (size_t)allowed->count, values);
    return values;
}

static bool is_far_off(const cupel_allowed *allowed, const double *values) {
    for (int64_t i = 0; i < allowed->count; i++) {
        const double value = allowed->value[i], error = fabs(values[i] - value);
        if (allowed->reasons[i] == CUPEL_REASON_JUDGED && allowed->classes[i] == CUPEL_CLASS_FINITE &&
            values[i] >= allowed->lo[i] && values[i] <= allowed->hi[i] &&
            error > ulps_least * cupel_format_ulp(allowed->type, value))
            return true;
    }
    return false;
}

/* May this case's shadows be paid for? */
static bool affordable(cupel_scoreboard *scoreboard, double cost) {
    if (cost > most) return false;
    if (!scoreboard) return true;
    if ((double)scoreboard->shadowed + cost > share * (double)scoreboard->elements) return false;
    scoreboard->shadowed += (int64_t)cost;
    return true;
}

cupel_code cupel_accuracy_radii(const cupel_trial *trial, const cupel_bindings *bindings,
                                const cupel_rules *rules, cupel_scoreboard *scoreboard, cupel_arena *arena,
                                double ***radii, cupel_error *err) {
    const cupel_graph *graph = trial->graph;
    bool wanted = false;
    *radii = NULL;
    const double cost = RUNS * cupel_shadow_cost(graph);
    if (!has_long_sum(graph) || cost > most) return CUPEL_OK;
    for (int o = 0; o < graph->output_count && !wanted; o++) {
        if (!cupel_good_radius_applies(graph, rules, o)) continue;
        const double *values = results_of(trial, o, arena);
        wanted = values && is_far_off(&trial->allowed[o], values);
    }
    if (!wanted || !cupel_good_radius_tame(graph, bindings) || !affordable(scoreboard, cost)) return CUPEL_OK;
    double **found = cupel_arena_alloc(arena, (size_t)(graph->output_count + 1) * sizeof *found);
    if (!found) return cupel_fail(err, CUPEL_MEMORY, "no memory for evidence radii");
    CUPEL_TRY(cupel_good_radius_find(graph, bindings, rules, trial->allowed, arena, found, err));
    for (int o = 0; o < graph->output_count; o++) {
        const int tensor = cupel_contract_tensor(trial->c->contract, graph->outputs[o].name);
        if (tensor < 0 || trial->c->contract->tensors[tensor].has_tolerance) found[o] = NULL;
    }
    *radii = found;
    return CUPEL_OK;
}
