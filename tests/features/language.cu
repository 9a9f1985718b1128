/* C++ in device code: templates, lambdas, classes and the rest of the language that public kernels use. */
#include <array>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "feature.cuh"

#define RESTRICT __restrict__
#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

/* ---- functions ---- */

constexpr int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
__host__ __device__ inline unsigned twice(unsigned v) { return 2 * v; }
__device__ __forceinline__ unsigned thrice(unsigned v) { return 3 * v; }
__device__ __noinline__ unsigned called(unsigned v) { return v ^ 0x55u; }
__device__ unsigned later(unsigned v);
static inline __device__ unsigned overloaded(int v) { return (unsigned)v + 1; }
static inline __device__ unsigned overloaded(float v) { return (unsigned)v + 2; }
__device__ unsigned with_default(unsigned v, unsigned plus = 9) { return v + plus; }
__device__ unsigned recursive(unsigned n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }
__device__ unsigned even(unsigned n);
__device__ unsigned odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
__device__ unsigned even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }

__global__ void functions(const unsigned *RESTRICT x, unsigned *RESTRICT y) {
    FEATURE(12);
    y[0] = factorial(5), y[1] = twice(x[0]), y[2] = thrice(x[0]), y[3] = called(x[0]), y[4] = later(x[0]);
    y[5] = overloaded((int)(x[0] & 7)), y[6] = overloaded((float)(x[0] & 7)), y[7] = with_default(x[0]) - with_default(x[0], 1);
    y[8] = recursive(x[0] % 12), y[9] = even(x[0] % 20), y[10] = CEIL_DIV(x[0] & 255, 8u);
    constexpr int kept = factorial(4) + 1;
    static_assert(kept == 25, "computed while compiling");
    y[11] = kept;
}
__device__ unsigned later(unsigned v) { return v + 77; }

/* ---- templates ---- */

template <int N> struct Power {
    static constexpr int value = 2 * Power<N - 1>::value;
};
template <> struct Power<0> {
    static constexpr int value = 1;
};
template <class T> struct Accumulator {
    using type = T;
};
template <> struct Accumulator<short> {
    using type = int;
};
template <class T> using accumulator_t = typename Accumulator<T>::type;
template <class T, int N> __device__ T unrolled_sum(const T *v) {
    T sum = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) sum += v[i];
    return sum;
}
template <class... T> __device__ unsigned sum_all(T... v) { return (0u + ... + (unsigned)v); }
template <class T> __device__ unsigned sum_one_by_one(T v) { return (unsigned)v; }
template <class T, class... Rest> __device__ unsigned sum_one_by_one(T v, Rest... rest) { return (unsigned)v * 2 + sum_one_by_one(rest...); }
template <bool Doubles> __device__ unsigned chosen(unsigned v) {
    if constexpr (Doubles) {
        return 2 * v;
    } else {
        return v;
    }
}
template <class T> __device__ std::enable_if_t<std::is_integral<T>::value, unsigned> kind_of(T) { return 1; }
template <class T> __device__ std::enable_if_t<std::is_floating_point<T>::value, unsigned> kind_of(T) { return 2; }
template <template <class> class F, class T> __device__ T apply_to(T v) { return F<T>()(v); }
template <class T> struct Square {
    __device__ T operator()(T v) const { return v * v; }
};
template <class T> constexpr T kScale = T(3);

template <typename T, int N, bool B> __device__ void templates_body(const unsigned *x, unsigned *y) {
    y[0] = Power<N>::value, y[1] = sizeof(accumulator_t<T>), y[2] = unrolled_sum<unsigned, 4>(x);
    y[3] = sum_all(x[0], 1, 2.0f), y[4] = sum_one_by_one(1, 2, 3), y[5] = chosen<B>(x[0]);
    y[6] = kind_of(1) + 4 * kind_of(1.0f), y[7] = apply_to<Square>(x[0]), y[8] = kScale<unsigned> * x[1];
    y[9] = std::is_same<T, short>::value;
}
__global__ void templates(const unsigned *x, unsigned *y) {
    FEATURE(10);
    templates_body<short, 5, true>(x, y);
}

/* ---- classes ---- */

struct Adder {
    unsigned amount;
    __device__ explicit Adder(unsigned a) : amount(a) {}
    __device__ unsigned operator()(unsigned v) const { return v + amount; }
};
class Counter {
  public:
    __device__ Counter() : count_(0) {}
    __device__ Counter &operator++() {
        ++count_;
        return *this;
    }
    __device__ unsigned count() const { return count_; }
    static constexpr unsigned kLimit = 12;
    static __device__ unsigned limit() { return kLimit; }

  private:
    unsigned count_;
};
struct Base {
    unsigned v = 4;
    __device__ unsigned own() const { return v; }
};
struct Derived : Base {
    unsigned w = 5;
    __device__ Derived(unsigned a) { v = a; }
    __device__ ~Derived() {}
};
struct Shape {
    __device__ virtual unsigned area() const = 0;
};
struct Square2 final : Shape {
    unsigned side;
    __device__ Square2(unsigned s) : side(s) {}
    __device__ unsigned area() const override { return side * side; }
};
struct Strip final : Shape {
    unsigned length;
    __device__ Strip(unsigned l) : length(l) {}
    __device__ unsigned area() const override { return length; }
};
template <class T> struct Matrix2 {
    T m[2][2];
    __device__ Matrix2 operator*(const Matrix2 &o) const {
        Matrix2 r;
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) r.m[i][j] = m[i][0] * o.m[0][j] + m[i][1] * o.m[1][j];
        return r;
    }
};
template <class T> struct Shared {
    static __device__ T *get() { return pointer(); }
    static __device__ T *pointer() {
        __shared__ T kept[8];
        return kept;
    }
};

__global__ void classes(const unsigned *x, unsigned *y) {
    FEATURE(10);
    y[0] = Adder(7)(x[0]);
    Counter counter;
    for (unsigned i = 0; i < (x[0] & 7); i++) ++counter;
    y[1] = counter.count() + Counter::limit();
    Derived d(x[1]);
    y[2] = d.own() + d.w;
    Square2 square(x[2] & 15);
    Strip strip(x[2]);
    const Shape *shape = x[3] & 1 ? static_cast<const Shape *>(&square) : &strip;
    y[3] = shape->area();
    Matrix2<unsigned> m = {{{x[0], 1}, {2, x[1]}}};
    y[4] = (m * m).m[1][1];
    if (feature_rank() == 0) Shared<unsigned>::get()[3] = 9;
    __syncthreads();
    y[5] = Shared<unsigned>::get()[3];
    struct Local {
        unsigned a : 4, b : 12;
        int c : 8;
    } fields = {};
    fields.a = x[0], fields.b = x[1], fields.c = (int)x[2];
    y[6] = fields.a, y[7] = fields.b, y[8] = (unsigned)fields.c;
    union {
        float f;
        unsigned u;
    } pun;
    pun.f = 1.0f;
    y[9] = pun.u;
}

/* ---- lambdas and pointers ---- */

template <class F> __device__ unsigned fold(const unsigned *v, int n, F f) {
    unsigned r = v[0];
    for (int i = 1; i < n; i++) r = f(r, v[i]);
    return r;
}
typedef unsigned (*unary)(unsigned);
__device__ unsigned through(unary f, unsigned v) { return f(v); }

__global__ void lambdas(const unsigned *x, unsigned *y) {
    FEATURE(8);
    unsigned bias = x[7];
    y[0] = fold(x, 4, [](unsigned a, unsigned b) { return a + b; });
    y[1] = fold(x, 4, [=](unsigned a, unsigned b) { return a ^ (b + bias); });
    unsigned calls = 0;
    auto count = [&calls](unsigned v) {
        calls++;
        return v;
    };
    y[2] = count(x[0]) + count(x[1]) + calls;
    auto generic = [](auto a, auto b) { return a < b ? a : b; };
    y[3] = generic(x[0], x[1]) + (unsigned)generic(2.0f, 3.0f);
    y[4] = through(called, x[0]);
    const unary table[2] = {thrice, called};
    y[5] = table[x[1] & 1](x[2]);
    auto nested = [&](unsigned v) { return [=](unsigned w) { return v + w + bias; }; };
    y[6] = nested(1)(x[0]);
    y[7] = [&] { return x[3] & 1 ? 10u : 20u; }();
}

/* ---- control flow, locals ---- */

enum Mode { kFirst, kSecond = 5 };
enum class Way : unsigned char { up, down };
namespace outer {
namespace inner {
__device__ unsigned value(unsigned v) { return v * 11; }
constexpr unsigned kTen = 10;
} // namespace inner
namespace alias = inner;
using inner::kTen;
} // namespace outer
namespace {
__device__ unsigned unnamed(unsigned v) { return v + outer::kTen; }
} // namespace

__device__ unsigned stepped(unsigned v) {
    switch (v & 7) {
    case 0: return 1;
    case 1:
    case 2: v += 5; [[fallthrough]];
    case 3: return v + 6;
    default: break;
    }
    return v & 1 ? 7 : 8;
}
__global__ void __launch_bounds__(1024) control_flow(const unsigned *x, unsigned *y) {
    FEATURE(11);
    y[0] = stepped(x[0]);
    unsigned n = x[1] & 31, sum = 0;
    for (unsigned i = 0, j = 64; i < j; i += 3, --j) {
        if (i == n) continue;
        if (j < 20) break;
        sum += i * j;
    }
    y[1] = sum;
    do {
        sum >>= 1;
    } while (sum > 100);
    y[2] = sum;
again:
    if (sum++ < 130) goto again;
    y[3] = sum;
    unsigned local[16], *end = local;
    for (int i = 0; i < 16; i++) *end++ = x[i & 7] + i;
    y[4] = local[x[2] & 15], y[5] = (unsigned)(end - local);
    Mode mode = x[0] & 1 ? kSecond : kFirst;
    y[6] = mode + 10 * static_cast<unsigned>(Way::down);
    y[7] = outer::alias::value(x[0]), y[8] = unnamed(x[0]);
    struct Two {
        unsigned first, second;
    };
    auto [a, b] = Two{x[3], 4};
    y[9] = a + b;
    if (unsigned low = x[4] & 3; low > 1) {
        y[10] = low;
    } else {
        y[10] = 100;
    }
}

/* ---- the library ---- */

__global__ void library(const unsigned *x, unsigned *y) {
    FEATURE(12);
    y[0] = std::numeric_limits<unsigned>::max(), y[1] = bits(std::numeric_limits<float>::infinity());
    y[2] = bits(-std::numeric_limits<float>::max()), y[3] = (unsigned)std::numeric_limits<int>::lowest();
    unsigned a = x[0], b = x[1];
    std::swap(a, b);
    y[4] = a, y[5] = std::min(x[0], x[1]), y[6] = std::max(x[0], x[1]);
    uint8_t small = (uint8_t)x[0];
    int64_t big = (int64_t)x[0] << 20;
    y[7] = small, y[8] = (unsigned)(big >> 20);
    y[9] = bits(std::sqrt(4.0f) + std::abs(-1.5f) + std::floor(2.7f)), y[10] = std::is_same<std::remove_cv_t<const int>, int>::value;
    y[11] = std::conditional<sizeof(int) == 4, std::true_type, std::false_type>::type::value;
}

/* ---- what leaves no trace ---- */

__global__ void untraced(const unsigned *x, unsigned *y) {
    FEATURE(3);
    assert(blockDim.x > 0);
    if (x[0] == 0x12345678u) printf("%u %f\n", x[0], 1.0f);
    __builtin_assume(blockDim.x > 0);
    y[0] = __builtin_expect(x[0] > 5, 1) ? 1 : 0;
    if (feature_thread() > 1u << 30) __trap();
    [[maybe_unused]] unsigned unused = x[1];
#if __CUDA_ARCH__ >= 800
    y[1] = 8;
#else
    y[1] = 7;
#endif
#ifdef __CUDACC__
    y[2] = 1;
#endif
}
