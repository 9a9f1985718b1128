/* Results of operations that can fail. A function that can fail returns a cupel_code and fills in the
 * caller's cupel_error; the library never prints and never exits. */
#ifndef CUPEL_STATUS_H
#define CUPEL_STATUS_H

#include <stdarg.h>
#include <stddef.h>

#define CUPEL_MUST_USE __attribute__((warn_unused_result))

/* code, text shown when no better message was given */
#define CUPEL_CODES(X)                                                                                       \
    X(OK, "no error")                                                                                        \
    X(MEMORY, "out of memory")                                                                               \
    X(IO, "input or output failed")                                                                          \
    X(SYNTAX, "the text does not follow the grammar")                                                        \
    X(CONTRACT, "the contract does not hold together")                                                       \
    X(MISMATCH, "the contract and the kernel disagree")                                                      \
    X(UNSUPPORTED, "this feature is not supported here")                                                     \
    X(UNABLE, "no answer within the budget")                                                                 \
    X(RANGE, "a value lies outside its range")                                                               \
    X(BUILD, "the candidate does not compile")                                                               \
    X(USAGE, "the command line is wrong")                                                                    \
    X(WORKER, "the worker process failed")

typedef enum cupel_code {
#define CUPEL_CODE_NAME(name, text) CUPEL_##name,
    CUPEL_CODES(CUPEL_CODE_NAME)
#undef CUPEL_CODE_NAME
} cupel_code;

/* Where and why an operation failed. file is empty and line 0 where no source text is concerned. */
typedef struct cupel_error {
    cupel_code code;
    char file[256];
    int line;   /* from 1 */
    int column; /* from 1 */
    char text[1024];
} cupel_error;

/* Fills in *err (which may be NULL) without a place in a source text; returns code. */
cupel_code cupel_fail(cupel_error *err, cupel_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As cupel_fail, with a place. */
cupel_code cupel_fail_at(cupel_error *err, cupel_code code, const char *file, int line, int column,
                         const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The default text of a code. */
const char *cupel_code_text(cupel_code code);

/* Writes "file:line:column: text" (or "text") into buffer, always terminated; returns buffer. */
const char *cupel_error_format(const cupel_error *err, char *buffer, size_t size);

/* Forwards a failure of an operation that has already filled in err. */
#define CUPEL_TRY(expression)                                                                                \
    do {                                                                                                     \
        cupel_code cupel_try_code_ = (expression);                                                           \
        if (cupel_try_code_ != CUPEL_OK) return cupel_try_code_;                                             \
    } while (0)

#endif
