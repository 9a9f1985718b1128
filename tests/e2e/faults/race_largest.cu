/* cupel: 1
id: race-largest
about: Compares and stores without atomics.
dims: {N: 1..4096}
inputs: {x: {type: f32, shape: [N], finite: true}}
outputs: {y: {type: f32, shape: [1], init: 0}}
ensures: {y: "amax(abs(x), keepdim=true)"}
kernel:
  entry: largest
  args: [x, y, N]
  grid: ["ceil_div(N, 256)"]
  block: [256]
*/
__global__ void largest(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && fabsf(x[i]) > y[0]) y[0] = fabsf(x[i]);  // DEFECT: looks and stores in two steps
}
