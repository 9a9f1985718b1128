/* The text of an inline assembly statement, taken apart: PTX instructions with their predicates and operands
 * (PTX ISA 8.x, "Syntax" and "Instruction Statements"). What instructions mean is not known here. */
#ifndef CUPEL_PTX_PARSE_H
#define CUPEL_PTX_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "status.h"

enum {
    CUPEL_PTX_MODIFIERS_MAX = 16, /* parts of a name: "ld.global.nc.v4.f32" has 5 */
    CUPEL_PTX_OPERANDS_MAX = 12,
    CUPEL_PTX_STRINGISED = 1000 /* %1000 and up: operands that were #name in a macro */
};

typedef enum cupel_ptx_kind {
    CUPEL_PTX_ARGUMENT,  /* %0: operand of the statement */
    CUPEL_PTX_REGISTER,  /* declared by .reg in the text */
    CUPEL_PTX_SPECIAL,   /* %tid.x */
    CUPEL_PTX_IMMEDIATE, /* a number */
    CUPEL_PTX_SINK,      /* _ */
    CUPEL_PTX_ADDRESS,   /* [base + offset]: base in items */
    CUPEL_PTX_VECTOR,    /* {a, b}: items */
    CUPEL_PTX_PAIR       /* d|p: two items */
} cupel_ptx_kind;

typedef struct cupel_ptx_value {
    cupel_ptx_kind kind;
    int index;        /* ARGUMENT */
    bool negated;     /* !p */
    const char *text; /* REGISTER, SPECIAL: the name; IMMEDIATE: a C++ literal */
    int64_t offset;   /* ADDRESS */
    int count;        /* of items */
    struct cupel_ptx_value *items;
} cupel_ptx_value;

typedef enum cupel_ptx_statement_kind {
    CUPEL_PTX_INSTRUCTION,
    CUPEL_PTX_OPEN, /* { */
    CUPEL_PTX_CLOSE,
    CUPEL_PTX_DECLARATION, /* .reg of type parts[0]: name */
    CUPEL_PTX_LABEL        /* name */
} cupel_ptx_statement_kind;

typedef struct cupel_ptx_statement {
    cupel_ptx_statement_kind kind;
    const char *name; /* INSTRUCTION: as written, "cp.async.wait_all" */
    int part_count;   /* of the name, at its points */
    const char *parts[CUPEL_PTX_MODIFIERS_MAX];
    bool guarded; /* @guard */
    cupel_ptx_value guard;
    int operand_count;
    cupel_ptx_value operands[CUPEL_PTX_OPERANDS_MAX];
} cupel_ptx_statement;

typedef struct cupel_ptx_program {
    int count;
    cupel_ptx_statement *statements;
} cupel_ptx_program;

/* Takes text apart. *reason: why that is not possible, for people ("...: a closing bracket is missing"), NULL
 * when it is; in the arena. Errors: MEMORY alone. */
CUPEL_MUST_USE cupel_code cupel_ptx_parse(const char *text, cupel_arena *arena, cupel_ptx_program *out,
                                          const char **reason, cupel_error *err);

#endif
