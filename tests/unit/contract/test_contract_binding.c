/* Values under a binding: lets, legality, shapes, scalars, params as kernels receive them, rules, entries,
 * graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "contract_text.h"

static const char head[] = "cupel: 1\nid: t\nsource: {file: t.cu}\n";
static const char kernel[] = "kernel: {entry: k, args: [x, y], grid: [1], block: [1]}\n";
static const char two_outputs[] = "kernel: {entry: k, args: [x, y, z], grid: [1], block: [1]}\n";

static int set_up(void **state) {
    return (*state = cupel_arena_create(0)) ? 0 : -1;
}
static int tear_down(void **state) {
    cupel_arena_free(*state);
    return 0;
}

static const cupel_contract *make(cupel_arena *arena, const char *keys) {
    return contract_of(arena, cupel_arena_printf(arena, "%s%s%s", head, keys,
                                                 strstr(keys, "kernel:")    ? ""
                                                 : strstr(keys, "z: \"f32") ? two_outputs
                                                                            : kernel));
}

static void lets_and_legality(void **state) {
    const cupel_contract *c =
        make(*state, "dims: {M: 0..100, N: [3, 8, 64]}\n"
                     "let: {H: G + 1, G: \"ceil_div(N, M)\"}\n"
                     "requires: [\"N % 4 == 0 or M > 50\"]\n"
                     "inputs: {x: \"f32[M]\"}\noutputs: {y: \"f32[M]\"}\nensures: {y: x}\n");
    cupel_binding b = ordinary_of(c);
    cupel_error err = {0};
    b.dims[0] = 5, b.dims[1] = 64;
    assert_int_equal(cupel_binding_complete(&b, &err), CUPEL_OK);
    assert_true(b.lets[0] == 13 && b.lets[1] == 14);
    assert_true(cupel_binding_legal(&b));
    b.dims[1] = 3;
    assert_false(cupel_binding_legal(&b)); /* 3 % 4 != 0 */
    b.dims[0] = 51;
    assert_true(cupel_binding_legal(&b));
    b.dims[1] = 12;
    assert_false(cupel_binding_legal(&b)); /* not in the list */
    b.dims[1] = 64, b.dims[0] = 101;
    assert_false(cupel_binding_legal(&b)); /* beyond the range */
    b.dims[0] = -1;
    assert_false(cupel_binding_legal(&b));
    b.dims[0] = 0;
    assert_false(cupel_binding_legal(&b)); /* G has no value */
    assert_int_equal(cupel_binding_complete(&b, &err), CUPEL_RANGE);
    assert_non_null(strstr(err.text, "divides by zero"));
}

static void shapes_and_types(void **state) {
    const cupel_contract *c =
        make(*state,
             "dims: {M: 0..2000000, N: 0..2000000}\nlet: {H: N / 2 - 3}\nrequires: [N >= 6]\ntypes: {T: "
             "[f32, f16]}\n"
             "inputs: {x: \"T[M, ceil_div(N, 4), 3]\", s: \"T[]\", b: \"i32[H]\"}\noutputs: {y: \"T[M]\"}\n"
             "ensures: {y: \"full([M], 0)\"}\n");
    cupel_binding b = ordinary_of(c);
    int64_t shape[CUPEL_RANK_MAX], count;
    cupel_error err = {0};
    b.dims[0] = 7, b.dims[1] = 9, b.types[0] = 1;
    assert_int_equal(cupel_binding_complete(&b, &err), CUPEL_OK);
    assert_int_equal(cupel_binding_shape(&b, 0, shape, &count, &err), CUPEL_OK);
    assert_true(shape[0] == 7 && shape[1] == 3 && shape[2] == 3 && count == 63);
    assert_int_equal(cupel_binding_shape(&b, 1, shape, &count, &err), CUPEL_OK);
    assert_int_equal(count, 1);
    assert_int_equal(cupel_binding_type(&b, 0), CUPEL_F16);
    assert_int_equal(cupel_binding_type(&b, 2), CUPEL_I32);
    b.dims[0] = 0;
    assert_int_equal(cupel_binding_shape(&b, 0, shape, &count, &err), CUPEL_OK);
    assert_int_equal(count, 0);
    b.dims[0] = b.dims[1] = 2000000; /* 2e6 * 5e5 * 3 elements exceed 2^40 */
    assert_int_equal(cupel_binding_shape(&b, 0, shape, &count, &err), CUPEL_RANGE);
    b.dims[1] = 2;
    assert_int_equal(cupel_binding_complete(&b, &err), CUPEL_OK);
    assert_int_equal(cupel_binding_shape(&b, 2, shape, &count, &err), CUPEL_RANGE);
    assert_non_null(strstr(err.text, "found -2"));
}

static void scalars(void **state) {
    const cupel_contract *c =
        make(*state,
             "dims: {M: 4, N: 6}\ntypes: {T: [f32, bf16]}\nparams: {p: 3, e: 0.1}\n"
             "inputs: {x: \"T[M, N]\"}\noutputs: {y: \"T[M, N]\"}\nensures: {y: x}\n"
             "kernel: {entry: k, args: [y, \"stride(x, 0) + stride(x, -1)\", size(x) * sizeof(T), p + N, e, "
             "sizeof(f64)], grid: [1], block: [1]}\n");
    cupel_binding b = ordinary_of(c);
    const int64_t strides[CUPEL_TENSOR_MAX][CUPEL_RANK_MAX] = {{-10, 2}};
    static const struct {
        bool real;
        int64_t i;
        double d;
    } expected[] = {{false, -8, 0}, {false, 48, 0}, {false, 9, 0}, {true, 0, (double)0.1f}, {false, 8, 0}};
    b.types[0] = 1;
    for (int i = 0; i < 5; i++) {
        cupel_scalar value;
        cupel_error err = {0};
        if (cupel_binding_scalar(&b, c->launches[0].args[i + 1].expr, strides, &value, &err) != CUPEL_OK)
            fail_msg("%s", err.text);
        assert_int_equal(value.real, expected[i].real);
        if (value.real)
            assert_true(value.d == expected[i].d);
        else
            assert_int_equal(value.i, expected[i].i);
    }
    cupel_scalar value;
    assert_int_equal(cupel_binding_scalar(&b, c->launches[0].args[1].expr, NULL, &value, NULL),
                     CUPEL_CONTRACT);
}

/* `products` reaches the graph: the operands of the product, and nothing else, are loosened. */
static void products_loosen_operands(void **state) {
    const char *keys = "dims: {M: 3}\ninputs: {x: \"f32[M]\", w: \"f32[M, M]\"}\noutputs: {y: \"f32[M]\"}\n"
                       "ensures: {y: \"matmul(x, w) + x\"}\n";
    for (int given = 0; given < 2; given++) {
        const cupel_contract *c =
            make(*state, cupel_arena_printf(*state, "%s%s", keys, given ? "products: bf16\n" : ""));
        cupel_binding b = ordinary_of(c);
        cupel_error err = {0};
        cupel_graph *graph;
        assert_int_equal(cupel_binding_complete(&b, &err), CUPEL_OK);
        assert_int_equal(cupel_binding_graph(&b, *state, &graph, &err), CUPEL_OK);
        int loosened = 0;
        for (int i = 0; i < graph->node_count; i++) {
            if (graph->nodes[i].op != CUPEL_OP_LOOSEN) continue;
            assert_int_equal(graph->nodes[i].type, CUPEL_BF16);
            loosened++;
        }
        assert_int_equal(loosened, 2 * given);
    }
}

/* `kinks` reaches the graph: the derivative at 0 is a number, or any between two. */
static void kinks_open_gradients(void **state) {
    const char *keys = "dims: {M: 3}\ninputs: {x: \"f32[M]\", w: \"f32[M]\"}\noutputs: {y: \"f32[M]\"}\n"
                       "ensures: {y: \"vjp(relu(x), x, w)\"}\n";
    static const char *const choices[] = {"", "kinks: torch\n", "kinks: any\n"};
    for (int k = 0; k < 3; k++) {
        const cupel_contract *c = make(*state, cupel_arena_printf(*state, "%s%s", keys, choices[k]));
        cupel_binding b = ordinary_of(c);
        cupel_error err = {0};
        cupel_graph *graph;
        assert_int_equal(cupel_binding_complete(&b, &err), CUPEL_OK);
        assert_int_equal(cupel_binding_graph(&b, *state, &graph, &err), CUPEL_OK);
        int open = 0;
        for (int i = 0; i < graph->node_count; i++) open += graph->nodes[i].op == CUPEL_OP_BETWEEN;
        assert_int_equal(open, k == 2);
    }
}

/* The oracle must see the number that the kernel sees. */
static void params_are_rounded_as_passed(void **state) {
    static const struct {
        const char *args, *keys;
        cupel_dtype type;
    } cases[] = {
        {"[x, y, e]", "", CUPEL_F32},
        {"[x, y]", "", CUPEL_F32},
        {"[x, y, {e: f64}]", "", CUPEL_F64},
        {"[x, y, {e: f16}]", "", CUPEL_F16},
        {"[x, y, {e: T}]", "", CUPEL_F16}, /* the binding's type */
        {"[x, y, { e : f32}, {e: f64}]", "", CUPEL_F32},
        {"[x, y, {e * 2: f16}]", "", CUPEL_F32},
        {"[x, y, e]", "accumulate: f64\n", CUPEL_F64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cupel_contract *c =
            make(*state,
                 cupel_arena_printf(*state,
                                    "dims: {M: 4}\ntypes: {T: [f32, f16]}\nparams: {e: 0.1, n: 16777217}\n%s"
                                    "inputs: {x: \"T[M]\"}\noutputs: {y: \"T[M]\"}\nensures: {y: x + e * n}\n"
                                    "kernel: {entry: k, args: %s, grid: [1], block: [1]}\n",
                                    cases[i].keys, cases[i].args));
        cupel_binding b = ordinary_of(c);
        b.types[0] = 1;
        assert_true(cupel_binding_param(&b, 0) == cupel_round(cases[i].type, 0.1));
        assert_true(cupel_binding_param(&b, 1) == 16777217); /* integers stay whole */
    }
}

static void rules(void **state) {
    static const struct {
        const char *outputs, *keys;
        cupel_rules base, other;
    } cases[] = {
        {"{y: \"T[M]\"}",
         "",
         {.working = CUPEL_F32, .fast_math = true},
         {.working = CUPEL_F64, .fast_math = true}},
        {"{y: \"T[M]\", z: \"f32[M]\"}",
         "",
         {.working = CUPEL_F32, .fast_math = true},
         {.working = CUPEL_F32, .fast_math = true}},
        {"{y: \"T[M]\"}",
         "accumulate: bf16\nmath: precise\nsubnormals: flush\nrange: safe\norder: sequential\n",
         {.working = CUPEL_BF16,
          .fast_math = false,
          .subnormals = CUPEL_SUBNORMALS_FLUSH,
          .sequential = true,
          .range_safe = true},
         {.working = CUPEL_BF16,
          .fast_math = false,
          .subnormals = CUPEL_SUBNORMALS_FLUSH,
          .sequential = true,
          .range_safe = true}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cupel_contract *c =
            make(*state, cupel_arena_printf(*state,
                                            "dims: {M: 4}\ntypes: {T: [f32, f64]}\n%sinputs: {x: "
                                            "\"T[M]\"}\noutputs: %s\nensures: {y: x%s}\n",
                                            cases[i].keys, cases[i].outputs,
                                            strstr(cases[i].outputs, "z") ? ", z: x" : ""));
        cupel_binding b = ordinary_of(c);
        for (int type = 0; type < 2; type++) {
            b.types[0] = type;
            cupel_rules got = cupel_binding_rules(&b), want = type ? cases[i].other : cases[i].base;
            assert_true(got.working == want.working && got.fast_math == want.fast_math &&
                        got.subnormals == want.subnormals && got.range_safe == want.range_safe &&
                        got.sequential == want.sequential);
        }
    }
}

static void entries(void **state) {
    const cupel_contract *c = make(
        *state, "dims: {M: 4, TILE: [32, 64]}\ntypes: {T: [f32, f16, bf16], I: [i32]}\nlet: {W: TILE / 32}\n"
                "inputs: {x: \"T[M]\"}\noutputs: {y: \"T[M]\"}\nensures: {y: x}\n"
                "kernel: [{entry: \"ns::k<$T, $TILE, ($W), $I>\", args: [y], grid: [1], block: [1]}, {entry: "
                "plain, args: [y], grid: [1], block: [1]}]\n");
    cupel_binding b = ordinary_of(c);
    cupel_error err = {0};
    char *text;
    assert_int_equal(cupel_binding_entry(&b, &c->launches[0], *state, &text, &err), CUPEL_OK);
    assert_string_equal(text, "ns::k<float, 64, (2), int>");
    b.types[0] = 1, b.dims[1] = 32;
    assert_int_equal(cupel_binding_complete(&b, &err), CUPEL_OK);
    assert_int_equal(cupel_binding_entry(&b, &c->launches[0], *state, &text, &err), CUPEL_OK);
    assert_string_equal(text, "ns::k<__half, 32, (1), int>");
    b.types[0] = 2;
    assert_int_equal(cupel_binding_entry(&b, &c->launches[0], *state, &text, &err), CUPEL_OK);
    assert_string_equal(text, "ns::k<__nv_bfloat16, 32, (1), int>");
    assert_int_equal(cupel_binding_entry(&b, &c->launches[1], *state, &text, &err), CUPEL_OK);
    assert_string_equal(text, "plain");
}

/* Names of every kind reach the graph; inputs keep their order, outputs theirs. */
static void graphs(void **state) {
    const cupel_contract *c = make(
        *state,
        "dims: {M: 4, N: 8}\nlet: {H: N / 2}\nparams: {e: 0.1, k: 2}\n"
        "inputs: {x: \"f32[M, N]\", b: \"f32[H]\"}\noutputs: {y: \"f32[M]\", x: \"f32[M, N]\"}\n"
        "define: {u: x * e}\nensures: {y: \"sum(u, axis=-1) + H + k + M\", x: \"where(x > 0, u, keep)\"}\n");
    cupel_binding b = ordinary_of(c);
    cupel_error err = {0};
    cupel_graph *graph;
    if (cupel_binding_graph(&b, *state, &graph, &err) != CUPEL_OK) fail_msg("%s", err.text);
    assert_int_equal(graph->input_count, 2);
    assert_int_equal(graph->output_count, 2);
    /* tensors come as inputs first, so the one updated in place precedes y */
    assert_string_equal(graph->outputs[0].name, "x");
    assert_string_equal(graph->outputs[1].name, "y");
    assert_true(graph->outputs[0].count == 32 && graph->outputs[1].count == 4);
    bool rounded = false;
    for (int i = 0; i < graph->node_count; i++)
        rounded =
            rounded || (graph->nodes[i].op == CUPEL_OP_CONSTANT && graph->nodes[i].number == (double)0.1f);
    assert_true(rounded);
}

/* A type variable in a cast is the binding's type. */
static void types_in_expressions(void **state) {
    const cupel_contract *c = make(
        *state, "dims: {M: 4}\ntypes: {T: [f32, bf16]}\ninputs: {x: \"f32[M]\"}\noutputs: {y: \"f32[M]\"}\n"
                "define: {u: \"cast(x * 2, T)\"}\nensures: {y: \"u + cast(x, type=T)[0:]\"}\n");
    cupel_binding b = ordinary_of(c);
    for (b.types[0] = 0; b.types[0] < 2; b.types[0]++) {
        cupel_error err = {0};
        cupel_graph *graph;
        if (cupel_binding_graph(&b, *state, &graph, &err) != CUPEL_OK) fail_msg("%s", err.text);
        int casts = 0;
        for (int i = 0; i < graph->node_count; i++)
            casts += graph->nodes[i].op == CUPEL_OP_CAST &&
                     graph->nodes[i].type == (b.types[0] ? CUPEL_BF16 : CUPEL_F32);
        assert_int_equal(casts, 2);
    }
}

/* An init that is no number has a graph of its own, of the buffer's shape. */
static void init_graphs(void **state) {
    const cupel_contract *c =
        make(*state, "dims: {M: 4, N: 8}\ninputs: {x: \"f32[M, N]\"}\n"
                     "outputs: {y: {type: f32, shape: [M], init: \"amax(x, axis=-1)\"}}\n"
                     "ensures: {y: \"sum(x, axis=-1)\"}\n");
    cupel_binding b = ordinary_of(c);
    cupel_error err = {0};
    cupel_graph *graph;
    if (cupel_binding_init_graph(&b, 1, *state, &graph, &err) != CUPEL_OK) fail_msg("%s", err.text);
    assert_true(graph->output_count == 1 && graph->outputs[0].count == 4);
    bool found = false;
    for (int i = 0; i < graph->node_count; i++) found = found || graph->nodes[i].op == CUPEL_OP_AMAX;
    assert_true(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lets_and_legality, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shapes_and_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scalars, set_up, tear_down),
        cmocka_unit_test_setup_teardown(products_loosen_operands, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kinks_open_gradients, set_up, tear_down),
        cmocka_unit_test_setup_teardown(params_are_rounded_as_passed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rules, set_up, tear_down),
        cmocka_unit_test_setup_teardown(entries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(graphs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(types_in_expressions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(init_graphs, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
