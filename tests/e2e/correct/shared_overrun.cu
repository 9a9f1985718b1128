/* cupel: 1
id: shared-overrun
about: A table in shared memory is one entry too short.
dims:    {N: 1..1024}
inputs:  {x: {type: i32, shape: [N], below: 513}}
outputs: {y: "i32[N]"}
ensures: {y: "x"}
kernel:
  entry: mark
  args:  [x, y, N]
  grid:  [1]
  block: [128]
*/
__global__ void mark(const int *x, int *y, int n) {
    __shared__ int s_marks[512];
    for (int i = threadIdx.x; i < n; i += 128) s_marks[x[i]] = 1; // defect: x may be 512
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 128) y[i] = x[i];
}
