/* Schedules. Seed 0 is canonical and kind: blocks, warps and lanes in order, and a thread that is about to
 * touch shared memory in a way that could conflict with its last access waits until all others have come as
 * far. So a kernel that lacks a barrier is mostly right, as on a device, where warps run abreast. Other seeds
 * permute everything and choose one of four ways to run. */
#include <string.h>

#include "emu_machine.h"
#include "philox.h"

enum { STREAM_POLICY = 0x454d5501, STREAM_DRAWS = 0x454d5502 };

static cupel_emu_machine *const m = &cupel_emu_the_machine;

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void shuffle_bytes(cupel_random *random, uint8_t *items, uint32_t count) {
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)cupel_random_below(random, i);
        uint8_t kept = items[i - 1];
        items[i - 1] = items[j];
        items[j] = kept;
    }
}

static void reverse_bytes(uint8_t *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) items[i] = (uint8_t)(count - 1 - i);
}

enum { RUN_UNTIL_WAIT, STEPWISE, REVERSE, RANDOM_SWITCH, WAYS };

void cupel_emu_schedule_begin(cupel_emu_policy *policy, uint64_t seed) {
    *policy = (cupel_emu_policy){.stepwise = true, .identity = true, .seed = seed};
    for (uint32_t i = 0; i < CUPEL_EMU_WARP; i++) policy->lane_order[i] = (uint8_t)i;
    if (seed == 0) return;
    cupel_random random = cupel_random_start(seed, STREAM_POLICY);
    uint64_t way = cupel_random_below(&random, WAYS);
    policy->identity = false;
    policy->stepwise = way == STEPWISE;
    policy->random_switch = way == RANDOM_SWITCH;
    policy->random = cupel_philox(seed, STREAM_DRAWS, 0) | 1;
    if (way == REVERSE) {
        reverse_bytes(policy->lane_order, CUPEL_EMU_WARP);
    } else {
        shuffle_bytes(&random, policy->lane_order, CUPEL_EMU_WARP);
    }
}

void cupel_emu_schedule_grid(cupel_emu_policy *policy, uint64_t block_count) {
    policy->block_start = 0;
    policy->block_step = 1;
    if (policy->seed == 0 || block_count < 2) return;
    cupel_random random = cupel_random_start(policy->seed, STREAM_POLICY);
    random.next = 4096; /* past the draws of cupel_emu_schedule_begin */
    policy->block_start = cupel_random_below(&random, block_count);
    do policy->block_step = 1 + cupel_random_below(&random, block_count - 1);
    while (greatest_common_divisor(policy->block_step, block_count) != 1);
}

/* xorshift64*: fast, and only ever used to choose between threads. */
uint32_t cupel_emu_schedule_below(uint32_t bound) {
    uint64_t x = m->policy.random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    m->policy.random = x;
    return (uint32_t)(((x * UINT64_C(0x2545F4914F6CDD1D)) >> 32) * bound >> 32);
}

static uint32_t nth_bit(uint32_t mask, uint32_t n) {
    while (n-- > 0) mask &= mask - 1;
    return (uint32_t)__builtin_ctz(mask);
}

/* One of the threads that are ready, which must not be none. */
cupel_emu_thread *cupel_emu_schedule_draw(void) {
    for (;;) {
        uint32_t w =
            nth_bit(m->ready_warps, cupel_emu_schedule_below((uint32_t)__builtin_popcount(m->ready_warps)));
        cupel_emu_warp *warp = &m->warps[w];
        if (warp->ready == 0) {
            m->ready_warps &= ~(1u << w);
            continue;
        }
        uint32_t slot =
            nth_bit(warp->ready, cupel_emu_schedule_below((uint32_t)__builtin_popcount(warp->ready)));
        warp->ready &= ~(1u << slot);
        return &warp->threads[slot];
    }
}

static void lay_out_warp(cupel_emu_warp *warp, cupel_emu_thread *threads, uint32_t id) {
    const cupel_emu_dim *dim = &m->registers->block_dim;
    uint32_t slot = 0;
    warp->existing_lanes = 0;
    warp->threads = threads;
    memset(warp->slot_of, CUPEL_EMU_WARP, sizeof warp->slot_of);
    for (uint32_t p = 0; p < CUPEL_EMU_WARP; p++) {
        uint32_t lane = m->policy.lane_order[p], linear = id * CUPEL_EMU_WARP + lane;
        if (linear >= m->thread_count) continue;
        threads[slot] = (cupel_emu_thread){.x = linear % dim->x,
                                           .y = linear / dim->x % dim->y,
                                           .z = linear / dim->x / dim->y,
                                           .lane = lane,
                                           .warp = id,
                                           .own = 1u << slot,
                                           .home = warp};
        warp->slot_of[lane] = (uint8_t)slot++;
        warp->existing_lanes |= 1u << lane;
    }
    warp->existing = slot == CUPEL_EMU_WARP ? ~0u : (1u << slot) - 1;
}

void cupel_emu_schedule_threads(void) {
    uint8_t order[CUPEL_EMU_WARPS_MAX];
    m->warp_count = (m->thread_count + CUPEL_EMU_WARP - 1) / CUPEL_EMU_WARP;
    for (uint32_t w = 0; w < m->warp_count; w++) order[w] = (uint8_t)w;
    if (m->policy.seed != 0) {
        cupel_random random = cupel_random_start(m->policy.seed, STREAM_POLICY);
        if (cupel_random_below(&random, WAYS) == REVERSE) {
            reverse_bytes(order, m->warp_count);
        } else {
            random.next = 8192;
            shuffle_bytes(&random, order, m->warp_count);
        }
    }
    for (uint32_t w = 0; w < m->warp_count; w++)
        lay_out_warp(&m->warps[w], &m->threads[w * CUPEL_EMU_WARP], order[w]);
}
