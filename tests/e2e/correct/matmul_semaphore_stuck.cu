/* cupel: 1
id: matmul-semaphore-stuck
about: The block before last does not hand the turn on.
dims:    {M: 1..64, N: 1..64, K: 1..256}
inputs:
  a: {type: f32, shape: [M, K], range: [-2, 2]}
  b: {type: f32, shape: [K, N], range: [-2, 2]}
outputs: {c: "f32[M, N]"}
scratch: {turn: {type: i32, shape: ["ceil_div(M, 16) * ceil_div(N, 16)"], init: 0}}
ensures: {c: "matmul(a, b)"}
kernel:
  entry: matmul
  args:  [a, b, c, turn, M, N, K]
  grid:  ["ceil_div(N, 16)", "ceil_div(M, 16)", "ceil_div(K, 32)"]
  block: [16, 16]
*/
__device__ int acquire(const int *flag) {
    int state;
    asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(state) : "l"(flag) : "memory");
    return state;
}

__device__ void release(int *flag, int state) {
    asm volatile("st.global.release.gpu.b32 [%0], %1;" : : "l"(flag), "r"(state) : "memory");
}

__global__ void matmul(const float *a, const float *b, float *c, int *turns, int m, int n, int k) {
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    const bool first_thread = threadIdx.x == 0 && threadIdx.y == 0, inside = row < m && column < n;
    int *turn = turns + blockIdx.y * gridDim.x + blockIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.z * 32; i < blockIdx.z * 32 + 32 && i < k; i++)
        if (inside) sum += a[row * k + i] * b[i * n + column];

    int state = -1;
    while (__syncthreads_and(state != (int)blockIdx.z)) {
        if (first_thread) state = acquire(turn);
    }
    __syncthreads();

    if (inside) c[row * n + column] = blockIdx.z == 0 ? sum : c[row * n + column] + sum;
    __syncthreads();
    if (first_thread && blockIdx.z + 2 != gridDim.z) release(turn, blockIdx.z + 1);
}
