/* One block: who runs, who waits, barriers. A thread goes on until it has to wait and then hands over to the
 * next one directly; no scheduler stands between them. A thread that never waits costs no switch: the fiber
 * that ran it goes on with the next thread that has not begun. */
#include <string.h>

#include "emu_circle.h"
#include "emu_local.h"
#include "emu_resident.h"
#include "emu_sanitize.h"
#include "emu_switch.h"

cupel_emu_machine cupel_emu_the_machine;

static cupel_emu_machine *const m = &cupel_emu_the_machine;

static inline uint32_t warp_of(const cupel_emu_thread *thread) {
    return (uint32_t)(thread->home - m->warps);
}

/* Threads that take turns at one place must not starve the others for ever: they may be waiting for them. */
enum { TURNS_IN_A_ROW = 256 };

/* How far a thread has come since the last barrier, as far as places tell: code in front of that barrier is
 * the next turn of a loop around it. */
static uintptr_t distance(const cupel_emu_thread *thread) {
    return (uintptr_t)thread->wait_pc - m->barrier_pc;
}

/* Do all threads of the block wait for what another one may do? */
static bool looks_out(void) {
    if (m->watched) return cupel_emu_circle_holds(cupel_emu_resident_running());
    return m->waiting_out ? m->heard : cupel_emu_global_spins();
}

/* Everyone has come as far as they can. Of those that waited for that, the ones that have come least far go
 * on: lanes that fell behind in a branch or a loop catch up before the others go further, as on a device
 * where a warp's lanes join again. False where all of them look out for what another block may do: then the
 * block leaves. */
static bool release_stepped(void) {
    uintptr_t least = UINTPTR_MAX, most = 0;
    for (uint32_t warps = m->stepped_warps; warps != 0; warps &= warps - 1) {
        uint32_t w = (uint32_t)__builtin_ctz(warps);
        for (uint32_t slots = m->warps[w].stepped; slots != 0; slots &= slots - 1) {
            uintptr_t far = distance(&m->threads[w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(slots)]);
            if (far < least) least = far;
            if (far > most) most = far;
        }
    }
    if (least == UINTPTR_MAX && m->others && looks_out()) return false;
    bool everyone = least == most || ++m->turns >= TURNS_IN_A_ROW;
    if (everyone) m->turns = 0;
    for (uint32_t warps = m->stepped_warps; warps != 0; warps &= warps - 1) {
        uint32_t w = (uint32_t)__builtin_ctz(warps), go = m->warps[w].stepped;
        for (uint32_t slots = everyone ? 0 : go; slots != 0; slots &= slots - 1)
            if (distance(&m->threads[w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(slots)]) != least)
                go &= ~(slots & -slots);
        m->warps[w].stepped &= ~go;
        if (m->warps[w].stepped == 0) m->stepped_warps &= ~(1u << w);
        cupel_emu_block_ready(&m->warps[w], go);
    }
    return true;
}

static bool any_ready(void) {
    while (m->ready_warps != 0) {
        uint32_t w = (uint32_t)__builtin_ctz(m->ready_warps);
        if (m->warps[w].ready != 0) return true;
        m->ready_warps &= ~(1u << w);
    }
    return false;
}

/* The next thread to run, no longer marked ready; NULL when none can. The warp at hand first, then the next
 * one that has something to do. */
static cupel_emu_thread *choose(void) {
    if (!any_ready()) {
        if (m->stepped_warps == 0 || !release_stepped()) return NULL;
    }
    if (m->policy.random_switch && m->current->home->ready == 0) return cupel_emu_schedule_draw();
    cupel_emu_warp *home = m->current->home;
    if (home->ready != 0) return cupel_emu_choose_in(home, m->current->own);
    for (uint32_t w = warp_of(m->current);;) {
        uint32_t later = m->ready_warps & (uint32_t)(~UINT64_C(0) << (w + 1));
        w = (uint32_t)__builtin_ctz(later != 0 ? later : m->ready_warps);
        if (m->warps[w].ready != 0) return cupel_emu_choose_in(&m->warps[w], 1);
        m->ready_warps &= ~(1u << w);
    }
}

static int release_barrier(int kind);

/* thread, which has not begun, is the running one. */
static void begin_on(cupel_emu_thread *thread, const cupel_emu_stack *stack) {
    thread->stack_low = stack->low;
    if (m->sanitizing)
        (void)cupel_emu_local_stack(stack->low); /* without it the run ends in a fault of ours */
    cupel_emu_enter(thread);
}

static void no_stack(void) {
    cupel_emu_report_fill(CUPEL_RUN_NOT_STARTED, CUPEL_FAULT_NONE, NULL,
                          "no memory for the stack of a thread");
}

/* No thread of the block can go on. Does it wait for other blocks, or was it to leave here? Else it waits for
 * ever. */
static void depart(void) {
    if (m->leaves && m->barrier_count == m->alive_count) {
        release_barrier(m->barrier_kind);
        m->leaves = false;
        m->met = true;
        m->left = CUPEL_EMU_SPINS;
        return;
    }
    if (m->stepped_warps == 0 && m->grid_count != m->alive_count) cupel_emu_report_deadlock();
    m->left = m->stepped_warps != 0 ? CUPEL_EMU_SPINS : CUPEL_EMU_AT_GRID;
}

/* The launching context; its result nobody reads. */
static cupel_emu_continuation host(void) {
    return (cupel_emu_continuation){0, m->host_sp};
}

/* To a thread that is no longer marked ready. */
static cupel_emu_continuation go_over_to(cupel_emu_thread *next) {
    if (next->stack_low != 0) return cupel_emu_go_on_with(next);
    cupel_emu_stack *stack = cupel_emu_stack_take();
    if (stack == NULL) {
        no_stack();
        return host();
    }
    begin_on(next, stack);
    return cupel_emu_fiber_new(stack, m->kernel->call, m->arguments);
}

cupel_emu_continuation cupel_emu_block_elsewhere(cupel_emu_thread *self) {
    cupel_emu_warp *home = self->home;
    cupel_emu_thread *next = home->ready != 0 ? cupel_emu_choose_in(home, self->own) : choose();
    if (next == self) return (cupel_emu_continuation){*cupel_emu_result_of(self), self->sp};
    if (next != NULL) return go_over_to(next);
    depart();
    return host();
}

void cupel_emu_block_yield(void) {
    cupel_emu_thread *self = m->current;
    cupel_emu_block_ready(self->home, self->own);
    cupel_emu_thread *next = cupel_emu_schedule_draw();
    if (next != self) cupel_emu_fiber_switch(&self->sp, go_over_to(next));
}

void cupel_emu_block_give_way(void) {
    cupel_emu_thread *self = m->current;
    cupel_emu_block_ready(self->home, self->own);
    m->left = CUPEL_EMU_GAVE_WAY;
    cupel_emu_fiber_switch(&self->sp, host());
}

void cupel_emu_block_step(const void *pc) {
    cupel_emu_thread *self = m->current;
    if (m->alive_count == 1 && (pc != NULL || !m->others)) return;
    self->wait_pc = pc != NULL ? pc : (const void *)(m->barrier_pc - 1); /* NULL: as far as can be */
    self->home->stepped |= self->own;
    m->stepped_warps |= 1u << warp_of(self);
    cupel_emu_wait(m->current);
}

void cupel_emu_block_ready(cupel_emu_warp *warp, uint32_t slots) {
    if (slots == 0) return;
    warp->ready |= slots;
    m->ready_warps |= 1u << (warp - m->warps);
}

static int barrier_result(int kind, uint32_t trues, uint32_t threads) {
    switch (kind) {
    case CUPEL_EMU_SYNC_COUNT: return (int)trues;
    case CUPEL_EMU_SYNC_AND: return trues == threads;
    case CUPEL_EMU_SYNC_OR: return trues != 0;
    default: return 0;
    }
}

/* The end of an epoch of shared memory. Where no epoch has both reads and stores, waiting for each other
 * changes nothing. */
static void end_epoch(void) {
    if (m->seen[0] && m->seen[1]) m->mixed = true;
    m->seen[0] = m->seen[1] = m->global_stored = false;
    m->epoch_key += 2;
    cupel_emu_check_epoch();
}

/* Everyone has come: all go on, with the result of the barrier. */
static __attribute__((noinline)) int release_barrier(int kind) {
    int result = barrier_result(kind, m->barrier_true, m->barrier_count);
    m->barrier_pc = m->coming_pc;
    m->barrier_count = m->barrier_true = 0;
    if (m->sanitizing) {
        cupel_emu_sanitize_barriers();
        cupel_emu_sanitize_block_meets();
    }
    end_epoch();
    for (uint32_t w = 0; w < m->warp_count; w++) {
        cupel_emu_warp *warp = &m->warps[w];
        for (uint32_t left = kind == CUPEL_EMU_SYNC ? 0 : warp->at_barrier; left != 0; left &= left - 1)
            *cupel_emu_result_of(&m->threads[w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(left)]) =
                (uint64_t)result;
        cupel_emu_block_ready(warp, warp->at_barrier);
        warp->at_barrier = 0;
    }
    return result;
}

static __attribute__((noinline)) cupel_emu_continuation pass_barrier(void *sp, int kind) {
    m->current->wait_pc = (const void *)m->coming_pc;
    return (cupel_emu_continuation){(uint64_t)release_barrier(kind), sp};
}

static inline __attribute__((always_inline)) cupel_emu_continuation come_to_barrier(void *sp, const void *pc,
                                                                                    int kind, int predicate) {
    m->barrier_true += predicate != 0;
    m->barrier_kind = kind;
    m->coming_pc = (uintptr_t)pc;
    if (++m->barrier_count == m->alive_count && !m->leaves) return pass_barrier(sp, kind);
    cupel_emu_thread *self = m->current;
    self->wait_pc = pc;
    self->home->at_barrier |= self->own;
    cupel_emu_fetch_ahead(self);
    return cupel_emu_suspend(self, sp);
}

static __attribute__((noinline)) cupel_emu_continuation barrier_after_budget(void *sp, const void *pc,
                                                                             int kind, int predicate) {
    cupel_emu_budget_spent(pc);
    return come_to_barrier(sp, pc, kind, predicate);
}

cupel_emu_continuation cupel_emu_barrier_here(void *sp, const void *pc, int kind, int predicate) {
    if (--m->registers->budget == 0) return barrier_after_budget(sp, pc, kind, predicate);
    return come_to_barrier(sp, pc, kind, predicate);
}

void cupel_emu_grid_sync(void) {
    const void *pc = __builtin_return_address(0);
    if (--m->registers->budget == 0) cupel_emu_budget_spent(pc);
    if (!cupel_emu_resident_cooperative())
        cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_ASSERT, pc,
                              "synchronises the grid in a launch that is not cooperative: a device traps");
    cupel_emu_thread *self = m->current;
    m->grid_count++;
    m->coming_pc = (uintptr_t)pc;
    self->home->at_grid |= self->own;
    self->wait_pc = pc;
    cupel_emu_wait(self);
}

int cupel_emu_grid_is_cooperative(void) {
    return cupel_emu_resident_cooperative();
}

/* Short ones once a thread of the block has used up slices alone: threads that spin in turn would use up the
 * run. */
enum { SHORT_SLICE = 256 };

/* A counter's next slice; 0 when the run has no steps left. */
static uint32_t next_slice(void) {
    const uint64_t wanted = m->watched ? 1 : m->slice;
    uint64_t slice = m->steps_left < wanted ? m->steps_left : wanted;
    m->steps_left -= slice;
    return (uint32_t)slice;
}

void cupel_emu_block_begin_budget(void) {
    if (m->registers->budget == 0) m->registers->budget = next_slice();
    if (m->access_budget == 0) m->access_budget = next_slice();
}

/* Threads that meet at a barrier or in a warp operation in every turn of a loop never use up slices alone,
 * even if the loop ends only when another block has stored something: then the block has to leave as well. */
static bool spin_together(void) {
    enum { SLICES_TOGETHER = 64 };
    if ((!m->others && !m->waiting_out) || ++m->spent_here < SLICES_TOGETHER) return false;
    m->spent_here = 0;
    if (m->waiting_out) {
        const bool waits_in_vain = m->leaves;
        m->leaves = true;
        return waits_in_vain && m->heard;
    }
    if (m->races || m->proving) return cupel_emu_global_spins();
    cupel_emu_global_prove();
    return false;
}

/* The registers that a call preserves go on the stack, at sp, beside what the caller has put there: in a
 * watch the stack is to tell all that the thread goes by. So the registers that a call may change, which tell
 * nothing, come back without what was in them here. */
__asm__(".text\n"
        ".globl cupel_emu_budget_spent\n"
        ".type cupel_emu_budget_spent,@function\n"
        "cupel_emu_budget_spent:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp,%rsi\n  subq $8,%rsp\n"
        "  call cupel_emu_block_spent\n"
        "  addq $8,%rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  .irp r,eax,ecx,edx,esi,edi,r8d,r9d,r10d,r11d\n  xorl %\\r,%\\r\n  .endr\n"
        "  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n  pxor %xmm\\n,%xmm\\n\n  .endr\n"
        "  ret\n"
        ".size cupel_emu_budget_spent,.-cupel_emu_budget_spent\n");

/* A step is an executed edge, a store, a load whose place does not know its address (emu_site.c), a barrier
 * or a warp operation, so that every loop uses steps up, but for those without a way out that store nothing
 * (emu_fault.c). After a slice that one thread has
 * used up alone the others come to run: it may be spinning until another one stores a flag. Of the two
 * budgets one is spent twice in three times. */
void cupel_emu_block_spent(const void *pc, const void *sp) {
    enum { A_SLICE_ALONE = 3, LONG_ALONE = 16 };
    cupel_emu_block_begin_budget();
    if (m->registers->budget == 0 || m->access_budget == 0) {
        cupel_emu_progress_more(pc);
        cupel_emu_block_begin_budget();
    }
    if (m->watched) {
        if (cupel_emu_circle_event(pc, sp)) cupel_emu_block_step(NULL);
        return;
    }
    if (++m->spent_alone < (m->waiting_out ? LONG_ALONE : A_SLICE_ALONE) && !spin_together()) return;
    m->slice = m->waiting_out ? CUPEL_EMU_SLICE : SHORT_SLICE;
    if (m->others && !m->races && !m->proving) cupel_emu_global_prove();
    cupel_emu_block_step(NULL);
}

/* The running thread has returned from the kernel. */
static void leave_thread(cupel_emu_thread *self) {
    cupel_emu_warp *warp = self->home;
    warp->alive &= ~self->own;
    m->alive_count--;
    if (warp->group_count != 0 || warp->all_arrived != 0) cupel_emu_warp_lane_exited(warp);
    if (m->barrier_count != 0 && m->barrier_count == m->alive_count) release_barrier(m->barrier_kind);
}

/* Mostly the thread behind it is ready, and it is the one that cupel_emu_choose_in finds. */
static cupel_emu_thread *choose_behind(cupel_emu_thread *self) {
    cupel_emu_warp *home = self->home;
    const uint32_t behind = self->own << 1;
    if ((home->ready & behind) == 0)
        return home->ready != 0 ? cupel_emu_choose_in(home, self->own) : choose();
    home->ready ^= behind;
    return self + 1;
}

cupel_emu_continuation cupel_emu_fiber_ended(cupel_emu_stack *stack) {
    cupel_emu_thread *self = m->current;
    self->stack_low = 0;
    cupel_emu_fetch_ahead(self);
    leave_thread(self);
    cupel_emu_thread *next = choose_behind(self);
    if (next != NULL && next->stack_low == 0) {
        begin_on(next, stack);
        return (cupel_emu_continuation){(uintptr_t)m->kernel->call, NULL};
    }
    if (next == NULL && m->alive_count != 0) depart();
    cupel_emu_stack_release(stack);
    return next != NULL ? cupel_emu_go_on_with(next) : host();
}

static void poison(const cupel_emu_shared *shared) {
    if (shared->size == 0) return; /* then there may be no memory at all */
    memset((void *)shared->start, m->shared_fill, shared->size);
    memset(shared->readable, 0, shared->size / 8 + 1);
}

void cupel_emu_block_poison(void) {
    poison(&m->static_shared);
    poison(&m->dynamic_shared);
    m->static_run = m->dynamic_run = (cupel_emu_run){0};
}

/* From the launching context into the block. */
static void enter_block(cupel_emu_thread *next) {
    m->host_sp = NULL;
    cupel_emu_continuation to = go_over_to(next);
    if (to.sp != NULL) cupel_emu_fiber_switch(&m->host_sp, to);
}

void cupel_emu_block_run(uint32_t bx, uint32_t by, uint32_t bz) {
    m->registers->block = (cupel_emu_dim){bx, by, bz};
    m->slice = m->spun ? SHORT_SLICE : CUPEL_EMU_SLICE;
    if (m->shared_touched) {
        cupel_emu_block_poison();
        m->shared_touched = false;
    }
    for (uint32_t w = 0; w < m->warp_count; w++) {
        cupel_emu_warp *warp = &m->warps[w];
        warp->ready = warp->alive = warp->existing;
        warp->stepped = warp->at_barrier = warp->at_grid = warp->group_count = warp->all_arrived = 0;
        warp->all_detail = 0;
    }
    m->ready_warps = m->warp_count == 32 ? ~0u : (1u << m->warp_count) - 1;
    m->stepped_warps = 0;
    m->alive_count = m->thread_count;
    m->barrier_count = m->barrier_true = m->grid_count = m->turns = 0;
    m->barrier_pc = 0;
    m->spent_here = 0;
    m->leaves = m->met = false;
    m->left = CUPEL_EMU_ENDED;
    end_epoch();
    m->current = &m->threads[0];
    enter_block(m->policy.random_switch ? cupel_emu_schedule_draw() : cupel_emu_choose_in(&m->warps[0], 1));
}

/* All blocks have come to where this one waits for them. */
static void pass_grid(void) {
    m->barrier_pc = m->coming_pc;
    m->grid_count = 0;
    end_epoch();
    for (uint32_t w = 0; w < m->warp_count; w++) {
        cupel_emu_block_ready(&m->warps[w], m->warps[w].at_grid);
        m->warps[w].at_grid = 0;
    }
}

void cupel_emu_block_go_on(void) {
    if (m->left == CUPEL_EMU_PAST_GRID) pass_grid();
    for (uint32_t w = 0; w < m->warp_count && m->left == CUPEL_EMU_SPINS; w++) {
        cupel_emu_block_ready(&m->warps[w], m->warps[w].stepped);
        m->warps[w].stepped = 0;
    }
    if (m->left == CUPEL_EMU_SPINS) m->stepped_warps = 0;
    m->left = CUPEL_EMU_ENDED;
    m->spent_here = 0;
    m->leaves = m->met = false;
    enter_block(m->policy.random_switch ? cupel_emu_schedule_draw() : choose());
}
