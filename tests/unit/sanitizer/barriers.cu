// Barriers under conditions. Kernels named bad_* let lanes of one warp wait at two barriers, marked NAME:a and NAME:b; good_*
// do not. Arguments and launches as in races.cu.

__global__ void bad_branches(const float *in, float *out, float *scratch) {
    const int t = threadIdx.x;
    if (t % 2) {
        scratch[blockIdx.x * 128 + t] = in[t];
        __syncthreads(); // bad_branches:a
    } else {
        scratch[blockIdx.x * 128 + t] = 2 * in[t];
        __syncthreads(); // bad_branches:b
    }
    out[blockIdx.x * 128 + t] = scratch[blockIdx.x * 128 + 127 - t];
}

__global__ void bad_turns(const float *in, float *out, float *scratch) {
    const int t = threadIdx.x;
    float sum = 0;
    for (int i = t; i < 200; i += 128) {
        sum += in[i];
        __syncthreads(); // bad_turns:a
    }
    __syncthreads(); // bad_turns:b
    out[blockIdx.x * 128 + t] = sum;
}

__global__ void bad_counts(const float *in, float *out, float *scratch) {
    const int t = threadIdx.x;
    int n;
    if (t % 3 == 0)
        n = __syncthreads_count(in[t] > 5); // bad_counts:a
    else
        n = __syncthreads_count(in[t] > 7); // bad_counts:b
    out[blockIdx.x * 128 + t] = (float)n;
}

// Warps with parts of their own, as a device takes them.
__global__ void good_roles(const float *in, float *out, float *scratch) {
    __shared__ float value[64];
    const int t = threadIdx.x;
    if (t < 64) {
        value[t] = in[t];
        __syncthreads();
    } else {
        __syncthreads();
        out[blockIdx.x * 128 + t] = value[t - 64];
    }
}

__global__ void good_return(const float *in, float *out, float *scratch) {
    const int t = threadIdx.x;
    if (t >= 100) return;
    __syncthreads();
    out[blockIdx.x * 128 + t] = in[t];
}

__global__ void good_turns(const float *in, float *out, float *scratch) {
    __shared__ float value[2][128];
    const int t = threadIdx.x;
    float sum = 0;
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        value[i % 2][t] = in[t + i];
        __syncthreads();
        sum += value[i % 2][127 - t];
    }
    if (blockIdx.x == 0) __syncthreads();
    else __syncthreads();
    out[blockIdx.x * 128 + t] = sum;
}
