/* Features of device code, each a kernel (in a .cu file of this folder) and its meaning in plain C. A file's
 * kernels run as one case: eight 32-bit words of input a thread, each kernel its own words of output. */
#ifndef FEATURE_H
#define FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FEATURE_INPUTS = 8, FEATURE_WORDS_MAX = 24 };

/* Expected where a device may write anything. */
#define FEATURE_ANY 0xa5a5a5a5u

typedef struct feature_launch {
    unsigned block[3], grid[2];
    unsigned threads; /* of a block */
    unsigned blocks;
} feature_launch;

/* A real result that is not fixed to the bit. */
typedef struct feature_real {
    double value; /* NaN: it must be NaN; an infinity: it must be this one */
    double ulps;  /* allowed, as spacings of the result's type at value; 0: the type's nearest number */
    double absolute;
    /* both 0: value alone. */
} feature_real;

typedef struct feature {
    const char *name; /* the kernel's */
    int words;        /* a thread writes */
    /* One of these. thread: what one thread writes, from its own input; grid: what all write, from all
     * inputs, cleared before; real: results in float (doubles: in double, two words each), words of them. */
    void (*thread)(const uint32_t *x, uint32_t *want);
    void (*grid)(const feature_launch *l, const uint32_t *x, uint32_t *want);
    void (*real)(const uint32_t *x, feature_real *want);
    int doubles;
    int together; /* a cooperative launch */
} feature;

typedef struct feature_file {
    const char *name; /* of NAME.cu */
    int count;
    const feature *items;
} feature_file;

#define FEATURE_FILE(name)                                                                                   \
    const feature_file feature_##name = {#name, sizeof features / sizeof *features, features}

/* Every file, in the order of the list in docs/device-features.md; one a line. */
// clang-format off
#define FEATURE_FILES(X) \
    X(shuffles) \
    X(votes) \
    X(integers) \
    X(simd) \
    X(conversions) \
    X(rounding) \
    X(math_float) \
    X(math_double) \
    X(fast_math) \
    X(real_parts) \
    X(half) \
    X(bfloat16) \
    X(vectors) \
    X(memory) \
    X(shared_memory) \
    X(atomics) \
    X(language) \
    X(fp8) \
    X(cub) \
    X(groups) \
    X(ptx_scalar) \
    X(ptx_block) \
    X(ptx_matrix) \
    X(libcu)
// clang-format on
#define FEATURE_DECLARE(name) extern const feature_file feature_##name;
FEATURE_FILES(FEATURE_DECLARE)

/* ---- for the meanings ---- */

float feature_float(uint32_t x);
double feature_double(const uint32_t *x);
uint64_t feature_long(const uint32_t *x);
uint32_t feature_bits(float f); /* NaNs as one */
void feature_put(uint32_t *want, uint64_t v);
void feature_put_double(uint32_t *want, double d);

/* Warps and blocks of a launch, by turns: start with a cleared one. */
typedef struct feature_warp {
    unsigned first, lanes; /* number in the grid of its first thread; how many there are */
    unsigned next;
} feature_warp;
bool feature_next_warp(const feature_launch *l, feature_warp *w);

#endif
