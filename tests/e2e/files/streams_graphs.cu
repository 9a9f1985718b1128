/* cupel: 1
id: file-streams-graphs
about: Streams, graphs, pinned memory, launches through cudaLaunchKernel and cudaLaunchKernelEx, a class that owns buffers.
dims:    {N: 1..4096}
inputs:  {in: "f32[N]"}
outputs: {out: "f32[N]"}
ensures: {out: "sigmoid(in)"}
kernel:
  entry: detail::activate<detail::Sigmoid, float, 128>
  args:  [in, out, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "common.h"

namespace detail {

struct Sigmoid {
    template <typename T> __device__ __forceinline__ T operator()(T x) const { return T(1) / (T(1) + expf(-x)); }
};
struct Identity {
    template <typename T> __host__ __device__ T operator()(T x) const { return x; }
};

template <typename Op, typename T, int kThreads>
__global__ void __launch_bounds__(kThreads) activate(const T *in, T *out, const int n) {
    Op op;
    int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n) out[i] = op(in[i]);
}

template <typename T> class DeviceBuffer {
  public:
    explicit DeviceBuffer(size_t count) : count_(count) { CUDA_CHECK(cudaMallocAsync(&data_, count * sizeof(T), stream())); }
    DeviceBuffer(const DeviceBuffer &) = delete;
    ~DeviceBuffer() { cudaFreeAsync(data_, stream()); }
    T *get() { return data_; }
    static cudaStream_t stream() {
        static cudaStream_t s = [] {
            cudaStream_t created;
            CUDA_CHECK(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking));
            return created;
        }();
        return s;
    }

  private:
    T *data_ = nullptr;
    size_t count_;
};

} // namespace detail

static std::mutex g_lock;
thread_local std::optional<int> t_device;

template <class Op> cudaError_t launch_ex(const float *in, float *out, int n, cudaStream_t stream) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(ceil_div(n, 128));
    config.blockDim = 128;
    config.stream = stream;
    cudaLaunchAttribute attributes[1];
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attributes;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, detail::activate<Op, float, 128>, in, out, n);
}

void launch_plain(const float *in, float *out, int n) {
    void *args[] = {&in, &out, &n};
    CUDA_CHECK(cudaLaunchKernel((const void *)detail::activate<detail::Sigmoid, float, 128>, dim3(ceil_div(n, 128)), dim3(128), args, 0, nullptr));
}

void captured(const float *in, float *out, int n) {
    std::lock_guard<std::mutex> guard(g_lock);
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    cudaStream_t stream = detail::DeviceBuffer<float>::stream();
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    detail::activate<detail::Sigmoid, float, 128><<<ceil_div(n, 128), 128, 0, stream>>>(in, out, n);
    launch_ex<detail::Sigmoid>(in, out, n, stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&instance, graph, nullptr, nullptr, 0));
    CUDA_CHECK(cudaGraphLaunch(instance, stream));
    std::thread worker([stream] { cudaStreamSynchronize(stream); });
    worker.join();
}
