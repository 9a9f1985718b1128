/* What a case costs on this GPU, beside what a launch costs by itself: gpu_rates KERNEL.cu.. prints one line
 * a kernel. Two runs a case, as a check makes them, without the oracle. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_device.h"
#include "executor.h"

enum { WARM_UP = 200, REPEATS = 3000, BYTES = 4096 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

/* ---- the floor ---- */

typedef struct floor_test {
    cupel_cuda_device device;
    cupel_cu_pointer base;
    bool copies;
} floor_test;

static int launch_once(floor_test *t) {
    cupel_cuda_device *d = &t->device;
    int status = 0;
    if (t->copies) status = d->api->upload(t->base, d->staging, BYTES, d->stream);
    if (status == 0) status = d->api->launch(d->nothing, 1, 1, 1, 256, 1, 1, 0, d->stream, NULL, NULL);
    if (status == 0 && t->copies) status = d->api->download(d->staging, t->base, BYTES, d->stream);
    if (status == 0) status = d->api->stream_synchronise(d->stream);
    return status;
}

static int measure_floor(floor_test *t, const char *what) {
    static double seconds[REPEATS];
    for (int i = -WARM_UP; i < REPEATS; i++) {
        double begun = now();
        if (launch_once(t) != 0) return 1;
        if (i >= 0) seconds[i] = now() - begun;
    }
    printf("floor\t%s\t%.2f us\n", what, 1e6 * median(seconds, REPEATS));
    return 0;
}

/* ---- a kernel ---- */

static cupel_code measure(const char *path, cupel_arena *arena, const char *cache, cupel_error *err) {
    static double seconds[REPEATS];
    const cupel_executor_options options = {.cache = cache};
    cupel_contracts contracts = {0};
    cupel_executor *executor;
    cupel_recipe recipe;
    cupel_case *c;
    CUPEL_TRY(cupel_contracts_load(path, arena, &contracts, err));
    CUPEL_TRY(cupel_executor_open(cupel_executor_cuda(), contracts.items[0], &options, &executor, err));
    cupel_code code = cupel_recipe_simple(contracts.items[0], &recipe, err);
    if (code == CUPEL_OK) code = cupel_case_materialise(contracts.items[0], &recipe, arena, &c, err);
    cupel_arena *of_run = cupel_arena_create(0);
    for (int i = -WARM_UP; i < REPEATS && code == CUPEL_OK; i++) {
        cupel_observation seen;
        double begun = now();
        cupel_arena_reset(of_run);
        for (int r = 0; r < 2 && code == CUPEL_OK; r++) {
            const cupel_run_request request = {.schedule = (uint64_t)r,
                                               .poison = r == 0 ? CUPEL_POISON_NAN : CUPEL_POISON_FINITE};
            code = cupel_executor_run(executor, c, &request, of_run, &seen, err);
            if (code == CUPEL_OK && seen.outcome != CUPEL_RUN_FINISHED)
                code = cupel_fail(err, CUPEL_WORKER, "%s", seen.text);
        }
        if (i >= 0) seconds[i] = now() - begun;
    }
    cupel_arena_free(of_run);
    cupel_executor_close(executor);
    CUPEL_TRY(code);
    double each = median(seconds, REPEATS);
    printf("case\t%s\t%.2f us\t%.0f a second, two runs each\n", contracts.items[0]->id, 1e6 * each, 1 / each);
    return CUPEL_OK;
}

int main(int argc, char **argv) {
    const char *cache =
        getenv("CUPEL_RATES_CACHE") != NULL ? getenv("CUPEL_RATES_CACHE") : "/tmp/cupel-rates";
    floor_test floor = {0};
    cupel_error err = {0};
    if (cupel_cuda_device_open(&floor.device, cache, &err) != CUPEL_OK ||
        cupel_cuda_device_reserve(&floor.device, BYTES, 0, &floor.base, &err) != CUPEL_OK) {
        fprintf(stderr, "gpu_rates: %s\n", err.text);
        return 3;
    }
    printf("device\t%s, sm_%d\n", floor.device.name, floor.device.architecture);
    int status = measure_floor(&floor, "launch and synchronise");
    floor.copies = true;
    status |= measure_floor(&floor, "copy, launch, copy, synchronise");
    cupel_cuda_device_close(&floor.device);
    for (int i = 1; i < argc && status == 0; i++) {
        cupel_arena *arena = cupel_arena_create(0);
        if (measure(argv[i], arena, cache, &err) != CUPEL_OK) {
            fprintf(stderr, "gpu_rates: %s: %s\n", argv[i], err.text);
            status = 1;
        }
        cupel_arena_free(arena);
    }
    return status;
}
