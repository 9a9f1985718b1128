#include "bounded_tile.h"

#include <math.h>

#define INLINED static inline __attribute__((always_inline))

/* Four rows of one register of columns: three sums of each are 12 registers, of 16 or 32. */
#define UNIT two_lanes
#define TARGET
#define LANES 2
#include "bounded_tile_loops.h"

#if defined(__x86_64__) && !defined(CUPEL_ONE_TARGET)
#define UNIT four_lanes
#define TARGET __attribute__((target("avx2")))
#define LANES 4
#include "bounded_tile_loops.h"

#define UNIT eight_lanes
#define TARGET __attribute__((target("avx512f")))
#define LANES 8
#include "bounded_tile_loops.h"
#endif

int cupel_tilings(const cupel_tiling *tilings[CUPEL_TILINGS_MAX]) {
    int count = 0;
#if defined(__x86_64__) && !defined(CUPEL_ONE_TARGET)
    if (__builtin_cpu_supports("avx512f")) tilings[count++] = &eight_lanes;
    if (__builtin_cpu_supports("avx2")) tilings[count++] = &four_lanes;
#endif
    tilings[count++] = &two_lanes;
    return count;
}
