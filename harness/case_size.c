#include "case_size.h"

#include <stdio.h>

#include "recipe.h"

/* A tensor is held as drawn, as an image for the candidate, and as each of two runs leaves it. */
enum { COPIES = 4 };

/* Of the bounded evaluator, an element: value, radius, classes and reasons; of an allowed set both ends too.
 */
enum { NODE_BYTES = 8 + 8 + 1, ALLOWED_BYTES = 4 * 8 + 2 };

/* Of an elementwise kernel of f32, x * 2: 80 bytes for x and y were measured at 10^7 elements. */
enum { ELEMENT_BYTES = 64 };

double cupel_case_size_tensors(const cupel_binding *binding) {
    double bytes = 0;
    for (int t = 0; t < binding->contract->tensor_count; t++) {
        int64_t shape[CUPEL_RANK_MAX], count;
        if (cupel_binding_shape(binding, t, shape, &count, NULL) != CUPEL_OK) continue;
        bytes += COPIES * (double)count * (double)cupel_format_of(cupel_binding_type(binding, t))->size;
    }
    return bytes;
}

/* Views are read where they lie, as a rule. */
static bool is_written(const cupel_node *node) {
    return node->op != CUPEL_OP_VIEW && node->op != CUPEL_OP_RESHAPE;
}

double cupel_case_size_oracle(const cupel_graph *graph) {
    double largest = 0, allowed = 0;
    for (int i = 0; i < graph->node_count; i++)
        if (is_written(&graph->nodes[i]) && (double)graph->nodes[i].count > largest)
            largest = (double)graph->nodes[i].count;
    for (int o = 0; o < graph->output_count; o++) allowed += (double)graph->outputs[o].count;
    return 2 * NODE_BYTES * largest + ALLOWED_BYTES * allowed;
}

cupel_code cupel_case_size_within(double bytes, uint64_t limit, cupel_error *err) {
    if (limit == 0 || bytes <= (double)limit) return CUPEL_OK;
    return cupel_fail(err, CUPEL_UNSUPPORTED,
                      "tensors of the case need about %.0f MiB of memory, more than the %.0f MiB of a run",
                      bytes / 0x1p20, (double)limit / 0x1p20);
}

/* "N=1000000000, M=1" */
static void name_dims(const cupel_binding *binding, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < binding->contract->dim_count && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%lld", d ? ", " : "",
                                 binding->contract->dims[d].name, (long long)binding->dims[d]);
}

cupel_code cupel_case_size_smallest(const cupel_contract *contract, uint64_t limit, cupel_arena *scratch,
                                    cupel_error *err) {
    cupel_recipe recipe = {0};
    cupel_binding binding;
    cupel_graph *graph;
    char dims[256];
    /* what cannot be made is told by the search, in its own words */
    if (cupel_recipe_repair(contract, &recipe, 1, NULL) != CUPEL_OK ||
        cupel_recipe_binding(contract, &recipe, &binding, NULL) != CUPEL_OK)
        return CUPEL_OK;
    double bytes = cupel_case_size_tensors(&binding);
    if (cupel_case_size_within(bytes, limit, NULL) == CUPEL_OK) {
        if (cupel_binding_graph(&binding, scratch, &graph, NULL) != CUPEL_OK) return CUPEL_OK;
        bytes += cupel_case_size_oracle(graph);
    }
    if (cupel_case_size_within(bytes, limit, NULL) == CUPEL_OK) return CUPEL_OK;
    name_dims(&binding, dims, sizeof dims);
    return cupel_fail(
        err, CUPEL_UNSUPPORTED,
        "the smallest case (%s) is too large: its tensors and those of its expressions need about %.0f "
        "MiB of memory, more than the %.0f MiB of a run",
        dims, bytes / 0x1p20, (double)limit / 0x1p20);
}

int64_t cupel_case_size_elements(uint64_t limit) {
    return (int64_t)(limit / ELEMENT_BYTES);
}
