/* cupel: 1
id: turns-together
about: Twice x. All threads make as many turns, and meet at each barrier.
dims: {N: 1..300}
inputs: {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "2 * x"}
kernel: {entry: twice, args: [x, y, N], grid: [1], block: [64]}
*/
__global__ void twice(const float *x, float *y, int n) {
    __shared__ float kept[64];
    int t = threadIdx.x;
    for (int first = 0; first < n; first += 64) {
        int i = first + t;
        kept[t] = i < n ? x[i] : 0;
        __syncthreads();
        if (i < n) y[i] = 2 * kept[t];
    }
    __syncthreads();
    if (t < n) y[t] = 2 * x[t];
}
