/* cupel: 1
id: file-thrust-host
about: Thrust and CUB on the host around one kernel; several kernels of which some cannot be emulated.
dims:    {N: 1..4096}
inputs:  {x: "i32[N]"}
outputs: {y: "i32[N]"}
ensures: {y: "maximum(x, 0)"}
kernel:
  entry: clamp_kernel
  args:  [x, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cub/cub.cuh>
#include <curand.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "common.h"

struct IsPositive {
    __host__ __device__ bool operator()(int v) const { return v > 0; }
};
struct SaxpyFunctor : public thrust::binary_function<float, float, float> {
    const float a;
    SaxpyFunctor(float a_) : a(a_) {}
    __host__ __device__ float operator()(const float &x, const float &y) const { return a * x + y; }
};

__global__ void clamp_kernel(const int *x, int *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = IsPositive()(x[i]) ? x[i] : 0;
}

__global__ void sample_kernel(cudaTextureObject_t image, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(image, i);
}

thrust::device_vector<float> make_values(size_t n) {
    thrust::host_vector<float> host(n);
    thrust::generate(host.begin(), host.end(), rand);
    thrust::device_vector<float> device = host;
    thrust::sort(device.begin(), device.end(), thrust::greater<float>());
    return device;
}

int sum_of(const thrust::device_vector<int> &v) {
    int *d_sum = nullptr;
    void *storage = nullptr;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(storage, bytes, thrust::raw_pointer_cast(v.data()), d_sum, (int)v.size());
    CUDA_CHECK(cudaMalloc(&storage, bytes));
    cub::DeviceReduce::Sum(storage, bytes, thrust::raw_pointer_cast(v.data()), d_sum, (int)v.size());
    return thrust::reduce(v.begin(), v.end(), 0, thrust::plus<int>());
}

int main() {
    thrust::device_vector<int> x(1000), y(1000);
    thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(1000), x.begin(),
                      [] __device__(int i) { return i % 7 - 3; });
    clamp_kernel<<<ceil_div(1000, 256), 256>>>(thrust::raw_pointer_cast(x.data()), thrust::raw_pointer_cast(y.data()), 1000);
    curandGenerator_t generator;
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    std::cout << sum_of(y) << " " << make_values(10).size() << std::endl;
    return 0;
}
