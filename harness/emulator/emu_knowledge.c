#include "emu_knowledge.h"

#include <stdlib.h>
#include <string.h>

/* Made piece by piece, forgotten all at once. ROOM_MAX: as much as the run of a case may well take beside
 * everything else in a worker of 2 GiB. */
enum { PIECE = 1 << 20, ROOM_MAX = 512 << 20 };

typedef struct piece {
    struct piece *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
} piece;

static struct {
    piece *pieces;
    size_t room;
    bool lost;
} store;

static cupel_emu_knowledge *take(uint32_t capacity) {
    size_t size = (sizeof(cupel_emu_knowledge) + capacity * sizeof(cupel_emu_fact) + 15) & ~(size_t)15;
    if (store.pieces == NULL || store.pieces->size - store.pieces->used < size) {
        size_t bytes = size > PIECE ? size : PIECE;
        piece *made = store.room + bytes <= ROOM_MAX ? malloc(sizeof *made + bytes) : NULL;
        if (made == NULL) {
            store.lost = true;
            return NULL;
        }
        *made = (piece){.next = store.pieces, .size = bytes};
        store.room += bytes;
        store.pieces = made;
    }
    cupel_emu_knowledge *k = (void *)(store.pieces->bytes + store.pieces->used);
    store.pieces->used += size;
    return k;
}

/* Gives back what the last one taken does not use. */
static void trim(const cupel_emu_knowledge *k) {
    size_t size = (sizeof *k + k->count * sizeof(cupel_emu_fact) + 15) & ~(size_t)15;
    store.pieces->used = (size_t)((const unsigned char *)k - store.pieces->bytes) + size;
}

static int compare(const void *a, const void *b) {
    const cupel_emu_fact *one = a, *two = b;
    if (one->block != two->block) return one->block < two->block ? -1 : 1;
    return one->thread < two->thread ? -1 : one->thread > two->thread;
}

const cupel_emu_knowledge *cupel_emu_knowledge_of(cupel_emu_fact *facts, uint32_t count) {
    if (count == 0) return NULL;
    cupel_emu_knowledge *k = take(count);
    if (k == NULL) return NULL;
    qsort(facts, count, sizeof *facts, compare);
    k->count = count;
    memcpy(k->facts, facts, count * sizeof *facts);
    return k;
}

/* The later of two facts about one block or thread. */
static cupel_emu_fact later(const cupel_emu_fact *a, const cupel_emu_fact *b) {
    cupel_emu_fact fact = *a;
    if (b->phase > fact.phase) fact.phase = b->phase;
    if (b->clock > fact.clock) fact.clock = b->clock;
    return fact;
}

static bool same(const cupel_emu_fact *a, const cupel_emu_fact *b) {
    return a->phase == b->phase && a->clock == b->clock;
}

/* Both lists merged; *a_all: the result is a, *b_all: it is b. What a whole block's phase covers is left out
 * of the threads' facts. */
static void merge(const cupel_emu_knowledge *a, const cupel_emu_knowledge *b, cupel_emu_knowledge *out,
                  bool *a_all, bool *b_all) {
    uint32_t i = 0, j = 0, block = UINT32_MAX, phase = 0;
    out->count = 0;
    *a_all = *b_all = true;
    while (i < a->count || j < b->count) {
        int order = i == a->count ? 1 : j == b->count ? -1 : compare(&a->facts[i], &b->facts[j]);
        cupel_emu_fact fact = order < 0   ? a->facts[i]
                              : order > 0 ? b->facts[j]
                                          : later(&a->facts[i], &b->facts[j]);
        const bool in_a = order <= 0 && same(&fact, &a->facts[i]),
                   in_b = order >= 0 && same(&fact, &b->facts[j]);
        i += order <= 0;
        j += order >= 0;
        if (fact.thread == CUPEL_EMU_WHOLE) block = fact.block, phase = fact.phase;
        if (fact.thread != CUPEL_EMU_WHOLE && fact.block == block && fact.phase < phase) continue;
        *a_all = *a_all && in_a;
        *b_all = *b_all && in_b;
        out->facts[out->count++] = fact;
    }
}

const cupel_emu_knowledge *cupel_emu_knowledge_join(const cupel_emu_knowledge *a,
                                                    const cupel_emu_knowledge *b) {
    if (a == b || b == NULL) return a;
    if (a == NULL) return b;
    cupel_emu_knowledge *both = take(a->count + b->count);
    bool a_all, b_all;
    if (both == NULL) return a;
    merge(a, b, both, &a_all, &b_all);
    if (a_all || b_all) both->count = 0;
    trim(both);
    return a_all ? a : b_all ? b : both;
}

/* The fact about this pair, or NULL. */
static const cupel_emu_fact *find(const cupel_emu_knowledge *k, uint32_t block, uint32_t thread) {
    const cupel_emu_fact wanted = {.block = block, .thread = thread};
    return bsearch(&wanted, k->facts, k->count, sizeof wanted, compare);
}

bool cupel_emu_knowledge_has(const cupel_emu_knowledge *k, uint32_t block, uint32_t thread, uint32_t phase,
                             uint32_t clock) {
    if (k == NULL) return false;
    const cupel_emu_fact *whole = find(k, block, CUPEL_EMU_WHOLE);
    if (whole != NULL && phase < whole->phase) return true;
    const cupel_emu_fact *own = find(k, block, thread);
    return own != NULL && clock <= own->clock;
}

bool cupel_emu_knowledge_lost(void) {
    return store.lost;
}

void cupel_emu_knowledge_forget(void) {
    while (store.pieces != NULL) {
        piece *first = store.pieces;
        store.pieces = first->next;
        free(first);
    }
    store.room = 0;
    store.lost = false;
}
