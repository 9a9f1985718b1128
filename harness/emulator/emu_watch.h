/* A watch for a debugger: calls a function on which it can stop when some bytes are stored to, or when the
 * checker has something to report. Nothing is watched in ordinary runs. */
#ifndef CUPEL_EMU_WATCH_H
#define CUPEL_EMU_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CUPEL_EMU_WATCH_VALUES = 1024 };

typedef struct cupel_emu_watch {
    uintptr_t
        address; /* of bytes in global memory that runs find not valid, so that stores there are looked at; */
    size_t size; /* at most 8; 0: none */
    int stop_store;                          /* the store at which to stop, from 1 on; 0: at none */
    unsigned stop_accesses;                  /* bit per cupel_access_kind at whose first report to stop */
    bool stop_end;                           /* stop where the run is ended by a fault */
    int stores;                              /* seen so far */
    uint64_t values[CUPEL_EMU_WATCH_VALUES]; /* what each store but the last left, as far as there is room */
} cupel_emu_watch;

/* Watches from now on, until NULL is given. watch is borrowed. */
void cupel_emu_watch_over(cupel_emu_watch *watch);

bool cupel_emu_watch_is_on(void);

/* Does nothing; a debugger stops here. The caller's caller is the code in question. */
void cupel_emu_watch_hit(void);

/* Called by the checker. store: true when the bytes are watched, and so are valid after all. */
bool cupel_emu_watch_store(uintptr_t address, size_t size);
bool cupel_emu_watch_covers(uintptr_t address, size_t size);
void cupel_emu_watch_access(int kind);
void cupel_emu_watch_end(void);

#endif
