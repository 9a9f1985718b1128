/* cupel: 1
id: sum-locked-last
about: The last block forgets to add.
dims:    {N: 1..512}
inputs:  {x: {type: f32, shape: [N], range: [-4, 4]}}
outputs: {y: {type: f32, shape: [1], init: 0}}
scratch: {lock: {type: i32, shape: [1], init: 0}}
ensures: {y: "sum(x, keepdim=true)"}
kernel:
  entry: add_up
  args:  [x, y, lock, N]
  grid:  ["ceil_div(N, 32)"]
  block: [32]
*/
__global__ void add_up(const float *x, float *y, int *lock, int n) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    if (blockIdx.x == 0 || blockIdx.x + 1 < gridDim.x) *(volatile float *)y += v; // defect
    __threadfence();
    atomicExch(lock, 0);
}
