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

enum {
    DISTURB_MICROSECONDS = 60,
    TOLD_MAX = 320,
    ELSEWHERE = (CUPEL_CUDA_SHIFT_MAX + 1) / 2 /* pages */
};

/* A compiled and loaded set of entries. Few bindings, few sets: a list. */
typedef struct built {
    struct built *next;
    char *key;
    cupel_cu_module module;
    cupel_cuda_code code;
    cupel_cuda_function functions[CUPEL_LAUNCH_MAX]; /* one an entry */
    struct {
        cupel_cu_pointer at;
        size_t size;
    } variables[CUPEL_LAUNCH_MAX * CUPEL_SYMBOL_MAX]; /* that launches fill, launch by launch */
    bool used;                                        /* since it was loaded */
} built;

typedef struct cuda {
    const cupel_contract *contract;
    cupel_arena *arena, *scratch; /* the executor's life, one call's */
    cupel_source *source;
    cupel_guarded *guarded;
    cupel_cuda_device device;
    bool host_sets_variables; /* what device variables hold between calls is the host code's affair */
    built *modules;
    char *cache;
    const char **defines;
    int define_count;
    const char
        *filled[CUPEL_LAUNCH_MAX * CUPEL_SYMBOL_MAX]; /* variables that launches fill, launch by launch */
    int filled_count;
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
    CUPEL_TRY(cupel_source_load(contract->source, &source, x->arena, &x->source, err));
    const char *entries[CUPEL_LAUNCH_MAX];
    for (int l = 0; l < contract->launch_count; l++) entries[l] = contract->launches[l].entry;
    x->filled_count = cupel_launch_plan_filled(contract, x->filled);
    CUPEL_TRY(
        cupel_source_unfilled(x->source, contract->launch_count, entries, x->filled_count, x->filled, err));
    return cupel_source_host_state(x->source, contract->launch_count, entries, &x->host_sets_variables, err);
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
    for (int i = 0; i < x->filled_count; i++) {
        status = x->device.api->module_variable != NULL
                     ? x->device.api->module_variable(&made->variables[i].at, &made->variables[i].size,
                                                      made->module, made->code.variables[i])
                     : CUPEL_CU_INVALID_VALUE;
        if (status != CUPEL_CU_SUCCESS)
            return cupel_fail(err, CUPEL_MISMATCH,
                              "the compiled kernels have no device variable '%s': %s (%d)", x->filled[i],
                              cupel_cuda_api_text(x->device.api, status), status);
    }
    return CUPEL_OK;
}

static cupel_code build(cuda *x, const cupel_entry_set *entries, built **out, cupel_error *err) {
    const char **defines;
    CUPEL_TRY(cupel_launch_plan_defines(x->contract, entries, x->defines, x->define_count, x->arena, &defines,
                                        err));
    cupel_cuda_compile_request request = {.source = x->source,
                                          .option_count = x->contract->options.count,
                                          .options = x->contract->options.items,
                                          .architecture = x->device.architecture,
                                          .define_count = x->define_count,
                                          .defines = defines,
                                          .entry_count = entries->count,
                                          .entries = entries->distinct,
                                          .variable_count = x->filled_count,
                                          .variables = x->filled,
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

/* ---- one call ---- */

/* One call of a run: what is to be launched, in which memory. */
typedef struct call {
    cuda *x;
    const cupel_case *c;
    cupel_poison poison;
    int shift; /* pages */
    bool disturbed;
    built *candidate;
    const cupel_entry_set *entries;
    cupel_launch_plan *plans;
    unsigned char *region;
    size_t size;
    cupel_cu_pointer base;
    off_t told_from; /* end of what standard error held before */
    cupel_observation *out;
} call;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Tensors stand at the same offset of both regions. */
static void relocate(const call *k, const cupel_launch *launch, cupel_launch_plan *plan) {
    for (int i = 0; i < launch->arg_count; i++) {
        unsigned char *at;
        if (launch->args[i].kind != CUPEL_ARG_TENSOR) continue;
        memcpy(&at, plan->arguments.values[i], sizeof at);
        cupel_cu_pointer there = k->base + (cupel_cu_pointer)(at - k->region);
        memcpy(plan->arguments.values[i], &there, sizeof there);
    }
}

/* A launch's first among the variables that are filled. */
static int first_filled(const cuda *x, int launch) {
    int first = 0;
    for (int l = 0; l < launch; l++) first += x->contract->launches[l].symbol_count;
    return first;
}

static cupel_code plan_launches(call *k, cupel_error *err) {
    const cupel_contract *contract = k->x->contract;
    k->plans = cupel_arena_alloc(k->x->scratch, (size_t)(contract->launch_count + 1) * sizeof *k->plans);
    if (k->plans == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (int l = 0; l < contract->launch_count; l++) {
        const cupel_emu_kernel *kernel = k->candidate->functions[k->entries->of_launch[l]].kernel;
        CUPEL_TRY(
            cupel_launch_plan_make(k->c, &contract->launches[l], kernel, k->x->guarded, &k->plans[l], err));
        if (k->plans[l].skipped) continue;
        relocate(k, &contract->launches[l], &k->plans[l]);
        for (int i = 0; i < k->plans[l].symbol_count; i++)
            CUPEL_TRY(cupel_launch_plan_fits(&contract->launches[l], &k->plans[l], i,
                                             k->candidate->variables[first_filled(k->x, l) + i].size, err));
    }
    return CUPEL_OK;
}

/* Queues the copies into the variables that a launch fills, from where their tensors stand on the device. */
static int fill_variables(const call *k, int l) {
    const cupel_launch_plan *plan = &k->plans[l];
    for (int i = 0; i < plan->symbol_count; i++) {
        const cupel_cu_pointer from = k->base + (cupel_cu_pointer)(plan->symbols[i].from - k->region);
        int status = k->x->device.api->copy != NULL
                         ? k->x->device.api->copy(k->candidate->variables[first_filled(k->x, l) + i].at, from,
                                                  plan->symbols[i].bytes, k->x->device.stream)
                         : CUPEL_CU_INVALID_VALUE;
        if (status != CUPEL_CU_SUCCESS) return status;
    }
    return CUPEL_CU_SUCCESS;
}

/* The byte that shared memory is filled with. */
static unsigned char shared_fill(const call *k) {
    return cupel_poison_byte(cupel_poison_of(k->c->recipe == NULL ? 0 : k->c->recipe->poison, k->poison));
}

/* Lays the case out in host memory and sends it to the device. */
static cupel_code load_memory(call *k, cupel_error *err) {
    cupel_cuda_device *d = &k->x->device;
    CUPEL_TRY(cupel_guarded_load(k->x->guarded, k->c, k->poison, err));
    cupel_guarded_region(k->x->guarded, &k->region, &k->size);
    CUPEL_TRY(cupel_cuda_device_reserve(d, k->size, k->shift, &k->base, err));
    CUPEL_TRY(plan_launches(k, err));
    memcpy(d->staging, k->region, k->size);
    int status = d->api->upload(k->base, d->staging, k->size, d->stream);
    if (status == CUPEL_CU_SUCCESS)
        status = cupel_cuda_device_dirty(d, UINT32_C(0x01010101) * shared_fill(k));
    if (status == CUPEL_CU_SUCCESS && k->disturbed)
        status = cupel_cuda_device_disturb(d, DISTURB_MICROSECONDS);
    if (status == CUPEL_CU_SUCCESS) return CUPEL_OK;
    d->spent = true;
    return cupel_fail(err, CUPEL_WORKER, "the GPU does not take the case: %s (%d)",
                      cupel_cuda_api_text(d->api, status), status);
}

/* What the device printed on standard error since the call began: a worker's is a file. */
static void read_told(const call *k, char told[TOLD_MAX]) {
    ssize_t got = k->told_from >= 0 ? pread(STDERR_FILENO, told, TOLD_MAX - 1, k->told_from) : -1;
    told[got > 0 ? got : 0] = '\0';
    told[strcspn(told, "\n")] = '\0';
}

static off_t told_so_far(void) {
    struct stat info;
    return fstat(STDERR_FILENO, &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : -1;
}

static void fault(call *k, const char *entry, int status) {
    char told[TOLD_MAX];
    read_told(k, told);
    cupel_cuda_launch_fault(&k->x->device, entry, status, told, k->out);
}

/* False when the run is over: out says why. */
static bool launch(call *k, int l) {
    cuda *x = k->x;
    int entry = k->entries->of_launch[l];
    const cupel_cuda_kernel *kernel = &k->candidate->code.kernels[entry];
    cupel_cuda_function *function = &k->candidate->functions[entry];
    /* an exchange may carry an addition, or decide who comes first */
    if (!k->candidate->code.atomics_known || kernel->adds_float_atomically || kernel->swaps_atomically)
        k->out->float_atomics = true;
    if (!cupel_cuda_launch_allowed(&x->device, function, &k->plans[l], k->out) ||
        !cupel_cuda_launch_resident(&x->device, function, &k->plans[l], k->out))
        return false;
    int status = fill_variables(k, l);
    if (status == CUPEL_CU_SUCCESS) status = cupel_cuda_launch_start(&x->device, function, &k->plans[l]);
    if (status == CUPEL_CU_SUCCESS) {
        status = cupel_cuda_device_wait(&x->device);
        x->device.spent = status != CUPEL_CU_SUCCESS;
    }
    if (status == CUPEL_CU_SUCCESS) return true;
    fault(k, function->kernel->entry, status);
    return false;
}

static cupel_code make_call(call *k, cupel_error *err) {
    bool any = false;
    memset(k->out, 0, sizeof *k->out);
    CUPEL_TRY(load_memory(k, err));
    k->out->outcome = CUPEL_RUN_FINISHED;
    double begun = now();
    for (int l = 0; l < k->x->contract->launch_count; l++) {
        if (k->plans[l].skipped) continue;
        any = true;
        if (!launch(k, l)) break;
    }
    k->out->seconds = now() - begun;
    if (!any) k->out->outcome = CUPEL_RUN_SKIPPED;
    return CUPEL_OK;
}

/* ---- one run ---- */

/* The module's variables get their first values back. */
static cupel_code renew(cuda *x, built *candidate, cupel_error *err) {
    if (!candidate->code.keeps_state || !candidate->used) return CUPEL_OK;
    candidate->used = false;
    x->device.api->module_unload(candidate->module);
    candidate->module = NULL;
    return load_functions(x, candidate, err);
}

/* After a fault there is nothing to be read. */
static cupel_code read_back(call *k, cupel_error *err) {
    cupel_cuda_device *d = &k->x->device;
    if (d->spent) return CUPEL_OK;
    int status = d->api->download(d->staging, k->base, k->size, d->stream);
    if (status == CUPEL_CU_SUCCESS) status = cupel_cuda_device_wait(d);
    if (status == CUPEL_CU_SUCCESS) {
        memcpy(k->region, d->staging, k->size);
        return CUPEL_OK;
    }
    d->spent = true;
    return cupel_fail(err, CUPEL_WORKER, "the GPU does not give the result back: %s (%d)",
                      cupel_cuda_api_text(d->api, status), status);
}

/* The earlier calls, then the one that is judged; k->out tells of the last one made. */
static cupel_code make_calls(call *k, const cupel_run_request *request, cupel_error *err) {
    const cupel_case *judged = k->c;
    const int shift = k->shift;
    for (int i = 0; i < request->earlier_count; i++) {
        k->c = request->earlier[i].c;
        k->shift = request->earlier[i].elsewhere ? shift + ELSEWHERE : shift;
        CUPEL_TRY(make_call(k, err));
        k->candidate->used = true;
        if (k->out->outcome != CUPEL_RUN_FINISHED && k->out->outcome != CUPEL_RUN_SKIPPED) {
            cupel_executor_tell_earlier(k->out);
            /* the judged call's memory, untouched */
            return cupel_guarded_load(k->x->guarded, judged, k->poison, err);
        }
        if (k->x->host_sets_variables) CUPEL_TRY(renew(k->x, k->candidate, err));
    }
    k->c = judged;
    k->shift = shift;
    CUPEL_TRY(make_call(k, err));
    k->candidate->used = true;
    return read_back(k, err);
}

static cupel_code run_cuda(void *self, const cupel_case *c, const cupel_run_request *request,
                           cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    cuda *x = self;
    cupel_entry_set entries;
    call k = {.x = x,
              .c = c,
              .poison = request->poison,
              .shift =
                  (int)(request->schedule % ELSEWHERE), /* a schedule of its own has addresses of its own */
              .disturbed = request->schedule != 0,
              .entries = &entries,
              .told_from = told_so_far(),
              .out = out};
    CUPEL_TRY(expect_life(x, err));
    cupel_arena_reset(x->scratch);
    CUPEL_TRY(find_module(x, &c->binding, &k.candidate, &entries, err));
    CUPEL_TRY(renew(x, k.candidate, err));
    CUPEL_TRY(make_calls(&k, request, err));
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
                                               .forgets = true,
                                               .hangs = true,
                                               .varies_schedules = true,
                                               .writes_proc = true,
                                               .open = open_cuda,
                                               .prepare = prepare_cuda,
                                               .run = run_cuda,
                                               .coverage = coverage_cuda,
                                               .spent = spent_cuda,
                                               .close = close_cuda};

const cupel_executor_backend *cupel_executor_cuda(void) {
    return &backend;
}
