/* Inline PTX as calls of cupel_ptx.h, so that the emulator's compiler takes it. */
#ifndef CUPEL_PTX_EMIT_H
#define CUPEL_PTX_EMIT_H

#include "macros.h"

/* The statement whose asm is token i: *close is the token of its closing parenthesis, *text a statement of
 * C++ on one line without its semicolon, NULL when there is something that is not known; then *reason says
 * what ("the PTX instruction 'wgmma.fence.sync.aligned'"). macros and their tokens serve names among the
 * string literals; macros may be NULL. Errors: MEMORY alone. */
CUPEL_MUST_USE cupel_code cupel_ptx_translate(const cupel_tokens *tokens, size_t i,
                                              const cupel_macros *macros, const cupel_tokens *macro_tokens,
                                              cupel_arena *arena, size_t *close, const char **text,
                                              const char **reason, cupel_error *err);

#endif
