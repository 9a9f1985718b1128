/* Random schedules of the second run, and permutations. */
#include "recipe_impl.h"
#include "schedule.h"

/* A short seed for one schedule in two: those repeat from case to case, and the minimiser likes them. */
static uint32_t draw_seed(cupel_random *random) {
    uint64_t bound = cupel_chance(random, 2) ? 8 : UINT32_MAX;
    return 1 + (uint32_t)cupel_random_below(random, bound);
}

uint64_t cupel_draw_schedule(cupel_random *random) {
    static const uint8_t weights[CUPEL_SCHEDULE_WAY_COUNT] = {
        [CUPEL_SCHEDULE_CANONICAL] = 2, [CUPEL_SCHEDULE_REVERSE] = 2, [CUPEL_SCHEDULE_LAST_WARP] = 2,
        [CUPEL_SCHEDULE_IN_TURN] = 3,   [CUPEL_SCHEDULE_ABREAST] = 2, [CUPEL_SCHEDULE_RANDOM] = 5};
    unsigned total = 0;
    for (int way = 0; way < CUPEL_SCHEDULE_WAY_COUNT; way++) total += weights[way];
    unsigned choice = (unsigned)cupel_random_below(random, total);
    cupel_schedule schedule = {.way = CUPEL_SCHEDULE_CANONICAL};
    while (choice >= weights[schedule.way]) choice -= weights[schedule.way++];
    schedule.seed = draw_seed(random);
    if (cupel_chance(random, 3)) schedule.limit = 1u << cupel_random_below(random, 12);
    return cupel_schedule_pack(schedule);
}

uint32_t cupel_draw_permutation(cupel_random *random) {
    enum { NAMED = 4 };
    if (cupel_chance(random, 2)) return 1 + (uint32_t)cupel_random_below(random, NAMED);
    return 1 + NAMED + (uint32_t)cupel_random_below(random, 1000);
}
