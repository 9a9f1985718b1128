/* cupel: 1
id: tile-softmax
about: Softmax of rows, a tile of 32 threads a row, with the reductions of cooperative groups.
dims:    {M: 1..256, N: 1..1024}
types:   {T: [f32, f16]}
inputs:  {x: {type: T, shape: [M, N], finite: true}}
outputs: {y: "T[M, N]"}
ensures: {y: "softmax(x, axis=-1)"}
kernel:
  entry: tile_softmax<$T>
  args:  [x, y, M, N]
  grid:  ["ceil_div(M, 4)"]
  block: [128]
*/
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

template <class T> __global__ void tile_softmax(const T *x, T *y, int rows, int columns) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (row >= rows) return;
    const T *in = x + (size_t)row * columns;
    T *out = y + (size_t)row * columns;
    float top = -INFINITY, sum = 0.0f;
    for (int c = tile.thread_rank(); c < columns; c += tile.num_threads()) top = fmaxf(top, (float)in[c]);
    top = cg::reduce(tile, top, cg::greater<float>());
    for (int c = tile.thread_rank(); c < columns; c += tile.num_threads()) sum += expf((float)in[c] - top);
    sum = cg::reduce(tile, sum, cg::plus<float>());
    for (int c = tile.thread_rank(); c < columns; c += tile.num_threads()) out[c] = (T)(expf((float)in[c] - top) / sum);
}
