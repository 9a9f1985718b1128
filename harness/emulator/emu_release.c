#include "emu_release.h"

#include <stdlib.h>
#include <string.h>

/* Kept by pieces of eight bytes: a flag may be stored whole and read in parts. */
enum { PIECE = 8, FIRST_CAPACITY = 256 };

typedef struct entry {
    uintptr_t piece; /* address / PIECE */
    uint32_t block;
    const cupel_emu_knowledge *known; /* NULL: the entry is empty */
} entry;

static struct {
    entry *entries;
    size_t count, capacity; /* a power of two, at most half full */
} table;

static size_t slot_of(const entry *entries, size_t capacity, uintptr_t piece, uint32_t block) {
    size_t slot =
        (size_t)((piece * 0x9E3779B97F4A7C15u + block * 0xC2B2AE3D27D4EB4Fu) >> 20) & (capacity - 1);
    while (entries[slot].known != NULL && (entries[slot].piece != piece || entries[slot].block != block))
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

static bool reserve(void) {
    if (2 * (table.count + 1) <= table.capacity) return true;
    const size_t capacity = table.capacity == 0 ? FIRST_CAPACITY : 2 * table.capacity;
    entry *entries = calloc(capacity, sizeof *entries);
    if (entries == NULL) return false;
    for (size_t i = 0; i < table.capacity; i++)
        if (table.entries[i].known != NULL)
            entries[slot_of(entries, capacity, table.entries[i].piece, table.entries[i].block)] =
                table.entries[i];
    free(table.entries);
    table.entries = entries;
    table.capacity = capacity;
    return true;
}

bool cupel_emu_release_put(uintptr_t address, size_t size, uint32_t block, const cupel_emu_knowledge *k) {
    for (uintptr_t piece = address / PIECE; piece <= (address + size - 1) / PIECE; piece++) {
        if (!reserve()) return false;
        entry *e = &table.entries[slot_of(table.entries, table.capacity, piece, block)];
        if (e->known == NULL) table.count++;
        *e = (entry){piece, block, cupel_emu_knowledge_join(e->known, k)};
    }
    return true;
}

const cupel_emu_knowledge *cupel_emu_release_get(uintptr_t address, size_t size, uint32_t block) {
    const cupel_emu_knowledge *known = NULL;
    if (table.count == 0) return NULL;
    for (uintptr_t piece = address / PIECE; piece <= (address + size - 1) / PIECE; piece++)
        known = cupel_emu_knowledge_join(
            known, table.entries[slot_of(table.entries, table.capacity, piece, block)].known);
    return known;
}

void cupel_emu_release_forget(void) {
    free(table.entries);
    table.entries = NULL;
    table.count = table.capacity = 0;
}
