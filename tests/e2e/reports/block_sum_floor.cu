/* cupel: 1
id: block-sum-floor
about: Sum over a block whose size is no multiple of 32; the trailing warp is dropped by a division that rounds down.
dims:    {N: 32..1024}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[1]"}
ensures: {y: "sum(x, axis=0, keepdim=true)"}
kernel:
  entry: block_sum
  args:  [x, y]
  grid:  [1]
  block: [N]
*/
__device__ float warp_sum(float v, int lanes) {
    unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
    int lane = threadIdx.x % 32;
    for (int offset = 16; offset > 0; offset /= 2) {
        float other = __shfl_down_sync(mask, v, offset);
        if (lane + offset < lanes) v += other;
    }
    return v;
}

__global__ void block_sum(const float *x, float *y) {
    __shared__ float partial[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32; // defect: 129 / 32 is 4
    float sum = warp_sum(x[threadIdx.x], min(32, blockDim.x - warp * 32));
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int i = 0; i < warps; i++) total += partial[i];
        y[0] = total;
    }
}
