/* Named barriers (bar.sync and bar.arrive with a number and a count), and the pause of a thread that polls. A
 * barrier opens when as many threads have come as the count says; those that only arrive do not wait. */
#include <string.h>

#include "emu_switch.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

enum { BARRIERS = 16 };

typedef struct barrier {
    uint32_t expected, come;
    uint32_t waiting[CUPEL_EMU_WARPS_MAX], here[CUPEL_EMU_WARPS_MAX]; /* slots: wait, have come */
} barrier;

static struct {
    uint64_t block; /* the block + 1 that they belong to; 0: none */
    barrier at[BARRIERS];
} named;

void cupel_emu_named_reset(void) {
    named.block = 0;
}

static barrier *find(uint32_t id) {
    if (named.block != m->block_linear + 1) {
        memset(&named, 0, sizeof named);
        named.block = m->block_linear + 1;
    }
    return &named.at[id];
}

/* Everyone who waits may run. */
static void open_barrier(barrier *b) {
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
    b->expected = threads;
    self->wait_pc = pc;
    b->here[self->home - m->warps] |= self->own;
    if (!arrive_only) b->waiting[self->home - m->warps] |= self->own;
    if (++b->come >= threads) {
        if (!arrive_only) b->waiting[self->home - m->warps] &= ~self->own;
        open_barrier(b);
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
    if (named.block != m->block_linear + 1) return;
    for (uint32_t id = 0; id < BARRIERS; id++) {
        const barrier *b = &named.at[id];
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
