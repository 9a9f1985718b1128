// entries: with_asm; through_macro; through_function; plain
// refused: unknown: 17: the PTX instruction 'wgmma.fence.sync.aligned'
// refused: unknown_macro: 20: the PTX instruction 'tcgen05.fence'
#include <stdint.h>

__device__ __forceinline__ uint32_t lane_id() { uint32_t r;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__global__ void with_asm(uint32_t *x) { x[0] = lane_id(); }
#define BAR() \
    asm volatile("bar.sync 0;" ::: "memory")
__global__ void through_macro(int *x) { BAR(); x[0] = 1; }
__device__ float half_way(float x) {
    float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__global__ void through_function(float *x) { x[0] = half_way(x[0]); }
__global__ void plain(float *x) { x[0] = 2; }
__device__ void fence() {
    asm volatile("wgmma.fence.sync.aligned;"); }
__global__ void unknown(float *x) { fence(); x[0] = 2; }
#define FENCE() asm volatile("tcgen05.fence;")
__global__ void unknown_macro(float *x) { FENCE(); x[0] = 2; }
