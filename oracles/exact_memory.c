/* Elements on demand, and the memory of those that are needed again. */
#include <stdlib.h>

#include "exact.h"
#include "integers.h"

enum { DEPTH_LIMIT = 3000 };

typedef enum family {
    FAMILY_leaf,
    FAMILY_unary,
    FAMILY_binary,
    FAMILY_select,
    FAMILY_reduce,
    FAMILY_scan,
    FAMILY_product,
    FAMILY_shape,
    FAMILY_scatter,
    FAMILY_order,
    FAMILY_recurrence
} family;

static const family families[] = {
#define FAMILY(name, text, family_) [CUPEL_OP_##name] = FAMILY_##family_,
    CUPEL_PRIMITIVES(FAMILY)
#undef FAMILY
};

static uint64_t key_of(int node, int64_t index) {
    return ((uint64_t)node << 44 | (uint64_t)index) + 1; /* 0 marks a free slot */
}

static cupel_exact_entry *slot_of(const cupel_exact_session *s, uint64_t key) {
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (hash ^ hash >> 32) & (s->entry_capacity - 1);
    while (s->entries[at].key && s->entries[at].key != key) at = (at + 1) & (s->entry_capacity - 1);
    return &s->entries[at];
}

static bool grow(cupel_exact_session *s) {
    const size_t old_capacity = s->entry_capacity;
    cupel_exact_entry *old = s->entries;
    cupel_exact_entry *fresh = calloc(old_capacity ? 2 * old_capacity : 256, sizeof *fresh);
    if (!fresh) return false;
    s->entries = fresh;
    s->entry_capacity = old_capacity ? 2 * old_capacity : 256;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].key) *slot_of(s, old[i].key) = old[i];
    free(old);
    return true;
}

cupel_exact_value *cupel_exact_remember(cupel_exact_session *s, int node, int64_t index, bool *fresh) {
    if (2 * s->entry_count >= s->entry_capacity && !grow(s)) {
        s->code = CUPEL_MEMORY;
        return NULL;
    }
    cupel_exact_entry *entry = slot_of(s, key_of(node, index));
    *fresh = entry->key == 0;
    if (!*fresh) return entry->value;
    cupel_exact_value *value = malloc(sizeof *value);
    if (!value) {
        s->code = CUPEL_MEMORY;
        return NULL;
    }
    cupel_exact_init(value);
    *entry = (cupel_exact_entry){key_of(node, index), value};
    s->entry_count++;
    return value;
}

void cupel_exact_forget(cupel_exact_session *s) {
    for (size_t i = 0; i < s->entry_capacity; i++) {
        if (!s->entries[i].key) continue;
        cupel_exact_clear(s->entries[i].value);
        free(s->entries[i].value);
    }
    free(s->entries);
    s->entries = NULL;
    s->entry_count = s->entry_capacity = 0;
}

static void compute(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    switch (families[s->graph->nodes[node].op]) {
    case FAMILY_unary: cupel_exact_unary(s, node, index, out); break;
    case FAMILY_binary: cupel_exact_binary(s, node, index, out); break;
    case FAMILY_select: cupel_exact_select(s, node, index, out); break;
    case FAMILY_reduce: cupel_exact_reduce(s, node, index, out); break;
    case FAMILY_scan: cupel_exact_scan(s, node, index, out); break;
    case FAMILY_product: cupel_exact_product(s, node, index, out); break;
    case FAMILY_scatter: cupel_exact_scatter(s, node, index, out); break;
    case FAMILY_order: cupel_exact_order(s, node, index, out); break;
    case FAMILY_recurrence: cupel_exact_recurrence(s, node, index, out); break;
    case FAMILY_leaf:
    case FAMILY_shape: break;
    }
    const cupel_node *n = &s->graph->nodes[node];
    if (n->kind != CUPEL_VALUE_INT || out->ball.reason != CUPEL_REASON_JUDGED) return;
    const double value = out->ball.value, radius = out->ball.radius;
    const bool fits = n->width == CUPEL_DTYPE_COUNT || radius > 0
                          ? cupel_width_holds(n->width, value - radius, value + radius)
                          : cupel_exact_fits(n->width, out);
    if (!fits) out->ball.reason = CUPEL_REASON_CONVENTION;
}

/* Sums are always worth a place; an elementwise result if several nodes ask for it, while there is room:
 * without that, shared subexpressions would be computed again for each path that leads to them. */
static bool worth_remembering(const cupel_exact_session *s, int node) {
    const family f = families[s->graph->nodes[node].op];
    if (f == FAMILY_reduce || f == FAMILY_scan || f == FAMILY_product || f == FAMILY_scatter ||
        f == FAMILY_order || f == FAMILY_recurrence)
        return true;
    return s->uses[node] > 1 && s->entry_count < CUPEL_EXACT_ENTRIES;
}

const cupel_exact_value *cupel_exact_get(cupel_exact_session *s, int node, int64_t index,
                                         cupel_exact_value *scratch) {
    const family f = families[s->graph->nodes[node].op];
    if (s->code != CUPEL_OK) return scratch;
    if (s->depth >= DEPTH_LIMIT) {
        s->code = CUPEL_UNABLE;
        return scratch;
    }
    s->depth++;
    const cupel_exact_value *result = scratch;
    if (f == FAMILY_leaf) {
        cupel_exact_leaf(s, node, index, scratch);
    } else if (f == FAMILY_shape) {
        result = cupel_exact_shape(s, node, index, scratch);
    } else if (worth_remembering(s, node)) {
        bool fresh;
        cupel_exact_value *kept = cupel_exact_remember(s, node, index, &fresh);
        if (kept && (fresh || kept->precision < s->precision)) compute(s, node, index, kept);
        if (kept) result = kept;
    } else {
        compute(s, node, index, scratch);
    }
    s->depth--;
    return result;
}
