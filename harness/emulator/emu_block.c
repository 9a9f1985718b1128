/* One block: who runs, who waits, barriers. A thread goes on until it has to wait and then hands over to the next one
 * directly; no scheduler stands between them. A thread that never waits costs no switch: the fiber that ran it goes on with
 * the next thread that has not begun. */
#include <string.h>

#include "emu_machine.h"

cupel_emu_machine cupel_emu_the_machine;

static cupel_emu_machine *const m = &cupel_emu_the_machine;

static inline uint32_t warp_of(const cupel_emu_thread *thread) {
    return (uint32_t)(thread - m->threads) / CUPEL_EMU_WARP;
}

static inline cupel_emu_thread *take(uint32_t warp, uint32_t slot) {
    cupel_emu_warp *w = &m->warps[warp];
    w->ready &= ~(1u << slot);
    if (w->ready == 0) m->ready_warps &= ~(1u << warp);
    return &m->threads[warp * CUPEL_EMU_WARP + slot];
}

/* Everyone has come as far as they can: threads that waited for that go on. */
static void release_stepped(void) {
    for (uint32_t left = m->stepped_warps; left != 0; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctz(left);
        m->warps[w].ready |= m->warps[w].stepped;
        m->warps[w].stepped = 0;
    }
    m->ready_warps |= m->stepped_warps;
    m->stepped_warps = 0;
}

/* The next thread to run, no longer marked ready; NULL when none can. The warp at hand first, slots in a ring, then the next
 * warp that has something to do. */
static inline cupel_emu_thread *choose(void) {
    if (m->ready_warps == 0) {
        if (m->stepped_warps == 0) return NULL;
        release_stepped();
    }
    if (m->policy.random_switch) return cupel_emu_schedule_draw();
    uint32_t warp = warp_of(m->current);
    uint32_t ready = m->warps[warp].ready;
    if (ready != 0) {
        uint32_t behind = ready & (uint32_t)(~UINT64_C(0) << (m->current->slot + 1));
        return take(warp, (uint32_t)__builtin_ctz(behind != 0 ? behind : ready));
    }
    uint32_t later = m->ready_warps & (uint32_t)(~UINT64_C(0) << (warp + 1));
    warp = (uint32_t)__builtin_ctz(later != 0 ? later : m->ready_warps);
    return take(warp, (uint32_t)__builtin_ctz(m->warps[warp].ready));
}

static void fiber_main(void);

/* Makes next the running thread as far as device code and the checker see it. */
static inline void enter(cupel_emu_thread *next) {
    m->current = next;
    memcpy(&m->registers->thread, &next->x, 5 * sizeof(uint32_t));
    m->stack_low = next->stack->low;
}

static cupel_emu_stack *new_stack(void) {
    cupel_emu_stack *stack = cupel_emu_stack_take(fiber_main);
    if (stack == NULL)
        cupel_emu_report_stop(CUPEL_RUN_NOT_STARTED, CUPEL_FAULT_NONE, NULL, "no memory for the stack of a thread");
    return stack;
}

void cupel_emu_block_wait(void) {
    cupel_emu_thread *self = m->current;
    cupel_emu_thread *next = choose();
    if (next == self) return;
    if (next == NULL) cupel_emu_report_deadlock();
    if (next->stack == NULL) next->stack = new_stack();
    enter(next);
    cupel_emu_fiber_switch(&self->stack->sp, next->stack->sp);
}

void cupel_emu_block_step(void) {
    uint32_t warp = warp_of(m->current);
    m->warps[warp].stepped |= 1u << m->current->slot;
    m->stepped_warps |= 1u << warp;
    cupel_emu_block_wait();
}

void cupel_emu_block_ready(uint32_t warp, uint32_t slots) {
    if (slots == 0) return;
    m->warps[warp].ready |= slots;
    m->ready_warps |= 1u << warp;
}

static void release_barrier(void) {
    m->barrier_seen = (int)m->barrier_count;
    m->barrier_trues = (int)m->barrier_true;
    m->barrier_count = m->barrier_true = 0;
    m->epoch_key += 2;
    for (uint32_t w = 0; w < m->warp_count; w++) {
        cupel_emu_block_ready(w, m->warps[w].at_barrier);
        m->warps[w].at_barrier = 0;
    }
}

int cupel_emu_barrier_sync(int kind, int predicate) {
    const void *pc = __builtin_return_address(0);
    if (--m->budget == 0) cupel_emu_budget_spent(pc);
    m->barrier_true += predicate != 0;
    if (++m->barrier_count == m->alive_count) {
        release_barrier();
    } else {
        m->warps[warp_of(m->current)].at_barrier |= 1u << m->current->slot;
        m->current->wait_pc = pc;
        cupel_emu_block_wait();
    }
    switch (kind) {
    case CUPEL_EMU_SYNC_COUNT: return m->barrier_trues;
    case CUPEL_EMU_SYNC_AND: return m->barrier_trues == m->barrier_seen;
    case CUPEL_EMU_SYNC_OR: return m->barrier_trues != 0;
    default: return 0;
    }
}

/* A step is an executed edge, a memory access or a barrier or warp operation, so that every loop uses steps up. Between slices the
 * others come to run: a thread may be spinning until another one stores a flag. */
void cupel_emu_budget_spent(const void *pc) {
    if (m->steps_left == 0) {
        m->budget = 1;
        cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_HANG, pc, "no end after %llu steps",
                              (unsigned long long)m->steps_limit);
    }
    uint64_t slice = m->steps_left < m->slice ? m->steps_left : m->slice;
    m->budget = (uint32_t)slice;
    m->steps_left -= slice;
    cupel_emu_block_step();
}

/* The running thread has returned from the kernel. */
static void leave_thread(cupel_emu_thread *self) {
    uint32_t warp = warp_of(self);
    m->warps[warp].alive &= ~(1u << self->slot);
    m->alive_count--;
    if (m->warps[warp].group_count != 0) cupel_emu_warp_lane_exited(warp);
    if (m->barrier_count != 0 && m->barrier_count == m->alive_count) release_barrier();
}

static void fiber_main(void) {
    for (;;) {
        m->kernel->call(m->arguments);
        cupel_emu_thread *self = m->current;
        cupel_emu_stack *stack = self->stack;
        self->stack = NULL;
        leave_thread(self);
        cupel_emu_thread *next = choose();
        if (next != NULL && next->stack == NULL) {
            next->stack = stack;
            enter(next);
            continue;
        }
        if (next == NULL && m->alive_count != 0) cupel_emu_report_deadlock();
        cupel_emu_stack_release(stack);
        if (next == NULL) cupel_emu_fiber_jump(m->host_sp);
        enter(next);
        cupel_emu_fiber_jump(next->stack->sp);
    }
}

static void poison(const cupel_emu_shared *shared) {
    memset((void *)shared->start, m->zero_poison ? 0 : 0xff, shared->size);
    memset(shared->readable, 0, shared->size / 8 + 1);
}

void cupel_emu_block_run(uint32_t bx, uint32_t by, uint32_t bz) {
    m->registers->block = (cupel_emu_dim){bx, by, bz};
    if (m->shared_touched) {
        poison(&m->static_shared);
        poison(&m->dynamic_shared);
        m->shared_touched = false;
    }
    for (uint32_t w = 0; w < m->warp_count; w++) {
        cupel_emu_warp *warp = &m->warps[w];
        warp->ready = warp->alive = warp->existing;
        warp->stepped = warp->at_barrier = warp->group_count = 0;
    }
    m->ready_warps = m->warp_count == 32 ? ~0u : (1u << m->warp_count) - 1;
    m->stepped_warps = 0;
    m->alive_count = m->thread_count;
    m->barrier_count = m->barrier_true = 0;
    m->epoch_key += 2;

    m->current = &m->threads[0];
    cupel_emu_thread *first = m->policy.random_switch ? cupel_emu_schedule_draw() : take(0, 0);
    first->stack = cupel_emu_stack_take(fiber_main);
    if (first->stack == NULL) {
        cupel_emu_report_fill(CUPEL_RUN_NOT_STARTED, CUPEL_FAULT_NONE, NULL, "no memory for the stack of a thread");
        return;
    }
    enter(first);
    cupel_emu_fiber_switch(&m->host_sp, first->stack->sp);
}
