// Device functions of a small library, beside the file that uses them.
#ifndef LIBRARY_HEADER_CUH_
#define LIBRARY_HEADER_CUH_

#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "common.h"

namespace lib {

template <typename T, int N> struct alignas(sizeof(T) * N) Packed {
    T data[N];
    __device__ static Packed load(const T *p) { return *reinterpret_cast<const Packed *>(p); }
    __device__ void store(T *p) const { *reinterpret_cast<Packed *>(p) = *this; }
};

template <typename T> __device__ inline float to_float(T v);
template <> __device__ inline float to_float<float>(float v) { return v; }
template <> __device__ inline float to_float<__half>(__half v) { return __half2float(v); }
template <typename T> __device__ inline T from_float(float v);
template <> __device__ inline float from_float<float>(float v) { return v; }
template <> __device__ inline __half from_float<__half>(float v) { return __float2half(v); }

template <typename T> void fill_host(std::vector<T> &v, T value) {
    for (auto &item : v) item = value;
}

} // namespace lib

#endif
