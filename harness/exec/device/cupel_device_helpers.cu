/* Kernels of the executor's own. */

/* Leaves a word in every byte of shared memory that a block can have. */
extern "C" __global__ void cupel_dirty_shared(unsigned word, unsigned words) {
    extern __shared__ unsigned memory[];
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) *(volatile unsigned *)&memory[i] = word;
}

/* Keeps multiprocessors busy for about that many nanoseconds. */
extern "C" __global__ void cupel_spin(unsigned long long nanoseconds) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < nanoseconds);
}

/* What a launch costs by itself. */
extern "C" __global__ void cupel_nothing(void) {}
