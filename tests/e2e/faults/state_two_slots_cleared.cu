/* cupel: 1
id: state-two-slots-cleared
about: The same, with the slot that comes next cleared.
dims: {N: 1..16384}
inputs: {x: {type: f32, shape: [N], finite: true}}
outputs: {c: {type: i32, shape: [1]}}
ensures: {c: "sum(where(x > 0, 1, 0), keepdim=true)"}
kernel:
  - {entry: count_positive, args: [x, N], grid: ["ceil_div(N, 256)"], block: [256]}
  - {entry: publish, args: [c], grid: [1], block: [1]}
*/
__device__ int slots[2];
__device__ unsigned turn;

__global__ void count_positive(const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) atomicAdd(&slots[turn % 2], 1);
}

__global__ void publish(int *c) {
    c[0] = slots[turn % 2];
    turn++;
    slots[turn % 2] = 0;
}
