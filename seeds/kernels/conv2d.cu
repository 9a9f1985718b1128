/* cupel: 1
id: conv2d
about: 3 by 3 convolution with padding 1 and a bias, through tiles with a halo in shared memory.
dims:    {N: 1..2, C: 1..6, F: 1..4, H: 1..64, W: 1..64}
types:   {T: [f32, f16]}
inputs:  {x: "T[N, C, H, W]", w: "T[F, C, 3, 3]", bias: "T[F]"}
outputs: {y: "T[N, F, H, W]"}
ensures: {y: "conv2d(x, w, bias, padding=1)"}
kernel:
  entry: conv3x3<$T>
  args:  [x, w, bias, y, C, F, H, W]
  grid:  ["ceil_div(W, 16)", "ceil_div(H, 8)", N * F]
  block: [16, 8]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int COLUMNS = 16, ROWS = 8;

// One block computes a tile of one output channel of one image.
template <typename T>
__global__ void conv3x3(const T *__restrict__ x, const T *__restrict__ w, const T *__restrict__ bias,
                        T *__restrict__ y, int C, int F, int H, int W) {
    __shared__ float tile[ROWS + 2][COLUMNS + 2];
    const int n = blockIdx.z / F, f = blockIdx.z % F, left = blockIdx.x * COLUMNS - 1,
              top = blockIdx.y * ROWS - 1;
    const int lane = threadIdx.y * COLUMNS + threadIdx.x;
    float sum = (float)bias[f];
    for (int c = 0; c < C; ++c) {
        const T *plane = x + (size_t)(n * C + c) * H * W;
        for (int i = lane; i < (ROWS + 2) * (COLUMNS + 2); i += ROWS * COLUMNS) {
            const int r = i / (COLUMNS + 2), s = i % (COLUMNS + 2), row = top + r, column = left + s;
            const bool inside = row >= 0 && row < H && column >= 0 && column < W;
            tile[r][s] = inside ? (float)plane[(size_t)row * W + column] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                sum = fmaf(tile[threadIdx.y + i][threadIdx.x + j], (float)w[((f * C + c) * 3 + i) * 3 + j],
                           sum);
        __syncthreads();
    }
    const int row = top + 1 + threadIdx.y, column = left + 1 + threadIdx.x;
    if (row < H && column < W) y[((size_t)(n * F + f) * H + row) * W + column] = (T)sum;
}
