/* The host executor: a C function in a shared object, called through libffi. Types come from the contract: a
 * tensor is passed as its data pointer; an argument without a stated type as int when its value is an
 * integer, as float when it is real. */
#include <dlfcn.h>
#include <fenv.h>
#include <ffi.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "executor.h"
#include "guarded.h"
#include "host_build.h"
#include "host_crash.h"

/* The candidate's own names come before those that this program exports; sanitizers do not bear that. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DEEP 0
#endif
#endif
#ifndef DEEP
#define DEEP RTLD_DEEPBIND
#endif

typedef struct host {
    const cupel_contract *contract;
    cupel_guarded *guarded, *elsewhere; /* elsewhere: buffers of earlier calls at other addresses */
    cupel_arena *arena;                 /* of paths */
    const char *object;                 /* the shared object */
    void *library;
    void *symbols[CUPEL_LAUNCH_MAX];
    bool mode_changed; /* loading the library changed the floating-point mode */
} host;

/* The value of one argument, in the C type that is passed. */
typedef union argument_value {
    void *pointer;
    double f64;
    float f32;
    int64_t i64;
    uint64_t u64;
    int32_t i32;
    uint32_t u32;
    int16_t i16;
    uint16_t u16;
    int8_t i8;
    uint8_t u8;
} argument_value;

typedef struct call {
    ffi_cif cif;
    ffi_type *types[CUPEL_ARG_MAX];
    argument_value values[CUPEL_ARG_MAX];
    void *pointers[CUPEL_ARG_MAX];
    void *symbol;
} call;

/* ---- opening ---- */

static void close_host(void *self) {
    host *h = self;
    cupel_guarded_free(h->guarded);
    cupel_guarded_free(h->elsewhere);
    if (h->library) dlclose(h->library);
    cupel_arena_free(h->arena);
    free(h);
}

static cupel_code find_symbols(host *h, cupel_error *err) {
    for (int l = 0; l < h->contract->launch_count; l++) {
        const cupel_launch *launch = &h->contract->launches[l];
        h->symbols[l] = dlsym(h->library, launch->entry);
        if (!h->symbols[l])
            return cupel_fail_span(err, CUPEL_MISMATCH, launch->place,
                                   "expected a function '%s' in %s, found none", launch->entry,
                                   h->contract->source);
    }
    return CUPEL_OK;
}

/* A library built with -ffast-math sets flush-to-zero as it is loaded: the mode is put back, and told with
 * every run. */
static cupel_code load_library(host *h, cupel_error *err) {
    fenv_t before, after;
    fegetenv(&before);
    h->library = dlopen(h->object, RTLD_NOW | RTLD_LOCAL | DEEP);
    fegetenv(&after);
    fesetenv(&before);
#if defined(__x86_64__)
    h->mode_changed = (before.__mxcsr & ~0x3fu) != (after.__mxcsr & ~0x3fu) ||
                      before.__control_word != after.__control_word;
#else
    h->mode_changed = memcmp(&before, &after, sizeof before) != 0;
#endif
    if (h->library) return CUPEL_OK;
    return cupel_fail(err, CUPEL_BUILD, "the shared object %s cannot be loaded: %s", h->contract->source,
                      dlerror());
}

static cupel_code open_host(const cupel_contract *contract, const cupel_executor_options *options,
                            void **self, cupel_error *err) {
    if (!contract->host)
        return cupel_fail(err, CUPEL_USAGE,
                          "the host executor calls a function of a shared object, and this contract "
                          "describes a kernel launch; expected kernel: {symbol: name, args: [...]}");
    host *h = calloc(1, sizeof *h);
    if (!h) return cupel_fail(err, CUPEL_MEMORY, "no memory for the host executor");
    h->contract = contract;
    h->arena = cupel_arena_create(0);
    h->guarded = cupel_guarded_create();
    h->elsewhere = cupel_guarded_create();
    cupel_code code = h->guarded && h->elsewhere && h->arena
                          ? CUPEL_OK
                          : cupel_fail(err, CUPEL_MEMORY, "no memory for guarded buffers");
    if (code == CUPEL_OK && !cupel_host_crash_install())
        code = cupel_fail(err, CUPEL_WORKER, "signal handlers cannot be installed");
    if (code == CUPEL_OK) code = cupel_host_build(contract, options, h->arena, &h->object, err);
    if (code == CUPEL_OK) code = load_library(h, err);
    if (code == CUPEL_OK) code = find_symbols(h, err);
    if (code != CUPEL_OK) {
        close_host(h);
        return code;
    }
    *self = h;
    return CUPEL_OK;
}

static cupel_code prepare_host(void *self, const cupel_binding *binding, cupel_error *err) {
    (void)self;
    (void)binding;
    (void)err;
    return CUPEL_OK;
}

/* ---- arguments ---- */

static ffi_type *ffi_type_of(cupel_dtype type) {
    switch (type) {
    case CUPEL_F64: return &ffi_type_double;
    case CUPEL_F32:
    case CUPEL_TF32: return &ffi_type_float;
    case CUPEL_I64: return &ffi_type_sint64;
    case CUPEL_I32: return &ffi_type_sint32;
    case CUPEL_I16: return &ffi_type_sint16;
    case CUPEL_I8: return &ffi_type_sint8;
    case CUPEL_U64: return &ffi_type_uint64;
    case CUPEL_U32: return &ffi_type_uint32;
    case CUPEL_U16: return &ffi_type_uint16;
    case CUPEL_U8:
    case CUPEL_BOOL: return &ffi_type_uint8;
    default: return NULL;
    }
}

static bool fits(cupel_dtype type, int64_t value) {
    switch (type) {
    case CUPEL_I64: return true;
    case CUPEL_I32: return value >= INT32_MIN && value <= INT32_MAX;
    case CUPEL_I16: return value >= INT16_MIN && value <= INT16_MAX;
    case CUPEL_I8: return value >= INT8_MIN && value <= INT8_MAX;
    case CUPEL_U64: return value >= 0;
    case CUPEL_U32: return value >= 0 && value <= UINT32_MAX;
    case CUPEL_U16: return value >= 0 && value <= UINT16_MAX;
    case CUPEL_U8: return value >= 0 && value <= UINT8_MAX;
    case CUPEL_BOOL: return value == 0 || value == 1;
    default: return false;
    }
}

/* Small integers are widened in registers by libffi itself; the union's member is chosen by size, so sign
 * does not matter. */
static void store_integer(cupel_dtype type, int64_t value, argument_value *out) {
    switch (cupel_format_of(type)->size) {
    case 8: out->i64 = value; break;
    case 4: out->i32 = (int32_t)value; break;
    case 2: out->i16 = (int16_t)value; break;
    default: out->i8 = (int8_t)value; break;
    }
}

static cupel_code set_scalar(const cupel_launch_arg *arg, const cupel_case *c, call *call, int i,
                             cupel_error *err) {
    cupel_scalar value;
    CUPEL_TRY(cupel_binding_scalar(&c->binding, arg->expr, c->strides, &value, err));
    cupel_dtype type = value.real ? CUPEL_F32 : CUPEL_I32;
    if (arg->typed) {
        type = arg->type;
        if (arg->type_variable >= 0)
            type = c->contract->types[arg->type_variable].claimed[c->binding.types[arg->type_variable]];
    }
    call->types[i] = ffi_type_of(type);
    if (!call->types[i])
        return cupel_fail_span(err, CUPEL_UNSUPPORTED, arg->place,
                               "a scalar argument of type %s cannot be passed to a C function",
                               cupel_format_of(type)->name);
    bool real_type = cupel_format_of(type)->kind == CUPEL_KIND_REAL;
    double number = value.real ? value.d : (double)value.i;
    if (type == CUPEL_F64)
        call->values[i].f64 = number;
    else if (real_type)
        call->values[i].f32 = (float)number;
    else if (value.real || !fits(type, value.i))
        return cupel_fail_span(err, CUPEL_MISMATCH, arg->place, "expected a value that fits %s, found %.17g",
                               cupel_format_of(type)->name, number);
    else
        store_integer(type, value.i, &call->values[i]);
    return CUPEL_OK;
}

static cupel_code set_arguments(const cupel_guarded *memory, const cupel_launch *launch, const cupel_case *c,
                                call *call, cupel_error *err) {
    for (int i = 0; i < launch->arg_count; i++) {
        const cupel_launch_arg *arg = &launch->args[i];
        call->pointers[i] = &call->values[i];
        call->types[i] = &ffi_type_pointer;
        switch (arg->kind) {
        case CUPEL_ARG_TENSOR: call->values[i].pointer = cupel_guarded_tensor(memory, c, arg->tensor); break;
        case CUPEL_ARG_NULL: call->values[i].pointer = NULL; break;
        case CUPEL_ARG_SCALAR: CUPEL_TRY(set_scalar(arg, c, call, i, err)); break;
        }
    }
    if (ffi_prep_cif(&call->cif, FFI_DEFAULT_ABI, (unsigned)launch->arg_count, &ffi_type_void, call->types) !=
        FFI_OK)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "libffi cannot call '%s'", launch->entry);
    return CUPEL_OK;
}

/* ---- running ---- */

static void make_call(void *self) {
    call *call = self;
    void (*function)(void);
    memcpy(&function, &call->symbol, sizeof function); /* from dlsym's data pointer, as POSIX allows */
    ffi_call(&call->cif, function, NULL, call->pointers);
}

/* A few sizes through the allocator's bins: it aborts here, not in a later case, when the candidate has
 * damaged its books. */
static void probe_heap(void) {
    static const size_t sizes[] = {24, 120, 500, 1040, 4000, 20000, 100000};
    void *blocks[sizeof sizes / sizeof *sizes];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) blocks[i] = malloc(sizes[i]);
    __asm__ volatile("" : : "r"(blocks) : "memory"); /* else the compiler drops the pairs */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) free(blocks[i]);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void tell_crash(const char *entry, cupel_fault fault, int signal, const void *address,
                       cupel_observation *out) {
    out->outcome = CUPEL_RUN_FAULT;
    out->fault = fault;
    out->signal = signal;
    snprintf(out->place.function, sizeof out->place.function, "%s", entry);
    if (fault == CUPEL_FAULT_STACK_OVERFLOW)
        snprintf(out->text, sizeof out->text, "%s overflowed the stack", entry);
    else
        snprintf(out->text, sizeof out->text, "%s ended with signal %d (%s) at address %p", entry, signal,
                 strsignal(signal), address);
}

static cupel_code run_launch(host *h, int l, const cupel_case *c, const cupel_guarded *memory,
                             cupel_observation *out, cupel_error *err) {
    const cupel_launch *launch = &h->contract->launches[l];
    if (launch->skip_if) {
        cupel_scalar skip;
        CUPEL_TRY(cupel_binding_scalar(&c->binding, launch->skip_if, c->strides, &skip, err));
        if (skip.real ? skip.d != 0 : skip.i != 0) return CUPEL_OK;
    }
    call call = {.symbol = h->symbols[l]};
    CUPEL_TRY(set_arguments(memory, launch, c, &call, err));
    cupel_fault fault = CUPEL_FAULT_NONE;
    int signal = 0;
    const void *address = NULL;
    double start = seconds_now();
    bool returned = cupel_host_crash_call(make_call, &call, call.symbol, &fault, &signal, &address);
    out->seconds += seconds_now() - start;
    if (returned)
        out->outcome = CUPEL_RUN_FINISHED;
    else
        tell_crash(launch->entry, fault, signal, address, out);
    return CUPEL_OK;
}

/* Every launch of a case. */
static cupel_code make_calls(host *h, const cupel_case *c, cupel_guarded *memory, cupel_poison poison,
                             cupel_observation *out, cupel_error *err) {
    CUPEL_TRY(cupel_guarded_load(memory, c, poison, err));
    out->outcome = CUPEL_RUN_SKIPPED;
    for (int l = 0; l < h->contract->launch_count && out->outcome != CUPEL_RUN_FAULT; l++)
        CUPEL_TRY(run_launch(h, l, c, memory, out, err));
    return CUPEL_OK;
}

static cupel_code run_host(void *self, const cupel_case *c, const cupel_run_request *request,
                           cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    host *h = self;
    bool earlier_fault = false;
    for (int i = 0; i < request->earlier_count && !earlier_fault; i++) {
        const cupel_earlier_call *earlier = &request->earlier[i];
        CUPEL_TRY(make_calls(h, earlier->c, earlier->elsewhere ? h->elsewhere : h->guarded, request->poison,
                             out, err));
        earlier_fault = out->outcome == CUPEL_RUN_FAULT;
    }
    if (earlier_fault) {
        cupel_executor_tell_earlier(out);
        CUPEL_TRY(cupel_guarded_load(h->guarded, c, request->poison, err)); /* the judged call's, untouched */
    } else {
        CUPEL_TRY(make_calls(h, c, h->guarded, request->poison, out, err));
    }
    probe_heap();
    if (h->mode_changed && out->outcome == CUPEL_RUN_FINISHED) {
        out->outcome = CUPEL_RUN_FAULT;
        out->fault = CUPEL_FAULT_FP_MODE;
        snprintf(out->text, sizeof out->text,
                 "loading %s changes the floating-point mode of the process (built with -ffast-math?)",
                 h->contract->source);
    }
    return cupel_guarded_collect(h->guarded, c, arena, out, err);
}

static const uint8_t *coverage_host(void *self, size_t *count) {
    (void)self;
    *count = 0;
    return NULL;
}

static const cupel_executor_backend backend = {.name = "host",
                                               .checks_addresses = false,
                                               .sees_atomics = false,
                                               .permutes_schedules = false,
                                               .open = open_host,
                                               .prepare = prepare_host,
                                               .run = run_host,
                                               .coverage = coverage_host,
                                               .close = close_host};

const cupel_executor_backend *cupel_executor_host(void) {
    return &backend;
}
