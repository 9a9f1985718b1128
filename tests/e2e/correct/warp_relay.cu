/* cupel: 1
id: warp-relay
about: The warps of a block hand a running sum on through a flag in shared memory.
dims:    {N: 1..2048}
inputs:  {x: {type: f32, shape: [N], finite: true}}
outputs: {y: "f32[N]"}
ensures: {y: "cumsum(x, axis=0)"}
kernel:
  entry: relay
  args:  [x, y, N]
  grid:  [1]
  block: [256]
*/
__global__ void relay(const float *x, float *y, int n) {
    __shared__ volatile float total;
    __shared__ volatile int next;
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    if (threadIdx.x == 0) {
        total = 0;
        next = 0;
    }
    __syncthreads();
    for (int turn = threadIdx.x / 32; turn * 32 < n; turn += warps) {
        const int i = turn * 32 + lane;
        float sum = i < n ? x[i] : 0.0f;
        for (int d = 1; d < 32; d *= 2) {
            const float left = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d) sum += left;
        }
        while (next != turn) {}
        __threadfence_block();
        const float before = total;
        __syncwarp();
        if (lane == 31) {
            total = before + sum;
            __threadfence_block();
            next = turn + 1;
        }
        __syncwarp();
        if (i < n) y[i] = before + sum;
    }
}
