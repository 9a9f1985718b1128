#include "host_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void host_fixture_start(host_fixture *f, const char *symbol, const char *more) {
    memset(f, 0, sizeof *f);
    strcpy(f->folder, "/tmp/cupel-harness-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/c.yaml", f->folder);
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    fprintf(file,
            "cupel: 1\nid: plus-one\ndims: {N: 1..400}\ninputs: {x: \"f32[N]\"}\noutputs: {y: \"f32[N]\"}\n"
            "ensures: {y: \"x + 1\"}\nsource: {file: %s}\nkernel: {symbol: %s, args: [x, y, N]}\n%s",
            CANDIDATES, symbol, more);
    fclose(file);
    f->arena = cupel_arena_create(0);
    f->contract_arena = cupel_arena_create(0);
    cupel_contracts contracts;
    cupel_error err;
    cupel_code code = cupel_contracts_load(f->path, f->contract_arena, &contracts, &err);
    if (code != CUPEL_OK) print_message("%s\n", err.text);
    assert_int_equal(code, CUPEL_OK);
    f->contract = contracts.items[0];
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
    unlink(f->path);
    rmdir(f->folder);
}

cupel_recipe host_fixture_recipe(const host_fixture *f, int64_t n) {
    cupel_recipe recipe;
    assert_int_equal(cupel_recipe_simple(f->contract, &recipe, NULL), CUPEL_OK);
    recipe.dims[0] = n;
    return recipe;
}
