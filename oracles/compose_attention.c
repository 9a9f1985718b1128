/* Scaled dot product attention, as torch.nn.functional.scaled_dot_product_attention defines it, with causal
 * rows aligned at the end unless told otherwise. */
#include <math.h>
#include <mpfr.h>

#include "function_table.h"

enum { Q, K, V, SCALE, CAUSAL, MASK, EMPTY_ROWS, ALIGN };

typedef struct attention {
    int q, k, v;
    int64_t queries, keys, width;
    int excluded; /* BOOL, broadcasts to the scores; -1: no key is */
    int bias;     /* an additive mask, or -1 */
} attention;

/* The matrices [.., L, E], [.., S, E], [.., S, V]. */
static bool read_matrices(cupel_builder *b, const cupel_call *call, attention *a) {
    int *const parts[] = {&a->q, &a->k, &a->v};
    for (int i = 0; i < 3; i++) {
        *parts[i] = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, i));
        if (*parts[i] < 0) return false;
        if (b->nodes[*parts[i]].rank >= 2) continue;
        cupel_emit_fail(b, CUPEL_CONTRACT, call->args[i].place,
                        "expected a tensor of at least two axes in %s", call->info->signature);
        return false;
    }
    const cupel_node *q = &b->nodes[a->q], *k = &b->nodes[a->k], *v = &b->nodes[a->v];
    a->queries = q->shape[q->rank - 2];
    a->width = q->shape[q->rank - 1];
    a->keys = k->shape[k->rank - 2];
    if (k->shape[k->rank - 1] == a->width && v->shape[v->rank - 2] == a->keys) return true;
    cupel_emit_fail(b, CUPEL_CONTRACT, call->place,
                    "expected q [.., L, E], k [.., S, E] and v [.., S, V], found %s, %s and %s",
                    cupel_emit_shape_text(b, q->rank, q->shape), cupel_emit_shape_text(b, k->rank, k->shape),
                    cupel_emit_shape_text(b, v->rank, v->shape));
    return false;
}

/* Row i sees the keys up to i, counted so that the last row sees all of them ("bottom_right") or that the
 * first row sees one ("top_left"). */
static int beyond_diagonal(cupel_builder *b, const cupel_call *call, const attention *a) {
    static const char *const alignments[] = {"bottom_right", "top_left", NULL};
    int64_t shift = cupel_call_choice(b, call, ALIGN, alignments) == 0 ? a->keys - a->queries : 0;
    int last = cupel_emit_unsqueeze(b, cupel_emit_iota(b, shift, 1, a->queries), 1);
    return less_(b, last, cupel_emit_iota(b, 0, 1, a->keys));
}

/* A boolean mask is true where a key takes part; -inf in an additive one excludes it. */
static void read_masks(cupel_builder *b, const cupel_call *call, attention *a) {
    a->excluded = a->bias = -1;
    if (cupel_call_flag(b, call, CAUSAL, false)) a->excluded = beyond_diagonal(b, call, a);
    if (!cupel_call_has(call, MASK)) return;
    int mask = cupel_call_node(b, call, MASK), masked;
    if (mask < 0) return;
    if (b->nodes[mask].kind == CUPEL_VALUE_INT) {
        cupel_emit_fail(b, CUPEL_CONTRACT, call->args[MASK].place,
                        "expected a mask of booleans (true takes part) or of numbers to add to the scores");
        return;
    }
    if (b->nodes[mask].kind == CUPEL_VALUE_REAL) {
        a->bias = mask;
        masked = cupel_emit_binary(b, CUPEL_OP_EQ, mask, number_(b, -INFINITY));
    } else {
        masked = not_(b, mask);
    }
    a->excluded = a->excluded < 0 ? masked : cupel_emit_binary(b, CUPEL_OP_OR, a->excluded, masked);
}

/* 1 / sqrt(E) in as many digits as any evaluation asks for. */
static int usual_scale(cupel_builder *b, int64_t width) {
    if (width == 0) return number_(b, 1.0);
    mpfr_t scale;
    mpfr_init2(scale, 1400);
    mpfr_set_si(scale, width, MPFR_RNDN);
    mpfr_rec_sqrt(scale, scale, MPFR_RNDN);
    char digits[460];
    mpfr_snprintf(digits, sizeof digits, "%.420Rg", scale);
    mpfr_clear(scale);
    const char *kept = cupel_arena_printf(b->arena, "%s", digits);
    if (!kept) return cupel_emit_fail(b, CUPEL_MEMORY, b->place, "out of memory");
    return cupel_emit_literal(b, kept);
}

static int swapped(cupel_builder *b, int x) {
    int order[CUPEL_RANK_MAX], rank = b->nodes[x].rank;
    for (int i = 0; i < rank; i++) order[i] = i;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    return cupel_emit_permute(b, x, order);
}

/* The scores, -inf where a key is excluded. A kernel may add -inf to a score that it has computed first, so
 * an excluded score that may overflow still says so: both branches are -inf, but the condition is asked. */
static int scores_of(cupel_builder *b, const cupel_call *call, const attention *a) {
    int scale = cupel_call_has(call, SCALE) ? cupel_call_node(b, call, SCALE) : usual_scale(b, a->width);
    int scores = mul_(b, cupel_compose_product_of(b, a->q, swapped(b, a->k)), scale);
    if (a->bias >= 0) scores = add_(b, scores, a->bias);
    if (a->excluded < 0) return scores;
    int none = number_(b, -INFINITY), computed = cupel_emit_unary(b, CUPEL_OP_ISFINITE, scores);
    return where_(b, a->excluded, where_(b, computed, none, none), scores);
}

static int last_axis(cupel_builder *b, cupel_op op, int x, bool keep) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    return cupel_emit_reduce(b, op, x, 1u << (b->nodes[x].rank - 1), keep);
}

/* Rows that exclude a key whose k or v holds an infinity or a NaN: kernels that multiply it by a weight of 0
 * return NaN, others skip it. */
static int meets_special(cupel_builder *b, const attention *a) {
    int fine = last_axis(b, CUPEL_OP_AMIN, cupel_emit_unary(b, CUPEL_OP_ISFINITE, a->v), false);
    if (a->width > 0)
        fine =
            and_(b, fine, last_axis(b, CUPEL_OP_AMIN, cupel_emit_unary(b, CUPEL_OP_ISFINITE, a->k), false));
    if (fine < 0) return -1;
    int special = cupel_emit_unsqueeze(b, not_(b, fine), b->nodes[fine].rank - 1);
    return last_axis(b, CUPEL_OP_AMAX, and_(b, a->excluded, special), true);
}

/* What a row is that sees no key: 0 / 0, or 0. */
static int without_keys(cupel_builder *b, const attention *a, bool zero) {
    if (b->code != CUPEL_OK) return -1;
    int product = cupel_emit_matmul(b, cupel_emit_matmul(b, a->q, swapped(b, a->k)), a->v);
    if (product < 0) return -1;
    return cupel_emit_broadcast(b, number_(b, zero ? 0.0 : NAN), b->nodes[product].rank,
                                b->nodes[product].shape);
}

/* exp(s - max s) v / sum exp(s - max s): kernels divide before or after the product with v. */
int cupel_compose_attention(cupel_builder *b, const cupel_call *call) {
    static const char *const empty_rows[] = {"nan", "zero", NULL};
    attention a;
    if (!read_matrices(b, call, &a)) return -1;
    read_masks(b, call, &a);
    bool zero = cupel_call_choice(b, call, EMPTY_ROWS, empty_rows) == 1;
    if (b->code != CUPEL_OK) return -1;
    if (a.keys == 0) return without_keys(b, &a, zero);
    int scores = scores_of(b, call, &a);
    int weights = exp_(b, sub_(b, scores, last_axis(b, CUPEL_OP_AMAX, scores, true)));
    int y = div_(b, cupel_compose_product_of(b, weights, a.v), last_axis(b, CUPEL_OP_SUM, weights, true));
    if (y < 0 || a.excluded < 0 || b->nodes[y].count == 0) return y;
    if (zero) y = where_(b, last_axis(b, CUPEL_OP_AMIN, a.excluded, true), number_(b, 0.0), y);
    return cupel_emit_exclude(b, y, meets_special(b, &a));
}
