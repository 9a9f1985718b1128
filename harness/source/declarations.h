/* The declarations of a file, at namespace and class scope, told apart by where they live: on the device, on
 * the host, or (types, constants) on both. */
#ifndef CUPEL_DECLARATIONS_H
#define CUPEL_DECLARATIONS_H

#include "macros.h"

typedef enum cupel_declaration_kind {
    CUPEL_DECLARATION_KERNEL,          /* a __global__ function */
    CUPEL_DECLARATION_DEVICE_FUNCTION, /* __device__ or constexpr, host or not */
    CUPEL_DECLARATION_DEVICE_VARIABLE, /* __device__, __constant__, __shared__ */
    CUPEL_DECLARATION_CONSTANT,        /* constexpr, or const of a built-in type */
    CUPEL_DECLARATION_TYPE,            /* struct, class, union or enum with its body */
    CUPEL_DECLARATION_OTHER,           /* typedef, using, static_assert, forward declaration, member */
    CUPEL_DECLARATION_MACRO_USE,       /* a macro of the author's that expands to device declarations */
    CUPEL_DECLARATION_HOST_FUNCTION,
    CUPEL_DECLARATION_HOST_VARIABLE,
    CUPEL_DECLARATION_HOST_MACRO_USE /* a macro use that expands to host declarations, or to nothing known */
} cupel_declaration_kind;

typedef struct cupel_declaration {
    cupel_declaration_kind kind;
    size_t begin, end;               /* tokens */
    size_t params_begin, params_end; /* of a function: from ( to past ) */
    size_t head_end; /* of a function with a body: where its head ends (before an initialiser list) */
    size_t body_begin, body_end; /* from { to past }; equal when there is no body */
    const char *name;            /* as declared, without scopes; "" when it has none */
    const char *scope;           /* "ns::", "" at the top */
    bool is_template, in_class;
} cupel_declaration;

typedef struct cupel_declarations {
    size_t count, capacity;
    cupel_declaration *at; /* outer before inner, in order of the text */
    cupel_arena *arena;
} cupel_declarations;

/* Scans the whole file. */
CUPEL_MUST_USE cupel_code cupel_declarations_scan(const cupel_structure *structure,
                                                  const cupel_macros *macros, cupel_arena *arena,
                                                  cupel_declarations *out, cupel_error *err);

#endif
