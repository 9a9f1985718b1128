/* What the run's observation hears: faulty accesses, notes, the end of the run. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu_load.h"
#include "emu_machine.h"
#include "emu_watch.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

static void place_thread(cupel_place *place) {
    const cupel_emu_dim *block = &m->registers->block;
    const cupel_emu_thread *thread = m->current;
    place->block[0] = block->x, place->block[1] = block->y, place->block[2] = block->z;
    if (thread == NULL) return;
    place->thread[0] = thread->x, place->thread[1] = thread->y, place->thread[2] = thread->z;
}

void cupel_emu_report_access(cupel_access_kind kind, cupel_space space, uintptr_t address, size_t size,
                             const void *pc) {
    cupel_observation *out = m->out;
    cupel_emu_watch_access(kind);
    out->access_total++;
    for (int i = 0; i < out->access_count; i++) {
        if (m->access_pc[i] != pc || out->accesses[i].kind != kind) continue;
        out->accesses[i].count++;
        return;
    }
    if (out->access_count == CUPEL_ACCESS_MAX) return;
    m->access_pc[out->access_count] = pc;
    cupel_access *access = &out->accesses[out->access_count++];
    *access = (cupel_access){.kind = kind, .space = space, .buffer = -1, .size = (int32_t)size, .count = 1};
    place_thread(&access->place);
    if (space == CUPEL_SPACE_GLOBAL) {
        access->buffer = m->memory->locate(m->memory->self, (const void *)address, &access->offset);
    } else if (address - m->dynamic_shared.start < CUPEL_EMU_SHARED_MAX) {
        access->offset = (int64_t)(address - m->dynamic_shared.start);
    } else if (space == CUPEL_SPACE_SHARED) {
        access->offset = (int64_t)(address - m->static_shared.start);
    }
}

void cupel_emu_report_note(const char *text) {
    for (int i = 0; i < m->note_count; i++)
        if (m->notes[i] == text) return;
    if (m->note_count < CUPEL_EMU_NOTES_MAX) m->notes[m->note_count++] = text;
}

static void fill(cupel_outcome outcome, cupel_fault fault, const void *pc, const char *format,
                 va_list arguments) {
    m->stopped = true;
    m->out->outcome = outcome;
    m->out->fault = fault;
    if (m->registers != NULL) place_thread(&m->out->place);
    m->stop_pc = pc; /* libdw needs more stack than a fiber has */
    vsnprintf(m->out->text, sizeof m->out->text, format, arguments);
}

void cupel_emu_report_fill(cupel_outcome outcome, cupel_fault fault, const void *pc, const char *format,
                           ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(outcome, fault, pc, format, arguments);
    va_end(arguments);
}

void cupel_emu_report_stop(cupel_outcome outcome, cupel_fault fault, const void *pc, const char *format,
                           ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(outcome, fault, pc, format, arguments);
    va_end(arguments);
    if (outcome == CUPEL_RUN_FAULT) cupel_emu_watch_end();
    cupel_emu_fiber_jump((cupel_emu_continuation){.sp = m->host_sp});
}

void cupel_emu_report_deadlock(void) {
    const cupel_emu_thread *lane = NULL, *waiting = NULL;
    uint32_t lanes = 0, threads = 0, grid = m->grid_count;
    for (uint32_t w = m->warp_count; w-- > 0;) {
        const cupel_emu_warp *warp = &m->warps[w];
        uint32_t meeting = warp->all_arrived;
        for (uint32_t g = 0; g < warp->group_count; g++) meeting |= warp->groups[g].arrived;
        lanes += (uint32_t)__builtin_popcount(meeting);
        threads += (uint32_t)__builtin_popcount(warp->at_barrier);
        if (meeting != 0) lane = &m->threads[w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(meeting)];
        uint32_t others = warp->at_barrier != 0 ? warp->at_barrier : warp->at_grid;
        if (others != 0) waiting = &m->threads[w * CUPEL_EMU_WARP + (uint32_t)__builtin_ctz(others)];
    }
    if (lane == NULL && waiting == NULL) cupel_emu_named_deadlock();
    cupel_emu_thread *shown = &m->threads[(lane != NULL ? lane : waiting) - m->threads];
    m->current = shown;
    if (grid != 0)
        cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_DEADLOCK, shown->wait_pc,
                              "%u threads wait for the grid, %u at a barrier and %u in warp operations for "
                              "lanes that never come",
                              grid, threads, lanes);
    cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_DEADLOCK, shown->wait_pc,
                          "%u threads wait at a barrier and %u in warp operations for lanes that never come",
                          threads, lanes);
}

void cupel_emu_trap(void) {
    cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_ASSERT, __builtin_return_address(0),
                          "the kernel executed a trap");
    __builtin_unreachable();
}

void cupel_emu_assert_fail(const char *condition, const char *file, unsigned line, const char *function) {
    (void)file, (void)line, (void)function; /* the place says it */
    cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_ASSERT, __builtin_return_address(0),
                          "the kernel's assertion '%.200s' failed", condition);
    __builtin_unreachable();
}

void cupel_emu_unsupported(const char *what) {
    cupel_emu_report_stop(CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, __builtin_return_address(0),
                          "%.200s is not emulated; use --on cuda", what);
    __builtin_unreachable();
}

uint64_t cupel_emu_clock(void) {
    m->heard = m->timed = true; /* time passes for a block that waits, too */
    m->unforeseen++;
    return m->steps_limit - m->steps_left - m->registers->budget - m->access_budget;
}

static bool same_place(const cupel_place *a, const cupel_place *b) {
    return a->line == b->line && a->line != 0 && strcmp(a->file, b->file) == 0;
}

/* Accesses are told apart by instruction while the run lasts, by line afterwards. */
static void name_accesses(void) {
    cupel_observation *out = m->out;
    int kept = 0;
    for (int i = 0; i < out->access_count; i++) {
        cupel_access *access = &out->accesses[i];
        cupel_emu_places_find(cupel_emu_module_places(m->module), m->access_pc[i], &access->place);
        int same = 0;
        while (same < kept && (out->accesses[same].kind != access->kind ||
                               !same_place(&out->accesses[same].place, &access->place)))
            same++;
        if (same < kept) {
            out->accesses[same].count += access->count;
        } else {
            out->accesses[kept++] = *access;
        }
    }
    out->access_count = kept;
}

void cupel_emu_report_end(void) {
    name_accesses();
    if (m->stop_pc != NULL)
        cupel_emu_places_find(cupel_emu_module_places(m->module), m->stop_pc, &m->out->place);
    if (m->stopped) return;
    size_t used = 0;
    for (int i = 0; i < m->note_count && used < sizeof m->out->text; i++)
        used += (size_t)snprintf(m->out->text + used, sizeof m->out->text - used, "%snote: %s",
                                 used == 0 ? "" : "; ", m->notes[i]);
}
