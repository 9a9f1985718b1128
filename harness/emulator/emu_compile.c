#include "emu_compile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "buffer.h"
#include "emu_compiler.h"
#include "emu_embedded.h"
#include "emu_entries.h"
#include "emu_flags.h"
#include "emu_inline.h"
#include "emu_red_zone.h"
#include "emu_sweep.h"
#include "text.h"

/* A working folder of which nothing was touched for a day is one of a compiler that was killed. */
enum { ROUNDS_MAX = 12, SECONDS_MAX = 120, ARGUMENTS_MAX = 128, STALE_SECONDS = 24 * 3600 };

/* Part of every key: raise it when the compile step changes in a way that no file shows. */
static const char *const step_version = "10";

static const char *const check_flags[] = {CUPEL_EMU_CHECK_FLAGS, NULL};
static const char *const strict_flags[] = {CUPEL_EMU_STRICT_FLAGS, NULL};
static const char *const flags[] = {CUPEL_EMU_FRONT_END_FLAGS, CUPEL_EMU_MEANING_FLAGS,
                                    /* a conversion to an integer saturates, as on the device */
                                    "-fno-strict-float-cast-overflow", "-w", "-ferror-limit", "0",
                                    "-fno-caret-diagnostics", "-fmessage-length=0"};
static const char *const back_end_flags[] = {CUPEL_EMU_BACK_END_FLAGS, "-w", "-emit-obj"};
static const char *const fused_flags[] = {CUPEL_EMU_FUSED_FLAGS, NULL};
static const char *const candidate_flags[] = {"-std=c11",     "-O2", "-fPIC", "-fvisibility=hidden",
                                              "-fno-builtin", "-c"};

typedef struct job {
    const cupel_emu_compile_request *request;
    cupel_arena *arena;
    cupel_emu_compiler compiler;
    const char *headers; /* folder of the embedded files */
    bool bounds;         /* launch bounds are compiled too */
    bool in_halves;      /* checks, or red zones, are put in place between the compiler's halves */
    const char *folder;  /* of this job, removed at its end */
    const char *source, *text, *inlined, *object, *runtime, *shared, *log;
    cupel_error *err;
} job;

static cupel_code out_of_memory(cupel_error *err) {
    return cupel_fail(err, CUPEL_MEMORY, "out of memory");
}

static void hash_text(XXH3_state_t *state, const char *text) {
    XXH3_128bits_update(state, text, strlen(text) + 1);
}

/* The flags of what the object calls at its accesses. */
static const char *const *checking(const cupel_emu_compile_request *r) {
    return r->strict ? strict_flags : check_flags;
}

/* Where the processor cannot fuse, products and sums stay apart, which -fmad=true permits. */
static bool fuses(const cupel_emu_compile_request *r) {
    return r->fused && __builtin_cpu_supports("fma");
}

/* Everything that the object depends on, apart from the compiler's own version; with_path: the place of the
 * source too, which messages and places name. */
static cupel_code object_key(const cupel_emu_compile_request *r, bool with_path, cupel_arena *arena,
                             const char **key, cupel_error *err) {
    XXH3_state_t *state = XXH3_createState();
    if (!state) return out_of_memory(err);
    XXH3_128bits_reset(state);
    uint64_t embedded = cupel_emu_embedded_hash();
    XXH3_128bits_update(state, &embedded, sizeof embedded);
    hash_text(state, step_version);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) hash_text(state, flags[i]);
    for (const char *const *flag = checking(r); *flag; flag++) hash_text(state, *flag);
    if (r->debug) { /* relative names mean something in this folder alone */
        char folder[PATH_MAX];
        hash_text(state, getcwd(folder, sizeof folder) ? folder : "");
        hash_text(state, "debug");
    }
    if (fuses(r)) hash_text(state, "fused");
    if (r->fast_functions) hash_text(state, "fast functions");
    hash_text(state, r->compiler ? r->compiler : "clang");
    if (with_path) hash_text(state, r->source->path);
    XXH3_128bits_update(state, r->source->text, r->source->length);
    for (int i = 0; i < r->define_count; i++) hash_text(state, r->defines[i]);
    hash_text(state, "entries");
    for (int i = 0; i < r->entry_count; i++) hash_text(state, r->entries[i]);
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    *key = cupel_arena_printf(arena, "%016llx%016llx.so", (unsigned long long)hash.high64,
                              (unsigned long long)hash.low64);
    return *key ? CUPEL_OK : out_of_memory(err);
}

cupel_code cupel_emu_object_name(const cupel_emu_compile_request *request, cupel_arena *arena,
                                 const char **name, cupel_error *err) {
    return object_key(request, false, arena, name, err);
}

/* The object in the folder of the cache, or of objects, which need no compiler; *found: it is there. */
static cupel_code object_path(const cupel_emu_compile_request *r, cupel_arena *arena, const char **path,
                              bool *found, cupel_error *err) {
    const char *key, *name;
    CUPEL_TRY(object_key(r, true, arena, &key, err));
    *path = cupel_arena_printf(arena, "%s/%s", r->cache, key);
    if (!*path) return out_of_memory(err);
    *found = access(*path, R_OK) == 0;
    if (*found || !r->objects) return CUPEL_OK;
    CUPEL_TRY(cupel_emu_object_name(r, arena, &name, err));
    const char *object = cupel_arena_printf(arena, "%s/%s", r->objects, name);
    if (!object) return out_of_memory(err);
    *found = access(object, R_OK) == 0;
    if (*found) *path = object;
    return CUPEL_OK;
}

static cupel_code make_folders(const char *path, cupel_arena *arena, cupel_error *err) {
    char *copy = cupel_arena_text(arena, path, strlen(path));
    if (!copy) return out_of_memory(err);
    for (char *p = copy + 1;; p++) {
        if (*p != '/' && *p != '\0') continue;
        char kept = *p;
        *p = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            return cupel_fail(err, CUPEL_IO, "cannot make the folder %s: %s", copy, strerror(errno));
        *p = kept;
        if (!kept) return CUPEL_OK;
    }
}

static const char *last_part(const char *name) {
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

/* No kernel of that name, or one whose template does not take these arguments. */
static cupel_code mismatch(job *j, const char *entry, const char *compiler_says) {
    const cupel_source *source = j->request->source;
    const char *name = cupel_emu_entries_base(entry, j->arena);
    const char **names = cupel_arena_raw(j->arena, (size_t)source->kernel_count + 1, sizeof *names);
    if (!names || !name) return out_of_memory(j->err);
    for (int i = 0; i < source->kernel_count; i++) {
        names[i] = last_part(source->kernels[i].name);
        if (strcmp(names[i], name) == 0)
            return cupel_fail_at(
                j->err, CUPEL_MISMATCH, source->kernels[i].file, source->kernels[i].line, 1,
                "the entry '%s' does not fit the kernel '%s%s%s%s(%s)': %s", entry,
                source->kernels[i].is_template ? "template <" : "", source->kernels[i].template_parameters,
                source->kernels[i].is_template ? "> " : "", source->kernels[i].name,
                source->kernels[i].parameters,
                source->kernels[i].is_template ? "template arguments missing, or of the wrong kind"
                                               : compiler_says);
    }
    const char *nearest = cupel_text_nearest(name, names, (size_t)source->kernel_count);
    if (!nearest && source->kernel_count == 1) nearest = names[0];
    if (nearest)
        return cupel_fail(j->err, CUPEL_MISMATCH, "%s has no kernel '%s'; did you mean '%s'?", source->path,
                          entry, nearest);
    return cupel_fail(j->err, CUPEL_MISMATCH, "%s has no kernel '%s' (%d kernels found)", source->path, entry,
                      source->kernel_count);
}

/* A working file: it need not survive a crash of the machine. */
static cupel_code write_file(const job *j, const char *path, const cupel_buffer *out) {
    FILE *file = fopen(path, "wb");
    if (!file) return cupel_fail(j->err, CUPEL_IO, "cannot write %s: %s", path, strerror(errno));
    bool written = fwrite(out->bytes, 1, out->length, file) == out->length;
    if (fclose(file) != 0 || !written)
        return cupel_fail(j->err, CUPEL_IO, "cannot write %s: %s", path, strerror(errno));
    return CUPEL_OK;
}

/* The author's text between markers, then one line an entry, so that a compiler error there names its entry
 * by its line. */
static cupel_code write_source(job *j) {
    const cupel_emu_compile_request *r = j->request;
    cupel_buffer out = {.arena = j->arena};
    CUPEL_TRY(cupel_buffer_add(&out, "#line 1 ", 8, j->err));
    CUPEL_TRY(cupel_emu_entries_string(&out, r->source->path, j->err));
    CUPEL_TRY(cupel_buffer_add(&out, "\n", 1, j->err));
    CUPEL_TRY(cupel_buffer_add(&out, r->source->text, r->source->length, j->err));
    CUPEL_TRY(cupel_emu_entries_write(&out, r->source, r->entry_count, r->entries, j->bounds, j->err));
    return write_file(j, j->source, &out);
}

static cupel_code run(job *j, const char *const *argv, bool *success) {
    return cupel_emu_compiler_run(argv, j->log, SECONDS_MAX, success, j->err);
}

/* For a debugger; the last of several flags wins. Relative names of sources are seen from this folder. */
static cupel_code add_debug_flags(const job *j, const char **argv, int *n) {
    char folder[PATH_MAX];
    argv[(*n)++] = "-O0";
    argv[(*n)++] = "-debug-info-kind=limited";
    if (!getcwd(folder, sizeof folder)) return CUPEL_OK;
    const char *option = cupel_arena_printf(j->arena, "-fdebug-compilation-dir=%s", folder);
    if (!option) return out_of_memory(j->err);
    argv[(*n)++] = option;
    return CUPEL_OK;
}

static cupel_code compile_source(job *j, bool *success) {
    const char *argv[ARGUMENTS_MAX + 64];
    int n = 0;
    argv[n++] = j->compiler.path;
    argv[n++] = "-cc1";
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) argv[n++] = flags[i];
    for (const char *const *flag = checking(j->request); *flag; flag++) argv[n++] = *flag;
    for (const char *const *flag = fused_flags; fuses(j->request) && *flag; flag++) argv[n++] = *flag;
    if (j->request->debug) CUPEL_TRY(add_debug_flags(j, argv, &n));
    argv[n++] = "-I";
    argv[n++] = j->headers;
    for (int i = 0; i < j->compiler.include_count; i++) {
        argv[n++] = "-internal-isystem";
        argv[n++] = j->compiler.includes[i];
    }
    for (int i = 0; i < j->request->define_count; i++) {
        if (n + 8 > ARGUMENTS_MAX)
            return cupel_fail(j->err, CUPEL_RANGE, "too many defines (%d)", j->request->define_count);
        argv[n++] = "-D";
        argv[n++] = j->request->defines[i];
    }
    argv[n++] = "-include";
    argv[n++] = "cupel_prelude.h";
    argv[n++] = j->in_halves ? "-emit-llvm" : "-emit-obj";
    argv[n++] = "-o";
    argv[n++] = j->in_halves ? j->text : j->object;
    argv[n++] = j->source;
    argv[n] = NULL;
    CUPEL_TRY(write_source(j));
    return run(j, argv, success);
}

/* From the optimiser's text to an object, with the checks in place, or for the sanitizer, whose checks stay
 * calls, the red zones. */
static cupel_code compile_text(job *j, bool *success) {
    const char *argv[64];
    int n = 0;
    char *text;
    size_t length;
    cupel_buffer out = {.arena = j->arena};
    CUPEL_TRY(cupel_text_read(j->text, j->arena, &text, &length, j->err));
    CUPEL_TRY(j->request->strict ? cupel_emu_red_zone_write(text, &out, j->err)
                                 : cupel_emu_inline_write(text, &out, j->err));
    CUPEL_TRY(write_file(j, j->inlined, &out));
    argv[n++] = j->compiler.path;
    argv[n++] = "-cc1";
    for (size_t i = 0; i < sizeof back_end_flags / sizeof *back_end_flags; i++) argv[n++] = back_end_flags[i];
    for (const char *const *flag = fused_flags; fuses(j->request) && *flag; flag++) argv[n++] = *flag;
    argv[n++] = "-o";
    argv[n++] = j->object;
    argv[n++] = j->inlined;
    argv[n] = NULL;
    return run(j, argv, success);
}

/* The second half. A compiler that does not take it compiles the whole in one go: then checks are calls,
 * and shared arrays have no red zones. */
static cupel_code finish_object(job *j) {
    bool success;
    if (!j->in_halves) return CUPEL_OK;
    CUPEL_TRY(compile_text(j, &success));
    if (success) return CUPEL_OK;
    CUPEL_TRY(cupel_emu_compiler_room(j->log, j->err));
    j->in_halves = false;
    CUPEL_TRY(compile_source(j, &success));
    return success ? CUPEL_OK
                   : cupel_fail_at(j->err, CUPEL_BUILD, j->request->source->path, 1, 1,
                                   "the compiler takes the source in parts and not in one go");
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Does a line use this name, of length bytes? */
static bool uses(const char *line, const char *name, size_t length) {
    for (const char *at = line; (at = strstr(at, name)) != NULL; at++)
        if ((at == line || !is_word(at[-1])) && !is_word(at[length])) return true;
    return false;
}

/* The author's macro that an error in a header of ours or of the system comes from: one that its line uses.
 * NULL when there is none. */
static const char *broken_by(const job *j, const cupel_emu_diagnostic *error) {
    char *line, *rest = NULL;
    size_t length;
    bool ours = strncmp(error->file, j->headers, strlen(j->headers)) == 0;
    if ((!ours && strncmp(error->file, "/usr/", 5) != 0) ||
        cupel_text_read(error->file, j->arena, &line, &length, NULL) != CUPEL_OK)
        return NULL;
    for (int number = 1; line && number < error->line; number++) {
        line = strchr(line, '\n');
        if (line) line++;
    }
    if (!line || !(line = strtok_r(line, "\n", &rest))) return NULL;
    for (int i = 0; i < j->request->define_count; i++) {
        size_t name = strcspn(j->request->defines[i], "=(");
        const char *macro = cupel_arena_text(j->arena, j->request->defines[i], name);
        if (macro && name && uses(line, macro, name)) return macro;
    }
    return NULL;
}

/* Leaves out what the errors stand in, as far as the entries can do without it; else tells what is wrong. */
static cupel_code handle_errors(job *j) {
    cupel_emu_diagnostic *found;
    int count;
    bool any = false;
    cupel_source *source = j->request->source;
    CUPEL_TRY(cupel_emu_compiler_diagnostics(j->log, j->headers, j->arena, &count, &found, j->err));
    for (int i = 0; i < count; i++) {
        bool dropped;
        CUPEL_TRY(cupel_source_drop(source, found[i].file, found[i].line, j->request->entry_count,
                                    j->request->entries, &dropped, j->err));
        any |= dropped;
    }
    if (any) return CUPEL_OK;
    if (j->bounds) { /* a launch bound may use names that mean nothing at the end of the file: do without */
        j->bounds = false;
        return CUPEL_OK;
    }
    const char *macro = count ? broken_by(j, &found[0]) : NULL;
    if (macro)
        return cupel_fail_at(
            j->err, CUPEL_BUILD, source->path, 1, 1,
            "the macro '%.100s' (source.defines or -D) breaks the headers that every kernel is "
            "compiled with: %.500s",
            macro, found[0].text);
    for (int i = 0; i < count; i++)
        if (strcmp(found[i].file, cupel_emu_entries_file) != 0)
            return cupel_fail_at(j->err, CUPEL_BUILD, found[i].file, found[i].line, found[i].column, "%s",
                                 found[i].text);
    if (count && found[0].line >= 1 && found[0].line <= j->request->entry_count)
        return mismatch(j, j->request->entries[found[0].line - 1], found[0].text);
    CUPEL_TRY(cupel_emu_compiler_room(j->log, j->err));
    return cupel_fail_at(j->err, CUPEL_BUILD, source->path, 1, 1, "the compiler failed without a message");
}

static cupel_code compile_runtime(job *j) {
    const char *argv[32];
    int n = 0;
    bool success;
    argv[n++] = j->compiler.path;
    for (size_t i = 0; i < sizeof candidate_flags / sizeof *candidate_flags; i++)
        argv[n++] = candidate_flags[i];
    if (j->request->strict) argv[n++] = "-DCUPEL_EMU_STRICT";
    if (j->request->fast_functions) argv[n++] = "-DCUPEL_EMU_FAST_FUNCTIONS";
    argv[n++] = "-I";
    argv[n++] = j->headers;
    argv[n++] = cupel_arena_printf(j->arena, "%s/emu_candidate.c", j->headers);
    argv[n++] = "-o";
    argv[n++] = j->runtime;
    argv[n] = NULL;
    CUPEL_TRY(run(j, argv, &success));
    if (success) return CUPEL_OK;
    CUPEL_TRY(cupel_emu_compiler_room(j->log, j->err));
    return cupel_fail(j->err, CUPEL_BUILD, "the candidate runtime does not compile; see %s", j->log);
}

/* The first name in the linker's log that nobody defines, the runtime's own aside; NULL when there is none.
 */
static const char *undefined_name(char *log) {
    static const char *const says[] = {"undefined reference to `", "undefined symbol: "};
    for (size_t k = 0; k < sizeof says / sizeof *says; k++) {
        for (char *p = log; (p = strstr(p, says[k])) != NULL;) {
            p += strlen(says[k]);
            if (strncmp(p, "cupel_emu_", 10) == 0) continue;
            p[strcspn(p, "'\n")] = '\0';
            return p;
        }
    }
    return NULL;
}

/* The runtime's functions are undefined here on purpose, so undefined names are warnings, and looked through.
 */
static cupel_code link_object(job *j) {
    const char *const argv[] = {j->compiler.path,
                                "-shared",
                                "-nostdlib",
                                "-Wl,--gc-sections",
                                "-Wl,-z,now,-z,defs",
                                "-Wl,--warn-unresolved-symbols",
                                j->object,
                                j->runtime,
                                "-o",
                                j->shared,
                                "-lm",
                                "-lc",
                                NULL};
    bool success;
    char *log;
    size_t length;
    CUPEL_TRY(run(j, argv, &success));
    CUPEL_TRY(cupel_text_read(j->log, j->arena, &log, &length, j->err));
    if (!success) CUPEL_TRY(cupel_emu_compiler_room(j->log, j->err));
    if (!success) return cupel_fail(j->err, CUPEL_BUILD, "the candidate does not link: %.600s", log);
    const char *name = undefined_name(log);
    if (!name) return CUPEL_OK;
    return cupel_fail_at(j->err, CUPEL_BUILD, j->request->source->path, 0, 0,
                         "device code needs '%s', which the file only declares", name);
}

static cupel_code compile_all(job *j) {
    bool success = false;
    CUPEL_TRY(cupel_emu_compiler_find(j->request->compiler, j->log, j->arena, &j->compiler, j->err));
    CUPEL_TRY(cupel_emu_embedded_unpack(j->request->cache, j->arena, &j->headers, j->err));
    for (int round = 0; !success; round++) {
        CUPEL_TRY(compile_source(j, &success));
        if (success) break;
        if (round == ROUNDS_MAX)
            return cupel_fail_at(j->err, CUPEL_BUILD, j->request->source->path, 1, 1,
                                 "too many errors in host code");
        CUPEL_TRY(handle_errors(j));
    }
    CUPEL_TRY(finish_object(j));
    CUPEL_TRY(compile_runtime(j));
    return link_object(j);
}

static cupel_code start_job(job *j) {
    char *folder = cupel_arena_printf(j->arena, "%s/compile-XXXXXX", j->request->cache);
    if (!folder) return out_of_memory(j->err);
    if (!mkdtemp(folder))
        return cupel_fail(j->err, CUPEL_IO, "cannot write to %s: %s", j->request->cache, strerror(errno));
    j->folder = folder;
    const char **paths[] = {&j->source, &j->text, &j->inlined, &j->object, &j->runtime, &j->shared, &j->log};
    static const char *const names[] = {"kernel.cu", "kernel.ll", "inlined.ll", "kernel.o",
                                        "runtime.o", "kernel.so", "log"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *paths[i] = cupel_arena_printf(j->arena, "%s/%s", folder, names[i]);
        if (!*paths[i]) return out_of_memory(j->err);
    }
    return CUPEL_OK;
}

static void end_job(const job *j) {
    const char *const paths[] = {j->source, j->text, j->inlined, j->object, j->runtime, j->shared, j->log};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i]) unlink(paths[i]);
    if (j->folder) rmdir(j->folder);
}

/* Others see the whole object or none, also after a crash of the machine. */
static cupel_code publish(const job *j, const char *path) {
    int fd = open(j->shared, O_RDONLY | O_CLOEXEC);
    bool flushed = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) close(fd);
    if (!flushed || rename(j->shared, path) != 0)
        return cupel_fail(j->err, CUPEL_IO, "cannot write %s: %s", path, strerror(errno));
    return CUPEL_OK;
}

/* Without a compiler, what was built before would have helped. */
static void add_missing_object(const cupel_emu_compile_request *request, cupel_error *err) {
    if (err == NULL || request->objects == NULL) return;
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used,
             "; %.200s holds no object for '%.100s' (of this text, these definitions, this version of cupel)",
             request->objects, request->entry_count > 0 ? request->entries[0] : "");
}

cupel_code cupel_emu_compile(const cupel_emu_compile_request *request, cupel_arena *arena, const char **path,
                             cupel_error *err) {
    const cupel_source *source = request->source;
    for (int i = 0; i < request->entry_count; i++) {
        const cupel_source_refusal *refusal = cupel_source_refused(source, request->entries[i]);
        if (refusal)
            return cupel_fail_at(err, CUPEL_UNSUPPORTED, refusal->file, refusal->line, 0,
                                 "%s in '%s' %s not emulated; use --on cuda", refusal->what,
                                 refusal->function, refusal->plural ? "are" : "is");
    }
    bool found;
    CUPEL_TRY(object_path(request, arena, path, &found, err));
    if (found) return CUPEL_OK;
    CUPEL_TRY(make_folders(request->cache, arena, err));
    cupel_emu_sweep(request->cache, time(NULL) - STALE_SECONDS);
    job j = {.request = request, .arena = arena, .err = err, .bounds = true, .in_halves = !request->debug};
    cupel_code code = start_job(&j);
    if (code == CUPEL_OK) code = compile_all(&j);
    if (code == CUPEL_OK) code = publish(&j, *path);
    end_job(&j);
    if (code == CUPEL_BUILD || code == CUPEL_MISMATCH) cupel_source_tell_missing(source, err);
    if (code == CUPEL_UNSUPPORTED) add_missing_object(request, err);
    cupel_code restored = cupel_source_restore(request->source, code == CUPEL_OK ? err : NULL);
    return code == CUPEL_OK ? restored : code;
}
