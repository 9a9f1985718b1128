/* How much memory a case takes before any of it is taken, so that what is too large for a worker is refused
 * with a reason and never held against the candidate. */
#ifndef CUPEL_CASE_SIZE_H
#define CUPEL_CASE_SIZE_H

#include "contract.h"
#include "graph.h"

/* Bytes of the case's tensors: as drawn, as the candidate sees them, and as two runs leave them. */
double cupel_case_size_tensors(const cupel_binding *binding);

/* Bytes that the oracle takes beside them: the largest tensor of its graph twice (argument and result) and
 * the allowed sets. An estimate: many tensors that live at once take more. */
double cupel_case_size_oracle(const cupel_graph *graph);

/* UNSUPPORTED with a text when a case of so many bytes exceeds the limit. limit 0: there is none. */
CUPEL_MUST_USE cupel_code cupel_case_size_within(double bytes, uint64_t limit, cupel_error *err);

/* The same for the smallest case of a contract, whose shape is then named. scratch: reset by the caller. */
CUPEL_MUST_USE cupel_code cupel_case_size_smallest(const cupel_contract *contract, uint64_t limit,
                                                   cupel_arena *scratch, cupel_error *err);

/* Elements of all tensors together that a case may have within the limit, whatever its graph. */
int64_t cupel_case_size_elements(uint64_t limit);

#endif
