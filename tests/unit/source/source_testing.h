/* Shared by the tests of the source step: sources given as strings. */
#ifndef SOURCE_TESTING_H
#define SOURCE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source.h"
#include "text.h"

typedef struct fixture {
    cupel_arena *arena;
    char folder[64];
    char path[96];
} fixture;

static inline fixture fixture_open(void) {
    fixture f = {.arena = cupel_arena_create(0)};
    snprintf(f.folder, sizeof f.folder, "/tmp/cupel-source-test-XXXXXX");
    assert_non_null(mkdtemp(f.folder));
    snprintf(f.path, sizeof f.path, "%s/a.cu", f.folder);
    return f;
}

static inline void fixture_close(fixture *f) {
    char command[128];
    cupel_arena_free(f->arena);
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    assert_int_equal(system(command), 0);
}

/* Plainly: nothing here must outlive a crash of the machine. */
static inline void write_file(const char *path, const char *text, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* Loads text as a file of its own. */
static inline cupel_source *fixture_load(fixture *f, const char *text) {
    cupel_source *source = NULL;
    cupel_error err = {0};
    write_file(f->path, text, strlen(text));
    if (cupel_source_load(f->path, NULL, f->arena, &source, &err) != CUPEL_OK) fail_msg("%s", err.text);
    return source;
}

static inline bool holds(const cupel_source *source, const char *text) {
    return strstr(source->text, text) != NULL;
}

#endif
