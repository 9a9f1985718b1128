/* cupel: 1
id: sum-exchanged-claimed
about: Claims the same bytes under every order.
dims:    {N: 1..1024}
inputs:  {x: {type: f64, shape: [N], finite: true}}
outputs: {y: {type: f64, shape: [1], init: 0}}
ensures: {y: "sum(x, keepdim=true)"}
deterministic: true
kernel:
  entry: add_up
  args:  [x, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
__global__ void add_up(const double *x, double *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long *bits = (unsigned long long *)y, seen, now = *bits;
    do {
        seen = now;
        now = atomicCAS(bits, seen, __double_as_longlong(__longlong_as_double(seen) + x[i]));
    } while (now != seen);
}
