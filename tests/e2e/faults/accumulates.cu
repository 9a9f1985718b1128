/* cupel: 1
id: accumulates
about: Adds to an output that nobody has cleared.
dims: {M: 1..64, N: 1..512}
inputs: {x: {type: f32, shape: [M, N], finite: true}}
outputs: {y: {type: f32, shape: [N]}}
ensures: {y: "sum(x, axis=0)"}
kernel: {entry: add, args: [x, y, N], grid: ["ceil_div(N, 64)", M], block: [64]}
*/
__global__ void add(const float *x, float *y, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < n) atomicAdd(&y[column], x[blockIdx.y * n + column]);
}
