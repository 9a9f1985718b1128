/* Where a debugger is to stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "gdb.h"

static const char text[] = "cupel: 1\nid: aimed\nsource: {file: fake.cu}\ndims: {N: 1..64}\n"
                           "inputs: {x: 'f32[N]'}\noutputs: {y: 'f32[N]'}\nensures: {y: 'x'}\n"
                           "kernel: {entry: k, args: [x, y, N], grid: [1], block: [32]}\n";

typedef struct fixture {
    cupel_arena *arena;
    const cupel_contract *contract;
    cupel_trial trial;
    cupel_observation seen;
    cupel_finding finding;
    float y[8];
} fixture;

/* A run after which y is 1, 2, .. 8, and y[5] is found to be wrong: only 60 is allowed. */
static void setup(fixture *f) {
    cupel_recipe recipe;
    memset(f, 0, sizeof *f);
    f->arena = cupel_arena_create(0);
    f->contract = fake_contract(f->arena, text);
    assert_int_equal(cupel_recipe_simple(f->contract, &recipe, NULL), CUPEL_OK);
    recipe.dims[0] = 8;
    assert_int_equal(cupel_case_materialise(f->contract, &recipe, f->arena, &f->trial.c, NULL), CUPEL_OK);
    for (int i = 0; i < 8; i++) f->y[i] = (float)(i + 1);
    f->seen.buffer_count = 2;
    f->seen.buffers[1].bytes = (unsigned char *)f->y;
    f->seen.buffers[1].size = sizeof f->y;
    f->trial.run_count = 1;
    f->trial.runs[0].observation = &f->seen;
    f->finding = (cupel_finding){.kind = CUPEL_FINDING_WRONG_VALUE,
                                 .output_name = "y",
                                 .index = 5,
                                 .type = CUPEL_F32,
                                 .certified = true,
                                 .run_a = {.index = -1},
                                 .run_b = {.index = -1},
                                 .exact = {.value = 60, .lo = 60, .hi = 60, .classes = CUPEL_CLASS_FINITE}};
    memcpy(&f->finding.got_bits, &f->y[5], sizeof f->y[5]);
}

static uint64_t bits_of(float value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

/* The store that is chosen when the element went through these values and ended as 6. */
static int chosen(const float *stored, int count) {
    fixture f;
    cupel_gdb_aim aim;
    setup(&f);
    cupel_gdb_aim_at(f.contract, &f.trial, &f.finding, &aim);
    assert_int_equal(aim.watch.tensor, 1);
    assert_int_equal(aim.watch.offset, 20);
    assert_int_equal(aim.watch.size, 4);
    aim.watch.stores = count;
    for (int i = 0; i + 1 < count; i++) aim.watch.values[i] = bits_of(stored[i]);
    cupel_gdb_aim_choose(&f.finding, &f.seen, f.trial.c, &aim);
    assert_false(aim.kernel_start);
    cupel_arena_free(f.arena);
    return aim.watch.stop_store;
}

static void first_store_when_none_is_right(void **state) {
    (void)state;
    static const float sums[] = {1, 3, 6};
    assert_int_equal(chosen(sums, 3), 1);
    assert_int_equal(chosen(sums, 1), 1);
}

static void the_store_after_the_last_right_one(void **state) {
    (void)state;
    static const float spoilt[] = {1, 60, 60, 6}, twice[] = {60, 5, 60, 7, 6};
    assert_int_equal(chosen(spoilt, 4), 4);
    assert_int_equal(chosen(twice, 5), 4);
}

static void without_a_store_the_kernel_begins(void **state) {
    (void)state;
    fixture f;
    cupel_gdb_aim aim;
    setup(&f);
    cupel_gdb_aim_at(f.contract, &f.trial, &f.finding, &aim);
    aim.watch.stores = 0;
    cupel_gdb_aim_choose(&f.finding, &f.seen, f.trial.c, &aim);
    assert_true(aim.kernel_start);
    f.finding.kind = CUPEL_FINDING_UNWRITTEN;
    cupel_gdb_aim_at(f.contract, &f.trial, &f.finding, &aim);
    assert_true(aim.kernel_start);
    cupel_gdb_aim_at(f.contract, &f.trial, NULL, &aim);
    assert_true(aim.kernel_start);
    cupel_arena_free(f.arena);
}

static void accesses_and_faults_are_stopped_at(void **state) {
    (void)state;
    fixture f;
    cupel_gdb_aim aim;
    setup(&f);
    f.finding.kind = CUPEL_FINDING_BAD_ACCESS;
    f.finding.has_access = true;
    f.finding.access.kind = CUPEL_ACCESS_MISALIGNED_READ;
    cupel_gdb_aim_at(f.contract, &f.trial, &f.finding, &aim);
    assert_int_equal(aim.watch.stop_accesses, 1u << CUPEL_ACCESS_MISALIGNED_READ);
    f.finding.kind = CUPEL_FINDING_FAULT;
    cupel_gdb_aim_at(f.contract, &f.trial, &f.finding, &aim);
    assert_true(aim.watch.stop_end);
    cupel_arena_free(f.arena);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_store_when_none_is_right),
        cmocka_unit_test(the_store_after_the_last_right_one),
        cmocka_unit_test(without_a_store_the_kernel_begins),
        cmocka_unit_test(accesses_and_faults_are_stopped_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
