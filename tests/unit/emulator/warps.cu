#include "cupel_mini_cuda.h"

__global__ void shuffles(const int *in, int *out, int kind, unsigned mask, unsigned argument, unsigned width) {
    unsigned lane = tid() & 31;
    if (mask >> lane & 1) out[tid()] = shuffle(kind, mask, in[tid()], argument, width);
}

__global__ void votes(const int *in, int *out, int kind, unsigned mask) {
    unsigned lane = tid() & 31;
    if ((mask >> lane & 1) == 0) return;
    int predicate = -1;
    out[tid()] = cupel_emu_vote_sync(kind, mask, (uint64_t)(int64_t)in[tid()], &predicate);
}

__global__ void halves(int *out) { // two groups of lanes in different operations
    unsigned lane = tid() & 31;
    if (lane < 16) {
        out[tid()] = shuffle(CUPEL_EMU_SHFL_XOR, 0x0000ffff, (int)tid(), 1);
    } else {
        for (int i = 0; i < 3; i++) cupel_emu_warp_sync(0xffff0000);
        out[tid()] = cupel_emu_vote_sync(CUPEL_EMU_VOTE_BALLOT, 0xffff0000, lane & 1, nullptr);
    }
}

__device__ __attribute__((noinline)) int sums_down(int value, int depth) { // waits in frames below each other
    if (depth == 0) return value;
    value += shuffle(CUPEL_EMU_SHFL_XOR, ~0u, value, 1u << (depth - 1));
    int below = sums_down(value, depth - 1);
    return below + shuffle(CUPEL_EMU_SHFL_IDX, ~0u, value, depth);
}

#define EACH(DO)                                                                                                       \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) \
        DO(18) DO(19)
#define MAKE(i) unsigned a##i = (unsigned)in[(t * 3 + i) % 32]; float b##i = (float)(int)a##i * 0.5f;
#define CHANGE(i) a##i = a##i * 3 + x, b##i = b##i * 0.5f + (float)x;
#define FOLD(i) sum = sum * 31 + a##i, sum += (unsigned)(int)b##i;

// More values than there are registers, a frame that is aligned and one whose size is not known: all of it is
// the same after every way of waiting.
__global__ void keeps_its_values(const int *in, int *out, int count) {
    const unsigned t = tid();
    alignas(64) int table[16];
    int *more = (int *)__builtin_alloca((unsigned long)count * sizeof(int));
    for (unsigned i = 0; i < 16; i++) table[i] = in[(t + i) % 32];
    for (int i = 0; i < count; i++) more[i] = in[(t + 2 * (unsigned)i) % 32];
    EACH(MAKE)
    unsigned x = shuffle(CUPEL_EMU_SHFL_XOR, ~0u, t, 1);
    EACH(CHANGE)
    x = cupel_emu_vote_sync(CUPEL_EMU_VOTE_BALLOT, ~0u, t % 3 == 0, nullptr) >> 8 & 0xff;
    EACH(CHANGE)
    cupel_emu_warp_sync(~0u);
    EACH(CHANGE)
    x = (unsigned)cupel_emu_barrier_sync(CUPEL_EMU_SYNC_COUNT, t % 3 == 0);
    EACH(CHANGE)
    int all = -1;
    x = cupel_emu_vote_sync(CUPEL_EMU_MATCH_ALL, ~0u, t / 32, &all) & 1;
    x += (unsigned)all;
    EACH(CHANGE)
    unsigned sum = (unsigned)sums_down((int)t, 5);
    EACH(FOLD)
    for (int i = 0; i < 16; i++) sum = sum * 7 + (unsigned)table[i];
    for (int i = 0; i < count; i++) sum = sum * 5 + (unsigned)more[i];
    out[t] = (int)(sum + (unsigned)((uintptr_t)table % 64));
}

__global__ void leaves_early(int *out) { // lanes that have exited are not waited for
    if ((tid() & 31) >= 20) return;
    int sum = tid() & 31;
    for (int o = 16; o; o >>= 1) sum += shuffle(CUPEL_EMU_SHFL_XOR, ~0u, sum, o);
    sync();
    out[tid()] = sum;
}

__global__ void counts_in_a_branch(const int *in, int *out, int *counter) { // one addition for lanes that are together
    int lane = tid() & 31;
    if (in[tid()] % 3 == 0) {
        unsigned together = cupel_emu_active_mask();
        int leader = __builtin_ctz(together), before = 0;
        if (lane == leader) before = atomic_add(counter, __builtin_popcount(together));
        before = shuffle(CUPEL_EMU_SHFL_IDX, together, before, leader);
        out[tid()] = before + __builtin_popcount(together & ((1u << lane) - 1));
    } else {
        out[tid()] = -1 - __builtin_popcount(cupel_emu_active_mask());
    }
    out[256 + tid()] = cupel_emu_active_mask();
}

__global__ void leaves_a_loop(int *out) { // who is still in it
    for (unsigned turn = 0; turn <= (tid() & 31); turn++) out[turn * 32 + (tid() & 31)] = cupel_emu_active_mask();
}

__global__ void barriers(int *out, int divisor) {
    int yes = tid() % divisor == 0;
    out[tid()] = cupel_emu_barrier_sync(CUPEL_EMU_SYNC_COUNT, yes);
    out[tid() + bdim()] = cupel_emu_barrier_sync(CUPEL_EMU_SYNC_AND, yes);
    out[tid() + 2 * bdim()] = cupel_emu_barrier_sync(CUPEL_EMU_SYNC_OR, yes);
}

__global__ void block_sum(const int *in, int *out) { // warp sums, then the first warp
    __shared__ int part[32];
    int sum = in[tid()];
    for (int o = 16; o; o >>= 1) sum += shuffle(CUPEL_EMU_SHFL_DOWN, ~0u, sum, o);
    if ((tid() & 31) == 0) part[tid() / 32] = sum;
    sync();
    if (tid() < 32) {
        sum = tid() < (bdim() + 31) / 32 ? part[tid()] : 0;
        for (int o = 16; o; o >>= 1) sum += shuffle(CUPEL_EMU_SHFL_DOWN, ~0u, sum, o);
        if (tid() == 0) out[bid()] = sum;
    }
}

__global__ void tree_sum(const int *in, int *out) {
    __shared__ int s[256];
    s[tid()] = in[tid()];
    sync();
    for (int o = bdim() / 2; o; o >>= 1) {
        if (tid() < (unsigned)o) s[tid()] += s[tid() + o];
        sync();
    }
    if (tid() == 0) out[bid()] = s[0];
}

__global__ void two_buffers(const int *in, int *out, int turns) { // double buffering with one barrier a turn
    __shared__ int s[2][128];
    s[0][tid()] = in[tid()];
    sync();
    for (int t = 0; t < turns; t++) {
        s[(t + 1) & 1][tid()] = s[t & 1][(tid() + 1) % bdim()] + 1;
        sync();
    }
    out[tid()] = s[turns & 1][tid()];
}

// The same with defects that a device mostly forgives.
__global__ void no_barrier(const int *in, int *out) { // block_sum without its barrier
    __shared__ int part[32];
    int sum = in[tid()];
    for (int o = 16; o; o >>= 1) sum += shuffle(CUPEL_EMU_SHFL_DOWN, ~0u, sum, o);
    if ((tid() & 31) == 0) part[tid() / 32] = sum;
    if (tid() < 32) {
        sum = tid() < (bdim() + 31) / 32 ? part[tid()] : 0;
        for (int o = 16; o; o >>= 1) sum += shuffle(CUPEL_EMU_SHFL_DOWN, ~0u, sum, o);
        if (tid() == 0) out[bid()] = sum;
    }
}

__global__ void no_syncwarp(const int *in, int *out) { // the last steps of a tree in one warp, unsynchronised
    __shared__ volatile int s[64];
    s[tid()] = in[tid()];
    s[tid() + 32] = in[tid() + 32];
    for (int o = 32; o; o >>= 1)
        if (tid() < (unsigned)o) s[tid()] += s[tid() + o];
    if (tid() == 0) out[bid()] = s[0];
}

__global__ void shared_scalar(const int *in, int *out) { // read too early, and overwritten too early
    __shared__ int total;
    for (int turn = 0; turn < 3; turn++) {
        if (tid() == 0) total = in[turn];
        out[turn * bdim() + tid()] = total;
    }
}

__global__ void carry(const int *in, int *out, int n) { // reused between turns without a barrier at the end
    __shared__ int s[64];
    int sum = 0;
    for (int i = 0; i < n; i += 64) {
        s[tid()] = in[i + tid()];
        sync();
        for (int j = 0; j < 64; j++) sum += s[j];
    }
    out[tid()] = sum;
}

__global__ void block_order(int *out, int *counter) {
    if (tid() == 0) out[bid()] = atomic_add(counter, 1);
}

__global__ void thread_order(int *out, int *counter) { out[tid()] = atomic_add(counter, 1); }

__global__ void spins(volatile int *out, volatile int *flag) { // waits in a loop for another thread of the block
    if (tid() == 1) {
        while (*flag == 0) {
        }
    }
    if (tid() == bdim() - 1) *flag = 1;
    out[tid()] = 5;
}

CANDIDATE(ENTRY(shuffles, 0), ENTRY(votes, 0), ENTRY(halves, 0), ENTRY(keeps_its_values, 0), ENTRY(leaves_early, 0), ENTRY(counts_in_a_branch, 0), ENTRY(leaves_a_loop, 0), ENTRY(barriers, 0),
          ENTRY(block_sum, 0), ENTRY(tree_sum, 0), ENTRY(two_buffers, 0), ENTRY(no_barrier, 0), ENTRY(no_syncwarp, 0),
          ENTRY(shared_scalar, 0), ENTRY(carry, 0), ENTRY(block_order, 0), ENTRY(thread_order, 0), ENTRY(spins, 0))
