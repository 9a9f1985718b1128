/* cupel: 1
id: file-macro-kernels
about: Kernels made by macros over operators and types, launchers made by others, a dispatch table of launchers, and conditional compilation.
dims:    {N: 1..4096}
inputs:  {a: "f32[N]", b: "f32[N]"}
outputs: {c: "f32[N]"}
ensures: {c: "a * b"}
kernel:
  entry: binary_mul_f32
  args:  [a, b, c, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#if defined(_MSC_VER)
#pragma warning(disable : 4244)
#endif
#ifdef USE_ROCM
#include <hip/hip_runtime.h>
#else
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#endif
#include <boost/program_options.hpp>
#include <Eigen/Dense>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 530
#error "half arithmetic needs sm_53"
#endif

#define BINARY_KERNEL(op, sign, name, type)                                                       \
    __global__ void binary_##op##_##name(const type *a, const type *b, type *c, int n) {          \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        if (i < n) c[i] = a[i] sign b[i];                                                         \
    }
#define BINARY_LAUNCHER(op, name, type)                                                           \
    void launch_##op##_##name(const type *a, const type *b, type *c, int n, cudaStream_t s) {     \
        binary_##op##_##name<<<(n + 255) / 256, 256, 0, s>>>(a, b, c, n);                         \
        CUDA_CHECK(cudaGetLastError());                                                           \
    }

BINARY_KERNEL(add, +, f32, float)
BINARY_KERNEL(mul, *, f32, float)
BINARY_KERNEL(add, +, i32, int)
BINARY_LAUNCHER(add, f32, float)
BINARY_LAUNCHER(mul, f32, float)
BINARY_LAUNCHER(add, i32, int)

#define ENTRY(name) {#name, reinterpret_cast<void (*)()>(&launch_##name)},
static const std::vector<std::pair<std::string, void (*)()>> g_table = {ENTRY(add_f32) ENTRY(mul_f32) ENTRY(add_i32)};

TEST(Binary, Table) {
    Eigen::VectorXf reference(4);
    ASSERT_EQ(g_table.size(), 3u);
    fmt::print("{} kernels\n", g_table.size());
}
