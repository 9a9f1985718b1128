/* cupel: 1
id: row-softmax-tail-zero
about: Softmax over rows in tiles of shared memory; the lanes behind the end of a row are filled with 0.
dims:    {M: 1..512, N: 1..4096}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "softmax(x, axis=-1)"}
kernel:
  entry: softmax_tiled
  args:  [x, y, N]
  grid:  [M]
  block: [128]
*/
#include <cuda_runtime.h>
#include <math.h>

#define TILE 128

__device__ float block_max(float v, float *buffer) {
    buffer[threadIdx.x] = v;
    __syncthreads();
    for (int s = TILE / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) buffer[threadIdx.x] = fmaxf(buffer[threadIdx.x], buffer[threadIdx.x + s]);
        __syncthreads();
    }
    v = buffer[0];
    __syncthreads();
    return v;
}

__device__ float block_sum(float v, float *buffer) {
    buffer[threadIdx.x] = v;
    __syncthreads();
    for (int s = TILE / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
        __syncthreads();
    }
    v = buffer[0];
    __syncthreads();
    return v;
}

__global__ void softmax_tiled(const float *x, float *y, int N) {
    __shared__ float buffer[TILE];
    x += blockIdx.x * N;
    y += blockIdx.x * N;
    const int tiles = (N + TILE - 1) / TILE;

    float m = -INFINITY, s = 0.0f;
    for (int t = 0; t < tiles; t++) {
        int i = t * TILE + threadIdx.x;
        float v = i < N ? x[i] : 0.0f; // defect: a lane behind the row's end must not count: -INFINITY
        float tile_max = block_max(v, buffer);
        float next = fmaxf(m, tile_max);
        float tile_sum = block_sum(expf(v - next), buffer);
        s = s * expf(m - next) + tile_sum;
        m = next;
    }
    for (int i = threadIdx.x; i < N; i += TILE) y[i] = expf(x[i] - m) / s;
}

int main() {
    const int M = 64, N = 1024;
    float *x, *y;
    cudaMalloc(&x, M * N * sizeof(float));
    cudaMalloc(&y, M * N * sizeof(float));
    softmax_tiled<<<M, TILE>>>(x, y, N);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
