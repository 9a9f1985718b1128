/* The emulator as an executor: compiles what a binding needs, lays memory out, evaluates and runs the
 * launches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "emu_compile.h"
#include "emu_runtime.h"
#include "emu_sample.h"
#include "emu_watch.h"
#include "executor.h"
#include "guarded.h"
#include "initialised.h"
#include "launch_plan.h"

_Static_assert((int)CUPEL_WATCH_VALUES == (int)CUPEL_EMU_WATCH_VALUES, "one history of stores");

/* A compiled and loaded set of entries. Few bindings, few sets: a list. */
typedef struct built {
    struct built *next;
    char *key; /* the entries, a line each */
    bool fused;
    cupel_emu_module *module;
    bool careful; /* the canonical schedule has to wait at shared memory */
    bool whole;   /* its blocks work together: none may be left out */
} built;

typedef struct emu {
    const cupel_contract *contract;
    cupel_arena *arena, *scratch; /* the executor's life, one call's */
    cupel_source *source;
    cupel_guarded *guarded, *elsewhere; /* elsewhere: buffers of earlier calls at other addresses */
    cupel_initialised initialised;
    bool host_sets_variables; /* what device variables hold between calls is the host code's affair */
    built *modules;
    char *cache;
    const char *objects; /* folder of objects that were built before, or NULL */
    const char **defines;
    int define_count;
    uint64_t step_limit;
    bool debug, strict;
    cupel_watch *watch;
    uint8_t *coverage;
    size_t coverage_capacity;
} emu;

static void close_emu(void *self) {
    emu *e = self;
    while (e->modules != NULL) {
        built *first = e->modules;
        e->modules = first->next;
        cupel_emu_module_close(first->module);
        free(first->key);
        free(first);
    }
    cupel_initialised_free(&e->initialised);
    cupel_guarded_free(e->guarded);
    cupel_guarded_free(e->elsewhere);
    cupel_arena_free(e->scratch);
    cupel_arena_free(e->arena);
    free(e->coverage);
    free(e);
}

static cupel_code join(emu *e, const char *const *a, int a_count, const char *const *b, int b_count,
                       const char ***out, cupel_error *err) {
    const char **all = cupel_arena_alloc(e->arena, (size_t)(a_count + b_count + 1) * sizeof *all);
    if (all == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (int i = 0; i < a_count; i++) all[i] = cupel_arena_text(e->arena, a[i], strlen(a[i]));
    for (int i = 0; i < b_count; i++) all[a_count + i] = cupel_arena_text(e->arena, b[i], strlen(b[i]));
    *out = all;
    return CUPEL_OK;
}

static cupel_code open_source(emu *e, const cupel_executor_options *options, cupel_error *err) {
    const cupel_contract *contract = e->contract;
    const char **includes;
    CUPEL_TRY(join(e, contract->source_defines, contract->source_define_count, options->defines,
                   options->define_count, &e->defines, err));
    e->define_count = contract->source_define_count + options->define_count;
    CUPEL_TRY(join(e, contract->source_includes, contract->source_include_count, options->includes,
                   options->include_count, &includes, err));
    cupel_source_options source = {.include_count = contract->source_include_count + options->include_count,
                                   .includes = includes};
    CUPEL_TRY(cupel_source_load(contract->source, &source, e->arena, &e->source, err));
    const char *entries[CUPEL_LAUNCH_MAX];
    for (int l = 0; l < contract->launch_count; l++) entries[l] = contract->launches[l].entry;
    const char *filled[CUPEL_LAUNCH_MAX * CUPEL_SYMBOL_MAX];
    const int filled_count = cupel_launch_plan_filled(contract, filled);
    CUPEL_TRY(cupel_source_unfilled(e->source, contract->launch_count, entries, filled_count, filled, err));
    return cupel_source_host_state(e->source, contract->launch_count, entries, &e->host_sets_variables, err);
}

static cupel_code open_emu(const cupel_contract *contract, const cupel_executor_options *options, void **self,
                           cupel_error *err) {
    static const cupel_executor_options defaults = {0};
    if (options == NULL) options = &defaults;
    if (contract->host)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "a host function is not emulated; use --on host");
    emu *e = calloc(1, sizeof *e);
    if (e == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for the emulator");
    e->contract = contract;
    e->arena = cupel_arena_create(0);
    e->scratch = cupel_arena_create(0);
    e->guarded = cupel_guarded_create();
    e->elsewhere = cupel_guarded_create();
    e->step_limit = options->step_limit;
    e->objects = getenv("CUPEL_OBJECTS");
    if (e->objects != NULL && e->objects[0] == '\0') e->objects = NULL;
    e->debug = options->debug;
    e->strict = options->sanitize;
    e->watch = options->watch;
    cupel_code code = CUPEL_OK;
    if (e->arena == NULL || e->scratch == NULL || e->guarded == NULL || e->elsewhere == NULL)
        code = cupel_fail(err, CUPEL_MEMORY, "no memory for the emulator");
    if (code == CUPEL_OK) {
        e->cache = options->cache != NULL ? cupel_arena_text(e->arena, options->cache, strlen(options->cache))
                                          : cupel_arena_printf(e->arena, "/tmp/cupel-%ld", (long)getuid());
        if (e->cache == NULL) code = cupel_fail(err, CUPEL_MEMORY, "no memory for the emulator");
    }
    if (code == CUPEL_OK) code = open_source(e, options, err);
    if (code != CUPEL_OK) {
        close_emu(e);
        return code;
    }
    *self = e;
    return CUPEL_OK;
}

/* ---- compiled sets ---- */

static cupel_code build(emu *e, const cupel_entry_set *entries, bool fused, built **out, cupel_error *err) {
    const char **defines;
    CUPEL_TRY(cupel_launch_plan_defines(e->contract, entries, e->defines, e->define_count, e->scratch,
                                        &defines, err));
    cupel_emu_compile_request request = {.source = e->source,
                                         .define_count = e->define_count,
                                         .defines = defines,
                                         .entry_count = entries->count,
                                         .entries = entries->distinct,
                                         .objects = e->objects,
                                         .cache = e->cache,
                                         .fused = fused,
                                         .fast_functions = e->contract->options.fast_functions,
                                         .debug = e->debug,
                                         .strict = e->strict};
    const char *path;
    CUPEL_TRY(cupel_emu_compile(&request, e->scratch, &path, err));
    built *made = calloc(1, sizeof *made);
    if (made != NULL) made->fused = fused;
    if (made == NULL || (made->key = strdup(entries->key)) == NULL) {
        free(made);
        return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    }
    cupel_code code = cupel_emu_module_load(path, &made->module, err);
    if (code != CUPEL_OK) {
        free(made->key);
        free(made);
        return code;
    }
    built **last = &e->modules; /* kept in order of building: coverage is laid out in this order */
    while (*last != NULL) last = &(*last)->next;
    *last = *out = made;
    return CUPEL_OK;
}

/* The build that the contract asks for; else the one that is wanted, where both can be had. The sanitizer
 * judges no values. */
static bool fuses(const emu *e, bool wanted) {
    const cupel_fmad said = e->contract->options.fmad;
    if (said != CUPEL_FMAD_UNSAID) return said == CUPEL_FMAD_ON;
    return wanted && !e->objects && !e->strict && __builtin_cpu_supports("fma");
}

/* The module of a binding, built at need, and the kernel of each launch, arguments checked. */
static cupel_code find_module(emu *e, const cupel_binding *binding, built **out,
                              const cupel_emu_kernel *kernels[CUPEL_LAUNCH_MAX], cupel_error *err) {
    cupel_entry_set entries;
    const bool fused = fuses(e, binding->fused);
    CUPEL_TRY(cupel_launch_plan_entries(binding, e->scratch, &entries, err));
    built *found = e->modules;
    while (found != NULL && (found->fused != fused || strcmp(found->key, entries.key) != 0))
        found = found->next;
    if (found == NULL) CUPEL_TRY(build(e, &entries, fused, &found, err));
    *out = found;
    for (int l = 0; l < e->contract->launch_count; l++) {
        const cupel_launch *launch = &e->contract->launches[l];
        const char *entry = entries.distinct[entries.of_launch[l]];
        kernels[l] = cupel_emu_module_kernel(found->module, entry);
        if (kernels[l] == NULL)
            return cupel_fail_span(err, CUPEL_MISMATCH, launch->place, "the source has no kernel '%s'",
                                   entry);
        CUPEL_TRY(cupel_arguments_check(binding, launch, kernels[l], err));
        for (int i = 0; i < launch->symbol_count; i++) {
            void *start;
            size_t size;
            if (!cupel_emu_module_variable(found->module, launch->symbols[i].name, &start, &size))
                return cupel_fail_span(
                    err, CUPEL_MISMATCH, launch->symbols[i].place,
                    "the kernels use no device variable '%s' that can be filled here (one that is "
                    "static counts as known to the compiler)",
                    launch->symbols[i].name);
        }
    }
    return CUPEL_OK;
}

static cupel_code prepare_emu(void *self, const cupel_binding *binding, cupel_error *err) {
    emu *e = self;
    built *found;
    const cupel_emu_kernel *kernels[CUPEL_LAUNCH_MAX];
    cupel_arena_reset(e->scratch);
    return find_module(e, binding, &found, kernels, err);
}

/* ---- launches ---- */

/* Enough for any kernel whose work is a few thousand steps for each element and thread; a hang costs about a
 * second. */
static uint64_t steps_for(const cupel_case *c, const cupel_launch_plan *plans, int count) {
    double threads = 0;
    for (int l = 0; l < count; l++) {
        double product = 1;
        for (int i = 0; i < 3; i++) product *= (double)plans[l].grid[i] * (double)plans[l].block[i];
        if (!plans[l].skipped && product > 0) threads += product;
    }
    double steps = 5e7 + 5e3 * ((double)c->element_count + (threads < 1e8 ? threads : 1e8));
    return (uint64_t)steps;
}

static int locate(const void *self, const void *address, int64_t *offset) {
    return cupel_guarded_locate(self, address, offset);
}

/* One call of a run: what is to be launched, in which memory. */
typedef struct call {
    const cupel_case *c;
    cupel_guarded *memory;
    const cupel_emu_kernel *const *kernels;
    const built *candidate;
    unsigned needs;        /* of cupel_emu_run_begin */
    bool last;             /* the one that is judged */
    uint32_t sample_count; /* of its blocks; 0: all are run */
    uint64_t sample[CUPEL_EMU_SAMPLE_MAX];
} call;

static cupel_code plan_call(emu *e, const call *call, cupel_launch_plan **out, cupel_error *err) {
    *out = cupel_arena_alloc(e->scratch, (size_t)e->contract->launch_count * sizeof **out);
    if (*out == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (int l = 0; l < e->contract->launch_count; l++) {
        const cupel_launch *launch = &e->contract->launches[l];
        cupel_launch_plan *plan = &(*out)[l];
        CUPEL_TRY(cupel_launch_plan_make(call->c, launch, call->kernels[l], call->memory, plan, err));
        for (int i = 0; i < launch->symbol_count && !plan->skipped; i++) {
            void *start;
            size_t size = 0;
            (void)cupel_emu_module_variable(call->candidate->module, launch->symbols[i].name, &start, &size);
            CUPEL_TRY(cupel_launch_plan_fits(launch, plan, i, size, err));
        }
    }
    return CUPEL_OK;
}

/* The variables that a launch gives their content, which fits. */
static void fill_variables(const call *call, const cupel_launch *launch, const cupel_launch_plan *plan) {
    for (int i = 0; i < plan->symbol_count; i++) {
        void *start;
        size_t size;
        if (cupel_emu_module_variable(call->candidate->module, launch->symbols[i].name, &start, &size))
            cupel_emu_run_fill(start, plan->symbols[i].from, plan->symbols[i].bytes);
    }
}

/* -ftz=true: the processor's own mode. It knows no difference between float and double, of which a device
 * never flushes the latter: a case with doubles is run without, which is more exact than it need be. */
static bool flushes(const call *call) {
    if (!call->c->contract->options.flushes) return false;
    for (int t = 0; t < call->c->tensor_count; t++)
        if (call->c->tensors[t].type == CUPEL_F64) return false;
    return true;
}

static uint32_t swap_mode(uint32_t mode) {
    uint32_t before;
    __asm__ volatile("stmxcsr %0" : "=m"(before));
    __asm__ volatile("ldmxcsr %0" : : "m"(mode));
    return before;
}

static bool launch(const call *call, const cupel_launch_plan *plan, const cupel_emu_kernel *kernel) {
    cupel_emu_launch request = {.kernel = kernel,
                                .args = plan->arguments.pointers,
                                .grid = {plan->grid[0], plan->grid[1], plan->grid[2]},
                                .block = {plan->block[0], plan->block[1], plan->block[2]},
                                .dynamic_shared = plan->dynamic_shared,
                                .cooperative = plan->cooperative,
                                .sample_count = call->sample_count,
                                .sample = call->sample};
    return cupel_emu_run_launch(&request);
}

static bool launch_in_mode(const call *call, const cupel_launch_plan *plan, const cupel_emu_kernel *kernel) {
    enum { ALL_MASKED = 0x1f80, FLUSH = 0x8000, OPERANDS_TOO = 0x0040 };
    if (!flushes(call)) return launch(call, plan, kernel);
    uint32_t before = swap_mode(ALL_MASKED | FLUSH | OPERANDS_TOO);
    bool finished = launch(call, plan, kernel);
    swap_mode(before);
    return finished;
}

/* Puts the executor's watch over a call. Stores to bytes that are not valid are looked at more closely. */
static void begin_watch(const emu *e, const call *call, cupel_emu_watch *watch) {
    const cupel_watch *wanted = e->watch;
    unsigned char *start;
    size_t size;
    *watch = (cupel_emu_watch){.stop_accesses = wanted->stop_accesses,
                               .stop_end = wanted->stop_end,
                               .stop_store = wanted->stop_store};
    cupel_guarded_region(call->memory, &start, &size);
    if (wanted->tensor >= 0) {
        unsigned char *at = cupel_guarded_tensor(call->memory, call->c, wanted->tensor) + wanted->offset;
        watch->address = (uintptr_t)at;
        watch->size = wanted->size;
        for (size_t i = 0; i < wanted->size; i++) {
            size_t byte = (size_t)(at - start) + i;
            e->initialised.valid[byte >> 3] &= (uint8_t) ~(1u << (byte & 7));
        }
    }
    cupel_emu_watch_over(watch);
}

static void end_watch(const emu *e, const cupel_emu_watch *watch) {
    cupel_emu_watch_over(NULL);
    e->watch->stores = watch->stores;
    memcpy(e->watch->values, watch->values, sizeof e->watch->values);
}

/* Blocks of one launch alone may be left out: the next one needs what all of them have stored. */
static void choose_sample(const emu *e, const cupel_launch_plan *plan, uint64_t seed, call *call) {
    const bool may = seed != 0 && call->last && !(call->needs & CUPEL_EMU_ALL_BLOCKS) && !e->watch &&
                     !e->strict && e->contract->launch_count == 1 && !plan->cooperative;
    call->sample_count = may ? cupel_emu_sample(plan->grid, seed, call->sample) : 0;
}

/* *again: the run has to be made once more with these needs as well. */
static cupel_code make_call(emu *e, call *call, const cupel_run_request *request, cupel_observation *out,
                            unsigned *again, cupel_error *err) {
    cupel_launch_plan *plans;
    bool any = false;
    CUPEL_TRY(cupel_guarded_load(call->memory, call->c, request->poison, err));
    CUPEL_TRY(cupel_initialised_load(&e->initialised, call->memory, call->c, err));
    CUPEL_TRY(plan_call(e, call, &plans, err));
    cupel_emu_memory memory = {.valid = e->initialised.valid,
                               .writable = e->initialised.writable,
                               .readable = e->initialised.readable,
                               .locate = locate,
                               .self = call->memory};
    cupel_guarded_region(call->memory, &memory.start, &memory.size);
    uint64_t steps =
        e->step_limit != 0 ? e->step_limit : steps_for(call->c, plans, e->contract->launch_count);
    choose_sample(e, &plans[0], request->sample, call);
    const uint32_t seed = call->c->recipe == NULL ? 0 : call->c->recipe->poison;
    cupel_emu_watch watch;
    if (call->last && e->watch) begin_watch(e, call, &watch);
    cupel_emu_run_begin(call->candidate->module, &memory, request->schedule, call->needs,
                        cupel_poison_byte(cupel_poison_of(seed, request->poison)), steps, out);
    for (int l = 0; l < e->contract->launch_count; l++) {
        if (plans[l].skipped) continue;
        any = true;
        fill_variables(call, &e->contract->launches[l], &plans[l]);
        if (!launch_in_mode(call, &plans[l], call->kernels[l])) break;
    }
    *again = cupel_emu_run_end(!call->last && !e->host_sets_variables);
    if (call->last && e->watch) end_watch(e, &watch);
    out->blocks_left_out = any && call->sample_count != 0;
    if (!any) out->outcome = CUPEL_RUN_SKIPPED;
    return CUPEL_OK;
}

static bool came_to_an_end(const cupel_observation *seen) {
    return seen->outcome == CUPEL_RUN_FINISHED || seen->outcome == CUPEL_RUN_SKIPPED;
}

/* The earlier calls, then the one that is judged; out tells of the last one made. */
static cupel_code make_calls(emu *e, const cupel_case *c, const cupel_run_request *request, built *candidate,
                             const cupel_emu_kernel *const *kernels, unsigned needs, cupel_observation *out,
                             unsigned *again, cupel_error *err) {
    for (int i = 0; i < request->earlier_count; i++) {
        const cupel_earlier_call *earlier = &request->earlier[i];
        call before = {.c = earlier->c,
                       .memory = earlier->elsewhere ? e->elsewhere : e->guarded,
                       .kernels = kernels,
                       .candidate = candidate,
                       .needs = needs};
        CUPEL_TRY(make_call(e, &before, request, out, again, err));
        if (*again) return CUPEL_OK;
        if (came_to_an_end(out)) continue;
        cupel_executor_tell_earlier(out);
        return cupel_guarded_load(e->guarded, c, request->poison, err); /* the judged call's, untouched */
    }
    call judged = {.c = c,
                   .memory = e->guarded,
                   .kernels = kernels,
                   .candidate = candidate,
                   .needs = needs,
                   .last = true};
    return make_call(e, &judged, request, out, again, err);
}

static cupel_code run_emu(void *self, const cupel_case *c, const cupel_run_request *request,
                          cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    emu *e = self;
    built *found;
    const cupel_emu_kernel *kernels[CUPEL_LAUNCH_MAX];
    unsigned again, needs;
    cupel_arena_reset(e->scratch);
    CUPEL_TRY(find_module(e, &c->binding, &found, kernels, err));
    needs = (found->careful ? CUPEL_EMU_CAREFUL : 0) | (found->whole ? CUPEL_EMU_ALL_BLOCKS : 0);
    if (request->earlier_count > 0) needs |= CUPEL_EMU_ALL_BLOCKS;
    cupel_code code = make_calls(e, c, request, found, kernels, needs, out, &again, err);
    while (code == CUPEL_OK && again != 0) {
        needs |= again;
        if (needs & CUPEL_EMU_CAREFUL)
            found->careful =
                true; /* from now on at once: where nothing depends on it, the result is the same */
        if (again & CUPEL_EMU_ALL_BLOCKS) found->whole = true;
        cupel_emu_run_forget();
        code = make_calls(e, c, request, found, kernels, needs, out, &again, err);
    }
    cupel_emu_run_forget();
    CUPEL_TRY(code);
    CUPEL_TRY(cupel_guarded_collect(e->guarded, c, arena, out, err));
    if (!came_to_an_end(out)) return CUPEL_OK;
    return cupel_initialised_collect(&e->initialised, e->guarded, c, arena, out, err);
}

/* Two builds of one kernel have the same edges, more or less: those of one count. */
static bool is_covered(const emu *e, const built *b) {
    return b->fused == fuses(e, false);
}

/* The counters of all modules one behind the other, so that an edge keeps its index as long as the executor
 * lives. */
static const uint8_t *coverage_emu(void *self, size_t *count) {
    emu *e = self;
    size_t total = 0, n;
    for (built *b = e->modules; b != NULL; b = b->next) {
        cupel_emu_module_coverage(b->module, &n);
        if (is_covered(e, b)) total += n;
    }
    *count = 0;
    if (total > e->coverage_capacity) {
        uint8_t *grown = realloc(e->coverage, total);
        if (grown == NULL) return NULL;
        e->coverage = grown;
        e->coverage_capacity = total;
    }
    for (built *b = e->modules; b != NULL; b = b->next) {
        uint8_t *counters = cupel_emu_module_coverage(b->module, &n);
        if (!is_covered(e, b)) continue;
        memcpy(e->coverage + *count, counters, n);
        memset(counters, 0, n);
        *count += n;
    }
    return *count == 0 ? NULL : e->coverage;
}

static const cupel_executor_backend backend = {.name = "emu",
                                               .checks_addresses = true,
                                               .sees_atomics = true,
                                               .permutes_schedules = true,
                                               .contains_faults = true,
                                               .forgets = true,
                                               .open = open_emu,
                                               .prepare = prepare_emu,
                                               .run = run_emu,
                                               .coverage = coverage_emu,
                                               .close = close_emu};

const cupel_executor_backend *cupel_executor_emu(void) {
    return &backend;
}
