/* Schedules (schedule.h). The canonical one is kind: blocks, warps and lanes in order, and a thread that is
 * about to touch shared memory in a way that could conflict with its last access waits until all others have
 * come as far. So a kernel that lacks a barrier is mostly right, as on a device, where warps run abreast. */
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

static bool permutes(const cupel_schedule *schedule) {
    return schedule->way >= CUPEL_SCHEDULE_IN_TURN;
}

/* Draws for one purpose, each far from the others'. Ways with one seed have permutations of their own. */
enum { DRAWS_OF_LANES = 0, DRAWS_OF_BLOCKS = 4096, DRAWS_OF_WARPS = 8192 };

static cupel_random draws(const cupel_schedule *schedule, uint64_t purpose) {
    cupel_random random = cupel_random_start((uint64_t)schedule->way << 32 | schedule->seed, STREAM_POLICY);
    random.next = purpose;
    return random;
}

void cupel_emu_schedule_begin(cupel_emu_policy *policy, uint64_t number) {
    cupel_schedule schedule = cupel_schedule_unpack(number);
    *policy = (cupel_emu_policy){
        .stepwise = schedule.way == CUPEL_SCHEDULE_CANONICAL || schedule.way == CUPEL_SCHEDULE_ABREAST,
        .random_switch = schedule.way == CUPEL_SCHEDULE_RANDOM,
        .identity = schedule.way == CUPEL_SCHEDULE_CANONICAL || schedule.way == CUPEL_SCHEDULE_LAST_WARP,
        .switches_left = schedule.limit ? schedule.limit : UINT32_MAX,
        .random = cupel_philox(schedule.seed, STREAM_DRAWS, 0) | 1,
        .schedule = schedule};
    for (uint32_t i = 0; i < CUPEL_EMU_WARP; i++) policy->lane_order[i] = (uint8_t)i;
    if (schedule.way == CUPEL_SCHEDULE_REVERSE) reverse_bytes(policy->lane_order, CUPEL_EMU_WARP);
    if (!permutes(&schedule)) return;
    cupel_random random = draws(&schedule, DRAWS_OF_LANES);
    shuffle_bytes(&random, policy->lane_order, CUPEL_EMU_WARP);
}

/* The running thread goes on to one that is drawn, if there is a switch left to make. */
bool cupel_emu_schedule_switches(void) {
    if (cupel_emu_schedule_below(CUPEL_EMU_SWITCH_ONE_IN) != 0) return false;
    if (m->policy.switches_left != UINT32_MAX && --m->policy.switches_left == 0)
        m->policy.random_switch = false, m->calm = true; /* after this one */
    return true;
}

void cupel_emu_schedule_grid(cupel_emu_policy *policy, uint64_t block_count) {
    policy->block_start = 0;
    policy->block_step = 1;
    if (policy->schedule.way == CUPEL_SCHEDULE_REVERSE && block_count > 1)
        policy->block_start = policy->block_step = block_count - 1;
    if (!permutes(&policy->schedule) || block_count < 2) return;
    cupel_random random = draws(&policy->schedule, DRAWS_OF_BLOCKS);
    policy->block_start = cupel_random_below(&random, block_count);
    do policy->block_step = 1 + cupel_random_below(&random, block_count - 1);
    while (greatest_common_divisor(policy->block_step, block_count) != 1);
}

bool cupel_emu_schedule_reorders(const cupel_emu_policy *policy) {
    return !m->in_groups && (policy->block_start != 0 || policy->block_step != 1);
}

/* Within a group the orders are of the same kind as in the whole. */
uint64_t cupel_emu_schedule_block(const cupel_emu_policy *policy, uint64_t i, uint64_t count, uint64_t room) {
    uint64_t first = 0, start = policy->block_start, step = policy->block_step;
    if (m->in_groups) {
        first = i / room * room;
        if (count - first < room) room = count - first;
        if (policy->schedule.way == CUPEL_SCHEDULE_REVERSE) {
            start = step = room - 1;
        } else {
            start %= room;
            while (greatest_common_divisor(step, room) != 1) step++;
        }
        i -= first;
        count = room;
    }
    return first + (start + i * step) % count;
}

uint32_t cupel_emu_schedule_below(uint32_t bound) {
    m->policy.random = cupel_emu_schedule_next(m->policy.random);
    return cupel_emu_schedule_scaled(m->policy.random, bound);
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
    warp->existing_lanes = warp->asking = 0;
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
    if (m->policy.schedule.way == CUPEL_SCHEDULE_REVERSE) reverse_bytes(order, m->warp_count);
    if (m->policy.schedule.way == CUPEL_SCHEDULE_LAST_WARP)
        for (uint32_t w = 0; w < m->warp_count; w++)
            order[w] = (uint8_t)((w + m->warp_count - 1) % m->warp_count);
    if (permutes(&m->policy.schedule)) {
        cupel_random random = draws(&m->policy.schedule, DRAWS_OF_WARPS);
        shuffle_bytes(&random, order, m->warp_count);
    }
    for (uint32_t w = 0; w < m->warp_count; w++)
        lay_out_warp(&m->warps[w], &m->threads[w * CUPEL_EMU_WARP], order[w]);
}
