/* cupel: 1
id: absmax-tail
about: Scales of a block-wise quantisation; the last, partly filled block takes its maximum over lanes that nobody filled.
dims:    {N: 1..4096}
let:     {B: "ceil_div(N, 64)"}
inputs:  {x: {type: f32, shape: [N], range: [-100, 100]}}
outputs: {scale: "f32[B]"}
ensures: {scale: "amax(reshape(abs(pad(x, [0, B * 64 - N])), [B, 64]), axis=1)"}
kernel:
  entry: block_absmax
  args:  [x, scale, N]
  grid:  [B]
  block: [64]
*/
__global__ void block_absmax(const float *x, float *scale, int n) {
    __shared__ float values[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) values[threadIdx.x] = fabsf(x[i]); // defect: the other lanes need a 0
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (threadIdx.x < step)
            values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + step]); // line: read
        __syncthreads();
    }
    if (threadIdx.x == 0) scale[blockIdx.x] = values[0];
}
