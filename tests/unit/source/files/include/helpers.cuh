#ifndef HELPERS_CUH
#define HELPERS_CUH
#include "common.cuh"
inline std::string describe() { return "helpers"; }
__device__ inline float clamp01(float x) {
    return fminf(fmaxf(x, 0.f), 1.f);
}
#endif
