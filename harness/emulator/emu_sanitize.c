/* Happens-before over the bytes that the threads of a launch share. */
#include "emu_sanitize.h"

#include <stdlib.h>
#include <string.h>

#include "emu_knowledge.h"
#include "emu_load.h"
#include "emu_race.h"
#include "emu_release.h"
#include "emu_shadow.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

/* What a thread knows of others: of its block's earlier phases everything; of its warp's lanes their clocks;
 * of the rest what is in far. */
typedef struct knower {
    uint32_t clock;
    uint32_t lanes[CUPEL_EMU_WARP];
    const cupel_emu_knowledge *far;
    const cupel_emu_knowledge *fenced; /* all of that when the last fence was made */
    bool fresh;                        /* has stored nothing plainly since that fence */
} knower;

typedef struct block {
    struct block *next;
    uint32_t id; /* linear index + 1 */
    uint32_t phase;
    cupel_emu_shadow shared;
    knower threads[];
} block;

/* A store that has been announced and not been carried out when the checker was left: what was there before
 * tells whether it changed anything. */
typedef struct pending {
    bool set;
    block *home;
    uint32_t thread, flags, pc;
    cupel_race_use use;
    uintptr_t address;
    size_t size, capacity;
    unsigned char *before;
} pending;

enum { BLOCK_BUCKETS = 256 };

static struct {
    block *blocks[BLOCK_BUCKETS];
    block *running; /* the last one asked for */
    cupel_emu_shadow global;
    pending store;
    bool blind; /* no memory for marks: from here on nothing is concluded */
} state;

/* ---- who runs ---- */

static uint32_t running_block_id(void) {
    const cupel_emu_registers_t *r = m->registers;
    return r->block.x + r->grid_dim.x * (r->block.y + r->grid_dim.y * r->block.z) + 1;
}

static uint32_t running_thread(void) {
    return m->registers->warp * CUPEL_EMU_WARP + m->registers->lane;
}

static block *find_block(uint32_t id) {
    block **bucket = &state.blocks[id % BLOCK_BUCKETS];
    for (block *b = *bucket; b != NULL; b = b->next)
        if (b->id == id) return b;
    const size_t threads =
        (size_t)m->registers->block_dim.x * m->registers->block_dim.y * m->registers->block_dim.z;
    block *made = calloc(1, sizeof *made + threads * sizeof made->threads[0]);
    if (made == NULL) return NULL;
    made->id = id;
    for (size_t t = 0; t < threads; t++) made->threads[t].clock = 1;
    made->next = *bucket;
    *bucket = made;
    return made;
}

/* NULL: blind. */
static block *running(void) {
    const uint32_t id = running_block_id();
    if (state.running == NULL || state.running->id != id) state.running = find_block(id);
    if (state.running == NULL) state.blind = true;
    return state.running;
}

static uint32_t thread_count(void) {
    const cupel_emu_dim *dim = &m->registers->block_dim;
    return dim->x * dim->y * dim->z;
}

/* ---- order ---- */

static bool is_ordered(const cupel_emu_mark *mark, const block *home, uint32_t thread) {
    const knower *self = &home->threads[thread];
    if (mark->block == home->id) {
        if (mark->thread == thread || mark->phase < home->phase) return true;
        if (mark->thread / CUPEL_EMU_WARP == thread / CUPEL_EMU_WARP &&
            self->lanes[mark->thread % CUPEL_EMU_WARP] >= mark->clock)
            return true;
    }
    return cupel_emu_knowledge_has(self->far, mark->block, mark->thread + 1, mark->phase, mark->clock);
}

/* Everything that a thread knows, itself included. */
static const cupel_emu_knowledge *all_known(const block *home, uint32_t thread) {
    const knower *self = &home->threads[thread];
    cupel_emu_fact facts[CUPEL_EMU_WARP + 2];
    uint32_t count = 0;
    const uint32_t first = thread - thread % CUPEL_EMU_WARP;
    if (home->phase > 0) facts[count++] = (cupel_emu_fact){home->id, CUPEL_EMU_WHOLE, home->phase, 0};
    for (uint32_t lane = 0; lane < CUPEL_EMU_WARP; lane++) {
        uint32_t clock = first + lane == thread ? self->clock : self->lanes[lane];
        if (clock > 0) facts[count++] = (cupel_emu_fact){home->id, first + lane + 1, home->phase, clock};
    }
    return cupel_emu_knowledge_join(cupel_emu_knowledge_of(facts, count), self->far);
}

void cupel_emu_sanitize_fence(void) {
    cupel_emu_sanitize_settle();
    block *home = running();
    if (home == NULL) return;
    const uint32_t thread = running_thread();
    knower *self = &home->threads[thread];
    self->fenced = cupel_emu_knowledge_join(self->fenced, all_known(home, thread));
    self->fresh = true;
    self->clock++;
}

/* What others fenced is known to all that meet: one of them may go on to store the flag. */
static void share(block *home, uint32_t first, uint32_t lanes, const cupel_emu_knowledge **far,
                  const cupel_emu_knowledge **fenced) {
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const knower *one = &home->threads[first + (uint32_t)__builtin_ctz(left)];
        *far = cupel_emu_knowledge_join(*far, one->far);
        *fenced = cupel_emu_knowledge_join(*fenced, one->fenced);
    }
}

void cupel_emu_sanitize_block_meets(void) {
    cupel_emu_sanitize_settle();
    block *home = running();
    if (home == NULL) return;
    const cupel_emu_knowledge *far = NULL, *fenced = NULL;
    const uint32_t count = thread_count();
    for (uint32_t t = 0; t < count; t++) share(home, t, 1, &far, &fenced);
    for (uint32_t t = 0; t < count; t++) {
        home->threads[t].far = far;
        home->threads[t].fenced = fenced;
    }
    home->phase++;
}

static cupel_emu_mark mark_of(const block *home, uint32_t thread, uint32_t pc, uint32_t flags) {
    return (cupel_emu_mark){home->id, thread, home->phase, home->threads[thread].clock, pc, flags};
}

static cupel_emu_mark barrier_mark(const block *home, const cupel_emu_thread *thread) {
    const uint32_t pc = (uint32_t)((uintptr_t)thread->wait_pc - cupel_emu_module_base(m->module));
    return mark_of(home, thread->warp * CUPEL_EMU_WARP + thread->lane, pc, 0);
}

/* Lines tell them apart in the end (emu_race.c): the optimiser may have made several of one barrier. */
void cupel_emu_sanitize_barriers(void) {
    const block *home = running();
    if (home == NULL || state.blind) return;
    for (uint32_t w = 0; w < m->warp_count; w++) {
        const cupel_emu_thread *threads = &m->threads[w * CUPEL_EMU_WARP], *first = NULL;
        for (uint32_t left = m->warps[w].alive; left != 0; left &= left - 1) {
            const cupel_emu_thread *next = &threads[__builtin_ctz(left)];
            if (first == NULL) first = next;
            if (next->wait_pc == first->wait_pc) continue;
            cupel_emu_race_add(&(cupel_emu_race_side){CUPEL_RACE_BARRIER, barrier_mark(home, first)},
                               &(cupel_emu_race_side){CUPEL_RACE_BARRIER, barrier_mark(home, next)}, 0, 0);
            break;
        }
    }
}

void cupel_emu_sanitize_warp_meets(uint32_t lanes) {
    cupel_emu_sanitize_settle();
    block *home = running();
    if (home == NULL) return;
    const uint32_t first = m->registers->warp * CUPEL_EMU_WARP;
    const cupel_emu_knowledge *far = NULL, *fenced = NULL;
    uint32_t clocks[CUPEL_EMU_WARP] = {0};
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const knower *one = &home->threads[first + lane];
        for (int i = 0; i < CUPEL_EMU_WARP; i++)
            if (one->lanes[i] > clocks[i]) clocks[i] = one->lanes[i];
        clocks[lane] = one->clock;
    }
    share(home, first, lanes, &far, &fenced);
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        knower *one = &home->threads[first + (uint32_t)__builtin_ctz(left)];
        memcpy(one->lanes, clocks, sizeof clocks);
        one->far = far;
        one->fenced = fenced;
        one->clock++;
    }
}

void cupel_emu_sanitize_some_meet(const uint32_t lanes[CUPEL_EMU_WARPS_MAX]) {
    cupel_emu_sanitize_settle();
    block *home = running();
    if (home == NULL) return;
    const cupel_emu_knowledge *far = NULL, *fenced = NULL;
    for (uint32_t w = 0; w < CUPEL_EMU_WARPS_MAX; w++)
        for (uint32_t left = lanes[w]; left != 0; left &= left - 1)
            far = cupel_emu_knowledge_join(
                far, all_known(home, w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(left)));
    for (uint32_t w = 0; w < CUPEL_EMU_WARPS_MAX; w++)
        share(home, w * CUPEL_EMU_WARP, lanes[w], &far, &fenced);
    for (uint32_t w = 0; w < CUPEL_EMU_WARPS_MAX; w++)
        for (uint32_t left = lanes[w]; left != 0; left &= left - 1) {
            knower *one = &home->threads[w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(left)];
            one->far = far;
            one->fenced = fenced;
            one->clock++;
        }
}

/* ---- accesses ---- */

static bool is_shared(uintptr_t address) {
    return address - m->static_shared.start < m->static_shared.size ||
           address - m->dynamic_shared.start < m->dynamic_shared.size;
}

/* Of memory that nobody may store to nothing need be remembered. */
static bool is_constant(uintptr_t address) {
    const size_t offset = address - m->global_start;
    if (offset < m->global_size) return (m->writable[offset >> 3] >> (offset & 7) & 1) == 0;
    return !cupel_emu_module_owns(m->module, address, 1, true);
}

static cupel_emu_cell *cell_of(block *home, uintptr_t address) {
    cupel_emu_cell *cell = cupel_emu_shadow_cell(is_shared(address) ? &home->shared : &state.global, address);
    if (cell == NULL) state.blind = true;
    return cell;
}

static cupel_race_use use_of(const cupel_emu_mark *mark, bool write) {
    if (mark->flags & CUPEL_EMU_MARK_ATOMIC) return CUPEL_RACE_ATOMIC;
    return write ? CUPEL_RACE_WRITE : CUPEL_RACE_READ;
}

static void add_race(const cupel_emu_mark *earlier, bool earlier_writes, const cupel_emu_mark *now,
                     bool now_writes, uintptr_t address, size_t size) {
    if (earlier->flags & now->flags & CUPEL_EMU_MARK_ATOMIC) return;
    if (state.blind || cupel_emu_knowledge_lost()) return;
    cupel_emu_race_add(&(cupel_emu_race_side){use_of(earlier, earlier_writes), *earlier},
                       &(cupel_emu_race_side){use_of(now, now_writes), *now}, address, size);
}

/* A read takes the place of one by the same thread, of one that is ordered before it, or of any. */
static void remember_read(cupel_emu_cell *cell, const cupel_emu_mark *now, const block *home) {
    for (int i = 0; i < CUPEL_EMU_READERS; i++) {
        if (cell->read[i].block != 0 && !is_ordered(&cell->read[i], home, now->thread)) continue;
        cell->read[i] = *now;
        return;
    }
    cell->read[(now->thread + now->clock) % CUPEL_EMU_READERS] = *now;
}

/* A store behind a fence may be a flag, which plain loads may watch; a store that changed nothing gives the
 * same bytes early or late. */
static void load(block *home, const cupel_emu_mark *now, uintptr_t address, size_t size) {
    bool told = false;
    for (size_t i = 0; i < size; i++) {
        cupel_emu_cell *cell = cell_of(home, address + i);
        if (cell == NULL) return;
        const cupel_emu_mark *write = &cell->write;
        if (write->block != 0 && !told &&
            (write->flags & (CUPEL_EMU_MARK_RELEASE | CUPEL_EMU_MARK_UNCHANGED)) == 0 &&
            !is_ordered(write, home, now->thread)) {
            add_race(write, true, now, false, address + i, size - i);
            told = true;
        }
        remember_read(cell, now, home);
    }
}

/* A byte that a store has changed: the access before it that it is not ordered after; NULL: none. */
static const cupel_emu_mark *unordered(const cupel_emu_cell *cell, const block *home,
                                       const cupel_emu_mark *now) {
    if (cell->write.block != 0 && !is_ordered(&cell->write, home, now->thread)) return &cell->write;
    for (int i = 0; i < CUPEL_EMU_READERS; i++) {
        if (cell->read[i].block == 0 || is_ordered(&cell->read[i], home, now->thread)) continue;
        if ((now->flags & CUPEL_EMU_MARK_RELEASE) == 0) return &cell->read[i];
        /* else they watched for the flag */
    }
    return NULL;
}

/* A thread's plain store with which others race as long as with its atomic after it. */
static bool hides(const cupel_emu_mark *plain, const cupel_emu_mark *strong) {
    return plain->block == strong->block && plain->thread == strong->thread &&
           plain->phase == strong->phase && plain->clock == strong->clock &&
           (plain->flags & CUPEL_EMU_MARK_STRONG) == 0 && (strong->flags & CUPEL_EMU_MARK_STRONG) != 0;
}

/* A plain load by the thread that updates the byte atomically now was its first guess of it. */
static void absorb_loads(cupel_emu_cell *cell, const cupel_emu_mark *now) {
    for (int i = 0; i < CUPEL_EMU_READERS; i++)
        if (cell->read[i].block == now->block && cell->read[i].thread == now->thread)
            cell->read[i].flags |= CUPEL_EMU_MARK_ATOMIC | CUPEL_EMU_MARK_STRONG;
}

void cupel_emu_sanitize_settle(void) {
    pending *p = &state.store;
    if (!p->set) return;
    p->set = false;
    const cupel_emu_mark now = mark_of(p->home, p->thread, p->pc, p->flags);
    bool told = false;
    for (size_t i = 0; i < p->size; i++) {
        const uintptr_t at = p->address + i;
        const bool changed = *(const unsigned char *)at != p->before[i];
        cupel_emu_cell *cell = cell_of(p->home, at);
        if (cell == NULL) return;
        const cupel_emu_mark *other = changed && !told ? unordered(cell, p->home, &now) : NULL;
        if (other != NULL) {
            add_race(other, other == &cell->write, &now, true, at, p->size - i);
            told = true;
        }
        if (changed)
            memset(cell->read, 0, sizeof cell->read);
        else if (now.flags & CUPEL_EMU_MARK_ATOMIC)
            absorb_loads(cell, &now);
        if (hides(&cell->write, &now)) continue;
        cell->write = now;
        if (!changed) cell->write.flags |= CUPEL_EMU_MARK_UNCHANGED;
    }
}

static void announce(block *home, uint32_t thread, uintptr_t address, size_t size, uint32_t flags,
                     uint32_t pc) {
    pending *p = &state.store;
    if (size > p->capacity) {
        unsigned char *grown = realloc(p->before, size);
        if (grown == NULL) {
            state.blind = true;
            return;
        }
        p->before = grown;
        p->capacity = size;
    }
    p->set = true;
    p->home = home;
    p->thread = thread;
    p->address = address;
    p->size = size;
    p->flags = flags;
    p->pc = pc;
    memcpy(p->before, (const void *)address, size);
}

/* What was fenced before is known to whoever sees this store. */
static uint32_t release(const block *home, knower *self, uintptr_t address, size_t size, bool strong) {
    const bool releases = self->fenced != NULL && (strong || self->fresh);
    if (!strong) self->fresh = false;
    if (!releases) return 0;
    if (!cupel_emu_release_put(address, size, is_shared(address) ? home->id : 0, self->fenced))
        state.blind = true;
    return CUPEL_EMU_MARK_RELEASE;
}

void cupel_emu_sanitize_access(uintptr_t address, size_t size, cupel_emu_use use, bool strong,
                               const void *pc) {
    cupel_emu_sanitize_settle();
    if (state.blind || size == 0 || (!is_shared(address) && is_constant(address))) return;
    if (cupel_emu_check_is_red(address, size)) return; /* reported, and no place where threads meet */
    block *home = running();
    if (home == NULL) return;
    const uint32_t thread = running_thread(),
                   place = (uint32_t)((uintptr_t)pc - cupel_emu_module_base(m->module));
    knower *self = &home->threads[thread];
    uint32_t flags = strong ? CUPEL_EMU_MARK_STRONG : 0;
    if (use == CUPEL_EMU_ATOMIC) flags = CUPEL_EMU_MARK_STRONG | CUPEL_EMU_MARK_ATOMIC;
    if (use != CUPEL_EMU_STORE)
        self->far = cupel_emu_knowledge_join(
            self->far, cupel_emu_release_get(address, size, is_shared(address) ? home->id : 0));
    if (use == CUPEL_EMU_LOAD) {
        const cupel_emu_mark now = mark_of(home, thread, place, flags);
        load(home, &now, address, size);
        return;
    }
    if (use == CUPEL_EMU_ATOMIC) cupel_emu_race_excuse(home->id, thread, address, size);
    flags |= release(home, self, address, size, (flags & CUPEL_EMU_MARK_STRONG) != 0);
    announce(home, thread, address, size, flags, place);
}

/* ---- a run ---- */

static void free_block(block *b) {
    cupel_emu_shadow_clear(&b->shared);
    free(b);
}

void cupel_emu_sanitize_block_end(void) {
    cupel_emu_sanitize_settle();
    const uint32_t id = running_block_id();
    block **link = &state.blocks[id % BLOCK_BUCKETS];
    while (*link != NULL && (*link)->id != id) link = &(*link)->next;
    if (*link == NULL) return;
    block *gone = *link;
    *link = gone->next;
    if (state.running == gone) state.running = NULL;
    free_block(gone);
}

/* Blocks that are at work go on in a new phase: their marks are gone, what their threads knew is no longer
 * needed. */
void cupel_emu_sanitize_all_meet(void) {
    cupel_emu_sanitize_settle();
    for (int i = 0; i < BLOCK_BUCKETS; i++)
        while (state.blocks[i] != NULL) {
            block *first = state.blocks[i];
            state.blocks[i] = first->next;
            free_block(first);
        }
    state.running = NULL;
    cupel_emu_shadow_clear(&state.global);
    cupel_emu_release_forget();
    const bool lost = cupel_emu_knowledge_lost();
    cupel_emu_knowledge_forget();
    state.blind = state.blind || lost;
}

void cupel_emu_sanitize_begin(void) {
    state.store.set = false;
    cupel_emu_sanitize_all_meet();
    state.blind = false;
    cupel_emu_race_begin();
}

void cupel_emu_sanitize_end(void) {
    if (!m->stopped) cupel_emu_sanitize_settle();
    cupel_emu_race_end();
    m->out->sanitized = !state.blind;
    state.store.set = false;
    cupel_emu_sanitize_all_meet();
    cupel_emu_shadow_forget();
}
