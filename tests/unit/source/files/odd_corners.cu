// entries: first; second<int, 3>; operators; shadows; lambda_user
// Syntax that a careless scanner trips over.
template <typename T, int N = (4 > 3) ? 2 : 1, typename U = void (*)(int)> struct Weird;
template <typename T> struct Weird<T, 2, int> { enum { value = 1 << 3 }; };
template <class A, class B> struct PairOf { A a; B b; };
typedef PairOf<PairOf<int, float>, int> Nested;
__device__ bool less_than(int a, int b) { return a < b; }
struct Vec {
    float x, y;
    Vec() = default;
    __host__ __device__ Vec(float a, float b) : x(a), y{b} {}
    __host__ __device__ Vec operator+(const Vec &o) const { return Vec(x + o.x, y + o.y); }
    __host__ __device__ bool operator==(const Vec &o) const { return x == o.x; }
    __host__ __device__ bool operator<(const Vec &o) const { return x < o.x; }
    __host__ __device__ float &operator[](int i) { return i ? y : x; }
    __host__ __device__ explicit operator bool() const { return x != 0; }
    __host__ __device__ auto length() const -> float { return sqrtf(x * x + y * y); }
    void host_print() const; // declared only
    unsigned flag : 3;
    int table[2] = {1, 2};
    struct Inner { int deep; Inner(int d) : deep(d) { throw std::runtime_error("host"); } };
};
void Vec::host_print() const { std::cout << x; }
inline __host__ __device__ Vec operator*(float s, const Vec &v) { return Vec(s * v.x, s * v.y); }
std::ostream &operator<<(std::ostream &os, const Vec &v) { return os << v.x; }
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
constexpr int kTable[] = {1, 2, 3};
static constexpr auto kTwo = ceil_div(3, 2);
const unsigned kMask = 0xff'ffu;
const char *const kNames[] = {"a{", "b}"};
__device__ const float kCoefficients[3] = {1.f, 2.f, 3.f};
__attribute__((noinline)) __device__ int helper(int x) { return x; }
[[maybe_unused]] static __device__ int other(int x) { return x; }
__global__ void first(float *x, int n);
__global__ static void __launch_bounds__(ceil_div(100, 3)) hidden(float *x) { x[0] = 1; }
__global__ void first(float *x, int n) /* { */ { // }
    const char *s = "}"; char c = '}'; (void)s; (void)c;
    x[n] = kTwo + kMask + kCoefficients[1] + helper(1) + other(2) + kTable[n & 1];
}
template <typename T, int N> __global__ auto second(T *x) -> void { x[0] = N + less_than(N, 3); }
__global__ void operators(float *x) {
    Vec v(x[0], x[1]), w = 2.f * v + v;
    if (w == v || v < w) x[0] = w[0] + w.length() + bool(w) + Weird<int, 2, int>::value;
    Nested nest; nest.a.a = 3; x[1] = nest.a.a;
}
int threadIndex(int blockDimension) { return blockDimension; }
__global__ void shadows(int *out) { int first = 3; auto *last = out + first; *last = first; }
template <typename F> __global__ void apply(F f, float *x) { x[threadIdx.x] = f(x[threadIdx.x]); }
void run() { apply<<<1, 2>>>([] __device__(float v) { return v; }, (float *)nullptr); }
__global__ void lambda_user(float *x) {
    auto f = [&](float v) { return v + x[0]; };
    x[1] = f(2.f);
}
#define K(n) \
    n
static int after = K(3);
#if defined(__HIP_PLATFORM_AMD__)
#include <hip/hip_runtime.h>
__global__ void hip_only(float *x) { __builtin_amdgcn_unknown(); }
#elif __CUDA_ARCH__ >= 800
__device__ float arch() { return 800.f; }
#else
__device__ float arch() { return 700.f; }
#endif
int main() try { return 0; } catch (...) { return 1; }
