#include "status.h"

#include <stdio.h>
#include <string.h>

static void fill(cupel_error *err, cupel_code code, const char *file, int line, int column,
                 const char *format, va_list arguments) {
    if (!err) return;
    err->code = code;
    snprintf(err->file, sizeof err->file, "%s", file ? file : "");
    err->line = line;
    err->column = column;
    vsnprintf(err->text, sizeof err->text, format, arguments);
}

cupel_code cupel_fail(cupel_error *err, cupel_code code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(err, code, NULL, 0, 0, format, arguments);
    va_end(arguments);
    return code;
}

cupel_code cupel_fail_at(cupel_error *err, cupel_code code, const char *file, int line, int column,
                         const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(err, code, file, line, column, format, arguments);
    va_end(arguments);
    return code;
}

const char *cupel_code_text(cupel_code code) {
    static const char *const texts[] = {
#define CUPEL_CODE_TEXT(name, text) text,
        CUPEL_CODES(CUPEL_CODE_TEXT)
#undef CUPEL_CODE_TEXT
    };
    size_t count = sizeof texts / sizeof *texts;
    return (size_t)code < count ? texts[code] : "unknown error";
}

const char *cupel_error_format(const cupel_error *err, char *buffer, size_t size) {
    const char *text = err->text[0] ? err->text : cupel_code_text(err->code);
    if (err->file[0] && err->line > 0 && err->column > 0)
        snprintf(buffer, size, "%s:%d:%d: %s", err->file, err->line, err->column, text);
    else if (err->file[0] && err->line > 0)
        snprintf(buffer, size, "%s:%d: %s", err->file, err->line, text);
    else if (err->file[0])
        snprintf(buffer, size, "%s: %s", err->file, text);
    else
        snprintf(buffer, size, "%s", text);
    return buffer;
}
