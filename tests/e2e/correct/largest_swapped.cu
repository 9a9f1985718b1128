/* cupel: 1
id: largest-swapped
about: The largest of all by atomicCAS, as float maxima are made by hand. Of 0 and -0 the one that comes first stays, and nobody else tries.
dims: {N: 1..200}
inputs: {x: {type: f32, shape: [N], range: [-1, 0]}}
outputs: {m: {type: f32, shape: [1], init: -inf}}
ensures: {m: "reshape(amax(x, axis=0), [1])"}
kernel: {entry: largest, args: [x, m, N], grid: ["ceil_div(N, 96)"], block: [96]}
*/
__device__ void raise(float *to, float value) {
    int *bits = (int *)to, old = *(volatile int *)bits;
    while (__int_as_float(old) < value) {
        int seen = old;
        old = atomicCAS(bits, seen, __float_as_int(value));
        if (old == seen) break;
    }
}

__global__ void largest(const float *x, float *m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) raise(m, x[i]);
}
