/* The minimiser's passes: each tries one way to make the best recipe simpler. Whether a pass can progress
 * depends on the best recipe alone; passes neither restart on success nor loop to a fixed point, the driver
 * does. */
#ifndef CUPEL_MINIMISER_PASSES_H
#define CUPEL_MINIMISER_PASSES_H

#include "shrink.h"

typedef struct cupel_minimiser_pass {
    const char *name;
    void (*run)(cupel_shrink *shrink);
} cupel_minimiser_pass;

const cupel_minimiser_pass *cupel_minimiser_passes(size_t *count);

/* Tries every smaller value of each dim from its low end. True when all of them were tried (or seen before)
 * within the budget. */
bool cupel_minimiser_scan_dims(cupel_shrink *shrink);

#endif
