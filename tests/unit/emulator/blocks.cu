// Blocks that meet: at the grid, through flags, locks and tickets.
#include "cupel_mini_cuda.h"

INLINE int past_checker(int *p) {
    return *(__attribute__((address_space(1))) volatile int *)p;
}
INLINE int swap_if(int *p, int expected, int value) {
    cupel_emu_atomic_access(p, sizeof(int), 0);
    int old = past_checker(p);
    if (old == expected) *(__attribute__((address_space(1))) int *)p = value;
    return old;
}

// Every block's sum depends on what all blocks have written.
__global__ void two_phases(int *out, int *part) {
    __shared__ int own[32];
    own[tid()] = bid() * 32 + tid();
    sync();
    if (tid() == 0) {
        int sum = 0;
        for (int i = 0; i < 32; i++) sum += own[i];
        part[bid()] = sum;
    }
    cupel_emu_grid_sync(); // for the parts
    int sum = own[tid()];
    for (unsigned b = 0; b < gdim(); b++) sum += part[b];
    out[bid() * 32 + tid()] = sum;
}
__global__ void two_phases_too_early(int *out, int *part) {
    if (tid() == 0) part[bid()] = bid();
    sync();
    int sum = 0;
    for (unsigned b = 0; b < gdim(); b++) sum += part[b];
    out[bid() * 32 + tid()] = sum;
}
__global__ void stays_away(int *out) {
    if (bid() == 1) return;
    cupel_emu_grid_sync(); // without block 1
    out[bid()] = 1;
}
__global__ void one_thread_stays_away(int *out) {
    if (tid() == 1) sync();
    cupel_emu_grid_sync(); // and one at a barrier
    out[bid()] = 1;
}
__global__ void many_phases(int *out, int *turns, int n) {
    for (int i = 0; i < n; i++) {
        if (tid() == 0 && bid() == i % gdim()) turns[i] = i == 0 ? 1 : turns[i - 1] + 1;
        cupel_emu_grid_sync(); // one after the other
    }
    if (tid() == 0) out[bid()] = turns[n - 1];
}

// An inclusive scan: each block waits for the one before it.
__global__ void chained(const int *in, int *out, volatile int *flag) {
    __shared__ int values[64];
    unsigned i = bid() * 64 + tid();
    values[tid()] = in[i];
    sync();
    if (tid() == 0) {
        int before = 0;
        if (bid() != 0) {
            while (flag[2 * bid() - 2] == 0) {
            }
            before = flag[2 * bid() - 1];
        }
        for (int t = 0; t < 64; t++) before = values[t] += before;
        flag[2 * bid() + 1] = before;
        flag[2 * bid()] = 1;
    }
    sync();
    out[i] = values[tid()];
}
__global__ void chained_without_waiting(const int *in, int *out, volatile int *flag) {
    if (tid() == 0) {
        int before = bid() == 0 ? 0 : flag[2 * bid() - 1];
        flag[2 * bid() + 1] = before + in[bid()];
        out[bid()] = before;
    }
}
__global__ void locked_between_blocks(int *out, int *lock) {
    if (tid() == 0) {
        while (swap_if(lock, 0, 1) != 0) {
        }
        int before = *(volatile int *)out;
        *(volatile int *)out = before + 1;
        atomic_exchange(lock, 0);
    }
}
// Every thread of the block, or of the warp, takes part in every turn of the loop.
__global__ void waits_through_barriers(volatile int *out) {
    int ready = bid() == 0;
    while (!cupel_emu_barrier_sync(CUPEL_EMU_SYNC_OR, ready))
        if (tid() == 0) ready = out[bid() - 1] != 0;
    if (tid() == 0) out[bid()] = bid() == 0 ? 1 : out[bid() - 1] + 1;
}
__global__ void waits_through_votes(volatile int *out) {
    int ready = bid() == 0;
    while (!cupel_emu_vote_sync(CUPEL_EMU_VOTE_ANY, ~0u, ready, nullptr))
        if (tid() == 0) ready = out[bid() - 1] != 0;
    if (tid() == 0) out[bid()] = bid() == 0 ? 1 : out[bid() - 1] + 1;
}
__global__ void meet_and_wait(volatile int *out) {
    __shared__ int turn;
    int ready = 0;
    while (!cupel_emu_barrier_sync(CUPEL_EMU_SYNC_OR, ready)) { // for ever, in two turns
        if (tid() == 0) turn = 1 - turn, ready = out[bid()] != 0;
    }
    if (tid() == 0) out[bid()] = 1;
}
__global__ void meet_often(int *out, int n) {
    int turns = 0;
    while (cupel_emu_barrier_sync(CUPEL_EMU_SYNC_OR, turns < n)) turns++;
    if (tid() == 0) out[bid()] = turns;
}
__global__ void meet_by_the_clock(int *out, uint64_t n) {
    uint64_t from = cupel_emu_clock();
    while (cupel_emu_barrier_sync(CUPEL_EMU_SYNC_AND, cupel_emu_clock() - from < n)) {}
    if (tid() == 0) out[bid()] = 1;
}
__global__ void counts_between_blocks(volatile int *out) {
    if (tid() == 0) {
        int before = *out;
        *out = before + 1;
    }
}
__global__ void all_wait(volatile int *flag, int *out) {
    while (flag[0] == 0) {} // nobody sets it
    out[bid()] = 1;
}
__global__ void ticket(int *out, int *counter) {
    __shared__ int mine;
    if (tid() == 0) mine = atomic_add(counter, 1);
    sync();
    if (tid() == 0) {
        while (mine != 0 && *(volatile int *)&out[mine - 1] == 0) {
        }
        out[mine] = mine == 0 ? 1 : out[mine - 1] + 1;
    }
}
__global__ void waits_for_the_last(int *out, volatile int *flag) {
    if (bid() + 1 == gdim()) flag[0] = 1;
    while (flag[0] == 0) {
    }
    if (tid() == 0) out[bid()] = 1;
}
__global__ void one_after_the_other(volatile int *out) {
    if (tid() != 0) return;
    while (bid() != 0 && out[bid() - 1] == 0) {
    }
    out[bid()] = bid() == 0 ? 1 : out[bid() - 1] + 1;
}

CANDIDATE(ENTRY(two_phases, 0), ENTRY(two_phases_too_early, 0), ENTRY(stays_away, 0), ENTRY(one_thread_stays_away, 0),
          ENTRY(many_phases, 0), ENTRY(chained, 0), ENTRY(chained_without_waiting, 0), ENTRY(locked_between_blocks, 0),
          ENTRY(counts_between_blocks, 0), ENTRY(all_wait, 0), ENTRY(ticket, 0), ENTRY(waits_for_the_last, 0),
          ENTRY(one_after_the_other, 0), ENTRY(waits_through_barriers, 0), ENTRY(waits_through_votes, 0),
          ENTRY(meet_and_wait, 0), ENTRY(meet_often, 0), ENTRY(meet_by_the_clock, 0))
