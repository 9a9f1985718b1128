/* cupel: one program, which also is its own worker. */
#include <string.h>

#include "cli.h"

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--worker") == 0) return cupel_worker_main(argc, argv);
    return cupel_cli_main(argc, argv);
}
