/* Asynchronous copies to shared memory (cp.async). A device makes them any time between the instruction and
 * the wait for their group. Both ends are legal and each shows another mistake: at the latest moment a
 * missing wait reads what was there before; at once, a buffer that others still read is overwritten. The
 * schedule chooses: the canonical one and last_warp are late, reverse is early, the others toss a coin for
 * each copy.
 *
 * What is under way belongs to a thread. Threads are found by their stacks, which a thread that has begun and
 * not ended has for itself; a copy that nobody has waited for when its thread ends never arrives. */
#include <stdlib.h>
#include <string.h>

#include "emu_machine.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

enum {
    THREADS_LOG2 = 14, /* of a table */
    THREADS = 1 << THREADS_LOG2,
    COPIES = 64 /* under way of a thread; the oldest of more arrives */
};

typedef struct copy {
    void *to;
    const void *from;
    const void *pc;
    uint32_t size, filled;
    uint32_t group; /* number of the commit that it belongs to */
} copy;

typedef struct queue {
    uint64_t thread; /* which one of the run it is */
    uint32_t commits;
    uint32_t first, count; /* in a ring */
    copy copies[COPIES];
} queue;

static uintptr_t stack_of[THREADS]; /* 0: free */
static queue *queues;               /* made when the first copy is */
static bool used;

void cupel_emu_async_reset(void) {
    if (used) memset(stack_of, 0, sizeof stack_of);
    used = false;
}

static uint64_t name_of_thread(void) {
    return m->block_linear * CUPEL_EMU_THREADS_MAX + m->current->warp * CUPEL_EMU_WARP + m->current->lane;
}

static queue *own_queue(void) {
    if (!queues && (queues = calloc(THREADS, sizeof *queues)) == NULL)
        cupel_emu_report_stop(CUPEL_RUN_NOT_STARTED, CUPEL_FAULT_NONE, NULL, "no memory for copies");
    const uint64_t hash = (uint64_t)(m->registers->stack_low >> 12) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t slot = (uint32_t)(hash >> (64 - THREADS_LOG2)), looked = 0;
    while (stack_of[slot] != 0 && stack_of[slot] != m->registers->stack_low && looked++ < THREADS)
        slot = (slot + 1) % THREADS;
    if (looked == THREADS)
        cupel_emu_report_stop(CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, NULL,
                              "too many threads with asynchronous copies; use --on cuda");
    queue *q = &queues[slot];
    if (stack_of[slot] == 0 || q->thread != name_of_thread()) {
        stack_of[slot] = m->registers->stack_low;
        q->thread = name_of_thread();
        q->commits = q->first = q->count = 0;
    }
    used = true;
    m->unforeseen++;
    return q;
}

static bool is_early(void) {
    switch (m->policy.schedule.way) {
    case CUPEL_SCHEDULE_CANONICAL:
    case CUPEL_SCHEDULE_LAST_WARP: return false;
    case CUPEL_SCHEDULE_REVERSE: return true;
    default: return cupel_emu_schedule_below(2) == 0;
    }
}

static void arrive(const copy *c) {
    unsigned char bytes[16] = {0};
    if (c->filled != 0) memcpy(bytes, c->from, c->filled);
    cupel_emu_check_own((uintptr_t)c->to, c->size, true, c->pc);
    memcpy(c->to, bytes, c->size);
}

/* The oldest one. Out of the ring first: the checker may switch threads. */
static void finish_oldest(queue *q) {
    const copy c = q->copies[q->first];
    q->first = (q->first + 1) % COPIES;
    q->count--;
    arrive(&c);
}

void cupel_emu_async_copy(void *to, const void *from, uint32_t size, uint32_t filled) {
    const void *pc = __builtin_return_address(0);
    if (size != 4 && size != 8 && size != 16)
        cupel_emu_unsupported("cp.async of a size other than 4, 8 or 16");
    if (filled > size) filled = size;
    if (filled == size)
        cupel_emu_check_own((uintptr_t)from, size, false, pc);
    else if (filled != 0)
        cupel_emu_check_part((uintptr_t)from, filled, size, pc);
    if (!cupel_emu_check_target((uintptr_t)to, size, pc)) return;
    queue *q = own_queue();
    const copy c = {to, from, pc, size, filled, q->commits};
    if (is_early()) {
        arrive(&c);
        return;
    }
    if (q->count == COPIES) finish_oldest(q);
    q->copies[(q->first + q->count++) % COPIES] = c;
}

void cupel_emu_async_commit(void) {
    if (used) own_queue()->commits++;
}

void cupel_emu_async_wait(uint32_t groups) {
    if (!used) return;
    queue *q = own_queue();
    while (q->count != 0 && q->copies[q->first].group < q->commits &&
           q->commits - 1 - q->copies[q->first].group >= groups)
        finish_oldest(q);
}
