/* cupel: one program, which also is its own worker. */
#include <signal.h>
#include <string.h>

#include "cli.h"

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--worker") == 0) return cupel_worker_main(argc, argv);
    (void)signal(SIGXFSZ, SIG_IGN); /* a write over the limit fails instead */
    return cupel_cli_main(argc, argv);
}
