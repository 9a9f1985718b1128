/* A GPU as an executor: compiles what a binding needs with NVRTC, lays memory out as the other executors do
 * and mirrors it on the device at another base, launches, and reads it back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cuda_compile.h"
#include "cuda_launch.h"
#include "executor.h"

enum { DISTURB_MICROSECONDS = 60, TOLD_MAX = 320 };

/* A compiled and loaded set of entries. Few bindings, few sets: a list. */
typedef struct built {
    struct built *next;
    char *key;
    cupel_cu_module module;
    cupel_cuda_code code;
    cupel_cuda_function functions[CUPEL_LAUNCH_MAX]; /* one an entry */
} built;

typedef struct cuda {
    const cupel_contract *contract;
    cupel_arena *arena, *scratch; /* the executor's life, one call's */
    cupel_source *source;
    cupel_guarded *guarded;
    cupel_cuda_device device;
    built *modules;
    char *cache;
    const char **defines;
    int define_count;
} cuda;

static void close_cuda(void *self) {
    cuda *x = self;
    while (x->modules != NULL) {
        built *first = x->modules;
        x->modules = first->next;
        if (first->module != NULL) x->device.api->module_unload(first->module);
        free(first->key);
        free(first);
    }
    cupel_cuda_device_close(&x->device);
    cupel_guarded_free(x->guarded);
    cupel_arena_free(x->scratch);
    cupel_arena_free(x->arena);
    free(x);
}

/* ---- opening ---- */

static cupel_code join(cuda *x, const char *const *a, int a_count, const char *const *b, int b_count,
                       const char ***out, cupel_error *err) {
    const char **all = cupel_arena_alloc(x->arena, (size_t)(a_count + b_count + 1) * sizeof *all);
    if (all == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (int i = 0; i < a_count + b_count; i++) {
        const char *text = i < a_count ? a[i] : b[i - a_count];
        all[i] = cupel_arena_text(x->arena, text, strlen(text));
        if (all[i] == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    }
    *out = all;
    return CUPEL_OK;
}

static cupel_code open_source(cuda *x, const cupel_executor_options *options, cupel_error *err) {
    const cupel_contract *contract = x->contract;
    const char **includes;
    CUPEL_TRY(join(x, contract->source_defines, contract->source_define_count, options->defines,
                   options->define_count, &x->defines, err));
    x->define_count = contract->source_define_count + options->define_count;
    CUPEL_TRY(join(x, contract->source_includes, contract->source_include_count, options->includes,
                   options->include_count, &includes, err));
    cupel_source_options source = {.include_count = contract->source_include_count + options->include_count,
                                   .includes = includes,
                                   .for_device = true};
    return cupel_source_load(contract->source, &source, x->arena, &x->source, err);
}

static cupel_code open_parts(cuda *x, const cupel_executor_options *options, cupel_error *err) {
    x->arena = cupel_arena_create(0);
    x->scratch = cupel_arena_create(0);
    x->guarded = cupel_guarded_create();
    if (x->arena == NULL || x->scratch == NULL || x->guarded == NULL)
        return cupel_fail(err, CUPEL_MEMORY, "no memory for the executor");
    x->cache = options->cache != NULL ? cupel_arena_text(x->arena, options->cache, strlen(options->cache))
                                      : cupel_arena_printf(x->arena, "/tmp/cupel-%ld", (long)getuid());
    if (x->cache == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for the executor");
    CUPEL_TRY(open_source(x, options, err));
    return cupel_cuda_device_open(&x->device, x->cache, err);
}

static cupel_code open_cuda(const cupel_contract *contract, const cupel_executor_options *options,
                            void **self, cupel_error *err) {
    static const cupel_executor_options defaults = {0};
    if (options == NULL) options = &defaults;
    if (contract->host)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "a host function does not run on a GPU; use --on host");
    cuda *x = calloc(1, sizeof *x);
    if (x == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for the executor");
    x->contract = contract;
    cupel_code code = open_parts(x, options, err);
    if (code != CUPEL_OK) {
        close_cuda(x);
        return code;
    }
    *self = x;
    return CUPEL_OK;
}

/* ---- compiled sets ---- */

static cupel_code load_functions(cuda *x, built *made, cupel_error *err) {
    int status = x->device.api->module_load(&made->module, made->code.cubin);
    if (status != CUPEL_CU_SUCCESS)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "the GPU does not load the compiled kernel: %s (%d)",
                          cupel_cuda_api_text(x->device.api, status), status);
    for (int i = 0; i < made->code.kernel_count; i++) {
        const cupel_cuda_kernel *kernel = &made->code.kernels[i];
        CUPEL_TRY(cupel_cuda_launch_find(&x->device, made->module, kernel->lowered, &kernel->kernel,
                                         &made->functions[i], err));
    }
    return CUPEL_OK;
}

static cupel_code build(cuda *x, const cupel_entry_set *entries, built **out, cupel_error *err) {
    cupel_cuda_compile_request request = {.source = x->source,
                                          .architecture = x->device.architecture,
                                          .define_count = x->define_count,
                                          .defines = x->defines,
                                          .entry_count = entries->count,
                                          .entries = entries->distinct,
                                          .cache = x->cache};
    built *made = calloc(1, sizeof *made);
    if (made == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    made->key = strdup(entries->key);
    cupel_code code = made->key != NULL ? CUPEL_OK : cupel_fail(err, CUPEL_MEMORY, "out of memory");
    if (code == CUPEL_OK) code = cupel_cuda_compile(&request, x->arena, &made->code, err);
    if (code == CUPEL_OK) code = load_functions(x, made, err);
    if (code != CUPEL_OK) {
        if (made->module != NULL) x->device.api->module_unload(made->module);
        free(made->key);
        free(made);
        return code;
    }
    made->next = x->modules;
    x->modules = *out = made;
    return CUPEL_OK;
}

/* The module of a binding, built at need, arguments checked. */
static cupel_code find_module(cuda *x, const cupel_binding *binding, built **out, cupel_entry_set *entries,
                              cupel_error *err) {
    CUPEL_TRY(cupel_launch_plan_entries(binding, x->scratch, entries, err));
    built *found = x->modules;
    while (found != NULL && strcmp(found->key, entries->key) != 0) found = found->next;
    if (found == NULL) CUPEL_TRY(build(x, entries, &found, err));
    *out = found;
    for (int l = 0; l < x->contract->launch_count; l++)
        CUPEL_TRY(cupel_arguments_check(binding, &x->contract->launches[l],
                                        found->functions[entries->of_launch[l]].kernel, err));
    return CUPEL_OK;
}

static cupel_code expect_life(const cuda *x, cupel_error *err) {
    if (!x->device.spent) return CUPEL_OK;
    return cupel_fail(err, CUPEL_WORKER, "a fault has ended this process's use of the GPU");
}

static cupel_code prepare_cuda(void *self, const cupel_binding *binding, cupel_error *err) {
    cuda *x = self;
    built *found;
    cupel_entry_set entries;
    CUPEL_TRY(expect_life(x, err));
    cupel_arena_reset(x->scratch);
    return find_module(x, binding, &found, &entries, err);
}

/* ---- one run ---- */

typedef struct run {
    cuda *x;
    const cupel_case *c;
    const cupel_run_request *request;
    built *candidate;
    cupel_entry_set entries;
    cupel_launch_plan *plans;
    unsigned char *region;
    size_t size;
    cupel_cu_pointer base;
    off_t told_from; /* end of what standard error held before */
    cupel_observation *out;
} run;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Tensors stand at the same offset of both regions. */
static void relocate(const run *r, const cupel_launch *launch, cupel_launch_plan *plan) {
    for (int i = 0; i < launch->arg_count; i++) {
        unsigned char *at;
        if (launch->args[i].kind != CUPEL_ARG_TENSOR) continue;
        memcpy(&at, plan->arguments.values[i], sizeof at);
        cupel_cu_pointer there = r->base + (cupel_cu_pointer)(at - r->region);
        memcpy(plan->arguments.values[i], &there, sizeof there);
    }
}

/* Lays the case out in host memory and sends it to the device. A schedule of its own has addresses of its
 * own. */
static cupel_code load_memory(run *r, cupel_error *err) {
    cuda *x = r->x;
    int shift = (int)(r->request->schedule % (CUPEL_CUDA_SHIFT_MAX + 1));
    CUPEL_TRY(cupel_guarded_load(x->guarded, r->c, r->request->poison, err));
    cupel_guarded_region(x->guarded, &r->region, &r->size);
    CUPEL_TRY(cupel_cuda_device_reserve(&x->device, r->size, shift, &r->base, err));
    for (int l = 0; l < x->contract->launch_count; l++) {
        const cupel_launch *launch = &x->contract->launches[l];
        CUPEL_TRY(cupel_launch_plan_make(r->c, launch,
                                         r->candidate->functions[r->entries.of_launch[l]].kernel, x->guarded,
                                         &r->plans[l], err));
        if (!r->plans[l].skipped) relocate(r, launch, &r->plans[l]);
    }
    memcpy(x->device.staging, r->region, r->size);
    int status = x->device.api->upload(r->base, x->device.staging, r->size, x->device.stream);
    if (status == CUPEL_CU_SUCCESS)
        status =
            cupel_cuda_device_dirty(&x->device, r->request->poison == CUPEL_POISON_NAN ? 0xffffffffu : 0u);
    if (status == CUPEL_CU_SUCCESS && r->request->schedule != 0)
        status = cupel_cuda_device_disturb(&x->device, DISTURB_MICROSECONDS);
    if (status == CUPEL_CU_SUCCESS) return CUPEL_OK;
    x->device.spent = true;
    return cupel_fail(err, CUPEL_WORKER, "the GPU does not take the case: %s (%d)",
                      cupel_cuda_api_text(x->device.api, status), status);
}

/* What the device printed on standard error since the run began: a worker's is a file. */
static void read_told(const run *r, char told[TOLD_MAX]) {
    ssize_t got = r->told_from >= 0 ? pread(STDERR_FILENO, told, TOLD_MAX - 1, r->told_from) : -1;
    told[got > 0 ? got : 0] = '\0';
    told[strcspn(told, "\n")] = '\0';
}

static off_t told_so_far(void) {
    struct stat info;
    return fstat(STDERR_FILENO, &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : -1;
}

static void fault(run *r, const char *entry, int status) {
    char told[TOLD_MAX];
    read_told(r, told);
    cupel_cuda_launch_fault(&r->x->device, entry, status, told, r->out);
}

/* False when the run is over: out says why. */
static bool launch(run *r, int l) {
    cuda *x = r->x;
    int entry = r->entries.of_launch[l];
    const cupel_cuda_kernel *kernel = &r->candidate->code.kernels[entry];
    cupel_cuda_function *function = &r->candidate->functions[entry];
    /* an exchange may carry an addition, or decide who comes first */
    if (!r->candidate->code.atomics_known || kernel->adds_float_atomically || kernel->swaps_atomically)
        r->out->float_atomics = true;
    if (!cupel_cuda_launch_allowed(&x->device, function, &r->plans[l], r->out)) return false;
    int status = cupel_cuda_launch_start(&x->device, function, &r->plans[l]);
    if (status != CUPEL_CU_SUCCESS) {
        fault(r, function->kernel->entry, status);
        return false;
    }
    status = cupel_cuda_device_wait(&x->device);
    if (status == CUPEL_CU_SUCCESS) return true;
    x->device.spent = true;
    fault(r, function->kernel->entry, status);
    return false;
}

static void launch_all(run *r) {
    bool any = false;
    r->out->outcome = CUPEL_RUN_FINISHED;
    for (int l = 0; l < r->x->contract->launch_count; l++) {
        if (r->plans[l].skipped) continue;
        any = true;
        if (!launch(r, l)) return;
    }
    if (!any) r->out->outcome = CUPEL_RUN_SKIPPED;
}

/* After a fault there is nothing to be read. */
static cupel_code read_back(run *r, cupel_error *err) {
    cupel_cuda_device *d = &r->x->device;
    if (d->spent) return CUPEL_OK;
    int status = d->api->download(d->staging, r->base, r->size, d->stream);
    if (status == CUPEL_CU_SUCCESS) status = cupel_cuda_device_wait(d);
    if (status == CUPEL_CU_SUCCESS) {
        memcpy(r->region, d->staging, r->size);
        return CUPEL_OK;
    }
    d->spent = true;
    return cupel_fail(err, CUPEL_WORKER, "the GPU does not give the result back: %s (%d)",
                      cupel_cuda_api_text(d->api, status), status);
}

static cupel_code run_cuda(void *self, const cupel_case *c, const cupel_run_request *request,
                           cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    cuda *x = self;
    run r = {.x = x, .c = c, .request = request, .out = out, .told_from = told_so_far()};
    CUPEL_TRY(expect_life(x, err));
    cupel_arena_reset(x->scratch);
    memset(out, 0, sizeof *out);
    CUPEL_TRY(find_module(x, &c->binding, &r.candidate, &r.entries, err));
    r.plans = cupel_arena_alloc(x->scratch, (size_t)(x->contract->launch_count + 1) * sizeof *r.plans);
    if (r.plans == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(load_memory(&r, err));
    double begun = now();
    launch_all(&r);
    out->seconds = now() - begun;
    CUPEL_TRY(read_back(&r, err));
    return cupel_guarded_collect(x->guarded, c, arena, out, err);
}

static const uint8_t *coverage_cuda(void *self, size_t *count) {
    (void)self;
    *count = 0;
    return NULL;
}

static bool spent_cuda(const void *self) {
    return ((const cuda *)self)->device.spent;
}

static const cupel_executor_backend backend = {.name = "cuda",
                                               .sees_atomics = true,
                                               .contains_faults = true,
                                               .hangs = true,
                                               .open = open_cuda,
                                               .prepare = prepare_cuda,
                                               .run = run_cuda,
                                               .coverage = coverage_cuda,
                                               .spent = spent_cuda,
                                               .close = close_cuda};

const cupel_executor_backend *cupel_executor_cuda(void) {
    return &backend;
}
