/* cupel: 1
id: file-torch-binding
about: A PyTorch extension with dispatch over types, checks of its tensors and a binding.
dims:    {N: 1..4096}
types:   {T: [f32, f64, f16]}
inputs:  {x: "T[N]"}
outputs: {y: "T[N]"}
ensures: {y: "cast(relu(x) * 2, T)"}
kernel:
  entry: relu2_kernel<$T>
  args:  [x, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <torch/extension.h>
#include <torch/types.h>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) \
    CHECK_CUDA(x);     \
    CHECK_CONTIGUOUS(x)

template <typename scalar_t>
__global__ void relu2_kernel(const scalar_t *__restrict__ input, scalar_t *__restrict__ output, size_t size) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < size) {
        const scalar_t v = input[index];
        output[index] = v != v ? v : v > scalar_t(0) ? v * scalar_t(2) : scalar_t(0);
    }
}

torch::Tensor relu2_forward(torch::Tensor input) {
    CHECK_INPUT(input);
    const at::cuda::OptionalCUDAGuard device_guard(device_of(input));
    auto output = torch::empty_like(input);
    const int threads = 256;
    const int blocks = (input.numel() + threads - 1) / threads;
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "relu2_forward", ([&] {
        relu2_kernel<scalar_t><<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
            input.data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), input.numel());
    }));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return output;
}

std::vector<torch::Tensor> relu2_backward(torch::Tensor grad, c10::optional<at::Tensor> scale = c10::nullopt) {
    return {grad.clone()};
}

TORCH_LIBRARY(example, m) { m.def("relu2(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(example, CUDA, m) { m.impl("relu2", &relu2_forward); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &relu2_forward, "relu2 forward (CUDA)", py::arg("input"));
    m.def("backward", &relu2_backward, "relu2 backward (CUDA)");
}
