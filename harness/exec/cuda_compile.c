#include "cuda_compile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "buffer.h"
#include "cuda_text.h"
#include "device_headers.h"
#include "emu_entries.h"
#include "nvrtc.h"

enum { ROUNDS_MAX = 12 };

/* Part of every key: raise it when the compile step changes in a way that no text shows. */
static const char *const step_version = "cuda-1";

typedef struct job {
    const cupel_cuda_compile_request *request;
    const cupel_nvrtc *nvrtc;
    cupel_arena *arena;
    cupel_error *err;
} job;

/* Names that the compiler lowers: entries, then the addresses of variables. */
static int name_count(const job *j) {
    return j->request->entry_count + j->request->variable_count;
}

static cupel_code out_of_memory(cupel_error *err) {
    return cupel_fail(err, CUPEL_MEMORY, "out of memory");
}

/* ---- the text ---- */

static cupel_code add(cupel_buffer *out, const char *text, cupel_error *err) {
    return cupel_buffer_add(out, text, strlen(text), err);
}

/* Prelude, the author's text, then one line an entry, so that a compiler error there names its entry. */
static cupel_code make_text(const job *j, cupel_buffer *out) {
    const cupel_source *source = j->request->source;
    CUPEL_TRY(add(out, "#line 1 \"" CUPEL_CUDA_PRELUDE_FILE "\"\n", j->err));
    CUPEL_TRY(add(out, cupel_device_prelude, j->err));
    CUPEL_TRY(add(out, "\n#line 1 ", j->err));
    CUPEL_TRY(cupel_emu_entries_string(out, source->path, j->err));
    CUPEL_TRY(add(out, "\n", j->err));
    CUPEL_TRY(cupel_buffer_add(out, source->text, source->length, j->err));
    CUPEL_TRY(add(out, "\n#line 1 \"" CUPEL_CUDA_PRELUDE_FILE "\"\n", j->err));
    CUPEL_TRY(add(out, cupel_device_signature, j->err));
    CUPEL_TRY(add(out, "\n#line 1 \"" CUPEL_CUDA_ENTRIES_FILE "\"\n", j->err));
    for (int i = 0; i < j->request->entry_count; i++)
        CUPEL_TRY(cupel_buffer_printf(out, j->err, "CUPEL_SIGNATURE(%d, %s)\n", i, j->request->entries[i]));
    return CUPEL_OK;
}

/* ---- errors ---- */

static const char *last_part(const char *name) {
    const char *colon = strrchr(name, ':');
    return colon != NULL ? colon + 1 : name;
}

/* No kernel of that name, or one whose template does not take these arguments. */
static cupel_code mismatch(const job *j, const char *entry, const char *compiler_says) {
    const cupel_source *source = j->request->source;
    const char *base = cupel_emu_entries_base(entry, j->arena);
    const char **names = cupel_arena_raw(j->arena, (size_t)source->kernel_count + 1, sizeof *names);
    if (base == NULL || names == NULL) return out_of_memory(j->err);
    for (int i = 0; i < source->kernel_count; i++) {
        const cupel_source_kernel *kernel = &source->kernels[i];
        names[i] = last_part(kernel->name);
        if (strcmp(names[i], base) == 0)
            return cupel_fail_at(j->err, CUPEL_MISMATCH, kernel->file, kernel->line, 1,
                                 "the entry '%s' does not fit the kernel '%s(%s)': %s", entry, kernel->name,
                                 kernel->parameters, compiler_says);
    }
    const char *nearest = cupel_text_nearest(base, names, (size_t)source->kernel_count);
    if (nearest == NULL)
        return cupel_fail(j->err, CUPEL_MISMATCH, "%s has no kernel '%s' (%d kernels found)", source->path,
                          entry, source->kernel_count);
    return cupel_fail(j->err, CUPEL_MISMATCH, "%s has no kernel '%s'; did you mean '%s'?", source->path,
                      entry, nearest);
}

/* A header of CUDA's that is not on this machine says nothing of the kernel. */
static cupel_code missing_header(const job *j, const cupel_cuda_diagnostic *d) {
    return cupel_fail_at(j->err, CUPEL_UNSUPPORTED, d->file, d->line, 1,
                         "%s: %s; the CUDA toolkit's header folder %s%s (set CUDA_PATH)", "NVRTC", d->text,
                         j->nvrtc->toolkit[0] != '\0' ? "is " : "was not found", j->nvrtc->toolkit);
}

/* Does the error stand in a line of ours, or NVRTC's, that spells an entry? */
static bool names_entry(const cupel_cuda_diagnostic *d) {
    return strcmp(d->file, CUPEL_CUDA_ENTRIES_FILE) == 0 || strncmp(d->file, "__nv_", 5) == 0;
}

static cupel_code report(const job *j, const cupel_cuda_diagnostic *found, int count, const char *log) {
    const cupel_cuda_compile_request *r = j->request;
    for (int i = 0; i < count; i++)
        if (strstr(found[i].text, "cannot open source file") != NULL) return missing_header(j, &found[i]);
    for (int i = 0; i < count; i++)
        if (!names_entry(&found[i]))
            return cupel_fail_at(j->err, CUPEL_BUILD, found[i].file, found[i].line, 1, "%s", found[i].text);
    for (int i = 0; i < count; i++)
        if (strcmp(found[i].file, CUPEL_CUDA_ENTRIES_FILE) == 0 && found[i].line >= 1 &&
            found[i].line <= r->entry_count)
            return mismatch(j, r->entries[found[i].line - 1], found[i].text);
    return cupel_fail_at(j->err, CUPEL_BUILD, r->source->path, 1, 1, "NVRTC: %.600s", log);
}

/* Leaves out what the errors stand in, as far as the entries can do without it; else tells what is wrong. */
static cupel_code handle_errors(const job *j, const char *log) {
    const cupel_cuda_compile_request *r = j->request;
    cupel_cuda_diagnostic *found;
    int count;
    bool any = false;
    CUPEL_TRY(cupel_cuda_text_errors(log, j->nvrtc->toolkit, j->arena, &count, &found, j->err));
    for (int i = 0; i < count; i++) {
        bool dropped;
        CUPEL_TRY(cupel_source_drop(r->source, found[i].file, found[i].line, r->entry_count, r->entries,
                                    &dropped, j->err));
        any = any || dropped;
    }
    return any ? CUPEL_OK : report(j, found, count, log);
}

static cupel_code compile(const job *j, cupel_nvrtc_output *out) {
    const cupel_cuda_compile_request *r = j->request;
    const char **names = cupel_arena_alloc(j->arena, ((size_t)name_count(j) + 1) * sizeof *names);
    if (names == NULL) return out_of_memory(j->err);
    for (int i = 0; i < r->entry_count; i++) names[i] = r->entries[i];
    for (int i = 0; i < r->variable_count; i++) {
        names[r->entry_count + i] = cupel_arena_printf(j->arena, "&%s", r->variables[i]);
        if (names[r->entry_count + i] == NULL) return out_of_memory(j->err);
    }
    for (int round = 0; round < ROUNDS_MAX; round++) {
        cupel_buffer text = {.arena = j->arena};
        CUPEL_TRY(make_text(j, &text));
        cupel_nvrtc_request request = {.text = text.bytes,
                                       .name = "cupel.cu",
                                       .architecture = r->architecture,
                                       .define_count = r->define_count,
                                       .defines = r->defines,
                                       .option_count = r->option_count,
                                       .options = r->options,
                                       .entry_count = name_count(j),
                                       .entries = names};
        CUPEL_TRY(cupel_nvrtc_compile(&request, j->arena, out, j->err));
        if (out->success) return CUPEL_OK;
        CUPEL_TRY(handle_errors(j, out->log));
    }
    return cupel_fail_at(j->err, CUPEL_BUILD, r->source->path, 1, 1, "too many errors in host code");
}

/* ---- the cache: one file, magic, the sizes of its parts, the parts ---- */

enum { PARTS = 3 };
static const char magic[8] = "CUPELGPU";

static void hash_text(XXH3_state_t *state, const char *text) {
    XXH3_128bits_update(state, text, strlen(text) + 1);
}

static cupel_code cache_path(const job *j, const char **path) {
    const cupel_cuda_compile_request *r = j->request;
    XXH3_state_t *state = XXH3_createState();
    if (state == NULL) return out_of_memory(j->err);
    XXH3_128bits_reset(state);
    hash_text(state, step_version);
    hash_text(state, cupel_device_prelude);
    hash_text(state, cupel_device_signature);
    const int numbers[] = {j->nvrtc->major, j->nvrtc->minor, r->architecture};
    XXH3_128bits_update(state, numbers, sizeof numbers);
    hash_text(state, j->nvrtc->library);
    hash_text(state, j->nvrtc->toolkit);
    hash_text(state, r->source->path);
    XXH3_128bits_update(state, r->source->text, r->source->length);
    for (int i = 0; i < r->define_count; i++) hash_text(state, r->defines[i]);
    for (int i = 0; i < r->option_count; i++) hash_text(state, r->options[i]);
    hash_text(state, "entries");
    for (int i = 0; i < r->entry_count; i++) hash_text(state, r->entries[i]);
    if (r->variable_count > 0) hash_text(state, "variables");
    for (int i = 0; i < r->variable_count; i++) hash_text(state, r->variables[i]);
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    *path = cupel_arena_printf(j->arena, "%s/%016llx%016llx.gpu", r->cache, (unsigned long long)hash.high64,
                               (unsigned long long)hash.low64);
    return *path != NULL ? CUPEL_OK : out_of_memory(j->err);
}

/* False where there is no sound file: then it is compiled anew. */
static bool load(const job *j, const char *path, cupel_nvrtc_output *out) {
    char *bytes;
    size_t length, header = sizeof magic + PARTS * sizeof(uint64_t);
    uint64_t sizes[PARTS];
    if (access(path, R_OK) != 0 || cupel_text_read(path, j->arena, &bytes, &length, NULL) != CUPEL_OK ||
        length < header || memcmp(bytes, magic, sizeof magic) != 0)
        return false;
    memcpy(sizes, bytes + sizeof magic, sizeof sizes);
    if (sizes[0] > length || sizes[1] > length || sizes[2] > length || sizes[2] == 0 ||
        header + sizes[0] + sizes[1] + sizes[2] != length)
        return false;
    out->cubin = (unsigned char *)bytes + header;
    out->cubin_size = sizes[0];
    out->ptx = cupel_arena_text(j->arena, bytes + header + sizes[0], sizes[1]);
    const char *name = bytes + header + sizes[0] + sizes[1], *stop = bytes + length;
    int count = name_count(j);
    out->lowered = cupel_arena_alloc(j->arena, ((size_t)count + 1) * sizeof *out->lowered);
    if (out->ptx == NULL || out->lowered == NULL || stop[-1] != '\0') return false;
    for (int i = 0; i < count; i++) {
        if (name >= stop) return false;
        out->lowered[i] = name;
        name += strlen(name) + 1;
    }
    return true;
}

static cupel_code make_folder(const char *path, cupel_error *err) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return cupel_fail(err, CUPEL_IO, "cannot make the folder %s: %s", path, strerror(errno));
    return CUPEL_OK;
}

static cupel_code save(const job *j, const char *path, const cupel_nvrtc_output *output) {
    cupel_buffer out = {.arena = j->arena}, names = {.arena = j->arena};
    for (int i = 0; i < name_count(j); i++)
        CUPEL_TRY(cupel_buffer_add(&names, output->lowered[i], strlen(output->lowered[i]) + 1, j->err));
    uint64_t sizes[PARTS] = {output->cubin_size, strlen(output->ptx), names.length};
    CUPEL_TRY(make_folder(j->request->cache, j->err));
    CUPEL_TRY(cupel_buffer_add(&out, magic, sizeof magic, j->err));
    CUPEL_TRY(cupel_buffer_add(&out, (const char *)sizes, sizeof sizes, j->err));
    CUPEL_TRY(cupel_buffer_add(&out, (const char *)output->cubin, output->cubin_size, j->err));
    CUPEL_TRY(cupel_buffer_add(&out, output->ptx, sizes[1], j->err));
    CUPEL_TRY(cupel_buffer_add(&out, names.bytes, names.length, j->err));
    return cupel_text_write(path, out.bytes, out.length, j->err);
}

/* ---- the whole ---- */

static cupel_code describe(const job *j, const cupel_nvrtc_output *output, cupel_cuda_code *out) {
    const cupel_cuda_compile_request *r = j->request;
    out->cubin = output->cubin;
    out->cubin_size = output->cubin_size;
    out->kernel_count = r->entry_count;
    out->variables = output->lowered + r->entry_count;
    out->atomics_known = output->ptx[0] != '\0';
    out->keeps_state = cupel_cuda_text_state(output->ptx);
    out->kernels = cupel_arena_alloc(j->arena, ((size_t)r->entry_count + 1) * sizeof *out->kernels);
    if (out->kernels == NULL) return out_of_memory(j->err);
    for (int i = 0; i < r->entry_count; i++) {
        cupel_cuda_kernel *kernel = &out->kernels[i];
        kernel->lowered = output->lowered[i];
        kernel->kernel.entry = cupel_arena_text(j->arena, r->entries[i], strlen(r->entries[i]));
        if (kernel->kernel.entry == NULL) return out_of_memory(j->err);
        CUPEL_TRY(cupel_cuda_text_signature(output->ptx, i, j->arena, &kernel->kernel, j->err));
        cupel_cuda_text_atomics(output->ptx, kernel->lowered, &kernel->adds_float_atomically,
                                &kernel->swaps_atomically);
    }
    return CUPEL_OK;
}

cupel_code cupel_cuda_compile(const cupel_cuda_compile_request *request, cupel_arena *arena,
                              cupel_cuda_code *out, cupel_error *err) {
    job j = {.request = request, .arena = arena, .err = err};
    cupel_nvrtc_output output = {0};
    const char *path = NULL;
    memset(out, 0, sizeof *out);
    CUPEL_TRY(cupel_nvrtc_find(&j.nvrtc, err));
    if (request->cache != NULL) CUPEL_TRY(cache_path(&j, &path));
    if (path != NULL && load(&j, path, &output)) return describe(&j, &output, out);
    cupel_code code = compile(&j, &output);
    if (code == CUPEL_OK) code = describe(&j, &output, out);
    if (code == CUPEL_OK && path != NULL) code = save(&j, path, &output);
    if (code == CUPEL_BUILD || code == CUPEL_MISMATCH) cupel_source_tell_missing(request->source, err);
    cupel_code restored = cupel_source_restore(request->source, code == CUPEL_OK ? err : NULL);
    return code == CUPEL_OK ? restored : code;
}
