/* cupel: 1
id: transpose-square
about: Matrix transposition through a padded tile; rows of the result are addressed with the width of the source.
dims:    {M: 1..2048, N: 1..2048}
types:   {T: [f32, i32]}
inputs:  {x: "T[M, N]"}
outputs: {y: "T[N, M]"}
ensures: {y: "transpose(x)"}
kernel:
  entry: transpose_tiled<$T>
  args:  [y, x, N, M]
  grid:  ["ceil_div(N, 32)", "ceil_div(M, 32)"]
  block: [32, 8]
*/
#include <cuda_runtime.h>

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;

template <typename T> __global__ void transpose_tiled(T *out, const T *in, int width, int height) {
    __shared__ T tile[TILE_DIM][TILE_DIM + 1]; // one column more: no bank conflicts

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width) out[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j]; // defect: height
}
