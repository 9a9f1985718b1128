// Loads in a loop, at two places.
#include "cupel_mini_cuda.h"

__global__ void adds_twice(const float *x, float *y, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] + *(const volatile float *)(x + i);
    y[0] = sum;
}

// The last block sets all that it reads, the others only the first.
__global__ void sums_shared(float *y) {
    __shared__ float s[64];
    if (bid() == gdim() - 1 || tid() == 0) s[tid()] = 1;
    sync();
    float sum = 0;
    for (int i = 0; i < 64; i++) sum += *(const volatile float *)(s + i);
    y[bid() * 64 + tid()] = sum;
}
CANDIDATE(ENTRY(adds_twice, 0), ENTRY(sums_shared, 0))
