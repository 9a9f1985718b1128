/* Gradients where differences cannot tell: kinks, infinities, exactness, sharing. */
#include "exact_fixture.h"

#include <math.h>

static const float w[] = {2, -3, 0.5f, 4};
static float x[4], dy[4];
static const int64_t positions[] = {3, 1, 1, 0};

typedef struct row {
    const char *expression; /* of x, w and dy, all of [4] */
    float x[4], dy[4];
    double expected[4];
} row;

static void start(exact_fixture *f, const row *r, bool kinks_any) {
    exact_start(f);
    f->f.symbols.kinks_any = kinks_any;
    memcpy(x, r->x, sizeof x), memcpy(dy, r->dy, sizeof dy);
    exact_input(f, "x", CUPEL_F32, "4", x);
    exact_input(f, "w", CUPEL_F32, "4", w);
    exact_input(f, "dy", CUPEL_F32, "4", dy);
    exact_input(f, "i", CUPEL_I64, "4", positions);
    exact_build(f, r->expression, CUPEL_F32, "4");
}

static const row kinks[] = {
    {"vjp(relu(x), x, dy)", {0, -0.0f, 1, -1}, {3, 3, 3, 3}, {0, 0, 3, 0}},
    {"vjp(relu(x), x, dy)", {1, INFINITY, -INFINITY, 1}, {3, 3, 3, NAN}, {3, 3, 0, NAN}},
    {"vjp(abs(x), x, dy)", {0, -2, 2, -0.0f}, {3, 3, 3, 3}, {0, -3, 3, 0}},
    {"vjp(leaky_relu(x, 0.5), x, dy)", {0, -2, 2, 1}, {3, 4, 3, 3}, {1.5, 2, 3, 3}},
    {"vjp(hardtanh(x), x, dy)", {1, -1, 0.5f, 2}, {3, 3, 3, 3}, {0, 0, 3, 0}},
    {"vjp(clamp(x, -1, 1), x, dy)", {1, -1, 0.5f, 2}, {3, 3, 3, 3}, {3, 3, 3, 0}},
    {"vjp(clamp(x, min=0), x, dy)", {0, -1, 3, 2}, {3, 3, 3, 3}, {3, 0, 3, 3}},
    {"vjp(maximum(x, w), x, dy)", {2, -4, 1, 4}, {3, 3, 3, 3}, {1.5, 0, 3, 1.5}},
    {"vjp(minimum(x, w), x, dy)", {2, -4, 1, NAN}, {3, 3, 3, 3}, {1.5, 3, 0, 3}},
    {"vjp(fmax(x, w), x, dy)", {2, -4, 1, NAN}, {3, 3, 3, 3}, {3, 0, 3, 0}},
    {"vjp(fmin(w, x), x, dy)", {2, -4, 1, 4}, {3, 3, 3, 3}, {0, 3, 0, 0}},
    {"vjp(where(x > 0, x, x * 2), x, dy)", {0, -1, 1, 2}, {3, 3, 3, 3}, {6, 6, 3, 3}},
    {"vjp(softshrink(x), x, dy)", {0.5f, -0.5f, 1, 0}, {3, 3, 3, 3}, {0, 0, 3, 0}},
    {"vjp(amax(x), x, dy[0])", {1, 5, 5, 2}, {4, 0, 0, 0}, {0, 2, 2, 0}},
    {"vjp(amin(x), x, dy[0])", {7, 5, 5, 5}, {6, 0, 0, 0}, {0, 2, 2, 2}},
    {"vjp(max_pool1d(unsqueeze(x, 0), 4), x, dy[0:1])", {1, 5, 5, 2}, {4, 0, 0, 0}, {0, 4, 0, 0}},
    {"vjp(cummax(x, axis=0), x, dy)", {1, 5, 5, 2}, {1, 2, 4, 8}, {1, 2, 12, 0}},
    {"vjp(sort(x), x, dy)", {3, 1, 2, 0}, {1, 2, 4, 8}, {8, 2, 4, 1}},
    {"vjp(x ** 0, x, dy)", {0, 1, -2, NAN}, {3, 3, 3, 3}, {0, 0, 0, 0}},
    {"vjp(pow(x, w), w, dy)", {0, 1, 0, 0}, {3, 0, 3, 3}, {0, 0, 0, 0}},
    {"vjp(prod(x), x, dy[0])", {2, 0, 4, 8}, {3, 0, 0, 0}, {0, 192, 0, 0}},
    {"vjp(prod(x), x, dy[0])", {2, 0, 0, 8}, {3, 0, 0, 0}, {0, 0, 0, 0}},
    {"vjp(cumprod(x, axis=0), x, dy)", {2, 0, 4, 8}, {1, 1, 1, 1}, {1, 74, 0, 0}},
    {"vjp(norm(x), x, dy[0])", {0, 0, 0, 0}, {3, 0, 0, 0}, {0, 0, 0, 0}},
    {"vjp(norm(x, 1), x, dy[0])", {0, -2, 0, 1}, {3, 0, 0, 0}, {0, -3, 0, 3}},
    {"vjp(floor(x) + round(x) + sign(x), x, dy)", {0, 1, 2.5f, -1}, {3, 3, 3, 3}, {0, 0, 0, 0}},
    {"vjp(l1_loss(x, w, \"sum\"), x, 1)", {2, 0, 0, 4}, {0}, {0, 1, -1, 0}},
    /* no element is seen twice: exact, however it was moved */
    {"vjp(flip(x, 0)[1:3], x, dy[0:2])", {1, 2, 3, 4}, {1.1f, 2.3f, 0, 0}, {0, 2.3f, 1.1f, 0}},
    {"vjp(pad(reshape(x, [2, 2])[:, ::2], [1, 0]), x, reshape(dy, [2, 2]))",
     {1, 2, 3, 4},
     {1.1f, 2.3f, 0.7f, 0.3f},
     {2.3f, 0, 0.3f, 0}},
    {"vjp(broadcast_to(x, [3, 4]), x, broadcast_to(dy, [3, 4]))", {1, 2, 3, 4}, {1, 2, 3, 4}, {3, 6, 9, 12}},
    {"vjp(gather(x, 0, i), x, dy)", {1, 2, 3, 4}, {1, 2, 4, 8}, {8, 6, 0, 1}},
    {"vjp(cumsum(x, axis=0), x, dy)", {1, 2, 3, 4}, {1, 2, 4, 8}, {15, 14, 12, 8}},
    {"vjp(cast(x, f16), x, dy)", {1, 2, 3, 4}, {1.1f, 2, 4, 8}, {1.1f, 2, 4, 8}},
    {"vjp(w * 2, x, dy)", {1, 2, 3, 4}, {1, 2, 4, 8}, {0, 0, 0, 0}},
    {"vjp(argmax(x) + w, x, dy)", {1, 2, 3, 4}, {1, 2, 4, 8}, {0, 0, 0, 0}},
    {"vjp(sum(vjp(x * x * x, x, w)), x, 1)", {1, 2, 3, 4}, {0}, {12, -36, 9, 96}},
};

static void values_at_kinks(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof kinks / sizeof *kinks; k++) {
        exact_fixture f;
        start(&f, &kinks[k], false);
        for (int i = 0; i < 4; i++) {
            const cupel_exact_element e = exact_element(&f, i);
            const double expected = kinks[k].expected[i];
            const bool same = isnan(expected) ? isnan(e.value) : e.value == expected;
            if (!same || e.reason || (!isnan(expected) && !(e.radius <= 1e-4 * fabs(expected))))
                fail_msg("%s [%d]: %g radius %g (%s), expected %g", kinks[k].expression, i, e.value, e.radius,
                         cupel_reason_text(e.reason), expected);
        }
        exact_end(&f);
    }
}

/* ---- kinks: any ---- */

static const struct {
    const char *expression;
    float x, dy;
    double lo, hi;
} hulls[] = {
    {"vjp(relu(x), x, dy)", 0, 3, 0, 3},
    {"vjp(relu(x), x, dy)", 1, 3, 3, 3},
    {"vjp(relu(x), x, dy)", 0, -3, -3, 0},
    {"vjp(abs(x), x, dy)", 0, 3, -3, 3},
    {"vjp(abs(x), x, dy)", -1, 3, -3, -3},
    {"vjp(leaky_relu(x, 0.5), x, dy)", 0, 4, 2, 4},
    {"vjp(elu(x, 2), x, dy)", 0, 4, 4, 8},
    {"vjp(hardtanh(x), x, dy)", 1, 3, 0, 3},
    {"vjp(clamp(x, max=1), x, dy)", 1, 3, 0, 3},
    {"vjp(maximum(x, w), x, dy)", 2, 3, 0, 3},
    {"vjp(fmin(x, w), x, dy)", 2, 3, 0, 3},
    {"vjp(where(x > 0, x, 0), x, dy)", 0, 3, 0, 3},
    {"vjp(amax(concat([x, x])), x, dy[0])", 0, 4, 0, 8},
    /* whatever `kinks` says: relu and maximum(x, 0) are one node, and differ at 0 */
    {"vjp(relu(x) + maximum(x, 0), x, dy)", 0, 3, 0, 6},
};

static void anything_between(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof hulls / sizeof *hulls; k++) {
        exact_fixture f;
        row r = {.expression = hulls[k].expression};
        for (int i = 0; i < 4; i++) r.x[i] = hulls[k].x, r.dy[i] = hulls[k].dy;
        start(&f, &r, k + 1 < sizeof hulls / sizeof *hulls);
        const cupel_exact_element e = exact_element(&f, 0);
        if (e.reason || !(e.lo <= hulls[k].lo) || !(e.hi >= hulls[k].hi) || e.hi - e.lo > 12.1 ||
            (hulls[k].lo == hulls[k].hi && e.lo != e.hi))
            fail_msg("%s: [%g, %g] (%s), expected [%g, %g]", hulls[k].expression, e.lo, e.hi,
                     cupel_reason_text(e.reason), hulls[k].lo, hulls[k].hi);
        exact_end(&f);
    }
}

/* Rounding decides on which side of the kink a kernel is: 0.1 x - 0.3 at 3 is 0 with exact literals. */
static void either_side_of_a_rounded_argument(void **state) {
    (void)state;
    exact_fixture f;
    const row r = {
        .expression = "vjp(relu(x * 0.1 - 0.3), x, dy)", .x = {3, 3.1f, 2.9f, 0}, .dy = {1, 1, 1, 1}};
    start(&f, &r, false);
    const cupel_exact_element at = exact_element(&f, 0), above = exact_element(&f, 1),
                              below = exact_element(&f, 2);
    assert_true(at.lo <= 0 && at.hi >= 0.1 && at.reason == CUPEL_REASON_JUDGED);
    assert_true(above.lo > 0.09 && above.hi < 0.11);
    assert_true(below.lo == 0 && below.hi == 0);
    exact_end(&f);
}

/* The largest of computed numbers is known where they are apart, and where they are not each may take all. */
static void largest_of_computed_numbers(void **state) {
    (void)state;
    exact_fixture f;
    row r = {.expression = "vjp(amax(exp(x)), x, 1)", .x = {0, 1, 2, 3}};
    start(&f, &r, false);
    assert_true(exact_element(&f, 2).hi == 0);
    assert_true(exact_element(&f, 3).lo > 20 && exact_element(&f, 3).reason == CUPEL_REASON_JUDGED);
    exact_end(&f);
    r.x[2] = 3;
    start(&f, &r, false);
    const cupel_exact_element e = exact_element(&f, 3);
    assert_true(e.reason == CUPEL_REASON_JUDGED && e.lo <= 0 && e.hi >= 20);
    exact_end(&f);
}

/* ---- not judged ---- */

static const struct {
    const char *expression;
    float x[4], dy[4];
    bool open[4];
} open_cases[] = {
    {"vjp(relu(x), x, dy)", {-1, 1, 0, -1}, {INFINITY, INFINITY, NAN, 2}, {true, false, true, false}},
    {"vjp(relu(x), x, dy)",
     {NAN, 1, 2, 3},
     {3, 3, 3, 3},
     {true, false, false, false}}, /* x > 0, or not x <= 0 */
    {"vjp(where(x > 0, log(x), x), x, dy)", {0, 1, -1, -2}, {3, 3, 3, 3}, {true, false, false, false}},
    {"vjp(sqrt(x)[1:], x, dy[1:])", {0, 1, 4, 9}, {3, 3, 3, 3}, {true, false, false, false}},
    {"vjp(softmax(x, axis=0), x, dy)", {0, 1, 2, 3}, {1, INFINITY, 1, 1}, {true, true, true, true}},
    {"vjp(softmax(x, axis=0), x, dy)", {0, 1, 2, 3}, {1, NAN, 1, 1}, {false, false, false, false}},
    {"vjp(layer_norm(x), x, dy)", {0, 1, 2, 3}, {1, -INFINITY, 1, 1}, {true, true, true, true}},
    {"vjp(gelu(x), x, dy)", {INFINITY, 1, -INFINITY, NAN}, {3, INFINITY, 3, 3}, {true, true, true, false}},
    {"vjp(prod(x), x, dy[0])", {INFINITY, 2, 3, 4}, {1, 0, 0, 0}, {true, false, false, false}},
    {"vjp(amax(x), x, dy[0])", {1, NAN, 3, 4}, {1, 0, 0, 0}, {true, true, true, true}},
    {"vjp(abs(x), x, dy)", {0, 1, -1, 2}, {INFINITY, INFINITY, 1, 1}, {true, false, false, false}},
};

static void open_elements(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof open_cases / sizeof *open_cases; k++) {
        exact_fixture f;
        row r = {.expression = open_cases[k].expression};
        memcpy(r.x, open_cases[k].x, sizeof r.x), memcpy(r.dy, open_cases[k].dy, sizeof r.dy);
        start(&f, &r, false);
        for (int i = 0; i < 4; i++) {
            const cupel_exact_element e = exact_element(&f, i);
            if (open_cases[k].open[i] != (e.reason != CUPEL_REASON_JUDGED))
                fail_msg("%s [%d]: value %g, %s", open_cases[k].expression, i, e.value,
                         cupel_reason_text(e.reason));
        }
        exact_end(&f);
    }
}

/* ---- the graph ---- */

static int nodes_of(const char *text) {
    exact_fixture f;
    const row r = {.expression = text, .x = {1, 2, 3, 4}};
    start(&f, &r, false);
    const int count = f.f.graph->node_count;
    exact_end(&f);
    return count;
}

/* Gradients of one expression by two inputs share what they have in common; and a define is its expression.
 */
static void gradients_share_nodes(void **state) {
    (void)state;
    const int both = nodes_of("vjp(layer_norm(x, w), x, dy) + vjp(layer_norm(x, w), w, dy)");
    const int one = nodes_of("vjp(layer_norm(x, w), x, dy)"),
              other = nodes_of("vjp(layer_norm(x, w), w, dy)");
    assert_true(both < one + other);
    exact_fixture f;
    const row r = {.expression = "x", .x = {1, 2, 3, 4}, .dy = {1, 1, 1, 1}};
    start(&f, &r, false);
    fixture_define(&f.f, "y", "x * x");
    fixture_define(&f.f, "z", "x");
    exact_build(&f, "vjp(y, z, dy)", CUPEL_F32, "4");
    assert_true(exact_element(&f, 2).value == 6);
    exact_end(&f);
}

/* x = 0 but the last -95, dy = 0 but the last 1e30: y of the last is subnormal, and kernels hold it, lose
 * bits of it, or flush it. */
static void far_score_with_a_huge_upstream(void **state) {
    (void)state;
    exact_fixture f;
    const row r = {
        .expression = "vjp(softmax(x, axis=0), x, dy)", .x = {0, 0, 0, -95}, .dy = {0, 0, 0, 1e30f}};
    for (int flush = 0; flush < 2; flush++) {
        start(&f, &r, false);
        f.rules.subnormals = flush ? CUPEL_SUBNORMALS_FLUSH : CUPEL_SUBNORMALS_KEEP;
        exact_build(&f, r.expression, CUPEL_F32, "4");
        const float e = expf(-95), y = e / 3, s = y * 1e30f;
        const float forms[][2] = {{1.0f / 3 * (0 - s), y * (1e30f - s)},
                                  {1.0f / 3 * 0 - 1.0f / 3 * s, y * 1e30f - y * s},
                                  {-(e * 1e30f / 3) / 3, e * (1e30f - e * 1e30f / 3) / 3}};
        for (int k = 0; k < 3; k++)
            for (int which = 0; which < 2; which++) {
                const cupel_exact_element a = exact_element(&f, which ? 3 : 0);
                assert_true(a.reason || (a.lo <= (double)forms[k][which] && (double)forms[k][which] <= a.hi));
                if (flush) assert_true(a.reason || (a.lo <= 0 && 0 <= a.hi));
            }
        exact_end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_at_kinks),
        cmocka_unit_test(anything_between),
        cmocka_unit_test(either_side_of_a_rounded_argument),
        cmocka_unit_test(largest_of_computed_numbers),
        cmocka_unit_test(open_elements),
        cmocka_unit_test(gradients_share_nodes),
        cmocka_unit_test(far_score_with_a_huge_upstream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
