/* The bounded evaluator against the exact one: the same classes, the same value but for fp64's own rounding,
 * and a radius that is no smaller and little larger. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "property.h"

typedef struct totals {
    int64_t elements, judged;
    int64_t value, classes, reasons, smaller; /* failures */
    int64_t
        looser; /* the filter allows more, by more than a few percent: it uses node-wide extents in places */
    double widest; /* bounded radius over exact radius */
} totals;

static void complain(const property_problem *p, const char *what, int64_t i, const cupel_allowed *b,
                     const cupel_allowed *e, unsigned long long seed, int64_t *count) {
    if ((*count)++ >= 3) return;
    print_message("%s: case seed %llu %s n=%lld %s fast %d flush %d [%lld]: bounded %.17g +- %.6g classes %d "
                  "reason %d, exact %.17g +- %.6g "
                  "classes %d reason %d\n",
                  what, seed, p->expression, (long long)p->n, cupel_format_of(p->type)->name,
                  p->rules.fast_math, p->rules.subnormals, (long long)i, b->value[i], b->radius[i],
                  b->classes[i], b->reasons[i], e->value[i], e->radius[i], e->classes[i], e->reasons[i]);
}

/* What the filter does not judge is never looked at; what it judges, the exact evaluator must judge, or be
 * unable to. */
static void compare(const property_problem *p, const cupel_allowed *e, unsigned long long seed, totals *t) {
    const cupel_allowed *b = &p->allowed;
    const double tiny = cupel_format_smallest(p->rules.working) * 0x1p24;
    for (int64_t i = 0; i < p->count; i++) {
        t->elements++;
        if (b->reasons[i] || e->reasons[i] == CUPEL_REASON_UNABLE) continue;
        /* exp(-1e38) * inf: the filter takes 0 * inf, the exact evaluator knows that it cannot tell */
        if (e->reasons[i] && !isfinite(b->value[i])) continue;
        if (e->reasons[i]) {
            complain(p, "judged by the filter alone", i, b, e, seed, &t->reasons);
            continue;
        }
        t->judged++;
        const uint8_t known = CUPEL_CLASS_MASK | CUPEL_KEEP;
        const uint8_t mine = b->classes[i] & known, theirs = e->classes[i] & known;
        if (theirs & ~mine) complain(p, "classes missing", i, b, e, seed, &t->classes);
        bool looser = (mine & ~theirs) != 0;
        if ((theirs & CUPEL_CLASS_FINITE) && isfinite(e->value[i]) && isfinite(b->value[i])) {
            const double off = fabs(b->value[i] - e->value[i]), rb = b->radius[i], re = e->radius[i];
            if (!(off <= fabs(e->value[i]) * 0x1p-40 + re * 0x1p-12))
                complain(p, "value", i, b, e, seed, &t->value);
            if (rb < re * (1 - 1e-3) - tiny * 0x1p-24)
                complain(p, "smaller radius", i, b, e, seed, &t->smaller);
            looser |= rb > re * 1.05 + tiny;
            if (re > tiny && rb / re > t->widest) t->widest = rb / re;
        }
        t->looser += looser;
    }
}

/* Every primitive, and compositions that pass one family's state to another. kind as in property_operator. */
static const property_operator expressions[] = {
#define E(text, inputs, kind) {text, text, inputs, kind, 0, NULL, NULL, NULL, 0},
    E("floor(x) + ceil(w)", 2, 0) E("round(x * 2.5)", 1, 0) E("trunc(x)", 1, 0) E("sign(x)", 1, 0) E(
        "-x * w", 2, 0) E("where(isnan(x), w, x)", 2, 0) E("where(isinf(x) or isfinite(w), w, x)", 2, 0)
        E("log2(x)", 1, 0) E("log10(x)", 1, 0) E("exp2(x)", 1, 0) E("cos(x)", 1, 0) E("tan(x)", 1, 0) E(
            "asin(x)", 1, 0) E("acos(x)", 1, 0) E("sinh(x)", 1, 0) E("erfc(x)", 1, 0) E("tan(x * 0.1)", 1, 0)
            E("cosh(x * w)", 2, 0) E("log1p(x * x)", 1, 0) E("pow(x, 3)", 1, 0) E("pow(abs(x), w)", 2, 0)
                E("fmod(x, w)", 2, 0) E("x % w", 2, 0) E("atan2(x, w)", 2, 0) E("fmin(x, w)", 2, 0) E(
                    "fmax(x, w) - minimum(x, w)", 2, 0) E("clamp(x, -1, 1)", 1, 0)
                    E("where(x * w < b, x, w)", 3, 0) E("where(x <= w and not x == b, x, b)", 3, 0) E(
                        "where(x != w, exp(x), b)", 3,
                        0) E("cast(x * w, f16) * 3", 2, 0) E("cast(cast(x, i32), f32)", 1, 0)
                        E("x / w / b", 3, 0) E("x / (w * b)", 3, 0) E("x * (w / b) * x", 3, 0)
                            E("1 / x", 1, 0) E("x / sqrt(w * w + 1)", 2, 0) E("softplus(x)", 1, 0) E(
                                "elu(x)",
                                1, 0) E("gelu(x, approximate=\"tanh\")", 1, 0)
                                E("mish(x)", 1, 0) E("hardswish(x)", 1, 0) E("logsigmoid(x)", 1, 0) E(
                                    "prod(x, axis=-1)",
                                    1, 2) E("amin(x, axis=-1)", 1, 2)
                                    E("argmax(x, axis=-1)", 1, 2) E("argmin(x * x, axis=-1)", 1, 2) E(
                                        "norm(x, axis=-1)",
                                        1, 2) E("std(x, axis=-1)", 1, 2)
                                        E("sum(x * x, axis=-1)", 1, 2) E("sum(exp(x), axis=-1)", 1, 2) E(
                                            "sum(x, axis=-1) / 7 + amax(x, axis=-1)", 1,
                                            2) E("-sum(x, axis=-1) * 2 + 1", 1, 2)
                                            E("rsqrt(sum(x * x, axis=-1) + 1e-6)", 1,
                                              2) E("cumprod(x, axis=-1)", 1,
                                                   1) E("cummax(x, axis=-1)", 1, 1)
                                                E("cummin(x * x, axis=-1)", 1,
                                                  1) E("cumsum(x, axis=-1) * w + b", 3,
                                                       1) E("cumsum(x * x, axis=0)", 1, 1)
                                                    E("softmax(x * 0.125, axis=0)", 1,
                                                      1) E("x - mean(x, axis=-1, keepdim=true)", 1,
                                                           1) E("x + sum(x, axis=-1, keepdim=true)", 1, 1)
                                                        E("l2_normalize(x)", 1, 1) E("flip(x, 0) + x", 1, 1)
                                                            E("roll(x, 1, 1)", 1, 1) E("tril(x)", 1, 1) E(
                                                                "concat([x[:, 1:], x[:, :1]], 1) * x", 1,
                                                                1) E("gelu(matmul(x, w) + b)", 3, 3)
                                                                E("softmax(matmul(x, w) * 0.5, axis=-1)", 2,
                                                                  3) E("layer_norm(matmul(x, w), b, b, 1e-5)",
                                                                       3, 3)
                                                                    E("matmul(x * x, w) * 0.1 + b", 3, 3)
                                                                        E("matmul(softmax(x, axis=-1), w)", 2,
                                                                          3)};
enum { EXPRESSION_COUNT = sizeof expressions / sizeof *expressions };

/* Chains of + and -, whose terms kernels add in any order. */
static const property_operator chains[] = {
    E("x - w + b", 3, 0) E("x * w - (b - (x + w))", 3, 0) E("-(x * w + b) + x", 3, 0)
        E("(x + w + b) * x", 3, 0) E("sqrt(x * x + w * w + b * b)", 3, 0) E("1 / (1 + abs(x) + abs(w))", 2, 0)
            E("x + w - (x - amax(x, axis=-1, keepdim=true))", 2, 0)
                E("x - logsumexp(x, axis=-1, keepdim=true)", 1, 1) E("flip(x + w, 1) - b + x", 3, 0)
                    E("x + transpose(transpose(w - b)) + 0.1", 3, 0)
                        E("x + concat([x[:, 1:] + w[:, 1:], x[:, :1]], 1) - b", 3, 0)
                            E("where(x > w, x + w, b) + (x - w)", 3, 0)
                                E("layer_norm(x) + x + 1 + sum(x, axis=-1, keepdim=true)", 1, 1)
                                    E("maximum(x + w, b) - (x + w) + (x + w + b)", 3, 0)
                                        E("exp(x + w - b)", 3, 0)};
enum { CHAIN_COUNT = sizeof chains / sizeof *chains };

/* Order, scatter, and what is composed of them and of norms over channels. */
static const property_operator composites[] = {
    E("sort(x)", 1, 1) E("sort(x * w, axis=0, descending=true)", 2, 0) E("sort(x * x - x) * w + b", 3, 0)
        E("argsort(x)", 1, 1) E("argsort(x * w, descending=true, stable=true)", 2, 0) E(
            "argsort(abs(x), axis=0, stable=true)", 1, 1) E("topk(x * w, 1)[:, 0]", 2, 2)
            E("topk(x, 1, largest=false)[:, 0]", 1, 2) E("scatter_add(x, 1, argsort(w), b)", 3, 0) E(
                "scatter_add(x, 1, argsort(w, stable=true), x * b) * w", 3,
                0) E("scatter_add(x * w, 1, argsort(b, stable=true) % 2, x * b) * w + b", 3,
                     0) E("scatter_add(x, 1, cast(round(clamp(w, -0.6, 1)), i32), x) + b", 3, 0)
                E("scatter_add(x, 0, argsort(w, axis=0, stable=true), cumsum(b, axis=1))", 3,
                  0) E("attention(x, w, b)", 3, 0) E("attention(x, w, b, scale=0.7, causal=true)", 3, 0)
                    E("attention(x, x, x, mask=matmul(x, transpose(x)) > 0, empty_rows=\"zero\")", 1,
                      1) E("attention(x, w, b, mask=matmul(x, transpose(w)))", 3, 0)
                        E("batch_norm(x, training=true)", 1, 1) E("batch_norm(x, w, abs(b), b, w)", 3, 1)
                            E("batch_norm(x, weight=w, bias=b, training=true)", 3,
                              1) E("group_norm(x, 1, w, b)", 3,
                                   1) E("squeeze(instance_norm(unsqueeze(x, 1)), 1)", 1, 1)
                                E("group_norm(unsqueeze(x, 0), 1)[0]", 1,
                                  1) E("bce_with_logits(x, w, \"none\")", 2, 0)
                                    E("bce_with_logits(x, w) + x", 2, 0) E("hinge_loss(x, w, \"none\")", 2, 0)
                                        E("sum(rope(concat([x, x], 1), w, b), axis=-1)", 3,
                                          2) E("where(dropout_mask(5, 0.3), x / 0.7, 0)", 1, 1)
                                            E("quantize(x, w, i8)", 2, 0) E("quantize(x, w, f16) * b", 3, 0)
                                                E("dequantize(quantize(x, 0.37, u8, 3), w, 3)", 2, 0)};
enum { COMPOSITE_COUNT = sizeof composites / sizeof *composites };

/* Products and sums that are moved beside other elements: further factors and terms still join them. */
static const property_operator moves[] = {
    E("concat([x[:, 1:], x[:, :1] * 0.7], 1) * w", 2,
      0) E("concat([x[:, 1:] * w[:, 1:], x[:, :1] / b[:, :1]], 1) * x", 3,
           0) E("w / concat([x[:, 1:] * b[:, 1:], x[:, :1]], 1)", 3,
                0) E("sum(concat([x * 0.3, x], 1), axis=-1)", 1,
                     2) E("concat([cumsum(x, axis=1)[:, 1:], w[:, :1]], 1) + b", 3, 0)
        E("concat([cumsum(x * w, axis=1)[:, 1:], x[:, :1] * b[:, :1]], 1) * w + b", 3, 0)
            E("concat([softmax(x, axis=-1)[:, 1:], x[:, :1]], 1) * w", 2, 0)
                E("pad(x * w, [1, 1])[:, 1:-1] * b", 3, 0)
                    E("pad(cumsum(x, axis=1), [1, 1], value=0.1)[:, 1:-1] + b", 3, 0)
                        E("sum(pad(x * w, [2, 0], value=0.3) / 3, axis=-1)", 2, 2)
                            E("gather(x * w, 1, argsort(b, stable=true)) * b", 3, 0)
                                E("gather(cumsum(x * w, axis=1), 1, argsort(b, stable=true)) * w + b", 3, 0)
#undef E
};
enum { MOVE_COUNT = sizeof moves / sizeof *moves };

static void compare_operator(const property_operator *op, long cases, unsigned long long salt, totals *t) {
    cupel_arena *arena = cupel_arena_create(0);
    for (long c = 0; c < cases; c++) {
        property_problem p;
        const unsigned long long seed = 7000003ULL + (unsigned long long)c * 131 + salt;
        property_draw(&p, op, seed, arena);
        property_answer(&p);
        cupel_error err = {0};
        cupel_exact_session *session;
        cupel_allowed exact;
        if (cupel_exact_open(p.graph, &p.bindings, &p.rules, &session, &err) != CUPEL_OK)
            fail_msg("%s", err.text);
        if (cupel_exact_output(session, 0, arena, &exact, &err) != CUPEL_OK) fail_msg("%s", err.text);
        compare(&p, &exact, seed, t);
        cupel_exact_close(session);
        cupel_arena_reset(arena);
    }
    cupel_arena_free(arena);
    print_message("%-42s %6lld elements, %6lld judged; value %lld classes %lld reasons %lld smaller %lld; "
                  "looser %lld, widest %.3f\n",
                  op->name, (long long)t->elements, (long long)t->judged, (long long)t->value,
                  (long long)t->classes, (long long)t->reasons, (long long)t->smaller, (long long)t->looser,
                  t->widest);
}

/* Of the good kernels where no table is given. one_in: the share of judged elements on which the filter may
 * be looser. */
static void compare_all(const property_operator *operators, int count, int one_in) {
    const char *text = getenv("CUPEL_PROPERTY_CASES");
    const long wanted = text ? strtol(text, NULL, 10) : 0, cases = wanted > 0 ? wanted : 20;
    int64_t problems = 0, judged = 0, looser = 0;
    for (int o = 0; o < count; o++) {
        totals t = {0};
        compare_operator(operators ? &operators[o] : property_operator_at(o), cases, (unsigned long long)o,
                         &t);
        problems += t.value + t.classes + t.reasons + t.smaller;
        judged += t.judged;
        looser += t.looser;
    }
    assert_int_equal(problems, 0);
    assert_true(judged > 0);
    assert_true(looser * one_in <= judged);
}

static void operators_agree(void **state) {
    (void)state;
    compare_all(NULL, property_operator_count(), 50);
}

static void primitives_agree(void **state) {
    (void)state;
    compare_all(expressions, EXPRESSION_COUNT, 50);
}

static void chains_agree(void **state) {
    (void)state;
    compare_all(chains, CHAIN_COUNT, 50);
}

static void composites_agree(void **state) {
    (void)state;
    /* a sum around a scatter counts the terms of the busiest position, and attention the extents of whole
     * products */
    compare_all(composites, COMPOSITE_COUNT, 8);
}

static void moved_sums_and_products_agree(void **state) {
    (void)state;
    /* what stands beside a sum counts as one of as many terms, and every step of a cumulative sum as its last
     */
    compare_all(moves, MOVE_COUNT, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(operators_agree), cmocka_unit_test(primitives_agree),
                                       cmocka_unit_test(chains_agree), cmocka_unit_test(composites_agree),
                                       cmocka_unit_test(moved_sums_and_products_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
