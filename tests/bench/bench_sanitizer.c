/* What the sanitizer costs: processor time of a kernel's ordinary case under the emulator, plain and compiled
 * for the sanitizer. A clock of ten milliseconds must do, so each is run until it has taken half a second.
 *
 *   bench_sanitizer CACHE FILE.. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "executor.h"

static const double enough = 0.5;

static double processor_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Seconds for one run. */
static cupel_code time_runs(cupel_executor *executor, const cupel_case *c, double *out, cupel_error *err) {
    const cupel_run_request request = {.poison = CUPEL_POISON_NAN};
    cupel_arena *arena = cupel_arena_create(0);
    cupel_observation *seen = calloc(1, sizeof *seen);
    const double start = processor_seconds();
    double seconds = 0;
    int runs = 0;
    cupel_code code = arena && seen ? CUPEL_OK : cupel_fail(err, CUPEL_MEMORY, "no memory for a run");
    for (; code == CUPEL_OK && seconds < enough; runs++) {
        cupel_arena_reset(arena);
        code = cupel_executor_run(executor, c, &request, arena, seen, err);
        if (code == CUPEL_OK && seen->outcome != CUPEL_RUN_FINISHED)
            code = cupel_fail(err, CUPEL_UNABLE, "%s", seen->text);
        seconds = processor_seconds() - start;
    }
    *out = seconds / runs;
    free(seen);
    cupel_arena_free(arena);
    return code;
}

static cupel_code measure(const char *file, const char *cache, cupel_arena *arena, double seconds[2],
                          cupel_error *err) {
    cupel_contracts contracts;
    cupel_recipe recipe;
    cupel_case *c;
    cupel_executor *executors[2] = {NULL, NULL};
    CUPEL_TRY(cupel_contracts_load(file, arena, &contracts, err));
    const cupel_contract *contract = contracts.items[0];
    CUPEL_TRY(cupel_recipe_simple(contract, &recipe, err));
    CUPEL_TRY(cupel_case_materialise(contract, &recipe, arena, &c, err));
    cupel_code code = CUPEL_OK;
    for (int strict = 0; strict < 2 && code == CUPEL_OK; strict++) {
        const cupel_executor_options options = {.cache = cache, .sanitize = strict};
        code = cupel_executor_open(cupel_executor_emu(), contract, &options, &executors[strict], err);
        if (code == CUPEL_OK) code = cupel_executor_prepare(executors[strict], &c->binding, err);
    }
    for (int i = 0; i < 2 && code == CUPEL_OK; i++) code = time_runs(executors[i], c, &seconds[i], err);
    for (int i = 0; i < 2; i++)
        if (executors[i]) cupel_executor_close(executors[i]);
    return code;
}

int main(int argc, char **argv) {
    int failed = argc < 3;
    if (failed) fprintf(stderr, "usage: bench_sanitizer CACHE FILE..\n");
    for (int i = 2; i < argc; i++) {
        cupel_error err = {0};
        char message[1400];
        double seconds[2];
        cupel_arena *arena = cupel_arena_create(0);
        if (measure(argv[i], argv[1], arena, seconds, &err) == CUPEL_OK) {
            printf("%-40s %9.3f ms %9.3f ms %6.1f\n", argv[i], 1e3 * seconds[0], 1e3 * seconds[1],
                   seconds[1] / seconds[0]);
        } else {
            fprintf(stderr, "%s: %s\n", argv[i], cupel_error_format(&err, message, sizeof message));
            failed = 1;
        }
        cupel_arena_free(arena);
    }
    return failed ? 2 : 0;
}
