/* One declaration, read far enough to know what it is and where it ends. */
#ifndef CUPEL_DECLARATION_HEAD_H
#define CUPEL_DECLARATION_HEAD_H

#include "declarations.h"

typedef struct cupel_head {
    size_t end;                      /* past the declaration */
    size_t name;                     /* token; 0 when there is none */
    size_t params_begin, params_end; /* last parenthesised list before the body or the end */
    size_t head_end, body_begin, body_end;
    unsigned traits;       /* of the words outside parentheses and initialisers */
    bool is_instantiation; /* template void f<int>(int); */
    bool is_template, is_type, is_enum, is_other, has_initialiser,
        special_body;   /* = default, = delete, = 0 */
    bool built_in_type; /* names only built-in arithmetic types */
} cupel_head;

/* Reads the declaration at token i, which is visible; it ends before limit. */
void cupel_head_read(const cupel_structure *structure, const cupel_macros *macros, size_t i, size_t limit,
                     cupel_head *out);

cupel_declaration_kind cupel_head_kind(const cupel_head *head, bool in_class);

#endif
