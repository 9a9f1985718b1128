/* Runs and launches: what a device would refuse, the order of blocks, the way in and out of device code. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "emu_load.h"
#include "emu_machine.h"
#include "emu_resident.h"
#include "emu_sanitize.h"
#include "emu_strict.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

static bool refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool refuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m->out->text, sizeof m->out->text, format, arguments);
    va_end(arguments);
    m->out->outcome = CUPEL_RUN_REFUSED;
    m->stopped = true;
    return false;
}

/* The limits of compute capability 9.0 (CUDA C++ Programming Guide, table of technical specifications). */
static bool within_limits(const cupel_emu_launch *launch) {
    static const int64_t grid_max[3] = {2147483647, 65535, 65535}, block_max[3] = {1024, 1024, 64};
    static const char axis[] = "xyz";
    const char *entry = launch->kernel->entry;
    for (int i = 0; i < 3; i++) {
        if (launch->grid[i] < 1 || launch->grid[i] > grid_max[i])
            return refuse("%s: grid.%c is %lld, a device takes 1 to %lld", entry, axis[i],
                          (long long)launch->grid[i], (long long)grid_max[i]);
        if (launch->block[i] < 1 || launch->block[i] > block_max[i])
            return refuse("%s: block.%c is %lld, a device takes 1 to %lld", entry, axis[i],
                          (long long)launch->block[i], (long long)block_max[i]);
    }
    int64_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    if (threads > CUPEL_EMU_THREADS_MAX)
        return refuse("%s: %lld threads a block, a device takes %d at most", entry, (long long)threads,
                      CUPEL_EMU_THREADS_MAX);
    if (launch->kernel->max_threads != 0 && threads > launch->kernel->max_threads)
        return refuse("%s: %lld threads a block, __launch_bounds__ allows %u", entry, (long long)threads,
                      launch->kernel->max_threads);
    int64_t fixed = (int64_t)cupel_emu_module_static_shared(m->module, launch->kernel);
    if (fixed > CUPEL_EMU_STATIC_SHARED_MAX)
        return refuse("%s: %lld bytes of static shared memory, a device takes %d at most", entry,
                      (long long)fixed, CUPEL_EMU_STATIC_SHARED_MAX);
    if (launch->dynamic_shared < 0 || launch->dynamic_shared > CUPEL_EMU_SHARED_MAX - fixed)
        return refuse("%s: %lld bytes of dynamic and %lld of static shared memory, a device takes %d at most",
                      entry, (long long)launch->dynamic_shared, (long long)fixed, CUPEL_EMU_SHARED_MAX);
    return true;
}

static bool copy_arguments(const cupel_emu_launch *launch) {
    const cupel_emu_kernel *kernel = launch->kernel;
    size_t used = kernel->param_count * sizeof(void *);
    if (used > sizeof m->parameters) return refuse("%s: too many parameters", kernel->entry);
    m->arguments = (void **)(void *)m->parameters;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        used = (used + 15) & ~(size_t)15;
        if (kernel->params[i].size > sizeof m->parameters - used)
            return refuse("%s: more than 4 KiB of parameters", kernel->entry);
        m->arguments[i] = m->parameters + used;
        memcpy(m->parameters + used, launch->args[i], kernel->params[i].size);
        used += kernel->params[i].size;
    }
    return true;
}

/* Shared memory of any launch, made once: room on both sides, and bit maps. Far from everything else, so that
 * a stray index into something else does not look like one into shared memory. */
static bool map_shared(void) {
    static unsigned char *dynamic;
    if (dynamic != NULL) return true;
    size_t bytes = CUPEL_EMU_SHARED_MAX + 2 * CUPEL_EMU_SHARED_SLACK;
    size_t map = CUPEL_EMU_SHARED_MAX / 8 + 64;
    const size_t apart = (size_t)16 << 20;
    unsigned char *memory =
        mmap(NULL, 2 * apart + bytes + map, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    memory += apart;
    if (mprotect(memory, bytes + map, PROT_READ | PROT_WRITE) != 0) {
        munmap(memory - apart, 2 * apart + bytes + map);
        return false;
    }
    dynamic = memory + CUPEL_EMU_SHARED_SLACK;
    m->dynamic_shared.start = (uintptr_t)dynamic;
    m->dynamic_shared.readable = memory + bytes;
    return true;
}

static bool prepare_static_shared(void) {
    const cupel_emu_candidate_t *candidate = cupel_emu_module_candidate(m->module);
    size_t size = (size_t)(candidate->shared_stop - candidate->shared_start);
    if (m->static_shared.readable != NULL && m->static_shared.start == (uintptr_t)candidate->shared_start &&
        m->static_shared.size == size)
        return true;
    uint8_t *map = realloc(m->static_shared.readable, size / 8 + 16);
    if (map == NULL) return false;
    m->static_shared = (cupel_emu_shared){(uintptr_t)candidate->shared_start, size, map};
    return true;
}

static bool is_canonical(void) {
    return m->policy.schedule.way == CUPEL_SCHEDULE_CANONICAL;
}

void cupel_emu_run_begin(cupel_emu_module *module, const cupel_emu_memory *memory, uint64_t schedule,
                         unsigned needs, unsigned char shared_fill, uint64_t step_limit,
                         cupel_observation *out) {
    memset(out, 0, sizeof *out);
    out->outcome = CUPEL_RUN_FINISHED;
    m->module = module;
    m->memory = memory;
    m->out = out;
    m->registers = cupel_emu_module_candidate(module)->registers;
    m->current = NULL;
    m->global_start = (uintptr_t)memory->start;
    m->global_size = memory->size;
    m->valid = memory->valid;
    m->writable = memory->writable != NULL ? memory->writable : memory->valid;
    m->readable = memory->readable;
    m->steps_limit = m->steps_left = step_limit;
    m->registers->budget = m->access_budget = 0;
    m->shared_fill = shared_fill;
    m->stopped = m->waiting_out = m->watched = false;
    m->unforeseen = 0;
    m->module_dirty = m->kept == module;
    m->kept = NULL;
    m->note_count = 0;
    m->slice = CUPEL_EMU_SLICE;
    m->block_linear = 0;
    m->sanitizing = cupel_emu_module_is_strict(module);
    m->red_zones = cupel_emu_module_red_zones(module);
    m->careful = (needs & CUPEL_EMU_CAREFUL) != 0 || m->sanitizing;
    m->in_groups = (needs & CUPEL_EMU_IN_GROUPS) != 0;
    m->regroup = m->sampled = m->joined = false;
    m->mixed = m->seen[0] = m->seen[1] = false;
    m->epoch_key = 0;
    m->host_sp = NULL;
    m->stop_pc = NULL;
    cupel_emu_schedule_begin(&m->policy, schedule);
    m->calm = is_canonical() ? !m->careful : !m->policy.stepwise && !m->policy.random_switch;
    cupel_emu_check_begin();
    if (m->sanitizing) cupel_emu_strict_begin();
    cupel_emu_async_reset();
    cupel_emu_named_reset();
    if (!cupel_emu_global_begin())
        cupel_emu_report_fill(CUPEL_RUN_NOT_STARTED, CUPEL_FAULT_NONE, NULL,
                              "no memory for the checker's maps");
    cupel_emu_fault_install();
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A device would take it; this CPU would need minutes. */
static bool small_enough(const cupel_emu_launch *launch) {
    enum { THREADS_MAX = 200000000 };
    double threads = 1;
    for (int i = 0; i < 3; i++) threads *= (double)launch->grid[i] * (double)launch->block[i];
    if (threads <= THREADS_MAX) return true;
    cupel_emu_report_fill(CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, NULL,
                          "%s: a launch of %.0f threads is too large to emulate; use --on cuda",
                          launch->kernel->entry, threads);
    return false;
}

void cupel_emu_run_fill(void *variable, const void *bytes, size_t size) {
    memcpy(variable, bytes, size);
    m->module_dirty = true;
}

static uint64_t blocks_of(const cupel_emu_launch *launch) {
    if (launch->sample_count != 0) return launch->sample_count;
    return (uint64_t)launch->grid[0] * (uint64_t)launch->grid[1] * (uint64_t)launch->grid[2];
}

bool cupel_emu_run_launch(const cupel_emu_launch *launch) {
    if (m->stopped || !within_limits(launch) || !small_enough(launch) || !copy_arguments(launch))
        return false;
    if (!map_shared() || !prepare_static_shared()) {
        cupel_emu_report_fill(CUPEL_RUN_NOT_STARTED, CUPEL_FAULT_NONE, NULL, "no memory for shared memory");
        return false;
    }
    m->kernel = launch->kernel;
    m->registers->grid_dim =
        (cupel_emu_dim){(uint32_t)launch->grid[0], (uint32_t)launch->grid[1], (uint32_t)launch->grid[2]};
    m->registers->block_dim =
        (cupel_emu_dim){(uint32_t)launch->block[0], (uint32_t)launch->block[1], (uint32_t)launch->block[2]};
    m->thread_count = (uint32_t)(launch->block[0] * launch->block[1] * launch->block[2]);
    m->dynamic_shared.size = (size_t)launch->dynamic_shared;
    m->registers->dynamic_shared = (void *)m->dynamic_shared.start;
    m->registers->dynamic_shared_size = (uint32_t)launch->dynamic_shared;
    m->shared_touched = true; /* the first block finds poison too */
    if (m->sanitizing) cupel_emu_sanitize_all_meet();
    cupel_emu_block_begin_budget();
    cupel_emu_schedule_threads();
    m->sampled = launch->sample_count != 0;
    cupel_emu_schedule_grid(&m->policy, blocks_of(launch));
    if (!cupel_emu_resident_begin(launch)) return false;
    double start = now();
    m->running = true;
    cupel_emu_fault_watch(true);
    cupel_emu_resident_run();
    cupel_emu_fault_watch(false);
    m->running = false;
    m->out->seconds += now() - start;
    cupel_emu_resident_end();
    if (m->stopped) cupel_emu_stack_abandon_all();
    return !m->stopped;
}

unsigned cupel_emu_run_end(bool keep) {
    m->out->steps = m->steps_limit - m->steps_left - m->registers->budget - m->access_budget;
    if (m->sanitizing) cupel_emu_sanitize_end();
    m->sanitizing = false;
    cupel_emu_report_end();
    cupel_emu_module_gather(m->module);
    if (m->seen[0] && m->seen[1]) m->mixed = true; /* the last epoch */
    unsigned again = m->mixed && is_canonical() && !m->careful ? CUPEL_EMU_CAREFUL : 0;
    if (m->regroup) again |= CUPEL_EMU_IN_GROUPS;
    if (m->sampled && (m->joined || m->spun || m->module_dirty || m->regroup)) again |= CUPEL_EMU_ALL_BLOCKS;
    keep = keep && !m->stopped && again == 0;
    if (keep && m->module_dirty) m->kept = m->module;
    if (!keep && (m->module_dirty || m->stopped)) cupel_emu_module_restore(m->module);
    m->module = NULL;
    return again;
}

void cupel_emu_run_forget(void) {
    if (m->kept != NULL) cupel_emu_module_restore(m->kept);
    m->kept = NULL;
}
