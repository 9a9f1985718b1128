/* Sorting and adding at positions: integers of 64 bits, enclosures that overlap, long rows, indices that are
 * not known; and what calls of the functions over channels, attention and the rest refuse. */
#include "exact_fixture.h"

#include <inttypes.h>
#include <math.h>

#include "ball.h"
#include "philox.h"

/* ---- integers ---- */

static void integers_of_64_bits_are_ordered(void **state) {
    (void)state;
    /* 2^53 + 1, 2^53, 2^53 + 1, 2^53 + 2: one double for three of them */
    static const int64_t b[4] = {INT64_C(9007199254740993), INT64_C(9007199254740992),
                                 INT64_C(9007199254740993), INT64_C(9007199254740994)};
    static const int32_t k[4] = {1, 1, 0, 1};
    const struct {
        const char *text;
        int64_t expected[4];
        int open; /* bit i: element i is not judged */
    } rows[] = {
        {"sort(b)", {b[1], b[0], b[0], b[3]}, 0},
        {"sort(b, descending=true)", {b[3], b[0], b[0], b[1]}, 0},
        {"argsort(b)", {1, 0, 0, 3}, 6},
        {"argsort(b, stable=true)", {1, 0, 2, 3}, 0},
        {"argsort(b, descending=true, stable=true)", {3, 0, 2, 1}, 0},
        {"scatter_add(b, 0, k, b)", {2 * b[0], 4 * b[1] + 3, b[0], b[3]}, 0},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        exact_fixture x;
        exact_start(&x);
        exact_input(&x, "b", CUPEL_I64, "4", b);
        exact_input(&x, "k", CUPEL_I32, "4", k);
        exact_build(&x, rows[r].text, CUPEL_I64, "4");
        for (int i = 0; i < 4; i++) {
            const cupel_exact_element e = exact_element(&x, i);
            if ((e.reason != CUPEL_REASON_JUDGED) != (rows[r].open >> i & 1))
                fail_msg("%s [%d]: reason %d", rows[r].text, i, e.reason);
            if (e.reason == CUPEL_REASON_JUDGED && e.least != (uint64_t)rows[r].expected[i])
                fail_msg("%s [%d]: %" PRId64, rows[r].text, i, (int64_t)e.least);
        }
        exact_end(&x);
    }
}

/* ---- enclosures ---- */

enum { ROW = 24, DRAWS = 200 };

static double one_of(const cupel_ball *b, cupel_random *random) {
    return b->value + b->radius * (2 * cupel_random_unit(random) - 1);
}

static int ascending(const void *p, const void *q) {
    const double a = *(const double *)p, b = *(const double *)q;
    return a < b ? -1 : a > b;
}

/* Whatever numbers the enclosures hold, sorting them stays inside, and the end of an interval is reached. */
static void any_numbers_inside_sort_inside(void **state) {
    (void)state;
    const cupel_rules rules = {.working = CUPEL_F32};
    const cupel_working w = cupel_working_of(&rules);
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        cupel_random random = cupel_random_start(seed, 11);
        cupel_ball row[ROW], sorted[ROW], positions[ROW];
        for (int i = 0; i < ROW; i++) {
            const double radius = cupel_random_below(&random, 3) ? cupel_random_unit(&random) : 0;
            row[i] = cupel_ball_plain((double)cupel_random_below(&random, 12), radius, CUPEL_CLASS_FINITE, 0);
        }
        assert_true(cupel_ball_sort(&w, CUPEL_VALUE_REAL, row, ROW, sorted));
        assert_true(cupel_ball_argsort(&w, CUPEL_VALUE_REAL, row, ROW, true, positions));
        for (int draw = 0; draw < 20; draw++) {
            double x[ROW], in_order[ROW];
            for (int i = 0; i < ROW; i++) x[i] = in_order[i] = one_of(&row[i], &random);
            qsort(in_order, ROW, sizeof *in_order, ascending);
            bool used[ROW] = {false};
            for (int k = 0; k < ROW; k++) {
                assert_true(fabs(in_order[k] - sorted[k].value) <= sorted[k].radius + 1e-12);
                int at = 0;
                while (used[at] || x[at] != in_order[k]) at++;
                used[at] = true;
                assert_true(fabs(at - positions[k].value) <= positions[k].radius);
            }
        }
    }
}

/* Rows beyond what is looked at pair by pair: nothing overlaps, or everything does, or all are equal. */
static void long_rows(void **state) {
    (void)state;
    enum { LONG = 3000 };
    const cupel_rules rules = {.working = CUPEL_F32};
    const cupel_working w = cupel_working_of(&rules);
    static cupel_ball row[LONG], positions[LONG];
    const double radii[] = {0.25, 3000, 0};
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < LONG; i++)
            row[i] = cupel_ball_plain(r == 2 ? 1 : LONG - i, radii[r], CUPEL_CLASS_FINITE, 0);
        assert_true(cupel_ball_argsort(&w, CUPEL_VALUE_REAL, row, LONG, true, positions));
        for (int k = 0; k < LONG; k++) {
            const double own = r == 2 ? k : LONG - 1 - k;
            assert_true(positions[k].value == own);
            assert_true(positions[k].radius == (r == 1 ? fmax(own, LONG - 1 - own) : 0));
        }
    }
}

/* A row with a value that may be anything is open to what its classes say, not more. */
static void classes_of_a_sorted_row(void **state) {
    (void)state;
    const cupel_rules rules = {.working = CUPEL_F32};
    const cupel_working w = cupel_working_of(&rules);
    const cupel_ball row[] = {
        cupel_ball_plain(5, 0, CUPEL_CLASS_FINITE, 0),
        cupel_ball_plain(INFINITY, INFINITY, CUPEL_CLASS_POS_INF | CUPEL_CLASS_NAN, 0),
        cupel_ball_plain(-2, 1, CUPEL_CLASS_FINITE | CUPEL_CLASS_NEG_INF, 0),
    };
    cupel_ball sorted[3];
    assert_true(cupel_ball_sort(&w, CUPEL_VALUE_REAL, row, 3, sorted));
    assert_int_equal(sorted[0].classes, CUPEL_CLASS_FINITE | CUPEL_CLASS_NEG_INF);
    assert_true(sorted[0].value == -2 && sorted[0].radius >= 1);
    assert_int_equal(sorted[1].classes, CUPEL_CLASS_FINITE);
    assert_true(sorted[1].value == 5 && sorted[1].radius == 0);
    assert_int_equal(sorted[2].classes, CUPEL_CLASS_POS_INF | CUPEL_CLASS_NAN);
}

/* An index that rounding decides leaves its row open. */
static void indices_that_are_not_known(void **state) {
    (void)state;
    static const float a[2] = {1, 2}, b[2] = {0.1f, 3};
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "2", a);
    exact_input(&x, "b", CUPEL_F32, "2", b);
    exact_build(&x, "scatter_add(a, 0, cast(b * 10 / b * b, i32), a)", CUPEL_F32, "2");
    assert_int_equal(exact_element(&x, 0).reason, CUPEL_REASON_UNBOUNDED); /* 1, or what is just below */
    exact_end(&x);
}

/* ---- what calls refuse ---- */

static void calls_name_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"sort(x, axis=2)", "expected an axis in -2..1, found 2"},
        {"topk(x, 5)", "expected k in 0..4, found 5"},
        {"topk(x, -1)", "expected k in 0..4, found -1"},
        {"scatter_add(x, 0, x, x)", "expected an integer index"},
        {"scatter_add(x, 0, k, x[:, :1])", "into the source [3, 1]"},
        {"scatter_add(x[:, :2], 0, k, x)", "that fits into [3, 2]"},
        {"batch_norm(x)", "expected running_mean and running_var"},
        {"batch_norm(v, training=true)", "expected a tensor of shape [N, C, ..]"},
        {"batch_norm(x, x[0, :3], x[0], training=false)", "one number for each of 4 channels"},
        {"instance_norm(x, use_input_stats=false)", "expected running_mean"},
        {"group_norm(x, 3)", "divides the 4 channels, found 3"},
        {"group_norm(x, 0)", "divides the 4 channels, found 0"},
        {"attention(v, x, x)", "at least two axes"},
        {"attention(x, x[:, :3], x)", "found [3, 4], [3, 3] and [3, 4]"},
        {"attention(x, x, x[:2])", "found [3, 4], [3, 4] and [2, 4]"},
        {"attention(x, x, x, mask=k[:, :3])", "a mask of booleans"},
        {"attention(x, x, x, empty_rows=\"none\")", "expected \"nan\" or \"zero\""},
        {"attention(x, x, x, align=\"left\")", "expected \"bottom_right\" or \"top_left\""},
        {"rope(x[:, :3], x, x)", "an even last extent"},
        {"rope(x, x[:, :3], x)", "last extent D or D/2, found [3, 3]"},
        {"dropout_mask(1, 0.5, [-1])", "expected extents of at least 0"},
        {"dropout_mask(x, 0.5)", "expected"},
        {"quantize(x, 1, bool)", "found bool"},
        {"quantize(x, 1, i64)", "at most 32 bits, found i64"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        fixture f;
        fixture_start(&f);
        fixture_input(&f, "x", CUPEL_F32, "3,4");
        fixture_input(&f, "v", CUPEL_F32, "4");
        fixture_input(&f, "k", CUPEL_I32, "3,4");
        if (fixture_try(&f, rows[r].text, CUPEL_F32, "3,4") == CUPEL_OK) fail_msg("%s passes", rows[r].text);
        if (!strstr(f.err.text, rows[r].part)) fail_msg("%s: %s", rows[r].text, f.err.text);
        fixture_end(&f);
    }
}

/* Empty tensors are answered with nothing, or with what the function is over nothing. */
static void empty_tensors(void **state) {
    (void)state;
    static const float nothing[1] = {0};
    static const struct {
        const char *text, *shape;
        int64_t count;
    } rows[] = {
        {"sort(e, axis=1)", "0,4", 0},
        {"argsort(e, axis=0)", "0,4", 0},
        {"topk(e, 2)", "0,2", 0},
        {"topk(transpose(e), 0)", "4,0", 0},
        {"scatter_add(e, 1, argsort(e), e)", "0,4", 0},
        {"scatter_add(full([4], 2.0), 0, argsort(e[:, 0]), e[:, 0])", "4", 4},
        {"batch_norm(e, training=true)", "0,4", 0},
        {"group_norm(e, 2)", "0,4", 0},
        {"group_norm(transpose(e), 1)", "4,0", 0},
        {"instance_norm(unsqueeze(e, 2))", "0,4,1", 0},
        {"attention(e, e, e)", "0,4", 0},
        {"attention(full([2, 4], 1.0), e, e, empty_rows=\"zero\")", "2,4", 8},
        {"attention(e, full([2, 4], 1.0), full([2, 3], 1.0), causal=true)", "0,3", 0},
        {"attention(full([2, 0], 1.0), full([3, 0], 1.0), full([3, 2], 7.0))", "2,2", 4},
        {"rope(e, e, e)", "0,4", 0},
        {"dropout_mask(3, 0.5)", "0,4", 0},
        {"quantize(e, 1, i8)", "0,4", 0},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        exact_fixture x;
        exact_start(&x);
        exact_input(&x, "e", CUPEL_F32, "0,4", nothing);
        exact_build(&x, rows[r].text, CUPEL_F32, rows[r].shape);
        cupel_allowed exact, bounded;
        assert_int_equal(cupel_exact_output(x.session, 0, x.f.arena, &exact, &x.f.err), CUPEL_OK);
        assert_int_equal(
            cupel_oracle_bounded(x.f.graph, &x.bindings, &x.rules, x.f.arena, &bounded, &x.f.err), CUPEL_OK);
        if (exact.count != rows[r].count ||
            exact.judged + exact.by_reason[CUPEL_REASON_UNBOUNDED] != exact.count)
            fail_msg("%s: %lld elements, %lld judged", rows[r].text, (long long)exact.count,
                     (long long)exact.judged);
        exact_end(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_64_bits_are_ordered),
        cmocka_unit_test(any_numbers_inside_sort_inside),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(classes_of_a_sorted_row),
        cmocka_unit_test(indices_that_are_not_known),
        cmocka_unit_test(calls_name_what_is_wrong),
        cmocka_unit_test(empty_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
