/* Which engines there are, and what they share. */
#include "engine.h"

#include <math.h>
#include <string.h>

#include "engine_list.h"

static const cupel_engine *const engines[] = {
#ifdef CUPEL_HAS_LIBFUZZER
    &cupel_engine_libfuzzer,
#endif
    &cupel_engine_undirected}; /* best first */

const cupel_engine *cupel_engine_find(const char *name) {
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (!strcmp(engines[i]->name, name)) return engines[i];
    return NULL;
}

const char *cupel_engine_default(void) {
    return engines[0]->name;
}

const char *cupel_engine_missing(const char *name) {
    if (cupel_engine_find(name) || strcmp(name, "libfuzzer")) return NULL;
    return "this build has no engine 'libfuzzer': install libclang-rt-14-dev, configure and build again, or "
           "take --engine draw";
}

int cupel_closeness_steps(double ratio) {
    if (!(ratio > 0) || isinf(ratio)) return 0;
    if (ratio >= 1) return CUPEL_CLOSENESS_STEPS;
    int exponent;
    double fraction = frexp(ratio, &exponent); /* in [1/2, 1) */
    int below = fraction * fraction < 0.5 ? 2 : 1;
    int steps = CUPEL_CLOSENESS_STEPS + 2 * exponent - below;
    return steps > 0 ? steps : 0;
}

int cupel_count_class(uint8_t count) {
    if (count <= 3) return count ? count - 1 : 0;
    return count < 8 ? 3 : count < 16 ? 4 : count < 32 ? 5 : count < 128 ? 6 : 7;
}

cupel_code cupel_engine_draw(const cupel_search *search, uint64_t n, cupel_recipe *out, cupel_error *err) {
    return cupel_recipe_draw(search->contract, &search->limits, search->seed, n - search->start_count, out,
                             err);
}

cupel_code cupel_engine_start(const cupel_search *search, uint64_t n, cupel_recipe *out, cupel_error *err) {
    if (n >= search->start_count) return cupel_engine_draw(search, n, out, err);
    const cupel_encoded *start = &search->starts[n];
    if (!cupel_recipe_decode(search->contract, start->bytes, start->size, out))
        return cupel_fail(err, CUPEL_WORKER, "a starting recipe cannot be read");
    return cupel_recipe_repair(search->contract, out, search->limits.max_elements, err);
}
