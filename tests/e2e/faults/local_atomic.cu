/* cupel: 1
id: fault-local-atomic
about: Counts in an array of its own with atomics, which are for memory that threads share.
dims:    {N: 1..512}
inputs:  {x: {type: i32, shape: [N], range: [0, 100]}}
outputs: {y: "i32[N]"}
ensures: {y: "x % 4"}
kernel:
  entry: rest
  args:  [x, y, N]
  grid:  ["ceil_div(N, 64)"]
  block: [64]
*/
__global__ void rest(const int *x, int *y, int n) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    int turns[2] = {0, 0};
    for (int k = 0; k < x[i]; k++) atomicInc((unsigned *)&turns[k % 2], 1u); // defect
    y[i] = x[i] % 4 + 0 * turns[x[i] & 1];
}
