/* cupel: 1
id: shared-scalar
about: Counts the elements above 0; every thread adds to one shared counter without an atomic operation.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {c: "i32[1]"}
ensures: {c: "sum(x > 0, axis=0, keepdim=true)"}
kernel:
  entry: count_positive
  args:  [x, c, N]
  grid:  [1]
  block: [128]
*/
__global__ void count_positive(const float *x, int *c, int n) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (x[i] > 0.0f) count += 1; // line: add (defect: no atomicAdd)
    __syncthreads();
    if (threadIdx.x == 0) c[0] = count;
}
