// entries: add_float4; gelu_half2; copy_int4; unions; packed<float>; packed<__nv_bfloat16>; widths
// 128-bit accesses in the styles of public repositories.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define FLOAT4(value) (reinterpret_cast<float4 *>(&(value))[0])
#define LDST128BITS(value) (reinterpret_cast<float4 *>(&(value))[0])
#define HALF2(value) (reinterpret_cast<half2 *>(&(value))[0])
#define MAX_EXP_F16 __float2half(11.089866488461016f)

__global__ void add_float4(float *a, float *b, float *c, int N) {
    int idx = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (idx < N) {
        float4 reg_a = FLOAT4(a[idx]);
        float4 reg_b = FLOAT4(b[idx]);
        float4 reg_c;
        reg_c.x = reg_a.x + reg_b.x;
        reg_c.y = reg_a.y + reg_b.y;
        reg_c.z = reg_a.z + reg_b.z;
        reg_c.w = reg_a.w + reg_b.w;
        FLOAT4(c[idx]) = reg_c;
    }
}

__inline__ __device__ half gelu(half x) {
    half cube = x * x * x;
    half inner = __float2half(0.7978845608f) * (x + __float2half(0.044715f) * cube);
    return __float2half(0.5f) * x * (__float2half(1.f) + __hsub(htanh(inner), __float2half(0.f)));
}

__global__ void gelu_half2(half *x, half *y, int n) {
    int idx = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    half pack_x[8], pack_y[8];
    LDST128BITS(pack_x[0]) = LDST128BITS(x[idx]);
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
        half2 v = HALF2(pack_x[i]);
        v = __hmin2(__hmax2(v, __half2half2(__hneg(MAX_EXP_F16))), __float2half2_rn(11.f));
        pack_y[i] = gelu(v.x);
        pack_y[i + 1] = gelu(__high2half(v));
    }
    if (idx + 7 < n) LDST128BITS(y[idx]) = LDST128BITS(pack_y[0]);
}

__global__ void copy_int4(const int4 *__restrict__ in, int4 *out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) __stcs(out + i, __ldcs(in + i));
}

__global__ void unions(float *x) {
    union { float4 vec; float arr[4]; } u;
    u.vec = reinterpret_cast<const float4 *>(x)[threadIdx.x];
    for (int k = 0; k < 4; k++) u.arr[k] *= 2.f;
    reinterpret_cast<float4 *>(x)[threadIdx.x] = u.vec;
    float4 zero = {0.f, 0.f, 0.f, 0.f}, partial = {1.f}, none{};
    const float2 f2 = make_float2(zero.x, partial.y + none.z);
    ((float2 *)x)[1] = f2;
}

template <class ElementType> struct alignas(16) Packed128 {
    Packed128() = default;
    __device__ explicit Packed128(int4 bits) {
        static_assert(sizeof(bits) == sizeof(payload), "Size mismatch.");
        memcpy(&payload, &bits, sizeof(bits));
    }
    __device__ static Packed128 zeros() { Packed128 r; for (int k = 0; k < size; ++k) r.payload[k] = ElementType(0.f); return r; }
    __device__ ElementType &operator[](int index) { return payload[index]; }
    __device__ const ElementType &operator[](int index) const { return payload[index]; }
    __device__ int4 get_bits() const { int4 bits; memcpy(&bits, &payload, sizeof(bits)); return bits; }
    static constexpr const size_t size = sizeof(int4) / sizeof(ElementType);
    ElementType payload[size];
};
template <class ElementType> __device__ Packed128<ElementType> load128cs(const ElementType *address) {
    return Packed128<ElementType>{__ldcs(reinterpret_cast<const int4 *>(address))};
}
template <class ElementType> __device__ void store128(ElementType *target, Packed128<ElementType> value) {
    *reinterpret_cast<int4 *>(target) = value.get_bits();
}
template <class T> __global__ void packed(T *out, const T *in) {
    size_t idx = (blockIdx.x * blockDim.x + threadIdx.x) * Packed128<T>::size;
    Packed128<T> a = load128cs(in + idx), r;
    for (int k = 0; k < r.size; ++k) r[k] = (T)((float)a[k] + (float)Packed128<T>::zeros()[k]);
    store128(out + idx, r);
}

__global__ void widths(char4 *c, uchar2 *u, short4 *s, double2 *d, longlong2 *l, ushort3 *t, double4 *q, uint1 *one) {
    c[0] = make_char4(1, 2, 3, 4);
    u[0] = make_uchar2(1, 2);
    s[0] = short4{1, 2, 3, 4};
    d[0] = d[1];
    l[0] = make_longlong2(l[1].y, l[1].x);
    t[0] = t[1];
    q[0] = q[1];
    one[0].x = sizeof(double4) + alignof(double4) + sizeof(ushort3) + alignof(float4);
    volatile float2 *v = (volatile float2 *)d;
    v->x = 1.f;
}
