// entries: plain
// refused: with_asm: 8: inline PTX
// refused: through_macro: 12: inline PTX
// refused: through_function: 14: inline PTX
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
