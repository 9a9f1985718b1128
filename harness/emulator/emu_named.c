/* Named barriers (bar.sync and bar.arrive with a number and a count), and the pause of a thread that polls. A
 * barrier opens when as many threads have come as the count says; those that only arrive do not wait. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "emu_circle.h"
#include "emu_resident.h"
#include "emu_sanitize.h"
#include "emu_switch.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

enum { BARRIERS = 16 };

typedef struct barrier {
    uint32_t expected, come;
    uint32_t waiting[CUPEL_EMU_WARPS_MAX], here[CUPEL_EMU_WARPS_MAX]; /* slots: wait, have come */
} barrier;

typedef struct block {
    uint64_t linear; /* m->block_linear; 0: nobody's */
    uint32_t busy;   /* bit id: threads have come to the barrier, and it has not opened */
    barrier at[BARRIERS];
} block;

/* Of the blocks in flight. Where no barrier is busy, the next block may have the place. */
static block *blocks;
static uint32_t block_count;

void cupel_emu_named_reset(void) {
    for (uint32_t i = 0; i < block_count; i++) memset(&blocks[i], 0, sizeof blocks[i]);
    block_count = 0;
}

/* NULL: none has come to one of this block's. */
static block *own_block(void) {
    for (uint32_t i = 0; i < block_count; i++)
        if (blocks[i].linear == m->block_linear) return &blocks[i];
    return NULL;
}

uint64_t cupel_emu_named_hash(void) {
    const block *own = own_block();
    return own && own->busy != 0 ? XXH3_64bits(own, sizeof *own) : 0;
}

static barrier *find(uint32_t id) {
    block *own = own_block();
    for (uint32_t i = 0; !own && i < block_count; i++)
        if (blocks[i].busy == 0) own = &blocks[i];
    if (!own) {
        if (!blocks) blocks = calloc(CUPEL_EMU_IN_FLIGHT_BLOCKS, sizeof *blocks);
        if (!blocks || block_count == CUPEL_EMU_IN_FLIGHT_BLOCKS)
            cupel_emu_report_stop(CUPEL_RUN_NOT_STARTED, CUPEL_FAULT_NONE, NULL,
                                  "no memory for the barriers of a block");
        own = &blocks[block_count++];
    }
    own->linear = m->block_linear;
    own->busy |= 1u << id;
    return &own->at[id];
}

/* Slots are lanes of a block's warps only where the schedule leaves them in order. */
static void tell_sanitizer(const barrier *b) {
    uint32_t lanes[CUPEL_EMU_WARPS_MAX] = {0};
    for (uint32_t w = 0; w < m->warp_count; w++)
        for (uint32_t slots = b->here[w]; slots != 0; slots &= slots - 1) {
            const cupel_emu_thread *thread = &m->threads[w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(slots)];
            lanes[thread->warp] |= 1u << thread->lane;
        }
    cupel_emu_sanitize_some_meet(lanes);
}

/* Everyone who waits may run. */
static void open_barrier(uint32_t id) {
    block *own = own_block();
    barrier *b = &own->at[id];
    own->busy &= ~(1u << id);
    if (m->sanitizing) tell_sanitizer(b); /* at least those that wait know of all others */
    for (uint32_t w = 0; w < m->warp_count; w++) cupel_emu_block_ready(&m->warps[w], b->waiting[w]);
    memset(b, 0, sizeof *b);
}

void cupel_emu_named_barrier(uint32_t id, uint32_t threads, int arrive_only) {
    const void *pc = __builtin_return_address(0);
    cupel_emu_thread *self = m->current;
    if (--m->registers->budget == 0) cupel_emu_budget_spent(pc);
    if (id >= BARRIERS || threads == 0 || threads % CUPEL_EMU_WARP != 0)
        cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_ASSERT, pc,
                              "barrier %u for %u threads: a device has barriers 0 to %d, and a count is a "
                              "multiple of %d",
                              id, threads, BARRIERS - 1, CUPEL_EMU_WARP);
    barrier *b = find(id);
    if (b->come != 0 && b->expected != threads)
        cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_DEADLOCK, pc,
                              "threads come to barrier %u with different counts, %u and %u", id, b->expected,
                              threads);
    if (m->watched) cupel_emu_circle_join(b->here);
    b->expected = threads;
    self->wait_pc = pc;
    b->here[self->home - m->warps] |= self->own;
    if (!arrive_only) b->waiting[self->home - m->warps] |= self->own;
    if (++b->come >= threads) {
        if (!arrive_only) b->waiting[self->home - m->warps] &= ~self->own;
        open_barrier(id);
        return;
    }
    if (!arrive_only) cupel_emu_wait(self);
}

/* A device may count warps where we count threads, so that a warp of which only some lanes have come is no
 * proof of a deadlock. */
static bool is_partial(const barrier *b) {
    for (uint32_t w = 0; w < m->warp_count; w++)
        if (b->here[w] != 0 && b->here[w] != m->warps[w].existing) return true;
    return false;
}

void cupel_emu_named_deadlock(void) {
    const block *own = own_block();
    for (uint32_t id = 0; own && id < BARRIERS; id++) {
        const barrier *b = &own->at[id];
        for (uint32_t w = 0; w < m->warp_count; w++) {
            if (b->waiting[w] == 0) continue;
            m->current = &m->threads[w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(b->waiting[w])];
            const void *pc = m->current->wait_pc;
            if (is_partial(b))
                cupel_emu_report_stop(CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, pc,
                                      "barrier %u, to which only some lanes of a warp come, is not emulated; "
                                      "use --on cuda",
                                      id);
            cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_DEADLOCK, pc,
                                  "threads wait at barrier %u for %u threads, of which %u have come", id,
                                  b->expected, b->come);
        }
    }
}

void cupel_emu_pause(void) {
    if (--m->registers->budget == 0) cupel_emu_budget_spent(__builtin_return_address(0));
    cupel_emu_block_step(NULL);
}
