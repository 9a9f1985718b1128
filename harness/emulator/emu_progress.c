/* Does a run that has used up its steps still get anywhere? A kernel may be slow, or its threads may wait for
 * each other for long; neither is a hang. So the run goes on, and is watched now and then: where every thread
 * that can run, of every block in flight, goes in a circle in which no memory changes (emu_circle.c), it is a
 * hang, unless blocks have yet to begin for which there is no room, so that a larger device might come to an
 * end. The threads of one block are enough where that block has looked at nothing that another one could
 * change. A run that is in no circle is given up, without a judgement, after MORE_STEPS in all: it works, or
 * it counts how long it waits. All limits are steps, so that a run ends in the same way every time. */
#include "emu_circle.h"
#include "emu_machine.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

/* MORE_STEPS: about three seconds, where an access that blocks may hear of takes as long as LISTENING steps.
 * It is watched for WATCH_STEPS and one step in WATCH_SHARE, at first, then whenever it has twice as many
 * steps behind it, and at last. */
enum {
    GRANT = 1 << 20,
    MORE_STEPS = 1280 << 20,
    LISTENING = 8,
    MORE_TIMES = 512,
    WATCH_STEPS = 1 << 15,
    WATCH_SHARE = 512
};

static struct {
    uint64_t given;   /* steps of the run as it began */
    uint64_t granted; /* since */
    uint64_t next;    /* as many at the next watch */
    bool last;        /* watch */
} more;

uint64_t cupel_emu_steps_made(void) {
    return m->steps_limit - m->steps_left - m->registers->budget - m->access_budget;
}

/* Threads run for long when it is their turn, from here on. */
static void begin(void) {
    more.given = m->steps_limit;
    more.granted = more.next = m->listened = 0;
    more.last = false;
    m->waiting_out = m->calm = true;
    m->timed = false;
    m->policy.stepwise = m->policy.random_switch = m->races = false;
    cupel_emu_global_prove();
}

static bool all_are_stuck(void) {
    if (cupel_emu_resident_may_begin()) return false;
    for (uint32_t i = 0; i < cupel_emu_resident_count(); i++)
        if (!cupel_emu_circle_holds(cupel_emu_resident_at(i))) return false;
    return true;
}

void cupel_emu_progress_stuck(const void *pc) {
    const bool own = cupel_emu_resident_keeps_to_itself(cupel_emu_resident_running());
    const unsigned long long made = cupel_emu_steps_made(), waiting = cupel_emu_resident_waiting();
    if (!own && !all_are_stuck()) return;
    if (own || waiting == 0)
        cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_HANG, pc,
                              "no end after %llu steps: all that can still run goes in a circle, in which "
                              "nothing changes any more",
                              made);
    cupel_emu_report_stop(
        CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, pc,
        "no end after %llu steps of %u blocks that run beside each other, which may wait for "
        "one of the %llu that have not begun, and for which there is no room here",
        made, cupel_emu_resident_count(), waiting);
}

static void give_up(const void *pc) {
    const unsigned long long made = cupel_emu_steps_made();
    if (m->timed)
        cupel_emu_report_stop(
            CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, pc,
            "no end after %llu steps of threads that read the clock, for which they may wait", made);
    cupel_emu_report_stop(CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, pc,
                          "still at work after %llu steps: too slow to be emulated, or waiting in a way that "
                          "cannot be told from work; use --on cuda, or claim smaller shapes",
                          made);
}

void cupel_emu_progress_more(const void *pc) {
    if (!m->waiting_out) begin();
    const uint64_t spent = more.granted + LISTENING * m->listened;
    const bool last = spent >= MORE_STEPS || more.granted / MORE_TIMES >= more.given;
    if (more.last && !m->watched) give_up(pc);
    more.granted += GRANT;
    m->steps_limit += GRANT;
    m->steps_left += GRANT;
    if (more.last || (more.granted < more.next && !last)) return;
    more.last = last;
    more.next = 2 * more.granted;
    cupel_emu_circle_watch(WATCH_STEPS + more.granted / WATCH_SHARE);
}
