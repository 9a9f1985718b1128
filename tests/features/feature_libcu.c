/* What barriers, pipelines and atomics of libcu++ mean. */
#include "feature.h"

/* words of the thread at the other end of its block */
static void mirrored(const feature_launch *l, const uint32_t *x, uint32_t *want, unsigned words) {
    for (unsigned t = 0; t < l->threads * l->blocks; t++) {
        const unsigned first = t - t % l->threads, other = first + l->threads - 1 - t % l->threads;
        for (unsigned i = 0; i < words; i++) want[words * t + i] = x[FEATURE_INPUTS * other + i];
    }
}

static void cuda_barrier(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    mirrored(l, x, want, 3);
}

static void ptx_mbarrier(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    mirrored(l, x, want, 2);
}

static void cuda_pipeline(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned t = 0; t < l->threads * l->blocks; t++) {
        const unsigned first = t - t % l->threads, next = first + (t % l->threads + 1) % l->threads;
        for (unsigned i = 0; i < 4; i++) want[4 * t + i] = x[FEATURE_INPUTS * next + i];
    }
}

static void cuda_pipeline_thread(const uint32_t *x, uint32_t *want) {
    for (int i = 0; i < 8; i++) want[i] = x[i];
}

static void cuda_atomic(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned block = 0; block < l->blocks; block++) {
        const unsigned first = block * l->threads;
        uint32_t sum = 0;
        int32_t least = INT32_MAX;
        for (unsigned t = first; t < first + l->threads; t++) {
            sum += x[FEATURE_INPUTS * t];
            if ((int32_t)x[FEATURE_INPUTS * t + 1] < least) least = (int32_t)x[FEATURE_INPUTS * t + 1];
        }
        for (unsigned t = first; t < first + l->threads; t++) {
            const uint32_t *in = x + FEATURE_INPUTS * t;
            uint32_t *out = want + 7 * t;
            out[0] = sum, out[1] = (uint32_t)least, out[2] = 3 * l->threads;
            out[3] = in[4] - 1, out[4] = 1, out[5] = in[3], out[6] = in[4] ^ (in[4] - 1);
        }
    }
}

static const feature features[] = {
    {.name = "cuda_barrier", .words = 3, .grid = cuda_barrier},
    {.name = "cuda_pipeline", .words = 4, .grid = cuda_pipeline},
    {.name = "cuda_pipeline_thread", .words = 8, .thread = cuda_pipeline_thread},
    {.name = "cuda_atomic", .words = 7, .grid = cuda_atomic},
    {.name = "ptx_mbarrier", .words = 2, .grid = ptx_mbarrier},
};
FEATURE_FILE(libcu);
