/* cupel: 1
id: state-ring-by-content
about: The results of eight calls are kept and given back where the input is the same, bit by bit.
dims:    {N: 1..2048}
inputs:  {x: {type: f32, shape: [N]}}
outputs: {y: {type: f32, shape: [N]}}
ensures: {y: "x * 2"}
kernel: {entry: double_up, args: [x, y, N], grid: [1], block: [256]}
*/
constexpr int SLOTS = 8;
__device__ int calls, sizes[SLOTS];
__device__ float inputs[SLOTS][2048], results[SLOTS][2048];

__global__ void double_up(const float *x, float *y, int n) {
    const int slot = calls % SLOTS;
    bool same = sizes[slot] == n;
    for (int i = threadIdx.x; same && i < n; i += blockDim.x)
        same = __float_as_uint(inputs[slot][i]) == __float_as_uint(x[i]);
    const bool known = __syncthreads_and(same);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (!known) results[slot][i] = 2 * x[i];
        inputs[slot][i] = x[i];
        y[i] = results[slot][i];
    }
    if (threadIdx.x == 0) {
        sizes[slot] = n;
        calls++;
    }
}
