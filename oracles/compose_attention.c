/* Scaled dot product attention, as torch.nn.functional.scaled_dot_product_attention defines it, with causal
 * rows aligned at the end unless told otherwise. */
#include <math.h>

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
static int beyond_diagonal(cupel_builder *b, const attention *a, int64_t shift) {
    int last = cupel_emit_unsqueeze(b, cupel_emit_iota(b, shift, 1, a->queries), 1);
    return less_(b, last, cupel_emit_iota(b, 0, 1, a->keys));
}

/* A boolean mask is true where a key takes part; -inf in an additive one excludes it. */
static void read_masks(cupel_builder *b, const cupel_call *call, attention *a) {
    static const char *const alignments[] = {"bottom_right", "top_left", NULL};
    a->excluded = a->bias = -1;
    int64_t shift = cupel_call_choice(b, call, ALIGN, alignments) == 0 ? a->keys - a->queries : 0;
    if (cupel_call_flag(b, call, CAUSAL, false)) a->excluded = beyond_diagonal(b, a, shift);
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

/* 1 / sqrt(E), which kernels compute in single precision. */
static int usual_scale(cupel_builder *b, int64_t width) {
    return div_(b, number_(b, 1.0), sqrt_(b, number_(b, (double)width)));
}

static int swapped(cupel_builder *b, int x) {
    int order[CUPEL_RANK_MAX], rank = b->nodes[x].rank;
    for (int i = 0; i < rank; i++) order[i] = i;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    return cupel_emit_permute(b, x, order);
}

/* log2(e) and ln(2): kernels that use exp2 have the first in their scale, which may stand on q, so that every
 * product rounds with it. */
#define LOG2_E                                                                                               \
    "1.4426950408889634073599246810018921374266459541529859341354494069311092191811850798855266"             \
    "228935063444969975183096525442555931016871683596427206621582234793362745373698847184936307"             \
    "013876635320155338943189166648376431286154240474784222894979047950915303513385880549688658"             \
    "930969963680361105110756308441454272158283449418919339085777157900441712802468483413745226"             \
    "9518236901123909403445996853991"
#define LN_2                                                                                                 \
    "0.6931471805599453094172321214581765680755001343602552541206800094933936219696947156058633"             \
    "269964186875420014810205706857336855202357581305570326707516350759619307275708283714351903"             \
    "070386238916734711233501153644979552391204751726815749320651555247341395258829504530070953"             \
    "263666426541042391578149520437404303855008019441706416715186447128399681717845469570262716"             \
    "3106454615025720740248163777339"

/* The scores, -inf where a key is excluded. A kernel may add -inf to a score that it has computed first, so
 * an excluded score that may overflow still says so: both branches are -inf, but the condition is asked. */
static int scores_of(cupel_builder *b, const cupel_call *call, const attention *a) {
    int scale = cupel_call_has(call, SCALE) ? cupel_call_node(b, call, SCALE) : usual_scale(b, a->width);
    int base2 = cupel_emit_literal(b, LOG2_E), natural = cupel_emit_literal(b, LN_2);
    int products = cupel_compose_product_of(b, a->q, swapped(b, a->k));
    int scores = mul_(b, mul_(b, products, mul_(b, scale, base2)), natural);
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

/* Where rows without keys are 0: they are, and a row whose scores all come out as -inf is left open, as many
 * kernels tell both by a sum of 0. */
static int zeroed(cupel_builder *b, const attention *a, int y, int top) {
    int lost = cupel_emit_binary(b, CUPEL_OP_EQ, top, number_(b, -INFINITY));
    if (a->excluded < 0) return cupel_emit_exclude(b, y, lost);
    int empty = last_axis(b, CUPEL_OP_AMIN, a->excluded, true);
    y = where_(b, empty, number_(b, 0.0), y);
    return cupel_emit_exclude(b, y, and_(b, lost, not_(b, empty)));
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
    int top = last_axis(b, CUPEL_OP_AMAX, scores, true), weights = exp_(b, sub_(b, scores, top));
    int sum = last_axis(b, CUPEL_OP_SUM, weights, true);
    int y = div_(b, cupel_compose_product_of(b, weights, a.v), sum);
    cupel_emit_composite(
        b, (cupel_composite){
               .node = y, .form = CUPEL_FORM_ATTENTION, .args = {scores, a.v, weights, sum}, .number = zero});
    if (y < 0 || b->nodes[y].count == 0) return y;
    if (zero) y = zeroed(b, &a, y, top);
    return a.excluded < 0 ? y : cupel_emit_exclude(b, y, meets_special(b, &a));
}
