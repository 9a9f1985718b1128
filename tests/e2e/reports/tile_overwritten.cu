/* cupel: 1
id: tile-overwritten
about: Matrix product by tiles of 16; nothing keeps the next tile from overwriting this one while it is still read.
dims:    {M: 1..64, N: 1..64, K: 1..64}
inputs:  {a: "f32[M, K]", b: "f32[K, N]"}
outputs: {c: "f32[M, N]"}
ensures: {c: "matmul(a, b)"}
kernel:
  entry: product
  args:  [a, b, c, M, N, K]
  grid:  ["ceil_div(N, 16)", "ceil_div(M, 16)"]
  block: [16, 16]
*/
__global__ void product(const float *a, const float *b, float *c, int M, int N, int K) {
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int k = 0; k < K; k += 16) {
        as[y][x] = row < M && k + x < K ? a[row * K + k + x] : 0.0f;    // line: store
        bs[y][x] = k + y < K && column < N ? b[(k + y) * N + column] : 0.0f; // line: store_b
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += as[y][i] * bs[i][x]; // line: load
        // defect: no barrier before the next tile
    }
    if (row < M && column < N) c[row * N + column] = sum;
}
