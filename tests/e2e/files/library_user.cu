/* cupel: 1
id: file-library-user
about: A kernel over packed elements that uses a header of its project, with a launcher template and explicit instantiations.
dims:    {Q: 1..1024}
let:     {N: "8 * Q"}
types:   {T: [f32, f16]}
inputs:  {x: "T[N]"}
outputs: {y: "T[N]"}
ensures: {y: "cast(x * 0.5, T)"}
kernel:
  entry: halve_packed<$T, 4>
  args:  [x, y, N]
  grid:  ["ceil_div(N, 512)"]
  block: [128]
*/
#include "library_header.cuh"

using lib::Packed;

template <typename T, int kPack> __global__ void halve_packed(const T *x, T *y, int64_t n) {
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kPack;
    if (i >= n) return;
    Packed<T, kPack> v = Packed<T, kPack>::load(x + i);
#pragma unroll
    for (int k = 0; k < kPack; k++) v.data[k] = lib::from_float<T>(lib::to_float(v.data[k]) * 0.5f);
    v.store(y + i);
}

template <typename T> cudaError_t launch_halve(const T *x, T *y, int64_t n, cudaStream_t stream = nullptr) {
    const int blocks = static_cast<int>(ceil_div<int64_t>(n, 512));
    int device, sms;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    halve_packed<T, 4><<<std::min(blocks, sms * 64), 128, 0, stream>>>(x, y, n);
    return cudaPeekAtLastError();
}
template cudaError_t launch_halve<float>(const float *, float *, int64_t, cudaStream_t);
template cudaError_t launch_halve<__half>(const __half *, __half *, int64_t, cudaStream_t);

extern "C" int halve_f32(const float *x, float *y, long long n) {
    std::vector<float> zeros(4);
    lib::fill_host(zeros, 0.0f);
    return static_cast<int>(launch_halve(x, y, n));
}
