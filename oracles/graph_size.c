#include "graph_size.h"

/* 2^25 elements for any case, which is half a gigabyte with value and radius; 64 for each element of the
 * tensors beside that (attention's scores are L / 4E of them: L up to 256 E); 2^31 at most. Windows that
 * products read where they lie take no memory, but time: 2^10 times as much. */
enum { BASE_BITS = 25, MOST_BITS = 31, WINDOW_BITS = 10, PER_ELEMENT = 64 };

static int64_t elements_of(int rank, const int64_t *shape) {
    int64_t count = 1;
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(count, shape[i], &count)) return INT64_MAX;
    return count;
}

static int64_t elements_in_all(const cupel_symbols *symbols) {
    int64_t sum = 0;
    for (int i = 0; i < symbols->input_count; i++)
        if (__builtin_add_overflow(sum, elements_of(symbols->inputs[i].rank, symbols->inputs[i].shape), &sum))
            return INT64_MAX;
    for (int i = 0; i < symbols->output_count; i++)
        if (__builtin_add_overflow(sum, elements_of(symbols->outputs[i].rank, symbols->outputs[i].shape),
                                   &sum))
            return INT64_MAX;
    return sum;
}

static int64_t limit_of(int64_t elements) {
    const int64_t most = INT64_C(1) << MOST_BITS, base = INT64_C(1) << BASE_BITS;
    return elements > (most - base) / PER_ELEMENT ? most : base + PER_ELEMENT * elements;
}

static bool moves(const cupel_node *n) {
    return n->op == CUPEL_OP_VIEW || n->op == CUPEL_OP_RESHAPE;
}

/* Which nodes somebody reads from memory of their own: all but views that only products, and such views,
 * read. */
static void find_written(const cupel_graph *graph, bool *written) {
    for (int o = 0; o < graph->output_count; o++) written[graph->outputs[o].node] = true;
    for (int i = graph->node_count - 1; i >= 0; i--) {
        const cupel_node *n = &graph->nodes[i];
        written[i] = written[i] || !moves(n);
        for (int k = 0; k < n->arg_count; k++)
            if (n->op != CUPEL_OP_MATMUL && (written[i] || !moves(n))) written[n->args[k]] = true;
    }
}

cupel_code cupel_graph_size_check(const cupel_graph *graph, const cupel_symbols *symbols, cupel_arena *arena,
                                  cupel_error *err) {
    const int64_t elements = elements_in_all(symbols), limit = limit_of(elements);
    bool *written = cupel_arena_alloc(arena, (size_t)graph->node_count * sizeof *written);
    if (!written) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    find_written(graph, written);
    for (int i = 0; i < graph->node_count; i++) {
        const cupel_node *n = &graph->nodes[i];
        if (n->op == CUPEL_OP_INPUT || n->count <= (written[i] ? limit : limit << WINDOW_BITS)) continue;
        return cupel_fail_span(
            err, CUPEL_UNSUPPORTED, n->place,
            "expected intermediate results of at most %lld elements beside tensors of %lld "
            "in all, found %lld",
            (long long)limit, (long long)elements, (long long)n->count);
    }
    return CUPEL_OK;
}
