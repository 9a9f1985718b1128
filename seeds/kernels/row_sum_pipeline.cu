/* cupel: 1
id: row-sum-pipeline
about: Sums of rows; tiles come through a pipeline of two stages, the next one while one is added up.
dims:    {M: 1..64, N: 1..1024}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x, axis=1)"}
kernel:
  entry: row_sum_pipeline
  args:  [x, y, N]
  grid:  [M]
  block: [64]
*/
#include <cooperative_groups.h>
#include <cuda/pipeline>

constexpr int TILE = 64, STAGES = 2;

__global__ void row_sum_pipeline(const float *x, float *y, int N) {
    __shared__ float tiles[STAGES][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const float *row = x + (size_t)blockIdx.x * N;
    const int count = (N + TILE - 1) / TILE, rank = threadIdx.x;
    float sum = 0.0f;
    for (int tile = 0, ahead = 0; tile < count; ++tile) {
        for (; ahead < count && ahead < tile + STAGES; ++ahead) {
            pipe.producer_acquire();
            const int i = ahead * TILE + rank;
            if (i < N) cuda::memcpy_async(&tiles[ahead % STAGES][rank], row + i, sizeof(float), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        if (rank == 0)
            for (int i = 0; i < min(TILE, N - tile * TILE); ++i) sum += tiles[tile % STAGES][i];
        pipe.consumer_release();
    }
    if (rank == 0) y[blockIdx.x] = sum;
}
