#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

void cupel_cli_cache_folder(char *path, size_t size) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        snprintf(path, size, "%s/cupel", cache);
    else if (home && home[0] == '/')
        snprintf(path, size, "%s/.cache/cupel", home);
    else
        snprintf(path, size, "/tmp/cupel-%ld", (long)getuid());
}

cupel_code cupel_cli_expect_file(const char *path, cupel_error *err) {
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode)) return CUPEL_OK;
    const char *kind = S_ISDIR(info.st_mode)    ? "a folder"
                       : S_ISFIFO(info.st_mode) ? "a fifo"
                       : S_ISSOCK(info.st_mode) ? "a socket"
                                                : "a device";
    return cupel_fail(err, CUPEL_IO, "%s: expected a file, found %s", path, kind);
}

cupel_code cupel_cli_unknown(const char *option, const char *name, const char *const *names, size_t count,
                             cupel_error *err) {
    char list[700] = "none";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", names[i]);
    const char *near = cupel_text_nearest(name, names, count);
    if (near)
        return cupel_fail(err, CUPEL_USAGE, "%s: '%s' is unknown, did you mean '%s'? Known: %s", option, name,
                          near, list);
    return cupel_fail(err, CUPEL_USAGE, "%s: '%s' is unknown; known: %s", option, name, list);
}

static cupel_code choose(const cupel_contracts *contracts, const char *path, const char *id,
                         const cupel_contract **out, cupel_error *err) {
    const char *ids[64];
    char list[512] = "";
    size_t used = 0, count = 0;
    for (int i = 0; i < contracts->count; i++) {
        const cupel_contract *contract = contracts->items[i];
        if ((id && strcmp(contract->id, id) == 0) || (!id && contracts->count == 1)) {
            *out = contract;
            return CUPEL_OK;
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", contract->id);
        if (count < sizeof ids / sizeof *ids) ids[count++] = contract->id;
    }
    if (!id)
        return cupel_fail(err, CUPEL_USAGE, "%s holds several contracts, choose one with --contract: %s",
                          path, list);
    const char *near = cupel_text_nearest(id, ids, count);
    if (near)
        return cupel_fail(err, CUPEL_USAGE, "%s has no contract '%s', did you mean '%s'? It has: %s", path,
                          id, near, list);
    return cupel_fail(err, CUPEL_USAGE, "%s has no contract '%s'; it has: %s", path, id, list);
}

/* Workers inherit it. */
static cupel_code use_objects(const char *folder, cupel_error *err) {
    struct stat info;
    char *real = realpath(folder, NULL);
    bool usable =
        real && stat(real, &info) == 0 && S_ISDIR(info.st_mode) && setenv("CUPEL_OBJECTS", real, 1) == 0;
    free(real);
    return usable ? CUPEL_OK : cupel_fail(err, CUPEL_USAGE, "--objects: %s is no folder", folder);
}

cupel_code cupel_cli_session_open(const cupel_cli_settings *settings, const char *path, const char *id,
                                  cupel_cli_session *session, cupel_error *err) {
    memset(session, 0, sizeof *session);
    if (!path)
        return cupel_fail(err, CUPEL_USAGE, "expected a file: a .cu, .c or .yaml file that holds a contract");
    if (strpbrk(path, "\r\n"))
        return cupel_fail(err, CUPEL_USAGE, "the file's name holds a line break, which no message can carry");
    CUPEL_TRY(cupel_cli_expect_file(path, err));
    if (settings->objects) CUPEL_TRY(use_objects(settings->objects, err));
    session->arena = cupel_arena_create(0);
    if (!session->arena) return cupel_fail(err, CUPEL_MEMORY, "no memory for the contract");
    cupel_contracts contracts = {0};
    cupel_code code = cupel_contracts_load_chosen(path, id, session->arena, &contracts, err);
    if (code == CUPEL_OK) code = choose(&contracts, path, id, &session->contract, err);
    if (code == CUPEL_OK && session->contract->source)
        code = cupel_cli_expect_file(session->contract->source, err);
    if (code != CUPEL_OK) {
        cupel_cli_session_close(session);
        return code;
    }
    cupel_cli_cache_folder(session->cache, sizeof session->cache);
    const char *executor =
        settings->executor ? settings->executor : cupel_executor_default(session->contract)->name;
    session->supervisor = (cupel_supervisor_options){.executor = executor,
                                                     .exec = {.cache = session->cache,
                                                              .define_count = settings->defines.count,
                                                              .include_count = settings->includes.count,
                                                              .defines = settings->defines.items,
                                                              .includes = settings->includes.items,
                                                              .whole_grids = settings->whole_grids},
                                                     .contract_path = path};
    return CUPEL_OK;
}

void cupel_cli_session_close(cupel_cli_session *session) {
    cupel_arena_free(session->arena);
    session->arena = NULL;
}
