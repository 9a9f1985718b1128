/* Read before every source that NVRTC compiles: what the C and C++ library's headers would have given, in the
 * amount that device code uses. NVRTC itself knows CUDA's own names, the math functions, memcpy and assert. */
#ifndef CUPEL_DEVICE_PRELUDE_H
#define CUPEL_DEVICE_PRELUDE_H

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
/* As in CCCL, which cooperative_groups.h and mma.h bring along. */
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef long ptrdiff_t;
typedef long ssize_t;

#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807l - 1)
#define INT64_MAX 9223372036854775807l
#define UINT64_MAX 18446744073709551615ul
#define SIZE_MAX 18446744073709551615ul
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807l - 1)
#define LONG_MAX 9223372036854775807l
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull

#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define DBL_MANT_DIG 53
#define FLT_DIG 6
#define DBL_DIG 15
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_TRUE_MIN 1.401298464e-45f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_TRUE_MIN 4.9406564584124654e-324
#define DBL_EPSILON 2.2204460492503131e-16

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#endif
#ifndef HUGE_VAL
#define HUGE_VAL ((double)INFINITY)
#endif

#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

#ifndef EXIT_SUCCESS
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#endif

namespace std {

using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::ptrdiff_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
typedef decltype(sizeof(0)) size_t;
typedef decltype(nullptr) nullptr_t;

template <class T, T v> struct integral_constant {
    static constexpr T value = v;
    typedef T value_type;
    typedef integral_constant type;
    __host__ __device__ constexpr operator T() const { return v; }
    __host__ __device__ constexpr T operator()() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

template <class T, class U> struct is_same : false_type {};
template <class T> struct is_same<T, T> : true_type {};
template <bool b, class T, class F> struct conditional { typedef T type; };
template <class T, class F> struct conditional<false, T, F> { typedef F type; };
template <bool b, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <class T> struct remove_volatile { typedef T type; };
template <class T> struct remove_volatile<volatile T> { typedef T type; };
template <class T> struct remove_cv { typedef typename remove_const<typename remove_volatile<T>::type>::type type; };
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T &> { typedef T type; };
template <class T> struct remove_reference<T &&> { typedef T type; };
template <class T> struct remove_pointer { typedef T type; };
template <class T> struct remove_pointer<T *> { typedef T type; };
template <class T> struct remove_pointer<T *const> { typedef T type; };
template <class T> struct remove_extent { typedef T type; };
template <class T> struct remove_extent<T[]> { typedef T type; };
template <class T, decltype(sizeof(0)) n> struct remove_extent<T[n]> { typedef T type; };
template <class T> struct add_const { typedef const T type; };
template <class T> struct add_pointer { typedef typename remove_reference<T>::type *type; };
template <class T> struct decay { typedef typename remove_cv<typename remove_reference<T>::type>::type type; };

template <bool b, class T, class F> using conditional_t = typename conditional<b, T, F>::type;
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using decay_t = typename decay<T>::type;
template <class...> using void_t = void;

template <class T> struct is_const : false_type {};
template <class T> struct is_const<const T> : true_type {};
template <class T> struct is_pointer_plain : false_type {};
template <class T> struct is_pointer_plain<T *> : true_type {};
template <class T> struct is_pointer : is_pointer_plain<remove_cv_t<T>> {};
template <class T> struct is_reference : false_type {};
template <class T> struct is_reference<T &> : true_type {};
template <class T> struct is_reference<T &&> : true_type {};
template <class T> struct is_void : is_same<remove_cv_t<T>, void> {};
template <class T> struct is_integral_plain : false_type {};
#define CUPEL_INTEGRAL(T)                                                                                    \
    template <> struct is_integral_plain<T> : true_type {};
CUPEL_INTEGRAL(bool)
CUPEL_INTEGRAL(char)
CUPEL_INTEGRAL(signed char)
CUPEL_INTEGRAL(unsigned char)
CUPEL_INTEGRAL(short)
CUPEL_INTEGRAL(unsigned short)
CUPEL_INTEGRAL(int)
CUPEL_INTEGRAL(unsigned int)
CUPEL_INTEGRAL(long)
CUPEL_INTEGRAL(unsigned long)
CUPEL_INTEGRAL(long long)
CUPEL_INTEGRAL(unsigned long long)
#undef CUPEL_INTEGRAL
template <class T> struct is_integral : is_integral_plain<remove_cv_t<T>> {};
template <class T>
struct is_floating_point : bool_constant<is_same<remove_cv_t<T>, float>::value || is_same<remove_cv_t<T>, double>::value> {};
template <class T> struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T> struct is_enum : bool_constant<__is_enum(T)> {};
template <class T> struct is_class : bool_constant<__is_class(T)> {};
template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T, bool arithmetic = is_arithmetic<T>::value> struct is_signed_plain : bool_constant<(T(-1) < T(0))> {};
template <class T> struct is_signed_plain<T, false> : false_type {};
template <class T> struct is_signed : is_signed_plain<remove_cv_t<T>> {};
template <class T> struct is_unsigned : bool_constant<is_integral<T>::value && !is_signed<T>::value> {};
template <class B, class D> struct is_base_of : bool_constant<__is_base_of(B, D)> {};
template <class A, class B> struct is_convertible : bool_constant<__is_convertible_to(A, B)> {};

template <class T, class U> constexpr bool is_same_v = is_same<T, U>::value;
template <class T> constexpr bool is_integral_v = is_integral<T>::value;
template <class T> constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> constexpr bool is_signed_v = is_signed<T>::value;
template <class T> constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T> constexpr bool is_const_v = is_const<T>::value;
template <class T> constexpr bool is_enum_v = is_enum<T>::value;
template <class T> constexpr bool is_trivially_copyable_v = is_trivially_copyable<T>::value;

/* NVRTC has move and forward. */
template <class T> __host__ __device__ T &&declval() noexcept;
template <class T> __host__ __device__ constexpr void swap(T &a, T &b) {
    T c = static_cast<T &&>(a);
    a = static_cast<T &&>(b);
    b = static_cast<T &&>(c);
}
template <class T> __host__ __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> __host__ __device__ constexpr const T &clamp(const T &v, const T &lo, const T &hi) {
    return v < lo ? lo : hi < v ? hi : v;
}

template <class A, class B> struct pair {
    A first;
    B second;
};
template <class A, class B> __host__ __device__ constexpr pair<A, B> make_pair(A a, B b) { return pair<A, B>{a, b}; }
template <class T, decltype(sizeof(0)) n> struct array {
    T elements[n ? n : 1];
    __host__ __device__ constexpr T &operator[](size_t i) { return elements[i]; }
    __host__ __device__ constexpr const T &operator[](size_t i) const { return elements[i]; }
    __host__ __device__ constexpr size_t size() const { return n; }
    __host__ __device__ constexpr T *data() { return elements; }
    __host__ __device__ constexpr const T *data() const { return elements; }
    __host__ __device__ constexpr T *begin() { return elements; }
    __host__ __device__ constexpr T *end() { return elements + n; }
};

template <size_t... i> struct index_sequence {
    static constexpr size_t size() { return sizeof...(i); }
};
template <size_t n, size_t... i> struct index_sequence_upto : index_sequence_upto<n - 1, n - 1, i...> {};
template <size_t... i> struct index_sequence_upto<0, i...> { typedef index_sequence<i...> type; };
template <size_t n> using make_index_sequence = typename index_sequence_upto<n>::type;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

template <class T> struct numeric_limits_integer {
    static constexpr bool is_specialized = true, is_integer = true, has_infinity = false, has_quiet_NaN = false;
    static constexpr bool is_signed = T(-1) < T(0);
    static constexpr int digits = 8 * sizeof(T) - is_signed;
    __host__ __device__ static constexpr T min() { return is_signed ? T(T(1) << (8 * sizeof(T) - 1)) : T(0); }
    __host__ __device__ static constexpr T max() { return T(~min()); }
    __host__ __device__ static constexpr T lowest() { return min(); }
};
template <class T> struct numeric_limits : conditional_t<is_integral<T>::value, numeric_limits_integer<T>, integral_constant<int, 0>> {};
template <> struct numeric_limits<float> {
    static constexpr bool is_specialized = true, is_integer = false, is_signed = true, has_infinity = true, has_quiet_NaN = true;
    static constexpr int digits = 24;
    __host__ __device__ static constexpr float min() { return FLT_MIN; }
    __host__ __device__ static constexpr float max() { return FLT_MAX; }
    __host__ __device__ static constexpr float lowest() { return -FLT_MAX; }
    __host__ __device__ static constexpr float epsilon() { return FLT_EPSILON; }
    __host__ __device__ static constexpr float denorm_min() { return FLT_TRUE_MIN; }
    __host__ __device__ static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000); }
    __host__ __device__ static constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7fc00000); }
};
template <> struct numeric_limits<double> {
    static constexpr bool is_specialized = true, is_integer = false, is_signed = true, has_infinity = true, has_quiet_NaN = true;
    static constexpr int digits = 53;
    __host__ __device__ static constexpr double min() { return DBL_MIN; }
    __host__ __device__ static constexpr double max() { return DBL_MAX; }
    __host__ __device__ static constexpr double lowest() { return -DBL_MAX; }
    __host__ __device__ static constexpr double epsilon() { return DBL_EPSILON; }
    __host__ __device__ static constexpr double denorm_min() { return DBL_TRUE_MIN; }
    __host__ __device__ static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000); }
    __host__ __device__ static constexpr double quiet_NaN() { return __builtin_bit_cast(double, 0x7ff8000000000000); }
};

using ::memcpy;
using ::memset;

} // namespace std

/* std::exp and the like: CUDA's overloads for float and double, float math for float arguments. */
namespace std {
#define CUPEL_ONE(name)                                                                                      \
    __device__ __forceinline__ float name(float x) { return ::name##f(x); }                                  \
    __device__ __forceinline__ double name(double x) { return ::name(x); }                                   \
    template <class T> __device__ __forceinline__ enable_if_t<is_integral<T>::value, double> name(T x) {     \
        return ::name((double)x);                                                                            \
    }
#define CUPEL_TWO(name)                                                                                      \
    __device__ __forceinline__ float name(float x, float y) { return ::name##f(x, y); }                      \
    __device__ __forceinline__ double name(double x, double y) { return ::name(x, y); }
CUPEL_ONE(exp)
CUPEL_ONE(exp2)
CUPEL_ONE(expm1)
CUPEL_ONE(log)
CUPEL_ONE(log2)
CUPEL_ONE(log10)
CUPEL_ONE(log1p)
CUPEL_ONE(sqrt)
CUPEL_ONE(cbrt)
CUPEL_ONE(sin)
CUPEL_ONE(cos)
CUPEL_ONE(tan)
CUPEL_ONE(asin)
CUPEL_ONE(acos)
CUPEL_ONE(atan)
CUPEL_ONE(sinh)
CUPEL_ONE(cosh)
CUPEL_ONE(tanh)
CUPEL_ONE(asinh)
CUPEL_ONE(acosh)
CUPEL_ONE(atanh)
CUPEL_ONE(erf)
CUPEL_ONE(erfc)
CUPEL_ONE(tgamma)
CUPEL_ONE(lgamma)
CUPEL_ONE(floor)
CUPEL_ONE(ceil)
CUPEL_ONE(trunc)
CUPEL_ONE(round)
CUPEL_ONE(rint)
CUPEL_ONE(nearbyint)
CUPEL_TWO(pow)
CUPEL_TWO(fmod)
CUPEL_TWO(atan2)
CUPEL_TWO(hypot)
CUPEL_TWO(fmax)
CUPEL_TWO(fmin)
CUPEL_TWO(fdim)
CUPEL_TWO(copysign)
CUPEL_TWO(remainder)
CUPEL_TWO(nextafter)
#undef CUPEL_ONE
#undef CUPEL_TWO
__device__ __forceinline__ float abs(float x) { return ::fabsf(x); }
__device__ __forceinline__ double abs(double x) { return ::fabs(x); }
__device__ __forceinline__ int abs(int x) { return x < 0 ? -x : x; }
__device__ __forceinline__ long abs(long x) { return x < 0 ? -x : x; }
__device__ __forceinline__ long long abs(long long x) { return x < 0 ? -x : x; }
__device__ __forceinline__ float fabs(float x) { return ::fabsf(x); }
__device__ __forceinline__ double fabs(double x) { return ::fabs(x); }
__device__ __forceinline__ float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
__device__ __forceinline__ double fma(double x, double y, double z) { return ::fma(x, y, z); }
__device__ __forceinline__ float ldexp(float x, int n) { return ::ldexpf(x, n); }
__device__ __forceinline__ double ldexp(double x, int n) { return ::ldexp(x, n); }
template <class T> __device__ __forceinline__ bool isnan(T x) { return x != x; }
__device__ __forceinline__ bool isinf(float x) { return ::fabsf(x) == INFINITY; }
__device__ __forceinline__ bool isinf(double x) { return ::fabs(x) == (double)INFINITY; }
__device__ __forceinline__ bool isfinite(float x) { return ::fabsf(x) < INFINITY; }
__device__ __forceinline__ bool isfinite(double x) { return ::fabs(x) < (double)INFINITY; }
__device__ __forceinline__ bool signbit(float x) { return __float_as_int(x) < 0; }
__device__ __forceinline__ bool signbit(double x) { return __double_as_longlong(x) < 0; }

} // namespace std

#endif
