#include "host_fixture.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void host_fixture_write(const host_fixture *f, const char *name, const char *text) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void write_contract(const host_fixture *f, const char *source, const char *kernel, const char *more) {
    char text[2048];
    snprintf(text, sizeof text,
             "cupel: 1\nid: plus-one\ndims: {N: 1..400}\ninputs: {x: \"f32[N]\"}\noutputs: {y: \"f32[N]\"}\n"
             "ensures: {y: \"x + 1\"}\nsource: {file: %s}\nkernel: %s\n%s",
             source ? "k.c" : CANDIDATES, kernel, more);
    host_fixture_write(f, "c.yaml", text);
    if (source) host_fixture_write(f, "k.c", source);
}

void host_fixture_start_with(host_fixture *f, const char *source, const char *kernel, const char *more) {
    memset(f, 0, sizeof *f);
    strcpy(f->folder, "/tmp/cupel-harness-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/c.yaml", f->folder);
    write_contract(f, source, kernel, more);
    f->arena = cupel_arena_create(0);
    f->contract_arena = cupel_arena_create(0);
    cupel_contracts contracts;
    cupel_error err;
    cupel_code code = cupel_contracts_load(f->path, f->contract_arena, &contracts, &err);
    if (code != CUPEL_OK) print_message("%s\n", err.text);
    assert_int_equal(code, CUPEL_OK);
    f->contract = contracts.items[0];
}

void host_fixture_start(host_fixture *f, const char *symbol, const char *more) {
    char kernel[256];
    snprintf(kernel, sizeof kernel, "{symbol: %s, args: [x, y, N]}", symbol);
    host_fixture_start_with(f, NULL, kernel, more);
}

void host_fixture_open(host_fixture *f, double seconds, uint64_t memory) {
    cupel_supervisor_options options = {.exec = {.cache = f->folder},
                                        .contract_path = f->path,
                                        .memory_limit = memory,
                                        .seconds_limit = seconds};
    cupel_error err;
    cupel_code code = cupel_supervisor_open(f->contract, &options, &f->supervisor, &err);
    if (code != CUPEL_OK) print_message("%s\n", err.text);
    assert_int_equal(code, CUPEL_OK);
}

void host_fixture_stop(host_fixture *f) {
    cupel_supervisor_close(f->supervisor);
    cupel_arena_free(f->arena);
    cupel_arena_free(f->contract_arena);
    DIR *folder = opendir(f->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder) closedir(folder);
    rmdir(f->folder);
}

cupel_recipe host_fixture_recipe(const host_fixture *f, int64_t n) {
    cupel_recipe recipe;
    assert_int_equal(cupel_recipe_simple(f->contract, &recipe, NULL), CUPEL_OK);
    recipe.dims[0] = n;
    return recipe;
}
