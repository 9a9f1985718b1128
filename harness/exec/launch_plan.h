/* The launches of a contract under a binding and for a case: which entries they need, and their dimensions
 * and arguments. Shared by the executors that launch kernels. */
#ifndef CUPEL_LAUNCH_PLAN_H
#define CUPEL_LAUNCH_PLAN_H

#include "arguments.h"

/* The entries of every launch under a binding. */
typedef struct cupel_entry_set {
    int count;
    const char *distinct[CUPEL_LAUNCH_MAX];
    int of_launch[CUPEL_LAUNCH_MAX]; /* index into distinct */
    char *key;                       /* distinct, a line each, and the macros that hang on the binding */
    const char **defines;            /* the contract's own macros, holes such as $BLOCK filled in */
} cupel_entry_set;

/* Everything lives in arena. */
CUPEL_MUST_USE cupel_code cupel_launch_plan_entries(const cupel_binding *binding, cupel_arena *arena,
                                                    cupel_entry_set *out, cupel_error *err);

/* `all` begins with the contract's own macros as they are written; the same list with those of the set, in
 * arena. */
CUPEL_MUST_USE cupel_code cupel_launch_plan_defines(const cupel_contract *contract,
                                                    const cupel_entry_set *set, const char *const *all,
                                                    int count, cupel_arena *arena, const char ***out,
                                                    cupel_error *err);

typedef struct cupel_launch_plan {
    bool skipped; /* skip_if holds */
    int64_t grid[3], block[3];
    int64_t dynamic_shared; /* bytes */
    bool cooperative;
    int symbol_count; /* of the launch's, in their order: */
    struct {
        unsigned char *from; /* the tensor's first byte */
        size_t bytes;
    } symbols[CUPEL_SYMBOL_MAX];
    cupel_arguments arguments;
} cupel_launch_plan;

/* The variables that a contract's launches fill: names, each as often as a launch fills it. At most
 * CUPEL_LAUNCH_MAX * CUPEL_SYMBOL_MAX. */
int cupel_launch_plan_filled(const cupel_contract *contract, const char **names);

/* A variable of size bytes takes what a planned launch puts into it; CONTRACT where it does not. */
CUPEL_MUST_USE cupel_code cupel_launch_plan_fits(const cupel_launch *launch, const cupel_launch_plan *plan,
                                                 int symbol, size_t size, cupel_error *err);

/* One launch of a case that guarded holds; its arguments have been checked against the kernel. */
CUPEL_MUST_USE cupel_code cupel_launch_plan_make(const cupel_case *c, const cupel_launch *launch,
                                                 const cupel_emu_kernel *kernel, const cupel_guarded *guarded,
                                                 cupel_launch_plan *out, cupel_error *err);

#endif
