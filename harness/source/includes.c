#include "includes.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"

enum { DEPTH_MAX = 48, FILES_MAX = 1024 };

typedef struct visited {
    const char *path;
    bool open; /* being read now: an include of it is a cycle that its guard would stop */
    bool once; /* has #pragma once or an include guard */
} visited;

typedef struct assembler {
    const cupel_source_options *options;
    cupel_arena *arena;
    cupel_buffer out;
    visited files[FILES_MAX];
    size_t file_count;
    int depth;
    cupel_buffer missing;
    int missing_count;
    cupel_error *err;
} assembler;

static const char *const known[] = {"algorithm",
                                    "array",
                                    "assert.h",
                                    "cassert",
                                    "cctype",
                                    "cfloat",
                                    "climits",
                                    "cmath",
                                    "cooperative_groups.h",
                                    "cooperative_groups/memcpy_async.h",
                                    "cooperative_groups/reduce.h",
                                    "cooperative_groups/scan.h",
                                    "cstddef",
                                    "cstdint",
                                    "cstdio",
                                    "cstdlib",
                                    "cstring",
                                    "cub/cub.cuh",
                                    "cuda.h",
                                    "cuda/atomic",
                                    "cuda/barrier",
                                    "cuda/pipeline",
                                    "cuda_bf16.h",
                                    "cuda_fp16.h",
                                    "cuda_fp8.h",
                                    "cuda_pipeline.h",
                                    "cuda_pipeline_primitives.h",
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
                                    "math_constants.h",
                                    "mma.h",
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
                                    "vector_types.h"};

static int compare_names(const void *a, const void *b) {
    return strcmp(a, *(const char *const *)b);
}

bool cupel_includes_known(const char *name) {
    return bsearch(name, known, sizeof known / sizeof *known, sizeof *known, compare_names) != NULL;
}

/* Headers that only CUDA's own compiler can use. */
static bool known_to_device(const char *name) {
    static const char *const prefixes[] = {
        "cooperative_groups", "cuda_", "cuda/",           "cub/",           "mma.h", "nv/", "crt/", "sm_",
        "cutlass/",           "cute/", "builtin_types.h", "curand_kernel.h"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return true;
    return false;
}

/* CUB's headers of single algorithms: ours has all of them in one. */
static bool is_part_of_cub(const char *name) {
    return strncmp(name, "cub/block/", 10) == 0 || strncmp(name, "cub/warp/", 9) == 0;
}

static cupel_code add_cub(assembler *a) {
    static const char line[] = "#include <cub/cub.cuh>";
    return cupel_buffer_add(&a->out, line, sizeof line - 1, a->err);
}

/* The name between the brackets of an #include directive; quoted tells "" from <>. False for other directives
 * and for computed includes. */
static bool include_name(const cupel_tokens *tokens, size_t i, char *name, size_t size, bool *quoted) {
    char word[16];
    const cupel_token *t = &tokens->at[i];
    size_t p = cupel_lexer_directive(tokens, i, word, sizeof word), end = t->offset + t->length;
    if (strcmp(word, "include") != 0) return false;
    while (p < end && isblank((unsigned char)tokens->text[p])) p++;
    name[0] = '\0';
    if (p >= end || (tokens->text[p] != '"' && tokens->text[p] != '<')) return true;
    *quoted = tokens->text[p] == '"';
    size_t start = ++p;
    while (p < end && tokens->text[p] != '"' && tokens->text[p] != '>') p++;
    if (p - start < size) snprintf(name, size, "%.*s", (int)(p - start), tokens->text + start);
    return true;
}

/* The author's header of that name: beside the including file (quoted), then in the include folders. NULL
 * when not found. */
static const char *find_header(assembler *a, const char *from, const char *name, bool quoted) {
    const char *slash = strrchr(from, '/');
    const char *path = NULL;
    if (quoted) {
        int folder = slash ? (int)(slash - from + 1) : 0;
        path = name[0] == '/' ? name : cupel_arena_printf(a->arena, "%.*s%s", folder, from, name);
        if (path && access(path, R_OK) == 0) return path;
    }
    if (cupel_includes_known(name)) return NULL;
    for (int i = 0; i < a->options->include_count; i++) {
        path = cupel_arena_printf(a->arena, "%s/%s", a->options->includes[i], name);
        if (path && access(path, R_OK) == 0) return path;
    }
    return NULL;
}

/* #pragma once anywhere, or #ifndef X / #define X as the first two directives. */
static bool includes_itself_once(const cupel_tokens *tokens) {
    char first[16] = "", second[16] = "";
    size_t directives = 0;
    const char *guard = NULL;
    for (size_t i = 0; i < tokens->count; i++) {
        if (tokens->at[i].kind != CUPEL_TOKEN_DIRECTIVE) {
            if (directives < 2) directives = 2;
            continue;
        }
        char *name = directives ? second : first;
        size_t rest = cupel_lexer_directive(tokens, i, directives < 2 ? name : second, sizeof first);
        const char *argument = tokens->text + rest;
        while (isblank((unsigned char)*argument)) argument++;
        if (strcmp(directives ? second : first, "pragma") == 0 && strncmp(argument, "once", 4) == 0)
            return true;
        if (directives == 0 && strcmp(first, "ifndef") == 0) guard = argument;
        if (directives == 1 && guard && strcmp(second, "define") == 0) {
            size_t n = 0;
            while (isalnum((unsigned char)guard[n]) || guard[n] == '_') n++;
            if (n && strncmp(guard, argument, n) == 0) return true;
        }
        directives++;
    }
    return false;
}

static cupel_code assemble_file(assembler *a, const char *path);

/* Remembers a header that was left out although it looks like the author's own. */
static cupel_code note_missing(assembler *a, const char *name) {
    char quoted[300];
    snprintf(quoted, sizeof quoted, "'%s'", name);
    if (a->missing.bytes && strstr(a->missing.bytes, quoted)) return CUPEL_OK;
    return cupel_buffer_printf(&a->missing, a->err, "%s%s", a->missing_count++ ? ", " : "", quoted);
}

/* Puts a header in place of its directive, unless it is open or has been seen and guards itself. */
static cupel_code inline_header(assembler *a, const char *path, const cupel_token *where) {
    char resolved[PATH_MAX];
    const char *identity = realpath(path, resolved) ? resolved : path;
    for (size_t k = 0; k < a->file_count; k++)
        if (strcmp(a->files[k].path, identity) == 0 && (a->files[k].open || a->files[k].once))
            return CUPEL_OK;
    if (a->depth == DEPTH_MAX || a->file_count == FILES_MAX)
        return cupel_fail_at(a->err, CUPEL_UNSUPPORTED, where->file, where->line, 1,
                             "includes nest too deep");
    size_t me = a->file_count++;
    a->files[me] = (visited){.path = cupel_arena_text(a->arena, identity, strlen(identity)), .open = true};
    if (!a->files[me].path) return cupel_fail(a->err, CUPEL_MEMORY, "out of memory");
    a->depth++;
    CUPEL_TRY(cupel_buffer_printf(&a->out, a->err, "\n#line 1 \"%s\"\n", path));
    CUPEL_TRY(assemble_file(a, path));
    CUPEL_TRY(cupel_buffer_printf(&a->out, a->err, "\n#line %d \"%s\"", where->line + 1, where->file));
    a->depth--;
    a->files[me].open = false;
    return CUPEL_OK;
}

static cupel_code assemble_file(assembler *a, const char *path) {
    char *text;
    size_t length, copied = 0;
    cupel_tokens tokens;
    CUPEL_TRY(cupel_text_read(path, a->arena, &text, &length, a->err));
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) memset(text, ' ', 3); /* a byte order mark */
    CUPEL_TRY(cupel_lexer_run(text, length, path, a->arena, &tokens, a->err));
    if (a->file_count) a->files[a->file_count - 1].once = includes_itself_once(&tokens);
    for (size_t i = 0; i < tokens.count; i++) {
        const cupel_token *t = &tokens.at[i];
        char name[256], word[16];
        bool quoted = false;
        if (t->kind != CUPEL_TOKEN_DIRECTIVE) continue;
        cupel_lexer_directive(&tokens, i, word, sizeof word);
        bool pragma_once = strcmp(word, "pragma") == 0 && memmem(text + t->offset, t->length, "once", 4);
        if (!pragma_once && !include_name(&tokens, i, name, sizeof name, &quoted)) continue;
        const char *header = pragma_once || !*name ? NULL : find_header(a, path, name, quoted);
        bool known_here = cupel_includes_known(name) || (a->options->for_device && known_to_device(name));
        if (!pragma_once && !header && known_here) continue;
        if (!pragma_once && !header && quoted && *name) CUPEL_TRY(note_missing(a, name));
        CUPEL_TRY(cupel_buffer_add(&a->out, text + copied, t->offset - copied, a->err));
        if (header) CUPEL_TRY(inline_header(a, header, t));
        if (!header && is_part_of_cub(name) && !pragma_once) CUPEL_TRY(add_cub(a));
        for (size_t k = 0; k < t->length; k++)
            if (text[t->offset + k] == '\n') CUPEL_TRY(cupel_buffer_add(&a->out, "\n", 1, a->err));
        copied = t->offset + t->length;
    }
    return cupel_buffer_add(&a->out, text + copied, length - copied, a->err);
}

static cupel_code expect_folders(const cupel_source_options *options, cupel_error *err) {
    for (int i = 0; i < options->include_count; i++) {
        struct stat status;
        if (stat(options->includes[i], &status) == 0 && S_ISDIR(status.st_mode)) continue;
        return cupel_fail(err, CUPEL_USAGE, "the include folder '%s' does not exist (-I or source.include)",
                          options->includes[i]);
    }
    return CUPEL_OK;
}

cupel_code cupel_includes_assemble(const char *path, const cupel_source_options *options, cupel_arena *arena,
                                   char **text, size_t *length, const char **missing, int *missing_count,
                                   cupel_error *err) {
    static const cupel_source_options none = {0};
    assembler *a = cupel_arena_alloc(arena, sizeof *a);
    if (!a) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    a->options = options ? options : &none;
    a->arena = arena;
    a->err = err;
    a->out.arena = a->missing.arena = arena;
    CUPEL_TRY(expect_folders(a->options, err));
    CUPEL_TRY(assemble_file(a, path));
    *text = a->out.bytes ? a->out.bytes : cupel_arena_text(arena, "", 0);
    *length = a->out.length;
    *missing = a->missing.bytes ? a->missing.bytes : "";
    *missing_count = a->missing_count;
    return *text ? CUPEL_OK : cupel_fail(err, CUPEL_MEMORY, "out of memory");
}
