/* What commands that start from a bundle share. */
#ifndef CUPEL_CLI_BUNDLE_H
#define CUPEL_CLI_BUNDLE_H

#include "bundle.h"
#include "cli.h"

typedef struct cupel_cli_bundle {
    cupel_bundle_info info;
    cupel_cli_settings settings; /* with the bundle's executor, defines and include folders */
    cupel_cli_session session;
    cupel_recipe recipe;
    cupel_supervisor *supervisor; /* NULL without workers */
    const char *kernel;           /* the file that holds the contract */
} cupel_cli_bundle;

/* The folder's name without slashes at its end. */
void cupel_cli_bundle_name(const char *operand, char *name, size_t size);

/* Opens a bundle, its contract, its recipe and, with workers, its candidate. Filled in place: session points
 * into it. command is named in messages. */
CUPEL_MUST_USE cupel_code cupel_cli_bundle_open(const char *command, const cupel_cli_settings *settings,
                                                const char *bundle, bool workers, cupel_cli_bundle *out,
                                                cupel_error *err);
/* The likely cause that the bundle holds of a finding; "" where it is of another one, or of another kernel.
 */
const char *cupel_cli_bundle_cause(const cupel_cli_bundle *opened, const char *signature);
void cupel_cli_bundle_close(cupel_cli_bundle *opened);

#endif
