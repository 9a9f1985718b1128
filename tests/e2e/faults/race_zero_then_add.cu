/* cupel: 1
id: race-zero-then-add
about: The first block clears the sum, to which others may have added by then.
dims: {N: 1..16384}
inputs: {x: {type: f32, shape: [N], finite: true}}
outputs: {y: {type: f32, shape: [1]}}
ensures: {y: "sum(x, keepdim=true)"}
kernel: {entry: add, args: [x, y, N], grid: ["ceil_div(N, 256)"], block: [256]}
*/
__global__ void add(const float *x, float *y, int n) {
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i == 0) y[0] = 0;
    part[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(y, part[0]);
}
