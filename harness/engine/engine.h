/* The search engine seam: where recipes come from. The engine runs inside the worker; an engine sees
 * bytes-sized recipes and feedback, never tensors. `draw` is the undirected baseline; libFuzzer and AFL++
 * come later behind the same seam. */
#ifndef CUPEL_ENGINE_H
#define CUPEL_ENGINE_H

#include "mutate.h"

/* What trying one recipe taught. */
typedef struct cupel_feedback {
    const uint8_t *coverage; /* edges, or NULL */
    size_t coverage_count;
    double closeness; /* largest error over radius among the judged elements of this case */
    bool finding;
} cupel_feedback;

typedef struct cupel_search {
    const cupel_contract *contract;
    cupel_limits limits;
    uint64_t seed;
    uint64_t first, count; /* recipes first .. first+count-1 of the campaign; count 0: until stop says so */
    void *self;
    /* Tries one recipe. Returns false to stop. */
    bool (*try_one)(void *self, uint64_t n, const cupel_recipe *recipe, cupel_feedback *feedback);
} cupel_search;

typedef struct cupel_engine {
    const char *name;
    cupel_code (*run)(const cupel_search *search, cupel_error *err);
} cupel_engine;

const cupel_engine *cupel_engine_find(const char *name); /* NULL when there is none */

#endif
