#include "philox.h"

static const uint32_t multiplier_0 = 0xD2511F53u, multiplier_1 = 0xCD9E8D57u;
static const uint32_t weyl_0 = 0x9E3779B9u, weyl_1 = 0xBB67AE85u;

void cupel_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)multiplier_0 * c0, p1 = (uint64_t)multiplier_1 * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c0 = n0, c1 = (uint32_t)p1, c2 = n2, c3 = (uint32_t)p0;
        k0 += weyl_0, k1 += weyl_1;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

uint64_t cupel_philox(uint64_t seed, uint32_t stream, uint64_t index) {
    uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), stream, 0};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t out[4];
    cupel_philox4x32(counter, key, out);
    return (uint64_t)out[1] << 32 | out[0];
}

cupel_random cupel_random_start(uint64_t seed, uint32_t stream) {
    return (cupel_random){seed, stream, 0};
}

uint64_t cupel_random_u64(cupel_random *random) {
    return cupel_philox(random->seed, random->stream, random->next++);
}

uint64_t cupel_random_below(cupel_random *random, uint64_t bound) {
    if (bound <= 1) return 0;
    /* values below 2^64 mod bound would be favoured by the remainder: draw again */
    uint64_t threshold = -bound % bound, value;
    do value = cupel_random_u64(random);
    while (value < threshold);
    return value % bound;
}

double cupel_random_unit(cupel_random *random) {
    return (double)(cupel_random_u64(random) >> 11) * 0x1p-53;
}
