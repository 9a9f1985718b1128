/* The undirected baseline: independent draws. The n-th recipe of a campaign depends on its seed and n alone,
 * so that a restart in the middle changes nothing. */
#include "engine_list.h"

static cupel_code run(const cupel_search *search, cupel_error *err) {
    for (uint64_t i = 0; !search->count || i < search->count; i++) {
        cupel_recipe recipe;
        uint64_t n = search->first + i;
        CUPEL_TRY(cupel_engine_start(search, n, &recipe, err));
        cupel_feedback feedback = {0};
        if (!search->try_one(search->self, n, &recipe, &feedback)) break;
    }
    return CUPEL_OK;
}

const cupel_engine cupel_engine_undirected = {"draw", run};
