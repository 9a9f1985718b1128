/* Kernels compiled for the claimed architectures, and what their binaries say. Runs in a child process
 * (resource_process.c): it parses what is not trusted. */
#include <stdio.h>
#include <string.h>

#include "cubin.h"
#include "cuda_api.h"
#include "cuda_compile.h"
#include "emu_compile.h"
#include "emu_runtime.h"
#include "launch_plan.h"
#include "nvrtc.h"
#include "resource_use.h"

enum { ENTRIES_MAX = 32, BINDINGS_MAX = 256 };

typedef struct work {
    const cupel_contract *contract;
    const cupel_executor_options *options;
    cupel_arena *arena;
    cupel_source *source;
    const char **defines;
    int define_count;
    int entry_count, base_count; /* the first base_count are of the base binding */
    const char *entries[ENTRIES_MAX];
    cupel_resources *out;
} work;

void cupel_resources_architectures(const cupel_contract *contract, int device, cupel_resources *out) {
    memset(out, 0, sizeof *out);
    for (int i = 0; i < contract->limit_count; i++)
        out->architectures[out->architecture_count++] = contract->limits[i];
    if (out->architecture_count) return;
    out->architectures[out->architecture_count++] =
        cupel_device_limits_of(device) ? device : CUPEL_ARCHITECTURE_DEFAULT;
}

int cupel_resources_device(void) {
    const cupel_cuda_api *api;
    int device, major, minor;
    if (cupel_cuda_api_find(&api, NULL) != CUPEL_OK || api->device_get(&device, 0) != CUPEL_CU_SUCCESS ||
        api->device_attribute(&major, CUPEL_CU_DEVICE_MAJOR, device) != CUPEL_CU_SUCCESS ||
        api->device_attribute(&minor, CUPEL_CU_DEVICE_MINOR, device) != CUPEL_CU_SUCCESS)
        return 0;
    return major * 10 + minor;
}

static void miss(work *w, const char *what, const cupel_error *err) {
    if (w->out->missing[0]) return;
    if (err)
        cupel_error_format(err, w->out->missing, sizeof w->out->missing);
    else
        snprintf(w->out->missing, sizeof w->out->missing, "%s", what);
}

/* ---- entries ---- */

static cupel_code add_entries(work *w, const cupel_binding *binding, cupel_error *err) {
    cupel_entry_set set;
    CUPEL_TRY(cupel_launch_plan_entries(binding, w->arena, &set, err));
    for (int i = 0; i < set.count; i++) {
        int known = 0;
        while (known < w->entry_count && strcmp(w->entries[known], set.distinct[i]) != 0) known++;
        if (known == w->entry_count && known < ENTRIES_MAX) w->entries[w->entry_count++] = set.distinct[i];
    }
    return CUPEL_OK;
}

/* The next value of a dim that is claimed as a list; false, and the first value, behind the last. */
static bool next_listed(const cupel_dim *dim, int64_t *value) {
    int at = 0;
    while (at < dim->value_count && dim->values[at] != *value) at++;
    bool more = at + 1 < dim->value_count;
    *value = dim->values[more ? at + 1 : 0];
    return more;
}

/* The next combination of types and listed dims. */
static bool next_binding(const cupel_contract *c, cupel_binding *binding) {
    for (int i = 0; i < c->type_count; i++) {
        if (++binding->types[i] < c->types[i].count) return true;
        binding->types[i] = 0;
    }
    for (int i = 0; i < c->dim_count; i++)
        if (c->dims[i].value_count > 1 && next_listed(&c->dims[i], &binding->dims[i])) return true;
    return false;
}

/* Macros that hang on the binding: all entries are compiled at once, with those of the base binding. */
static cupel_code fill_defines(work *w, cupel_error *err) {
    cupel_binding base;
    cupel_entry_set set;
    CUPEL_TRY(cupel_binding_ordinary(w->contract, &base, err));
    CUPEL_TRY(cupel_launch_plan_entries(&base, w->arena, &set, err));
    return cupel_launch_plan_defines(w->contract, &set, w->defines, w->define_count, w->arena, &w->defines,
                                     err);
}

/* Of the base binding first, then of the other types and of dims that are claimed as lists. */
static cupel_code collect_entries(work *w, cupel_error *err) {
    cupel_binding base, binding;
    CUPEL_TRY(cupel_binding_ordinary(w->contract, &base, err));
    CUPEL_TRY(add_entries(w, &base, err));
    w->base_count = w->entry_count;
    binding = base;
    for (int i = 0; i < w->contract->dim_count; i++)
        if (w->contract->dims[i].value_count > 1) binding.dims[i] = w->contract->dims[i].values[0];
    for (int n = 0; n < BINDINGS_MAX; n++) {
        if (cupel_binding_legal(&binding) && cupel_binding_complete(&binding, NULL) == CUPEL_OK)
            CUPEL_TRY(add_entries(w, &binding, err));
        if (!next_binding(w->contract, &binding)) break;
    }
    return CUPEL_OK;
}

static cupel_code join(work *w, const char *const *a, int a_count, const char *const *b, int b_count,
                       const char ***out, cupel_error *err) {
    const char **all = cupel_arena_alloc(w->arena, ((size_t)a_count + (size_t)b_count + 1) * sizeof *all);
    if (!all) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (int i = 0; i < a_count + b_count; i++) all[i] = i < a_count ? a[i] : b[i - a_count];
    *out = all;
    return CUPEL_OK;
}

static cupel_code load_source(work *w, bool for_device, cupel_error *err) {
    const cupel_contract *c = w->contract;
    const char **includes;
    CUPEL_TRY(join(w, c->source_defines, c->source_define_count, w->options->defines,
                   w->options->define_count, &w->defines, err));
    w->define_count = c->source_define_count + w->options->define_count;
    CUPEL_TRY(join(w, c->source_includes, c->source_include_count, w->options->includes,
                   w->options->include_count, &includes, err));
    cupel_source_options source = {.include_count = c->source_include_count + w->options->include_count,
                                   .includes = includes,
                                   .for_device = for_device};
    return cupel_source_load(c->source, &source, w->arena, &w->source, err);
}

/* ---- binaries ---- */

static cupel_compiled *add_compiled(work *w, int architecture, const char *entry) {
    if (w->out->count == CUPEL_COMPILED_MAX) {
        w->out->dropped++;
        return NULL;
    }
    cupel_compiled *made = &w->out->compiled[w->out->count++];
    *made = (cupel_compiled){.architecture = architecture};
    snprintf(made->entry, sizeof made->entry, "%s", entry);
    return made;
}

static cupel_code read_binary(work *w, int architecture, const cupel_cuda_code *code, cupel_error *err) {
    cupel_cubin cubin;
    CUPEL_TRY(cupel_cubin_read(code->cubin, code->cubin_size, w->arena, &cubin, err));
    for (int i = 0; i < code->kernel_count; i++) {
        const cupel_cubin_kernel *kernel = cupel_cubin_find(&cubin, code->kernels[i].lowered);
        if (!kernel)
            return cupel_fail(err, CUPEL_SYNTAX, "the binary has no kernel %s", code->kernels[i].lowered);
        cupel_compiled *made = add_compiled(w, architecture, code->kernels[i].kernel.entry);
        if (!made) continue;
        made->registers = kernel->registers;
        made->shared = kernel->shared;
        made->local = kernel->stack;
        made->max_threads = kernel->max_threads;
        made->tensor_memory = kernel->tensor_memory;
    }
    return CUPEL_OK;
}

static cupel_code compile_some(work *w, int architecture, int entry_count, cupel_error *err) {
    cupel_cuda_code code;
    cupel_cuda_compile_request request = {.source = w->source,
                                          .option_count = w->contract->options.count,
                                          .options = w->contract->options.items,
                                          .architecture = architecture,
                                          .define_count = w->define_count,
                                          .defines = w->defines,
                                          .entry_count = entry_count,
                                          .entries = w->entries,
                                          .cache = w->options->cache};
    CUPEL_TRY(cupel_cuda_compile(&request, w->arena, &code, err));
    return read_binary(w, architecture, &code, err);
}

/* Where not every type compiles, the base types may. */
static void compile_for(work *w, int architecture) {
    cupel_error err = {0}, ignored = {0};
    if (compile_some(w, architecture, w->entry_count, &err) == CUPEL_OK) return;
    if (w->base_count == w->entry_count ||
        compile_some(w, architecture, w->base_count, &ignored) != CUPEL_OK) {
        miss(w, NULL, &err);
        return;
    }
    char text[sizeof w->out->note / 2];
    snprintf(w->out->note, sizeof w->out->note, "of kernels for other types than the first are not known: %s",
             cupel_error_format(&err, text, sizeof text));
}

/* ---- without NVIDIA's compiler: what the emulator's objects say ---- */

static cupel_code read_emulated(work *w, cupel_error *err) {
    cupel_emu_compile_request request = {.source = w->source,
                                         .fused = w->contract->options.fmad == CUPEL_FMAD_ON,
                                         .fast_functions = w->contract->options.fast_functions,
                                         .define_count = w->define_count,
                                         .defines = w->defines,
                                         .entry_count = w->base_count,
                                         .entries = w->entries,
                                         .cache = w->options->cache};
    const char *path;
    cupel_emu_module *module;
    CUPEL_TRY(cupel_emu_compile(&request, w->arena, &path, err));
    CUPEL_TRY(cupel_emu_module_load(path, &module, err));
    for (int i = 0; i < w->base_count; i++) {
        const cupel_emu_kernel *kernel = cupel_emu_module_kernel(module, w->entries[i]);
        cupel_compiled *made = kernel ? add_compiled(w, 0, w->entries[i]) : NULL;
        if (!made) continue;
        made->shared = (int64_t)cupel_emu_module_static_shared(module, kernel);
        made->max_threads = kernel->max_threads;
    }
    cupel_emu_module_close(module);
    return CUPEL_OK;
}

static cupel_code compile_all(work *w, cupel_error *err) {
    const cupel_nvrtc *nvrtc;
    cupel_error absent = {0};
    CUPEL_TRY(collect_entries(w, err));
    bool found = cupel_nvrtc_find(&nvrtc, &absent) == CUPEL_OK;
    CUPEL_TRY(load_source(w, found, err));
    CUPEL_TRY(fill_defines(w, err));
    if (!found) {
        miss(w, NULL, &absent);
        /* it knows less, and its absence is no news */
        if (w->options->cache) (void)!read_emulated(w, NULL);
        return CUPEL_OK;
    }
    snprintf(w->out->compiler, sizeof w->out->compiler, "NVRTC %d.%d", nvrtc->major, nvrtc->minor);
    for (int i = 0; i < w->out->architecture_count; i++) compile_for(w, w->out->architectures[i]);
    if (w->out->count == 0) w->out->compiler[0] = '\0';
    return CUPEL_OK;
}

void cupel_resources_compile(const cupel_contract *contract, const cupel_executor_options *options,
                             cupel_resources *out) {
    work w = {.contract = contract, .options = options, .out = out, .arena = cupel_arena_create(0)};
    cupel_error err = {0};
    if (!w.arena)
        miss(&w, "no memory to compile in", NULL);
    else if (compile_all(&w, &err) != CUPEL_OK)
        miss(&w, NULL, &err);
    cupel_arena_free(w.arena);
}
