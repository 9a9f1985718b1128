/* An inline assembly statement of C++: asm volatile("text" : outputs : inputs : clobbers). */
#ifndef CUPEL_PTX_ASM_H
#define CUPEL_PTX_ASM_H

#include <stdbool.h>

#include "macros.h"

enum { CUPEL_PTX_ARGUMENTS_MAX = 64 };

typedef struct cupel_ptx_argument {
    char constraint; /* r l h f d n */
    bool reads, writes;
    const char *expression;
} cupel_ptx_argument;

typedef struct cupel_ptx_asm {
    size_t close;     /* token of the closing parenthesis */
    const char *text; /* its string literals joined, escapes resolved */
    int count;
    cupel_ptx_argument arguments[CUPEL_PTX_ARGUMENTS_MAX];
    int stringised_count; /* #name in a macro's text: immediate operands %1000, %1001, .. */
    const char *stringised[CUPEL_PTX_ARGUMENTS_MAX];
} cupel_ptx_asm;

/* Reads the statement whose asm is token i. *reason as in cupel_ptx_parse; out->close is right in any case.
 * Names among the string literals are looked up in macros. Errors: MEMORY alone. */
CUPEL_MUST_USE cupel_code cupel_ptx_asm_read(const cupel_tokens *tokens, size_t i, const cupel_macros *macros,
                                             const cupel_tokens *macro_tokens, cupel_arena *arena,
                                             cupel_ptx_asm *out, const char **reason, cupel_error *err);

#endif
