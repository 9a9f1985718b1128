#include "cli.h"

int cupel_cli_fuzz(const cupel_cli_settings *settings) {
    cupel_error err = {0};
    (void)cupel_fail(&err, CUPEL_USAGE, "'cupel fuzz' is not there yet");
    return cupel_cli_complain(&err, settings->json);
}
