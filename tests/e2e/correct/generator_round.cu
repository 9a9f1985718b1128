/* cupel: 1
id: generator-round
about: Where N is 32, one thread goes through a whole period of a generator, in registers alone, which takes long.
dims:    {N: 1..64}
inputs:  {x: {type: f32, shape: [N], finite: true}}
outputs: {y: "f32[N]"}
ensures: {y: "2 * x"}
kernel:
  entry: scale
  args:  [x, y, N]
  grid:  [1]
  block: [64]
*/
__global__ void scale(const float *x, float *y, int n) {
    __shared__ unsigned last;
    const unsigned mask = n == 32 ? 0x7ffffff : 0xff, start = n;
    if (threadIdx.x == 0) {
        unsigned state = start;
        do state = (state * 1664525u + 1013904223u) & mask;
        while (state != start);
        last = state;
    }
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] = last == start ? 2.0f * x[threadIdx.x] : 0.0f;
}
