// Kernels with and without each resource that a device binary tells of.
extern "C" __global__ void plain(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

extern "C" __global__ __launch_bounds__(128) void bounded(float *x) {
    __shared__ float s[300];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[127 - threadIdx.x];
}

extern "C" __global__ __launch_bounds__(1024, 2) void spilling(float *x, int n) {
    float a[40];
#pragma unroll
    for (int i = 0; i < 40; i++) a[i] = x[threadIdx.x + i * n];
#pragma unroll
    for (int i = 0; i < 40; i++) a[i] = a[i] * a[(i * 37 + 1) % 40] + 1;
#pragma unroll
    for (int i = 0; i < 40; i++) x[threadIdx.x + i * n] = a[i];
}

extern "C" __global__ void indexed(float *x, int n) {
    float a[64];
    for (int i = 0; i < 64; i++) a[i] = x[i];
    for (int i = 0; i < n; i++) a[(i * n) & 63] += 1;
    x[threadIdx.x] = a[n & 63];
}

template <class T>
__global__ __launch_bounds__(256) void typed(T *x) {
    extern __shared__ char dynamic[];
    __shared__ T fixed[33];
    ((T *)dynamic)[threadIdx.x] = x[0];
    fixed[threadIdx.x % 33] = x[1];
    __syncthreads();
    x[1] = ((T *)dynamic)[3] + fixed[7];
}
template __global__ void typed<double>(double *);

__device__ __noinline__ float deep(float x, int n) {
    float a[10];
    for (int i = 0; i < 10; i++) a[i] = x * i;
    return n <= 0 ? a[n & 7] : deep(x + a[n % 10], n - 1) + a[(n + 1) % 10];
}
extern "C" __global__ void recursive(float *x, int n) { x[0] = deep(x[1], n); }
