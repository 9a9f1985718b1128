#include "device_headers.h"

#define EMBED(name, file)                                                                                    \
    __asm__(".pushsection .rodata\n.globl " #name "\n" #name ":\n.incbin \"" CUPEL_DEVICE_FOLDER "/" file    \
            "\"\n.byte 0\n.popsection\n");
EMBED(cupel_device_prelude, "cupel_device_prelude.h")
EMBED(cupel_device_signature, "cupel_device_signature.h")
EMBED(cupel_device_helpers, "cupel_device_helpers.cu")
