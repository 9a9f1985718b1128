/* Hostile recipes: arbitrary text as the people's form (after a letter A, B or C, which chooses the
 * contract), arbitrary bytes as the engines' form (after any other byte). Whatever comes in, what comes out
 * of repair is legal, materialises, and survives both written forms. */
#include <stdlib.h>
#include <string.h>

#include "materialise.h"
#include "mutate.h"

enum { CONTRACTS = 3, MOST_ELEMENTS = 600 };

static const char *const texts[CONTRACTS] = {
    "cupel: 1\nsource: {file: k.cu}\nid: strided\ndims: {A: 0..40, B: 1..40}\ntypes: {T: [f32, f64, f16, "
    "bf16]}\nlayouts: any\n"
    "params: {s: {range: [0.5, 2]}}\ninputs: {x: 'T[A, B]', y: 'T[A, B]'}\noutputs: {z: 'T[A, B]'}\n"
    "ensures: {z: 'x + y * s'}\nmay_alias: [[x, z], [y, z]]\n"
    "kernel: {entry: k<$T>, args: [x, y, z, A, B, s], grid: ['ceil_div(A * B, 96)'], block: [96], skip_if: "
    "'A == 0'}\n",
    "cupel: 1\nsource: {file: k.cu}\nid: bounded\ndims: {N: 1..300, V: 1..500}\n"
    "inputs:\n  x: {type: f32, shape: [N], range: [-10.1, 10], align: element}\n"
    "  f: {type: f16, shape: [2, N], finite: true, sorted: true}\n  i: {type: i32, shape: [N], below: V, "
    "sorted: true}\n"
    "outputs: {y: 'f32[N]'}\nensures: {y: x}\nkernel: {entry: k, args: [x, f, i, y, N], grid: [1], block: "
    "[32]}\n",
    "cupel: 1\nsource: {file: k.cu}\nid: conditions\ndims: {H: [64, 128, 96], N: 1..500, K: 1..70, G: 1..8}\n"
    "let: {P: 'N / 4', Q: 'K / G'}\nrequires: ['N % 4 == 0', 'K % G == 0', 'Q >= 2']\n"
    "inputs: {a: 'f32[P, 4]', b: 'i32[G, Q]'}\noutputs: {y: 'f32[P, 4]'}\nensures: {y: a}\n"
    "kernel: {entry: k, args: [a, b, y, N, K, G, H], grid: [P], block: [32]}\n",
};

#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) abort();                                                                           \
    } while (0)

static const cupel_contract *contract_of(int which) {
    static const cupel_contract *parsed[CONTRACTS];
    static cupel_arena *arena;
    if (arena == NULL) arena = cupel_arena_create(0);
    if (parsed[which] == NULL) {
        cupel_contracts contracts;
        REQUIRE(cupel_contracts_parse("k.yaml", texts[which], strlen(texts[which]), true, arena, &contracts,
                                      NULL) == CUPEL_OK);
        parsed[which] = contracts.items[0];
    }
    return parsed[which];
}

static void check_forms(const cupel_contract *contract, const cupel_recipe *recipe, cupel_arena *arena) {
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    cupel_recipe back;
    char *text;
    size_t size = cupel_recipe_encode(contract, recipe, bytes, sizeof bytes);
    REQUIRE(size > 0 && cupel_recipe_decode(contract, bytes, size, &back));
    REQUIRE(memcmp(&back, recipe, sizeof back) == 0);
    REQUIRE(cupel_recipe_write(contract, recipe, arena, &text, NULL) == CUPEL_OK);
    REQUIRE(cupel_recipe_read(contract, "case.yaml", text, strlen(text), &back, NULL) == CUPEL_OK);
    REQUIRE(memcmp(&back, recipe, sizeof back) == 0);
}

static void check_case(const cupel_contract *contract, const cupel_recipe *recipe, cupel_arena *arena) {
    cupel_case *c;
    REQUIRE(cupel_case_materialise(contract, recipe, arena, &c, NULL) == CUPEL_OK);
    for (int b = 0; b < c->buffer_count; b++) {
        unsigned char *image = malloc(c->buffers[b].size + 1);
        REQUIRE(image != NULL);
        cupel_case_image(c, b, CUPEL_POISON_NAN, image);
        for (int t = 0; t < c->tensor_count; t++) {
            if (c->tensors[t].buffer != b) continue;
            unsigned char *elements = malloc((size_t)c->tensors[t].count * 8 + 1);
            REQUIRE(elements != NULL);
            cupel_case_gather(c, t, image, elements);
            free(elements);
        }
        cupel_case_mark(c, b, CUPEL_ROLE_OUTPUT | CUPEL_ROLE_INPUT, image);
        free(image);
    }
}

static void check_recipe(const cupel_contract *contract, cupel_recipe *recipe, cupel_arena *arena) {
    char line[200];
    check_forms(contract, recipe, arena);
    REQUIRE(cupel_recipe_repair(contract, recipe, MOST_ELEMENTS, NULL) == CUPEL_OK);
    cupel_recipe again = *recipe;
    REQUIRE(cupel_recipe_repair(contract, &again, MOST_ELEMENTS, NULL) == CUPEL_OK);
    REQUIRE(memcmp(&again, recipe, sizeof again) == 0);
    check_forms(contract, recipe, arena);
    check_case(contract, recipe, arena);
    cupel_recipe_describe(contract, recipe, line, sizeof line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    bool text = data[0] >= 'A' && data[0] < 'A' + CONTRACTS;
    const cupel_contract *contract = contract_of(text ? data[0] - 'A' : data[0] % CONTRACTS);
    cupel_arena *arena = cupel_arena_create(0);
    REQUIRE(arena != NULL);
    cupel_recipe recipe;
    if (text) {
        cupel_error err = {0};
        if (cupel_recipe_read(contract, "case.yaml", (const char *)data + 1, size - 1, &recipe, &err) ==
            CUPEL_OK)
            check_recipe(contract, &recipe, arena);
        else
            REQUIRE(err.text[0] != 0);
    } else {
        uint8_t bytes[4096] = {'c', 'r', CUPEL_RECIPE_VERSION, 0};
        size_t body = size - 1 < sizeof bytes - 4 ? size - 1 : sizeof bytes - 4;
        memcpy(bytes + 4, data + 1, body);
        REQUIRE(cupel_recipe_decode(contract, bytes, body + 4, &recipe));
        check_recipe(contract, &recipe, arena);
    }
    cupel_arena_free(arena);
    return 0;
}
