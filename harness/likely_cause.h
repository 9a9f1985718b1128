/* Why a result is wrong, as far as a faulty shadow can tell: one that gives the same bits. */
#ifndef CUPEL_LIKELY_CAUSE_H
#define CUPEL_LIKELY_CAUSE_H

#include "trial.h"

/* Fills in the finding's cause: of the faults that the postcondition can show, the first whose shadow, in
 * some usual order of evaluation, gives the kernel's bits wherever the output is wrong, some of them finite
 * or of a class that this fault is known for (a NaN is the same whatever led to it). One that gives them
 * everywhere goes before one that does not. For another order of a scan equal results within the roundings of
 * two conforming kernels will do. Nothing is filled in for findings that are not about values, for large
 * cases (the minimal one is small), and where memory is short. */
void cupel_likely_cause_find(const cupel_trial *trial, cupel_finding *finding);

/* "the same bits as with an fp16 accumulator", or ".., wherever the result is wrong"; empty where no cause is
 * known. */
void cupel_likely_cause_describe(const cupel_finding *finding, char *text, size_t size);

#endif
