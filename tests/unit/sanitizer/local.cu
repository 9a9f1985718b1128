// Arrays on the stack that a thread indexes as it goes. All take in, out and where (of which only the first element is
// read: the index). Each kernel's last access is marked NAME.

__device__ float sum_of(const float *values, int count) {
    float sum = 0;
    for (int i = 0; i < count; i++) sum += values[i];
    return sum;
}

__global__ void load_past_the_end(const float *in, float *out, const float *where) {
    float one[5], two[8];
    const int t = threadIdx.x;
    for (int i = 0; i < 5; i++) one[i] = in[i + t];
    for (int i = 0; i < 8; i++) two[i] = in[i];
    out[t] = one[(int)where[0]] + two[(int)where[0] % 8]; // load_past_the_end
}

__global__ void store_past_the_end(const float *in, float *out, const float *where) {
    float one[8], two[8];
    const int t = threadIdx.x;
    for (int i = 0; i < 8; i++) one[i] = two[i] = in[i + t];
    one[(int)where[0]] = 3; // store_past_the_end
    out[t] = sum_of(one, 8) + two[(int)where[0] % 8];
}

__global__ void store_before_the_start(const float *in, float *out, const float *where) {
    double one[4];
    const int t = threadIdx.x;
    for (int i = 0; i < 4; i++) one[i] = in[i + t];
    one[7 - (int)where[0]] = 3; // store_before_the_start
    out[t] = (float)(one[(int)where[0] % 4] + one[1]);
}
