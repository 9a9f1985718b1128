/* Every element type under every pattern: what is materialised is legal, sorted where that is asked, and
 * reaches the values that only this type has. */
#include <math.h>
#include <string.h>

#include "recipe_fixtures.h"

static cupel_arena *arena;
static int open_arena(void **state) {
    (void)state;
    arena = cupel_arena_create(0);
    return arena == NULL;
}
static int close_arena(void **state) {
    (void)state;
    cupel_arena_free(arena);
    return 0;
}

static const cupel_contract *contract_of(cupel_dtype type, cupel_arena *own) {
    const char *name = cupel_format_of(type)->name;
    const cupel_dtype_kind kind = cupel_format_of(type)->kind;
    const bool whole = kind == CUPEL_KIND_SIGNED || kind == CUPEL_KIND_UNSIGNED;
    char *text = cupel_arena_printf(
        own,
        "cupel: 1\nsource: {file: k.cu}\nid: types\ndims: {N: 64}\n"
        "inputs: {x: '%s[N]', s: {type: %s, shape: [N], sorted: true}, v: {type: %s, shape: [N]%s},"
        " r: {type: %s, shape: [N], range: [0, 1]}}\n"
        "outputs: {y: '%s[N]'}\nensures: {y: 'x'}\n"
        "kernel: {entry: k, args: [x, s, v, r, y], grid: [1], block: [64]}\n",
        name, name, name, whole ? ", below: 5" : "", name, name);
    return parsed(text, own);
}

static uint64_t bits_of(const cupel_case_tensor *tensor, int64_t i) {
    const size_t size = cupel_format_of(tensor->type)->size;
    uint64_t bits = 0;
    memcpy(&bits, (const unsigned char *)tensor->values + (size_t)i * size, size);
    return bits;
}

static double number_of(cupel_dtype type, uint64_t bits) {
    return cupel_decode(type, &bits);
}

/* What some pattern or special value must reach in x. */
typedef struct reached {
    bool nan, infinity, subnormal, largest, negative, odd_beyond_doubles;
} reached;

static void look(cupel_dtype type, uint64_t bits, reached *r) {
    const cupel_format *f = cupel_format_of(type);
    const double x = number_of(type, bits);
    r->nan |= isnan(x);
    r->infinity |= isinf(x) != 0;
    r->subnormal |= f->kind == CUPEL_KIND_REAL && x != 0 && fabs(x) < cupel_format_normal(type);
    r->largest |= x > cupel_format_largest(type) * 0.9;
    r->negative |= x < 0;
    r->odd_beyond_doubles |= cupel_dtype_is_wide(type) && fabs(x) > 0x1p53 && (bits & 1);
}

static void check_case(const cupel_contract *contract, const cupel_recipe *recipe, reached *r) {
    const cupel_case *c = materialised(contract, recipe, arena);
    for (int t = 0; t < 4; t++) {
        const cupel_case_tensor *tensor = &c->tensors[t];
        cupel_tensor_facts facts;
        assert_int_equal(cupel_facts_of(&c->binding, t, &facts, NULL), CUPEL_OK);
        for (int64_t i = 0; i < tensor->count; i++) {
            const uint64_t bits = bits_of(tensor, i);
            if (!cupel_facts_permit(&facts, bits))
                fail_msg("%s %s[%d]: %llx", cupel_format_of(tensor->type)->name, facts.decl->name, (int)i,
                         (unsigned long long)bits);
            if (t == 0) look(tensor->type, bits, r);
            if (t != 1 || i == 0) continue;
            const uint64_t before = bits_of(tensor, i - 1);
            const bool ordered = tensor->type == CUPEL_I64 ? (int64_t)before <= (int64_t)bits
                                 : tensor->type == CUPEL_U64
                                     ? before <= bits
                                     : number_of(tensor->type, before) <= number_of(tensor->type, bits);
            assert_true(ordered);
        }
    }
}

static void every_type_under_every_pattern(void **state) {
    (void)state;
    cupel_arena *own = cupel_arena_create(0);
    for (int type = 0; type < CUPEL_DTYPE_COUNT; type++) {
        const cupel_contract *contract = contract_of((cupel_dtype)type, own);
        const cupel_format *f = cupel_format_of((cupel_dtype)type);
        reached r = {false};
        for (uint64_t n = 0; n < 400; n++) {
            cupel_recipe recipe = drawn(contract, n);
            recipe.tensors[0].pattern = recipe.tensors[1].pattern = (cupel_pattern)(n % CUPEL_PATTERN_COUNT);
            assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
            check_case(contract, &recipe, &r);
        }
        const bool real = f->kind == CUPEL_KIND_REAL;
        if (r.nan != real || r.infinity != (real && type != CUPEL_E4M3) || r.subnormal != real ||
            !r.largest || r.negative != (real || f->kind == CUPEL_KIND_SIGNED) ||
            r.odd_beyond_doubles != cupel_dtype_is_wide((cupel_dtype)type))
            fail_msg("%s: nan %d inf %d subnormal %d largest %d negative %d wide %d", f->name, r.nan,
                     r.infinity, r.subnormal, r.largest, r.negative, r.odd_beyond_doubles);
    }
    cupel_arena_free(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_type_under_every_pattern)};
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
