// entries: lltm_cuda_forward_kernel<float>; lltm_cuda_forward_kernel<double>
// A PyTorch extension: host code all around, headers that are not there, a dispatch macro with a lambda full of launches.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

#include <cuda.h>
#include <cuda_runtime.h>

#include <vector>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_INPUT(x) CHECK_CUDA(x); TORCH_CHECK(x.is_contiguous(), #x)

using namespace torch::indexing;
namespace F = torch::nn::functional;

namespace {
template <typename scalar_t>
__device__ __forceinline__ scalar_t sigmoid(scalar_t z) {
  return 1.0 / (1.0 + exp(-z));
}

template <typename scalar_t>
__device__ __forceinline__ scalar_t elu(scalar_t z, scalar_t alpha = 1.0) {
  return fmaxf(0.0, z) + fminf(0.0, alpha * (exp(z) - 1.0));
}

template <typename scalar_t>
__global__ void lltm_cuda_forward_kernel(
    const scalar_t* __restrict__ gates,
    scalar_t* __restrict__ new_h,
    size_t state_size) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int index = blockIdx.y * state_size + column;
  const int gates_row = blockIdx.y * (state_size * 3);
  if (column < state_size) {
    new_h[index] = sigmoid(gates[gates_row + column]) * elu(gates[gates_row + state_size + column]);
  }
}
} // namespace

std::vector<torch::Tensor> lltm_cuda_forward(torch::Tensor input, torch::Tensor weights, const c10::optional<at::Tensor>& bias) {
  CHECK_INPUT(input);
  const at::cuda::OptionalCUDAGuard device_guard(device_of(input));
  auto gates = torch::addmm(bias.value(), input, weights.transpose(0, 1));
  const auto batch_size = input.size(0);
  const dim3 blocks((256 + 1024 - 1) / 1024, batch_size);
  AT_DISPATCH_FLOATING_TYPES(gates.type(), "lltm_forward_cuda", ([&] {
    lltm_cuda_forward_kernel<scalar_t><<<blocks, 1024, 0, at::cuda::getCurrentCUDAStream()>>>(
        gates.data<scalar_t>(), gates.data<scalar_t>(), 256);
  }));
  return {gates, input};
}

static std::vector<at::Tensor> cache = {torch::zeros({1}), torch::ones({2})};
at::Tensor (*pointer)(at::Tensor) = nullptr;

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &lltm_cuda_forward, "LLTM forward (CUDA)");
}

TORCH_LIBRARY(lltm, m)
{
  m.def("forward(Tensor x) -> Tensor");
}
