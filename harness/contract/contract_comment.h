/* Finds the contracts that stand in block comments of a source file. */
#ifndef CUPEL_CONTRACT_COMMENT_H
#define CUPEL_CONTRACT_COMMENT_H

#include "contract_yaml.h"

/* Every block comment that starts with "cupel:", in order. String and character literals and line comments
 * are passed over as a C++ compiler does. In each text the comment's decoration (a leading " * ") is blanked
 * out, so lines and columns stay those of the file. Texts live in arena. Error: such a comment without an
 * end. */
CUPEL_MUST_USE cupel_code cupel_contract_comments(const char *file, const char *text, size_t length,
                                                  cupel_arena *arena, cupel_contract_text **out, int *count,
                                                  cupel_error *err);

#endif
