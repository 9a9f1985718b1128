#include "emu_watch.h"

#include <string.h>

/* Part of the emulator's one machine, apart from it because nothing hot needs it. */
static cupel_emu_watch *watched;

void cupel_emu_watch_over(cupel_emu_watch *watch) {
    watched = watch;
}

bool cupel_emu_watch_is_on(void) {
    return watched != NULL;
}

__attribute__((noinline)) void cupel_emu_watch_hit(void) {
    __asm__ volatile(""); /* a body of its own: calls stay */
}

bool cupel_emu_watch_covers(uintptr_t address, size_t size) {
    return watched && address < watched->address + watched->size && watched->address < address + size;
}

/* Called before the bytes change: they still hold what the store before this one left. */
bool cupel_emu_watch_store(uintptr_t address, size_t size) {
    if (!cupel_emu_watch_covers(address, size)) return false;
    if (watched->stores > 0 && watched->stores <= CUPEL_EMU_WATCH_VALUES)
        memcpy(&watched->values[watched->stores - 1], (const void *)watched->address, watched->size);
    if (++watched->stores == watched->stop_store) cupel_emu_watch_hit();
    return true;
}

void cupel_emu_watch_access(int kind) {
    if (!watched || !(watched->stop_accesses >> kind & 1)) return;
    watched->stop_accesses = 0;
    cupel_emu_watch_hit();
}

void cupel_emu_watch_end(void) {
    if (watched && watched->stop_end) cupel_emu_watch_hit();
}
