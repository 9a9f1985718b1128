#include "cli_bundle.h"

#include <string.h>
#include <unistd.h>

#include "check.h"

void cupel_cli_bundle_name(const char *operand, char *name, size_t size) {
    snprintf(name, size, "%s", operand);
    for (size_t length = strlen(name); length > 1 && name[length - 1] == '/'; length--)
        name[length - 1] = '\0';
}

/* The kernel may have moved away: then the user says where it is. */
static cupel_code expect_kernel(const char *command, const cupel_cli_bundle *o, cupel_error *err) {
    if (o->settings.second && cupel_bundle_exists(o->settings.second))
        return cupel_fail(err, CUPEL_USAGE,
                          "one bundle expected, found '%s' too; the second operand is the kernel's file",
                          o->settings.second);
    if (o->settings.second || access(o->kernel, F_OK) == 0) return CUPEL_OK;
    return cupel_fail(err, CUPEL_IO, "the kernel is no longer at %s; say where it is: cupel %s BUNDLE KERNEL",
                      o->kernel, command);
}

/* Whatever a bundle's own files make fail is a mistake of those files. */
static cupel_code read_recipe(const char *bundle, cupel_cli_bundle *o, cupel_error *err) {
    cupel_code code = cupel_bundle_recipe(bundle, o->session.contract, &o->recipe, err);
    if (code != CUPEL_OK && code != CUPEL_MEMORY && cupel_check_error_status(code) != 2)
        err->code = code = CUPEL_SYNTAX;
    return code;
}

static cupel_code open_workers(cupel_cli_bundle *o, cupel_error *err) {
    cupel_code code = cupel_supervisor_open(o->session.contract, &o->session.supervisor, &o->supervisor, err);
    return code == CUPEL_OK ? code : cupel_check_executor_failed(o->session.contract, code, err);
}

cupel_code cupel_cli_bundle_open(const char *command, const cupel_cli_settings *settings, const char *bundle,
                                 bool workers, cupel_cli_bundle *out, cupel_error *err) {
    cupel_cli_bundle *o = out;
    memset(o, 0, sizeof *o);
    CUPEL_TRY(cupel_bundle_open(bundle, &o->info, err));
    o->settings = *settings;
    if (!o->settings.executor) o->settings.executor = o->info.executor;
    for (int i = 0; i < o->info.define_count && o->settings.defines.count < CUPEL_CLI_LIST_MAX; i++)
        o->settings.defines.items[o->settings.defines.count++] = o->info.defines[i];
    for (int i = 0; i < o->info.include_count && o->settings.includes.count < CUPEL_CLI_LIST_MAX; i++)
        o->settings.includes.items[o->settings.includes.count++] = o->info.includes[i];
    o->kernel = settings->second ? settings->second : o->info.contract_path;
    CUPEL_TRY(expect_kernel(command, o, err));
    CUPEL_TRY(cupel_cli_session_open(&o->settings, o->kernel, o->info.contract_id, &o->session, err));
    cupel_code code = read_recipe(bundle, o, err);
    if (code == CUPEL_OK && workers) code = open_workers(o, err);
    if (code != CUPEL_OK) cupel_cli_session_close(&o->session);
    return code;
}

void cupel_cli_bundle_close(cupel_cli_bundle *opened) {
    cupel_supervisor_close(opened->supervisor);
    cupel_cli_session_close(&opened->session);
}

const char *cupel_cli_bundle_cause(const cupel_cli_bundle *opened, const char *signature) {
    const bool same = strcmp(signature, opened->info.signature) == 0 &&
                      !cupel_bundle_source_changed(&opened->info, opened->session.contract);
    return same ? opened->info.cause : "";
}
