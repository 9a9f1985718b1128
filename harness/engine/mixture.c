#include "mixture.h"

#include "philox.h"

/* Streams of the mixture (philox.h), apart from those of drawing. */
enum { STREAM_CASE = 0x510, STREAM_CHOICE, STREAM_CROSS, STREAM_ENGINE };

/* Of so many cases behind the first draws, one is a draw; of so many offers to cross, one is taken. */
enum { DRAW_EVERY = 3, CROSS_EVERY = 4 };

static bool is_fixed(const cupel_search *search, uint64_t n) {
    return n < search->start_count + CUPEL_MIXTURE_DRAWS;
}

static cupel_random choices(const cupel_search *search, uint64_t n) {
    return cupel_random_start(cupel_philox(search->seed, STREAM_CASE, n), STREAM_CHOICE);
}

bool cupel_mixture_crosses(const cupel_search *search, uint64_t n, const cupel_encoded *parent,
                           const cupel_encoded *other) {
    cupel_recipe recipe;
    return !is_fixed(search, n) &&
           cupel_philox(cupel_philox(search->seed, STREAM_CASE, n), STREAM_CROSS, 0) % CROSS_EVERY == 0 &&
           cupel_recipe_decode(search->contract, parent->bytes, parent->size, &recipe) &&
           cupel_recipe_decode(search->contract, other->bytes, other->size, &recipe);
}

cupel_code cupel_mixture_next(const cupel_search *search, uint64_t n, const cupel_encoded *parent,
                              const cupel_encoded *other, cupel_recipe *out, cupel_error *err) {
    if (is_fixed(search, n)) return cupel_engine_start(search, n, out, err);
    cupel_random random = choices(search, n);
    cupel_recipe second;
    bool draws = cupel_random_below(&random, DRAW_EVERY) == 0;
    if (draws || !cupel_recipe_decode(search->contract, parent->bytes, parent->size, out))
        return cupel_engine_draw(search, n, out, err);
    if (other && cupel_recipe_decode(search->contract, other->bytes, other->size, &second)) {
        cupel_recipe first = *out;
        CUPEL_TRY(
            cupel_recipe_crossover(search->contract, &search->limits, &random, &first, &second, out, err));
        if (cupel_random_below(&random, 2)) return CUPEL_OK;
    }
    return cupel_recipe_mutate(search->contract, &search->limits, &random, out, NULL, err);
}

unsigned cupel_mixture_seed(const cupel_search *search) {
    return 1 + (unsigned)(cupel_philox(search->seed, STREAM_ENGINE, search->first) % INT32_MAX);
}
