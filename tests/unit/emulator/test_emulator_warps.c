/* Warp operations against their scalar meaning, under many schedules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "candidate.h"

enum { SCHEDULES = 12 };

static cupel_emu_module *module;
static field f;
static int *in, *out;

static int setup(void **state) {
    (void)state;
    module = candidate_load("warps.cu");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    cupel_emu_module_close(module);
    return 0;
}

static void reset(void) {
    field_reset(&f, 256, 1024, 16);
    in = (int *)(void *)field_buffer(&f, 0);
    out = (int *)(void *)field_buffer(&f, 1);
    for (int i = 0; i < 256; i++) in[i] = i * 7 % 31 - 11;
    memset(out, 0, 4096);
    memset(field_buffer(&f, 2), 0, 64);
}

static void run(const char *entry, shape s, int argc, const void *const *args) {
    field_run(&f, module, entry, s, argc, args);
    if (f.seen.outcome != CUPEL_RUN_FINISHED) fail_msg("%s: %s", entry, f.seen.text);
    for (int i = 0; i < f.seen.access_count; i++)
        assert_int_equal(f.seen.accesses[i].kind, CUPEL_ACCESS_UNINITIALISED_READ);
}

/* CUDA C++ Programming Guide, warp shuffle functions: the source lane, or the lane itself when there is none.
 */
static int source(int kind, int lane, unsigned argument, int width) {
    int first = lane / width * width, last = first + width - 1, at;
    switch (kind) {
    case CUPEL_EMU_SHFL_IDX: return first + (int)argument % width;
    case CUPEL_EMU_SHFL_UP: at = lane - (int)argument; return at < first ? lane : at;
    case CUPEL_EMU_SHFL_DOWN: at = lane + (int)argument; return at > last ? lane : at;
    default: at = lane ^ (int)argument; return at > last ? lane : at;
    }
}

static void test_shuffles(void **state) {
    (void)state;
    static const unsigned masks[] = {~0u, 0x0000ffff, 0xf0f0f0f0, 0x80000001};
    for (int kind = CUPEL_EMU_SHFL_IDX; kind <= CUPEL_EMU_SHFL_XOR; kind++)
        for (unsigned argument = 0; argument < 32; argument += argument < 5 ? 1 : 9)
            for (int width = 4; width <= 32; width *= 2)
                for (int k = 0; k < 4; k++) {
                    reset();
                    unsigned mask = masks[k];
                    run("shuffles",
                        (shape){.block = 96, .schedule = argument * 7 + (unsigned)width + (unsigned)k - 4}, 6,
                        (const void *[]){&in, &out, &kind, &mask, &argument, &width});
                    for (int i = 0; i < 96; i++) {
                        int lane = i % 32, from = source(kind, lane, argument, width);
                        if ((mask >> lane & 1) == 0) {
                            assert_int_equal(out[i], 0);
                        } else if (mask >> from & 1) { /* else undefined */
                            assert_int_equal(out[i], in[i - lane + from]);
                        }
                    }
                }
}

static uint32_t vote_meaning(int kind, uint32_t mask, const int *values, int lane) {
    uint32_t ballot = 0, same = 0;
    int64_t sum = 0, least = INT64_MAX, most = INT64_MIN, low = INT64_MAX, high = 0;
    uint32_t all_bits = ~0u, any_bits = 0, odd_bits = 0;
    for (int l = 0; l < 32; l++) {
        if ((mask >> l & 1) == 0) continue;
        uint32_t bits = (uint32_t)values[l];
        if (values[l] != 0) ballot |= 1u << l;
        if (values[l] == values[lane]) same |= 1u << l;
        sum += values[l];
        if (values[l] < least) least = values[l];
        if (values[l] > most) most = values[l];
        if (bits < low) low = bits;
        if (bits > high) high = bits;
        all_bits &= bits, any_bits |= bits, odd_bits ^= bits;
    }
    switch (kind) {
    case CUPEL_EMU_VOTE_ALL: return ballot == mask;
    case CUPEL_EMU_VOTE_ANY: return ballot != 0;
    case CUPEL_EMU_VOTE_UNI: return ballot == 0 || ballot == mask;
    case CUPEL_EMU_VOTE_BALLOT: return ballot;
    case CUPEL_EMU_MATCH_ANY: return same;
    case CUPEL_EMU_MATCH_ALL: return same == mask ? mask : 0;
    case CUPEL_EMU_REDUCE_ADD: return (uint32_t)sum;
    case CUPEL_EMU_REDUCE_MIN: return (uint32_t)least;
    case CUPEL_EMU_REDUCE_MAX: return (uint32_t)most;
    case CUPEL_EMU_REDUCE_UMIN: return (uint32_t)low;
    case CUPEL_EMU_REDUCE_UMAX: return (uint32_t)high;
    case CUPEL_EMU_REDUCE_AND: return all_bits;
    case CUPEL_EMU_REDUCE_OR: return any_bits;
    default: return odd_bits;
    }
}

static void test_votes(void **state) {
    (void)state;
    static const unsigned masks[] = {~0u, 0x00ff00ff, 0x10000000};
    for (int kind = CUPEL_EMU_VOTE_ALL; kind <= CUPEL_EMU_REDUCE_XOR; kind++)
        for (int k = 0; k < 3; k++)
            for (unsigned schedule = 0; schedule < 5; schedule++)
                for (int equal = 0; equal < 2; equal++) {
                    reset();
                    for (int i = 0; i < 256 && equal; i++) in[i] = schedule & 1 ? 0 : 6;
                    unsigned mask = masks[k];
                    run("votes", (shape){.block = 64, .schedule = schedule}, 4,
                        (const void *[]){&in, &out, &kind, &mask});
                    for (int i = 0; i < 64; i++)
                        if (mask >> i % 32 & 1)
                            assert_int_equal((uint32_t)out[i],
                                             vote_meaning(kind, mask, in + i / 32 * 32, i % 32));
                }
}

enum { KEPT = 20, KEPT_THREADS = 64 };

/* What sums_down gives every thread of a warp whose values these are. */
static void sums_down(int value[32], int depth) {
    if (depth == 0) return;
    int here[32];
    for (int l = 0; l < 32; l++) here[l] = value[l] + value[l ^ 1 << (depth - 1)];
    memcpy(value, here, sizeof here);
    sums_down(value, depth - 1);
    for (int l = 0; l < 32; l++) value[l] += here[depth];
}

static uint32_t kept_by(int t, int count) {
    uint32_t sum, ballot = 0, by_three = 0, x[5];
    int values[32];
    for (int i = 0; i < 32; i++) {
        if ((t / 32 * 32 + i) % 3 == 0) ballot |= 1u << i;
        values[i] = t / 32 * 32 + i;
    }
    for (int i = 0; i < KEPT_THREADS; i++) by_three += i % 3 == 0;
    sums_down(values, 5);
    sum = (uint32_t)values[t % 32];
    x[0] = (uint32_t)(t ^ 1), x[1] = x[2] = ballot >> 8 & 0xff, x[3] = by_three, x[4] = 1 + 1;
    for (int i = 0; i < KEPT; i++) {
        uint32_t a = (uint32_t)in[(t * 3 + i) % 32];
        float b = (float)(int32_t)a * 0.5f;
        for (int k = 0; k < 5; k++) a = a * 3 + x[k], b = b * 0.5f + (float)x[k];
        sum = sum * 31 + a;
        sum += (uint32_t)(int32_t)b;
    }
    for (int i = 0; i < 16; i++) sum = sum * 7 + (uint32_t)in[(t + i) % 32];
    for (int i = 0; i < count; i++) sum = sum * 5 + (uint32_t)in[(t + 2 * i) % 32];
    return sum;
}

/* A thread that waits keeps more than the registers that a callee would save. */
static void test_values_are_kept(void **state) {
    (void)state;
    int count = 9;
    for (unsigned schedule = 0; schedule < SCHEDULES; schedule++) {
        reset();
        run("keeps_its_values", (shape){.block = KEPT_THREADS, .schedule = schedule}, 3,
            (const void *[]){&in, &out, &count});
        for (int t = 0; t < KEPT_THREADS; t++) assert_int_equal(out[t], (int32_t)kept_by(t, count));
    }
}

static void test_halves_of_a_warp(void **state) {
    (void)state;
    for (unsigned schedule = 0; schedule < SCHEDULES; schedule++) {
        reset();
        run("halves", (shape){.block = 64, .schedule = schedule}, 1, (const void *[]){&out});
        for (int i = 0; i < 64; i++)
            assert_int_equal((uint32_t)out[i], i % 32 < 16 ? (uint32_t)(i ^ 1) : 0xaaaa0000);
    }
}

static void test_lanes_that_exited(void **state) {
    (void)state;
    for (unsigned schedule = 0; schedule < SCHEDULES; schedule++) {
        reset();
        run("leaves_early", (shape){.block = 64, .schedule = schedule}, 1, (const void *[]){&out});
        for (int i = 0; i < 64; i++) assert_int_equal(out[i] != 0, i % 32 < 20);
        assert_non_null(strstr(f.seen.text, "note: a shuffle reads from a lane"));
    }
}

static uint32_t lanes_where(int warp, bool third) {
    uint32_t lanes = 0;
    for (int lane = 0; lane < 32; lane++)
        if ((in[warp * 32 + lane] % 3 == 0) == third) lanes |= 1u << lane;
    return lanes;
}

/* Lanes that ask in a branch are told of those in it, all lanes of the warp where they are together again. */
static void test_active_in_a_branch(void **state) {
    (void)state;
    for (unsigned schedule = 0; schedule < SCHEDULES; schedule++) {
        reset();
        int *counter = (int *)(void *)field_buffer(&f, 2), total = 0;
        run("counts_in_a_branch", (shape){.block = 96, .schedule = schedule}, 3,
            (const void *[]){&in, &out, &counter});
        bool taken[96] = {false};
        for (int w = 0; w < 3; w++) total += __builtin_popcount(lanes_where(w, true));
        assert_int_equal(*counter, total);
        for (int i = 0; i < 96; i++) {
            assert_int_equal((uint32_t)out[256 + i], ~0u);
            if (in[i] % 3 != 0) {
                assert_int_equal(out[i], -1 - __builtin_popcount(lanes_where(i / 32, false)));
                continue;
            }
            assert_in_range(out[i], 0, total - 1);
            assert_false(taken[out[i]]);
            taken[out[i]] = true;
        }
    }
}

static void test_active_in_a_loop(void **state) {
    (void)state;
    for (unsigned schedule = 0; schedule < SCHEDULES; schedule++) {
        reset();
        run("leaves_a_loop", (shape){.block = 32, .schedule = schedule}, 1, (const void *[]){&out});
        for (int turn = 0; turn < 32; turn++)
            for (int lane = turn; lane < 32; lane++)
                assert_int_equal((uint32_t)out[turn * 32 + lane], ~0u << turn);
    }
}

static void test_barriers(void **state) {
    (void)state;
    for (unsigned schedule = 0; schedule < SCHEDULES; schedule++)
        for (int divisor = 1; divisor < 4; divisor++) {
            reset();
            run("barriers", (shape){.block = 70, .schedule = schedule}, 2, (const void *[]){&out, &divisor});
            for (int i = 0; i < 70; i++) {
                assert_int_equal(out[i], (70 + divisor - 1) / divisor);
                assert_int_equal(out[i + 70], divisor == 1);
                assert_int_equal(out[i + 140], 1);
            }
        }
}

static void test_sums(void **state) {
    (void)state;
    for (unsigned schedule = 0; schedule < 300; schedule++) {
        int threads = 32 << schedule % 4, sum = 0;
        reset();
        for (int i = 0; i < threads; i++) sum += in[i];
        run("block_sum", (shape){.block = threads, .grid = 3, .schedule = schedule}, 2,
            (const void *[]){&in, &out});
        for (int b = 0; b < 3; b++) assert_int_equal(out[b], sum);
        reset();
        run("tree_sum", (shape){.block = threads, .grid = 2, .schedule = schedule}, 2,
            (const void *[]){&in, &out});
        for (int b = 0; b < 2; b++) assert_int_equal(out[b], sum);
        int turns = 9;
        reset();
        run("two_buffers", (shape){.block = 128, .schedule = schedule}, 3,
            (const void *[]){&in, &out, &turns});
        for (int i = 0; i < 128; i++) assert_int_equal(out[i], in[(i + turns) % 128] + turns);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_values_are_kept),
        cmocka_unit_test(test_halves_of_a_warp),
        cmocka_unit_test(test_lanes_that_exited),
        cmocka_unit_test(test_active_in_a_branch),
        cmocka_unit_test(test_active_in_a_loop),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
