/* What an explanation says besides values: memory, and what would settle a dispute. */
#ifndef CUPEL_EXPLAIN_FACTS_H
#define CUPEL_EXPLAIN_FACTS_H

#include <stdio.h>

#include "trial.h"

/* Every faulty access and every damaged guard of the trial's runs, with places, or that there is none.
 * addresses_checked: the executor sees accesses. */
void cupel_explain_memory(const cupel_trial *trial, bool addresses_checked, FILE *out);

/* The two runs that a finding tells apart, and the lines that may be concerned; nothing for other findings.
 */
void cupel_explain_runs(const cupel_finding *finding, const cupel_trial *trial, const char *indent,
                        FILE *out);

/* What decides who is right: the checks that need no cupel, the computation behind the exact value, and the
 * clauses of the contract that would permit this, with those that are there quoted. traits: CUPEL_TRAIT_*
 * that are necessary. */
void cupel_explain_dispute(const cupel_contract *contract, const cupel_finding *finding, int traits,
                           FILE *out);

#endif
