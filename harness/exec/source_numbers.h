/* The numbers that a candidate's source makes interesting: mine.h with a contract's own settings. */
#ifndef CUPEL_SOURCE_NUMBERS_H
#define CUPEL_SOURCE_NUMBERS_H

#include "dictionary.h"
#include "executor.h"

/* Mines the contract's source, its include folders and macros before those of options (only these are looked
 * at; may be NULL). A source that is missing, no text, or cannot be read gives an empty dictionary: a search
 * does without. */
void cupel_source_numbers(const cupel_contract *contract, const cupel_executor_options *options,
                          cupel_dictionary *out);

#endif
