/* The undirected baseline: independent draws. The n-th recipe of a campaign depends on its seed and n alone,
 * so that a restart in the middle changes nothing. */
#include "engine.h"

#include <string.h>

static cupel_code run(const cupel_search *search, cupel_error *err) {
    for (uint64_t i = 0; !search->count || i < search->count; i++) {
        cupel_recipe recipe;
        uint64_t n = search->first + i;
        CUPEL_TRY(cupel_recipe_draw(search->contract, &search->limits, search->seed, n, &recipe, err));
        cupel_feedback feedback = {0};
        if (!search->try_one(search->self, n, &recipe, &feedback)) break;
    }
    return CUPEL_OK;
}

static const cupel_engine draw = {"draw", run};

const cupel_engine *cupel_engine_find(const char *name) {
    return strcmp(name, draw.name) ? NULL : &draw;
}
