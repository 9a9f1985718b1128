/* fp8: conversions of both kinds, saturating and not, from all sources, and the classes. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "feature.cuh"

/* NaNs have a sign or not, and in e5m2 a payload of their own. */
__device__ unsigned any_nan4(unsigned code) { return (code & 0x7f) > 0x7e ? 0x7f : code; }
__device__ unsigned any_nan5(unsigned code) { return (code & 0x7f) > 0x7c ? 0x7e : code; }

__global__ void fp8_from_reals(const unsigned *x, unsigned *y) {
    FEATURE(8);
    float f = as_float(x[0]);
    double d = as_double(x);
    y[0] = __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3), y[1] = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E4M3);
    y[2] = __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E5M2), y[3] = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E5M2);
    y[4] = __nv_cvt_double_to_fp8(d, __NV_SATFINITE, __NV_E4M3), y[5] = __nv_cvt_double_to_fp8(d, __NV_SATFINITE, __NV_E5M2);
    y[6] = __nv_cvt_float2_to_fp8x2(make_float2(f, as_float(x[1])), __NV_SATFINITE, __NV_E4M3);
    y[7] = __nv_cvt_float2_to_fp8x2(make_float2(f, as_float(x[1])), __NV_SATFINITE, __NV_E5M2);
    y[0] = any_nan4(y[0]), y[1] = any_nan4(y[1]), y[2] = any_nan5(y[2]), y[3] = any_nan5(y[3]);
    y[4] = any_nan4(y[4]), y[5] = any_nan5(y[5]);
    y[6] = any_nan4(y[6] & 255) | any_nan4(y[6] >> 8) << 8, y[7] = any_nan5(y[7] & 255) | any_nan5(y[7] >> 8) << 8;
}
__global__ void fp8_from_halves(const unsigned *x, unsigned *y) {
    FEATURE(4);
    __half_raw h;
    __nv_bfloat16_raw b;
    h.x = (unsigned short)x[0], b.x = (unsigned short)x[0];
    y[0] = __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E4M3), y[1] = __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E5M2);
    y[2] = __nv_cvt_bfloat16raw_to_fp8(b, __NV_SATFINITE, __NV_E4M3), y[3] = __nv_cvt_bfloat16raw_to_fp8(b, __NV_SATFINITE, __NV_E5M2);
    y[0] = any_nan4(y[0]), y[1] = any_nan5(y[1]), y[2] = any_nan4(y[2]), y[3] = any_nan5(y[3]);
}
__global__ void fp8_to_reals(const unsigned *x, unsigned *y) {
    FEATURE(6);
    y[0] = bits(__half2float(__half(__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x[0], __NV_E4M3))));
    y[1] = bits(__half2float(__half(__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x[0], __NV_E5M2))));
    __half2 pair = __half2(__nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)x[0], __NV_E4M3));
    y[2] = bits(__low2float(pair)), y[3] = bits(__high2float(pair));
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = (__nv_fp8_storage_t)x[1], b.__x = (__nv_fp8_storage_t)x[1];
    y[4] = bits(float(a)), y[5] = bits(float(b));
}
__global__ void fp8_classes(const unsigned *x, unsigned *y) {
    FEATURE(4);
    float f = as_float(x[0]);
    if (f != f) f = 1.0f;
    __nv_fp8_e4m3 a(f);
    __nv_fp8_e5m2 b = __nv_fp8_e5m2(f);
    y[0] = bits(static_cast<float>(a)), y[1] = bits(static_cast<float>(b));
    __nv_fp8x4_e4m3 four(make_float4(f, 1.0f, 2.0f, -f));
    y[2] = four.__x;
    y[3] = sizeof(__nv_fp8_e4m3) + 10 * sizeof(__nv_fp8x2_e5m2) + 100 * sizeof(__nv_fp8x4_e4m3);
}
