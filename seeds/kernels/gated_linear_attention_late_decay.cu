/* cupel: 1
id: gated-linear-attention-late-decay
about: Gated linear attention, step by step; the new term is decayed too.
dims:    {B: 1..4, L: 1..256, V: [8, 32]}
inputs:
  q: "f32[B, L, 16]"
  k: "f32[B, L, 16]"
  v: "f32[B, L, V]"
  g: {type: f32, shape: [B, L, 16], range: [-4, 0]}
outputs: {o: "f32[B, L, V]"}
ensures: {o: "gated_linear_attention(q, k, v, g, scale=0.25)"}
kernel:
  entry: gated_linear_attention
  args:  [q, k, v, g, o, L, V]
  grid:  [B]
  block: [V]
*/
#include <cuda_runtime.h>

#define KEYS 16

// S = diag(exp(g)) S + k v', o = S' q / 4: one sequence a block, one column of the state a thread.
__global__ void gated_linear_attention(const float *q, const float *k, const float *v, const float *g, float *o,
                                       int length, int values) {
    float state[KEYS] = {0.0f};
    for (int t = 0; t < length; t++) {
        size_t step = (size_t)blockIdx.x * length + t;
        float value = v[step * values + threadIdx.x], sum = 0.0f;
        for (int i = 0; i < KEYS; i++) {
            float decay = __expf(g[step * KEYS + i]);
            state[i] = decay * (state[i] + k[step * KEYS + i] * value); // defect: the decay belongs to the old state alone
            sum += q[step * KEYS + i] * state[i];
        }
        o[step * values + threadIdx.x] = 0.25f * sum;
    }
}

void launch_gated_linear_attention(const float *q, const float *k, const float *v, const float *g, float *o, int batch,
                                   int length, int values, cudaStream_t stream) {
    gated_linear_attention<<<batch, values, 0, stream>>>(q, k, v, g, o, length, values);
}
