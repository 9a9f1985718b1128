// Threads that take long and come to an end, and threads that never will.
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

// ---- long ways ----

__global__ void registers_only(unsigned *out, int n) {
    unsigned x = tid();
    for (int i = 0; i < n; i++) x = x * 1664525u + 1013904223u;
    out[tid()] = x;
}
__global__ void reads_only(const int *in, int *out, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += in[i * 7 & 2047];
    out[tid()] = sum;
}
__global__ void in_local_memory(int *out, int n) {
    int heap[64] = {};
    for (int i = 0; i < n; i++) heap[(i * 5 + tid()) & 63] += i & 3;
    int sum = 0;
    for (int i = 0; i < 64; i++) sum += heap[i];
    out[tid()] = sum;
}
__device__ __attribute__((noinline)) unsigned collatz(unsigned x, const int *limit) {
    unsigned turns = 0;
    for (; x > 1 && turns < (unsigned)*limit; turns++) x = x & 1 ? 3 * x + 1 : x / 2;
    return turns;
}
__global__ void nested(const int *limit, unsigned *out, int n) {
    unsigned most = 0;
    for (int i = 1; i <= n; i++) {
        unsigned turns = collatz(i, limit);
        most = turns > most ? turns : most;
    }
    out[tid()] = most;
}
__global__ void creeps(float *out, int n) { // to the root of 2
    double low = 1, high = 2;
    for (int i = 0; i < n; i++) {
        double middle = low + (high - low) * 1e-6;
        if (middle * middle < 2) low = middle; else high = middle;
    }
    out[tid()] = low;
}
__global__ void votes(int *out, int n) {
    int turns = 0;
    while (cupel_emu_vote_sync(CUPEL_EMU_VOTE_ANY, ~0u, turns < n, nullptr)) turns++;
    out[tid()] = turns;
}
__global__ void votes_of_one(int *out, int n) { // the others have nothing to count
    int turns = 0;
    while (cupel_emu_vote_sync(CUPEL_EMU_VOTE_ANY, ~0u, tid() == 5 && turns < n, nullptr))
        if (tid() == 5) turns++;
    out[tid()] = turns;
}
__global__ void comes_by_name(int *out, volatile int *flag, int n) { // one counts for both warps
    int turns = 0;
    for (bool done = false; !done;) {
        if (tid() == 40 && ++turns == n) flag[0] = 1;
        cupel_emu_named_barrier(1, 64, 0);
        done = flag[0] != 0;
        cupel_emu_named_barrier(2, 64, 0);
    }
    out[tid()] = turns;
}
__global__ void meets_when_one_says(int *out, int n) {
    int turns = 0;
    while (cupel_emu_barrier_sync(CUPEL_EMU_SYNC_OR, tid() == 5 && turns < n))
        if (tid() == 5) turns++;
    out[tid()] = turns;
}
__global__ void pauses_of_one(int *out, volatile int *flag, int n) {
    int turns = 0;
    if (tid() == 5) {
        for (; turns < n; turns++) cupel_emu_pause();
        flag[0] = 1;
    } else {
        while (flag[0] == 0) cupel_emu_pause();
    }
    out[tid()] = turns;
}
__global__ void pauses(int *out, int n) {
    int turns = 0;
    for (; turns < n; turns++) cupel_emu_pause();
    out[tid()] = turns;
}
__global__ void gives_up_waiting(volatile int *out, int n) { // for what does not come
    int turns = 0;
    while (out[100] == 0 && turns < n) turns++;
    out[tid()] = turns;
}
// One works for long, the others wait for it: warps, or blocks.
__global__ void waits_for_a_warp(unsigned *out, int n) {
    __shared__ volatile int done;
    if (tid() == 0) done = 0;
    sync();
    unsigned x = tid();
    if (tid() / 32 == 1) {
        for (int i = 0; i < n; i++) x = x * 1664525u + 1013904223u;
        done = 1;
    } else {
        while (done == 0) {}
    }
    out[tid()] = x;
}
__global__ void waits_for_a_block(volatile unsigned *out, int n) {
    unsigned x = 1;
    if (bid() == gdim() - 1) {
        for (int i = 0; i < n; i++) x = x * 1664525u + 1013904223u;
        out[gdim()] = 1;
    } else {
        while (out[gdim()] == 0) {}
    }
    out[bid()] = x;
}
// One works, in one way or another, the others wait, each in its way.
INLINE void work(volatile int *flag, int *out, int n, int how) {
    int turns = 0, local[8] = {};
    for (; turns < n; turns++) {
        if (how == 1) cupel_emu_pause();
        if (how == 2 && flag[100 + (turns & 7)] != 0) break;
        if (how == 3) local[(turns * 5) & 7] ^= turns;
        if (how == 4) cupel_emu_vote_sync(CUPEL_EMU_VOTE_ANY, 1u << tid() % 32, 1, nullptr);
        if (how == 5) atomic_exchange(&out[200], 3);
    }
    out[0] = turns + (local[2] == 1000000001);
}
INLINE void wait_for(volatile int *flag, int how, unsigned lanes) {
    if (how == 0) while (flag[0] == 0) {}
    if (how == 1) while (flag[0] == 0) cupel_emu_pause();
    if (how == 2) while (atomic_add((int *)flag, 0) == 0) {}
    if (how == 3) while (swap_if((int *)flag, 1, 1) == 0) cupel_emu_pause();
    if (how == 4) for (int i = 1; flag[0] == 0; i = i < 8 ? 2 * i : 8) for (int k = 0; k < i; k++) cupel_emu_pause();
    if (how == 5) while (!cupel_emu_vote_sync(CUPEL_EMU_VOTE_ANY, lanes, flag[0] != 0, nullptr)) {}
    if (how == 6) while (!cupel_emu_vote_sync(CUPEL_EMU_VOTE_ALL, lanes, flag[0] != 0, nullptr)) cupel_emu_pause();
    if (how == 7) for (int i = 0; flag[i & 0] == 0; i = (i + 1) % 5) {}
}
__global__ void relay(int *out, volatile int *flag, int n, int ways) {
    int worker = ways / 64 % (int)(bdim() * gdim()), self = bid() * bdim() + tid();
    if (self == worker) {
        work(flag, out, n, ways / 8 % 8 % 6);
        flag[0] = 1;
    } else {
        bool beside = self / 32 == worker / 32;
        wait_for(flag, (ways + (int)tid() / 32) % 8, ~(beside ? 1u << worker % 32 : 0u));
    }
    sync();
    out[1 + self] = 1;
}
// A flag that is up now and then, until somebody has seen it.
__global__ void blinks(volatile int *out, volatile int *flag) {
    if (tid() == 0) {
        while (flag[1] == 0) {
            flag[0] = 1;
            flag[0] = 0;
        }
    } else {
        while (flag[0] == 0) {}
        flag[1] = 1;
    }
    out[tid()] = 1;
}

// ---- for ever ----

__global__ void one_flag(volatile int *flag) {
    while (flag[tid() & 3] == 0) {} // one flag
}
__global__ void two_flags(volatile int *flag) {
    for (int i = 0; flag[i] == 0; i = 1 - i) {} // two flags
}
__global__ void many_flags(volatile int *flag) {
    for (int i = 0; flag[i] == 0; i = i == 500 ? 0 : i + 1) {} // many flags
}
__global__ void backs_off(volatile int *flag) {
    for (int turns = 1; flag[0] == 0;) { // backs off
        for (int i = 0; i < turns; i++) cupel_emu_pause(); // pauses
        if (turns < 16) turns *= 2;
    }
}
__global__ void locked_out(int *lock) {
    for (int turn = 0; turn < 2; turn++)
        while (swap_if(lock, 0, 1) != 0) {} // nobody unlocks
    lock[1] = 1;
}
__global__ void takes_and_puts_back(int *tickets) {
    while (atomic_add(tickets, 1) >= 0) { // no ticket
        atomic_add(tickets, -1); // and back
    }
}
__global__ void wakes_too_early(int *out) {
    __shared__ volatile int awake;
    if (tid() == 0) awake = 0;
    sync();
    if (tid() == 32) awake = 1;
    sync();
    if (tid() < 32) {
        awake = 0; // after the call
        while (awake == 0) {} // lost
    }
    out[tid()] = 1;
}
__global__ void votes_for_ever(volatile int *flag) {
    while (!cupel_emu_vote_sync(CUPEL_EMU_VOTE_ANY, ~0u, flag[tid()], nullptr)) {} // nobody votes
}
__global__ void waits_by_name(volatile int *flag) {
    while (flag[0] == 0) cupel_emu_named_barrier(1, 64, 0); // by name
}
__global__ void never_hits(unsigned *out, unsigned mask, unsigned target) {
    unsigned x = tid();
    while (x != target) x = (x * 1664525u + 1013904223u) & mask; // never hits
    out[tid()] = x;
}
__global__ void in_local_circles(int *out, int n) {
    int ring[8] = {1};
    for (int i = 0; ring[i & n & 7] < 2; i++) ring[(i + n) & 7] ^= 1, i &= 15; // local circles
    out[tid()] = ring[3];
}
__device__ __attribute__((noinline)) int ask(volatile int *flag, int i) {
    int seen[4] = {0};
    for (int k = 0; k < 4; k++) seen[k] = flag[i + k]; // looks
    return seen[i & 3];
}
__global__ void in_a_function(volatile int *flag) {
    while (ask(flag, flag[7]) == 0) {} // in a function
}
__global__ void stands_after_work(volatile int *flag, unsigned *out, int n) {
    unsigned x = tid();
    for (int i = 0; i < n; i++) x = x * 1664525u + 1013904223u;
    out[100 + tid()] = x;
    while (flag[x & 1] == 0) {} // after work
}
__global__ void half_of_them(volatile int *flag, unsigned *out) {
    if (tid() % 2 == 0) {
        while (flag[0] == 0) {} // half of them
    }
    sync();
    out[tid()] = 1;
}
__global__ void counts_its_turns(volatile int *flag, int *out) {
    int turns = 0;
    while (flag[0] == 0) turns++; // counts
    out[tid()] = turns;
}

CANDIDATE(ENTRY(registers_only, 0), ENTRY(reads_only, 0), ENTRY(in_local_memory, 0), ENTRY(nested, 0), ENTRY(creeps, 0),
          ENTRY(votes, 0), ENTRY(votes_of_one, 0), ENTRY(comes_by_name, 0), ENTRY(meets_when_one_says, 0), ENTRY(pauses_of_one, 0),
          ENTRY(pauses, 0), ENTRY(gives_up_waiting, 0), ENTRY(waits_for_a_warp, 0), ENTRY(waits_for_a_block, 0),
          ENTRY(relay, 0), ENTRY(blinks, 0), ENTRY(one_flag, 0), ENTRY(two_flags, 0), ENTRY(many_flags, 0), ENTRY(backs_off, 0),
          ENTRY(locked_out, 0), ENTRY(takes_and_puts_back, 0), ENTRY(wakes_too_early, 0), ENTRY(votes_for_ever, 0),
          ENTRY(waits_by_name, 0), ENTRY(never_hits, 0), ENTRY(in_local_circles, 0), ENTRY(in_a_function, 0),
          ENTRY(stands_after_work, 0), ENTRY(half_of_them, 0), ENTRY(counts_its_turns, 0))
