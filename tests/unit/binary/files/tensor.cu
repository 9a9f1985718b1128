// A kernel that allocates tensor memory, and one that does not.
extern "C" __global__ __launch_bounds__(96) void tensor(unsigned *out) {
    __shared__ unsigned columns;
    unsigned address = (unsigned)__cvta_generic_to_shared(&columns);
    if (threadIdx.x < 32)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(address), "r"(128));
    __syncthreads();
    out[0] = columns;
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(columns), "r"(128));
}
extern "C" __global__ __launch_bounds__(64) void scalar(unsigned *out) { out[threadIdx.x] = 1; }
