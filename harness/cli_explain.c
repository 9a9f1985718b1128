#include "cli.h"

int cupel_cli_explain(const cupel_cli_settings *settings) {
    cupel_error err = {0};
    (void)cupel_fail(&err, CUPEL_USAGE, "'cupel explain' is not there yet");
    return cupel_cli_complain(&err, settings->json);
}
