/* The fixed parts of reproduction files, embedded as they stand in repro_parts/. */
#include "repro_impl.h"

#define EMBED(symbol, file)                                                                                  \
    __asm__(".pushsection .rodata\n.globl " #symbol "\n" #symbol ":\n.incbin \"" CUPEL_REPRO_PARTS "/" file  \
            "\"\n.byte 0\n.popsection\n")

EMBED(cupel_repro_common, "repro_common.h");
EMBED(cupel_repro_device, "repro_device.h");
EMBED(cupel_repro_host, "repro_host.h");
