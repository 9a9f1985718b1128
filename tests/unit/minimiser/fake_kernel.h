/* A predicate without a kernel: a recipe fails when a function says so. Records what it was asked. */
#ifndef CUPEL_FAKE_KERNEL_H
#define CUPEL_FAKE_KERNEL_H

#include "minimiser.h"

typedef struct fake_kernel {
    const cupel_contract *contract;
    bool (*fails)(const cupel_contract *contract, const cupel_recipe *recipe);
    /* another defect, with the signature of output "z"; may be NULL */
    bool (*fails_otherwise)(const cupel_contract *contract, const cupel_recipe *recipe);
    cupel_finding_kind kind;
    bool evidence; /* the finding is no proof */
    bool gradient; /* the output is a gradient */
    int calls, slips;
} fake_kernel;

/* The contract of text, which lives in arena; fails the test when there is an error. */
const cupel_contract *fake_contract(cupel_arena *arena, const char *text);

/* Signature of the fake's finding. */
void fake_signature(const fake_kernel *kernel, char *text, size_t size);

cupel_predicate fake_predicate(fake_kernel *kernel);

/* The value of a dim in a recipe. */
int64_t fake_dim(const cupel_contract *contract, const cupel_recipe *recipe, const char *name);

#endif
