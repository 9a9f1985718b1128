/* Results that are allowed, and far less accurate than those of good kernels on the same input: evidence. */
#ifndef CUPEL_ACCURACY_H
#define CUPEL_ACCURACY_H

#include "trial.h"

/* The evidence radii of a finished case's outputs, where they may matter: some element is allowed and many
 * ulps off, a long sum is behind it, the values are of ordinary size and no tolerance of the contract
 * replaces the derived bounds. *radii is NULL otherwise. Shadows cost many times a bounded answer: with a
 * scoreboard (a search) they are given no more than a fixed share of the elements seen so far, so that the
 * same cases give the same findings whatever the clock says; without one (confirming, minimising, replaying)
 * there is no such limit, but one on the size of the case. */
CUPEL_MUST_USE cupel_code cupel_accuracy_radii(const cupel_trial *trial, const cupel_bindings *bindings,
                                               const cupel_rules *rules, cupel_scoreboard *scoreboard,
                                               cupel_arena *arena, double ***radii, cupel_error *err);

#endif
