/* Graphs: shapes, errors with their places, sharing, attributes. */
#include "graph_fixture.h"

static void usual_inputs(fixture *f) {
    fixture_start(f);
    fixture_input(f, "x", CUPEL_F32, "3,4");
    fixture_input(f, "v", CUPEL_F32, "4");
    fixture_input(f, "i", CUPEL_I32, "3,4");
    fixture_input(f, "m", CUPEL_BOOL, "3,4");
    fixture_number(f, "N", false, 4);
    fixture_number(f, "scale", true, 0.5);
}

static int count_op(const cupel_graph *graph, cupel_op op) {
    int count = 0;
    for (int i = 0; i < graph->node_count; i++) count += graph->nodes[i].op == op;
    return count;
}

static const cupel_node *find_op(const cupel_graph *graph, cupel_op op) {
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].op == op) return &graph->nodes[i];
    fail_msg("no node %s", cupel_op_name(op));
    return NULL;
}

static void shapes_follow_pytorch(void **state) {
    (void)state;
    static const struct {
        const char *text, *shape;
    } rows[] = {
        {"x", "3,4"},
        {"x + v", "3,4"},
        {"sum(x)", ""},
        {"sum(x, axis=0)", "4"},
        {"sum(x, axis=-1, keepdim=true)", "3,1"},
        {"sum(x, 1, 1)", "3,1"},
        {"sum(x, axis=[0, 1], keepdim=True)", "1,1"},
        {"sum(x, dim=1)", "3"},
        {"transpose(x)", "4,3"},
        {"transpose(x, 0, 1)", "4,3"},
        {"permute(x, [1, 0])", "4,3"},
        {"reshape(x, [2, -1])", "2,6"},
        {"reshape(x, [N / 3, 12])", "1,12"},
        {"x[1]", "4"},
        {"x[:, 1:]", "3,3"},
        {"x[::2, -1]", "2"},
        {"x[-1, ::3]", "2"},
        {"x[5:, :]", "0,4"},
        {"unsqueeze(x, 0)", "1,3,4"},
        {"unsqueeze(v, -1)", "4,1"},
        {"squeeze(sum(x, axis=0, keepdim=true))", "4"},
        {"concat([x, x], axis=1)", "3,8"},
        {"stack([v, v, v])", "3,4"},
        {"stack([v, v], axis=-1)", "4,2"},
        {"slice(x, axis=1, start=1, stop=3)", "3,2"},
        {"flip(x, axis=[0, 1])", "3,4"},
        {"roll(x, 1, axis=1)", "3,4"},
        {"roll(x, 5)", "3,4"},
        {"pad(x, [1, 2])", "3,7"},
        {"pad(x, [0, 0, 1, 1], value=2.5)", "5,4"},
        {"pad(x, [-1, 0])", "3,3"},
        {"gather(x, 1, i)", "3,4"},
        {"index_select(x, 1, i[0, :2])", "3,2"},
        {"embedding(i, x)", "3,4,4"},
        {"one_hot(i, 7)", "3,4,7"},
        {"arange(N)", "4"},
        {"arange(10, 0, -3)", "4"},
        {"full([2, N], 1)", "2,4"},
        {"broadcast_to(v, [2, 3, 4])", "2,3,4"},
        {"broadcast_to(v, [2, -1])", "2,4"},
        {"matmul(x, transpose(x))", "3,3"},
        {"matmul(x, v)", "3"},
        {"matmul(v, v)", ""},
        {"matmul(v, transpose(x))", "3"},
        {"matmul(full([2, 1, 3, 4], 1.0), full([5, 4, 2], 1.0))", "2,5,3,2"},
        {"linear(x, full([7, 4], 1.0), full([7], 1.0))", "3,7"},
        {"outer(v, v)", "4,4"},
        {"softmax(x, axis=-1)", "3,4"},
        {"logsumexp(x, axis=0)", "4"},
        {"logsumexp(x, axis=[0, 1])", ""},
        {"layer_norm(x, v, v)", "3,4"},
        {"argmax(x)", ""},
        {"argmax(x, axis=1, keepdim=true)", "3,1"},
        {"cumsum(x, axis=0)", "3,4"},
        {"tril(x)", "3,4"},
        {"where(N > 3, x, 0)", "3,4"},
        {"where(m, x, keep)", "3,4"},
        {"keep", "3,4"},
        {"sum(x)", "1"},
        {"x[0, 0]", "1,1"},
        {"sum(x[5:, :], axis=1)", "0"},
        {"softmax(x[:, 4:], axis=1)", "3,0"},
        {"mse_loss(x, x)", ""},
        {"mse_loss(x, x, reduction=\"none\")", "3,4"},
        {"x[ceil_div(N, 3), min(2, N)]", ""},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        fixture f;
        usual_inputs(&f);
        fixture_build(&f, rows[r].text, CUPEL_F32, rows[r].shape);
        fixture_end(&f);
    }
}

static void errors_name_place_and_expectation(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int column;
        cupel_code code;
        const char *part;
    } rows[] = {
        {"x + w", 5, CUPEL_CONTRACT, "unknown name 'w'"},
        {"scal * x", 1, CUPEL_CONTRACT, "did you mean 'scale'?"},
        {"x + sofmax(x, axis=1)", 5, CUPEL_CONTRACT, "did you mean 'softmax'?"},
        {"frobnicate(x)", 1, CUPEL_CONTRACT, "unknown function 'frobnicate'"},
        {"vjp(x * x, x * 2, x)", 12, CUPEL_CONTRACT, "an input of a real type to differentiate by"},
        {"vjp(x * x, i, x)", 12, CUPEL_CONTRACT, "found one of integers"},
        {"vjp(sum(x, axis=0), x, x)", 24, CUPEL_CONTRACT, "a cotangent of the shape [4] of the expression"},
        {"1 + conv2d(x, x)", 12, CUPEL_CONTRACT,
         "expected x of shape [N, C, H, W] or [C, H, W] in conv2d, found [3, 4]"},
        {"softmax(x)", 1, CUPEL_CONTRACT, "expected the argument 'axis' of softmax(x, axis)"},
        {"softmax(x, 1, 2)", 15, CUPEL_CONTRACT, "at most 2 arguments"},
        {"softmax(x, axes=1)", 17, CUPEL_CONTRACT, "did you mean 'axis'?"},
        {"softmax(x, 1, axis=1)", 20, CUPEL_CONTRACT, "once"},
        {"softmax(x, axis=2)", 17, CUPEL_CONTRACT, "expected an axis in -2..1, found 2"},
        {"sum(x, axis=[0, 0])", 17, CUPEL_CONTRACT, "expected each axis once"},
        {"x + full([3], 1.0)", 1, CUPEL_CONTRACT, "found [3, 4] and [3]"},
        {"matmul(x, x)", 1, CUPEL_CONTRACT, "inner extents agree, found [3, 4] and [3, 4]"},
        {"x[3]", 3, CUPEL_RANGE, "expected a subscript in -3..2, found 3"},
        {"x[0, 0, 0]", 1, CUPEL_CONTRACT, "at most 2 subscripts"},
        {"x[i]", 3, CUPEL_UNSUPPORTED, "index_select"},
        {"x[::-1]", 5, CUPEL_CONTRACT, "use flip"},
        {"sum(x, axis=0)", 1, CUPEL_CONTRACT, "expected the shape [3, 4] of the output 'y', found [4]"},
        {"reshape(x, [5, -1])", 12, CUPEL_CONTRACT, "12 elements"},
        {"permute(x, [0, 0])", 12, CUPEL_CONTRACT, "every axis"},
        {"cast(x, f17)", 9, CUPEL_CONTRACT, "element type"},
        {"amax(x[3:, :], axis=0)", 1, CUPEL_RANGE, "at least one element"},
        {"gelu(x, \"erf\")", 9, CUPEL_CONTRACT, "expected \"none\" or \"tanh\""},
        {"x & 1", 1, CUPEL_CONTRACT, "expected integers beside '&'"},
        {"keep + 1", 1, CUPEL_CONTRACT, "keep"},
        {"loop", 5, CUPEL_CONTRACT, "defined by itself"},
        {"y", 1, CUPEL_CONTRACT, "found the output 'y'"},
        {"[x, x]", 1, CUPEL_CONTRACT, "found a list"},
        {"\"text\"", 1, CUPEL_CONTRACT, "found a string"},
        {"N[0]", 1, CUPEL_CONTRACT, "expected a tensor before '['"},
        {"x ** i ** -1", 11, CUPEL_CONTRACT, "at least 0"},
        {"full([N / 0], 1)", 7, CUPEL_CONTRACT, "expected an integer"},
        {"full([9223372036854775807 * 2], 1)", 7, CUPEL_RANGE, "64 bits"},
        {"full([1048576, 1048576, 4], 1)", 1, CUPEL_RANGE, "2^40"},
        {"layer_norm(scale)", 1, CUPEL_CONTRACT, "at least one axis"},
        {"l2_normalize(x, axis=0)", 22, CUPEL_CONTRACT, "axis=-1"},
        {"concat(x)", 8, CUPEL_CONTRACT, "list of tensors"},
        {"concat([x, v])", 12, CUPEL_CONTRACT, "found [4]"},
        {"argmax(x, axis=[0, 1])", 16, CUPEL_CONTRACT, "one axis"},
        {"clamp(x)", 1, CUPEL_CONTRACT, "min and max"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        fixture f;
        usual_inputs(&f);
        fixture_define(&f, "loop", "x + loop");
        cupel_code code = fixture_try(&f, rows[r].text, CUPEL_F32, "3,4");
        if (code != rows[r].code || f.err.column != rows[r].column || !strstr(f.err.text, rows[r].part))
            fail_msg("%s: code %d, column %d: %s", rows[r].text, code, f.err.column, code ? f.err.text : "");
        fixture_end(&f);
    }
}

static void equal_subexpressions_are_built_once(void **state) {
    (void)state;
    fixture f;
    usual_inputs(&f);
    fixture_define(&f, "e", "exp(x)");
    fixture_build(&f, "e * exp(x) + e", CUPEL_F32, "3,4");
    assert_int_equal(count_op(f.graph, CUPEL_OP_EXP), 1);
    assert_int_equal(count_op(f.graph, CUPEL_OP_INPUT), 1);
    fixture_build(&f, "x ** 2 + x * x", CUPEL_F32, "3,4");
    assert_int_equal(count_op(f.graph, CUPEL_OP_MUL), 1);
    fixture_build(&f, "layer_norm(x)", CUPEL_F32, "3,4");
    assert_int_equal(count_op(f.graph, CUPEL_OP_SUM), 2);
    assert_int_equal(count_op(f.graph, CUPEL_OP_SUB), 1);
    fixture_end(&f);
}

static void moves_fold_into_one_view(void **state) {
    (void)state;
    fixture f;
    usual_inputs(&f);
    fixture_build(&f, "transpose(transpose(x))", CUPEL_F32, "3,4");
    assert_int_equal(f.graph->node_count, 1);
    fixture_build(&f, "flip(flip(x, 0), 0)", CUPEL_F32, "3,4");
    assert_int_equal(f.graph->nodes[f.graph->outputs[0].node].op, CUPEL_OP_INPUT);
    fixture_build(&f, "transpose(x)[1:, ::2]", CUPEL_F32, "3,2");
    const cupel_node *view = &f.graph->nodes[f.graph->outputs[0].node];
    assert_int_equal(view->op, CUPEL_OP_VIEW);
    assert_int_equal(f.graph->nodes[view->args[0]].op, CUPEL_OP_INPUT);
    assert_int_equal(view->offset, 1);
    assert_int_equal(view->stride[0], 1);
    assert_int_equal(view->stride[1], 8);
    fixture_end(&f);
}

static void kinds_are_promoted(void **state) {
    (void)state;
    static const struct {
        const char *text;
        cupel_value_kind kind;
    } rows[] = {
        {"x + i", CUPEL_VALUE_REAL},
        {"i + 1", CUPEL_VALUE_INT},
        {"i + 1.5", CUPEL_VALUE_REAL},
        {"i / 2", CUPEL_VALUE_REAL},
        {"m * 2", CUPEL_VALUE_INT},
        {"m & m", CUPEL_VALUE_BOOL},
        {"i < x", CUPEL_VALUE_BOOL},
        {"not i", CUPEL_VALUE_BOOL},
        {"relu(i)", CUPEL_VALUE_INT},
        {"exp(i)", CUPEL_VALUE_REAL},
        {"where(m, i, x)", CUPEL_VALUE_REAL},
        {"cast(x, i32)", CUPEL_VALUE_INT},
        {"cast(i, f16)", CUPEL_VALUE_REAL},
        {"floor(i)", CUPEL_VALUE_INT},
        {"i ** 2", CUPEL_VALUE_INT},
        {"isnan(i) or m", CUPEL_VALUE_BOOL},
        {"where(m, keep, i)", CUPEL_VALUE_INT},
        {"broadcast_to(sum(m), [3, 4])", CUPEL_VALUE_INT},
        {"broadcast_to(any(x), [3, 4])", CUPEL_VALUE_BOOL},
        {"broadcast_to(mean(i), [3, 4])", CUPEL_VALUE_REAL},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        fixture f;
        usual_inputs(&f);
        fixture_build(&f, rows[r].text, CUPEL_F32, "3,4");
        assert_int_equal(f.graph->nodes[f.graph->outputs[0].node].kind, rows[r].kind);
        fixture_end(&f);
    }
}

static void literals_keep_their_digits_only_where_needed(void **state) {
    (void)state;
    fixture f;
    usual_inputs(&f);
    fixture_build(&f, "x * 0.1", CUPEL_F32, "3,4");
    assert_string_equal(find_op(f.graph, CUPEL_OP_CONSTANT)->digits, "0.1");
    fixture_build(&f, "x * -0.1", CUPEL_F32, "3,4");
    assert_string_equal(find_op(f.graph, CUPEL_OP_CONSTANT)->digits, "-0.1");
    fixture_build(&f, "x * 0.375", CUPEL_F32, "3,4");
    assert_null(find_op(f.graph, CUPEL_OP_CONSTANT)->digits);
    fixture_build(&f, "x * scale", CUPEL_F32, "3,4");
    assert_true(find_op(f.graph, CUPEL_OP_CONSTANT)->number == 0.5);
    fixture_end(&f);
}

static void attributes(void **state) {
    (void)state;
    fixture f;
    usual_inputs(&f);
    fixture_build(&f, "softmax(x, axis=-1)", CUPEL_F32, "3,4");
    assert_true(find_op(f.graph, CUPEL_OP_SUM)->rescalable);
    assert_false(find_op(f.graph, CUPEL_OP_SUM)->in_statistic);
    fixture_build(&f, "logsumexp(x, axis=0)", CUPEL_F32, "4");
    assert_true(find_op(f.graph, CUPEL_OP_SUM)->rescalable);
    fixture_build(&f, "matmul(softmax(x * scale, axis=-1), transpose(x))", CUPEL_F32, "3,3");
    assert_true(find_op(f.graph, CUPEL_OP_MATMUL)->rescalable);
    fixture_build(&f, "sum(exp(x - 1))", CUPEL_F32, "");
    assert_false(find_op(f.graph, CUPEL_OP_SUM)->rescalable);
    fixture_build(&f, "var(x)", CUPEL_F32, "");
    assert_true(find_op(f.graph, CUPEL_OP_SUM)->in_statistic);
    assert_true(find_op(f.graph, CUPEL_OP_INPUT)->from_input);
    assert_false(find_op(f.graph, CUPEL_OP_SUB)->from_input);
    fixture_build(&f, "sum(sum(x * x, axis=1), axis=0)", CUPEL_F32, "");
    assert_true(find_op(f.graph, CUPEL_OP_MUL)->terms == 12.0);
    assert_true(find_op(f.graph, CUPEL_OP_INPUT)->terms == 12.0);
    assert_true(f.graph->nodes[f.graph->outputs[0].node].terms == 4.0);
    fixture_build(&f, "sum(exp(concat([x, x])), axis=0)", CUPEL_F32, "4");
    assert_true(find_op(f.graph, CUPEL_OP_EXP)->terms == 6.0);
    assert_true(find_op(f.graph, CUPEL_OP_CONCAT)->terms == 4.0);
    fixture_build(&f, "transpose(x)[1:]", CUPEL_F32, "3,3");
    assert_true(find_op(f.graph, CUPEL_OP_VIEW)->from_input);
    fixture_end(&f);
}

static void every_function_is_known_and_described(void **state) {
    (void)state;
    size_t count;
    const cupel_function_info *functions = cupel_functions(&count);
    assert_true(count >= 140);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(functions[i].name);
        assert_memory_equal(functions[i].signature, functions[i].name, length);
        assert_int_equal(functions[i].signature[length], '(');
        for (size_t k = 0; k < i; k++) assert_string_not_equal(functions[i].name, functions[k].name);
        if (functions[i].supported) continue;
        fixture f;
        usual_inputs(&f);
        char text[64];
        snprintf(text, sizeof text, "%s(x)", functions[i].name);
        assert_int_equal(fixture_try(&f, text, CUPEL_F32, "3,4"), CUPEL_UNSUPPORTED);
        assert_non_null(strstr(f.err.text, functions[i].name));
        fixture_end(&f);
    }
}

/* Whatever the limit, the builder ends with a graph or with the error that says so. */
static void shortage_of_memory_is_reported(void **state) {
    (void)state;
    static const char *const texts[] = {
        "layer_norm(x, v) * -0.1 + where(m, 9007199254740993, i)[1:, ::2][0, 0]",
        "concat([x, stack([v, v, v]), pad(x, [0, 0, 1, 1])]) + q",
        "softmax(matmul(x, transpose(x)), axis=1) + nope",
    };
    fixture f;
    usual_inputs(&f);
    fixture_define(&f, "q", "cumsum(x, axis=1) ** -0.3");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        f.output =
            (cupel_symbol_output){.name = "y", .type = CUPEL_F32, .ensures = fixture_parse(&f, texts[i])};
        int failures = 0, endings = 0;
        for (size_t limit = 64; limit < 1 << 18; limit += limit < 4096 ? 64 : 1536) {
            cupel_arena *arena = cupel_arena_create(limit);
            cupel_graph *graph;
            cupel_error err;
            const cupel_code code = cupel_graph_build(&f.symbols, arena, &graph, &err);
            failures += code == CUPEL_MEMORY;
            endings += code == CUPEL_CONTRACT; /* the output's shape, or the unknown name */
            assert_true(code == CUPEL_MEMORY || code == CUPEL_CONTRACT);
            cupel_arena_free(arena);
        }
        assert_true(failures > 10 && endings > 10);
    }
    fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_follow_pytorch),
        cmocka_unit_test(errors_name_place_and_expectation),
        cmocka_unit_test(equal_subexpressions_are_built_once),
        cmocka_unit_test(moves_fold_into_one_view),
        cmocka_unit_test(kinds_are_promoted),
        cmocka_unit_test(literals_keep_their_digits_only_where_needed),
        cmocka_unit_test(attributes),
        cmocka_unit_test(every_function_is_known_and_described),
        cmocka_unit_test(shortage_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
