#include "nvrtc.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The part of nvrtc.h that is used here, by the names and numbers of its documentation. */
typedef struct program *program;
enum { SUCCESS = 0, INVALID_OPTION = 5, COMPILATION = 6 };

typedef struct functions {
    int (*nvrtcVersion)(int *, int *);
    const char *(*nvrtcGetErrorString)(int);
    int (*nvrtcCreateProgram)(program *, const char *, const char *, int, const char *const *,
                              const char *const *);
    int (*nvrtcDestroyProgram)(program *);
    int (*nvrtcAddNameExpression)(program, const char *);
    int (*nvrtcCompileProgram)(program, int, const char *const *);
    int (*nvrtcGetProgramLogSize)(program, size_t *);
    int (*nvrtcGetProgramLog)(program, char *);
    int (*nvrtcGetCUBINSize)(program, size_t *);
    int (*nvrtcGetCUBIN)(program, char *);
    int (*nvrtcGetPTXSize)(program, size_t *);
    int (*nvrtcGetPTX)(program, char *);
    int (*nvrtcGetLoweredName)(program, const char *, const char **);
} functions;

/* The one compiler of the process: a library that is loaded is never unloaded. */
static struct {
    cupel_nvrtc found;
    functions call;
    char library[PATH_MAX], toolkit[PATH_MAX];
} the;

/* ---- loading ---- */

static bool bind(void *handle) {
    static const struct {
        const char *name;
        size_t offset;
    } names[] = {
#define NAMED(function) {#function, offsetof(functions, function)}
        NAMED(nvrtcVersion),           NAMED(nvrtcGetErrorString),    NAMED(nvrtcCreateProgram),
        NAMED(nvrtcDestroyProgram),    NAMED(nvrtcAddNameExpression), NAMED(nvrtcCompileProgram),
        NAMED(nvrtcGetProgramLogSize), NAMED(nvrtcGetProgramLog),     NAMED(nvrtcGetCUBINSize),
        NAMED(nvrtcGetCUBIN),          NAMED(nvrtcGetPTXSize),        NAMED(nvrtcGetPTX),
        NAMED(nvrtcGetLoweredName)
#undef NAMED
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = dlsym(handle, names[i].name);
        if (address == NULL) return false;
        memcpy((char *)&the.call + names[i].offset, &address, sizeof address);
    }
    return true;
}

static bool try_library(const char *name) {
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return false;
    if (bind(handle) && the.call.nvrtcVersion(&the.found.major, &the.found.minor) == SUCCESS) return true;
    dlclose(handle);
    return false;
}

/* The last of the files that a pattern names: the newest, as far as names tell. */
static bool try_pattern(const char *pattern) {
    glob_t found = {0};
    bool loaded = false;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; i-- > 0 && !loaded;)
            if (!strstr(found.gl_pathv[i], "builtins") && !strstr(found.gl_pathv[i], ".alt."))
                loaded = try_library(found.gl_pathv[i]);
    globfree(&found);
    return loaded;
}

static bool try_below(const char *variable, const char *inside) {
    char pattern[PATH_MAX];
    const char *folder = getenv(variable);
    if (folder == NULL || folder[0] == '\0') return false;
    snprintf(pattern, sizeof pattern, "%s/%s", folder, inside);
    return try_pattern(pattern);
}

static bool load(void) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    static const char *const patterns[] = {
        "/usr/local/cuda/lib64/libnvrtc.so*", "/usr/local/cuda-*/lib64/libnvrtc.so*",
        "/usr/lib/python3*/*-packages/nvidia/*/lib/libnvrtc.so*",
        "/usr/local/lib/python3*/*-packages/nvidia/*/lib/libnvrtc.so*",
        "/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so*"};
    if (try_below("CUDA_PATH", "lib64/libnvrtc.so*") || try_below("CUDA_HOME", "lib64/libnvrtc.so*"))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (try_library(names[i])) return true;
    if (try_below("VIRTUAL_ENV", "lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so*")) return true;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (try_pattern(patterns[i])) return true;
    return false;
}

static bool try_toolkit(const char *folder) {
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/cuda_fp16.h", folder);
    if (access(path, R_OK) != 0) return false;
    snprintf(the.toolkit, sizeof the.toolkit, "%s", folder);
    return true;
}

/* CUDA's headers: those of the same toolkit as the library, else of any other on the machine. */
static void find_toolkit(void) {
    static const char *const beside[] = {"../include", "../../include", "../../../include",
                                         "../../../../include", "../../cuda_runtime/include"};
    static const char *const elsewhere[] = {"/usr/local/cuda/include", "/usr/include"};
    char folder[PATH_MAX + 64];
    Dl_info info;
    void *address;
    memcpy(&address, &the.call.nvrtcVersion, sizeof address);
    if (dladdr(address, &info) != 0 && realpath(info.dli_fname, the.library) != NULL) {
        int length = (int)(strrchr(the.library, '/') - the.library);
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
            snprintf(folder, sizeof folder, "%.*s/%s", length, the.library, beside[i]);
            if (try_toolkit(folder)) return;
        }
    }
    const char *path = getenv("CUDA_PATH");
    if (path != NULL && snprintf(folder, sizeof folder, "%s/include", path) < (int)sizeof folder &&
        try_toolkit(folder))
        return;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (try_toolkit(elsewhere[i])) return;
}

cupel_code cupel_nvrtc_find(const cupel_nvrtc **out, cupel_error *err) {
    if (the.found.library == NULL) {
        if (!load())
            return cupel_fail(
                err, CUPEL_UNSUPPORTED,
                "NVIDIA's run-time compiler libnvrtc.so was not found (looked in CUDA_PATH, the "
                "loader's path, /usr/local/cuda*, python's nvidia packages)");
        find_toolkit();
        the.found.library = the.library;
        the.found.toolkit = the.toolkit;
    }
    *out = &the.found;
    return CUPEL_OK;
}

/* ---- compiling ---- */

enum { OPTIONS_MAX = 128, FIXED_MAX = 16 };

/* Headers that NVRTC can do without or must not see; the text is empty, cupel_device_prelude.h has the rest.
 */
static const char *const empty_headers[] = {"algorithm",
                                            "array",
                                            "assert.h",
                                            "cassert",
                                            "cctype",
                                            "cfloat",
                                            "climits",
                                            "cmath",
                                            "cstddef",
                                            "cstdint",
                                            "cstdio",
                                            "cstdlib",
                                            "cstring",
                                            "cuda.h",
                                            "cuda_runtime.h",
                                            "cuda_runtime_api.h",
                                            "device_functions.h",
                                            "device_launch_parameters.h",
                                            "float.h",
                                            "initializer_list",
                                            "inttypes.h",
                                            "limits",
                                            "limits.h",
                                            "math.h",
                                            "numeric",
                                            "stddef.h",
                                            "stdint.h",
                                            "stdio.h",
                                            "stdlib.h",
                                            "string.h",
                                            "tuple",
                                            "type_traits",
                                            "utility",
                                            "vector_functions.h",
                                            "vector_types.h",
                                            "vector_functions.hpp"};
enum { EMPTY_COUNT = sizeof empty_headers / sizeof *empty_headers };

static cupel_code make_options(const cupel_nvrtc_request *r, cupel_arena *arena, const char **options,
                               int *count, cupel_error *err) {
    int n = 0;
    if (r->define_count + r->include_count + r->option_count + FIXED_MAX > OPTIONS_MAX)
        return cupel_fail(err, CUPEL_RANGE, "too many definitions and include folders");
    options[n++] = cupel_arena_printf(arena, "--gpu-architecture=sm_%d", r->architecture);
    options[n++] = "--std=c++17";
    options[n++] = "-default-device";
    options[n++] = "--disable-warnings";
    for (int i = 0; i < r->option_count; i++) options[n++] = r->options[i];
    for (int i = 0; i < r->define_count; i++) options[n++] = cupel_arena_printf(arena, "-D%s", r->defines[i]);
    for (int i = 0; i < r->include_count; i++)
        options[n++] = cupel_arena_printf(arena, "-I%s", r->includes[i]);
    if (the.toolkit[0] != '\0') {
        options[n++] = cupel_arena_printf(arena, "-I%s", the.toolkit);
        options[n++] = cupel_arena_printf(arena, "-I%s/cccl", the.toolkit);
    }
    for (int i = 0; i < n; i++)
        if (options[i] == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    *count = n;
    return CUPEL_OK;
}

static cupel_code refused(int status, const char *what, cupel_error *err) {
    return cupel_fail(err, CUPEL_UNSUPPORTED, "NVRTC %d.%d %s: %s", the.found.major, the.found.minor, what,
                      the.call.nvrtcGetErrorString(status));
}

typedef int (*get_size)(program, size_t *);
typedef int (*get_bytes)(program, char *);

/* One of the program's results; empty where there is none. */
static cupel_code fetch(program p, get_size size_of, get_bytes bytes_of, cupel_arena *arena, char **out,
                        size_t *size, cupel_error *err) {
    *size = 0;
    if (size_of(p, size) != SUCCESS) *size = 0;
    *out = cupel_arena_alloc(arena, *size + 1);
    if (*out == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    if (*size > 0 && bytes_of(p, *out) != SUCCESS) *size = 0;
    (*out)[*size] = '\0';
    return CUPEL_OK;
}

static cupel_code collect(program p, const cupel_nvrtc_request *r, cupel_arena *arena,
                          cupel_nvrtc_output *out, cupel_error *err) {
    char *cubin, *ptx;
    size_t size;
    CUPEL_TRY(
        fetch(p, the.call.nvrtcGetCUBINSize, the.call.nvrtcGetCUBIN, arena, &cubin, &out->cubin_size, err));
    CUPEL_TRY(fetch(p, the.call.nvrtcGetPTXSize, the.call.nvrtcGetPTX, arena, &ptx, &size, err));
    out->cubin = (unsigned char *)cubin;
    out->ptx = ptx;
    out->lowered = cupel_arena_alloc(arena, ((size_t)r->entry_count + 1) * sizeof *out->lowered);
    if (out->lowered == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (int i = 0; i < r->entry_count; i++) {
        const char *lowered;
        int status = the.call.nvrtcGetLoweredName(p, r->entries[i], &lowered);
        if (status != SUCCESS) return refused(status, "does not name a kernel", err);
        out->lowered[i] = cupel_arena_text(arena, lowered, strlen(lowered));
        if (out->lowered[i] == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    }
    return CUPEL_OK;
}

static cupel_code compile(program p, const cupel_nvrtc_request *r, cupel_arena *arena,
                          cupel_nvrtc_output *out, cupel_error *err) {
    const char *options[OPTIONS_MAX];
    int count;
    char *log;
    size_t size;
    CUPEL_TRY(make_options(r, arena, options, &count, err));
    for (int i = 0; i < r->entry_count; i++) {
        int status = the.call.nvrtcAddNameExpression(p, r->entries[i]);
        if (status != SUCCESS) return refused(status, "does not take a kernel's name", err);
    }
    int status = the.call.nvrtcCompileProgram(p, count, options);
    CUPEL_TRY(
        fetch(p, the.call.nvrtcGetProgramLogSize, the.call.nvrtcGetProgramLog, arena, &log, &size, err));
    out->log = log;
    if (status == INVALID_OPTION)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "NVRTC %d.%d does not compile for sm_%d: %.400s",
                          the.found.major, the.found.minor, r->architecture, log);
    if (status != SUCCESS && status != COMPILATION) return refused(status, "failed", err);
    out->success = status == SUCCESS;
    return out->success ? collect(p, r, arena, out, err) : CUPEL_OK;
}

cupel_code cupel_nvrtc_compile(const cupel_nvrtc_request *request, cupel_arena *arena,
                               cupel_nvrtc_output *out, cupel_error *err) {
    const cupel_nvrtc *found;
    const char *texts[EMPTY_COUNT];
    program p;
    memset(out, 0, sizeof *out);
    CUPEL_TRY(cupel_nvrtc_find(&found, err));
    for (size_t i = 0; i < EMPTY_COUNT; i++) texts[i] = "\n";
    int status =
        the.call.nvrtcCreateProgram(&p, request->text, request->name, EMPTY_COUNT, texts, empty_headers);
    if (status != SUCCESS) return refused(status, "takes no program", err);
    cupel_code code = compile(p, request, arena, out, err);
    the.call.nvrtcDestroyProgram(&p);
    return code;
}
