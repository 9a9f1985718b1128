/* Running clang and reading what it says. */
#ifndef CUPEL_EMU_COMPILER_H
#define CUPEL_EMU_COMPILER_H

#include <stdbool.h>

#include "arena.h"
#include "status.h"

typedef struct cupel_emu_compiler {
    const char *path; /* as given, or clang */
    int include_count;
    const char *includes[16]; /* the host's header folders, in order: C++ and C library, the compiler's own */
} cupel_emu_compiler;

/* Finds the compiler and its header folders; log is a file to write on the way. UNSUPPORTED when it cannot be
 * run. */
CUPEL_MUST_USE cupel_code cupel_emu_compiler_find(const char *path, const char *log, cupel_arena *arena,
                                                  cupel_emu_compiler *out, cupel_error *err);

/* Runs a command (argv[0] is looked up on the PATH), its output and errors in the file log, at most seconds
 * of processor time; it dies with this process. *success tells whether it ended with status 0. UNSUPPORTED
 * when it cannot be started. */
CUPEL_MUST_USE cupel_code cupel_emu_compiler_run(const char *const *argv, const char *log, int seconds,
                                                 bool *success, cupel_error *err);

/* Fails with IO when nothing more can be written behind log: why a compiler failed without a sensible
 * message.
 */
CUPEL_MUST_USE cupel_code cupel_emu_compiler_room(const char *log, cupel_error *err);

/* One error of the compiler, at the author's place: where an instantiation that failed inside a header was
 * asked for. */
typedef struct cupel_emu_diagnostic {
    const char *file;
    int line, column;
    const char *text;
} cupel_emu_diagnostic;

/* The errors in a log. prefix: the folder of our own headers, whose places are passed over in favour of the
 * author's. */
CUPEL_MUST_USE cupel_code cupel_emu_compiler_diagnostics(const char *log, const char *prefix,
                                                         cupel_arena *arena, int *count,
                                                         cupel_emu_diagnostic **out, cupel_error *err);

#endif
