/* cupel: 1
id: state-ring-by-size
about: The results of eight calls are kept, under the size alone; the ninth call is the first to get one back.
dims:    {N: 1..2048}
inputs:  {x: {type: f32, shape: [N], finite: true}}
outputs: {y: {type: f32, shape: [N]}}
ensures: {y: "x * 2"}
kernel: {entry: double_up, args: [x, y, N], grid: [1], block: [256]}
*/
constexpr int SLOTS = 8;
__device__ int calls, sizes[SLOTS];
__device__ float results[SLOTS][2048];

__global__ void double_up(const float *x, float *y, int n) {
    const int slot = calls % SLOTS;
    const bool known = sizes[slot] == n;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (!known) results[slot][i] = 2 * x[i];
        y[i] = results[slot][i];
    }
    if (threadIdx.x == 0) {
        sizes[slot] = n;
        calls++;
    }
}
