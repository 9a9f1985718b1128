/* What shared memory means: what one thread of the block stores before a barrier another one loads after it.
 */
#include "feature.h"

/* Calls one for each thread of the launch with its block's inputs and its rank. */
static void each(const feature_launch *l, const uint32_t *x, uint32_t *want, int words,
                 void (*one)(const feature_launch *l, const uint32_t *block, unsigned rank, uint32_t *want)) {
    for (unsigned i = 0; i < l->threads * l->blocks; i++) {
        unsigned rank = i % l->threads;
        one(l, x + FEATURE_INPUTS * (i - rank), rank, want + (unsigned)words * i);
    }
}

static uint32_t input(const uint32_t *block, unsigned rank, int word) {
    return block[FEATURE_INPUTS * rank + (unsigned)word];
}

static void words_of(const feature_launch *l, const uint32_t *block, unsigned rank, uint32_t *want) {
    want[0] = input(block, (rank + 1) % l->threads, 0), want[1] = input(block, l->threads - 1 - rank, 0);
}

static void parts_of(const feature_launch *l, const uint32_t *block, unsigned rank, uint32_t *want) {
    unsigned at = (rank % 32 + input(block, rank, 0) % 5) % (l->threads < 32 ? l->threads : 32);
    feature_put_double(want, at * 0.5);
    want[2] = feature_bits((float)(2 * at + 3)), want[3] = feature_bits((float)at + 0.5f), want[4] = at;
}

static void templates_of(const feature_launch *l, const uint32_t *block, unsigned rank, uint32_t *want) {
    unsigned next = (rank + 1) % l->threads;
    want[0] = input(block, next, 0), want[1] = feature_bits((float)(input(block, next, 0) & 255));
    feature_put_double(want + 2, input(block, next, 1) & 1023);
}

static void arrays_of(const feature_launch *l, const uint32_t *block, unsigned rank, uint32_t *want) {
    unsigned other = l->threads - 1 - rank;
    want[0] = input(block, other, 0), want[1] = feature_bits((float)(2 * other));
    want[2] = input(block, other, 1) & 1, want[3] = block[2];
}

static void functions_of(const feature_launch *l, const uint32_t *block, unsigned rank, uint32_t *want) {
    (void)rank;
    want[0] = 0, want[1] = block[0];
    for (unsigned i = 0; i < l->threads; i++) want[0] += input(block, i, 1) & 0xff;
}

static void turns_of(const feature_launch *l, const uint32_t *block, unsigned rank, uint32_t *want) {
    uint32_t value = 0;
    (void)rank;
    for (unsigned i = 0; i < l->threads; i++) value = value * 3 + (input(block, i, 0) & 7);
    want[0] = value + l->threads;
}

#define EACH(name, words, one)                                                                               \
    static void name(const feature_launch *l, const uint32_t *x, uint32_t *want) {                           \
        each(l, x, want, words, one);                                                                        \
    }
EACH(dynamic_words, 2, words_of)
EACH(dynamic_parts, 5, parts_of)
EACH(dynamic_templates, 4, templates_of)
EACH(static_arrays, 4, arrays_of)
EACH(function_arrays, 2, functions_of)
EACH(volatile_shared, 1, turns_of)

static const feature features[] = {
    {.name = "dynamic_words", .words = 2, .grid = dynamic_words},
    {.name = "dynamic_parts", .words = 5, .grid = dynamic_parts},
    {.name = "dynamic_templates", .words = 4, .grid = dynamic_templates},
    {.name = "static_arrays", .words = 4, .grid = static_arrays},
    {.name = "function_arrays", .words = 2, .grid = function_arrays},
    {.name = "volatile_shared", .words = 1, .grid = volatile_shared},
};
FEATURE_FILE(shared_memory);
