// Loads in a loop, at two places.
#include "cupel_mini_cuda.h"

__global__ void adds_twice(const float *x, float *y, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] + *(const volatile float *)(x + i);
    y[0] = sum;
}
CANDIDATE(ENTRY(adds_twice, 0))
