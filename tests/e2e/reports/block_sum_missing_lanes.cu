/* cupel: 1
id: block-sum-missing-lanes
about: Sum over a block whose size is no multiple of 32; the second step reads the sums of 32 warps, of which only some exist.
dims:    {N: 1..1024}
inputs:  {x: {type: f32, shape: [N], range: [-10, 10]}}
outputs: {y: "f32[1]"}
ensures: {y: "sum(x, axis=0, keepdim=true)"}
kernel:
  entry: block_sum
  args:  [x, y]
  grid:  [1]
  block: [N]
*/
__global__ void block_sum(const float *x, float *y) {
    __shared__ float partial[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, lanes = min(32, blockDim.x - warp * 32);
    float sum = x[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) {
        float other = __shfl_down_sync(0xffffffffu, sum, offset);
        if (lane + offset < lanes) sum += other;
    }
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int i = 0; i < 32; i++) total += partial[i]; // line: read (defect: only ceil(N / 32) are filled)
        y[0] = total;
    }
}
