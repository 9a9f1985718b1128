/* Which cases of a search run only some blocks of a large grid. Such a run is a filter: whatever is
 * suspicious about it is run again with all blocks before anyone hears of it, elements that no store has
 * reached are not judged, and only a case in which nothing at all is suspicious is done with. Bundles,
 * minimising, and whatever else a supervisor asks for, have all blocks.
 *
 * Three quarters of the cases are sampled, chosen by the recipe's bytes, so that a search repeats; but no
 * case that brings a size (octave, power of two or not) of a dim or an element type for the first time, none
 * with earlier calls, none of contracts whose blocks may need each other: several launches, scratch, outputs
 * that held something before, tensors that share memory, bytes claimed equal across variants. What runs show
 * about blocks that work together, the executor keeps to itself (cupel_run_request.sample). */
#ifndef CUPEL_BLOCK_SAMPLING_H
#define CUPEL_BLOCK_SAMPLING_H

#include "gate.h"

/* What a search has learnt. Start from all zeros. */
typedef struct cupel_block_sampling {
    uint64_t sizes[CUPEL_DIM_MAX]; /* seen in whole runs, a bit each */
    uint32_t types[CUPEL_TYPE_MAX];
    int64_t settled, wasted; /* sampled cases; those that had to be run again */
    bool keeps;              /* the contract lets elements be as they were */
} cupel_block_sampling;

/* The number that chooses the blocks of a case, never 0; 0: all of them are to be run. */
uint64_t cupel_block_sampling_draw(cupel_block_sampling *sampling, const cupel_case *c);

/* Were the same blocks left out of both runs, which came to their end without an access that is reported and
 * without atomics? */
bool cupel_block_sampling_serves(const cupel_run runs[2]);

/* Takes the elements that neither run has stored to out of what is judged. allowed: an output of the graph
 * each. */
void cupel_block_sampling_mask(cupel_block_sampling *sampling, const cupel_case *c, const cupel_graph *graph,
                               const cupel_run runs[2], cupel_allowed *allowed);

/* What came of a sampled case. Where too many are run twice, no more are sampled. */
void cupel_block_sampling_learn(cupel_block_sampling *sampling, bool settled);

#endif
