/* cupel: 1
id: shared-vectors-offset
about: Scales a row by its largest magnitude; the row is kept in dynamic shared memory as float4, right behind one float a warp.
dims:    {M: 1..16, W: 1..8, Q: 1..64}
let:     {N: "4 * Q"}
inputs:  {x: {type: f32, shape: [M, N], range: [-100, 100]}}
outputs: {y: "f32[M, N]"}
ensures: {y: "x * amax(abs(x), axis=1, keepdim=true)"}
kernel:
  entry: scale_rows
  args:  [x, y, N]
  grid:  [M]
  block: ["32 * W"]
  shared: "4 * (W + N)"
*/
__global__ void scale_rows(const float *x, float *y, int N) {
    extern __shared__ float memory[];
    int warps = blockDim.x / 32;
    float *partial = memory;
    float4 *row = reinterpret_cast<float4 *>(memory + warps); // defect: 16-byte aligned only when warps % 4 == 0
    const float4 *in = reinterpret_cast<const float4 *>(x + (size_t)blockIdx.x * N);
    float4 *out = reinterpret_cast<float4 *>(y + (size_t)blockIdx.x * N);
    float largest = 0.0f;
    for (int i = threadIdx.x; i < N / 4; i += blockDim.x) {
        float4 v = in[i];
        row[i] = v; // line: store
        largest = fmaxf(fmaxf(largest, fmaxf(fabsf(v.x), fabsf(v.y))), fmaxf(fabsf(v.z), fabsf(v.w)));
    }
    for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, offset));
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = largest;
    __syncthreads();
    for (int w = 0; w < warps; w++) largest = fmaxf(largest, partial[w]);
    for (int i = threadIdx.x; i < N / 4; i += blockDim.x) {
        float4 v = row[i]; // line: load
        out[i] = make_float4(v.x * largest, v.y * largest, v.z * largest, v.w * largest);
    }
}
