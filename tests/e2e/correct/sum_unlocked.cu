/* cupel: 1
id: sum-unlocked
about: Blocks add up without a lock, so that one loses what another has added.
dims:    {N: 1..512}
inputs:  {x: {type: i32, shape: [N], range: [-100, 100]}}
outputs: {y: {type: i32, shape: [1], init: 0}}
ensures: {y: "sum(x, keepdim=true)"}
kernel:
  entry: add_up
  args:  [x, y, N]
  grid:  ["ceil_div(N, 32)"]
  block: [32]
*/
__global__ void add_up(const int *x, int *y, int n) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    int v = i < n ? x[i] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x != 0) return;
    *y += v;
}
