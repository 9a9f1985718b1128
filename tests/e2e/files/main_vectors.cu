/* cupel: 1
id: file-main-vectors
about: A program with main, vectors, arguments, timers and a check on the host.
dims:    {N: 1..4096}
params:  {a: {range: [-2, 2]}}
inputs:  {x: "f32[N]", y: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "a * x + y"}
kernel:
  entry: saxpy
  args:  [N, a, x, y]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <algorithm>
#include <chrono>
#include <cmath>
#include <getopt.h>
#include <iomanip>
#include <memory>
#include <random>
#include <sstream>
#include <unordered_map>

#include "common.h"

static std::unordered_map<std::string, int> g_options = {{"n", 1 << 20}, {"repeat", 10}};
std::mt19937 g_random(42);

__global__ void saxpy(int n, float a, const float *__restrict__ x, float *__restrict__ y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = a * x[i] + y[i];
}

static void saxpy_cpu(int n, float a, const std::vector<float> &x, std::vector<float> &y) {
    for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

int parse(int argc, char **argv) {
    int c;
    while ((c = getopt(argc, argv, "n:r:")) != -1) {
        switch (c) {
        case 'n': g_options["n"] = std::stoi(optarg); break;
        case 'r': g_options["repeat"] = atoi(optarg); break;
        default: std::cerr << "usage: " << argv[0] << " [-n N] [-r REPEAT]" << std::endl; return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv) try {
    if (parse(argc, argv)) return 1;
    const int n = g_options["n"];
    std::vector<float> x(n), y(n), expected;
    std::uniform_real_distribution<float> uniform(-1.f, 1.f);
    std::generate(x.begin(), x.end(), [&] { return uniform(g_random); });
    expected = y;
    auto begun = std::chrono::high_resolution_clock::now();
    saxpy_cpu(n, 2.0f, x, expected);
    float *d_x = nullptr, *d_y = nullptr;
    CUDA_CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&d_y, n * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    GpuTimer timer;
    timer.start();
    saxpy<<<ceil_div(n, 256), 256>>>(n, 2.0f, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
    std::cout << std::fixed << std::setprecision(3) << timer.stop() << " ms, "
              << std::chrono::duration<double>(std::chrono::high_resolution_clock::now() - begun).count() << '\n';
    CUDA_CHECK(cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));
    for (int i = 0; i < n; ++i)
        if (std::fabs(y[i] - expected[i]) > 1e-5f) throw std::runtime_error("mismatch at " + std::to_string(i));
    return 0;
} catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
    return 1;
}
