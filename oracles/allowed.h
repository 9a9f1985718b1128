/* Allowed sets: storage, the rounding of an enclosure to the output type, and tolerances that replace it. */
#ifndef CUPEL_ALLOWED_H
#define CUPEL_ALLOWED_H

#include "arena.h"
#include "ball.h"

/* Fills in out's description from a graph output and takes its arrays from arena. */
CUPEL_MUST_USE cupel_code cupel_allowed_create(const cupel_graph_output *output, cupel_arena *arena,
                                               cupel_allowed *out, cupel_error *err);

/* The description alone, without arrays. */
void cupel_allowed_describe(const cupel_graph_output *output, cupel_allowed *out);

/* Writes element index from what a kernel may return. */
void cupel_allowed_set(cupel_allowed *allowed, int64_t index, double value, const cupel_permitted *permitted);

/* As cupel_allowed_set, for ends that doubles may lack: the bits of i64 and u64 elements. */
void cupel_allowed_set_integer(cupel_allowed *allowed, int64_t index, uint64_t least, uint64_t most);

/* Counts judged elements and reasons; call after the last set. */
void cupel_allowed_count(cupel_allowed *allowed);

/* Replaces the derived intervals by |x - value| <= absolute + relative * |value|, ends rounded outward in the
 * output type. Classes are those of the exact value, plus the infinity that the widened interval reaches.
 * Elements that the oracle has no value for stay not judged; those that only a derived bound excused are
 * judged. Both figures must be finite and not negative (CUPEL_RANGE). */
CUPEL_MUST_USE cupel_code cupel_allowed_tolerate(cupel_allowed *allowed, double absolute, double relative,
                                                 cupel_error *err);

#endif
