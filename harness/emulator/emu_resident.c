#include "emu_resident.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "emu_circle.h"
#include "emu_load.h"
#include "emu_sanitize.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

/* What a device of compute capability 9.0 keeps resident (CUDA C++ Programming Guide, table of technical
 * specifications; 132 multiprocessors: H100 and H200, SXM). A block takes one KiB of shared memory more than
 * it asks for. Registers are not known here. */
enum {
    MULTIPROCESSORS = 132,
    BLOCKS_EACH = 32,
    WARPS_EACH = 64,
    SHARED_EACH = 228 * 1024,
    SHARED_RESERVED = 1024
};

/* Blocks among which switches are drawn: enough for any two to meet, few enough to be fast. */
enum { DRAWN_AMONG = 8 };

enum { IDLE_ROUNDS = 8 };

static struct {
    cupel_emu_resident *blocks[CUPEL_EMU_IN_FLIGHT_BLOCKS]; /* the first count are in flight, those aside in
                                                               the order in which they left */
    uint32_t count, made, at_grid;
    cupel_emu_resident *running; /* or NULL */
    uint64_t total, begun, ended;
    const uint64_t *sample; /* the blocks that are run, total of them; NULL: all */
    uint64_t launched;      /* blocks of earlier launches of the run */
    uint64_t round;
    bool idle; /* in this round no block has ended or stored anything */
    int idle_rounds;
    uint32_t switches; /* drawn in this launch */
    uint32_t room;     /* blocks in flight, at most */
    bool cooperative;
} grid;

/* ---- what a device and the emulator take ---- */

static uint64_t resident_on_device(void) {
    const uint64_t shared =
        cupel_emu_module_static_shared(m->module, m->kernel) + m->dynamic_shared.size + SHARED_RESERVED;
    uint64_t each = WARPS_EACH / m->warp_count;
    if (each > BLOCKS_EACH) each = BLOCKS_EACH;
    if (each > SHARED_EACH / shared) each = SHARED_EACH / shared;
    return each * MULTIPROCESSORS;
}

bool cupel_emu_resident_begin(const cupel_emu_launch *launch) {
    const bool cooperative = launch->cooperative;
    const cupel_emu_dim dim = m->registers->grid_dim;
    const uint64_t device = resident_on_device(), here = CUPEL_EMU_IN_FLIGHT_BLOCKS / m->warp_count;
    grid.total = (uint64_t)dim.x * dim.y * dim.z;
    grid.sample = launch->sample_count != 0 ? launch->sample : NULL;
    if (grid.sample != NULL) grid.total = launch->sample_count;
    grid.cooperative = cooperative;
    grid.room = (uint32_t)(device < here ? device : here);
    grid.begun = grid.ended = grid.round = 0;
    grid.idle = false; /* in the first round they begin */
    grid.idle_rounds = 0;
    grid.launched = m->block_linear;
    grid.count = grid.at_grid = grid.switches = 0;
    grid.running = NULL;
    m->spun = false;
    m->others = grid.total > 1;
    if (cooperative && grid.total > device) {
        cupel_emu_report_fill(CUPEL_RUN_REFUSED, CUPEL_FAULT_NONE, NULL,
                              "%s: a cooperative launch of %llu blocks, of which a device with %d "
                              "multiprocessors keeps %llu resident at most",
                              m->kernel->entry, (unsigned long long)grid.total, MULTIPROCESSORS,
                              (unsigned long long)device);
        return false;
    }
    if (cooperative && grid.total > grid.room) {
        cupel_emu_report_fill(CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, NULL,
                              "%s: a cooperative launch of %llu blocks of %u threads is too large to emulate "
                              "(%d threads at most); use --on cuda, or claim smaller shapes",
                              m->kernel->entry, (unsigned long long)grid.total, m->thread_count,
                              CUPEL_EMU_IN_FLIGHT_THREADS);
        return false;
    }
    return true;
}

bool cupel_emu_resident_cooperative(void) {
    return grid.cooperative;
}

/* ---- out of the place and back ---- */

static size_t shared_bytes(const cupel_emu_shared *shared) {
    return shared->size == 0 ? 0 : shared->size + shared->size / 8 + 1;
}

static unsigned char *copy_out(unsigned char *to, const void *from, size_t size) {
    memcpy(to, from, size);
    return to + size;
}

static const unsigned char *copy_in(void *to, const unsigned char *from, size_t size) {
    memcpy(to, from, size);
    return from + size;
}

static size_t bytes_of_threads(void) {
    return m->warp_count * (sizeof *m->warps + CUPEL_EMU_WARP * sizeof *m->threads);
}

static bool save_memory(cupel_emu_resident *b) {
    const size_t size =
        bytes_of_threads() + shared_bytes(&m->static_shared) + shared_bytes(&m->dynamic_shared);
    if (size > b->capacity) {
        free(b->bytes);
        b->capacity = 0;
        b->bytes = malloc(size);
        if (b->bytes == NULL) return false;
        b->capacity = size;
    }
    unsigned char *to = copy_out(b->bytes, m->warps, m->warp_count * sizeof *m->warps);
    to = copy_out(to, m->threads, m->warp_count * CUPEL_EMU_WARP * sizeof *m->threads);
    const cupel_emu_shared *const both[] = {&m->static_shared, &m->dynamic_shared};
    for (int i = 0; i < 2 && m->shared_touched; i++) {
        if (both[i]->size == 0) continue;
        to = copy_out(to, (const void *)both[i]->start, both[i]->size);
        to = copy_out(to, both[i]->readable, both[i]->size / 8 + 1);
    }
    return true;
}

/* Shared memory that the block has not touched holds poison. */
static void restore_memory(const cupel_emu_resident *b) {
    const unsigned char *from = copy_in(m->warps, b->bytes, m->warp_count * sizeof *m->warps);
    from = copy_in(m->threads, from, m->warp_count * CUPEL_EMU_WARP * sizeof *m->threads);
    const cupel_emu_shared *const both[] = {&m->static_shared, &m->dynamic_shared};
    for (int i = 0; i < 2 && b->shared_touched; i++) {
        if (both[i]->size == 0) continue;
        from = copy_in((void *)both[i]->start, from, both[i]->size);
        from = copy_in(both[i]->readable, from, both[i]->size / 8 + 1);
    }
    if (!b->shared_touched && m->shared_touched) cupel_emu_block_poison();
}

/* The place is free then, for a block whose threads have not begun. */
static bool save(cupel_emu_resident *b) {
    if (!save_memory(b)) return false;
    b->aside = true;
    b->left = m->left;
    b->current = m->current;
    b->alive_count = m->alive_count, b->barrier_count = m->barrier_count, b->barrier_true = m->barrier_true;
    b->grid_count = m->grid_count, b->ready_warps = m->ready_warps, b->stepped_warps = m->stepped_warps;
    b->turns = m->turns, b->slice = m->slice, b->epoch_key = m->epoch_key;
    b->coming_pc = m->coming_pc, b->barrier_pc = m->barrier_pc, b->barrier_kind = m->barrier_kind;
    b->seen[0] = m->seen[0], b->seen[1] = m->seen[1];
    b->shared_touched = m->shared_touched, b->global_stored = m->global_stored;
    b->heard |= m->heard;
    for (uint32_t i = 0; i < m->warp_count * CUPEL_EMU_WARP; i++) m->threads[i].stack_low = 0;
    for (uint32_t w = 0; w < m->warp_count; w++) m->warps[w].asking = 0;
    return true;
}

/* Epochs have numbers of their own all through a run; what a thread did last in this one stays what it did
 * last. */
static void renumber_epoch(uint32_t was) {
    m->epoch_key += 2;
    for (uint32_t i = 0; i < m->warp_count * CUPEL_EMU_WARP; i++)
        if ((m->threads[i].access_key & ~1u) == was)
            m->threads[i].access_key = m->epoch_key | (m->threads[i].access_key & 1);
}

static void restore(cupel_emu_resident *b) {
    restore_memory(b);
    b->aside = false;
    grid.running = b;
    m->left = b->left;
    m->current = b->current;
    m->registers->block = b->block;
    m->block_linear = b->linear;
    m->alive_count = b->alive_count, m->barrier_count = b->barrier_count, m->barrier_true = b->barrier_true;
    m->grid_count = b->grid_count, m->ready_warps = b->ready_warps, m->stepped_warps = b->stepped_warps;
    m->turns = b->turns, m->slice = b->slice;
    m->coming_pc = b->coming_pc, m->barrier_pc = b->barrier_pc, m->barrier_kind = b->barrier_kind;
    m->seen[0] = b->seen[0], m->seen[1] = b->seen[1];
    m->shared_touched = b->shared_touched, m->global_stored = b->global_stored;
    m->heard = false;
    renumber_epoch(b->epoch_key);
    cupel_emu_check_forget();
    cupel_emu_global_forget_looks();
}

/* ---- who is next ---- */

static bool may_begin(void) {
    return grid.begun < grid.total && grid.count < grid.room;
}

static void no_memory(void) {
    cupel_emu_report_fill(CUPEL_RUN_NOT_STARTED, CUPEL_FAULT_NONE, NULL, "no memory for a block");
}

/* As the running block; the last in the list. */
static cupel_emu_resident *new_block(void) {
    if (grid.count == grid.made) {
        grid.blocks[grid.made] = calloc(1, sizeof **grid.blocks);
        if (grid.blocks[grid.made] == NULL) return NULL;
        grid.made++;
    }
    return grid.running = grid.blocks[grid.count++];
}

static void begin_next(void) {
    const cupel_emu_dim dim = m->registers->grid_dim;
    const uint64_t place = cupel_emu_schedule_block(&m->policy, grid.begun, grid.total, grid.room);
    const uint64_t linear = grid.sample != NULL ? grid.sample[place] : place;
    cupel_emu_resident *b = new_block();
    if (b == NULL) {
        no_memory();
        return;
    }
    b->aside = b->heard = b->stirs = false;
    b->rests = 0;
    memset(b->circling, 0, sizeof b->circling);
    b->linear = m->block_linear = grid.launched + ++grid.begun;
    b->block = (cupel_emu_dim){(uint32_t)(linear % dim.x), (uint32_t)(linear / dim.x % dim.y),
                               (uint32_t)(linear / dim.x / dim.y)};
    b->round = grid.round;
    m->others = grid.ended + 1 < grid.total;
    m->heard = false;
    cupel_emu_global_forget_looks();
    cupel_emu_block_run(b->block.x, b->block.y, b->block.z);
}

static void go_on(cupel_emu_resident *b) {
    restore(b);
    b->round = grid.round;
    m->others = grid.ended + 1 < grid.total;
    cupel_emu_block_go_on();
}

/* Behind those in flight, which keep their order. */
static void move_to_end(cupel_emu_resident *b) {
    uint32_t i = 0;
    while (grid.blocks[i] != b) i++;
    memmove(&grid.blocks[i], &grid.blocks[i + 1], (grid.count - i - 1) * sizeof *grid.blocks);
    grid.blocks[grid.count - 1] = b;
}

/* The running block has ended, or goes aside. */
static void note_departure(void) {
    cupel_emu_resident *b = grid.running;
    grid.running = NULL;
    if (m->sanitizing) cupel_emu_sanitize_settle();
    move_to_end(b);
    if (cupel_emu_global_has_stored()) grid.idle = false;
    if (m->left == CUPEL_EMU_ENDED) {
        grid.count--;
        grid.ended++;
        grid.idle = false;
        if (m->sanitizing) cupel_emu_sanitize_block_end();
    } else if (save(b)) {
        m->spun |= m->left == CUPEL_EMU_SPINS;
        grid.at_grid += m->left == CUPEL_EMU_AT_GRID;
        if (m->met) cupel_emu_circle_met(b);
    } else {
        no_memory();
    }
}

static bool can_go_on(const cupel_emu_resident *b) {
    return b->left == CUPEL_EMU_GAVE_WAY || b->left == CUPEL_EMU_PAST_GRID;
}

static cupel_emu_resident *first_ready(void) {
    for (uint32_t i = 0; i < grid.count; i++)
        if (can_go_on(grid.blocks[i])) return grid.blocks[i];
    return NULL;
}

static cupel_emu_resident *next_of_round(void) {
    for (uint32_t i = grid.count; i-- > 0;)
        if (grid.blocks[i]->left == CUPEL_EMU_SPINS && grid.blocks[i]->round != grid.round)
            return grid.blocks[i];
    return NULL;
}

/* A whole round in which none ended and none stored anything, and there is no room for one that has not
 * begun, for which they may wait. In another order of blocks than their own that proves nothing. */
static void note_idle_round(void) {
    if (cupel_emu_schedule_reorders(&m->policy)) {
        m->regroup = m->stopped = true;
    } else if (!m->waiting_out && ++grid.idle_rounds == IDLE_ROUNDS) {
        cupel_emu_report_fill(
            CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, NULL,
            "%s: the %u blocks of the launch that run beside each other here all wait, maybe "
            "for one of the %llu that have not begun; use --on cuda, or claim smaller shapes",
            m->kernel->entry, grid.count, (unsigned long long)(grid.total - grid.begun));
    }
}

/* Those that can go on spin, and none can begin. */
static cupel_emu_resident *next_spinning(void) {
    cupel_emu_resident *next = next_of_round();
    if (next != NULL || grid.count == grid.at_grid) return next;
    if (grid.begun < grid.total && grid.idle) note_idle_round();
    if (!grid.idle) grid.idle_rounds = 0;
    grid.round++;
    grid.idle = true;
    return next_of_round();
}

/* A block to go on, or NULL for one to begin. */
static cupel_emu_resident *draw(bool some_ready) {
    const uint32_t candidates = grid.count - grid.at_grid;
    const bool begin = may_begin() && (candidates < DRAWN_AMONG || !some_ready);
    if (candidates == 0) return NULL;
    uint32_t n = cupel_emu_schedule_below(candidates + begin);
    for (uint32_t i = 0; i < grid.count; i++)
        if (grid.blocks[i]->left != CUPEL_EMU_AT_GRID && n-- == 0) return grid.blocks[i];
    return NULL;
}

/* NULL: one that has not begun, where one may; else nobody. */
static cupel_emu_resident *choose(void) {
    cupel_emu_resident *ready = first_ready();
    if (m->policy.random_switch && (ready != NULL || may_begin())) return draw(ready != NULL);
    return ready != NULL || may_begin() ? ready : next_spinning();
}

static void pass_grid(void) {
    if (m->sanitizing) cupel_emu_sanitize_all_meet();
    grid.at_grid = 0;
    for (uint32_t i = 0; i < grid.count; i++) grid.blocks[i]->left = CUPEL_EMU_PAST_GRID;
}

/* Blocks wait at the grid for others that have ended. */
static void report_deadlock(void) {
    cupel_emu_resident *b = grid.blocks[0];
    restore(b);
    for (uint32_t w = m->warp_count; w-- > 0;)
        if (m->warps[w].at_grid != 0) m->current = &m->warps[w].threads[__builtin_ctz(m->warps[w].at_grid)];
    cupel_emu_report_fill(CUPEL_RUN_FAULT, CUPEL_FAULT_DEADLOCK, m->current->wait_pc,
                          "%u blocks wait for the whole grid; %llu have ended and will never come there",
                          grid.at_grid, (unsigned long long)grid.ended);
}

void cupel_emu_resident_run(void) {
    while (!m->stopped && grid.ended < grid.total) {
        cupel_emu_resident *next = choose();
        if (m->stopped) break;
        if (next != NULL) {
            go_on(next);
        } else if (may_begin()) {
            begin_next();
        } else if (grid.at_grid == grid.total) {
            pass_grid();
            continue;
        } else {
            report_deadlock();
        }
        if (!m->stopped) note_departure();
    }
}

void cupel_emu_resident_end(void) {
    m->block_linear = grid.launched + grid.begun;
    grid.count = 0;
    grid.running = NULL;
}

/* ---- for others to look at ---- */

/* Often at first, so that few accesses are enough for a race to show, then less and less. */
bool cupel_emu_resident_may_switch(void) {
    if (!m->others || cupel_emu_schedule_below(2 + grid.switches / 4) != 0) return false;
    grid.switches++;
    return true;
}

uint32_t cupel_emu_resident_count(void) {
    return grid.count;
}

cupel_emu_resident *cupel_emu_resident_at(uint32_t i) {
    return grid.blocks[i];
}

cupel_emu_resident *cupel_emu_resident_running(void) {
    return grid.running;
}

const cupel_emu_warp *cupel_emu_resident_warps(const cupel_emu_resident *b) {
    return b->aside ? (const cupel_emu_warp *)(const void *)b->bytes : m->warps;
}

cupel_emu_thread cupel_emu_resident_thread(const cupel_emu_resident *b, uint32_t i) {
    if (!b->aside) return m->threads[i];
    cupel_emu_thread thread; /* the bytes are not aligned as threads are */
    memcpy(&thread, b->bytes + m->warp_count * sizeof *m->warps + i * sizeof thread, sizeof thread);
    return thread;
}

bool cupel_emu_resident_keeps_to_itself(const cupel_emu_resident *b) {
    return !b->heard && (b->aside || !m->heard);
}

uint64_t cupel_emu_resident_hash(const cupel_emu_resident *b) {
    const size_t threads = bytes_of_threads();
    if (b->aside)
        return b->shared_touched
                   ? XXH3_64bits_withSeed(b->bytes + threads,
                                          shared_bytes(&m->static_shared) + shared_bytes(&m->dynamic_shared),
                                          b->linear)
                   : b->linear;
    if (!m->shared_touched) return b->linear;
    const cupel_emu_shared *const both[] = {&m->static_shared, &m->dynamic_shared};
    XXH3_state_t *state = XXH3_createState();
    if (state == NULL) return 0;
    XXH3_64bits_reset_withSeed(state, b->linear);
    for (int i = 0; i < 2; i++) {
        if (both[i]->size == 0) continue;
        XXH3_64bits_update(state, (const void *)both[i]->start, both[i]->size);
        XXH3_64bits_update(state, both[i]->readable, both[i]->size / 8 + 1);
    }
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}

uint64_t cupel_emu_resident_ended(void) {
    return grid.ended;
}

uint64_t cupel_emu_resident_waiting(void) {
    return grid.total - grid.begun;
}

bool cupel_emu_resident_may_begin(void) {
    return may_begin();
}
