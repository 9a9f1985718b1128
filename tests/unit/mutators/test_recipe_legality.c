/* Every recipe that is drawn, mutated, crossed or repaired is legal, and its case keeps the contract's
 * preconditions. The checks here are made from the contract, apart from the code that repairs. */
#include <math.h>
#include <string.h>

#include "recipe_fixtures.h"

static void check_dims(const cupel_contract *contract, const cupel_case *c) {
    assert_true(cupel_binding_legal(&c->binding));
    for (int i = 0; i < contract->dim_count; i++) {
        const cupel_dim *dim = &contract->dims[i];
        assert_true(c->binding.dims[i] >= dim->lo && c->binding.dims[i] <= dim->hi);
        bool listed = dim->value_count == 0;
        for (int k = 0; k < dim->value_count; k++) listed |= dim->values[k] == c->binding.dims[i];
        assert_true(listed);
    }
}

static void check_params(const cupel_contract *contract, const cupel_recipe *recipe) {
    for (int i = 0; i < contract->param_count; i++) {
        const cupel_param *param = &contract->params[i];
        bool listed = param->kind != CUPEL_PARAM_ONE_OF;
        for (int k = 0; k < param->value_count; k++) listed |= param->values[k] == recipe->params[i];
        assert_true(listed);
        if (param->kind != CUPEL_PARAM_ONE_OF)
            assert_true(recipe->params[i] >= param->lo && recipe->params[i] <= param->hi);
    }
}

/* A value precondition, from the declaration alone. */
static void check_values(const cupel_case *c, int t) {
    const cupel_tensor_decl *decl = &c->contract->tensors[t];
    const cupel_case_tensor *tensor = &c->tensors[t];
    if (!(decl->roles & CUPEL_ROLE_INPUT) || tensor->count == 0) return;
    assert_non_null(tensor->values);
    int64_t n = tensor->rank ? tensor->shape[tensor->rank - 1] : 1;
    double lo = 0, hi = 0;
    if (decl->has_range) {
        bool real = cupel_format_of(tensor->type)->kind == CUPEL_KIND_REAL;
        lo = real ? cupel_round(tensor->type, decl->range_lo) : rint(decl->range_lo);
        hi = real ? cupel_round(tensor->type, decl->range_hi) : rint(decl->range_hi);
    }
    cupel_scalar below = {0};
    if (decl->below != NULL)
        assert_int_equal(cupel_binding_scalar(&c->binding, decl->below, NULL, &below, NULL), CUPEL_OK);
    for (int64_t i = 0; i < tensor->count; i++) {
        double v = value_at(c, t, i);
        if (decl->has_range) assert_true(v >= lo && v <= hi);
        if (decl->finite) assert_true(isfinite(v));
        if (decl->below != NULL) assert_true(v >= 0 && v < (double)below.i && v == floor(v));
        if (decl->sorted && i % n > 0) assert_true(value_at(c, t, i - 1) <= v);
    }
}

/* Only claimed layouts; the data pointer as aligned as the contract demands. */
static void check_layout(const cupel_case *c, int t) {
    const cupel_tensor_decl *decl = &c->contract->tensors[t];
    const cupel_case_tensor *tensor = &c->tensors[t];
    const cupel_case_buffer *buffer = &c->buffers[tensor->buffer];
    int64_t size = (int64_t)cupel_format_of(tensor->type)->size, extent = 1;
    bool contiguous = true;
    for (int axis = tensor->rank - 1; axis >= 0; axis--) {
        if (tensor->shape[axis] > 1) {
            contiguous &= tensor->stride[axis] == extent;
            if (tensor->stride[axis] == 0)
                assert_true(decl->layouts & CUPEL_LAYOUT_EXPANDED && decl->roles == CUPEL_ROLE_INPUT);
            if (tensor->stride[axis] < 0) assert_true(decl->layouts & CUPEL_LAYOUT_REVERSED);
        }
        extent *= tensor->shape[axis];
    }
    if (decl->layouts == 0 && tensor->count > 0) assert_true(contiguous);
    int64_t demand = decl->align;
    if (decl->align_element || decl->layouts & CUPEL_LAYOUT_SLICED || demand < size) demand = size;
    assert_int_equal((buffer->misalign + tensor->offset) % demand, 0);
    assert_true(buffer->align >= decl->align && buffer->misalign >= 0 && buffer->misalign < buffer->align);
    if (decl->roles & ~CUPEL_ROLE_INPUT) assert_true(buffer->written);
}

static void check_legal(const cupel_contract *contract, const cupel_recipe *recipe, int64_t limit,
                        cupel_arena *arena, bool within) {
    cupel_recipe repaired = *recipe;
    assert_int_equal(cupel_recipe_repair(contract, &repaired, limit, NULL), CUPEL_OK);
    assert_memory_equal(&repaired, recipe, sizeof repaired); /* legal and canonical: nothing to mend */
    cupel_case *c = materialised(contract, recipe, arena);
    check_dims(contract, c);
    check_params(contract, recipe);
    if (within) assert_true(c->element_count <= limit);
    for (int t = 0; t < contract->tensor_count; t++) {
        check_values(c, t);
        check_layout(c, t);
    }
}

static void test_draws_are_legal(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    int beyond = 0;
    for (int f = 0; f < FIXTURE_COUNT; f++)
        for (uint64_t n = 0; n < 2000; n++) {
            const cupel_contract *contract = fixture((enum fixture)f);
            cupel_limits limits = {.max_elements = 4096};
            cupel_recipe recipe;
            assert_int_equal(cupel_recipe_draw(contract, &limits, 7, n, &recipe, NULL), CUPEL_OK);
            int64_t limit = limits.max_elements;
            if (materialised(contract, &recipe, arena)->element_count >
                limit) { /* the ordinary shape may pass it */
                assert_false(cupel_recipe_traits(contract, &recipe) & CUPEL_TRAIT_SHAPE);
                limit = INT64_C(1) << 40, beyond++;
            }
            check_legal(contract, &recipe, limit, arena, true);
        }
    assert_true(beyond > 0 && beyond < 2 * FIXTURE_COUNT + 1);
    cupel_arena_free(arena);
}

static void test_mutants_and_children_are_legal(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_limits limits = {.max_elements = 2048};
    for (int f = 0; f < FIXTURE_COUNT; f++) {
        const cupel_contract *contract = fixture((enum fixture)f);
        cupel_random random = cupel_random_start(99, (uint32_t)f);
        cupel_recipe recipe, other, child;
        assert_int_equal(cupel_recipe_draw(contract, &limits, 3, 0, &recipe, NULL), CUPEL_OK);
        for (uint64_t n = 1; n < 800; n++) {
            cupel_recipe before = recipe;
            const char *name = NULL;
            assert_int_equal(cupel_recipe_mutate(contract, &limits, &random, &recipe, &name, NULL), CUPEL_OK);
            assert_non_null(name);
            assert_false(cupel_recipe_equal(contract, &before, &recipe));
            check_legal(contract, &recipe, limits.max_elements, arena, true);
            assert_int_equal(cupel_recipe_draw(contract, &limits, 3, n, &other, NULL), CUPEL_OK);
            assert_int_equal(
                cupel_recipe_crossover(contract, &limits, &random, &recipe, &other, &child, NULL), CUPEL_OK);
            check_legal(contract, &child, limits.max_elements, arena, true);
            if (n % 50 == 0) recipe = child;
        }
    }
    cupel_arena_free(arena);
}

static void test_random_contracts(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0), *contract_arena = cupel_arena_create(0);
    cupel_limits limits = {.max_elements = 4000};
    cupel_random random = cupel_random_start(31, 0);
    for (int k = 0; k < 150; k++) {
        cupel_arena_reset(contract_arena);
        const cupel_contract *contract =
            parsed(random_contract_text(&random, contract_arena), contract_arena);
        cupel_recipe recipe, before, child;
        for (uint64_t n = 0; n < 20; n++) {
            /* a fixed dim or a list may force more elements than the limit: it binds where it can */
            assert_int_equal(cupel_recipe_draw(contract, &limits, (uint64_t)k, n + 4, &recipe, NULL),
                             CUPEL_OK);
            check_legal(contract, &recipe, limits.max_elements, arena, false);
            before = recipe;
            assert_int_equal(cupel_recipe_mutate(contract, &limits, &random, &recipe, NULL, NULL), CUPEL_OK);
            check_legal(contract, &recipe, limits.max_elements, arena, false);
            assert_int_equal(
                cupel_recipe_crossover(contract, &limits, &random, &recipe, &before, &child, NULL), CUPEL_OK);
            check_legal(contract, &child, limits.max_elements, arena, false);
        }
    }
    cupel_arena_free(arena);
    cupel_arena_free(contract_arena);
}

static void test_any_bytes_become_legal(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    for (int f = 0; f < FIXTURE_COUNT; f++) {
        const cupel_contract *contract = fixture((enum fixture)f);
        cupel_random random = cupel_random_start(5, (uint32_t)f);
        for (int n = 0; n < 300; n++) {
            uint8_t bytes[1500];
            size_t size = cupel_random_below(&random, sizeof bytes);
            for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)cupel_random_u64(&random);
            const uint8_t magic[4] = {'c', 'r', CUPEL_RECIPE_VERSION, 0};
            memcpy(bytes, magic, sizeof magic);
            cupel_recipe recipe;
            assert_true(cupel_recipe_decode(contract, bytes, size < 4 ? 4 : size, &recipe));
            assert_int_equal(cupel_recipe_repair(contract, &recipe, 3000, NULL), CUPEL_OK);
            check_legal(contract, &recipe, 3000, arena, true);
        }
    }
    cupel_arena_free(arena);
}

static void test_simple_is_simple(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    for (int f = 0; f < FIXTURE_COUNT; f++) {
        const cupel_contract *contract = fixture((enum fixture)f);
        cupel_recipe recipe = simple(contract);
        assert_int_equal(cupel_recipe_traits(contract, &recipe), 0);
        check_legal(contract, &recipe, INT64_C(1) << 40, arena, true);
    }
    cupel_arena_free(arena);
}

static void test_repair_goes_to_the_nearest_dims(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_CONDITIONS);
    cupel_recipe recipe = simple(contract);
    set_dim(contract, &recipe, "N", 4321);
    set_dim(contract, &recipe, "H", 100);
    set_dim(contract, &recipe, "G", 1);
    set_dim(contract, &recipe, "K", 7);
    set_dim(contract, &recipe, "L", 12);
    set_dim(contract, &recipe, "S", 10);
    assert_int_equal(cupel_recipe_repair(contract, &recipe, INT64_C(1) << 40, NULL), CUPEL_OK);
    assert_int_equal(recipe.dims[cupel_contract_dim(contract, "N")], 4320);
    assert_int_equal(recipe.dims[cupel_contract_dim(contract, "H")], 96);
    assert_int_equal(recipe.dims[cupel_contract_dim(contract, "K")], 7);
    int64_t l = recipe.dims[cupel_contract_dim(contract, "L")],
            s = recipe.dims[cupel_contract_dim(contract, "S")];
    assert_true(l <= s && (12 - l) + (s - 10) == 2);
}

static void test_repair_says_when_it_cannot(void **state) {
    (void)state;
    cupel_contract contract = *fixture(FIXTURE_BOUNDED);
    contract.dims[1].lo = contract.dims[1].hi = 0; /* V: no index is below 0 */
    cupel_recipe recipe;
    memset(&recipe, 0, sizeof recipe);
    cupel_error err = {0};
    assert_int_equal(cupel_recipe_repair(&contract, &recipe, 100, &err), CUPEL_UNABLE);
    assert_non_null(strstr(err.text, "requires"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws_are_legal),
        cmocka_unit_test(test_mutants_and_children_are_legal),
        cmocka_unit_test(test_random_contracts),
        cmocka_unit_test(test_any_bytes_become_legal),
        cmocka_unit_test(test_simple_is_simple),
        cmocka_unit_test(test_repair_goes_to_the_nearest_dims),
        cmocka_unit_test(test_repair_says_when_it_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
