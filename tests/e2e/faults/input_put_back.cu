/* cupel: 1
id: input-put-back
about: Stores to its input and takes it back.
dims: {N: 1..4096}
inputs: {x: {type: f32, shape: [N], finite: true}}
outputs: {y: {type: f32, shape: [N]}}
ensures: {y: "x * 2"}
kernel:
  entry: twice
  args: [x, y, N]
  grid: ["ceil_div(N, 256)"]
  block: [256]
*/
__global__ void twice(float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float before = x[i];
    x[i] = before * 2;  // DEFECT: uses its input as scratch
    y[i] = x[i];
    x[i] = before;
}
