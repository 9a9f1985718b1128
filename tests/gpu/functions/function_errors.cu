/* How far the device's functions are from the truth: every finite float through each function, pairs at random
 * through those of two arguments, against the same function in double (whose own error is below 2^-51, an
 * unit of 2^-28 here). Prints a table of comma separated values, two rows for each function and range of
 * inputs (sign and eight exponents): the largest error in ulps, an ulp being the spacing of floats at the exact
 * result, and the largest absolute error, each with the input that gives it. test_function_errors.c holds the
 * budgets of oracles/budgets.c against the recorded table.
 *
 *   nvcc -O3 -arch=sm_90 -cudart static function_errors.cu -o function_errors && ./function_errors > table */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

enum { BINS = 64, THREADS = 256, BLOCKS = 1024 };

#define APPROXIMATE(name, instruction)                                                                       \
    static __device__ float name(float x) {                                                                  \
        float y;                                                                                             \
        asm(instruction " %0, %1;" : "=f"(y) : "f"(x));                                                      \
        return y;                                                                                            \
    }
APPROXIMATE(approximate_exp2, "ex2.approx.f32")
APPROXIMATE(approximate_log2, "lg2.approx.f32")
APPROXIMATE(approximate_sqrt, "sqrt.approx.f32")
APPROXIMATE(approximate_rsqrt, "rsqrt.approx.f32")
APPROXIMATE(approximate_reciprocal, "rcp.approx.f32")

/* name, primitive of the oracle, math, the float function of x (and z), the same in double of t (and s) */
#define FUNCTIONS(X) \
    X("sqrtf", sqrt, precise, sqrtf(x), sqrt(t)) \
    X("rsqrtf", rsqrt, precise, rsqrtf(x), rsqrt(t)) \
    X("expf", exp, precise, expf(x), exp(t)) \
    X("exp2f", exp2, precise, exp2f(x), exp2(t)) \
    X("expm1f", expm1, precise, expm1f(x), expm1(t)) \
    X("logf", log, precise, logf(x), log(t)) \
    X("log2f", log2, precise, log2f(x), log2(t)) \
    X("log10f", log10, precise, log10f(x), log10(t)) \
    X("log1pf", log1p, precise, log1pf(x), log1p(t)) \
    X("sinf", sin, precise, sinf(x), sin(t)) \
    X("cosf", cos, precise, cosf(x), cos(t)) \
    X("tanf", tan, precise, tanf(x), tan(t)) \
    X("asinf", asin, precise, asinf(x), asin(t)) \
    X("acosf", acos, precise, acosf(x), acos(t)) \
    X("atanf", atan, precise, atanf(x), atan(t)) \
    X("sinhf", sinh, precise, sinhf(x), sinh(t)) \
    X("coshf", cosh, precise, coshf(x), cosh(t)) \
    X("tanhf", tanh, precise, tanhf(x), tanh(t)) \
    X("erff", erf, precise, erff(x), erf(t)) \
    X("erfcf", erfc, precise, erfcf(x), erfc(t)) \
    X("__expf", exp, fast, __expf(x), exp(t)) \
    X("__logf", log, fast, __logf(x), log(t)) \
    X("__log2f", log2, fast, __log2f(x), log2(t)) \
    X("__log10f", log10, fast, __log10f(x), log10(t)) \
    X("__sinf", sin, fast, __sinf(x), sin(t)) \
    X("__cosf", cos, fast, __cosf(x), cos(t)) \
    X("__tanf", tan, fast, __tanf(x), tan(t)) \
    X("ex2.approx", exp2, fast, approximate_exp2(x), exp2(t)) \
    X("lg2.approx", log2, fast, approximate_log2(x), log2(t)) \
    X("ex2.approx of x*log2(e)", exp, fast, approximate_exp2(x * 1.44269504f), exp(t)) \
    X("lg2.approx * ln 2", log, fast, approximate_log2(x) * 0.693147181f, log(t)) \
    X("sqrt.approx", sqrt, fast, approximate_sqrt(x), sqrt(t)) \
    X("x * rsqrt.approx", sqrt, fast, x == 0 ? 0 : x * approximate_rsqrt(x), sqrt(t)) \
    X("rsqrt.approx", rsqrt, fast, approximate_rsqrt(x), rsqrt(t)) \
    X("rcp.approx of sqrt.approx", rsqrt, fast, approximate_reciprocal(approximate_sqrt(x)), rsqrt(t)) \
    X("1 - 2/(__expf(2x) + 1)", tanh, fast, 1 - __fdividef(2, __expf(2 * x) + 1), tanh(t)) \
    X("powf", pow, precise, powf(x, z), pow(t, s)) \
    X("atan2f", atan2, precise, atan2f(x, z), atan2(t, s)) \
    X("__powf", pow, fast, __powf(x, z), pow(t, s)) \
    X("__fdividef", div, fast, __fdividef(x, z), t / s) \
    X("x * rcp.approx", div, fast, x * approximate_reciprocal(z), t / s)

/* Two arguments from the row of powf on. */
enum { FIRST_PAIR = 36 };

/* The worst of each range: the error's bits above those that name the input. */
struct worst {
    unsigned long long ulps[BINS], absolute[BINS];
};

struct result {
    worst w;
    unsigned long long compared, spoilt;
    uint32_t spoilt_input;
};

static __host__ __device__ uint32_t mixed(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* Input number i: its own bits for one argument. Every second pair is of moderate exponents, so that most powers
 * and quotients are numbers. */
static __host__ __device__ void inputs_of(bool pair, uint32_t i, uint32_t *x, uint32_t *z) {
    *x = i;
    *z = 0;
    if (!pair) return;
    *x = mixed(i);
    *z = mixed(i ^ 0x9e3779b9u);
    if (i & 1) return;
    *x = (*x & 0x83ffffffu) + (60u << 24);
    *z = (*z & 0x83ffffffu) + (62u << 24);
}

template <int F> static __device__ void evaluate(float x, float z, float *got, double *exact) {
    const double t = x, s = z;
    int at = 0;
    (void)z, (void)s;
#define EVALUATE(name, op, math, single, truth)                                                              \
    if (F == at++) {                                                                                         \
        *got = single;                                                                                       \
        *exact = truth;                                                                                      \
        return;                                                                                              \
    }
    FUNCTIONS(EVALUATE)
}

static __device__ void note(worst *w, int bin, double exact, float got, uint32_t input) {
    const double error = fabs((double)got - exact);
    const int exponent = exact == 0 ? -126 : max(ilogb(exact), -126);
    const float ulps = (float)ldexp(error, 23 - exponent), absolute = (float)error;
    atomicMax(&w->ulps[bin], (unsigned long long)__float_as_uint(ulps) << 32 | input);
    atomicMax(&w->absolute[bin], (unsigned long long)__float_as_uint(absolute) << 32 | input);
}

template <int F> static __global__ void sweep(result *out) {
    __shared__ worst w;
    for (int i = (int)threadIdx.x; i < BINS; i += THREADS) w.ulps[i] = w.absolute[i] = 0;
    __syncthreads();
    unsigned long long compared = 0, spoilt = 0;
    const uint64_t first = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    for (uint64_t i = first; i < UINT64_C(1) << 32; i += (uint64_t)BLOCKS * THREADS) {
        uint32_t x, z;
        inputs_of(F >= FIRST_PAIR, (uint32_t)i, &x, &z);
        if (!isfinite(__uint_as_float(x)) || !isfinite(__uint_as_float(z))) continue;
        double exact;
        float got;
        evaluate<F>(__uint_as_float(x), __uint_as_float(z), &got, &exact);
        /* only where a finite result is due is an error a number */
        if (!isfinite(exact) || !(fabs(exact) < 0x1.fffffep127)) continue;
        if (!isfinite(got)) {
            spoilt++;
            out->spoilt_input = (uint32_t)i;
            continue;
        }
        compared++;
        note(&w, (int)(x >> 31) * 32 + (int)(x >> 26 & 31), exact, got, (uint32_t)i);
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < BINS; i += THREADS) {
        atomicMax(&out->w.ulps[i], w.ulps[i]);
        atomicMax(&out->w.absolute[i], w.absolute[i]);
    }
    atomicAdd(&out->compared, compared);
    atomicAdd(&out->spoilt, spoilt);
}

typedef struct function {
    const char *name, *op, *math;
    void (*sweep)(result *);
} function;

static bool measure(int number, const function *f, result *device) {
    result r;
    memset(&r, 0, sizeof r);
    cudaMemcpy(device, &r, sizeof r, cudaMemcpyHostToDevice);
    f->sweep<<<BLOCKS, THREADS>>>(device);
    const cudaError_t code = cudaMemcpy(&r, device, sizeof r, cudaMemcpyDeviceToHost);
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", f->name, cudaGetErrorString(code));
        return false;
    }
    for (int bin = 0; bin < BINS; bin++) {
        for (int absolute = 0; absolute < 2; absolute++) {
            const unsigned long long packed = absolute ? r.w.absolute[bin] : r.w.ulps[bin];
            uint32_t bits = (uint32_t)(packed >> 32), x, z;
            float error;
            memcpy(&error, &bits, sizeof error);
            if (error == 0) continue;
            inputs_of(number >= FIRST_PAIR, (uint32_t)packed, &x, &z);
            printf("%s,%s,%s,%s,%.9g,%08x,%08x\n", f->name, f->op, f->math, absolute ? "absolute" : "ulps", error, x, z);
        }
    }
    printf("# %s: %llu inputs compared, %llu finite results spoilt, one of them number %08x\n", f->name, r.compared,
           r.spoilt, r.spoilt_input);
    return true;
}

template <int F> struct table {
    static void fill(function *out) {
        out[F].sweep = sweep<F>;
        table<F - 1>::fill(out);
    }
};
template <> struct table<-1> {
    static void fill(function *) {}
};

int main() {
    function functions[] = {
#define NAMED(name, op, math, single, truth) {name, #op, #math, nullptr},
        FUNCTIONS(NAMED)};
    constexpr int count = sizeof functions / sizeof *functions;
    table<count - 1>::fill(functions);
    cudaDeviceProp properties;
    result *device;
    if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || cudaMalloc(&device, sizeof *device) != cudaSuccess) {
        fprintf(stderr, "no device\n");
        return 1;
    }
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    printf("# %s, sm_%d%d, CUDA %d.%d\n# function,primitive,math,measure,error,x,z\n", properties.name, properties.major,
           properties.minor, runtime / 1000, runtime % 1000 / 10);
    bool whole = true;
    for (int i = 0; i < count; i++) whole = measure(i, &functions[i], device) && whole;
    cudaFree(device);
    return whole ? 0 : 1;
}
