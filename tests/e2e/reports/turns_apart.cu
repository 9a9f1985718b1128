/* cupel: 1
id: turns-apart
about: Twice x. A barrier in a loop of which lanes of one warp make different numbers of turns; those that are through meet the others at the next one.
dims: {N: 1..300}
inputs: {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "2 * x"}
kernel: {entry: twice, args: [x, y, N], grid: [1], block: [64]}
*/
__global__ void twice(const float *x, float *y, int n) {
    __shared__ float kept[64];
    int t = threadIdx.x;
    for (int i = t; i < n; i += 64) {
        kept[t] = x[i];
        __syncthreads(); // line: turn
        y[i] = 2 * kept[t];
    }
    __syncthreads(); // line: end
    if (t < n) y[t] = 2 * x[t];
}
