/* Numbers, allowed sets and places in words: shared by reports, explanations and the command line's tables.
 */
#ifndef CUPEL_WORDING_H
#define CUPEL_WORDING_H

#include <stdio.h>

#include "finding.h"
#include "trial.h"

/* Enough digits to tell neighbours of the type apart; "nan", "inf", "-inf", "-0". */
void cupel_word_number(cupel_dtype type, double value, char *text, size_t size);

/* An element of any type: "0.33333334". */
void cupel_word_value(cupel_dtype type, uint64_t bits, char *text, size_t size);

/* "0.33333334 (0x3eaaaaab)". */
void cupel_word_element(cupel_dtype type, uint64_t bits, char *text, size_t size);

/* "[0.33333331, 0.33333337]", "0.5", "nan or +inf", "anything (no finite error bound)". */
void cupel_word_allowed(cupel_dtype type, const cupel_exact_element *exact, char *text, size_t size);

/* As above for element index of an output; working: the contract's accumulate. Of an element that is not
 * judged it says why: "anything (the result overflows f32, ..)". */
void cupel_word_allowed_at(const cupel_allowed *allowed, int64_t index, cupel_dtype working, char *text,
                           size_t size);

/* "y[0, 32]": the flat index in an output's shape. */
void cupel_word_index(const char *name, int rank, const int64_t *shape, int64_t index, char *text,
                      size_t size);

/* Where the fault or access of a finding was. */
const cupel_place *cupel_word_place_of(const cupel_finding *finding);

/* Has it the same source line as another? False where none is known. */
bool cupel_word_same_line(const cupel_finding *a, const cupel_finding *b);

/* "kernel.cu:31 in softmax, block (0, 0, 0), thread (32, 0, 0)"; empty when nothing is known. */
void cupel_word_place(const cupel_place *place, char *text, size_t size);

/* "3.1e+04 radii, 12 ulp from the nearest allowed value"; empty when neither means anything. */
void cupel_word_distance(const cupel_finding *finding, char *text, size_t size);

/* Name of an output finding's element: as cupel_word_index where the trial knows the shape, else the output's
 * name. */
void cupel_word_where(const cupel_finding *finding, const cupel_trial *trial, char *text, size_t size);

/* True for findings about the value of an output element, which have got, allowed and exact. */
bool cupel_word_has_values(const cupel_finding *finding);

/* A line for each input: "    x: f32[2] = [1, 2]"; large ones without their elements. */
void cupel_word_inputs(const cupel_contract *contract, const cupel_case *c, FILE *out);

/* What the contract claims of the finding's output, or of every output: the expression, and the contract's
 * lines that say so, those of the finding's gate among them; where a default is the claim it is named. */
void cupel_word_claims(const cupel_contract *contract, const cupel_finding *finding, FILE *out);

/* True for findings about two runs that differ, which run_a and run_b name. */
bool cupel_word_has_runs(const cupel_finding *finding);

#endif
