/* cupel: 1
id: flash-attention
about: Causal attention, one warp a query, 32 keys at a time with a running maximum; rows that see no key are zero.
dims:    {L: 1..64, S: 1..384, D: 1..64}
params:  {scale: 0.125}
inputs:  {q: "f32[L, D]", k: "f32[S, D]", v: "f32[S, D]"}
outputs: {out: "f32[L, D]"}
ensures: {out: 'attention(q, k, v, scale=scale, causal=true, empty_rows="zero")'}
kernel:
  entry: flash_attention
  args:  [q, k, v, out, L, S, D, scale]
  grid:  ["ceil_div(L, 4)"]
  block: [32, 4]
*/
#include <cuda_runtime.h>
#include <math.h>

__device__ __forceinline__ float warp_max(float v) {
    for (int offset = 16; offset > 0; offset >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));
    return v;
}

__device__ __forceinline__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}

// exp(s - m) where m is no smaller than s; a score of -inf weighs nothing even when nothing else was seen yet.
__device__ __forceinline__ float weight(float s, float m) { return s == -INFINITY ? 0.0f : __expf(s - m); }

__global__ void flash_attention(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
                                float *__restrict__ out, int L, int S, int D, float scale) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= L) return;
    const int last = row + S - L;  // the last key that this query sees

    float m = -INFINITY, sum = 0.0f, low = 0.0f, high = 0.0f;  // columns lane and lane + 32 of the result
    for (int start = 0; start <= last; start += 32) {
        const int key = start + lane;
        float score = -INFINITY;
        if (key <= last) {
            score = 0.0f;
            for (int d = 0; d < D; d++) score += q[row * D + d] * k[key * D + d];
            score *= scale;
        }
        const float larger = fmaxf(m, warp_max(score)), rescale = weight(m, larger), p = weight(score, larger);
        sum = sum * rescale + warp_sum(p);
        low *= rescale;
        high *= rescale;
        for (int i = 0; i < 32; i++) {
            const float share = __shfl_sync(0xffffffffu, p, i);
            if (start + i > last) continue;
            if (lane < D) low += share * v[(start + i) * D + lane];
            if (lane + 32 < D) high += share * v[(start + i) * D + lane + 32];
        }
        m = larger;
    }
    const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum;
    if (lane < D) out[row * D + lane] = last < 0 ? 0.0f : low * inverse;
    if (lane + 32 < D) out[row * D + lane + 32] = last < 0 ? 0.0f : high * inverse;
}
