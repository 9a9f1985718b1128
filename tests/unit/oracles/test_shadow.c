/* Shadows: each plan gives the bits of the kernel that it stands for, and each fault leaves the allowed set
 * on inputs of its own. */
#include <math.h>

#include "exact_fixture.h"
#include "philox.h"
#include "shadow.h"

enum { LONG = 100 };

static const cupel_shadow_plan plain;

static cupel_shadow_output run_of(exact_fixture *x, const cupel_shadow_plan *plan) {
    cupel_shadow_output out;
    if (cupel_shadow_run(x->f.graph, &x->bindings, &x->rules, plan, x->f.arena, &out, &x->f.err) != CUPEL_OK)
        fail_msg("%s", x->f.err.text);
    return out;
}

static float single_of(const cupel_shadow_output *out, int64_t i) {
    float y;
    memcpy(&y, out->bytes + (size_t)i * sizeof y, sizeof y);
    return y;
}

/* A row of numbers whose sum depends on the order. */
static void fill(float *x, int n, uint64_t seed) {
    cupel_random random = cupel_random_start(seed, 1);
    for (int i = 0; i < n; i++) x[i] = (float)(exp(8 * cupel_random_unit(&random)) - 50);
}

/* ---- the orders, against loops written out ---- */

static float sum_in(const float *x, int n, const cupel_shadow_plan *plan) {
    exact_fixture f;
    char shape[16];
    snprintf(shape, sizeof shape, "%d", n);
    exact_start(&f);
    exact_input(&f, "x", CUPEL_F32, shape, x);
    exact_build(&f, "sum(x)", CUPEL_F32, "");
    const cupel_shadow_output out = run_of(&f, plan);
    const float y = single_of(&out, 0);
    exact_end(&f);
    return y;
}

static void orders_are_those_of_loops(void **state) {
    (void)state;
    float x[LONG], lanes[32] = {0}, forwards = 0, backwards = 0, pairs[LONG];
    fill(x, LONG, 3);
    for (int i = 0; i < LONG; i++) forwards += x[i], backwards += x[LONG - 1 - i], lanes[i % 32] += x[i];
    for (int half = 16; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
    memcpy(pairs, x, sizeof pairs);
    for (int n = LONG; n > 1; n = (n + 1) / 2)
        for (int i = 0; i < (n + 1) / 2; i++)
            pairs[i] = 2 * i + 1 < n ? pairs[2 * i] + pairs[2 * i + 1] : pairs[2 * i];
    assert_true(sum_in(x, LONG, &plain) == forwards);
    assert_true(sum_in(x, LONG, &(cupel_shadow_plan){.order = CUPEL_SHADOW_REVERSED}) == backwards);
    assert_true(sum_in(x, LONG, &(cupel_shadow_plan){.order = CUPEL_SHADOW_PAIRWISE}) == pairs[0]);
    assert_true(sum_in(x, LONG, &(cupel_shadow_plan){.order = CUPEL_SHADOW_LANES, .lanes = 32}) == lanes[0]);
    assert_true(forwards != backwards && forwards != lanes[0]);
    double exact = 0;
    for (int i = 0; i < LONG; i++) exact += (double)x[i];
    const float kahan = sum_in(x, LONG, &(cupel_shadow_plan){.order = CUPEL_SHADOW_KAHAN});
    assert_true(fabs((double)kahan - exact) <= cupel_format_ulp(CUPEL_F32, exact));
}

/* 100 terms in eight parts, each way of forming them. */
static void parts_are_those_of_loops(void **state) {
    (void)state;
    enum { PARTS = 8, STRETCH = 13 };
    float x[LONG], strided[PARTS] = {0}, stretches[PARTS] = {0}, tiles = 0;
    fill(x, LONG, 6);
    for (int i = 0; i < LONG; i++) strided[i % PARTS] += x[i], stretches[i / STRETCH] += x[i];
    float in_steps = strided[0];
    for (int i = 1; i < PARTS; i++) in_steps += strided[i];
    for (int half = PARTS / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) stretches[i] += stretches[i + half];
    for (int begin = 0; begin < LONG; begin += PARTS) {
        float tile = 0;
        for (int i = begin; i < LONG && i < begin + PARTS; i++) tile += x[i];
        tiles += tile;
    }
    const cupel_shadow_plan steps = {.order = CUPEL_SHADOW_STEPS, .lanes = PARTS},
                            chunks = {.order = CUPEL_SHADOW_CHUNKS, .lanes = PARTS},
                            tiled = {.order = CUPEL_SHADOW_TILES, .lanes = PARTS};
    assert_true(sum_in(x, LONG, &steps) == in_steps);
    assert_true(sum_in(x, LONG, &chunks) == stretches[0]);
    assert_true(sum_in(x, LONG, &tiled) == tiles);
    assert_true(in_steps != stretches[0] && tiles != in_steps);
}

static void a_random_order_depends_on_its_seed_alone(void **state) {
    (void)state;
    float x[LONG];
    fill(x, LONG, 4);
    int differ = 0;
    for (uint64_t seed = 1; seed < 9; seed++) {
        const cupel_shadow_plan shuffled = {.order = CUPEL_SHADOW_PERMUTED, .seed = seed};
        const cupel_shadow_plan tree = {.order = CUPEL_SHADOW_TREE, .seed = seed};
        assert_true(sum_in(x, LONG, &shuffled) == sum_in(x, LONG, &shuffled));
        assert_true(sum_in(x, LONG, &tree) == sum_in(x, LONG, &tree));
        differ += sum_in(x, LONG, &shuffled) != sum_in(x, LONG, &plain);
    }
    assert_true(differ > 2);
}

/* Noise shows what an exact sum would hide. */
static void noise_disturbs_an_exact_sum(void **state) {
    (void)state;
    const float x[] = {1e8f, 1e8f, -1e8f, -1e8f};
    assert_true(sum_in(x, 4, &plain) == 0);
    assert_true(sum_in(x, 4, &(cupel_shadow_plan){.noise = true, .seed = 1}) != 0);
}

static void products_are_fused_or_not(void **state) {
    (void)state;
    const float a[] = {1 + 0x1p-12f, 3}, b[] = {1 + 0x1p-12f, 1}, c[] = {-1, 0.1f};
    exact_fixture f;
    exact_start(&f);
    exact_input(&f, "a", CUPEL_F32, "2", a);
    exact_input(&f, "b", CUPEL_F32, "2", b);
    exact_input(&f, "c", CUPEL_F32, "2", c);
    static const char *const texts[] = {"a * b + c", "c + a * b", "a * b - (-c)"};
    const float separate = a[0] * b[0] + c[0], together = fmaf(a[0], b[0], c[0]);
    for (int i = 0; i < 3; i++) {
        exact_build(&f, texts[i], CUPEL_F32, "2");
        const cupel_shadow_output apart = run_of(&f, &plain),
                                  fused = run_of(&f, &(cupel_shadow_plan){.fused = true});
        assert_true(single_of(&apart, 0) == separate);
        assert_true(single_of(&fused, 0) == together);
    }
    exact_build(&f, "c - a * b", CUPEL_F32, "2");
    const cupel_shadow_output fused = run_of(&f, &(cupel_shadow_plan){.fused = true});
    assert_true(single_of(&fused, 1) == fmaf(-a[1], b[1], c[1]));
    exact_build(&f, "sum(a * b)", CUPEL_F32, "");
    const cupel_shadow_output dot = run_of(&f, &(cupel_shadow_plan){.fused = true});
    assert_true(single_of(&dot, 0) == fmaf(a[1], b[1], a[0] * b[0]));
    exact_end(&f);
}

/* ---- statistics and softmax ---- */

static void welford_is_welford(void **state) {
    (void)state;
    float x[LONG], mean = 0, squares = 0;
    fill(x, LONG, 5);
    for (int i = 0; i < LONG; i++) {
        const float delta = x[i] - mean;
        mean += delta / (float)(i + 1);
        squares += delta * (x[i] - mean);
    }
    exact_fixture f;
    exact_start(&f);
    exact_input(&f, "x", CUPEL_F32, "100", x);
    const cupel_shadow_plan plan = {.welford = true};
    exact_build(&f, "mean(x)", CUPEL_F32, "");
    cupel_shadow_output out = run_of(&f, &plan);
    assert_true(single_of(&out, 0) == mean);
    exact_build(&f, "var(x, axis=0, correction=0)", CUPEL_F32, "");
    out = run_of(&f, &plan);
    assert_true(single_of(&out, 0) == squares / LONG);
    /* the same row down a column of a matrix */
    f.bindings.count = f.f.symbols.input_count = 0;
    exact_input(&f, "x", CUPEL_F32, "100,1", x);
    exact_build(&f, "var(x, axis=0, correction=0)", CUPEL_F32, "1");
    out = run_of(&f, &plan);
    assert_true(single_of(&out, 0) == squares / LONG);
    exact_end(&f);
}

static void softmax_is_online(void **state) {
    (void)state;
    const float x[] = {1, 3.5f, 2, 7.25f, 7};
    float top = x[0], sum = 1;
    for (int i = 1; i < 5; i++) {
        const float next = fmaxf(top, x[i]), own = (float)exp((double)(x[i] - next));
        const float rescale = next > top ? (float)exp((double)(top - next)) : 1;
        sum = own + sum * rescale;
        top = next;
    }
    exact_fixture f;
    exact_start(&f);
    exact_input(&f, "x", CUPEL_F32, "5", x);
    exact_build(&f, "softmax(x, axis=0)", CUPEL_F32, "5");
    const cupel_shadow_output out = run_of(&f, &(cupel_shadow_plan){.online = true});
    for (int i = 0; i < 5; i++) assert_true(single_of(&out, i) == (float)exp((double)(x[i] - top)) / sum);
    exact_end(&f);
}

/* Statistics of rows are not confused with those of columns, nor maxima. */
static void axes_are_told_apart(void **state) {
    (void)state;
    static const char *const texts[] = {
        "mean((x - mean(x, axis=0, keepdim=true)) * (x - mean(x, axis=0, keepdim=true)), axis=1)",
        "sum(exp(x - amax(x, axis=0, keepdim=true)), axis=1)",
        "sum(exp(x - amax(x, axis=1, keepdim=true)), axis=1)",
        "var(transpose(x), axis=0)",
        "logsumexp(transpose(x), axis=0)",
    };
    const float x[] = {1, 5, 2, 30, -7, 11, 4, 4.5f, 0};
    const cupel_shadow_plan onepass = {.welford = true, .online = true, .fused = true, .folded = true};
    exact_fixture f;
    exact_start(&f);
    exact_input(&f, "x", CUPEL_F32, "3,3", x);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        exact_build(&f, texts[k], CUPEL_F32, "3");
        const cupel_shadow_output out = run_of(&f, &onepass);
        for (int i = 0; i < 3; i++) {
            const double exact = exact_element(&f, i).value;
            if (!(fabs((double)single_of(&out, i) - exact) <= 1e-5 * fabs(exact)))
                fail_msg("%s: element %d is %.9g, exactly %.9g", texts[k], i, (double)single_of(&out, i),
                         exact);
        }
    }
    exact_end(&f);
}

/* ---- rules ---- */

static void rules_decide_what_a_plan_may_do(void **state) {
    (void)state;
    const float x[] = {1.7f, -20.3f, 0x1p-130f};
    const cupel_shadow_plan eager = {.hardware = true, .flush = true};
    exact_fixture f;
    exact_start(&f);
    exact_input(&f, "x", CUPEL_F32, "3", x);
    f.rules.fast_math = false;
    exact_build(&f, "exp(x)", CUPEL_F32, "3");
    const cupel_shadow_output precise = run_of(&f, &eager);
    assert_true(single_of(&precise, 1) == (float)exp((double)x[1]));
    f.rules.fast_math = true;
    const cupel_shadow_output fast = run_of(&f, &eager);
    assert_true(single_of(&fast, 1) != (float)exp((double)x[1]));
    exact_build(&f, "x * 0.5", CUPEL_F32, "3");
    const cupel_shadow_output kept = run_of(&f, &eager);
    assert_true(single_of(&kept, 2) == 0x1p-131f);
    f.rules.subnormals = CUPEL_SUBNORMALS_FLUSH;
    const cupel_shadow_output flushed = run_of(&f, &eager);
    assert_true(single_of(&flushed, 2) == 0);
    exact_end(&f);
}

/* ---- primitives without a composer of their own ---- */

static cupel_node node_of(cupel_op op, cupel_value_kind kind, int rank, const int64_t *shape, int arg_count,
                          int *args) {
    cupel_node n = {.op = op, .kind = kind, .rank = rank, .count = 1, .arg_count = arg_count, .args = args};
    for (int d = 0; d < rank; d++) n.shape[d] = shape[d], n.count *= shape[d];
    return n;
}

/* op over inputs of these kinds and shapes. */
static void run_primitive(cupel_node op, int inputs, const cupel_node *input, const void *const *data,
                          cupel_dtype type, const cupel_shadow_plan *plan, void *result) {
    cupel_node nodes[5];
    cupel_error err;
    cupel_arena *arena = cupel_arena_create(0);
    for (int i = 0; i < inputs; i++) {
        nodes[i] = input[i];
        nodes[i].input = i;
        nodes[i].type = input[i].kind == CUPEL_VALUE_INT ? CUPEL_I64 : CUPEL_F32;
    }
    nodes[inputs] = op;
    cupel_graph_output output = {.name = "y", .node = inputs, .type = type, .count = op.count};
    const cupel_graph graph = {.node_count = inputs + 1,
                               .nodes = nodes,
                               .output_count = 1,
                               .outputs = &output,
                               .input_count = inputs};
    const cupel_bindings bindings = {inputs, data};
    const cupel_rules rules = {.working = CUPEL_F32};
    cupel_shadow_output out;
    assert_int_equal(cupel_shadow_run(&graph, &bindings, &rules, plan, arena, &out, &err), CUPEL_OK);
    memcpy(result, out.bytes, (size_t)op.count * cupel_format_of(type)->size);
    cupel_arena_free(arena);
}

static void terms_are_scattered(void **state) {
    (void)state;
    const float x[] = {1, 2, 3}, terms[] = {10, 20, 30, 40};
    const int64_t index[] = {2, 0, 2, 9};
    int args[] = {0, 1, 2};
    const cupel_node inputs[] = {node_of(CUPEL_OP_INPUT, CUPEL_VALUE_REAL, 1, (int64_t[]){3}, 0, NULL),
                                 node_of(CUPEL_OP_INPUT, CUPEL_VALUE_INT, 1, (int64_t[]){4}, 0, NULL),
                                 node_of(CUPEL_OP_INPUT, CUPEL_VALUE_REAL, 1, (int64_t[]){4}, 0, NULL)};
    const cupel_node op = node_of(CUPEL_OP_SCATTER_ADD, CUPEL_VALUE_REAL, 1, (int64_t[]){3}, 3, args);
    float y[3];
    run_primitive(op, 3, inputs, (const void *const[]){x, index, terms}, CUPEL_F32, &plain, y);
    assert_true(y[0] == 21 && y[1] == 2 && y[2] == 43);
}

static void sorting_is_stable(void **state) {
    (void)state;
    const float x[] = {3, NAN, 1, 3, -INFINITY};
    int args[] = {0};
    const cupel_node input = node_of(CUPEL_OP_INPUT, CUPEL_VALUE_REAL, 1, (int64_t[]){5}, 0, NULL);
    const cupel_node sort = node_of(CUPEL_OP_SORT, CUPEL_VALUE_REAL, 1, (int64_t[]){5}, 1, args);
    const cupel_node places = node_of(CUPEL_OP_ARGSORT, CUPEL_VALUE_INT, 1, (int64_t[]){5}, 1, args);
    float y[5];
    int64_t at[5];
    run_primitive(sort, 1, &input, (const void *const[]){x}, CUPEL_F32, &plain, y);
    assert_true(y[0] == -INFINITY && y[1] == 1 && y[2] == 3 && y[3] == 3 && isnan(y[4]));
    run_primitive(places, 1, &input, (const void *const[]){x}, CUPEL_I64, &plain, at);
    assert_true(at[0] == 4 && at[1] == 2 && at[2] == 0 && at[3] == 3 && at[4] == 1);
    const cupel_shadow_plan last = {.fault = CUPEL_SHADOW_LAST_TIE};
    run_primitive(places, 1, &input, (const void *const[]){x}, CUPEL_I64, &last, at);
    assert_true(at[2] == 3 && at[3] == 0);
}

static void scans_go_step_by_step_or_in_blocks(void **state) {
    (void)state;
    const float a[] = {9, 2, 3, 0.5f, 4}, b[] = {1, 1, 2, 3, 5};
    int args[] = {0, 1};
    const cupel_node input = node_of(CUPEL_OP_INPUT, CUPEL_VALUE_REAL, 1, (int64_t[]){5}, 0, NULL);
    const cupel_node inputs[] = {input, input};
    const cupel_node op = node_of(CUPEL_OP_LINEAR_SCAN, CUPEL_VALUE_REAL, 1, (int64_t[]){5}, 2, args);
    const cupel_shadow_plan blocks = {.order = CUPEL_SHADOW_LANES, .lanes = 2};
    const float expected[] = {1, 3, 11, 8.5f, 39};
    float y[5];
    run_primitive(op, 2, inputs, (const void *const[]){a, b}, CUPEL_F32, &plain, y);
    assert_memory_equal(y, expected, sizeof y);
    run_primitive(op, 2, inputs, (const void *const[]){a, b}, CUPEL_F32, &blocks, y);
    assert_memory_equal(y, expected, sizeof y);
}

/* S_1 = x_0; S_2 = diag(a) S_1 - p (r' S_1) + x_1, by hand. */
static void a_state_is_carried(void **state) {
    (void)state;
    const float a[] = {5, 7, 2, 3}, p[] = {8, 8, 1, 2}, r[] = {8, 8, 10, 1},
                x[] = {1, 2, 3, 4, 50, 60, 70, 80};
    int args[] = {0, 1, 2, 3};
    const cupel_node row = node_of(CUPEL_OP_INPUT, CUPEL_VALUE_REAL, 2, (int64_t[]){2, 2}, 0, NULL);
    const cupel_node inputs[] = {row, row, row,
                                 node_of(CUPEL_OP_INPUT, CUPEL_VALUE_REAL, 3, (int64_t[]){2, 2, 2}, 0, NULL)};
    cupel_node op = node_of(CUPEL_OP_STATE_SCAN, CUPEL_VALUE_REAL, 3, (int64_t[]){2, 2, 2}, 4, args);
    op.step = CUPEL_SCAN_RANK_ONE;
    const float expected[] = {1, 2, 3, 4, 2 - 13 + 50, 4 - 24 + 60, 9 - 26 + 70, 12 - 48 + 80};
    float y[8];
    run_primitive(op, 4, inputs, (const void *const[]){a, p, r, x}, CUPEL_F32, &plain, y);
    assert_memory_equal(y, expected, sizeof y);
    /* what q reads of it: here p */
    int read[] = {0, 1, 2, 3, 1};
    op = node_of(CUPEL_OP_STATE_SCAN, CUPEL_VALUE_REAL, 2, (int64_t[]){2, 2}, 5, read);
    op.step = CUPEL_SCAN_RANK_ONE | CUPEL_SCAN_READ;
    const float seen[] = {8 * 1 + 8 * 3, 8 * 2 + 8 * 4, 39 + 2 * 53, 40 + 2 * 44};
    run_primitive(op, 4, inputs, (const void *const[]){a, p, r, x}, CUPEL_F32, &plain, y);
    assert_memory_equal(y, seen, sizeof seen);
}

/* ---- faults ---- */

typedef struct fault_case {
    cupel_shadow_fault fault;
    const char *expression;
    int inputs, n;
    float x[LONG];
    float rest;       /* further elements */
    cupel_dtype type; /* f64 is summed in f64, others in f32 */
} fault_case;

static const fault_case faults[] = {
    {CUPEL_SHADOW_F16_ACCUMULATOR, "sum(x)", 1, 64, {2048}, 1, CUPEL_F16},
    {CUPEL_SHADOW_BF16_ACCUMULATOR, "sum(x)", 1, 64, {256}, 1, CUPEL_F32},
    {CUPEL_SHADOW_F16_ACCUMULATOR, "sum(x * x)", 1, 33, {200}, 2, CUPEL_F32},
    {CUPEL_SHADOW_F16_ACCUMULATOR, "cumsum(x, axis=0)[63]", 1, 64, {2048}, 1, CUPEL_F32},
    {CUPEL_SHADOW_FLUSHED, "x[0] * 0.5", 1, 1, {0x1p-126f}, 0, CUPEL_F32},
    {CUPEL_SHADOW_NO_MAXIMUM, "softmax(x, axis=0)[0]", 1, 2, {100}, 99, CUPEL_F32},
    {CUPEL_SHADOW_NO_MAXIMUM, "logsumexp(x, axis=0)", 1, 2, {100}, 99, CUPEL_F32},
    {CUPEL_SHADOW_ONE_PASS, "var(x, axis=0)", 1, 8, {10001}, 10000, CUPEL_F32},
    {CUPEL_SHADOW_ONE_PASS, "layer_norm(x)[0]", 1, 8, {10001}, 10000, CUPEL_F32},
    {CUPEL_SHADOW_NAN_SWALLOWED, "amax(x)", 1, 3, {1, NAN}, 3, CUPEL_F32},
    {CUPEL_SHADOW_NAN_SWALLOWED, "relu(x)[0]", 1, 1, {NAN}, 3, CUPEL_F32},
    {CUPEL_SHADOW_INF_CLAMPED, "x[0] + x[1]", 1, 2, {INFINITY}, 3, CUPEL_F32},
    {CUPEL_SHADOW_INF_CLAMPED, "sum(x)", 1, 2, {60000}, 60000, CUPEL_F16},
    {CUPEL_SHADOW_DROPPED_TAIL, "sum(x)", 1, 70, {1}, 1, CUPEL_F32},
    {CUPEL_SHADOW_DROPPED_LAST, "mean(x)", 1, 5, {1}, 1, CUPEL_F32},
    {CUPEL_SHADOW_DROPPED_LAST, "amax(-x)", 1, 5, {2, 2, 2, 2}, 1, CUPEL_F32},
    {CUPEL_SHADOW_LAST_TIE, "argmax(x)", 1, 5, {1, 2}, 2, CUPEL_I64},
    {CUPEL_SHADOW_F32_ACCUMULATOR, "sum(x)", 1, 64, {16777216}, 1, CUPEL_F64},
    {CUPEL_SHADOW_TF32_PRODUCTS, "matmul(x, x)", 1, 4, {4097}, 1, CUPEL_F32},
    {CUPEL_SHADOW_TF32_CUT, "sum(x * x)", 1, 4, {4099}, 1, CUPEL_F32},
    {CUPEL_SHADOW_BF16_PRODUCTS, "matmul(x, x)", 1, 4, {257}, 1, CUPEL_F32},
    {CUPEL_SHADOW_BF16_CUT, "sum(x * x)", 1, 4, {259}, 1, CUPEL_F32},
    {CUPEL_SHADOW_F16_PRODUCTS, "matmul(x, x)", 1, 4, {2049}, 1, CUPEL_F32},
    {CUPEL_SHADOW_REVERSED_SCAN, "cumsum(x, axis=0)[0]", 1, 5, {1, 2}, 2, CUPEL_F32},
    {CUPEL_SHADOW_REVERSED_SCAN, "cummax(x, axis=0)[0]", 1, 5, {1, 2}, 2, CUPEL_F32},
    {CUPEL_SHADOW_REVERSED_SCAN, "cumsum(cast(x, i32), axis=0)[0]", 1, 5, {1, 2}, 2, CUPEL_I32},
    {CUPEL_SHADOW_REVERSED_SCAN, "linear_scan(x, x)[4]", 1, 5, {1, 2, 3}, 4, CUPEL_F32},
    {CUPEL_SHADOW_EXCLUSIVE_SCAN, "cumprod(x, axis=0)[4]", 1, 5, {1, 2}, 2, CUPEL_F32},
    {CUPEL_SHADOW_EXCLUSIVE_SCAN, "linear_scan(x, x)[0]", 1, 5, {1, 2}, 2, CUPEL_F32},
    {CUPEL_SHADOW_DROPPED_CARRY, "cumsum(x, axis=0)[33]", 1, 34, {1}, 1, CUPEL_F32},
    {CUPEL_SHADOW_DROPPED_CARRY, "linear_scan(x, x)[33]", 1, 34, {1}, 1, CUPEL_F32},
    {CUPEL_SHADOW_SHORT_CARRY, "cumsum(x, axis=0)[65]", 1, 66, {1}, 1, CUPEL_F32},
    {CUPEL_SHADOW_SHORT_CARRY, "linear_scan(x, x)[65]", 1, 66, {1}, 1, CUPEL_F32},
    {CUPEL_SHADOW_RAW_CARRY, "linear_scan(x, x)[33]", 1, 34, {1}, 2, CUPEL_F32},
    {CUPEL_SHADOW_STOPS_AT_ZERO, "sum(x - 1)", 1, 4, {2, 1}, 3, CUPEL_F32},
    {CUPEL_SHADOW_STOPS_AT_ZERO, "matmul(x - 1, x)", 1, 4, {2, 1}, 3, CUPEL_F32},
};

static int outside(exact_fixture *f, const cupel_shadow_plan *plan) {
    cupel_allowed allowed;
    const cupel_code code =
        f->rules.working == CUPEL_F64 /* which fp64 cannot bound */
            ? cupel_exact_output(f->session, 0, f->f.arena, &allowed, &f->f.err)
            : cupel_oracle_bounded(f->f.graph, &f->bindings, &f->rules, f->f.arena, &allowed, &f->f.err);
    assert_int_equal(code, CUPEL_OK);
    const cupel_shadow_output out = run_of(f, plan);
    int wrong = 0;
    for (int64_t i = 0; i < out.count; i++)
        wrong += cupel_judge_element(&allowed, i, out.bytes + (size_t)i * cupel_format_of(out.type)->size) >
                 CUPEL_NOT_JUDGED;
    return wrong;
}

static void each_fault_leaves_the_allowed_set(void **state) {
    (void)state;
    unsigned covered = 0;
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        const fault_case *c = &faults[k];
        float x[LONG];
        char shape[16];
        for (int i = 0; i < c->n; i++) x[i] = c->x[i] != 0 ? c->x[i] : c->rest;
        snprintf(shape, sizeof shape, "%d", c->n);
        exact_fixture f;
        exact_start(&f);
        exact_input(&f, "x", CUPEL_F32, shape, x);
        if (c->type == CUPEL_F64) f.rules.working = CUPEL_F64;
        exact_build(&f, c->expression, c->type, "");
        const char *name = cupel_shadow_fault_name(c->fault);
        if (!(cupel_shadow_applicable(f.f.graph, &f.rules) >> c->fault & 1))
            fail_msg("%s cannot show %s", c->expression, name);
        if (outside(&f, &(cupel_shadow_plan){.fault = c->fault}) == 0)
            fail_msg("%s with %s is inside", c->expression, name);
        if (outside(&f, &plain) > 0) fail_msg("%s without a fault is outside", c->expression);
        covered |= 1u << c->fault;
        exact_end(&f);
    }
    for (int fault = CUPEL_SHADOW_NO_FAULT + 1; fault < CUPEL_SHADOW_FAULT_COUNT; fault++)
        assert_true(covered >> fault & 1);
}

static void faults_need_their_operations(void **state) {
    (void)state;
    const float x[LONG] = {1};
    exact_fixture f;
    exact_start(&f);
    exact_input(&f, "x", CUPEL_F32, "64", x);
    const unsigned always = 1u << CUPEL_SHADOW_FLUSHED | 1u << CUPEL_SHADOW_INF_CLAMPED;
    exact_build(&f, "exp(x)", CUPEL_F32, "64");
    assert_int_equal(cupel_shadow_applicable(f.f.graph, &f.rules), always);
    f.rules.subnormals = CUPEL_SUBNORMALS_FLUSH;
    assert_int_equal(cupel_shadow_applicable(f.f.graph, &f.rules), 1u << CUPEL_SHADOW_INF_CLAMPED);
    f.rules = (cupel_rules){.working = CUPEL_F16};
    exact_build(&f, "sum(x)", CUPEL_F32, "");
    const unsigned sum = cupel_shadow_applicable(f.f.graph, &f.rules);
    assert_false(sum >> CUPEL_SHADOW_F16_ACCUMULATOR & 1); /* it is what the contract claims */
    assert_true(sum >> CUPEL_SHADOW_BF16_ACCUMULATOR & 1);
    assert_true(sum >> CUPEL_SHADOW_DROPPED_LAST & 1);
    assert_false(sum >> CUPEL_SHADOW_DROPPED_TAIL & 1); /* 64 is a multiple of 32 */
    assert_false(sum >> CUPEL_SHADOW_LAST_TIE & 1);
    assert_false(sum >> CUPEL_SHADOW_ONE_PASS & 1);
    exact_end(&f);
}

/* 4098 lies half way between two numbers of tf32, of which 4096 is even; 4099 is above it. */
static void operands_are_narrowed(void **state) {
    (void)state;
    const float a[] = {4098}, b[] = {-4099};
    exact_fixture f;
    exact_start(&f);
    exact_input(&f, "a", CUPEL_F32, "1", a);
    exact_input(&f, "b", CUPEL_F32, "1", b);
    exact_build(&f, "sum(a * b)", CUPEL_F32, "");
    static const struct {
        cupel_shadow_plan plan;
        double product;
    } cases[] = {
        {{.fault = CUPEL_SHADOW_TF32_PRODUCTS}, 4096.0 * -4100},
        {{.fault = CUPEL_SHADOW_TF32_PRODUCTS, .ties_away = true}, 4100.0 * -4100},
        {{.fault = CUPEL_SHADOW_TF32_PRODUCTS, .keep_left = true}, 4098.0 * -4100},
        {{.fault = CUPEL_SHADOW_TF32_PRODUCTS, .keep_right = true}, 4096.0 * -4099},
        {{.fault = CUPEL_SHADOW_TF32_CUT}, 4096.0 * -4096},
        {{.fault = CUPEL_SHADOW_BF16_CUT}, 4096.0 * -4096},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cupel_shadow_output out = run_of(&f, &cases[i].plan);
        assert_true(single_of(&out, 0) == (float)cases[i].product);
    }
    exact_end(&f);
}

/* Operands of 16 bits lose nothing in a type that holds them all. */
static void operands_that_fit_are_no_fault(void **state) {
    (void)state;
    static const struct {
        cupel_dtype type;
        const char *expression;
        bool tf32, bf16, f16;
    } cases[] = {{CUPEL_F32, "sum(x * x)", true, true, true},
                 {CUPEL_F16, "sum(x * x)", false, true, false},
                 {CUPEL_BF16, "sum(x * x)", false, false, true},
                 {CUPEL_F16, "sum((x + 1) * x)", true, true, true},
                 {CUPEL_F32, "sum(x)", false, false, false}};
    const uint64_t x[LONG] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exact_fixture f;
        exact_start(&f);
        exact_input(&f, "x", cases[i].type, "64", x);
        exact_build(&f, cases[i].expression, CUPEL_F32, "");
        const unsigned shown = cupel_shadow_applicable(f.f.graph, &f.rules);
        assert_int_equal(shown >> CUPEL_SHADOW_TF32_PRODUCTS & 1, cases[i].tf32);
        assert_int_equal(shown >> CUPEL_SHADOW_TF32_CUT & 1, cases[i].tf32);
        assert_int_equal(shown >> CUPEL_SHADOW_BF16_PRODUCTS & 1, cases[i].bf16);
        assert_int_equal(shown >> CUPEL_SHADOW_F16_PRODUCTS & 1, cases[i].f16);
        exact_end(&f);
    }
}

static void terms_are_counted(void **state) {
    (void)state;
    static const struct {
        const char *expression, *shape;
        double cost;
    } cases[] = {{"-x", "64", 64 + 64}, {"sum(x)", "", 64 + 64 + 1}};
    const uint64_t x[LONG] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exact_fixture f;
        exact_start(&f);
        exact_input(&f, "x", CUPEL_F32, "64", x);
        exact_build(&f, cases[i].expression, CUPEL_F32, cases[i].shape);
        assert_float_equal(cupel_shadow_cost(f.f.graph), cases[i].cost, 0);
        exact_end(&f);
    }
}

static void the_family_has_names(void **state) {
    (void)state;
    int count;
    const cupel_shadow_plan *family = cupel_shadow_family(&count);
    assert_true(count >= 6);
    for (int i = 0; i < count; i++) {
        assert_true(family[i].name && family[i].sentence && family[i].fault == CUPEL_SHADOW_NO_FAULT);
        for (int k = 0; k < i; k++) assert_string_not_equal(family[i].name, family[k].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_those_of_loops),
        cmocka_unit_test(parts_are_those_of_loops),
        cmocka_unit_test(a_random_order_depends_on_its_seed_alone),
        cmocka_unit_test(noise_disturbs_an_exact_sum),
        cmocka_unit_test(products_are_fused_or_not),
        cmocka_unit_test(welford_is_welford),
        cmocka_unit_test(softmax_is_online),
        cmocka_unit_test(axes_are_told_apart),
        cmocka_unit_test(rules_decide_what_a_plan_may_do),
        cmocka_unit_test(terms_are_scattered),
        cmocka_unit_test(sorting_is_stable),
        cmocka_unit_test(scans_go_step_by_step_or_in_blocks),
        cmocka_unit_test(a_state_is_carried),
        cmocka_unit_test(each_fault_leaves_the_allowed_set),
        cmocka_unit_test(faults_need_their_operations),
        cmocka_unit_test(operands_are_narrowed),
        cmocka_unit_test(operands_that_fit_are_no_fault),
        cmocka_unit_test(terms_are_counted),
        cmocka_unit_test(the_family_has_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
