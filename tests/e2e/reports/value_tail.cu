/* cupel: 1
id: value-tail
about: Weighted sum of value rows by tiles of 16 rows; the rows past the end are left as they were in shared memory and weighted with 0.
dims:    {L: 1..256, D: 1..64}
inputs:  {w: {type: f32, shape: [L], range: [0, 1]}, v: {type: f32, shape: [L, D], range: [-10, 10]}}
outputs: {o: "f32[D]"}
ensures: {o: "matmul(w, v)"}
kernel:
  entry: weighted_rows
  args:  [w, v, o, L, D]
  grid:  [1]
  block: [64]
*/
constexpr int kTile = 16;

__global__ void weighted_rows(const float *w, const float *v, float *o, int L, int D) {
    __shared__ float tile[kTile][64];
    __shared__ float weight[kTile];
    float sum = 0.0f;
    for (int start = 0; start < L; start += kTile) {
        int rows = min(kTile, L - start);
        if (threadIdx.x < D)
            for (int r = 0; r < rows; r++) tile[r][threadIdx.x] = v[(start + r) * D + threadIdx.x];
        if (threadIdx.x < kTile) weight[threadIdx.x] = threadIdx.x < rows ? w[start + threadIdx.x] : 0.0f;
        __syncthreads();
        if (threadIdx.x < D)
            for (int r = 0; r < kTile; r++) sum += weight[r] * tile[r][threadIdx.x]; // line: read (defect: 0 * NaN)
        __syncthreads();
    }
    if (threadIdx.x < D) o[threadIdx.x] = sum;
}
