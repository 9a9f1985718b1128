/* Shuffles in all four directions, widths, element types and masks. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "feature.cuh"

__global__ void shuffle_index(const unsigned *x, unsigned *y) {
    FEATURE(6);
    unsigned lanes = feature_lanes();
    y[0] = __shfl_sync(lanes, x[0], (int)x[1]);
    y[1] = __shfl_sync(lanes, x[0], (int)x[1], 16);
    y[2] = __shfl_sync(lanes, x[0], (int)x[1], 8);
    y[3] = __shfl_sync(lanes, x[0], (int)x[1], 4);
    y[4] = __shfl_sync(lanes, x[0], (int)x[1], 2);
    y[5] = __shfl_sync(lanes, x[0], (int)x[1], 1);
}
__global__ void shuffle_up(const unsigned *x, unsigned *y) {
    FEATURE(6);
    unsigned lanes = feature_lanes();
    y[0] = __shfl_up_sync(lanes, x[0], x[1] & 31);
    y[1] = __shfl_up_sync(lanes, x[0], x[1] & 15, 16);
    y[2] = __shfl_up_sync(lanes, x[0], x[1] & 7, 8);
    y[3] = __shfl_up_sync(lanes, x[0], x[1] & 3, 4);
    y[4] = __shfl_up_sync(lanes, x[0], x[1] & 1, 2);
    y[5] = __shfl_up_sync(lanes, x[0], 1);
}
__global__ void shuffle_down(const unsigned *x, unsigned *y) {
    FEATURE(6);
    unsigned lanes = feature_lanes();
    y[0] = __shfl_down_sync(lanes, x[0], x[1] & 31);
    y[1] = __shfl_down_sync(lanes, x[0], x[1] & 15, 16);
    y[2] = __shfl_down_sync(lanes, x[0], x[1] & 7, 8);
    y[3] = __shfl_down_sync(lanes, x[0], x[1] & 3, 4);
    y[4] = __shfl_down_sync(lanes, x[0], x[1] & 1, 2);
    y[5] = __shfl_down_sync(lanes, x[0], 1);
}
__global__ void shuffle_xor(const unsigned *x, unsigned *y) {
    FEATURE(6);
    unsigned lanes = feature_lanes();
    y[0] = __shfl_xor_sync(lanes, x[0], (int)(x[1] & 31));
    y[1] = __shfl_xor_sync(lanes, x[0], (int)(x[1] & 31), 16);
    y[2] = __shfl_xor_sync(lanes, x[0], (int)(x[1] & 31), 8);
    y[3] = __shfl_xor_sync(lanes, x[0], (int)(x[1] & 31), 4);
    y[4] = __shfl_xor_sync(lanes, x[0], (int)(x[1] & 31), 2);
    y[5] = __shfl_xor_sync(lanes, x[0], 16);
}

template <class T> __device__ T from_first(T value) { return __shfl_sync(feature_lanes(), value, 0); }

__global__ void shuffle_types(const unsigned *x, unsigned *y) {
    FEATURE(18);
    y[0] = (unsigned)from_first((int)x[0]);
    y[1] = from_first(x[1]);
    put(y + 2, (unsigned long long)from_first((long)as_long(x + 2)));
    put(y + 4, (unsigned long long)from_first((unsigned long)as_long(x + 2)));
    put(y + 6, (unsigned long long)from_first((long long)as_long(x + 4)));
    put(y + 8, from_first(as_long(x + 4)));
    y[10] = bits(from_first(as_float(x[0])));
    put(y + 11, from_first(as_double(x + 6)));
    y[13] = __half_as_ushort(from_first(__ushort_as_half((unsigned short)x[0])));
    __half2 h = from_first(__halves2half2(__ushort_as_half((unsigned short)x[1]), __ushort_as_half((unsigned short)x[2])));
    y[14] = __half_as_ushort(__low2half(h)) | (unsigned)__half_as_ushort(__high2half(h)) << 16;
    y[15] = __bfloat16_as_ushort(from_first(__ushort_as_bfloat16((unsigned short)x[0])));
    __nv_bfloat162 b =
        from_first(__halves2bfloat162(__ushort_as_bfloat16((unsigned short)x[1]), __ushort_as_bfloat16((unsigned short)x[2])));
    y[16] = __bfloat16_as_ushort(__low2bfloat16(b)) | (unsigned)__bfloat16_as_ushort(__high2bfloat16(b)) << 16;
    y[17] = (unsigned)(int)from_first((short)x[3] > 0);
}

/* Lanes of one parity shuffle among themselves, each in its own branch. */
__global__ void shuffle_masks(const unsigned *x, unsigned *y) {
    FEATURE(3);
    unsigned lanes = feature_lanes(), lane = feature_rank() & 31;
    if (lane & 1)
        y[0] = __shfl_xor_sync(lanes & 0xaaaaaaaau, x[0], 2);
    else
        y[0] = __shfl_xor_sync(lanes & 0x55555555u, x[0] + 1, 2);
    unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    y[1] = __shfl_down_sync(lanes & half, x[1], 1, 16);
    y[2] = 0;
    if (lane < 4) y[2] = __shfl_sync(lanes & 15u, x[2], 0);
}

__global__ void shuffle_sum(const unsigned *x, unsigned *y) {
    FEATURE(2);
    unsigned lanes = feature_lanes(), lane = feature_rank() & 31;
    unsigned sum = x[0];
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        unsigned other = __shfl_down_sync(lanes, sum, offset);
        if (lane + offset < 32 && (lanes >> (lane + offset) & 1)) sum += other;
    }
    y[0] = __shfl_sync(lanes, sum, 0);
    unsigned scan = x[1];
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        unsigned other = __shfl_up_sync(lanes, scan, offset);
        if (lane >= offset) scan += other;
    }
    y[1] = scan;
}
