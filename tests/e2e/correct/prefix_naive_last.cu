/* cupel: 1
id: prefix-naive-last
about: Leaves the element itself out of every 256th sum.
dims:    {N: 1..4096}
inputs:  {x: {type: f32, shape: [N], finite: true}}
outputs: {y: "f32[N]"}
ensures: {y: "cumsum(x, axis=0)"}
kernel:
  entry: prefix
  args:  [x, y, N]
  grid:  [1]
  block: [128]
*/
__global__ void prefix(const float *x, float *y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float sum = 0;
        for (int k = 0; k <= i - (i % 256 == 255); k++) sum += x[k]; // defect: the bound
        y[i] = sum;
    }
}
