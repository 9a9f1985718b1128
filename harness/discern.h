/* What a case can tell apart: would a kernel that does an order-dependent operation in another order, or sums
 * in a lower precision, be caught by it? */
#ifndef CUPEL_DISCERN_H
#define CUPEL_DISCERN_H

#include "trial.h"

/* Fills in trial->discerned from the case's allowed sets: judged elements that the first faulty shadow of
 * each kind to leave them gets wrong. Only a sample of a search's cases is asked (docs/gates.md): until each
 * of the two gates has CUPEL_DISCERN_CASES of them, and as long as the shadows' work is small beside that of
 * the search; which ones depends on the cases alone, never on time. Without a scoreboard nothing is asked. */
enum { CUPEL_DISCERN_CASES = 64 };
CUPEL_MUST_USE cupel_code cupel_discern(cupel_trial *trial, const cupel_bindings *bindings,
                                        const cupel_rules *rules, cupel_scoreboard *scoreboard,
                                        cupel_error *err);

/* Judged elements of all outputs that a kernel with this fault gets wrong. */
CUPEL_MUST_USE cupel_code cupel_discern_fault(const cupel_trial *trial, const cupel_bindings *bindings,
                                              const cupel_rules *rules, cupel_shadow_fault fault,
                                              cupel_arena *arena, int64_t *wrong, cupel_error *err);

#endif
