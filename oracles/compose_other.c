/* Rotary embedding, dropout's mask, quantisation. */
#include <math.h>

#include "function_table.h"

/* ---- rope ---- */

/* Elements first, first + step, .. of the last axis. */
static int every(cupel_builder *b, int x, int64_t first, int64_t count, int64_t step) {
    return x < 0 ? -1 : cupel_emit_slice(b, x, b->nodes[x].rank - 1, first, count, step);
}

/* One half of a table of angles: the table itself when it has one entry a pair. */
static int table_half(cupel_builder *b, int table, int which, int64_t pairs, bool interleaved) {
    if (table < 0 || b->nodes[table].shape[b->nodes[table].rank - 1] == pairs) return table;
    return interleaved ? every(b, table, which, pairs, 2) : every(b, table, which * pairs, pairs, 1);
}

static bool read_rope(cupel_builder *b, const cupel_call *call, int args[3], int64_t *pairs) {
    for (int i = 0; i < 3; i++) {
        args[i] = cupel_call_real(b, call, i);
        if (args[i] < 0) return false;
        const cupel_node *n = &b->nodes[args[i]];
        int64_t width = n->rank ? n->shape[n->rank - 1] : 0;
        if (i == 0) *pairs = width / 2;
        const bool fits = n->rank > 0 && (i == 0 ? width % 2 == 0 : width == *pairs || width == 2 * *pairs);
        if (fits) continue;
        cupel_emit_fail(b, CUPEL_CONTRACT, call->args[i].place,
                        "expected x of an even last extent D, cos and sin of last extent D or D/2, found %s",
                        cupel_emit_shape_text(b, n->rank, n->shape));
        return false;
    }
    return true;
}

/* Pairs (p, q) become (p cos - q sin, q cos + p sin). A pair is (i, i + D/2), as LLaMA's rotate_half has it,
 * or (2i, 2i + 1) when interleaved, as in GPT-J. */
int cupel_compose_rope(cupel_builder *b, const cupel_call *call) {
    int args[3];
    int64_t pairs = 0;
    bool interleaved = cupel_call_flag(b, call, 3, false);
    if (!read_rope(b, call, args, &pairs)) return -1;
    int x = args[0], p = every(b, x, 0, pairs, interleaved ? 2 : 1);
    int q = every(b, x, interleaved ? 1 : pairs, pairs, interleaved ? 2 : 1);
    int cos[2], sin[2];
    for (int i = 0; i < 2; i++) {
        cos[i] = table_half(b, args[1], i, pairs, interleaved);
        sin[i] = table_half(b, args[2], i, pairs, interleaved);
    }
    int first = sub_(b, mul_(b, p, cos[0]), mul_(b, q, sin[0]));
    int second = add_(b, mul_(b, q, cos[1]), mul_(b, p, sin[1]));
    if (first < 0 || second < 0) return -1;
    int rank = b->nodes[first].rank;
    if (!interleaved) return cupel_emit_concat(b, 2, (int[]){first, second}, rank - 1);
    int64_t shape[CUPEL_RANK_MAX];
    for (int i = 0; i < rank; i++) shape[i] = b->nodes[first].shape[i];
    shape[rank - 1] *= 2;
    int parts[] = {cupel_emit_unsqueeze(b, first, rank), cupel_emit_unsqueeze(b, second, rank)};
    return cupel_emit_reshape(b, cupel_emit_concat(b, 2, parts, rank), rank, shape);
}

/* ---- dropout ---- */

/* The shape given, else that of the outputs when they all have one. */
static int mask_shape(cupel_builder *b, const cupel_call *call, int64_t *shape) {
    if (cupel_call_has(call, 2)) {
        int rank = cupel_call_integers(b, call, 2, CUPEL_RANK_MAX, shape);
        for (int i = 0; i < rank && b->code == CUPEL_OK; i++)
            if (shape[i] < 0)
                cupel_emit_fail(b, CUPEL_CONTRACT, call->args[2].place,
                                "expected extents of at least 0, found %s",
                                cupel_emit_shape_text(b, rank, shape));
        return rank;
    }
    const cupel_symbols *s = b->symbols;
    bool one = s->output_count > 0;
    for (int i = 0; i < s->output_count && one; i++) {
        one = s->outputs[i].rank == s->outputs[0].rank;
        for (int d = 0; d < s->outputs[0].rank && one; d++)
            one = s->outputs[i].shape[d] == s->outputs[0].shape[d];
    }
    if (!one)
        return cupel_emit_fail(
            b, CUPEL_CONTRACT, call->place,
            "expected the mask's shape, as the outputs differ: dropout_mask(seed, p, [..])");
    for (int d = 0; d < s->outputs[0].rank; d++) shape[d] = s->outputs[0].shape[d];
    return s->outputs[0].rank;
}

/* True where an element is kept: rand > p, rand being Triton's tl.rand(seed, i) for the row-major position i:
 * the first word of Philox4x32-10 with key seed and counter i, read as a signed integer, negative ones folded
 * onto the others (-x - 1), times 4.6566127342e-10 in single precision (triton/language/random.py). */
int cupel_compose_dropout_mask(cupel_builder *b, const cupel_call *call) {
    int64_t shape[CUPEL_RANK_MAX], seed = cupel_call_integer(b, call, 0, 0), count = 1;
    int p = cupel_call_real(b, call, 1), rank = mask_shape(b, call, shape);
    if (b->code != CUPEL_OK) return -1;
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(count, shape[i], &count))
            return cupel_emit_fail(b, CUPEL_RANGE, call->args[2].place,
                                   "expected at most 2^40 elements, found the shape %s",
                                   cupel_emit_shape_text(b, rank, shape));
    int word = cupel_emit_add(
        b,
        (cupel_node){
            .op = CUPEL_OP_PHILOX, .kind = CUPEL_VALUE_INT, .rank = 1, .shape = {count}, .integer = seed},
        0, NULL);
    int folded = minimum_(b, word, sub_(b, cupel_emit_integer(b, UINT32_MAX), word));
    int number = cupel_emit_cast(b, CUPEL_F32, cupel_emit_as(b, CUPEL_VALUE_REAL, folded));
    int unit = cupel_emit_cast(b, CUPEL_F32, mul_(b, number, number_(b, (double)4.6566127342e-10f)));
    return cupel_emit_reshape(b, less_(b, p, unit), rank, shape);
}

/* ---- quantisation ---- */

/* The range of a type, as numbers that it holds. */
static bool range_of(cupel_dtype type, double *low, double *high) {
    const cupel_format *f = cupel_format_of(type);
    const double top = ldexp(1, (int)f->size * 8 - (f->kind == CUPEL_KIND_SIGNED));
    if (f->kind == CUPEL_KIND_REAL) {
        *high = cupel_format_largest(type);
        *low = -*high;
        return true;
    }
    *low = f->kind == CUPEL_KIND_SIGNED ? -top : 0;
    *high = top - 1;
    return f->kind != CUPEL_KIND_BOOLEAN && f->size <= 4;
}

/* A zero point is a number of the integer type: floating types have none. */
static bool read_zero_point(cupel_builder *b, const cupel_call *call, cupel_dtype type, double low,
                            double high) {
    const cupel_operand *given = &call->args[3];
    const cupel_format *f = cupel_format_of(type);
    double zero;
    if (f->kind == CUPEL_KIND_REAL) {
        cupel_emit_fail(b, CUPEL_CONTRACT, given->place, "expected no zero_point beside the floating type %s",
                        f->name);
        return false;
    }
    if (!cupel_operand_number(given, &zero) || (zero >= low && zero <= high)) return true;
    cupel_emit_fail(b, CUPEL_CONTRACT, given->place, "expected a zero_point in %.0f..%.0f, found %.0f", low,
                    high, zero);
    return false;
}

/* clamp(round(x / scale) + zero_point) to an integer type, ties to even, as torch.quantize_per_tensor; NaN
 * and infinities have no integer, and are left open by the cast. To a floating type the quotient is clamped
 * to the type's range and rounded: what saturating casts to fp8 do, NaN staying NaN. */
int cupel_compose_quantize(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0), scale = cupel_call_real(b, call, 1);
    int zero = cupel_call_has(call, 3) ? cupel_call_real(b, call, 3) : -1;
    const cupel_dtype type = call->args[2].type;
    double low, high;
    if (x < 0 || scale < 0 || b->code != CUPEL_OK) return -1;
    const bool wide = type == CUPEL_F64 || type == CUPEL_F32 || type == CUPEL_TF32;
    if (wide || !range_of(type, &low, &high))
        return cupel_emit_fail(
            b, CUPEL_CONTRACT, call->args[2].place,
            "expected e4m3, e5m2, f16, bf16 or an integer type of at most 32 bits, found %s",
            cupel_format_of(type)->name);
    if (zero >= 0 && !read_zero_point(b, call, type, low, high)) return -1;
    int quotient = div_(b, x, scale), steps = quotient;
    const bool integer = cupel_format_of(type)->kind != CUPEL_KIND_REAL;
    if (integer) steps = cupel_emit_unary(b, CUPEL_OP_ROUND, quotient);
    if (zero >= 0) steps = add_(b, steps, zero);
    int clamped = minimum_(b, maximum_(b, steps, number_(b, low)), number_(b, high));
    if (integer)
        clamped = where_(b, cupel_emit_unary(b, CUPEL_OP_ISINF, quotient), number_(b, INFINITY), clamped);
    return cupel_emit_cast(b, type, clamped);
}

/* (x - zero_point) scale */
int cupel_compose_dequantize(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0);
    if (cupel_call_has(call, 2)) x = sub_(b, x, cupel_call_real(b, call, 2));
    return mul_(b, x, cupel_call_real(b, call, 1));
}
