// What structures demand of an address is what their widest member does, however the compiler moves them. Kernels
// called right_ copy one type through all kinds of memory at its least alignment; those called wrong_ access a wider type
// in the line of their mark.
#include <cuda_fp16.h>

struct moments {
    float mean, m2, count;
};
struct two_floats {
    float a, b;
};
struct four_floats {
    float a, b, c, d;
};
struct two_longs {
    long long a, b;
};
struct two_doubles {
    double a, b;
};
struct mixed {
    double a;
    float b;
};
struct pointed {
    const float *at;
    int n;
};
struct two_shorts {
    short a, b;
};
struct four_halves {
    __half a, b, c, d;
};
struct bytes_8 {
    unsigned char b[8];
};
struct bytes_16 {
    unsigned char b[16];
};
struct bytes_2 {
    unsigned char a, b;
};
struct nested {
    float first;
    moments pair[2];
};
struct __align__(8) aligned_pair {
    float a, b;
};
typedef float loose_floats __attribute__((vector_size(16), aligned(4)));
typedef double loose_doubles __attribute__((vector_size(16), aligned(8)));
struct with_floats {
    loose_floats v;
};
struct with_doubles {
    loose_doubles v;
};

template <class T> __device__ __noinline__ T handed(T v, int turn) {
    return turn == 0 ? v : handed(v, turn - 1);
}

// filled: bytes of an element in front of its padding.
template <class T, int filled = sizeof(T)> __device__ void around(const float *in, float *out, float *scratch) {
    struct guarded {
        unsigned char before[alignof(T)];
        T all[64];
    };
    __shared__ guarded shared;
    const int t = threadIdx.x, none = (int)in[255];
    const T *from = reinterpret_cast<const T *>(reinterpret_cast<const char *>(in) + alignof(T));
    T *kept = reinterpret_cast<T *>(reinterpret_cast<char *>(scratch) + alignof(T));
    T *to = reinterpret_cast<T *>(reinterpret_cast<char *>(out) + alignof(T));
    shared.all[t] = from[t % 16];
    __syncthreads();
    T local[3];
    for (int i = 0; i < 3; i++) local[i] = shared.all[(63 - t + i) % 64];
    T v = handed(local[none], none);
    unsigned char *bytes = reinterpret_cast<unsigned char *>(&v);
    for (int i = 0; i < (int)sizeof(T); i++) bytes[i] = (unsigned char)__shfl_xor_sync(~0u, (unsigned)bytes[i], 1);
    if (t < 16) kept[t] = v;
    to[t] = t < 16 ? kept[t] : v;
    if (t == 0) out[1021] = filled, out[1022] = alignof(T), out[1023] = sizeof(T);
}

__global__ void right_moments(const float *in, float *out, float *scratch) { around<moments>(in, out, scratch); }
__global__ void right_two_floats(const float *in, float *out, float *scratch) { around<two_floats>(in, out, scratch); }
__global__ void right_four_floats(const float *in, float *out, float *scratch) { around<four_floats>(in, out, scratch); }
__global__ void right_two_longs(const float *in, float *out, float *scratch) { around<two_longs>(in, out, scratch); }
__global__ void right_two_doubles(const float *in, float *out, float *scratch) { around<two_doubles>(in, out, scratch); }
__global__ void right_mixed(const float *in, float *out, float *scratch) { around<mixed, 12>(in, out, scratch); }
__global__ void right_pointed(const float *in, float *out, float *scratch) { around<pointed, 12>(in, out, scratch); }
__global__ void right_two_shorts(const float *in, float *out, float *scratch) { around<two_shorts>(in, out, scratch); }
__global__ void right_four_halves(const float *in, float *out, float *scratch) { around<four_halves>(in, out, scratch); }
__global__ void right_bytes_2(const float *in, float *out, float *scratch) { around<bytes_2>(in, out, scratch); }
__global__ void right_bytes_8(const float *in, float *out, float *scratch) { around<bytes_8>(in, out, scratch); }
__global__ void right_bytes_16(const float *in, float *out, float *scratch) { around<bytes_16>(in, out, scratch); }
__global__ void right_nested(const float *in, float *out, float *scratch) { around<nested>(in, out, scratch); }
__global__ void right_aligned_pair(const float *in, float *out, float *scratch) { around<aligned_pair>(in, out, scratch); }
__global__ void right_with_floats(const float *in, float *out, float *scratch) { around<with_floats>(in, out, scratch); }
__global__ void right_with_doubles(const float *in, float *out, float *scratch) { around<with_doubles>(in, out, scratch); }
__global__ void right_float3(const float *in, float *out, float *scratch) { around<float3>(in, out, scratch); }
__global__ void right_uchar3(const float *in, float *out, float *scratch) { around<uchar3>(in, out, scratch); }
__global__ void right_short3(const float *in, float *out, float *scratch) { around<short3>(in, out, scratch); }
__global__ void right_double3(const float *in, float *out, float *scratch) { around<double3>(in, out, scratch); }

__global__ void wrong_float4(const float *in, float *out, float *scratch) {
    float4 v = *reinterpret_cast<const float4 *>(in + 2); // wrong_float4
    out[0] = v.x + v.w;
}
__global__ void wrong_float2(const float *in, float *out, float *scratch) {
    float2 v = make_float2(in[0], in[1]);
    *reinterpret_cast<float2 *>(out + 1) = v; // wrong_float2
}
__global__ void wrong_double2(const float *in, float *out, float *scratch) {
    double2 v = *reinterpret_cast<const double2 *>(in + 2); // wrong_double2
    out[0] = (float)(v.x + v.y);
}
__global__ void wrong_double(const float *in, float *out, float *scratch) {
    out[0] = (float)*reinterpret_cast<const double *>(in + 1); // wrong_double
}
__global__ void wrong_half2(const float *in, float *out, float *scratch) {
    __half2 v = *reinterpret_cast<const __half2 *>(reinterpret_cast<const __half *>(in) + 1); // wrong_half2
    out[0] = __low2float(v);
}
__global__ void wrong_shared(const float *in, float *out, float *scratch) {
    __shared__ __align__(16) float all[68];
    *reinterpret_cast<int4 *>(all + 2) = make_int4(1, 2, 3, 4); // wrong_shared
    out[0] = all[3];
}
