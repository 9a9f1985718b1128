/* Why a result is wrong, as far as a faulty shadow can tell: one that gives the same bits. */
#ifndef CUPEL_LIKELY_CAUSE_H
#define CUPEL_LIKELY_CAUSE_H

#include "trial.h"

/* Fills in the finding's cause: of the faults that the postcondition can show, the first whose shadow, in
 * some usual order of evaluation, gives the kernel's bits wherever the output is wrong, some of them finite
 * or of a class that this fault is known for (a NaN is the same whatever led to it). One that gives them
 * everywhere goes before one that does not. For another order of a scan, and for operands of products that
 * are taken in a narrower type, equal results within the roundings of two conforming kernels will do.
 * cause.others are the faults of sums that explain the case as well. Where the sanitizer saw a race in this
 * case, that is the cause, whatever a shadow gives. Nothing is filled in for findings that are not about
 * values, for large cases (the minimal one is small), and where memory is short. */
void cupel_likely_cause_find(const cupel_trial *trial, cupel_finding *finding);

/* The faults of sums (a bit each) that another case could decide between: those that the minimal case leaves,
 * or, where none gives its bits, accumulators within whose error it lies. 0: nothing to decide. */
unsigned cupel_likely_cause_open(const cupel_trial *trial, const cupel_finding *finding);

/* What a larger case of the same kernel says of them; true when there is nothing left to ask. A fault is
 * confirmed where its shadow gives the bits in some order, where the results agree with those of narrowed
 * operands within the roundings of two conforming kernels, or where all of them are numbers of the narrow
 * type, too many for chance, and within the error of such an accumulator. It is refuted where the operands'
 * results differ by more, or where each result is a good one that was rounded once to the type. */
bool cupel_likely_cause_weigh(const cupel_trial *witness, unsigned open, cupel_finding *finding);

/* "the same bits as with an fp16 accumulator", or ".., wherever the result is wrong"; empty where no cause is
 * known. */
enum { CUPEL_LIKELY_CAUSE_TEXT = 512 };
void cupel_likely_cause_describe(const cupel_finding *finding, char *text, size_t size);

/* As a bundle keeps it, for what larger cases told is not in the minimal one: "f16-accumulator bits". False
 * where it is no cause. */
void cupel_likely_cause_write(const cupel_cause *cause, char *text, size_t size);
bool cupel_likely_cause_read(const char *text, cupel_cause *out);
/* What was recorded of the same kernel; where nothing was, as cupel_likely_cause_find. */
void cupel_likely_cause_recall(const cupel_trial *trial, const char *recorded, cupel_finding *finding);

#endif
