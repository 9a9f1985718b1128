/* A thread's circle is looked for from an anchor: a place in the code and the state in which the thread came
 * there. The anchor is another one after 1, 2, 4, .. steps, so that a circle of any length is found, whatever
 * led to it (R. P. Brent, "An improved Monte Carlo factorization algorithm", 1980). Threads that run between
 * two looks (lanes that meet in a warp operation, or take turns by pausing) belong to the circle. A block
 * whose threads meet at barriers is looked at where they meet.
 *
 * What is in a circle stays there for ever, in whatever order threads run, as long as nobody changes what it
 * may read. So a change of memory that others can see is not part of a circle, and ends those that have been
 * found. */
#include "emu_circle.h"

#include <string.h>
#include <xxhash.h>

#include "emu_load.h"
#include "emu_machine.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

/* AWAY: steps that others make in a turn of the thread at the anchor; of more it is not part. */
enum { AWAY = 1 << 16, HASHED_A_STEP = 512, SAVED_REGISTERS = 6, STATUS_OF_FLOATS = 0x3f };

static uint64_t steps_left; /* of the watch */

static struct {
    const cupel_emu_thread *thread; /* NULL: none */
    uint64_t block;                 /* m->block_linear */
    const void *pc, *sp;            /* of the anchor */
    bool is_edge;
    bool known; /* hash is the state at the anchor */
    uint64_t hash;
    uint64_t made, next; /* steps of the search, and how many there will be at the next anchor */
    uint32_t away;       /* steps of others since the thread's last one */
    uint32_t seen[CUPEL_EMU_WARPS_MAX]; /* slots of threads whose state is in the hash, */
    uint32_t ran[CUPEL_EMU_WARPS_MAX];  /* and of those that have run since it was taken */
    bool several;                       /* seen, more than one */
    bool changed, changed_global;       /* memory, since the anchor */
} search;

static struct {
    uintptr_t address;
    size_t size; /* 0: none */
    uint64_t before;
} store;

/* ---- states ---- */

static uint32_t runnable(const cupel_emu_resident *b, const cupel_emu_warp *warp) {
    const bool runs = !b->aside && m->current->home == warp;
    return warp->ready | warp->stepped | (runs ? m->current->own : 0);
}

static uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed) {
    steps_left -= steps_left < size / HASHED_A_STEP ? steps_left : size / HASHED_A_STEP;
    return XXH3_64bits_withSeed(bytes, size, seed);
}

static uint64_t hash_stack(const void *sp, uintptr_t stack_low, uint64_t seed) {
    return hash_bytes(sp, stack_low + CUPEL_EMU_STACK_BYTES - (uintptr_t)sp, seed);
}

/* What blocks share, and what no memory holds: rounding, answers that depend on time. */
static uint64_t hash_all(uint64_t seed) {
    seed ^= __builtin_ia32_stmxcsr() & ~(unsigned)STATUS_OF_FLOATS;
    return (seed ^ m->unforeseen << 32) + cupel_emu_named_hash();
}

static uint64_t hash_global(uint64_t seed) {
    return hash_bytes((const void *)m->global_start, m->global_size, seed ^ cupel_emu_module_hash(m->module));
}

/* Which lanes wait in which operation, with what. */
static uint64_t hash_warp(const cupel_emu_warp *warp, uint64_t seed) {
    seed = hash_bytes(warp->groups, warp->group_count * sizeof *warp->groups, seed);
    seed = hash_bytes(warp->value, sizeof warp->value, seed);
    const uint64_t waiting[] = {warp->at_barrier,  warp->at_grid,
                                warp->asking,      warp->alive,
                                warp->all_arrived, warp->all_arrived != 0 ? warp->all_operation : 0,
                                warp->all_detail};
    return hash_bytes(waiting, sizeof waiting, seed);
}

/* Who can run, of those of whom it is not known that they go in a circle: to wake somebody is no circle. */
static uint64_t hash_runnable(uint64_t seed) {
    const cupel_emu_resident *b = cupel_emu_resident_running();
    uint32_t slots[CUPEL_EMU_WARPS_MAX];
    for (uint32_t w = 0; w < m->warp_count; w++) slots[w] = runnable(b, &m->warps[w]) & ~b->circling[w];
    return hash_bytes(slots, m->warp_count * sizeof *slots, seed);
}

/* The threads that ran since the anchor, but for the running one. */
static uint64_t hash_others(uint64_t seed) {
    for (uint32_t w = 0; w < m->warp_count; w++) {
        if (search.seen[w] == 0) continue;
        seed = hash_warp(&m->warps[w], seed);
        for (uint32_t slots = search.seen[w]; slots != 0; slots &= slots - 1) {
            const cupel_emu_thread *thread = &m->warps[w].threads[__builtin_ctz(slots)];
            const bool ended = thread->stack_low == 0;
            if (thread != m->current && !ended) seed = hash_stack(thread->sp, thread->stack_low, seed);
        }
    }
    return seed;
}

static uint64_t state_at(const void *sp) {
    uint64_t hash = hash_runnable(hash_all(hash_stack(sp, m->registers->stack_low, 0)));
    if (search.several) hash = hash_others(hash);
    if (search.changed) hash = hash_global(hash ^ cupel_emu_resident_hash(cupel_emu_resident_running()));
    return hash;
}

/* All threads of a block that has left have met. */
static uint64_t rest_of(const cupel_emu_resident *b) {
    uint64_t hash = hash_global(hash_all(cupel_emu_resident_hash(b)));
    const cupel_emu_warp *warps = cupel_emu_resident_warps(b);
    for (uint32_t w = 0; w < m->warp_count; w++)
        for (uint32_t slots = warps[w].alive; slots != 0; slots &= slots - 1) {
            const cupel_emu_thread thread =
                cupel_emu_resident_thread(b, w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(slots));
            hash = hash_stack(thread.sp, thread.stack_low, hash ^ warps[w].value[thread.lane]);
        }
    return hash;
}

/* ---- who goes in a circle ---- */

static bool covers(const cupel_emu_resident *b, const uint32_t slots[]) {
    const cupel_emu_warp *warps = cupel_emu_resident_warps(b);
    for (uint32_t w = 0; w < m->warp_count; w++)
        if ((runnable(b, &warps[w]) & ~slots[w]) != 0) return false;
    return true;
}

bool cupel_emu_circle_holds(const cupel_emu_resident *b) {
    return covers(b, b->circling);
}

static void forget_circles(cupel_emu_resident *b) {
    memset(b->circling, 0, sizeof b->circling);
    b->rests = 0;
}

/* What the block stores changes nothing for it, whoever reads it: it looks at nothing of others, or nobody is
 * there. */
static bool is_alone(const cupel_emu_resident *b) {
    return cupel_emu_resident_keeps_to_itself(b) ||
           (cupel_emu_resident_count() == 1 && cupel_emu_resident_waiting() == 0);
}

/* ---- stores ---- */

static bool within(uintptr_t address, size_t size, uintptr_t start, size_t room) {
    return address - start < room && size <= room - (address - start);
}

static bool is_shared(uintptr_t address, size_t size) {
    return within(address, size, m->static_shared.start, m->static_shared.size) ||
           within(address, size, m->dynamic_shared.start, m->dynamic_shared.size);
}

void cupel_emu_circle_store(uintptr_t address, size_t size) {
    if (!is_shared(address, size) && !within(address, size, m->global_start, m->global_size) &&
        !cupel_emu_module_owns(m->module, address, size, true))
        return; /* the thread's own, or none that the run outlives */
    store.address = address;
    store.size = size;
    store.before = hash_bytes((const void *)address, size, 0);
}

static void note_change(cupel_emu_resident *changes, bool global) {
    for (uint32_t i = 0; i < cupel_emu_resident_count() && global; i++)
        if (cupel_emu_resident_at(i) != changes) forget_circles(cupel_emu_resident_at(i));
    memset(changes->circling, 0, sizeof changes->circling);
    changes->stirs |= global;
    if (!search.changed) search.known = false; /* what memory holds is not in it */
    search.changed = true;
    search.changed_global |= global;
}

static void settle_store(cupel_emu_resident *running) {
    if (store.size == 0) return;
    if (hash_bytes((const void *)store.address, store.size, 0) != store.before)
        note_change(running, !is_shared(store.address, store.size));
    store.size = 0;
}

/* ---- the search ---- */

static void note_run(const cupel_emu_thread *thread) {
    const size_t w = (size_t)(thread->home - m->warps);
    search.ran[w] |= thread->own;
    if ((search.seen[w] & thread->own) != 0) return;
    search.seen[w] |= thread->own;
    search.several |= search.thread != thread;
    search.known = false;
}

static void keep_state(uint64_t hash) {
    search.hash = hash;
    search.known = true;
    memset(search.ran, 0, sizeof search.ran);
    note_run(search.thread);
}

static void drop_anchor(const void *pc, const void *sp, bool is_edge) {
    search.pc = pc;
    search.sp = sp;
    search.is_edge = is_edge;
    search.changed = search.changed_global = false;
    keep_state(state_at(sp));
}

static void begin_search(const void *pc, const void *sp, bool is_edge) {
    memset(&search, 0, sizeof search);
    search.thread = m->current;
    search.block = m->block_linear;
    search.next = 1;
    note_run(m->current);
    drop_anchor(pc, sp, is_edge);
}

/* An edge is better than another event, which leaves more behind on the stack, and so is one in a function
 * further out, on whose way others leave less. */
static bool is_better(const void *sp, bool is_edge) {
    if (is_edge != search.is_edge) return is_edge;
    return (uintptr_t)sp > (uintptr_t)search.sp;
}

/* Does the state at the anchor come again? */
static bool has_closed(const void *sp) {
    const uint64_t hash = state_at(sp);
    const bool again = search.known && hash == search.hash;
    if (!search.known) keep_state(hash);
    if (!again || !search.changed) return again;
    const cupel_emu_resident *b = cupel_emu_resident_running();
    return covers(b, search.ran) && (!search.changed_global || is_alone(b));
}

/* At an event of a thread of which it is not known that it goes in a circle. */
static void look(cupel_emu_resident *b, const void *pc, const void *sp) {
    uintptr_t caller;
    memcpy(&caller, (const char *)sp + SAVED_REGISTERS * sizeof caller, sizeof caller);
    const bool is_edge = cupel_emu_module_is_code(m->module, caller), others = search.thread != m->current;
    if (search.thread == NULL || search.block != m->block_linear || (others && ++search.away > AWAY)) {
        begin_search(pc, sp, is_edge);
    } else if (others) {
        note_run(m->current);
    } else {
        search.away = 0;
        const bool moves = ++search.made >= search.next;
        if (moves) search.next *= 2;
        if (moves || is_better(sp, is_edge)) {
            drop_anchor(pc, sp, is_edge);
        } else if (pc == search.pc && sp == search.sp && has_closed(sp)) {
            for (uint32_t w = 0; w < m->warp_count; w++) b->circling[w] |= search.ran[w];
            search.thread = NULL;
        }
    }
}

bool cupel_emu_circle_event(const void *pc, const void *sp) {
    cupel_emu_resident *b = cupel_emu_resident_running();
    settle_store(b);
    if (steps_left <= 1) {
        m->watched = false;
        return false;
    }
    steps_left--;
    m->leaves = true;
    const uint32_t *circling = &b->circling[m->current->home - m->warps];
    if ((*circling & m->current->own) == 0) look(b, pc, sp);
    if ((*circling & m->current->own) == 0) return false;
    if (cupel_emu_circle_holds(b)) cupel_emu_progress_stuck(b->rests != 0 ? (void *)m->barrier_pc : pc);
    return true;
}

void cupel_emu_circle_join(const uint32_t slots[]) {
    cupel_emu_resident *b = cupel_emu_resident_running();
    for (uint32_t w = 0; w < m->warp_count; w++)
        if ((slots[w] & b->circling[w]) != 0) {
            forget_circles(b);
            return;
        }
}

void cupel_emu_circle_met(cupel_emu_resident *b) {
    if (!m->watched) return;
    settle_store(b);
    search.thread = NULL;
    const uint64_t rest = rest_of(b);
    if (b->rests != 0 && rest == b->rest && (!b->stirs || is_alone(b)))
        memset(b->circling, 0xff, sizeof b->circling);
    if ((b->rests & (b->rests - 1)) == 0) {
        b->rest = rest;
        b->stirs = false;
    }
    b->rests++;
}

/* All steps of a budget but the next one. */
static void give_back(uint32_t *budget) {
    if (*budget <= 1) return;
    m->steps_left += *budget - 1;
    *budget = 1;
}

void cupel_emu_circle_watch(uint64_t steps) {
    m->watched = true;
    m->heard = false;
    steps_left = steps;
    store.size = 0;
    search.thread = NULL;
    for (uint32_t i = 0; i < cupel_emu_resident_count(); i++) {
        cupel_emu_resident *b = cupel_emu_resident_at(i);
        b->heard = b->stirs = false;
        forget_circles(b);
    }
    give_back(&m->registers->budget);
    give_back(&m->access_budget);
}
