#include "cli.h"

int cupel_cli_diff(const cupel_cli_settings *settings) {
    cupel_error err = {0};
    (void)cupel_fail(&err, CUPEL_USAGE, "'cupel diff' is not there yet");
    return cupel_cli_complain(&err, settings->json);
}
