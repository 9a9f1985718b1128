/* Tensors, buffers, layouts, aliases and poison, by an independent computation of every element's place. */
#include <math.h>
#include <string.h>

#include "recipe_fixtures.h"

enum { MOST_BYTES = 1 << 20 };
static unsigned char image[MOST_BYTES], other[MOST_BYTES], mask[MOST_BYTES], elements[MOST_BYTES];

static int64_t place_of(const cupel_case_tensor *tensor, int64_t flat) {
    int64_t size = (int64_t)cupel_format_of(tensor->type)->size, at = tensor->offset;
    for (int axis = tensor->rank - 1; axis >= 0; axis--) {
        at += flat % tensor->shape[axis] * tensor->stride[axis] * size;
        flat /= tensor->shape[axis];
    }
    return at;
}

static bool any_written(const cupel_case *c, int b) {
    for (int t = 0; t < c->tensor_count; t++)
        if (c->tensors[t].buffer == b && c->contract->tensors[t].roles != CUPEL_ROLE_INPUT) return true;
    return false;
}

/* Every element lies inside its buffer; the buffer is not larger than they need; elements overlap only where
 * expanded. */
static void check_extent(const cupel_case *c, int t) {
    const cupel_case_tensor *tensor = &c->tensors[t];
    const cupel_case_buffer *buffer = &c->buffers[tensor->buffer];
    int64_t size = (int64_t)cupel_format_of(tensor->type)->size, lowest = INT64_MAX, highest = -1;
    bool expanded = false;
    for (int axis = 0; axis < tensor->rank; axis++)
        expanded |= tensor->shape[axis] > 1 && tensor->stride[axis] == 0;
    memset(mask, 0, buffer->size);
    for (int64_t i = 0; i < tensor->count; i++) {
        int64_t at = place_of(tensor, i);
        assert_true(at >= 0 && at + size <= (int64_t)buffer->size);
        assert_true(expanded || mask[at] == 0);
        memset(mask + at, 1, (size_t)size);
        if (at < lowest) lowest = at;
        if (at > highest) highest = at;
    }
    assert_true((int64_t)buffer->size <= (4 * tensor->count + 4097) * size); /* gaps do not run away */
    if (tensor->count > 0) {
        assert_int_equal(lowest, 0);
        assert_int_equal(highest + size, buffer->size);
    } else {
        assert_int_equal(buffer->size, 0);
    }
    assert_int_equal(buffer->written, any_written(c, tensor->buffer));
    memset(other, 0, buffer->size);
    cupel_case_mark(c, tensor->buffer, c->contract->tensors[t].roles, other);
    assert_memory_equal(mask, other, buffer->size);
}

/* Image: values at their places, poison (as filled over the whole buffer) everywhere else. Gather undoes it.
 */
static void check_image(const cupel_case *c, int t, cupel_poison poison) {
    const cupel_case_tensor *tensor = &c->tensors[t];
    const cupel_case_buffer *buffer = &c->buffers[tensor->buffer];
    size_t size = cupel_format_of(tensor->type)->size;
    memset(image, 0xAB, buffer->size);
    cupel_case_image(c, tensor->buffer, poison, image);
    cupel_poison_fill(cupel_poison_of(c->recipe->poison, poison), cupel_case_poison_seed(c, tensor->buffer),
                      tensor->type, other, buffer->size, 0);
    for (int64_t i = 0; i < tensor->count && tensor->values != NULL; i++)
        memcpy(other + place_of(tensor, i), (const unsigned char *)tensor->values + (size_t)i * size, size);
    assert_memory_equal(image, other, buffer->size);
    if (tensor->count == 0) return;
    cupel_case_gather(c, t, image, elements);
    for (int64_t i = 0; i < tensor->count; i++)
        assert_memory_equal(elements + (size_t)i * size, image + place_of(tensor, i), size);
    if (tensor->values != NULL) assert_memory_equal(elements, tensor->values, (size_t)tensor->count * size);
}

static void test_images_hold_elements_at_their_places(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_limits limits = {.max_elements = 3000};
    for (int f = 0; f < FIXTURE_COUNT; f++)
        for (uint64_t n = 0; n < 250; n++) {
            const cupel_contract *contract = fixture((enum fixture)f);
            cupel_recipe recipe;
            assert_int_equal(cupel_recipe_draw(contract, &limits, 17, n, &recipe, NULL), CUPEL_OK);
            cupel_case *c = materialised(contract, &recipe, arena);
            if (c->element_count > limits.max_elements)
                continue; /* the ordinary shape: as any other, but slow here */
            for (int t = 0; t < c->tensor_count; t++) {
                check_extent(c, t);
                check_image(c, t, n & 1 ? CUPEL_POISON_NAN : CUPEL_POISON_FINITE);
                assert_memory_equal(c->strides[t], c->tensors[t].stride, sizeof c->strides[t]);
            }
        }
    cupel_arena_free(arena);
}

static void test_layout_by_hand(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_STRIDED);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_recipe recipe = simple(contract);
    set_dim(contract, &recipe, "A", 2), set_dim(contract, &recipe, "B", 3),
        set_dim(contract, &recipe, "C", 4);
    /* memory order: axis 2 outermost, then 0, then 1; steps of 2, one gap behind axis 1, axis 0 reversed,
     * offset by 3 */
    cupel_layout layout = {
        .order = {2, 0, 1, 3, 4, 5, 6, 7}, .gap = {0, 1}, .step = 2, .reversed = 1, .offset = 3};
    recipe.tensors[0].layout = layout;
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    assert_memory_equal(&recipe.tensors[0].layout, &layout, sizeof layout);
    cupel_case *c = materialised(contract, &recipe, arena);
    const int64_t stride[3] = {-7, 2, 14}; /* axis 1: 2; axis 0: 3 * 2 + 1; axis 2: 2 * 7 */
    assert_memory_equal(c->tensors[0].stride, stride, sizeof stride);
    assert_int_equal(c->tensors[0].offset, 7 * 4);
    assert_int_equal(c->buffers[0].size, ((3 * 14 + 2 * 2 + 7) + 1) * 4);
    assert_int_equal((c->buffers[0].misalign + c->tensors[0].offset) % 256, 3 * 4);
    cupel_arena_free(arena);
}

static void test_layout_fields_without_effect_are_cleared(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_STRIDED);
    cupel_recipe recipe = simple(contract);
    set_dim(contract, &recipe, "A", 2), set_dim(contract, &recipe, "B", 1),
        set_dim(contract, &recipe, "C", 4);
    recipe.tensors[0].layout = (cupel_layout){.order = {1, 0, 2, 3, 4, 5, 6, 7},
                                              .gap = {5, 6, 7, 8},
                                              .step = 0,
                                              .reversed = 0xFF,
                                              .expanded = 0x42,
                                              .offset = 300};
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    const cupel_layout wanted = {/* nothing lies behind axis 1, the outermost; it has one element only */
                                 .order = {1, 0, 2, 3, 4, 5, 6, 7},
                                 .gap = {5, 0, 7},
                                 .step = 1,
                                 .reversed = 5,
                                 .offset = 300 % 64};
    assert_memory_equal(&recipe.tensors[0].layout, &wanted, sizeof wanted);
    set_dim(contract, &recipe, "A", 0);
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    assert_true(cupel_layout_is_contiguous(&recipe.tensors[0].layout, 3)); /* an empty tensor has no layout */
}

static void test_edits(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_BOUNDED);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_recipe recipe = simple(contract), repaired;
    set_dim(contract, &recipe, "N", 20);
    cupel_tensor_recipe *x = &recipe.tensors[0]; /* range -10.1..10 */
    const cupel_edit edits[] = {{9, 0x40000000}, {3, 0x3f800000},  {4, 0x7fc00000}, {5, 0x41300000},
                                {9, 0x40400000}, {20, 0x3f800000}, {-1, 0x3f800000}};
    x->edit_count = 7;
    memcpy(x->edits, edits, sizeof edits);
    repaired = recipe;
    assert_int_equal(cupel_recipe_repair(contract, &repaired, 0, NULL), CUPEL_OK);
    const cupel_edit wanted[] = {{3, 0x3f800000}, {9, 0x40400000}}; /* in order, the last word at 9 */
    assert_int_equal(repaired.tensors[0].edit_count, 2);
    assert_memory_equal(repaired.tensors[0].edits, wanted, sizeof wanted);
    /* unrepaired: what the contract does not permit has no effect either */
    cupel_case *c = materialised(contract, &recipe, arena);
    assert_true(value_at(c, 0, 3) == 1 && value_at(c, 0, 9) == 3);
    for (int64_t i = 0; i < 20; i++) assert_true(fabs(value_at(c, 0, i)) <= 4);
    cupel_arena_free(arena);
}

static void test_expanded_axes_hold_one_value(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_STRIDED);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_recipe recipe = simple(contract);
    set_dim(contract, &recipe, "A", 3), set_dim(contract, &recipe, "B", 5),
        set_dim(contract, &recipe, "C", 7);
    recipe.tensors[0].pattern = CUPEL_PATTERN_NORMAL;
    recipe.tensors[0].layout.expanded = 2;
    recipe.tensors[0].edit_count = 1;
    recipe.tensors[0].edits[0] =
        (cupel_edit){1 * 35 + 2 * 7 + 4, 0x41200000}; /* element [1, 2, 4] becomes 10 */
    recipe.tensors[3].layout.expanded = 2;            /* an output must not be */
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    assert_int_equal(recipe.tensors[3].layout.expanded, 0);
    cupel_case *c = materialised(contract, &recipe, arena);
    assert_int_equal(c->buffers[0].size, 3 * 7 * 4);
    for (int64_t i = 0; i < 3 * 5 * 7; i++) {
        int64_t first = i / 35 * 35 + i % 7;
        assert_true(value_at(c, 0, i) == value_at(c, 0, first));
    }
    for (int64_t b = 0; b < 5; b++) assert_true(value_at(c, 0, 35 + b * 7 + 4) == 10);
    assert_true(value_at(c, 0, 0) != value_at(c, 0, 35));
    cupel_arena_free(arena);
}

static void test_aliases_share_memory_and_values(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_STRIDED); /* [x, z], [y, z] */
    cupel_arena *arena = cupel_arena_create(0);
    cupel_recipe recipe = simple(contract);
    recipe.aliases = 3;
    recipe.tensors[1].layout.offset = 5, recipe.tensors[1].layout.expanded = 1,
    recipe.tensors[1].layout.step = 3;
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    assert_int_equal(recipe.aliases, 1); /* z cannot lie in x and in y at once */
    recipe.aliases = 2;
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    assert_int_equal(recipe.aliases, 2);
    assert_memory_equal(&recipe.tensors[3].layout, &recipe.tensors[1].layout,
                        sizeof recipe.tensors[1].layout);
    assert_int_equal(recipe.tensors[1].layout.step, 3);
    assert_int_equal(recipe.tensors[1].layout.expanded, 0); /* what is written is never expanded */
    cupel_case *c = materialised(contract, &recipe, arena);
    assert_int_equal(c->buffer_count, 3);
    assert_int_equal(c->tensors[1].buffer, c->tensors[3].buffer);
    assert_ptr_equal(c->tensors[1].values, c->tensors[3].values);
    assert_int_equal(c->tensors[1].offset, c->tensors[3].offset);
    assert_memory_equal(c->tensors[1].stride, c->tensors[3].stride, sizeof c->tensors[1].stride);
    assert_true(c->buffers[c->tensors[1].buffer].written);
    assert_false(c->buffers[c->tensors[0].buffer].written);
    recipe.aliases = 0;
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    c = materialised(contract, &recipe, arena);
    assert_int_equal(c->buffer_count, 4);
    assert_null(c->tensors[3].values);
    cupel_arena_free(arena);
}

static void test_init_and_in_place(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_INIT);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_recipe recipe = simple(contract);
    set_dim(contract, &recipe, "M", 5), set_dim(contract, &recipe, "N", 6);
    cupel_case *c = materialised(contract, &recipe, arena);
    int x = cupel_contract_tensor(contract, "x"), acc = cupel_contract_tensor(contract, "acc"),
        y = cupel_contract_tensor(contract, "y"), t = cupel_contract_tensor(contract, "t"),
        w = cupel_contract_tensor(contract, "w"), v = cupel_contract_tensor(contract, "v");
    assert_non_null(c->tensors[acc].values);
    assert_true(c->buffers[c->tensors[acc].buffer].written);
    assert_null(c->tensors[v].values);
    for (int64_t i = 0; i < 30; i++) {
        assert_true(value_at(c, y, i) == -1.5);
        assert_true(value_at(c, t, i) == value_at(c, x, i) + 1);
    }
    for (int64_t i = 0; i < 6; i++) assert_true(value_at(c, w, i) == 0);
    cupel_arena_free(arena);
}

/* -1 in a buffer of unsigned integers is what memset leaves. */
static void test_init_below_zero(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0), *cases = cupel_arena_create(0);
    const cupel_contract *contract =
        parsed("cupel: 1\n"
               "source: {file: k.cu}\n"
               "id: unsigned\n"
               "dims: {N: 1..64}\n"
               "inputs: {x: 'f32[N]'}\n"
               "outputs: {y: 'f32[N]'}\n"
               "scratch: {a: {type: u8, shape: [2], init: -1}, b: {type: u64, shape: [2], init: -1},\n"
               "          c: {type: u16, shape: [2], init: -2}, d: {type: i32, shape: [2], init: -1}}\n"
               "ensures: {y: 'x'}\n"
               "kernel: {entry: k, args: [x, y, a, b, c, d], grid: [1], block: [32]}\n",
               arena);
    cupel_recipe recipe = simple(contract);
    cupel_case *c = materialised(contract, &recipe, cases);
    const int a = cupel_contract_tensor(contract, "a"), b = cupel_contract_tensor(contract, "b");
    assert_true(*(const uint8_t *)c->tensors[a].values == UINT8_MAX);
    assert_true(*(const uint64_t *)c->tensors[b].values == UINT64_MAX);
    assert_true(value_at(c, cupel_contract_tensor(contract, "c"), 1) == UINT16_MAX - 1);
    assert_true(value_at(c, cupel_contract_tensor(contract, "d"), 1) == -1);
    cupel_arena_free(cases);
    cupel_arena_free(arena);
}

static void test_illegal_cases_are_refused(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_case *c;
    cupel_error err = {0};
    cupel_recipe recipe = simple(contract), bad = recipe;
    set_dim(contract, &bad, "N", 8193);
    assert_int_equal(cupel_case_materialise(contract, &bad, arena, &c, &err), CUPEL_RANGE);
    bad = recipe, bad.types[0] = 3;
    assert_int_equal(cupel_case_materialise(contract, &bad, arena, &c, &err), CUPEL_RANGE);
    bad = recipe, bad.tensors[0].layout.order[0] = 1;
    assert_int_equal(cupel_case_materialise(contract, &bad, arena, &c, &err), CUPEL_RANGE);
    cupel_arena_free(arena);
    arena = cupel_arena_create(20000); /* too small for the simple case */
    assert_int_equal(cupel_case_materialise(contract, &recipe, arena, &c, &err), CUPEL_MEMORY);
    cupel_arena_free(arena);
}

static void test_poison_bytes_depend_on_position_alone(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(1, 1);
    for (int type = 0; type < CUPEL_DTYPE_COUNT; type++)
        for (int poison = CUPEL_POISON_NAN; poison <= CUPEL_POISON_LOW; poison++) {
            cupel_poison_fill((cupel_poison)poison, 77, (cupel_dtype)type, image, 1000, 0);
            size_t at = 0;
            while (at < 1000) {
                size_t take = 1 + (size_t)cupel_random_below(&random, 30);
                if (take > 1000 - at) take = 1000 - at;
                cupel_poison_fill((cupel_poison)poison, 77, (cupel_dtype)type, other + at, take, at);
                at += take;
            }
            assert_memory_equal(image, other, 1000);
            cupel_poison_fill((cupel_poison)poison, 78, (cupel_dtype)type, other, 1000, 0);
            if (type != CUPEL_E4M3 && (type != CUPEL_BOOL || poison < CUPEL_POISON_HIGH))
                assert_memory_not_equal(image, other, 1000);
        }
}

/* High beats every number of ordinary size, low none; both are finite and neighbours differ. */
static void test_extreme_poisons_win_maxima_and_minima(void **state) {
    (void)state;
    for (int type = 0; type < CUPEL_DTYPE_COUNT; type++) {
        const cupel_format *format = cupel_format_of((cupel_dtype)type);
        const size_t count = 512;
        int changes = 0;
        cupel_poison_fill(CUPEL_POISON_HIGH, 3, (cupel_dtype)type, image, count * format->size, 0);
        cupel_poison_fill(CUPEL_POISON_LOW, 3, (cupel_dtype)type, other, count * format->size, 0);
        for (size_t i = 0; i < count; i++) {
            const unsigned char *high = image + i * format->size, *low = other + i * format->size;
            if (i > 0) changes += memcmp(high, high - format->size, format->size) != 0;
            if (format->kind == CUPEL_KIND_REAL) {
                const double above = cupel_decode((cupel_dtype)type, high),
                             below = cupel_decode((cupel_dtype)type, low);
                assert_true(isfinite(above) && above >= 64 && isfinite(below) && below <= -64);
                assert_true(format->size == 1 || (above > 16000 && below < -16000));
                assert_true(format->emin > -126 || (above > 1e35 && below < -1e35));
            } else if (format->kind == CUPEL_KIND_BOOLEAN) {
                assert_true(*high == 1 && *low == 0);
            } else if (format->kind == CUPEL_KIND_SIGNED) {
                const int64_t half = INT64_C(1) << (8 * format->size - 2);
                assert_true(cupel_decode_int((cupel_dtype)type, high) >= half);
                assert_true(cupel_decode_int((cupel_dtype)type, low) <= -half);
            } else {
                assert_true(high[format->size - 1] >= 64 && low[0] <= 3 &&
                            (format->size == 1 || low[format->size - 1] == 0));
            }
        }
        if (format->kind != CUPEL_KIND_BOOLEAN) assert_true(changes > 100);
    }
}

/* A quarter of all seeds have one of them, half of those either; the simplest has not; NaN is always NaN. */
static void test_poison_of_a_recipe(void **state) {
    (void)state;
    int seen[CUPEL_POISON_LOW + 1] = {0};
    assert_int_equal(cupel_poison_of(0, CUPEL_POISON_FINITE), CUPEL_POISON_FINITE);
    for (uint32_t seed = 0; seed < 800; seed++) {
        seen[cupel_poison_of(seed, CUPEL_POISON_FINITE)]++;
        assert_int_equal(cupel_poison_of(seed, CUPEL_POISON_NAN), CUPEL_POISON_NAN);
    }
    assert_int_equal(seen[CUPEL_POISON_FINITE], 600);
    assert_int_equal(seen[CUPEL_POISON_HIGH], 100);
    assert_int_equal(seen[CUPEL_POISON_LOW], 100);
    assert_int_equal(cupel_poison_byte(CUPEL_POISON_NAN), 0xff);
    assert_int_equal(cupel_poison_byte(CUPEL_POISON_FINITE), 0);
    for (int type = 0; type < CUPEL_DTYPE_COUNT; type++) {
        const cupel_format *format = cupel_format_of((cupel_dtype)type);
        if (format->kind != CUPEL_KIND_REAL || type == CUPEL_TF32) continue;
        memset(image, cupel_poison_byte(CUPEL_POISON_HIGH), 8);
        memset(other, cupel_poison_byte(CUPEL_POISON_LOW), 8);
        const double high = cupel_decode((cupel_dtype)type, image),
                     low = cupel_decode((cupel_dtype)type, other);
        assert_true(isfinite(high) && high > 300 && isfinite(low) && low < -300);
    }
}

/* Output y and any other buffer of a case are poisoned differently from the first byte on. */
static void test_buffers_have_poisons_of_their_own(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_case *c;
    cupel_recipe recipe = simple(contract);
    assert_int_equal(cupel_case_materialise(contract, &recipe, arena, &c, NULL), CUPEL_OK);
    assert_true(c->buffer_count >= 2);
    for (int b = 1; b < c->buffer_count; b++)
        assert_int_not_equal(cupel_case_poison_seed(c, b), cupel_case_poison_seed(c, b - 1));
    cupel_arena_free(arena);
}

static void test_poison_kinds(void **state) {
    (void)state;
    for (int type = 0; type < CUPEL_DTYPE_COUNT; type++) {
        const cupel_format *format = cupel_format_of((cupel_dtype)type);
        size_t count = 512;
        cupel_poison_fill(CUPEL_POISON_NAN, 3, (cupel_dtype)type, image, count * format->size, 0);
        cupel_poison_fill(CUPEL_POISON_FINITE, 3, (cupel_dtype)type, other, count * format->size, 0);
        int changes = 0;
        for (size_t i = 0; i < count; i++) {
            const unsigned char *loud = image + i * format->size, *quiet = other + i * format->size;
            if (i > 0) changes += memcmp(loud, loud - format->size, format->size) != 0;
            if (format->kind == CUPEL_KIND_REAL) {
                unsigned char plain[8];
                cupel_encode((cupel_dtype)type, NAN, plain);
                assert_true(cupel_element_is_nan((cupel_dtype)type, loud));
                if (type != CUPEL_E4M3)
                    assert_memory_not_equal(loud, plain, format->size); /* told from a computed NaN */
                double value = fabs(cupel_decode((cupel_dtype)type, quiet));
                assert_true(value >= 8 && value < 128);
            } else if (format->kind == CUPEL_KIND_SIGNED) {
                assert_true(cupel_decode_int((cupel_dtype)type, loud) < 0);
                int64_t value = cupel_decode_int((cupel_dtype)type, quiet);
                assert_true((value >= 64 || value <= -64) && value < 40000 && value > -40000);
            } else if (format->kind == CUPEL_KIND_BOOLEAN) {
                assert_true(*loud > 1 && *quiet <= 1);
            }
        }
        assert_true(changes > 100); /* neighbours differ: a copied poison value is seen */
    }
}

/* The earlier call: legal, at the same places in memory, with other values. */
static void test_earlier_call(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0), *second = cupel_arena_create(0);
    int differing = 0, cases = 0;
    for (int f = 0; f < FIXTURE_COUNT; f++)
        for (uint64_t n = 0; n < 60; n++) {
            const cupel_contract *contract = fixture((enum fixture)f);
            cupel_recipe recipe = drawn(contract, n), earlier, again;
            recipe.history = CUPEL_HISTORY_OTHER_VALUES;
            recipe.calls = 3;
            int call = (int)(n % 3);
            assert_int_equal(cupel_recipe_earlier(contract, &recipe, call, &earlier, NULL), CUPEL_OK);
            assert_int_equal(cupel_recipe_earlier(contract, &recipe, call, &again, NULL), CUPEL_OK);
            assert_memory_equal(&earlier, &again, sizeof again);
            assert_int_equal(earlier.history, CUPEL_HISTORY_NONE);
            assert_int_equal(earlier.schedule, 0);
            const cupel_case *a = materialised(contract, &recipe, arena),
                             *b = materialised(contract, &earlier, second);
            assert_int_equal(a->buffer_count, b->buffer_count);
            assert_memory_equal(a->buffers, b->buffers, (size_t)a->buffer_count * sizeof *a->buffers);
            bool differs = false, any = false;
            for (int t = 0; t < a->tensor_count; t++) {
                const cupel_case_tensor *x = &a->tensors[t], *y = &b->tensors[t];
                assert_int_equal(x->count, y->count);
                assert_memory_equal(x->stride, y->stride, sizeof x->stride);
                if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT) || x->count < 8) continue;
                any = true;
                size_t bytes = (size_t)x->count * cupel_format_of(x->type)->size;
                differs = differs || memcmp(x->values, y->values, bytes) != 0;
            }
            cases += any, differing += differs;
        }
    assert_true(cases > 100 && 50 * (cases - differing) <= cases); /* small ranges may hold few values */
    cupel_arena_free(arena);
    cupel_arena_free(second);
}

/* Calls of other shapes: legal, pure, of the same types and params, smaller and larger in turn, within eight
 * times the elements; the last is the smaller one wherever there is one. */
static void test_earlier_shapes(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0), *second = cupel_arena_create(0);
    int smaller = 0, larger = 0, cases = 0;
    for (int f = 0; f < FIXTURE_COUNT; f++)
        for (uint64_t n = 0; n < 60; n++) {
            const cupel_contract *contract = fixture((enum fixture)f);
            cupel_recipe recipe = drawn(contract, n), calls[2], again;
            recipe.history = CUPEL_HISTORY_OTHER_SHAPE;
            recipe.calls = 2;
            if (cupel_recipe_repair(contract, &recipe, INT64_C(1) << 40, NULL) != CUPEL_OK ||
                recipe.history != CUPEL_HISTORY_OTHER_SHAPE)
                continue;
            const cupel_case *judged = materialised(contract, &recipe, arena);
            const int64_t most = 8 * judged->element_count + 8;
            for (int call = 0; call < 2; call++) {
                assert_int_equal(cupel_recipe_earlier(contract, &recipe, call, &calls[call], NULL), CUPEL_OK);
                assert_int_equal(cupel_recipe_earlier(contract, &recipe, call, &again, NULL), CUPEL_OK);
                assert_memory_equal(&calls[call], &again, sizeof again);
                assert_int_equal(calls[call].history, CUPEL_HISTORY_NONE);
                assert_memory_equal(calls[call].types, recipe.types, sizeof recipe.types);
                assert_memory_equal(calls[call].params, recipe.params, sizeof recipe.params);
                const cupel_case *c = materialised(contract, &calls[call], second);
                assert_true(c->element_count <= most || c->element_count <= judged->element_count);
                cases++;
                larger += c->element_count > judged->element_count;
                smaller += call == 1 && c->element_count < judged->element_count;
            }
        }
    assert_true(cases > 100 && larger > cases / 5 && smaller > cases / 5);
    cupel_arena_free(arena);
    cupel_arena_free(second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images_hold_elements_at_their_places),
        cmocka_unit_test(test_layout_by_hand),
        cmocka_unit_test(test_layout_fields_without_effect_are_cleared),
        cmocka_unit_test(test_edits),
        cmocka_unit_test(test_expanded_axes_hold_one_value),
        cmocka_unit_test(test_aliases_share_memory_and_values),
        cmocka_unit_test(test_init_and_in_place),
        cmocka_unit_test(test_init_below_zero),
        cmocka_unit_test(test_illegal_cases_are_refused),
        cmocka_unit_test(test_poison_bytes_depend_on_position_alone),
        cmocka_unit_test(test_poison_kinds),
        cmocka_unit_test(test_extreme_poisons_win_maxima_and_minima),
        cmocka_unit_test(test_poison_of_a_recipe),
        cmocka_unit_test(test_buffers_have_poisons_of_their_own),
        cmocka_unit_test(test_earlier_call),
        cmocka_unit_test(test_earlier_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
