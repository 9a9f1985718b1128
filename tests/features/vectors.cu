/* Vector types: sizes, makers, members, wide accesses, arrays of them, parameters by value. */
#include "feature.cuh"

template <class V> __device__ unsigned measure() { return sizeof(V) << 8 | alignof(V); }

__global__ void vector_sizes(const unsigned *x, unsigned *y) {
    FEATURE(24);
    const unsigned sizes[24] = {measure<char1>(),   measure<char2>(),     measure<char3>(),     measure<char4>(),
                                measure<uchar2>(),  measure<uchar4>(),    measure<short2>(),    measure<short3>(),
                                measure<ushort4>(), measure<int2>(),      measure<int3>(),      measure<int4>(),
                                measure<uint2>(),   measure<uint4>(),     measure<float1>(),    measure<float2>(),
                                measure<float3>(),  measure<float4>(),    measure<double2>(),   measure<longlong2>(),
                                measure<ulong2>(),  measure<longlong1>(), measure<ulonglong2>(), measure<double3>()};
    for (int i = 0; i < 24; i++) y[i] = sizes[i];
}
__global__ void vector_makers(const unsigned *x, unsigned *y) {
    FEATURE(16);
    char4 c = make_char4((signed char)x[0], (signed char)x[1], (signed char)x[2], (signed char)x[3]);
    uchar2 u = make_uchar2((unsigned char)x[0], (unsigned char)x[1]);
    short2 s = make_short2((short)x[0], (short)x[1]);
    ushort3 t = make_ushort3((unsigned short)x[0], (unsigned short)x[1], (unsigned short)x[2]);
    int3 i = make_int3((int)x[0], (int)x[1], (int)x[2]);
    uint4 v = make_uint4(x[3], x[2], x[1], x[0]);
    float4 f = make_float4(as_float(x[0]), 1.0f, 2.0f, as_float(x[3]));
    longlong2 l = make_longlong2((long long)as_long(x), -1);
    double2 d = make_double2(as_double(x), 0.5);
    y[0] = (unsigned)c.x, y[1] = (unsigned)c.w, y[2] = u.y, y[3] = (unsigned)s.y, y[4] = t.z, y[5] = (unsigned)(i.x + i.z);
    y[6] = v.x ^ v.w, y[7] = bits(f.x + f.z), y[8] = bits(f.w);
    put(y + 9, (unsigned long long)(l.x + l.y)), put(y + 11, d.x * d.y);
    int2 braces = {(int)x[4], 5};
    float4 zero = {};
    y[13] = (unsigned)(braces.x + braces.y), y[14] = bits(zero.x + zero.w);
    uint3 index = threadIdx;
    dim3 shape(3, 2);
    y[15] = index.x + 100 * shape.z + shape.x;
}
/* One access of 16, 8 or 4 bytes a thread, both ways. */
__global__ void vector_access(const unsigned *x, unsigned *y) {
    FEATURE(12);
    float4 a = *reinterpret_cast<const float4 *>(x);
    int4 b = reinterpret_cast<const int4 *>(x)[1];
    uint2 c = reinterpret_cast<const uint2 *>(x)[1];
    uchar4 d = *reinterpret_cast<const uchar4 *>(x + 5);
    *reinterpret_cast<float4 *>(y) = make_float4(a.w, a.z, a.y, a.x);
    *reinterpret_cast<int4 *>(y + 4) = b;
    *reinterpret_cast<uint2 *>(y + 8) = make_uint2(c.y, c.x);
    *reinterpret_cast<uchar4 *>(y + 10) = make_uchar4(d.w, d.z, d.y, d.x);
    ((ushort2 *)(y + 11))[0] = make_ushort2((unsigned short)x[7], (unsigned short)(x[7] >> 16));
}
struct alignas(16) Packed {
    unsigned words[4];
};
template <class T, int N> struct __align__(sizeof(T) * N) Vec {
    T val[N];
    __device__ T &operator[](int i) { return val[i]; }
};
__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ unsigned take(const float4 v[2], uint3 w) { return bits(v[0].x) ^ bits(v[1].w) ^ w.z; }

__global__ void vector_structures(const unsigned *x, unsigned *y) {
    FEATURE(16);
    Packed p = *reinterpret_cast<const Packed *>(x);
    y[0] = p.words[2];
    Vec<unsigned, 4> v = *reinterpret_cast<const Vec<unsigned, 4> *>(x + 4);
    v[1] += v[0];
    *reinterpret_cast<Vec<unsigned, 4> *>(y + 4) = v;
    float4 registers[2];
    registers[0] = *reinterpret_cast<const float4 *>(x), registers[1] = registers[0] + make_float4(1, 1, 1, 1);
    const float *each = reinterpret_cast<const float *>(registers);
    y[1] = bits(each[5]), y[2] = take(registers, make_uint3(1, 2, 3)), y[3] = bits((&registers[1].x)[2]);
    __shared__ float4 shared[1024];
    shared[feature_rank()] = registers[0];
    __syncthreads();
    float *flat = reinterpret_cast<float *>(shared);
    for (int i = 0; i < 4; i++) y[8 + i] = bits(flat[4 * feature_rank() + i]);
    y[12] = sizeof(Packed), y[13] = alignof(Vec<unsigned, 4>), y[14] = 0, y[15] = 0;
}
