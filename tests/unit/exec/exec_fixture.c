#include "exec_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "text.h"

cupel_code exec_fixture_open(exec_fixture *x, const char *source, int which) {
    static int number;
    memset(x, 0, sizeof *x);
    x->arena = cupel_arena_create(0);
    x->case_arena = cupel_arena_create(0);
    snprintf(x->path, sizeof x->path, "%s/exec-%d-%d.cu", TEST_BINARY_DIR, (int)getpid(), number++);
    assert_int_equal(cupel_text_write(x->path, source, strlen(source), &x->err), CUPEL_OK);
    cupel_contracts contracts;
    if (cupel_contracts_load(x->path, x->arena, &contracts, &x->err) != CUPEL_OK)
        fail_msg("line %d: %s", x->err.line, x->err.text);
    assert_in_range(which, 0, contracts.count - 1);
    x->contract = contracts.items[which];
    cupel_executor_options options = {.cache = TEST_BINARY_DIR "/cache"};
    cupel_code code = cupel_executor_open(cupel_executor_default(x->contract), x->contract, &options,
                                          &x->executor, &x->err);
    if (code == CUPEL_OK) assert_int_equal(cupel_recipe_simple(x->contract, &x->recipe, &x->err), CUPEL_OK);
    return code;
}

cupel_code exec_fixture_try(exec_fixture *x) {
    cupel_arena_reset(x->case_arena);
    if (cupel_case_materialise(x->contract, &x->recipe, x->case_arena, &x->c, &x->err) != CUPEL_OK)
        fail_msg("%s", x->err.text);
    return cupel_executor_run(x->executor, x->c, &(cupel_run_request){.poison = CUPEL_POISON_NAN},
                              x->case_arena, &x->seen, &x->err);
}

void exec_fixture_run(exec_fixture *x, uint64_t schedule, cupel_poison poison) {
    cupel_arena_reset(x->case_arena);
    if (cupel_case_materialise(x->contract, &x->recipe, x->case_arena, &x->c, &x->err) != CUPEL_OK)
        fail_msg("%s", x->err.text);
    cupel_run_request request = {
        .schedule = schedule, .poison = poison, .history = x->history, .sample = x->sample};
    if (cupel_executor_run(x->executor, x->c, &request, x->case_arena, &x->seen, &x->err) != CUPEL_OK)
        fail_msg("%s:%d: %s", x->err.file, x->err.line, x->err.text);
}

void exec_fixture_dim(exec_fixture *x, const char *name, int64_t value) {
    x->recipe.dims[cupel_contract_dim(x->contract, name)] = value;
}

const void *exec_fixture_output(exec_fixture *x, const char *tensor) {
    int t = cupel_contract_tensor(x->contract, tensor);
    const cupel_case_tensor *of = &x->c->tensors[t];
    void *elements = cupel_arena_alloc(x->case_arena, (size_t)of->count * cupel_format_of(of->type)->size);
    cupel_case_gather(x->c, t, x->seen.buffers[of->buffer].bytes, elements);
    return elements;
}

void exec_fixture_close(exec_fixture *x) {
    cupel_executor_close(x->executor);
    cupel_arena_free(x->case_arena);
    cupel_arena_free(x->arena);
    unlink(x->path);
}
