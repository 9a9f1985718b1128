#include "host_build.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "emu_compiler.h"

enum { COMPILE_SECONDS = 60, ARGUMENTS_MAX = 160 };

typedef struct command {
    const char *argv[ARGUMENTS_MAX];
    int count;
    cupel_arena *arena;
    bool failed; /* out of memory or of room */
} command;

static void add(command *c, const char *argument) {
    c->failed = c->failed || !argument || c->count == ARGUMENTS_MAX - 1;
    if (!c->failed) c->argv[c->count++] = argument;
}

static void add_flags(command *c, const char *flag, const char *const *texts, int count) {
    for (int i = 0; i < count; i++) add(c, cupel_arena_printf(c->arena, "%s%s", flag, texts[i]));
}

static bool is_object(const char *path) {
    const char *name = strrchr(path, '/');
    return strstr(name ? name : path, ".so") != NULL;
}

/* What a user's own build would be: optimised, with lines for messages. Calls inside the candidate stay
 * inside it. */
static void add_common(command *c, const cupel_contract *contract, const cupel_executor_options *options) {
    static const char *const fixed[] = {"clang",
                                        "-std=gnu17",
                                        "-O2",
                                        "-g",
                                        "-fPIC",
                                        "-fno-builtin-malloc",
                                        "-fno-builtin-calloc",
                                        "-fno-builtin-realloc",
                                        "-fno-builtin-free"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) add(c, fixed[i]);
    add_flags(c, "-D", contract->source_defines, contract->source_define_count);
    add_flags(c, "-D", options->defines, options->define_count);
    add_flags(c, "-I", contract->source_includes, contract->source_include_count);
    add_flags(c, "-I", options->includes, options->include_count);
    add(c, contract->source);
}

static cupel_code compiler_message(const cupel_contract *contract, const char *log, cupel_arena *arena,
                                   cupel_error *err) {
    int count;
    cupel_emu_diagnostic *found;
    CUPEL_TRY(cupel_emu_compiler_diagnostics(log, "/usr/", arena, &count, &found, err));
    if (count)
        return cupel_fail_at(err, CUPEL_BUILD, found[0].file, found[0].line, found[0].column, "%s",
                             found[0].text);
    return cupel_fail(err, CUPEL_BUILD, "%s does not compile", contract->source);
}

static cupel_code run_compiler(command *c, const cupel_contract *contract, const char *log,
                               cupel_error *err) {
    bool success = false;
    if (c->failed) return cupel_fail(err, CUPEL_MEMORY, "no room for the compiler's arguments");
    CUPEL_TRY(cupel_emu_compiler_run(c->argv, log, COMPILE_SECONDS, &success, err));
    return success ? CUPEL_OK : compiler_message(contract, log, c->arena, err);
}

/* The preprocessed text and its name in the cache. */
static cupel_code name_object(const cupel_contract *contract, const cupel_executor_options *options,
                              const char *stem, const char *log, cupel_arena *arena, const char **path,
                              cupel_error *err) {
    command c = {.arena = arena};
    char *text;
    size_t length;
    const char *preprocessed = cupel_arena_printf(arena, "%s.i", stem);
    add_common(&c, contract, options);
    add(&c, "-E");
    add(&c, "-o");
    add(&c, preprocessed);
    CUPEL_TRY(run_compiler(&c, contract, log, err));
    cupel_code code = cupel_text_read(preprocessed, arena, &text, &length, err);
    unlink(preprocessed);
    if (code != CUPEL_OK) return code;
    XXH64_hash_t flags = 0;
    for (int i = 0; i < c.count && strcmp(c.argv[i], "-E"); i++)
        flags = XXH3_64bits_withSeed(c.argv[i], strlen(c.argv[i]) + 1, flags);
    XXH128_hash_t hash = XXH3_128bits_withSeed(text, length, flags);
    *path = cupel_arena_printf(arena, "%s/host-%016llx%016llx.so", options->cache,
                               (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    return *path ? CUPEL_OK : cupel_fail(err, CUPEL_MEMORY, "no memory for the path of an object");
}

/* Compiled beside its place and moved there, so that two processes never see half an object. */
static cupel_code compile(const cupel_contract *contract, const cupel_executor_options *options,
                          const char *stem, const char *log, cupel_arena *arena, const char *path,
                          cupel_error *err) {
    command c = {.arena = arena};
    const char *object = cupel_arena_printf(arena, "%s.so", stem);
    add_common(&c, contract, options);
    add(&c, "-shared");
    add(&c, "-Wl,-Bsymbolic"); /* calls inside the candidate stay inside it */
    add(&c, "-lm");
    add(&c, "-o");
    add(&c, object);
    CUPEL_TRY(run_compiler(&c, contract, log, err));
    if (rename(object, path))
        return cupel_fail(err, CUPEL_IO, "cannot move the compiled candidate to %s", path);
    return CUPEL_OK;
}

cupel_code cupel_host_build(const cupel_contract *contract, const cupel_executor_options *options,
                            cupel_arena *arena, const char **path, cupel_error *err) {
    if (!contract->source)
        return cupel_fail(err, CUPEL_CONTRACT, "the contract names no source: {file: ...}");
    *path = contract->source;
    if (is_object(contract->source)) return CUPEL_OK;
    if (!options->cache) return cupel_fail(err, CUPEL_USAGE, "a folder for compiled candidates is needed");
    const char *stem = cupel_arena_printf(arena, "%s/host-%d", options->cache, (int)getpid());
    const char *log = stem ? cupel_arena_printf(arena, "%s.log", stem) : NULL;
    if (!log) return cupel_fail(err, CUPEL_MEMORY, "no memory for a path");
    cupel_code code = name_object(contract, options, stem, log, arena, path, err);
    if (code == CUPEL_OK && access(*path, R_OK) != 0)
        code = compile(contract, options, stem, log, arena, *path, err);
    unlink(log);
    return code;
}
