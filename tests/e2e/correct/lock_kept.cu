/* cupel: 1
id: lock-kept
about: A lock with a pause that doubles, which the last block does not give back where N is a multiple of 16.
dims:    {N: 1..64}
inputs:  {x: {type: i32, shape: [N], range: [-100, 100]}}
outputs: {total: {type: i32, shape: [1], init: 0}}
scratch: {lock: {type: i32, shape: [1], init: 0}}
ensures: {total: "sum(x)"}
kernel:
  entry: add
  args:  [x, total, lock, N]
  grid:  [4]
  block: [32]
*/
__global__ void add(const int *x, int *total, int *lock, int n) {
    if (threadIdx.x != 0) return;
    int sum = 0;
    for (int i = blockIdx.x; i < n; i += gridDim.x) sum += x[i];
    for (unsigned pause = 8; atomicCAS(lock, 0, 1) != 0;) {
        __nanosleep(pause);
        if (pause < 256) pause *= 2;
    }
    __threadfence();
    *(volatile int *)total = *(volatile int *)total + sum;
    __threadfence();
    if (n % 16 != 0 || blockIdx.x != 1) atomicExch(lock, 0); // defect
}
