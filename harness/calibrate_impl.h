/* Shared by the parts of calibration: the shadows (calibrate_shadows.c), the search with one of them
 * (calibrate_search.c), what hides a fault (calibrate_relax.c). */
#ifndef CUPEL_CALIBRATE_IMPL_H
#define CUPEL_CALIBRATE_IMPL_H

#include "calibrate.h"
#include "engine.h"

/* A shadow to try and the gates that its fault belongs to. */
typedef struct cupel_calibrate_shadow {
    cupel_stand_in stand_in;
    const char *name, *sentence;
    bool good;
    unsigned own;
} cupel_calibrate_shadow;

/* The good shadows, then the faulty ones that the contract's expressions can show at some of the recipes.
 * Returns how many; at most CUPEL_CALIBRATE_ROWS_MAX. */
CUPEL_MUST_USE cupel_code cupel_calibrate_shadows(const cupel_contract *contract, const cupel_search *search,
                                                  cupel_arena *arena, cupel_calibrate_shadow *out, int *count,
                                                  cupel_error *err);

/* Tries the shadow on the search's cases until its own gate rejects it (a good one: until any does), and
 * fills in the row but for the advice. */
CUPEL_MUST_USE cupel_code cupel_calibrate_try(const cupel_contract *contract, const cupel_search *search,
                                              const cupel_calibrate_options *options,
                                              const cupel_calibrate_shadow *shadow, cupel_calibrate_row *row,
                                              cupel_error *err);

/* Why no gate rejects a faulty shadow: the first clause of the contract without which one does. Fills in the
 * row's advice. */
CUPEL_MUST_USE cupel_code cupel_calibrate_advise(const cupel_contract *contract, const cupel_search *search,
                                                 const cupel_calibrate_options *options,
                                                 const cupel_calibrate_shadow *shadow,
                                                 cupel_calibrate_row *row, cupel_error *err);

/* The recipes that a calibration tries: the starts of the contract's family, then undirected draws. */
CUPEL_MUST_USE cupel_code cupel_calibrate_cases(const cupel_contract *contract,
                                                const cupel_calibrate_options *options, cupel_arena *arena,
                                                cupel_search *out, cupel_error *err);

#endif
