/* cupel: 1
id: file-constants-globals
about: Constants and device variables with initialisers, filled again by the host, with a host class around them and an inline namespace.
dims:    {N: 5..4096}
inputs:  {x: {type: f32, shape: [N], range: [-100, 100]}}
outputs: {y: "f32[N]"}
ensures: {y: "0.0625 * pad(x, [2, 0])[0:N] + 0.25 * pad(x, [1, 0])[0:N] + 0.375 * x + 0.25 * pad(x, [0, 1])[1:N + 1] + 0.0625 * pad(x, [0, 2])[2:N + 2]"}
kernel:
  entry: filters::v1::smooth
  args:  [x, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
#include <cuda_runtime.h>

#include <initializer_list>
#include <iterator>
#include <numeric>
#include <set>
#include <type_traits>

#include "common.h"

namespace filters {
inline namespace v1 {

constexpr int kRadius = 2;
__constant__ float c_weights[2 * kRadius + 1] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
__device__ unsigned long long d_calls = 0;
__device__ __constant__ int c_clamp = 0;

class Filter {
  public:
    Filter(std::initializer_list<float> weights) : weights_(weights) {}
    virtual ~Filter() = default;
    void upload() const {
        CUDA_CHECK(cudaMemcpyToSymbol(c_weights, weights_.data(), weights_.size() * sizeof(float)));
        unsigned long long zero = 0;
        CUDA_CHECK(cudaMemcpyToSymbol(d_calls, &zero, sizeof(zero), 0, cudaMemcpyHostToDevice));
    }
    float total() const { return std::accumulate(std::begin(weights_), std::end(weights_), 0.0f); }
    friend std::ostream &operator<<(std::ostream &out, const Filter &f) { return out << "Filter(" << f.weights_.size() << ")"; }

  private:
    std::vector<float> weights_;
};

__global__ void smooth(const float *__restrict__ x, float *__restrict__ y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
#pragma unroll
    for (int k = -kRadius; k <= kRadius; k++) {
        int at = i + k;
        if (c_clamp) at = min(max(at, 0), n - 1);
        if (at >= 0 && at < n) sum += c_weights[k + kRadius] * x[at];
    }
    y[i] = sum;
}

} // namespace v1
} // namespace filters

int main() {
    filters::Filter filter{0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
    std::set<int> devices;
    std::cout << filter << ' ' << filter.total() << std::endl;
    filter.upload();
    return devices.size() == 1 ? 0 : 1;
}
