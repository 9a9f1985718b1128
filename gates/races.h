/* What a sanitized run adds to the findings of a case (docs/sanitizer.md). */
#ifndef CUPEL_RACES_H
#define CUPEL_RACES_H

#include "gate.h"

/* Adds evidence to judged: a finding for each race that is none of accesses marked for other threads, and one
 * for each bad access, unless a finding with its signature is there. A result that depends on the schedule
 * (NONDETERMINISM) gets the first race for an explanation, in place of a finding of its own; so does a wrong
 * value, beside it. Does nothing for a run that was not sanitized to its end. schedule: the run's. Returns
 * how many findings were added. */
int cupel_gate_sanitized(const cupel_case *c, const cupel_observation *seen, uint64_t schedule,
                         cupel_judged *judged);

/* "line 12 stores (block (0, 0, 0), thread (3, 0, 0)), line 14 loads (block .., thread ..)": the two accesses
 * of a race, in their order under the run's schedule. */
void cupel_race_describe(const cupel_race *race, char *text, size_t size);

#endif
