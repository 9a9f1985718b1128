/* The recipes at the front of a search: those that were the first to take an edge, and those that came closer
 * to a finding than any before. There are few of them, and what is rare is mostly one step behind one of
 * them.
 */
#ifndef CUPEL_FRONT_H
#define CUPEL_FRONT_H

#include "engine.h"

enum { CUPEL_FRONT_MAX = 32 };

typedef struct cupel_front_entry {
    uint64_t picks;
    size_t size;
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
} cupel_front_entry;

typedef struct cupel_front_line {
    uint64_t added; /* the i-th is at i % CUPEL_FRONT_MAX */
    cupel_front_entry entries[CUPEL_FRONT_MAX];
} cupel_front_line;

/* Large; zero is empty. */
typedef struct cupel_front {
    cupel_front_line edges, climbs;
} cupel_front;

/* Takes a copy, where news (CUPEL_NEWS_...) says that it belongs here. */
void cupel_front_add(cupel_front *front, const cupel_encoded *recipe, unsigned news);

/* One to change: half of the time the newest of its line, else any, the seldom picked first. False when there
 * is none. out borrows from front until the next add. */
bool cupel_front_pick(cupel_front *front, cupel_random *random, cupel_encoded *out);

#endif
