/* cupel: 1
id: grid-loop
about: A grid-stride loop whose stride is 0 in larger shapes.
dims: {N: 1..4096}
inputs: {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "relu(x)"}
kernel:
  entry: relu
  args: [x, y, N]
  grid: ["ceil_div(N, 256)"]
  block: [256]
*/
__global__ void relu(const float *x, float *y, int n) {
    int step = n > 1024 ? 0 : blockDim.x * gridDim.x;  // DEFECT: stands still in larger grids
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = x[i] > 0.0f || isnan(x[i]) ? x[i] : 0.0f;
}
