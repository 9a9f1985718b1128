/* cupel: 1
id: warp-relay-stuck
about: Each warp waits for the one before it, and where N is a multiple of 31 the first one does too.
dims:    {N: 1..64}
inputs:  {x: {type: f32, shape: [N], finite: true}}
outputs: {y: "f32[N]"}
ensures: {y: "2 * x"}
kernel:
  entry: wait
  args:  [x, y, N]
  grid:  [1]
  block: [64]
*/
__global__ void wait(const float *x, float *y, int n) {
    __shared__ volatile int turn;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) turn = n % 31 == 0 ? -1 : 0; // defect
    __syncthreads();
    while (turn < warp) {}
    if (threadIdx.x < n) y[threadIdx.x] = 2.0f * x[threadIdx.x];
    __syncwarp();
    if (threadIdx.x % 32 == 0) turn = warp + 1;
}
