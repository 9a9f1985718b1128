// entries: saxpy; reduce<256>; nested::deep::negate
// A program with a main, vectors, cuBLAS, lambdas, raw strings, statics and constructors on the host.
#include <cublas_v2.h>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <vector>
#include <thrust/device_vector.h>

#define CUDA_CHECK(call)                                                  \
    do {                                                                  \
        cudaError_t err__ = (call);                                       \
        if (err__ != cudaSuccess) {                                       \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__,             \
                    cudaGetErrorString(err__));                           \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

static const char *usage = R"txt(usage: { saxpy <<<n>>> }
    "quoted" } } __global__ void fake(int) {
)txt";
const int kBlock = 256, kGrid = 32;
constexpr float kScale = 0.5f;
static const float host_table[4] = {1, 2, 3, 4};
static int counters[3] = {0};
std::map<std::string, std::vector<int>> registry{{"a", {1, 2}}, {"b", {3}}};
int limits[] = {1, 2, 3};
enum class Mode : int { Fast = 0, Slow };
typedef struct { int a; float b; } Pair;
union Bits { float f; unsigned u; };

struct Timer {
    cudaEvent_t start, stop;
    explicit Timer(int n) : start{}, stop(nullptr), count(n) { cudaEventCreate(&start); cudaEventCreate(&stop); }
    ~Timer() { cudaEventDestroy(start); }
    Timer &operator=(const Timer &other) = delete;
    float operator()() const { float ms; cudaEventElapsedTime(&ms, start, stop); return ms; }
    virtual bool finished() const noexcept { return true; }
    __host__ __device__ static int twice(int x) { return 2 * x; }
    template <typename T> void report(T t) { std::cout << t; }
  private:
    int count;
};

class Holder {
  public:
    Holder(std::vector<float> v) : values(std::move(v)) {}
    friend std::ostream &operator<<(std::ostream &os, const Holder &h) { return os << h.values.size(); }
  private:
    std::vector<float> values;
};

__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = kScale * a * x[i] + y[i] + Timer::twice(kBlock);
}

template <int B> __global__ void __launch_bounds__(B) reduce(const float *x, float *y, int n) {
    __shared__ float tile[B];
    tile[threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : 0.f;
    __syncthreads();
    for (int s = B / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[0] = tile[0];
}

namespace nested { namespace deep {
struct Op { __device__ float operator()(float x) const { return -x; } };
extern "C++" void helper();
__global__ void negate(float *x, Pair p, Bits b) { x[threadIdx.x] = Op()(x[threadIdx.x]) + p.b + b.f; }
} void between() { std::cout << "}"; }
} // namespace nested

extern "C" {
void c_api(float *x) { saxpy<<<1, 2>>>(1, 2.f, x, x); }
int c_variable = 3;
}

template <typename F> void launch_all(F f) { f(); }
template void launch_all<void (*)()>(void (*)());

#if 0
void broken( { don't lex this
#endif

#ifdef USE_DOUBLE
typedef double real;
void host_only(double x) {
#else
typedef float real;
void host_only(float x) {
#endif
    std::cout << x;
}

auto lambda = [](int x) { return std::to_string(x) + "}"; };
static Timer timer{3};
thrust::device_vector<int> *device_vector = nullptr;

int main(int argc, char **argv) {
    cublasHandle_t handle;
    cublasCreate(&handle);
    std::vector<float> x(1 << 10, 1.f);
    float *d = nullptr;
    CUDA_CHECK(cudaMalloc(&d, 4 << 10));
    auto launch = [&](auto kernel, int n) { kernel<<<n, 256, 0, nullptr>>>(n, 1.f, d, d); };
    launch(saxpy, 4);
    reduce<256><<<dim3(1, 1), dim3{256}>>>(d, d, 4);
    const float alpha = 1.f;
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, d, 1, d, 1, &alpha, d, 1);
    for (auto &[key, value] : registry) std::cout << key << value.size() << '\n';
    char quote = '"', brace = '{';
    return quote == brace ? 0 : printf("%s", usage);
}
