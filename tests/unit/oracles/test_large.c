/* Sizes: sums of ten million terms against MPFR, memory and results of large tensors, tensors without
 * elements, graphs of thousands of nodes. */
#include "exact_fixture.h"

#include <math.h>
#include <mpfr.h>

#include "philox.h"

/* Ten million; the sanitizers' runs are content with a tenth. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SMALLER
#endif
#endif
#ifdef SMALLER
enum { LARGE = 1000000 };
#define LARGE_ROW "1000000"
#define LARGE_MATRIX "1000,1000"
#else
enum { LARGE = 10000000 };
#define LARGE_ROW "10000000"
#define LARGE_MATRIX "10000,1000"
#endif

static float *random_floats(int64_t count, uint64_t seed) {
    cupel_random random = cupel_random_start(seed, 9);
    float *values = malloc((size_t)count * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < count; i++) values[i] = (float)(cupel_random_unit(&random) * 4 - 1);
    return values;
}

/* The evaluator's answer to `text`, which the arena holds. */
static cupel_allowed answer(exact_fixture *x, const char *text, const char *shape, cupel_arena *arena) {
    cupel_allowed allowed;
    fixture_build(&x->f, text, CUPEL_F32, shape);
    if (cupel_oracle_bounded(x->f.graph, &x->bindings, &x->rules, arena, &allowed, &x->f.err) != CUPEL_OK)
        fail_msg("%s: %s", text, x->f.err.text);
    return allowed;
}

/* Sum, and sum of magnitudes, without error. */
static void sum_exactly(const float *values, int64_t n, mpfr_t sum, mpfr_t size) {
    mpfr_inits2(200, sum, size, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(size, 1);
    for (int64_t i = 0; i < n; i++) {
        mpfr_add_d(sum, sum, (double)values[i], MPFR_RNDN);
        mpfr_add_d(size, size, fabs((double)values[i]), MPFR_RNDN);
    }
}

/* fp64 loses at most n 2^-53 of the sum of magnitudes, the radius has (n - 1) 2^-24 of it, widened by 2^-20:
 * whatever n, the loss is 2^-29 of the radius and 2^-9 of its widening. */
static void expect_sound(double value, double radius, mpfr_t sum, mpfr_t size, int64_t n) {
    mpfr_t off;
    mpfr_init2(off, 200);
    mpfr_sub_d(off, sum, value, MPFR_RNDN);
    assert_true(fabs(mpfr_get_d(off, MPFR_RNDA)) <= radius * 0x1p-29);
    mpfr_mul_d(off, size, (double)(n - 1) * 0x1p-24, MPFR_RNDN);
    assert_true(mpfr_cmp_d(off, radius) <= 0);
    mpfr_mul_d(off, off, 1 + 0x1p-19, MPFR_RNDN);
    assert_true(mpfr_cmp_d(off, radius) >= 0);
    mpfr_clear(off);
}

static void long_sums_are_within_their_radius(void **state) {
    (void)state;
    float *values = random_floats(LARGE, 3);
    const float one = 1;
    mpfr_t sum, size;
    sum_exactly(values, LARGE, sum, size);
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "x", CUPEL_F32, LARGE_ROW, values);
    exact_input(&x, "one", CUPEL_F32, "1,1", &one);
    static const char *const texts[] = {"sum(x)", "sum(x, axis=0)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cupel_arena *arena = cupel_arena_create(0);
        const cupel_allowed a = answer(&x, texts[i], "", arena);
        assert_int_equal(a.judged, 1);
        expect_sound(a.value[0], a.radius[0], sum, size, LARGE);
        cupel_arena_free(arena);
    }
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_allowed a = answer(&x, "cumsum(x, axis=0)", LARGE_ROW, arena);
    assert_int_equal(a.judged, LARGE);
    expect_sound(a.value[LARGE - 1], a.radius[LARGE - 1], sum, size, LARGE);
    cupel_arena_free(arena);
    mpfr_clears(sum, size, (mpfr_ptr)0);
    exact_end(&x);
    free(values);
}

/* The element by element rules, which both evaluators follow: reached by way of one subnormal under flush. */
static void long_sums_by_rules_are_sound(void **state) {
    (void)state;
    enum { N = 1000000 };
    float *values = random_floats(N, 4);
    values[N / 2] = 0x1p-140f;
    mpfr_t sum, size, least;
    sum_exactly(values, N, sum, size);
    exact_fixture x;
    exact_start(&x);
    x.rules.subnormals = CUPEL_SUBNORMALS_FLUSH;
    exact_input(&x, "x", CUPEL_F32, "1000000", values);
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_allowed a = answer(&x, "sum(x)", "", arena);
    mpfr_init2(least, 200);
    mpfr_mul_d(least, size, (double)(N - 1) * 0x1p-24, MPFR_RNDN);
    assert_true(mpfr_cmp_d(least, a.radius[0]) <= 0);
    cupel_arena_free(arena);
    mpfr_clears(sum, size, least, (mpfr_ptr)0);
    exact_end(&x);
    free(values);
}

/* Beside the inputs as fp64: values and radii of what is alive, and the output's bounds. */
static void memory_is_a_multiple_of_the_tensors(void **state) {
    (void)state;
    float *values = random_floats(LARGE, 5);
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "x", CUPEL_F32, LARGE_MATRIX, values);
    /* doubles per element of the largest tensor: text, limit */
    static const struct {
        const char *text;
        double limit;
    } rows[] = {
        {"relu(x) * 2 + 1", 5},
        {"((((x + 1) * 2 - 3) * 0.5 + x) * x - 1) * 0.25 + x", 6},
        {"layer_norm(x, 1, 0, 1e-5)", 5},
        {"x + transpose(transpose(x, 0, 1), 0, 1)", 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cupel_arena *arena = cupel_arena_create(0);
        const cupel_allowed a = answer(&x, rows[i].text, LARGE_MATRIX, arena);
        assert_int_equal(a.judged, LARGE);
        const double doubles = (double)cupel_arena_used(arena) / LARGE / sizeof(double);
        print_message("%-52s %.2f doubles an element\n", rows[i].text, doubles);
        assert_true(doubles <= rows[i].limit);
        cupel_arena_free(arena);
    }
    exact_end(&x);
    free(values);
}

/* Windows of a convolution are 9 times its input; they are not written. */
static void windows_take_no_memory(void **state) {
    (void)state;
    float *values = random_floats(66 * 66 * 16, 6), *weight = random_floats(2 * 16 * 9, 7);
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "x", CUPEL_F32, "1,16,66,66", values);
    exact_input(&x, "w", CUPEL_F32, "2,16,3,3", weight);
    cupel_arena *arena = cupel_arena_create(0);
    (void)answer(&x, "conv2d(x, w)", "1,2,64,64", arena);
    const double windows = 64 * 64 * 9 * 16 * sizeof(double);
    print_message("conv2d: %.2f of its windows\n", (double)cupel_arena_used(arena) / windows);
    assert_true((double)cupel_arena_used(arena) < windows / 2);
    cupel_arena_free(arena);
    exact_end(&x);
    free(values);
    free(weight);
}

static void tensors_without_elements_are_answered(void **state) {
    (void)state;
    const float nothing = 0;
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "x", CUPEL_F32, "0,5", &nothing);
    exact_input(&x, "y", CUPEL_F32, "5,0", &nothing);
    exact_input(&x, "z", CUPEL_F32, "0", &nothing);
    static const struct {
        const char *text, *shape;
        int count;
    } rows[] = {
        {"x * 2 + exp(x)", "0,5", 0},
        {"sum(x, axis=0)", "5", 5},
        {"sum(x, axis=1)", "0", 0},
        {"sum(y, axis=1)", "5", 5},
        {"prod(y, axis=1)", "5", 5},
        {"sum(z)", "", 1},
        {"matmul(x, y)", "0,0", 0},
        {"matmul(y, x)", "5,5", 25},
        {"matmul(y, x) * 2 + 1", "5,5", 25},
        {"softmax(x, axis=1)", "0,5", 0},
        {"layer_norm(x, 1, 0, 1e-5)", "0,5", 0},
        {"cumsum(x, axis=1)", "0,5", 0},
        {"cumsum(y, axis=1)", "5,0", 0},
        {"transpose(x, 0, 1)", "5,0", 0},
        {"reshape(x, [5, 0])", "5,0", 0},
        {"concat([x, x], 0)", "0,5", 0},
        {"where(x > 0, x, x)", "0,5", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cupel_arena *arena = cupel_arena_create(0);
        const cupel_allowed a = answer(&x, rows[i].text, rows[i].shape, arena);
        assert_int_equal(a.count, rows[i].count);
        assert_int_equal(a.judged, rows[i].count);
        cupel_arena_free(arena);
        exact_build(&x, rows[i].text, CUPEL_F32, rows[i].shape);
        for (int e = 0; e < rows[i].count; e++) {
            const cupel_exact_element exact = exact_element(&x, e);
            assert_int_equal(exact.reason, CUPEL_REASON_JUDGED);
        }
    }
    exact_end(&x);
}

/* Large outputs of MPFR alone: one element of each stretch, the same for the same seed. */
static void large_exact_outputs_are_sampled(void **state) {
    (void)state;
    enum { N = 100003, MOST = 500 };
    double *values = malloc(N * sizeof *values);
    for (int i = 0; i < N; i++) values[i] = i * 0.1;
    exact_fixture x;
    exact_start(&x);
    x.rules.working = CUPEL_F64;
    exact_input(&x, "x", CUPEL_F64, "100003", values);
    exact_build(&x, "x * 3 + 1", CUPEL_F64, "100003");
    cupel_allowed a[4];
    const uint64_t seeds[] = {7, 7, 8};
    for (int k = 0; k < 3; k++)
        assert_int_equal(cupel_exact_sample(x.session, 0, MOST, seeds[k], x.f.arena, &a[k], &x.f.err),
                         CUPEL_OK);
    assert_int_equal(a[0].judged, MOST);
    assert_int_equal(a[0].by_reason[CUPEL_REASON_SAMPLED_OUT], N - MOST);
    assert_memory_equal(a[0].reasons, a[1].reasons, N);
    assert_memory_not_equal(a[0].reasons, a[2].reasons, N);
    assert_int_equal(a[0].reasons[0], CUPEL_REASON_JUDGED);
    assert_int_equal(a[0].reasons[N - 1], CUPEL_REASON_JUDGED);
    int64_t last = -1;
    for (int64_t i = 0; i < N; i++) {
        if (a[0].reasons[i] == CUPEL_REASON_JUDGED) {
            assert_true(i - last <= 2 * (N / MOST + 1));
            last = i;
            const cupel_exact_element e = exact_element(&x, i);
            assert_true(a[0].value[i] == e.value && a[0].lo[i] == e.lo && a[0].hi[i] == e.hi);
        } else {
            const double anything = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -5;
            assert_int_equal(cupel_judge_element(&a[0], i, &anything), CUPEL_NOT_JUDGED);
        }
    }
    assert_int_equal(cupel_exact_sample(x.session, 0, N, 7, x.f.arena, &a[3], &x.f.err), CUPEL_OK);
    assert_int_equal(a[3].judged, N);
    assert_int_equal(cupel_exact_sample(x.session, 0, 0, 7, x.f.arena, &a[3], &x.f.err), CUPEL_RANGE);
    exact_end(&x);
    free(values);
}

/* x + x + .. + x, `length` additions deep, and the sum over the row of that; a graph of our own, since no
 * expression nests so far. */
static void build_chain(exact_fixture *x, int length, bool summed) {
    cupel_arena *arena = x->f.arena;
    const int count = length + 1 + summed;
    cupel_graph *graph = cupel_arena_alloc(arena, sizeof *graph);
    graph->nodes = cupel_arena_alloc(arena, (size_t)count * sizeof *graph->nodes);
    graph->outputs = cupel_arena_alloc(arena, sizeof *graph->outputs);
    graph->node_count = count;
    graph->output_count = graph->input_count = 1;
    const cupel_node input = {.op = CUPEL_OP_INPUT,
                              .kind = CUPEL_VALUE_REAL,
                              .rank = 1,
                              .shape = {8},
                              .count = 8,
                              .type = CUPEL_F32,
                              .terms = 4};
    for (int i = 0; i < count; i++) {
        cupel_node *n = &graph->nodes[i];
        *n = input;
        if (i == 0) continue;
        n->op = CUPEL_OP_ADD;
        n->arg_count = 2;
        n->args = cupel_arena_alloc(arena, 2 * sizeof *n->args);
        n->args[0] = i - 1;
    }
    if (summed) {
        cupel_node *sum = &graph->nodes[count - 1];
        sum->op = CUPEL_OP_SUM;
        sum->arg_count = 1;
        sum->rank = 0;
        sum->count = 1;
    }
    const cupel_node *last = &graph->nodes[count - 1];
    *graph->outputs = (cupel_graph_output){.name = "y",
                                           .node = count - 1,
                                           .type = CUPEL_F32,
                                           .rank = last->rank,
                                           .shape = {8},
                                           .count = last->count};
    x->f.graph = graph;
}

static void deep_chains_are_evaluated(void **state) {
    (void)state;
    const float values[8] = {1, 2, 3, 0.5f, -1, 4, 0, 1};
    static const int lengths[] = {10, 1000, 5000, 20000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int summed = 0; summed < 2; summed++) {
            exact_fixture x;
            exact_start(&x);
            exact_input(&x, "x", CUPEL_F32, "8", values);
            build_chain(&x, lengths[i], summed);
            const double factor = lengths[i] + 1, expected = factor * (summed ? 10.5 : 3);
            assert_int_equal(cupel_exact_open(x.f.graph, &x.bindings, &x.rules, &x.session, &x.f.err),
                             CUPEL_OK);
            const cupel_exact_element e = exact_element(&x, summed ? 0 : 2);
            assert_int_equal(e.reason, CUPEL_REASON_JUDGED);
            assert_true(e.value == expected);
            cupel_allowed allowed;
            assert_int_equal(
                cupel_oracle_bounded(x.f.graph, &x.bindings, &x.rules, x.f.arena, &allowed, &x.f.err),
                CUPEL_OK);
            assert_true(allowed.value[summed ? 0 : 2] == expected);
            exact_end(&x);
        }
    }
}

/* A thousand nodes of one expression, through defines. */
static void a_thousand_nodes_are_evaluated(void **state) {
    (void)state;
    const float values[3] = {0.5f, 1, 2};
    static const char *const names[] = {"x", "p", "q", "r"};
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "x", CUPEL_F32, "3", values);
    char texts[3][4000];
    for (int d = 0; d < 3; d++) {
        strcpy(texts[d], names[d]);
        for (int i = 0; i < 80; i++) {
            char part[40];
            snprintf(part, sizeof part, " * 0.5 + x - 0.%d%d", d + 1, i);
            strcat(texts[d], part);
        }
        fixture_define(&x.f, names[d + 1], texts[d]);
    }
    exact_build(&x, "r * q + exp(p * 0.1) - sin(r) * p", CUPEL_F32, "3");
    assert_true(x.f.graph->node_count >= 1000);
    cupel_allowed allowed;
    assert_int_equal(cupel_oracle_bounded(x.f.graph, &x.bindings, &x.rules, x.f.arena, &allowed, &x.f.err),
                     CUPEL_OK);
    for (int i = 0; i < 3; i++) {
        const cupel_exact_element e = exact_element(&x, i);
        assert_int_equal(e.reason, CUPEL_REASON_JUDGED);
        assert_int_equal(allowed.reasons[i], CUPEL_REASON_JUDGED);
        assert_true(fabs(e.value - allowed.value[i]) <= fabs(e.value) * 0x1p-40);
    }
    exact_end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_sums_are_within_their_radius),
        cmocka_unit_test(long_sums_by_rules_are_sound),
        cmocka_unit_test(memory_is_a_multiple_of_the_tensors),
        cmocka_unit_test(windows_take_no_memory),
        cmocka_unit_test(tensors_without_elements_are_answered),
        cmocka_unit_test(large_exact_outputs_are_sampled),
        cmocka_unit_test(deep_chains_are_evaluated),
        cmocka_unit_test(a_thousand_nodes_are_evaluated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
