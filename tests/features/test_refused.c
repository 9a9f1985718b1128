/* What the emulator does not run is refused by name with its line, and a file's own function of such a name
 * is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu_compile.h"
#include "text.h"

static cupel_code compile(const char *path, const char *entry, const char *folder, cupel_error *err) {
    const char *object;
    cupel_source *source;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_source_options options = {0};
    cupel_code code = cupel_source_load(path, &options, arena, &source, err);
    cupel_emu_compile_request request = {
        .source = source, .entry_count = 1, .entries = &entry, .cache = folder};
    if (code == CUPEL_OK) code = cupel_emu_compile(&request, arena, &object, err);
    cupel_arena_free(arena);
    return code;
}

/* The kernel whose head ends at or before the mark's line: the last "__global__ void NAME(" up to there. */
static void kernel_before(const char *text, const char *mark, char *name, size_t size) {
    const char *found = NULL;
    for (const char *at = text; (at = strstr(at, "__global__ void ")) != NULL && at < mark; at++) found = at;
    assert_non_null(found);
    found += strlen("__global__ void ");
    if (strncmp(found, "__cluster_dims__", 16) == 0) found = strchr(found, ')') + 2;
    snprintf(name, size, "%.*s", (int)strcspn(found, "("), found);
}

static void each_is_refused_with_its_line(void **state) {
    (void)state;
    char *text, cache[] = "/tmp/cupel-refused-XXXXXX";
    size_t length;
    cupel_error err = {0};
    const char *path = FEATURES_FOLDER "/refused.cu", *begin = "// refused: ";
    cupel_arena *arena = cupel_arena_create(0);
    assert_int_equal(cupel_text_read(path, arena, &text, &length, &err), CUPEL_OK);
    assert_non_null(mkdtemp(cache));
    int line = 1, count = 0;
    const char *counted = text;
    for (const char *mark = text; (mark = strstr(mark, begin)) != NULL; mark++) {
        char name[64], what[128];
        for (; counted < mark; counted++) line += *counted == '\n';
        kernel_before(text, mark, name, sizeof name);
        const char *says = mark + strlen(begin);
        snprintf(what, sizeof what, "%.*s", (int)strcspn(says, "\n"), says);
        cupel_code code = compile(path, name, cache, &err);
        if (code != CUPEL_UNSUPPORTED || err.line != line || strstr(err.text, what) == NULL)
            fail_msg("%s: code %d, line %d (expected %d): %s (expected %s)", name, (int)code, err.line, line,
                     err.text, what);
        count++;
    }
    assert_true(count >= 18);
    assert_int_equal(rmdir(cache), 0); /* nothing was compiled */
    cupel_arena_free(arena);
}

static void own_functions_of_such_names_are_not(void **state) {
    (void)state;
    static const char source[] = "__device__ unsigned __ballot(unsigned v) { return v + 1; }\n"
                                 "#define __shfl_down(v, d) __shfl_down_sync(0xffffffffu, v, d)\n"
                                 "struct Pool { __device__ unsigned malloc(unsigned n) { return n; } };\n"
                                 "__global__ void k(unsigned *y) { Pool pool; unsigned place[2];\n"
                                 "  unsigned *p = new (place) unsigned(3);\n"
                                 "  y[0] = __ballot(1) + __shfl_down(2u, 1) + pool.malloc(4) + *p; }\n";
    char folder[] = "/tmp/cupel-own-XXXXXX", path[64], command[80];
    cupel_error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/own.cu", folder);
    assert_int_equal(cupel_text_write(path, source, strlen(source), &err), CUPEL_OK);
    if (compile(path, "k", folder, &err) != CUPEL_OK) fail_msg("line %d: %s", err.line, err.text);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_refused_with_its_line),
                                       cmocka_unit_test(own_functions_of_such_names_are_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
