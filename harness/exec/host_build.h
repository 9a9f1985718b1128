/* From a host candidate's source to a shared object: a .c file is compiled into the cache, an object is taken
 * as it is. */
#ifndef CUPEL_HOST_BUILD_H
#define CUPEL_HOST_BUILD_H

#include "executor.h"

/* Path of the shared object, in arena. Errors: BUILD with the compiler's first message at the author's line,
 * UNSUPPORTED when there is no compiler, IO. Objects are named by the preprocessed text and the flags, so a
 * changed header is noticed. */
CUPEL_MUST_USE cupel_code cupel_host_build(const cupel_contract *contract,
                                           const cupel_executor_options *options, cupel_arena *arena,
                                           const char **path, cupel_error *err);

#endif
