/* Does a run that has used up its steps still get anywhere? A kernel may be slow, or its threads may wait for
 * each other for long; neither is a hang. So the run goes on, in windows, at whose ends all that it may
 * change (buffers, shared memory, device variables) is compared with what was there when they began. A window
 * ends when every thread that can run, of every block in flight, has made at least WINDOW_STEPS steps in it,
 * and as many all together as the run was given: work in registers alone would have come to an end. No byte
 * changed, nobody ended, nobody came to a barrier: then it is a hang, unless blocks have yet to begin for
 * which there is no room, so that a larger device might come to an end. A block whose threads do come to
 * barriers is made to leave at one now and then: once all that there is of it, stacks and registers included,
 * has been the same twice, it will be so for ever, and its barriers and steps do not matter. The threads of
 * one block are enough where that block has looked at nothing that another one could change. A run that still
 * changes things is given up, without a judgement, after MORE_STEPS in all; so is one with too many threads
 * for a window. All limits are steps, so that a run ends in the same way every time. */
#include <string.h>
#include <xxhash.h>

#include "emu_load.h"
#include "emu_machine.h"
#include "emu_resident.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

/* MORE_STEPS: windows of 256 threads, and a quarter for what else happens in them; about three seconds. */
enum { WINDOW_STEPS = 1 << 22, GRANT = 1 << 20, MORE_STEPS = WINDOW_STEPS / 4 * 5 * 256, MORE_TIMES = 512 };

/* What a window compares, besides what there is of each block. */
typedef struct state {
    uint64_t ended, waiting, passed; /* blocks that have, that have not begun; barriers of the grid */
    uint64_t memory;
} state;

static struct {
    uint64_t given;    /* steps of the run as it began */
    uint64_t more;     /* steps since */
    uint64_t enough;   /* steps of each thread that make a window */
    uint64_t noted_at; /* cupel_emu_steps_made() when the running thread was last looked at */
    state began;
} window;

uint64_t cupel_emu_steps_made(void) {
    return m->steps_limit - m->steps_left - m->registers->budget - m->access_budget;
}

static uint64_t barriers_of(const cupel_emu_resident *b) {
    return b->passed + (b->aside ? 0 : m->passed - b->entered);
}

static state look(void) {
    state s = {.ended = cupel_emu_resident_ended(),
               .waiting = cupel_emu_resident_waiting(),
               .passed = m->passed,
               .memory = XXH3_64bits_withSeed((const void *)m->global_start, m->global_size,
                                              cupel_emu_module_hash(m->module))};
    for (uint32_t i = 0; i < cupel_emu_resident_count(); i++)
        s.passed -= barriers_of(cupel_emu_resident_at(i));
    return s;
}

static void note_block(cupel_emu_resident *b) {
    b->began.alive = b->aside ? b->alive_count : m->alive_count;
    b->began.at_barrier = b->aside ? b->barrier_count : m->barrier_count;
    b->began.at_grid = b->aside ? b->grid_count : m->grid_count;
    b->began.shared = cupel_emu_resident_hash(b);
    b->passed = b->rests = 0;
    b->entered = m->passed;
    b->circled = false;
}

/* The block is as it was when the window began, or goes round in a circle. */
static bool is_stuck(const cupel_emu_resident *b) {
    if (b->circled) return true;
    return barriers_of(b) == 0 && b->began.alive == (b->aside ? b->alive_count : m->alive_count) &&
           b->began.at_barrier == (b->aside ? b->barrier_count : m->barrier_count) &&
           b->began.at_grid == (b->aside ? b->grid_count : m->grid_count) &&
           b->began.shared == cupel_emu_resident_hash(b);
}

static bool same(const state *a, const state *b) {
    for (uint32_t i = 0; i < cupel_emu_resident_count(); i++)
        if (!is_stuck(cupel_emu_resident_at(i))) return false;
    return a->ended == b->ended && a->waiting == b->waiting && a->passed == b->passed &&
           a->memory == b->memory;
}

/* All threads of a block that went aside have met: what lies on their stacks, registers among it, and in
 * shared memory, is all there is of it. */
static uint64_t hash_rest(const cupel_emu_resident *b) {
    uint64_t hash = cupel_emu_resident_hash(b);
    const cupel_emu_warp *warps = cupel_emu_resident_warps(b);
    for (uint32_t w = 0; w < m->warp_count; w++)
        for (uint32_t slots = warps[w].alive; slots != 0; slots &= slots - 1) {
            const cupel_emu_thread thread =
                cupel_emu_resident_thread(b, w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(slots));
            const uintptr_t top = thread.stack_low + CUPEL_EMU_STACK_BYTES;
            hash ^= warps[w].value[thread.lane];
            hash = XXH3_64bits_withSeed(thread.sp, top - (uintptr_t)thread.sp, hash);
        }
    return hash;
}

/* The rest that is compared with is another one after 1, 2, 4, .. of them, so that a circle of any length is
 * found. What the clock says is another thing every time, and not on the stacks. */
void cupel_emu_progress_met(cupel_emu_resident *b) {
    const uint64_t rest = hash_rest(b);
    if (b->rests != 0 && rest == b->rest && !m->timed) b->circled = true;
    if ((b->rests & (b->rests - 1)) == 0) b->rest = rest;
    b->rests++;
}

/* Slots of threads that wait neither at a barrier nor in a warp operation. */
static uint32_t runnable(const cupel_emu_warp *warp) {
    uint32_t waiting = warp->at_barrier | warp->at_grid | warp->all_arrived;
    for (uint32_t g = 0; g < warp->group_count; g++) waiting |= warp->groups[g].arrived;
    return warp->alive & ~waiting;
}

static void begin_window(void) {
    uint64_t threads = 0;
    for (uint32_t i = 0; i < cupel_emu_resident_count(); i++) {
        cupel_emu_resident *b = cupel_emu_resident_at(i);
        const cupel_emu_warp *warps = cupel_emu_resident_warps(b);
        for (uint32_t w = 0; w < m->warp_count; w++)
            threads += (uint32_t)__builtin_popcount(runnable(&warps[w]));
        memset(b->made, 0, sizeof b->made);
        b->heard = false;
        note_block(b);
    }
    uint64_t share = window.given / (threads != 0 ? threads : 1);
    window.enough = share > WINDOW_STEPS ? share : WINDOW_STEPS;
    m->heard = false;
    window.began = look();
}

static bool has_made_enough(const cupel_emu_resident *b) {
    if (b->circled) return true;
    const cupel_emu_warp *warps = cupel_emu_resident_warps(b);
    for (uint32_t w = 0; w < m->warp_count; w++)
        for (uint32_t slots = runnable(&warps[w]); slots != 0; slots &= slots - 1)
            if (b->made[w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(slots)] < window.enough) return false;
    return true;
}

/* The running block looks at nothing of others: what they have made says nothing of it. */
static bool keeps_to_itself(void) {
    return !m->heard && !cupel_emu_resident_running()->heard;
}

static bool all_have_made_enough(void) {
    for (uint32_t i = 0; i < cupel_emu_resident_count(); i++)
        if (!has_made_enough(cupel_emu_resident_at(i))) return false;
    return true;
}

/* Threads run for long when it is their turn, from here on, or a window would never end. */
static void begin(void) {
    window.given = m->steps_limit;
    window.more = 0;
    window.noted_at = cupel_emu_steps_made();
    m->waiting_out = m->calm = true;
    m->timed = false;
    m->policy.stepwise = m->policy.random_switch = m->races = false;
    cupel_emu_global_prove();
    begin_window();
}

static void end_window(const void *pc) {
    const state now = look();
    if (!same(&window.began, &now)) {
        begin_window();
        return;
    }
    const unsigned long long made = cupel_emu_steps_made();
    if (m->timed)
        cupel_emu_report_stop(
            CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, pc,
            "no end after %llu steps of threads that read the clock, for which they may wait", made);
    if (keeps_to_itself() || now.waiting == 0)
        cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_HANG, pc,
                              "no end after %llu steps, and nothing changes any more", made);
    cupel_emu_report_stop(
        CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, pc,
        "no end after %llu steps of %u blocks that run beside each other, which may wait for "
        "one of the %llu that have not begun, and for which there is no room here",
        made, cupel_emu_resident_count(), (unsigned long long)now.waiting);
}

void cupel_emu_progress_spent(void) {
    const uint64_t now = cupel_emu_steps_made();
    if (m->spent_alone != 0)
        cupel_emu_resident_running()->made[m->current - m->threads] += now - window.noted_at;
    window.noted_at = now;
}

void cupel_emu_progress_more(const void *pc) {
    if (!m->waiting_out)
        begin();
    else if (window.began.ended != cupel_emu_resident_ended() ||
             (keeps_to_itself() ? has_made_enough(cupel_emu_resident_running()) : all_have_made_enough()))
        end_window(pc);
    if (window.more >= MORE_STEPS || window.more / MORE_TIMES >= window.given)
        cupel_emu_report_stop(
            CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, pc,
            "still at work after %llu steps: too slow, or waiting for something in a way, to "
            "be emulated; use --on cuda, or claim smaller shapes",
            (unsigned long long)cupel_emu_steps_made());
    window.more += GRANT;
    m->steps_limit += GRANT;
    m->steps_left += GRANT;
}
