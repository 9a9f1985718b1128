/* fp8 of emulated device code against oracles/formats.h, which tests/unit/oracles/test_formats.c holds
 * against MPFR and the formats' own definition: every code, and both sides of every boundary. */
#include "device_testing.h"

#include <math.h>

#include "formats.h"

static const char text[] =
    "#include <cuda_fp8.h>\n"
    "template <class Q> __device__ void all(const double *x, unsigned char *sat, unsigned char *half, int n) "
    "{\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        sat[i] = Q(x[i]).__x;\n"
    "        half[i] = Q(__half((float)x[i])).__x;\n"
    "    }\n"
    "}\n"
    "__global__ void narrow4(const double *x, unsigned char *sat, unsigned char *half, int n) { "
    "all<__nv_fp8_e4m3>(x, sat, half, n); }\n"
    "__global__ void narrow5(const double *x, unsigned char *sat, unsigned char *half, int n) { "
    "all<__nv_fp8_e5m2>(x, sat, half, n); }\n"
    "__global__ void plain4(const double *x, unsigned char *y, int n) { for (int i = 0; i < n; i++) y[i] = "
    "__nv_cvt_double_to_fp8(x[i], __NV_NOSAT, __NV_E4M3); }\n"
    "__global__ void plain5(const double *x, unsigned char *y, int n) { for (int i = 0; i < n; i++) y[i] = "
    "__nv_cvt_double_to_fp8(x[i], __NV_NOSAT, __NV_E5M2); }\n"
    "__global__ void widen(const unsigned char *q, float *one, float *pair, float *quad) {\n"
    "    for (int i = 0; i < 256; i++) {\n"
    "        __nv_fp8_e4m3 a; __nv_fp8_e5m2 b; a.__x = b.__x = q[i];\n"
    "        one[i] = float(a), one[256 + i] = float(b);\n"
    "        __nv_fp8x2_e4m3 p; p.__x = (unsigned short)(q[i] << 8 | q[255 - i]);\n"
    "        float2 f = float2(p); pair[i] = f.y, pair[256 + i] = f.x;\n"
    "        __nv_fp8x4_e5m2 r; r.__x = q[i] * 0x01000100u + q[255 - i] * 0x00010001u;\n"
    "        float4 g = float4(r); quad[i] = g.w, quad[256 + i] = g.z;\n"
    "        r = __nv_fp8x4_e5m2(g); quad[512 + i] = __nv_cvt_fp8_to_halfraw(r.__x >> 24, __NV_E5M2).x;\n"
    "    }\n"
    "}\n";

enum { NARROW, PLAIN = 2, WIDEN = 4, POINTS_MAX = 4000 };

static bool same(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* Every number, the middles between neighbours, and the doubles beside both; far beyond; not finite. */
static int fill_points(cupel_dtype type, double *x) {
    const double far[] = {1e300, 5e-324, 464, 464.0000001, 480, 61440, 61439.99, INFINITY, NAN};
    int n = 0;
    for (unsigned code = 0; code < 128; code++) {
        const unsigned char element = (unsigned char)code;
        const double a = cupel_decode(type, &element);
        if (!isfinite(a)) continue;
        const double middle = a + cupel_format_ulp(type, a) / 2;
        const double points[] = {a, nextafter(a, INFINITY), nextafter(middle, 0), middle,
                                 nextafter(middle, INFINITY)};
        for (size_t k = 0; k < sizeof points / sizeof *points; k++) x[n++] = points[k], x[n++] = -points[k];
    }
    for (size_t k = 0; k < sizeof far / sizeof *far; k++) x[n++] = far[k], x[n++] = -far[k];
    return n;
}

static void conversions_round_as_the_formats_do(void **state) {
    (void)state;
    static double x[POINTS_MAX];
    static unsigned char sat[POINTS_MAX], half[POINTS_MAX], plain[POINTS_MAX];
    device d;
    device_open(&d, text, 5, (const char *const[]){"narrow4", "narrow5", "plain4", "plain5", "widen"});
    for (int k = 0; k < 2; k++) {
        const cupel_dtype type = k ? CUPEL_E5M2 : CUPEL_E4M3;
        int n = fill_points(type, x);
        const void *in = x;
        void *out = sat, *second = half, *third = plain;
        device_call(&d, NARROW + k, (void *[]){&in, &out, &second, &n});
        device_call(&d, PLAIN + k, (void *[]){&in, &third, &n});
        for (int i = 0; i < n; i++) {
            if (!same(cupel_decode(type, &sat[i]), cupel_saturate(type, x[i])))
                fail_msg("%s(%a) is %02x", cupel_format_of(type)->name, x[i], sat[i]);
            const double by_half = cupel_round(CUPEL_F16, (double)(float)x[i]);
            if (!same(cupel_decode(type, &half[i]), cupel_saturate(type, by_half)))
                fail_msg("%s(half %a) is %02x", cupel_format_of(type)->name, x[i], half[i]);
            if (!same(fabs(cupel_decode(type, &plain[i])), fabs(cupel_round(type, x[i]))))
                fail_msg("%s without saturation of %a is %02x", cupel_format_of(type)->name, x[i], plain[i]);
        }
    }
    device_close(&d);
}

static void every_code_is_read_alike(void **state) {
    (void)state;
    unsigned char codes[256];
    static float one[512], pair[512], quad[768];
    for (int i = 0; i < 256; i++) codes[i] = (unsigned char)i;
    const void *in = codes;
    void *a = one, *b = pair, *c = quad;
    device d;
    device_open(&d, text, 5, (const char *const[]){"narrow4", "narrow5", "plain4", "plain5", "widen"});
    device_call(&d, WIDEN, (void *[]){&in, &a, &b, &c});
    for (int i = 0; i < 256; i++) {
        const double four = cupel_decode(CUPEL_E4M3, &codes[i]), five = cupel_decode(CUPEL_E5M2, &codes[i]);
        const double other4 = cupel_decode(CUPEL_E4M3, &codes[255 - i]);
        assert_true(same((double)one[i], four) && same((double)one[256 + i], five));
        assert_true(same((double)pair[i], four) && same((double)pair[256 + i], other4));
        assert_true(same((double)quad[i], five));
        const uint16_t bits = (uint16_t)quad[512 + i]; /* there and back, saturated, as half */
        assert_true(same(cupel_decode(CUPEL_F16, &bits), cupel_saturate(CUPEL_E5M2, five)));
    }
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions_round_as_the_formats_do),
        cmocka_unit_test(every_code_is_read_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
