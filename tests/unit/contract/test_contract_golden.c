/* golden/invalid holds one file a kind of error, each with its message in a file NAME.expected beside it;
 * golden/valid holds contracts that must be accepted. Where a message quotes what it found, the quotation
 * must stand at the place that it names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "contract.h"

enum { LEAST_INVALID = 200, LEAST_VALID = 4 };

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static char *read_file(cupel_arena *arena, const char *folder, const char *name, size_t *length) {
    cupel_error err = {0};
    char *text;
    const char *path = cupel_arena_printf(arena, "%s/%s/%s", CUPEL_GOLDEN, folder, name);
    if (cupel_text_read(path, arena, &text, length, &err) != CUPEL_OK) fail_msg("%s", err.text);
    return text;
}

static cupel_code parse(cupel_arena *arena, const char *folder, const char *name, cupel_error *err) {
    size_t length;
    cupel_contracts contracts;
    const char *text = read_file(arena, folder, name, &length);
    return cupel_contracts_parse(name, text, length, ends_with(name, ".yaml"), arena, &contracts, err);
}

/* Calls check for every contract file of a folder; returns their number. */
static int for_each(const char *folder, void (*check)(cupel_arena *arena, const char *name)) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", CUPEL_GOLDEN, folder);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!ends_with(entry->d_name, ".yaml") && !ends_with(entry->d_name, ".cu")) continue;
        cupel_arena *arena = cupel_arena_create(0);
        check(arena, entry->d_name);
        cupel_arena_free(arena);
        count++;
    }
    closedir(dir);
    return count;
}

static void check_message(cupel_arena *arena, const char *name) {
    cupel_error err = {0};
    char message[2000];
    size_t length;
    const char *dot = strrchr(name, '.');
    char *expected = read_file(arena, "invalid",
                               cupel_arena_printf(arena, "%.*s.expected", (int)(dot - name), name), &length);
    while (length > 0 && expected[length - 1] == '\n') expected[--length] = '\0';
    cupel_code code = parse(arena, "invalid", name, &err);
    if (code == CUPEL_OK) fail_msg("%s was accepted", name);
    assert_int_equal(code, err.code);
    /* the exit status of a contract error hangs on it */
    assert_true(code == CUPEL_CONTRACT || code == CUPEL_SYNTAX || code == CUPEL_RANGE);
    assert_string_equal(cupel_error_format(&err, message, sizeof message), expected);
}

/* The text of a file from line and column (in characters) on. */
static const char *text_at(const char *text, int line, int column) {
    for (; line > 1; line--) {
        text = strchr(text, '\n');
        if (!text) return "";
        text++;
    }
    for (; column > 1 && *text && *text != '\n'; column--) do
            text++;
        while (((unsigned char)*text & 0xC0) == 0x80);
    return text;
}

static void check_place(cupel_arena *arena, const char *name) {
    cupel_error err = {0};
    size_t length;
    const char *text = read_file(arena, "invalid", name, &length);
    assert_int_not_equal(parse(arena, "invalid", name, &err), CUPEL_OK);
    assert_true(err.line >= 1 && err.column >= 1);
    assert_string_equal(err.file, name);
    const char *found = strstr(err.text, "found '");
    /* the second contract with an id is named as a whole, a wrong keyword by its value */
    if (!found || strncmp(name, "comment_same_id", 15) == 0 || strncmp(name, "ensures_bad_keyword", 19) == 0)
        return;
    found += 7;
    const char *end = strchr(found, '\'');
    assert_non_null(end);
    const char *there = text_at(text, err.line, err.column);
    if (strncmp(there, found, (size_t)(end - found)) != 0)
        fail_msg("%s:%d:%d is not at: %s", name, err.line, err.column, err.text);
}

static void check_valid(cupel_arena *arena, const char *name) {
    cupel_error err = {0};
    char message[2000];
    if (parse(arena, "valid", name, &err) != CUPEL_OK)
        fail_msg("%s", cupel_error_format(&err, message, sizeof message));
}

static void messages(void **state) {
    (void)state;
    assert_true(for_each("invalid", check_message) >= LEAST_INVALID);
}

static void places(void **state) {
    (void)state;
    assert_true(for_each("invalid", check_place) >= LEAST_INVALID);
}

static void valid_contracts(void **state) {
    (void)state;
    assert_true(for_each("valid", check_valid) >= LEAST_VALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages),
        cmocka_unit_test(places),
        cmocka_unit_test(valid_contracts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
