/* Fields of a JSON object that people may have edited: each has its type, or is refused with file, key, what
 * was expected and what was found. Absent fields give a default unless they are needed. */
#ifndef CUPEL_JSON_FIELD_H
#define CUPEL_JSON_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

typedef struct cupel_json_fields {
    const json_t *object;
    const char *file;
    cupel_error *err;
} cupel_json_fields;

/* A text of fewer than size bytes. needed: it is there, and not empty; else empty where it is absent. */
CUPEL_MUST_USE cupel_code cupel_json_text(const cupel_json_fields *fields, const char *key, bool needed,
                                          char *out, size_t size);

/* At most max texts, into rows of width bytes. */
CUPEL_MUST_USE cupel_code cupel_json_texts(const cupel_json_fields *fields, const char *key, char *rows,
                                           size_t width, int max, int *count);

/* A whole number of 0..max, 0 where it is absent. JSON's integers end at 2^63 - 1 here: a larger one is a
 * text of digits. */
CUPEL_MUST_USE cupel_code cupel_json_number(const cupel_json_fields *fields, const char *key, uint64_t max,
                                            uint64_t *out);
/* The value that cupel_json_number reads. */
json_t *cupel_json_from_number(uint64_t number);

/* true or false; false where it is absent. */
CUPEL_MUST_USE cupel_code cupel_json_flag(const cupel_json_fields *fields, const char *key, bool *out);

#endif
