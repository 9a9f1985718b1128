/* cupel: 1
id: shared-full
about: A table in shared memory is used to its last entry.
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
    __shared__ int s_marks[513];
    for (int i = threadIdx.x; i < n; i += 128) s_marks[x[i]] = 1;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 128) y[i] = x[i];
}
