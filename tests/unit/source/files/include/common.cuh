#pragma once
#include <iostream>
#include "helpers.cuh"
#define CEIL(a, b) (((a) + (b) - 1) / (b))
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CUDA_GLOBAL(name) extern "C" __global__ void name
inline void check(cudaError_t e, const char *file) { if (e) std::cerr << file << cudaGetErrorString(e); }
