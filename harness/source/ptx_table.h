/* The PTX instructions that the emulator knows: what they are called, what operands they take, and which
 * function of cupel_ptx.h carries each out. The one list of them; docs/ptx.md shows it. */
#ifndef CUPEL_PTX_TABLE_H
#define CUPEL_PTX_TABLE_H

#include "ptx_parse.h"

/* An instruction's form.
 *
 * name: its parts with spaces for points. "a|b" is a choice, "?" after a part: it may be missing, "*": there
 * may be any number of them, "@class": one of the parts that cupel_ptx_classes lists under that name.
 *
 * operands: their types, destinations first, marked with "=". "$3" is the name's part number 3 (the first is
 * 0). "[g]" is an address in the generic or global space, "[s]" a shared one, "[$2]" one in the space that
 * part 2 names. "{2}b16" is a vector of two elements, "~$5" one element or a vector of them. "a|b" is a pair
 * of destinations.
 *
 * call: the function. "$2" stands for the type cupel_ptx_NAME of that part of the name, cupel_ptx_none when
 * it is missing. It gets a reference for each destination, then the sources. */
typedef struct cupel_ptx_form {
    const char *name, *operands, *call;
} cupel_ptx_form;

typedef struct cupel_ptx_class {
    const char *name, *parts;
} cupel_ptx_class;

extern const cupel_ptx_form cupel_ptx_forms[];
extern const int cupel_ptx_form_count;
extern const cupel_ptx_class cupel_ptx_classes[];
extern const int cupel_ptx_class_count;
extern const char *const cupel_ptx_specials[]; /* special registers */
extern const int cupel_ptx_special_count;

enum { CUPEL_PTX_ELEMENTS_MAX = 16 };

/* A form's name laid against an instruction's: the part that each element stands for; NULL: missing. */
typedef struct cupel_ptx_match {
    const cupel_ptx_form *form;
    const char *parts[CUPEL_PTX_ELEMENTS_MAX];
} cupel_ptx_match;

/* Whether a form has the instruction's name, whatever its operands. */
bool cupel_ptx_match_name(const cupel_ptx_form *form, const cupel_ptx_statement *s, cupel_ptx_match *out);

/* The form of an instruction, by its name and the number and kinds of its operands. *named tells whether
 * there is one of that name at all. */
bool cupel_ptx_find(const cupel_ptx_statement *s, cupel_ptx_match *out, bool *named);

/* One operand of a form. */
typedef struct cupel_ptx_slot {
    bool destination, address, pair, flexible; /* flexible: one element or a vector */
    int vector;                                /* its elements; 0: none */
    const char *type;                          /* without cupel_ptx_; of a pair, its second in type2 */
    const char *type2;
    size_t type_length, type2_length;
} cupel_ptx_slot;

/* The slots of a matched form, types resolved; their number. */
int cupel_ptx_slots(const cupel_ptx_match *match, cupel_ptx_slot *slots);

#endif
