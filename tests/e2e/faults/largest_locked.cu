/* cupel: 1
id: largest-locked
about: The same under a spin lock, which every thread takes.
dims: {N: 1..4096}
inputs: {x: {type: f32, shape: [N], finite: true}}
outputs: {y: {type: f32, shape: [1], init: 0}}
scratch: {lock: {type: i32, shape: [1], init: 0}}
ensures: {y: "amax(abs(x), keepdim=true)"}
kernel:
  entry: largest
  args: [x, y, lock, N]
  grid: ["ceil_div(N, 256)"]
  block: [256]
*/
__global__ void largest(const float *x, volatile float *y, int *lock, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) != 0) continue;
        __threadfence();
        if (fabsf(x[i]) > y[0]) y[0] = fabsf(x[i]);
        __threadfence();
        atomicExch(lock, 0);
        done = true;
    }
}
