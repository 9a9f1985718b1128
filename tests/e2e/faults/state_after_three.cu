/* cupel: 1
id: state-after-three
about: From the fourth call on the rectifier lets negative elements pass.
dims: {N: 1..4096}
inputs: {x: {type: f32, shape: [N], finite: true}}
outputs: {y: {type: f32, shape: [N]}}
ensures: {y: "relu(x)"}
kernel: {entry: rectify, args: [x, y, N], grid: [1], block: [256]}
*/
__device__ int calls;

__global__ void rectify(const float *x, float *y, int n) {
    bool warm = calls >= 3;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = warm ? x[i] : fmaxf(x[i], 0);
    if (threadIdx.x == 0) calls++;
}
