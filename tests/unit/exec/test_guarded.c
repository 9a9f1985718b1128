/* Guarded memory and the checker's maps, over cases made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "initialised.h"

/* Three buffers: 10 floats read, 7 halves written at an odd place, 5 x 4 floats in rows of 6. */
static void make_case(cupel_case *c) {
    static float values[20];
    static cupel_contract contract; /* nothing of it matters here but the roles */
    static cupel_recipe recipe;
    memset(c, 0, sizeof *c);
    contract.tensor_count = 3;
    contract.tensors[0].roles = contract.tensors[2].roles = CUPEL_ROLE_INPUT;
    contract.tensors[1].roles = CUPEL_ROLE_OUTPUT;
    c->contract = &contract;
    c->recipe = &recipe;
    c->tensor_count = c->buffer_count = 3;
    c->tensors[0] = (cupel_case_tensor){CUPEL_F32, 1, {10}, {1}, 10, 0, 0, values};
    c->tensors[1] = (cupel_case_tensor){CUPEL_F16, 1, {7}, {1}, 7, 1, 0, NULL};
    c->tensors[2] = (cupel_case_tensor){CUPEL_F32, 2, {5, 4}, {6, 1}, 20, 2, 0, values};
    c->buffers[0] = (cupel_case_buffer){40, 256, 0, false};
    c->buffers[1] = (cupel_case_buffer){14, 2, 2, true};
    c->buffers[2] = (cupel_case_buffer){112, 16, 8, false};
}

static void test_layout(void **state) {
    (void)state;
    cupel_case c;
    cupel_error err;
    make_case(&c);
    cupel_guarded *g = cupel_guarded_create();
    assert_non_null(g);
    for (int poison = CUPEL_POISON_NAN; poison <= CUPEL_POISON_FINITE; poison++) {
        assert_int_equal(cupel_guarded_load(g, &c, (cupel_poison)poison, &err), CUPEL_OK);
        unsigned char *region, *end;
        size_t size;
        cupel_guarded_region(g, &region, &size);
        end = region + size;
        assert_int_equal((uintptr_t)cupel_guarded_buffer(g, 0) % 256, 0);
        assert_int_equal((uintptr_t)cupel_guarded_buffer(g, 2) % 16, 8);
        assert_true(cupel_guarded_buffer(g, 0) - region >= CUPEL_GUARD_BYTES);
        assert_true(end - (cupel_guarded_buffer(g, 2) + 112) >= CUPEL_GUARD_BYTES);
        for (int b = 1; b < 3; b++)
            assert_true(cupel_guarded_buffer(g, b) -
                            (cupel_guarded_buffer(g, b - 1) + c.buffers[b - 1].size) >=
                        CUPEL_GUARD_BYTES);
        int64_t offset;
        assert_int_equal(cupel_guarded_locate(g, cupel_guarded_buffer(g, 1) + 14, &offset), 1);
        assert_int_equal(offset, 14);
        assert_int_equal(cupel_guarded_locate(g, cupel_guarded_buffer(g, 2) - 4, &offset), 2);
        assert_int_equal(offset, -4);
        assert_int_equal(cupel_guarded_locate(g, end, &offset), -1);
        assert_int_equal(cupel_guarded_locate(g, region - 1, &offset), -1);
    }
    cupel_guarded_free(g);
}

static void test_damage(void **state) {
    (void)state;
    cupel_case c;
    cupel_error err;
    make_case(&c);
    cupel_guarded *g = cupel_guarded_create();
    cupel_arena *arena = cupel_arena_create(0);
    static const struct {
        int buffer;
        int64_t at;
        bool before;
    } hits[] = {{0, -1, true},    {0, -4000, true}, {0, 40, false},   {1, 14, false},
                {1, 1500, false}, {1, -1, true},    {2, -2000, true}, {2, 4000, false}};
    for (size_t i = 0; i < sizeof hits / sizeof hits[0]; i++) {
        cupel_observation seen = {0};
        assert_int_equal(cupel_guarded_load(g, &c, CUPEL_POISON_NAN, &err), CUPEL_OK);
        cupel_guarded_buffer(g, hits[i].buffer)[hits[i].at] ^= 1;
        assert_int_equal(cupel_guarded_collect(g, &c, arena, &seen, &err), CUPEL_OK);
        assert_int_equal(seen.buffer_count, 3);
        for (int b = 0; b < 3; b++) {
            assert_int_equal(seen.buffers[b].guard_before_damaged, b == hits[i].buffer && hits[i].before);
            assert_int_equal(seen.buffers[b].guard_after_damaged, b == hits[i].buffer && !hits[i].before);
            assert_int_equal(seen.buffers[b].size, c.buffers[b].size);
            assert_memory_equal(seen.buffers[b].bytes, cupel_guarded_buffer(g, b), c.buffers[b].size);
        }
        assert_int_equal(seen.buffers[hits[i].buffer].damage_offset, hits[i].at);
    }
    cupel_arena_free(arena);
    cupel_guarded_free(g);
}

static bool bit(const uint8_t *map, const unsigned char *region, const unsigned char *at) {
    size_t i = (size_t)(at - region);
    return map[i / 8] >> i % 8 & 1;
}

static void test_maps(void **state) {
    (void)state;
    cupel_case c;
    cupel_error err;
    cupel_initialised maps = {0};
    make_case(&c);
    cupel_guarded *g = cupel_guarded_create();
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(cupel_guarded_load(g, &c, CUPEL_POISON_NAN, &err), CUPEL_OK);
        assert_int_equal(cupel_initialised_load(&maps, g, &c, &err), CUPEL_OK);
        unsigned char *region;
        size_t size;
        cupel_guarded_region(g, &region, &size);
        for (unsigned char *at = region; at < region + size; at++) {
            bool valid = false, writable = false, readable = false;
            for (int b = 0; b < 3; b++) {
                int64_t from = at - cupel_guarded_buffer(g, b);
                if (from < 0 || from >= (int64_t)c.buffers[b].size) continue;
                valid = true;
                writable = c.buffers[b].written;
                readable = b == 0 || (b == 2 && from % 24 < 16); /* gaps between rows hold nothing */
            }
            assert_int_equal(bit(maps.valid, region, at), valid);
            assert_int_equal(bit(maps.writable, region, at), writable);
            assert_int_equal(bit(maps.readable, region, at), readable);
        }
    }
    cupel_initialised_free(&maps);
    cupel_guarded_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layout), cmocka_unit_test(test_damage),
                                       cmocka_unit_test(test_maps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
