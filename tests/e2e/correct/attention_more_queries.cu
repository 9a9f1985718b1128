/* cupel: 1
id: attention-more-queries
about: Causal attention aligned at the last key; queries before the first key get rows of zeros, as the contract says.
dims:    {L: 1..24, S: 1..16, D: [8, 16]}
inputs:  {q: "f32[L, D]", k: "f32[S, D]", v: "f32[S, D]"}
outputs: {o: "f32[L, D]"}
ensures: {o: 'attention(q, k, v, causal=true, empty_rows="zero")'}
kernel:  {entry: attend<$D>, args: [q, k, v, o, L, S], grid: [L], block: [D]}
*/
#include <cuda_runtime.h>
#include <math.h>

template <int D> __global__ void attend(const float *q, const float *k, const float *v, float *o, int l, int s) {
    __shared__ float scores[16];
    const int row = blockIdx.x, keys = row + 1 + s - l, d = threadIdx.x;
    if (keys <= 0) {
        o[row * D + d] = 0.0f;
        return;
    }
    for (int key = d; key < keys; key += D) {
        float score = 0.0f;
        for (int c = 0; c < D; c++) score += q[row * D + c] * k[key * D + c];
        scores[key] = score * (1.0f / sqrtf(static_cast<float>(D)));
    }
    __syncthreads();
    float top = -INFINITY, sum = 0.0f, out = 0.0f;
    for (int key = 0; key < keys; key++) top = fmaxf(top, scores[key]);
    for (int key = 0; key < keys; key++) {
        const float weight = expf(scores[key] - top);
        sum += weight;
        out += weight * v[key * D + d];
    }
    o[row * D + d] = out / sum;
}
