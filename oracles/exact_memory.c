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

static cupel_exact_entry *slot_of(const cupel_exact_table *t, uint64_t key) {
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (hash ^ hash >> 32) & (t->capacity - 1);
    while (t->entries[at].key && t->entries[at].key != key) at = (at + 1) & (t->capacity - 1);
    return &t->entries[at];
}

static bool grow(cupel_exact_table *t) {
    const cupel_exact_table old = *t;
    const size_t capacity = old.capacity ? 2 * old.capacity : 256;
    cupel_exact_entry *fresh = calloc(capacity, sizeof *fresh);
    if (!fresh) return false;
    t->entries = fresh;
    t->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.entries[i].key) *slot_of(t, old.entries[i].key) = old.entries[i];
    free(old.entries);
    return true;
}

/* The value of an entry, a fresh one when there is none; NULL when memory is short. */
static cupel_exact_value *enter(cupel_exact_table *t, uint64_t key, bool *fresh) {
    if (2 * t->count >= t->capacity && !grow(t)) return NULL;
    cupel_exact_entry *entry = slot_of(t, key);
    *fresh = entry->key == 0;
    if (!*fresh) return entry->value;
    cupel_exact_value *value = malloc(sizeof *value);
    if (!value) return NULL;
    cupel_exact_init(value);
    *entry = (cupel_exact_entry){key, value};
    t->count++;
    return value;
}

static void clear(cupel_exact_table *t) {
    for (size_t i = 0; i < t->capacity; i++) {
        if (!t->entries[i].key) continue;
        cupel_exact_clear(t->entries[i].value);
        free(t->entries[i].value);
    }
    free(t->entries);
    *t = (cupel_exact_table){0};
}

cupel_exact_value *cupel_exact_remember(cupel_exact_session *s, int node, int64_t index, bool *fresh) {
    cupel_exact_value *value = enter(&s->memory, key_of(node, index), fresh);
    if (!value) s->code = CUPEL_MEMORY;
    return value;
}

void cupel_exact_forget(cupel_exact_session *s) {
    clear(&s->memory);
    clear(&s->steps);
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
    return s->uses[node] > 1 && s->memory.count < CUPEL_EXACT_ENTRIES;
}

const cupel_exact_value *cupel_exact_get(cupel_exact_session *s, int node, int64_t index,
                                         cupel_exact_value *scratch) {
    const family f = families[s->graph->nodes[node].op];
    if (s->code != CUPEL_OK) return scratch;
    if (s->steps.count) {
        const cupel_exact_entry *step = slot_of(&s->steps, key_of(node, index));
        if (step->key) return step->value;
    }
    if (s->depth >= DEPTH_LIMIT) {
        s->code = CUPEL_UNABLE;
        s->deepest = (cupel_exact_demand){node, index};
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

/* Evaluates a demand from the top of an empty stack. An evaluation that was cut off may have left elements
 * that hold nothing: none of that memory is kept. */
static const cupel_exact_value *attempt(cupel_exact_session *s, cupel_exact_demand d,
                                        cupel_exact_value *scratch) {
    s->depth = 0;
    s->pool_used = 0;
    s->code = CUPEL_OK;
    const cupel_exact_value *v = cupel_exact_get(s, d.node, d.index, scratch);
    if (s->code != CUPEL_OK) clear(&s->memory);
    return v;
}

static void keep_step(cupel_exact_session *s, cupel_exact_demand d, const cupel_exact_value *v) {
    bool fresh;
    cupel_exact_value *kept = enter(&s->steps, key_of(d.node, d.index), &fresh);
    if (kept)
        cupel_exact_copy(kept, v);
    else
        s->code = CUPEL_MEMORY;
}

const cupel_exact_value *cupel_exact_reach_down(cupel_exact_session *s, int node, int64_t index,
                                                cupel_exact_value *scratch) {
    const cupel_exact_demand root = {node, index};
    clear(&s->steps);
    const cupel_exact_value *v = attempt(s, root, scratch);
    size_t open = 0, room = 0;
    cupel_exact_demand *demands = NULL; /* each is needed by the one before */
    while (s->code == CUPEL_UNABLE || (s->code == CUPEL_OK && open > 0)) {
        if (s->code == CUPEL_OK) {
            keep_step(s, demands[--open], v);
            if (s->code != CUPEL_OK) break;
        } else {
            if (open == room) {
                room = room ? 2 * room : 16;
                cupel_exact_demand *more = realloc(demands, room * sizeof *demands);
                if (!more) {
                    s->code = CUPEL_MEMORY;
                    break;
                }
                demands = more;
            }
            demands[open++] = s->deepest;
        }
        v = attempt(s, open > 0 ? demands[open - 1] : root, scratch);
    }
    free(demands);
    return v;
}
