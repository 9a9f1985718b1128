/* The arguments of an emulated launch: the contract's list against the kernel's real parameters, and their
 * values for one case. */
#ifndef CUPEL_ARGUMENTS_H
#define CUPEL_ARGUMENTS_H

#include "emu_abi.h"
#include "guarded.h"

/* Does the contract's list fit the kernel: count, pointer or scalar, element types, stated types? MISMATCH
 * with the contract's line where not. */
CUPEL_MUST_USE cupel_code cupel_arguments_check(const cupel_binding *binding, const cupel_launch *launch,
                                                const cupel_emu_kernel *kernel, cupel_error *err);

enum { CUPEL_ARGUMENT_BYTES = 16 };

typedef struct cupel_arguments {
    _Alignas(16) unsigned char values[CUPEL_ARG_MAX][CUPEL_ARGUMENT_BYTES];
    void *pointers[CUPEL_ARG_MAX];
} cupel_arguments;

/* Values of a launch that has been checked, in the kernel's types. MISMATCH when a value does not fit its
 * parameter. */
CUPEL_MUST_USE cupel_code cupel_arguments_evaluate(const cupel_case *c, const cupel_launch *launch,
                                                   const cupel_emu_kernel *kernel,
                                                   const cupel_guarded *guarded, cupel_arguments *out,
                                                   cupel_error *err);

#endif
