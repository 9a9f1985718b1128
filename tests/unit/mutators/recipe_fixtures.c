#include "recipe_fixtures.h"

#include <string.h>

static const char *const texts[FIXTURE_COUNT] = {
    [FIXTURE_SOFTMAX] = "cupel: 1\n"
                        "source: {file: k.cu}\n"
                        "id: row-softmax\n"
                        "dims: {M: 1..512, N: 1..8192}\n"
                        "types: {T: [f32, f16, bf16]}\n"
                        "inputs: {x: 'T[M, N]'}\n"
                        "outputs: {y: 'T[M, N]'}\n"
                        "ensures: {y: 'softmax(x, axis=-1)'}\n"
                        "may_alias: [[x, y]]\n"
                        "kernel: {entry: softmax<$T>, args: [x, y, M, N], grid: [M], block: [200]}\n",
    [FIXTURE_STRIDED] = "cupel: 1\n"
                        "source: {file: k.cu}\n"
                        "id: strided-add\n"
                        "dims: {A: 0..40, B: 1..40, C: 1..40}\n"
                        "types: {T: [f32, f64, f16, bf16]}\n"
                        "layouts: any\n"
                        "inputs: {x: 'T[A, B, C]', y: 'T[A, B, C]', k: 'i32[C]'}\n"
                        "outputs: {z: 'T[A, B, C]'}\n"
                        "ensures: {z: 'x + y'}\n"
                        "may_alias: [[x, z], [y, z]]\n"
                        "kernel:\n"
                        "  entry: add<$T>\n"
                        "  args: [x, y, k, z, A, B, C, 'stride(x, 0)', 'stride(x, 1)', 'stride(x, 2)']\n"
                        "  grid: ['ceil_div(A * B * C, 100)']\n"
                        "  block: [100]\n"
                        "  skip_if: 'A == 0'\n",
    [FIXTURE_BOUNDED] = "cupel: 1\n"
                        "source: {file: k.cu}\n"
                        "id: bounded\n"
                        "dims: {N: 1..3000, V: 1..500}\n"
                        "params: {eps: 1e-5, scale: {range: [0.01, 10]}, causal: {one_of: [0, 1]}}\n"
                        "inputs:\n"
                        "  x: {type: f32, shape: [N], range: [-10.1, 10], align: element}\n"
                        "  p: {type: f16, shape: [N], range: [0.25, 0.75]}\n"
                        "  f: {type: f32, shape: [4, N], finite: true, sorted: true}\n"
                        "  s: {type: f32, shape: [N], sorted: true}\n"
                        "  idx: {type: i32, shape: [N], below: V}\n"
                        "  seg: {type: i32, shape: [N], below: V, sorted: true}\n"
                        "  r: {type: i32, shape: [N], range: [-3.5, 7.2], align: 16}\n"
                        "outputs: {y: 'f32[N]'}\n"
                        "ensures: {y: 'x * scale'}\n"
                        "kernel: {entry: k, args: [x, p, f, s, idx, seg, r, y, N, scale, causal, eps], grid: "
                        "[1], block: [32]}\n",
    [FIXTURE_CONDITIONS] =
        "cupel: 1\n"
        "source: {file: k.cu}\n"
        "id: conditions\n"
        "dims: {H: [64, 128, 96], N: 1..5000, K: 1..700, G: 1..8, L: 1..900, S: 1..900}\n"
        "let: {P: 'N / 4', Q: 'K / G'}\n"
        "requires: ['N % 4 == 0', 'K % G == 0', 'L <= S', 'Q >= 2', 'N >= H']\n"
        "inputs: {a: 'f32[P, 4]', b: 'f32[G, Q]', c: 'f32[L, S]'}\n"
        "outputs: {y: 'f32[P, 4]'}\n"
        "ensures: {y: 'a'}\n"
        "kernel: {entry: k, args: [a, b, c, y, N, K, G, L, S, H], grid: [P], block: [32]}\n",
    [FIXTURE_INIT] = "cupel: 1\n"
                     "source: {file: k.cu}\n"
                     "id: with-init\n"
                     "dims: {M: 1..64, N: 1..64}\n"
                     "inputs: {x: 'f32[M, N]', acc: 'f32[M]'}\n"
                     "outputs:\n"
                     "  acc: {type: f32, shape: [M]}\n"
                     "  y: {type: f32, shape: [M, N], init: -1.5}\n"
                     "  t: {type: f32, shape: [M, N], init: 'x + 1'}\n"
                     "scratch: {w: {type: i32, shape: [N], init: 0}, v: 'f32[M, 3]'}\n"
                     "ensures: {acc: 'acc + sum(x, axis=-1)', y: 'x', t: 'x'}\n"
                     "kernel: {entry: k, args: [x, acc, y, t, w, v, M, N], grid: [M], block: [32]}\n",
};

const cupel_contract *parsed(const char *text, cupel_arena *arena) {
    cupel_contracts contracts;
    cupel_error err = {0};
    cupel_code code =
        cupel_contracts_parse("fixture.yaml", text, strlen(text), true, arena, &contracts, &err);
    if (code != CUPEL_OK) fail_msg("line %d column %d: %s\n%s", err.line, err.column, err.text, text);
    assert_int_equal(contracts.count, 1);
    return contracts.items[0];
}

const cupel_contract *fixture(enum fixture which) {
    static const cupel_contract *all[FIXTURE_COUNT];
    static cupel_arena *arena;
    if (arena == NULL) arena = cupel_arena_create(0);
    if (all[which] == NULL) all[which] = parsed(texts[which], arena);
    return all[which];
}

#define ONE_OF(random, list) list[cupel_random_below(random, sizeof(list) / sizeof *(list))]

static char *random_dims(cupel_random *random, cupel_arena *arena, int count) {
    static const char *const ranges[] = {"1..9", "0..5", "1..3000", "[3, 8, 64]", "7", "2..70000", "1..128"};
    static const char *const conditions[] = {"D0 % 2 == 1", "D0 <= 200", "D0 * 3 != 9", "(D0 + 1) / 2 >= 2"};
    char *text = cupel_arena_printf(arena, "dims: {");
    for (int i = 0; i < count; i++) {
        const char *range = i == 0 ? "1..300" : ONE_OF(random, ranges);
        text = cupel_arena_printf(arena, "%s%sD%d: %s", text, i ? ", " : "", i, range);
    }
    text = cupel_arena_printf(arena, "%s, V: 1..%d}\n", text, 1 + (int)cupel_random_below(random, 400));
    if (cupel_chance(random, 2))
        text = cupel_arena_printf(arena, "%srequires: ['%s']\n", text, ONE_OF(random, conditions));
    return text;
}

static char *random_tensor(cupel_random *random, cupel_arena *arena, int index, int dims) {
    static const char *const types[] = {"T", "f32", "i32", "f16", "T", "bf16", "tf32", "e4m3", "e5m2", "f64"};
    static const char *const layouts[] = {
        "contiguous", "any", "[padded]", "[transposed, reversed]", "[sliced]", "[expanded, padded]"};
    static const char *const aligns[] = {"16", "element", "256", "8", "512"};
    static const char *const reals[] = {
        ", range: [-3, 2.5]", ", finite: true", ", sorted: true", ", range: [0.1, 0.1001]", "", ""};
    static const char *const integers[] = {", below: V", ", range: [-7, 9]", ", below: V, sorted: true", "",
                                           ""};
    const char *type = ONE_OF(random, types);
    const char *condition = strcmp(type, "i32") == 0 ? ONE_OF(random, integers) : ONE_OF(random, reals);
    char *shape = cupel_arena_printf(arena, "[");
    int rank = (int)cupel_random_below(random, 4);
    for (int axis = 0; axis < rank; axis++)
        shape = cupel_arena_printf(arena, "%s%sD%d", shape, axis ? ", " : "",
                                   (int)cupel_random_below(random, (uint64_t)dims));
    char *text = cupel_arena_printf(arena, "  x%d: {type: %s, shape: %s]%s", index, type, shape, condition);
    if (cupel_chance(random, 2))
        text = cupel_arena_printf(arena, "%s, layout: %s", text, ONE_OF(random, layouts));
    if (cupel_chance(random, 2))
        text = cupel_arena_printf(arena, "%s, align: %s", text, ONE_OF(random, aligns));
    return cupel_arena_printf(arena, "%s}\n", text);
}

char *random_contract_text(cupel_random *random, cupel_arena *arena) {
    static const char *const aligns[] = {"256", "16", "element", "512"};
    static const char *const layouts[] = {"contiguous", "any", "[padded, expanded]"};
    int dims = 1 + (int)cupel_random_below(random, 4), tensors = 1 + (int)cupel_random_below(random, 4);
    char *text =
        cupel_arena_printf(arena,
                           "cupel: 1\nid: random\nsource: {file: k.cu}\ntypes: {T: [f32, f16, bf16, f64]}\n"
                           "layouts: %s\n",
                           ONE_OF(random, layouts));
    text = cupel_arena_printf(arena, "%s%sinputs:\n  a: {type: T, shape: [D0, D0], align: %s}\n", text,
                              random_dims(random, arena, dims), ONE_OF(random, aligns));
    char *args = cupel_arena_printf(arena, "a, y, D0");
    for (int i = 0; i < tensors; i++) {
        text = cupel_arena_printf(arena, "%s%s", text, random_tensor(random, arena, i, dims));
        args = cupel_arena_printf(arena, "%s, x%d", args, i);
    }
    return cupel_arena_printf(
        arena,
        "%soutputs: {y: {type: T, shape: [D0, D0], align: %s}}\nensures: {y: a}\nmay_alias: [[a, y]]\n"
        "kernel: {entry: k<$T>, args: [%s], grid: [D0], block: [%d]}\n",
        text, ONE_OF(random, aligns), args, 1 + (int)cupel_random_below(random, 256));
}

cupel_recipe drawn(const cupel_contract *contract, uint64_t n) {
    cupel_recipe recipe;
    cupel_error err = {0};
    if (cupel_recipe_draw(contract, NULL, 2024, n, &recipe, &err) != CUPEL_OK) fail_msg("draw: %s", err.text);
    return recipe;
}

cupel_case *materialised(const cupel_contract *contract, const cupel_recipe *recipe, cupel_arena *arena) {
    cupel_arena_reset(arena);
    cupel_case *c = NULL;
    cupel_error err = {0};
    if (cupel_case_materialise(contract, recipe, arena, &c, &err) != CUPEL_OK)
        fail_msg("materialise: %s", err.text);
    return c;
}

cupel_recipe simple(const cupel_contract *contract) {
    cupel_recipe recipe;
    cupel_error err = {0};
    if (cupel_recipe_simple(contract, &recipe, &err) != CUPEL_OK) fail_msg("simple: %s", err.text);
    return recipe;
}

void set_dim(const cupel_contract *contract, cupel_recipe *recipe, const char *name, int64_t value) {
    int d = cupel_contract_dim(contract, name);
    assert_true(d >= 0);
    recipe->dims[d] = value;
}

double value_at(const cupel_case *c, int tensor, int64_t i) {
    const cupel_case_tensor *t = &c->tensors[tensor];
    assert_true(i >= 0 && i < t->count);
    return cupel_decode(t->type,
                        (const unsigned char *)t->values + (size_t)i * cupel_format_of(t->type)->size);
}
