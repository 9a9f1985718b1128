// Arrays in static shared memory that a thread indexes as it goes. All take in, out and where (of which only the first
// element is read: the index, 4 in a correct run, 8 or more in a wrong one). A kernel's wrong access is marked NAME.

__global__ void load_past_the_first(const float *in, float *out, const float *where) {
    __shared__ float one[8], two[8];
    const int t = threadIdx.x;
    if (t < 8) one[t] = two[t] = in[t];
    __syncthreads();
    out[t] = one[(int)where[0]] + two[t % 8]; // load_past_the_first
}

__global__ void store_past_the_first(const float *in, float *out, const float *where) {
    __shared__ float one[8];
    __shared__ double two[8];
    const int t = threadIdx.x;
    if (t < 8) one[t] = in[t], two[t] = 1;
    __syncthreads();
    if (t == 5) one[(int)where[0]] = 3; // store_past_the_first
    __syncthreads();
    out[t] = one[t % 8] + (float)two[t % 8];
}

__global__ void add_past_the_first(const float *in, float *out, const float *where) {
    __shared__ int counts[8], others[8];
    const int t = threadIdx.x;
    if (t < 8) counts[t] = others[t] = 0;
    __syncthreads();
    atomicAdd(&counts[(int)where[0] + (int)in[0]], 1); // add_past_the_first
    __syncthreads();
    out[t] = (float)(counts[t % 8] + others[t % 8]);
}

__global__ void store_before_the_second(const float *in, float *out, const float *where) {
    __shared__ int first[8];
    alignas(16) __shared__ float second[8];
    const int t = threadIdx.x;
    if (t < 8) first[t] = t, second[t] = in[t];
    __syncthreads();
    if (t == 0) second[7 - (int)where[0]] = 3; // store_before_the_second
    __syncthreads();
    out[t] = second[t % 8] + (float)first[t % 8];
}

template <typename T> __device__ float turned(const float *in, int index) {
    __shared__ T values[8];
    __shared__ T others[8];
    const int t = threadIdx.x;
    if (t < 8) values[t] = (T)in[t], others[t] = (T)1;
    __syncthreads();
    const float result = (float)values[index] + (float)others[t % 8]; // load_in_two_instances
    __syncthreads();
    return result;
}

__global__ void load_in_two_instances(const float *in, float *out, const float *where) {
    out[threadIdx.x] = turned<double>(in, 3) + turned<float>(in, (int)where[0]);
}

// From here on every access is right, whatever where says: nothing is marked.

struct alignas(32) record {
    float head[3];
    double tail[2];
    unsigned char bytes[5];
};

union words {
    float real[16];
    unsigned int bits[16];
    struct {
        double low[4], high[4];
    } halves;
};

__global__ void right_walks(const float *in, float *out, const float *where) {
    __shared__ float grid[4][5][3];
    __shared__ record records[3];
    __shared__ words both;
    alignas(128) __shared__ char aligned[64];
    extern __shared__ float dynamic[];
    const int t = threadIdx.x, n = (int)where[0] * 0 + 60;
    float *flat = &grid[0][0][0], sum = 0;
    unsigned char *raw = (unsigned char *)records;
    for (int i = t; i < n; i += blockDim.x) flat[i] = in[i];
    for (int i = t; i < (int)sizeof records; i += blockDim.x) raw[i] = 0;
    for (int i = t; i < 16; i += blockDim.x) both.real[i] = in[i];
    for (int i = t; i < 16; i += blockDim.x) ((float *)aligned)[i] = in[i];
    dynamic[t] = in[t];
    __syncthreads();
    for (int i = 0; i < n; i++) sum += flat[i];
    for (int r = 0; r < 3; r++) sum += records[r].head[2] + (float)records[r].tail[1] + records[r].bytes[4];
    sum += (float)(both.bits[15] >> 31) + (both.halves.high[3] == 0 ? 1.0f : 0.0f) + ((float4 *)aligned)[3].w;
    out[t] = sum + dynamic[(t + 1) % blockDim.x];
}
