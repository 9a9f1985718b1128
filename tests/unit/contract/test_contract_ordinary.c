/* The ordinary shape: DESIGN's rule, and where requires forbids it the nearest legal shape, against an
 * exhaustive search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contract_text.h"

static const cupel_contract *make(cupel_arena *arena, const char *dims, const char *requires_) {
    return contract_of(
        arena, cupel_arena_printf(arena,
                                  "cupel: 1\nid: t\nsource: {file: t.cu}\ndims: %s\nrequires: %s\n"
                                  "inputs: {x: \"f32[1]\"}\noutputs: {y: \"f32[1]\"}\nensures: {y: x}\n"
                                  "kernel: {entry: k, args: [y], grid: [1], block: [1]}\n",
                                  dims, requires_));
}

static int set_up(void **state) {
    return (*state = cupel_arena_create(0)) ? 0 : -1;
}
static int tear_down(void **state) {
    cupel_arena_free(*state);
    return 0;
}

static void powers_of_two(void **state) {
    static const struct {
        const char *range;
        int64_t expected;
    } cases[] = {
        {"1..512", 512},     {"1..8192", 1024},    {"1..1000", 512},
        {"0..1", 1},         {"0..0", 0},          {"7", 7},
        {"600..700", 600},   {"1500..3000", 1500}, {"[64, 128]", 128},
        {"[100, 300]", 300}, {"[100, 96]", 96},    {"[3, 2000, 4096]", 2000},
        {"1..1", 1},         {"1024", 1024},       {"1..1024", 1024},
        {"1..1023", 512},    {"[24, 1025]", 1025},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cupel_contract *c = make(*state, cupel_arena_printf(*state, "{N: %s}", cases[i].range), "[]");
        if (c->ordinary[0] != cases[i].expected)
            fail_msg("%s: %lld", cases[i].range, (long long)c->ordinary[0]);
    }
}

/* Many large dims give way together, the largest first, so that an ordinary case stays cheap. */
static void large_shapes_shrink(void **state) {
    static const struct {
        const char *dims;
        int64_t expected[3];
    } cases[] = {
        {"{N: 1..8192, M: 1..1}", {1024, 1}},
        {"{N: 1..1024, M: 1..1024}", {1024, 1024}},
        {"{N: 1..1024, M: 1..1024, K: 1..1024}", {64, 128, 128}},
        {"{N: [1024], M: 1..1024, K: 1..1024}", {1024, 64, 64}},
        {"{N: 900..1024, M: 900..1024, K: 900..1024}", {1024, 1024, 1024}}, /* nothing smaller is claimed */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cupel_contract *c = make(*state, cases[i].dims, "[]");
        for (int d = 0; d < c->dim_count; d++)
            if (c->ordinary[d] != cases[i].expected[d])
                fail_msg("%s: dim %d is %lld", cases[i].dims, d, (long long)c->ordinary[d]);
    }
}

/* The distance of the nearest legal shape, by trying them all. */
static int64_t nearest_distance(const cupel_contract *c, const int64_t *centre) {
    cupel_binding b = {.contract = c};
    int64_t best = -1;
    for (int i = 0; i < c->dim_count; i++) b.dims[i] = c->dims[i].lo;
    for (;;) {
        if (cupel_binding_legal(&b)) {
            int64_t distance = 0;
            for (int i = 0; i < c->dim_count; i++) distance += llabs(b.dims[i] - centre[i]);
            if (best < 0 || distance < best) best = distance;
        }
        int i = 0;
        while (i < c->dim_count && b.dims[i] == c->dims[i].hi) b.dims[i] = c->dims[i].lo, i++;
        if (i == c->dim_count) return best;
        b.dims[i]++;
    }
}

static void nearest_where_forbidden(void **state) {
    static const struct {
        const char *dims, *requires_;
        int64_t centre[3];
    } cases[] = {
        {"{N: 1..1500}", "[N % 4 == 1]", {1024}},
        {"{N: 1..1500}", "[N % 97 == 7, N > 200]", {1024}},
        {"{N: 1..1500}", "[N < 50]", {1024}},
        {"{M: 1..100, N: 1..300}", "[M == N]", {64, 256}},
        {"{M: 1..100, N: 1..300}", "[M > N]", {64, 256}},
        {"{M: 1..100, N: 1..100}", "[M * N == 77]", {64, 64}},
        {"{M: 1..100, N: 0..100}", "[M * N % 7 == 3, N % 2 == 1]", {64, 64}},
        {"{M: 1..100, N: [3, 20, 64, 99]}", "[N != 64, M < N]", {64, 64}},
        {"{A: 1..30, B: 1..40, C: 1..50}", "[A + B == C]", {16, 32, 32}},
        {"{A: 1..30, B: 1..40, C: 1..50}", "[A % 5 == 4, B % 7 == 6, C % 11 == 10]", {16, 32, 32}},
        {"{A: 1..30, B: 1..40, C: 1..50}", "[A < 2, C > 48]", {16, 32, 32}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cupel_contract *c = make(*state, cases[i].dims, cases[i].requires_),
                             *again = make(*state, cases[i].dims, cases[i].requires_);
        int64_t distance = 0;
        for (int d = 0; d < c->dim_count; d++) distance += llabs(c->ordinary[d] - cases[i].centre[d]);
        cupel_binding b = ordinary_of(c);
        assert_true(cupel_binding_legal(&b));
        assert_memory_equal(c->ordinary, again->ordinary, sizeof c->ordinary);
        int64_t expected = nearest_distance(c, cases[i].centre);
        if (distance != expected)
            fail_msg("%s: distance %lld, not %lld", cases[i].requires_, (long long)distance,
                     (long long)expected);
    }
}

/* Far shapes in large ranges are found too, if not always the nearest. */
static void far_shapes(void **state) {
    static const char *const cases[][2] = {
        {"{M: 1..100000, N: 1..100000}", "[M == N, M > 50000]"},
        {"{M: 1..100000, N: 1..100000}", "[N == 77777]"},
        {"{M: 1..100000, N: 1..100000, K: 1..100000}", "[M == N, N == K, K % 128 == 0]"},
        {"{A: 1..4096, B: 1..4096, C: 1..4096, D: 1..4096}", "[A * B == 65536, C == D]"},
        {"{L: 1..4096, H: 1..128, D: 1..8192}", "[D == H * 64]"},
        {"{L: 1..1000000000000, H: 1..128}", "[L > 900000000000]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cupel_binding b = ordinary_of(make(*state, cases[i][0], cases[i][1]));
        assert_true(cupel_binding_legal(&b));
    }
}

static void params_and_predicates(void **state) {
    const cupel_contract *c = contract_of(
        *state, "cupel: 1\nid: t\nsource: {file: t.cu}\ndims: {N: 1..64}\ntypes: {T: [f32, f16]}\n"
                "params: {a: 3, b: {range: [0.5, 2]}, c: {range: [2, 3]}, d: {one_of: [5, 1]}}\n"
                "inputs: {x: \"T[N]\"}\noutputs: {y: \"T[N]\"}\nensures: {y: x}\n"
                "kernel: {entry: k, args: [y], grid: [1], block: [1]}\n");
    cupel_binding b = ordinary_of(c);
    assert_true(b.params[0] == 3 && b.params[1] == 1 && b.params[2] == 2 && b.params[3] == 5);
    assert_true(cupel_binding_is_ordinary_shape(&b) && cupel_binding_is_base_type(&b));
    b.dims[0] = 63;
    b.types[0] = 1;
    assert_false(cupel_binding_is_ordinary_shape(&b));
    assert_false(cupel_binding_is_base_type(&b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(powers_of_two, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_shapes_shrink, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nearest_where_forbidden, set_up, tear_down),
        cmocka_unit_test_setup_teardown(far_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(params_and_predicates, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
