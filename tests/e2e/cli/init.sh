# contracts are guessed: from launches, indices, names; what cannot be guessed stops the check
cat >add.cu <<'CU'
#include <iostream>
__global__ void vectorAdd(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
int main() {
    int count = 1 << 20, threads = 128;
    float *a, *b, *c;
    vectorAdd<<<(count + threads - 1) / threads, threads>>>(a, b, c, count);
}
CU
try cupel init add.cu
cat add.yaml
try cupel init add.cu
try cupel check add.cu --cases 20 --seed 1 -q >report
tail -2 report
cat >several.cu <<'CU'
#define TILE 16
template <typename T, int B> __global__ void row_softmax(const T *x, T *y, int cols) {
    const T *in = x + blockIdx.x * cols;
    T *out = y + blockIdx.x * cols;
    float top = -INFINITY, sum = 0;
    for (int c = 0; c < cols; c++) top = fmaxf(top, in[c]);
    for (int c = 0; c < cols; c++) sum += expf((float)in[c] - top);
    for (int c = threadIdx.x; c < cols; c += B) out[c] = expf((float)in[c] - top) / sum;
}
__global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
}
__global__ void gelu4(const float *x, float *y, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 v = *reinterpret_cast<const float4 *>(&x[i]);
        v.x *= normcdff(v.x), v.y *= normcdff(v.y), v.z *= normcdff(v.z), v.w *= normcdff(v.w);
        *reinterpret_cast<float4 *>(&y[i]) = v;
    }
}
__global__ void __launch_bounds__(64) sum_blocks(const float *x, float *partial, int n) {
    __shared__ float part[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int k = 0; k < 64; k++) sum += part[k];
        partial[blockIdx.x] = sum;
    }
}
__global__ void embedding(const int *ids, const float *table, float *out, int tokens, int width) {
    int t = blockIdx.x, c = threadIdx.x + blockIdx.y * blockDim.x;
    if (t < tokens && c < width) out[t * width + c] = table[ids[t] * width + c];
}
__global__ void half_add(const __half *a, const __half *b, __half *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __hadd(a[i], b[i]);
}
__global__ void mystery(const float *x, float *y, int n, bool flag) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = flag ? x[i] : 0.5f;
}
void launch(float *x, float *y, int rows, int cols) {
    dim3 block(TILE, TILE);
    dim3 grid((cols + block.x - 1) / block.x, (rows + TILE - 1) / TILE);
    row_softmax<float, 64><<<rows, 64, 0, 0>>>(x, y, cols);
    sgemm<<<grid, block>>>(rows, cols, 8, 1.0f, x, x, 0.0f, y);
}
CU
try cupel init several.cu
for kernel in row_softmax sgemm gelu4 sum_blocks embedding half_add; do
    echo "--- $kernel"
    sed '1,2d' several_$kernel.yaml
    cupel check several_$kernel.yaml --cases 20 --seed 1 -q 2>&1 | tail -1
done
try cupel check several_mystery.yaml
try cupel init several.cu -o one.yaml
try cupel init several.cu --contract mistery -o -
try cupel init several.cu --contract mystery -o -
try cupel init missing.cu
echo 'int main() {}' >host.cu
try cupel init host.cu
try cupel init "$KERNELS/softmax.cu"
cat >more.cu <<'CU'
#define N 512
__global__ void matmul(float *A, float *B, float *C) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N || j >= N) return;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[i * N + k] * B[k * N + j];
    C[i * N + j] = sum;
}
__global__ void argmax_rows(const float *x, int rows, int cols, int *out, float *best) {
    int row = blockIdx.x;
    if (row >= rows) return;
    int at = 0;
    for (int c = 1; c < cols; c++)
        if (x[row * cols + c] > x[row * cols + at]) at = c;
    out[row] = at;
    if (best) best[row] = x[row * cols + at];
}
__global__ void sum_middle(const float *x, float *y, int a, int b, int c) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= a * c) return;
    int outer = idx / c, inner = idx % c;
    float sum = 0;
    for (int k = 0; k < b; k++) sum += x[(outer * b + k) * c + inner];
    y[outer * c + inner] = sum;
}
__global__ void add_bias(float *x, const float *bias, int rows, int cols) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += gridDim.x * blockDim.x)
        x[i] += bias[i % cols];
}
__global__ void relu_backward(const float *x, const float *dy, float *dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0 ? dy[i] : 0;
}
CU
cupel init more.cu >/dev/null
for kernel in matmul argmax_rows sum_middle add_bias relu_backward; do
    echo "--- $kernel"
    sed 1,2d more_$kernel.yaml
done
for kernel in argmax_rows sum_middle add_bias; do
    cupel check more_$kernel.yaml --cases 20 --seed 1 -q 2>&1 | tail -1
done
cat >norms.cu <<'CU'
#define EPS 1e-6f
__device__ float inverse(float v) { return rsqrtf(v + EPS); }
__global__ void rms_norm(const float *x, float *y, int cols) {
    const float *in = x + blockIdx.x * cols;
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += in[c] * in[c];
    float scale = inverse(sum / cols);
    for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * cols + c] = in[c] * scale;
}
__global__ void layer_norm(const float *x, float *y, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0, squares = 0;
    for (int c = 0; c < cols; c++) sum += x[row * cols + c];
    for (int c = 0; c < cols; c++) squares += (x[row * cols + c] - sum / cols) * (x[row * cols + c] - sum / cols);
    for (int c = 0; c < cols; c++) y[row * cols + c] = (x[row * cols + c] - sum / cols) / helper(squares / cols);
}
__global__ void leaky_relu(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > 0 ? x[i] : 0.2f * x[i];
}
__global__ void histogram(const int *in, int *bins, int n, int num_bins) {
    __shared__ int local[128];
    for (int b = threadIdx.x; b < num_bins; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&local[in[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < num_bins; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}
__global__ void relu(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fabsf(x[i]);
}
__global__ void copy(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) y[i] = x[i];
}
__global__ void clone(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) y[i] = x[i];
}
void launch(float *x, float *y, int *bins, int B, int T, int cols, int n) {
    int total_rows = B * T;
    rms_norm<<<total_rows, 32>>>(x, y, cols);
    histogram<<<1, 64>>>(bins, bins, n, 128);
}
CU
try cupel init norms.cu
for kernel in rms_norm layer_norm leaky_relu histogram relu copy clone; do
    echo "--- $kernel"
    sed 1,4d norms_$kernel.yaml
done
try cupel check norms.cu
# what the compiler may set is proposed as variants, and claims nothing before the author does
cat >tunable.cu <<'CU'
#ifndef BLOCK
#define BLOCK 0x80
#endif
#ifndef UNUSED
#define UNUSED 3
#endif
#define FIXED 2
__global__ void relu(const float *x, float *y, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
void launch(float *x, float *y, int n) { relu<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, y, n); }
CU
try cupel init tunable.cu
sed 1,2d tunable.yaml
sed -i 's/^# \(variants\|source\)/\1/; /^  grid\|^  block/s/128/BLOCK/' tunable.yaml
cupel check tunable.yaml --cases 40 --seed 1 -q 2>&1 | tail -1
cp add.cu "a d'd.cu"
try cupel init "a d'd.cu"
try cupel init add.cu -o add.cu
echo text >notes.txt
try cupel init add.cu -o notes.txt
cupel init add.cu -o - 2>&1 >/dev/full
tail -3 add.cu
cat notes.txt
