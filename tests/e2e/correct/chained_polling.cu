/* cupel: 1
id: chained-polling
about: A running sum from block to block; blocks poll the flag of the one before with cache hints, which no compiler takes out of the loop.
dims: {N: 1..400}
inputs: {x: {type: i32, shape: [N], range: [-1000, 1000]}}
outputs: {y: "i32[N]"}
scratch: {flag: {type: i32, shape: ["ceil_div(N, 32)"], init: 0}, carry: {type: i32, shape: ["ceil_div(N, 32)"]}}
ensures: {y: "cumsum(x, axis=0)"}
kernel: {entry: chained, args: [x, y, flag, carry, N], grid: ["ceil_div(N, 32)"], block: [32]}
*/
__device__ int ptx_cg(const int *p) {
    int v;
    asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
__device__ int ptx_cv(const int *p) {
    int v;
    asm volatile("ld.global.cv.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

__global__ void chained(const int *x, int *y, int *flag, int *carry, int n) {
    int b = blockIdx.x, i = b * 32 + threadIdx.x, v = i < n ? x[i] : 0, before = 0;
    for (int d = 1; d < 32; d <<= 1) {
        int u = __shfl_up_sync(~0u, v, d);
        if (threadIdx.x >= d) v += u;
    }
    if (b > 0) {
        const int *p = flag + b - 1;
        if (b % 4 == 0)
            while (__ldcv(p) == 0) ;
        else if (b % 4 == 1)
            while (__ldcg(p) == 0) __nanosleep(20);
        else if (b % 4 == 2)
            while (ptx_cv(p) == 0) ;
        else
            while (ptx_cg(p) == 0) ;
        __threadfence();
        before = __ldcg(carry + b - 1);
    }
    if (i < n) y[i] = v + before;
    if (threadIdx.x == 31) {
        carry[b] = v + before;
        __threadfence();
        __stcg(flag + b, 1);
    }
}
