/* cupel: 1
id: linear-scan-tree
about: A linear recurrence by an up-sweep and a down-sweep, which combines far and near steps in an order of its own.
dims:    {M: 1..16, N: 1..128}
inputs:  {a: {type: f32, shape: [M, N], range: [-1, 1]}, b: {type: f32, shape: [M, N], range: [-8, 8]}}
outputs: {h: "f32[M, N]"}
ensures: {h: "linear_scan(a, b)"}
kernel:  {entry: scan_rows, args: [a, b, h, N], grid: [M], block: [64]}
*/
#include <cuda_runtime.h>

#define SIZE 128

__global__ void scan_rows(const float *a, const float *b, float *h, int n) {
    __shared__ float decay[SIZE], state[SIZE];
    const int row = blockIdx.x * n, t = threadIdx.x;
    for (int i = t; i < SIZE; i += 64) {
        decay[i] = i < n && i > 0 ? a[row + i] : 1.0f;
        state[i] = i < n ? b[row + i] : 0.0f;
    }
    for (int step = 1; step < SIZE; step *= 2) {
        __syncthreads();
        const int right = 2 * step * (t + 1) - 1, left = right - step;
        if (right < SIZE) {
            state[right] += decay[right] * state[left];
            decay[right] *= decay[left];
        }
    }
    for (int step = SIZE / 4; step > 0; step /= 2) {
        __syncthreads();
        const int left = 2 * step * (t + 1) - 1, right = left + step;
        if (right < SIZE) {
            state[right] += decay[right] * state[left];
            decay[right] *= decay[left];
        }
    }
    __syncthreads();
    for (int i = t; i < n; i += 64) h[row + i] = state[i];
}
