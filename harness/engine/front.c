#include "front.h"

#include <string.h>

static void add(cupel_front_line *line, const cupel_encoded *recipe) {
    cupel_front_entry *entry = &line->entries[line->added++ % CUPEL_FRONT_MAX];
    if (recipe->size > sizeof entry->bytes) return;
    entry->picks = 0;
    entry->size = recipe->size;
    memcpy(entry->bytes, recipe->bytes, recipe->size);
}

void cupel_front_add(cupel_front *front, const cupel_encoded *recipe, unsigned news) {
    if (news & CUPEL_NEWS_EDGE) add(&front->edges, recipe);
    if (news & CUPEL_NEWS_CLIMB) add(&front->climbs, recipe);
}

static uint64_t held(const cupel_front_line *line) {
    return line->added < CUPEL_FRONT_MAX ? line->added : CUPEL_FRONT_MAX;
}

/* Falls to a half after this many picks, to a third after twice as many. */
static uint64_t weight(const cupel_front_entry *entry) {
    enum { HALF = 64 };
    return 1 + (UINT64_C(1) << 20) * HALF / (HALF + entry->picks);
}

static cupel_front_entry *choose(cupel_front_line *line, cupel_random *random) {
    if (cupel_random_below(random, 2)) return &line->entries[(line->added - 1) % CUPEL_FRONT_MAX];
    uint64_t total = 0, i = 0;
    for (uint64_t k = 0; k < held(line); k++) total += weight(&line->entries[k]);
    uint64_t at = cupel_random_below(random, total);
    while (at >= weight(&line->entries[i])) at -= weight(&line->entries[i++]);
    return &line->entries[i];
}

bool cupel_front_pick(cupel_front *front, cupel_random *random, cupel_encoded *out) {
    cupel_front_line *line = cupel_random_below(random, 2) ? &front->edges : &front->climbs;
    if (!held(line)) line = line == &front->edges ? &front->climbs : &front->edges;
    if (!held(line)) return false;
    cupel_front_entry *entry = choose(line, random);
    entry->picks++;
    *out = (cupel_encoded){.bytes = entry->bytes, .size = entry->size};
    return true;
}
