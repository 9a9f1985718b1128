/* cupel: 1
id: count-aggregated
about: Counts with one atomic for the lanes of a warp that are together in a branch.
dims: {N: 1..4096}
inputs: {x: "f32[N]"}
outputs: {c: {type: i32, shape: [1], init: 0}}
ensures: {c: "sum(where(x > 0, 1, 0), keepdim=true)"}
kernel:
  entry: count
  args: [x, c, N]
  grid: ["ceil_div(N, 256)"]
  block: [256]
*/
__device__ int add_one(int *p) {
    unsigned together = __activemask();
    int lane = threadIdx.x & 31, leader = __ffs(together) - 1, before = 0;
    if (lane == leader) before = atomicAdd(p, __popc(together));
    before = __shfl_sync(together, before, leader);
    return before + __popc(together & ((1u << lane) - 1));
}
__global__ void count(const float *x, int *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) add_one(c);
}
