/* What libFuzzer sees of a case: counters in the section that it looks for in the main program
 * (__libfuzzer_extra_counters). It clears them before each case. */
#ifndef CUPEL_COUNTERS_H
#define CUPEL_COUNTERS_H

#include "engine.h"

void cupel_counters_of_feedback(const cupel_feedback *feedback);
/* For an input that is no case: libFuzzer gives up when its first inputs bring nothing. */
void cupel_counters_of_nothing(void);
/* For the i-th recipe of an earlier part of the campaign: a mark of its own, so that it is kept. */
void cupel_counters_of_corpus(size_t i);
/* Sanitizer builds of ours are instrumented for the fuzz targets: forgets the counters of this program's own
 * code and how deep its stack went since depth was asked for, so that the search is the same as in other
 * builds. */
uintptr_t cupel_counters_depth(void);
void cupel_counters_hide_ours(uintptr_t depth);

#endif
