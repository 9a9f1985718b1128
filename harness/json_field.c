#include "json_field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cupel_code refuse(const cupel_json_fields *fields, const char *key, const char *expected,
                         const json_t *found) {
    char *text = found ? json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    cupel_code code = cupel_fail(fields->err, CUPEL_SYNTAX, "%s: '%s': expected %s, found %.60s",
                                 fields->file, key, expected, text ? text : "nothing");
    free(text);
    return code;
}

cupel_code cupel_json_text(const cupel_json_fields *fields, const char *key, bool needed, char *out,
                           size_t size) {
    const json_t *value = json_object_get(fields->object, key);
    const char *text = json_string_value(value);
    char expected[64];
    out[0] = '\0';
    if (!value && !needed) return CUPEL_OK;
    if (!text || (needed && !text[0])) return refuse(fields, key, "a text", value);
    snprintf(expected, sizeof expected, "a text of fewer than %zu bytes", size);
    if (strlen(text) >= size) return refuse(fields, key, expected, value);
    memcpy(out, text, strlen(text) + 1);
    return CUPEL_OK;
}

cupel_code cupel_json_texts(const cupel_json_fields *fields, const char *key, char *rows, size_t width,
                            int max, int *count) {
    const json_t *array = json_object_get(fields->object, key);
    char expected[96];
    *count = 0;
    if (!array) return CUPEL_OK;
    snprintf(expected, sizeof expected, "a list of at most %d texts", max);
    if (!json_is_array(array) || json_array_size(array) > (size_t)max)
        return refuse(fields, key, expected, array);
    snprintf(expected, sizeof expected, "texts of fewer than %zu bytes", width);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *value = json_array_get(array, i);
        const char *text = json_string_value(value);
        if (!text || strlen(text) >= width) return refuse(fields, key, expected, value);
        memcpy(rows + (size_t)(*count)++ * width, text, strlen(text) + 1);
    }
    return CUPEL_OK;
}

static bool read_digits(const char *text, uint64_t *out) {
    if (!text[0] || strspn(text, "0123456789") != strlen(text)) return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

cupel_code cupel_json_number(const cupel_json_fields *fields, const char *key, uint64_t max, uint64_t *out) {
    const json_t *value = json_object_get(fields->object, key);
    char expected[64];
    bool sound = true;
    *out = 0;
    if (!value) return CUPEL_OK;
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        *out = (uint64_t)json_integer_value(value);
    else
        sound = json_is_string(value) && read_digits(json_string_value(value), out);
    snprintf(expected, sizeof expected, "a whole number of 0..%" PRIu64, max);
    return sound && *out <= max ? CUPEL_OK : refuse(fields, key, expected, value);
}

json_t *cupel_json_from_number(uint64_t number) {
    char digits[32];
    if (number <= INT64_MAX) return json_integer((json_int_t)number);
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    return json_string(digits);
}

cupel_code cupel_json_flag(const cupel_json_fields *fields, const char *key, bool *out) {
    const json_t *value = json_object_get(fields->object, key);
    *out = json_is_true(value);
    return !value || json_is_boolean(value) ? CUPEL_OK : refuse(fields, key, "true or false", value);
}
