/* Whatever the text, the answer is a contract or a message with a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contract.h"
#include "philox.h"

enum { MUTATIONS = 3000 };

static const char *const files[] = {"every_key.yaml", "two.cu", "example.cu", "host.yaml"};

static const char *const words[] = {
    "[",    "]",     "{",    "}",       ":",   ": ",  ",",    "\n",
    "\n  ", "\"",    "'",    "*",       "&a",  "(",   ")",    "-",
    "1",    "0",     "1e9",  "N",       "M",   "T",   "x",    "y",
    "keep", "..",    "nan",  "inf",     "f32", "i64", "-1",   "9999999999999999999",
    "#",    "|",     "\t",   "/*",      "*/",  " / ", " % 0", "<< 62",
    "size", "axis=", "sum(", "range: ", "$"};

static int placed_errors, accepted;

static void try_text(const char *name, const char *text, size_t length) {
    cupel_arena *arena = cupel_arena_create(256 * 1024 * 1024);
    cupel_contracts contracts;
    cupel_error err = {0};
    bool yaml = strstr(name, ".yaml") != NULL;
    cupel_code code = cupel_contracts_parse(name, text, length, yaml, arena, &contracts, &err);
    if (code == CUPEL_OK) {
        accepted++;
        for (int i = 0; i < contracts.count; i++) {
            cupel_binding binding;
            assert_int_equal(cupel_binding_ordinary(contracts.items[i], &binding, &err), CUPEL_OK);
            assert_true(cupel_binding_legal(&binding));
        }
    } else {
        if (err.line < 1 || err.column < 1 || !err.text[0] || err.code != code || strcmp(err.file, name) != 0)
            fail_msg("no place: %s:%d:%d: %s\n%.*s", err.file, err.line, err.column, err.text, (int)length,
                     text);
        placed_errors++;
    }
    cupel_arena_free(arena);
}

static char *read_file(const char *name, size_t *length) {
    char path[1000];
    snprintf(path, sizeof path, "%s/valid/%s", CUPEL_GOLDEN, name);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_error err = {0};
    char *text;
    if (cupel_text_read(path, arena, &text, length, &err) != CUPEL_OK) fail_msg("%s", err.text);
    char *copy = malloc(*length);
    memcpy(copy, text, *length);
    cupel_arena_free(arena);
    return copy;
}

static void every_prefix(void **state) {
    (void)state;
    placed_errors = accepted = 0;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        size_t length;
        char *text = read_file(files[f], &length);
        for (size_t n = 0; n <= length; n++) {
            char *prefix = malloc(n ? n : 1); /* of its own size, so that ASan sees a read behind the end */
            memcpy(prefix, text, n);
            try_text(files[f], prefix, n);
            free(prefix);
        }
        free(text);
    }
    assert_true(placed_errors > 1000 && accepted >= 4);
}

static void random_mutations(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(17, 0);
    placed_errors = accepted = 0;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        size_t length;
        char *text = read_file(files[f], &length);
        for (int round = 0; round < MUTATIONS / 4; round++) {
            size_t n = length, room = length + 200;
            char *mutant = malloc(room);
            memcpy(mutant, text, length);
            for (uint64_t k = 1 + cupel_random_below(&random, 3); k > 0; k--) {
                const char *word = words[cupel_random_below(&random, sizeof words / sizeof *words)];
                size_t at = cupel_random_below(&random, n), w = strlen(word);
                size_t drop = cupel_random_below(&random, 4) ? cupel_random_below(&random, 6) : 0;
                if (drop > n - at) drop = n - at;
                if (n - drop + w > room) continue;
                memmove(mutant + at + w, mutant + at + drop, n - at - drop);
                memcpy(mutant + at, word, w);
                n += w - drop;
            }
            try_text(files[f], mutant, n);
            free(mutant);
        }
        free(text);
    }
    assert_true(placed_errors > 500 && accepted > 5);
}

/* With any amount of memory the answer is the contract or an error; the amounts are swept until it suffices.
 */
static void short_memory(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        size_t length, limit = 1024;
        char *text = read_file(files[f], &length);
        int refused = 0;
        for (bool enough = false; !enough; limit += limit / 40 + 256) {
            cupel_arena *arena = cupel_arena_create(limit);
            cupel_contracts contracts;
            cupel_error err = {0};
            bool yaml = strstr(files[f], ".yaml") != NULL;
            cupel_code code = cupel_contracts_parse(files[f], text, length, yaml, arena, &contracts, &err);
            enough = code == CUPEL_OK;
            if (!enough) assert_true(err.code == code && err.text[0]);
            refused += code == CUPEL_MEMORY;
            cupel_arena_free(arena);
            assert_true(limit < 64 * 1024 * 1024);
        }
        assert_true(refused > 20);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix),
        cmocka_unit_test(random_mutations),
        cmocka_unit_test(short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
