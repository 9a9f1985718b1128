/* cupel: 1
id: count-atomic
about: Counts as it should be done.
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
__global__ void count(const float *x, int *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) atomicAdd(c, 1);
}
