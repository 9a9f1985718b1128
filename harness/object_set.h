/* The emulated objects of a contract, built beforehand for a machine without a compiler. */
#ifndef CUPEL_OBJECT_SET_H
#define CUPEL_OBJECT_SET_H

#include "executor.h"

typedef struct cupel_object_set_report {
    int built;     /* objects in the folder now, for this contract */
    int left_out;  /* bindings that cannot be built: there are too many, or they are not legal */
    char why[256]; /* of the first that was left out */
} cupel_object_set_report;

/* Compiles every set of entries that the contract's bindings ask for (each combination of claimed types and,
 * where an entry mentions them, of dims and params with at most 64 values) and writes the objects into
 * folder, where cupel_emu_compile finds them by content. options->cache is used on the way. Errors are those
 * of compiling the base binding; other bindings that do not compile are left out. */
CUPEL_MUST_USE cupel_code cupel_object_set_build(const cupel_contract *contract,
                                                 const cupel_executor_options *options, const char *folder,
                                                 cupel_object_set_report *out, cupel_error *err);

#endif
