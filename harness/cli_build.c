#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "object_set.h"

static cupel_code make_folder(const char *path, cupel_error *err) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return cupel_fail(err, CUPEL_IO, "cannot make the folder %s: %s", path, strerror(errno));
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return cupel_fail(err, CUPEL_IO, "%s: expected a folder", path);
    return CUPEL_OK;
}

static cupel_code build_one(const cupel_cli_settings *settings, const cupel_contract *contract,
                            const cupel_executor_options *options, cupel_error *err) {
    cupel_object_set_report report;
    CUPEL_TRY(cupel_object_set_build(contract, options, settings->directory, &report, err));
    printf("%s: %d object%s\n", contract->id, report.built, report.built == 1 ? "" : "s");
    if (report.left_out > 0) printf("  left out: %d, %s\n", report.left_out, report.why);
    return CUPEL_OK;
}

/* Every contract of the file, or the one that was asked for. */
static cupel_code build_all(const cupel_cli_settings *settings, const char *path, const char *cache,
                            cupel_arena *arena, cupel_error *err) {
    cupel_contracts contracts = {0};
    int built = 0;
    CUPEL_TRY(cupel_contracts_load_chosen(path, settings->contract, arena, &contracts, err));
    CUPEL_TRY(make_folder(settings->directory, err));
    const cupel_executor_options options = {.cache = cache,
                                            .define_count = settings->defines.count,
                                            .include_count = settings->includes.count,
                                            .defines = settings->defines.items,
                                            .includes = settings->includes.items};
    for (int i = 0; i < contracts.count; i++) {
        const cupel_contract *contract = contracts.items[i];
        if (settings->contract != NULL && strcmp(contract->id, settings->contract) != 0) continue;
        CUPEL_TRY(build_one(settings, contract, &options, err));
        built++;
    }
    if (built > 0) return CUPEL_OK;
    return cupel_fail(err, CUPEL_USAGE, "%s has no contract '%s'", settings->operand, settings->contract);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
    (void)info, (void)type, (void)walk;
    return remove(path);
}

/* With a folder for what the compiler needs on the way. */
static cupel_code build_aside(const cupel_cli_settings *settings, cupel_arena *arena, cupel_error *err) {
    char cache[] = "/tmp/cupel-build-XXXXXX";
    CUPEL_TRY(cupel_cli_expect_file(settings->operand, err));
    char *path = realpath(settings->operand, NULL); /* messages name the file by it */
    if (path == NULL)
        return cupel_fail(err, CUPEL_IO, "cannot read %s: %s", settings->operand, strerror(errno));
    cupel_code code = mkdtemp(cache) != NULL ? build_all(settings, path, cache, arena, err)
                                             : cupel_fail(err, CUPEL_IO, "cannot make the folder %s: %s",
                                                          cache, strerror(errno));
    (void)nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(path);
    return code;
}

int cupel_cli_build(const cupel_cli_settings *settings) {
    cupel_error err = {0};
    cupel_arena *arena = cupel_arena_create(0);
    cupel_code code = CUPEL_OK;
    if (arena == NULL) code = cupel_fail(&err, CUPEL_MEMORY, "no memory for the contract");
    if (code == CUPEL_OK && settings->directory == NULL)
        code = cupel_fail(&err, CUPEL_USAGE, "expected -o FOLDER: where the objects go");
    if (code == CUPEL_OK) code = build_aside(settings, arena, &err);
    cupel_arena_free(arena);
    return code == CUPEL_OK ? 0 : cupel_cli_complain(&err, settings->json);
}
