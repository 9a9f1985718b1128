/* The checker: every access of instrumented code comes here first. Common cases are decided inline by one
 * look at a bit map; the rest is settled in order. An access that may do harm outside the candidate's own
 * memory ends the run before it happens. */
#include <signal.h>
#include <string.h>

#include "emu_circle.h"
#include "emu_load.h"
#include "emu_machine.h"
#include "emu_sanitize.h"
#include "emu_watch.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

/* The bits of the size bytes (at most 16) from offset on; maps have room for reading a little too far. */
static inline uint32_t map_bits(const uint8_t *map, size_t offset, uint32_t size) {
    uint32_t word;
    memcpy(&word, map + (offset >> 3), sizeof word);
    return word >> (offset & 7) & ((1u << size) - 1);
}

static inline void map_set(uint8_t *map, size_t offset, uint32_t size) {
    uint32_t word;
    memcpy(&word, map + (offset >> 3), sizeof word);
    word |= ((1u << size) - 1) << (offset & 7);
    memcpy(map + (offset >> 3), &word, sizeof word);
}

static void report(bool write, bool misaligned, cupel_space space, uintptr_t address, uint32_t size,
                   const void *pc) {
    cupel_access_kind kind =
        misaligned ? (write ? CUPEL_ACCESS_MISALIGNED_WRITE : CUPEL_ACCESS_MISALIGNED_READ)
                   : (write ? CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE : CUPEL_ACCESS_OUT_OF_BOUNDS_READ);
    cupel_emu_report_access(kind, space, address, size, pc);
}

/* An access that belongs nowhere. */
static void stop(uintptr_t address, uint32_t size, bool write, const void *pc) {
    const char *verb = write ? "writes" : "reads";
    if (address < 65536) {
        m->out->signal = SIGSEGV;
        cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_CRASH, pc,
                              "%s %u bytes through a null pointer (address 0x%llx)", verb, size,
                              (unsigned long long)address);
    }
    report(write, false, CUPEL_SPACE_GLOBAL, address, size, pc);
    int64_t offset = 0;
    int buffer = m->memory->locate(m->memory->self, (const void *)address, &offset);
    if (buffer >= 0)
        cupel_emu_report_stop(
            CUPEL_RUN_FAULT, CUPEL_FAULT_OUT_OF_BOUNDS, pc,
            "%s %u bytes at offset %lld of the nearest buffer, outside of all memory that it was given", verb,
            size, (long long)offset);
    cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_OUT_OF_BOUNDS, pc,
                          "%s %u bytes at 0x%llx, outside of all memory that it was given", verb, size,
                          (unsigned long long)address);
}

/* Just outside static shared memory. */
static void stop_shared(uintptr_t address, uint32_t size, bool write, const void *pc) {
    const char *verb = write ? "writes" : "reads", *name;
    size_t bytes, offset;
    int length;
    report(write, false, CUPEL_SPACE_SHARED, address, size, pc);
    if (cupel_emu_module_shared_array(m->module, address, &name, &length, &bytes, &offset))
        cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_OUT_OF_BOUNDS, pc,
                              "%s %u bytes at byte %zu of the shared memory array %.*s (%zu bytes)", verb,
                              size, offset, length, name, bytes);
    cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_OUT_OF_BOUNDS, pc,
                          "%s %u bytes at byte %lld of shared memory (%zu bytes)", verb, size,
                          (long long)(address - m->static_shared.start), m->static_shared.size);
}

static bool is_near_shared(uintptr_t address) {
    return m->static_shared.size != 0 && address - (m->static_shared.start - CUPEL_EMU_SHARED_SLACK) <
                                             m->static_shared.size + 2 * CUPEL_EMU_SHARED_SLACK;
}

/* Next to the running thread's stack: an index has left an array that lies on it. */
static void stop_local(uintptr_t address, uint32_t size, bool write, const void *pc) {
    report(write, false, CUPEL_SPACE_LOCAL, address, size, pc);
    bool below = address < m->registers->stack_low;
    cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_OUT_OF_BOUNDS, pc,
                          "%s %u bytes outside of the thread's local memory, %s everything on its stack",
                          write ? "writes" : "reads", size, below ? "below" : "above");
}

/* Whether an access lies in the running thread's stack, or at most so many bytes below or above it. */
static bool on_stack(uintptr_t address, uint32_t size, size_t below, size_t above) {
    return address - (m->registers->stack_low - below) <= CUPEL_EMU_STACK_BYTES + below + above - size;
}

static void settle_global(size_t offset, uint32_t size, bool write, const void *pc) {
    uint32_t all = (1u << size) - 1;
    uintptr_t address = m->global_start + offset;
    if (map_bits(m->valid, offset, size) != all &&
        !(write ? cupel_emu_watch_store(address, size) : cupel_emu_watch_covers(address, size))) {
        report(write, false, CUPEL_SPACE_GLOBAL, address, size, pc);
        return;
    }
    if (write && map_bits(m->writable, offset, size) != all)
        cupel_emu_report_access(CUPEL_ACCESS_INPUT_WRITE, CUPEL_SPACE_GLOBAL, address, size, pc);
    if (!write && map_bits(m->readable, offset, size) != all)
        cupel_emu_report_access(CUPEL_ACCESS_UNINITIALISED_READ, CUPEL_SPACE_GLOBAL, address, size, pc);
    map_set(m->readable, offset, size);
}

bool cupel_emu_check_is_red(uintptr_t address, size_t size) {
    if (m->red_zones == NULL) return false;
    const uintptr_t start = m->static_shared.start, stop = start + m->static_shared.size;
    for (uintptr_t at = address; at < address + size && at - start < stop - start; at += 16) {
        const size_t left = address + size - at;
        if (map_bits(m->red_zones, at - start, left < 16 ? (uint32_t)left : 16) != 0) return true;
    }
    return false;
}

static void settle_shared(const cupel_emu_shared *shared, size_t offset, uint32_t size, bool write,
                          const void *pc) {
    if (offset >= shared->size || size > shared->size - offset ||
        cupel_emu_check_is_red(shared->start + offset, size)) {
        report(write, false, CUPEL_SPACE_SHARED, shared->start + offset, size, pc);
        return;
    }
    if (!write && map_bits(shared->readable, offset, size) != (1u << size) - 1)
        cupel_emu_report_access(CUPEL_ACCESS_UNINITIALISED_READ, CUPEL_SPACE_SHARED, shared->start + offset,
                                size, pc);
    map_set(shared->readable, offset, size);
}

/* The whole decision, for pieces of at most 16 bytes. */
static void settle(uintptr_t address, uint32_t size, bool write, const void *pc) {
    if (address - m->global_start < m->global_size) {
        settle_global(address - m->global_start, size, write, pc);
    } else if (on_stack(address, size, CUPEL_EMU_STACK_SPREAD, 0)) {
        return;
    } else if (address - m->static_shared.start < m->static_shared.size) {
        settle_shared(&m->static_shared, address - m->static_shared.start, size, write, pc);
    } else if (on_stack(address, size, CUPEL_EMU_STACK_GUARD, CUPEL_EMU_STACK_GUARD)) {
        stop_local(address, size, write, pc);
    } else if (address - (m->dynamic_shared.start - CUPEL_EMU_SHARED_SLACK) <
               CUPEL_EMU_SHARED_MAX + 2 * CUPEL_EMU_SHARED_SLACK) {
        settle_shared(&m->dynamic_shared, address - m->dynamic_shared.start, size, write, pc);
    } else if (!write && address - (uintptr_t)m->parameters < sizeof m->parameters) {
        return;
    } else if (cupel_emu_module_owns(m->module, address, size, write)) {
        if (write) m->module_dirty = true;
    } else if (!write && cupel_emu_module_owns_pages(m->module, address, size)) {
        report(false, false, CUPEL_SPACE_SHARED, address, size, pc);
    } else if (is_near_shared(address)) {
        stop_shared(address, size, write, pc);
    } else {
        stop(address, size, write, pc);
    }
}

static cupel_space space_of(uintptr_t address) {
    if (address - m->registers->stack_low < CUPEL_EMU_STACK_BYTES) return CUPEL_SPACE_LOCAL;
    if (address - m->static_shared.start < m->static_shared.size) return CUPEL_SPACE_SHARED;
    if (address - m->dynamic_shared.start < CUPEL_EMU_SHARED_MAX) return CUPEL_SPACE_SHARED;
    return CUPEL_SPACE_GLOBAL;
}

static inline bool is_shared(uintptr_t address) {
    return address - m->static_shared.start < m->static_shared.size ||
           address - m->dynamic_shared.start < m->dynamic_shared.size;
}

/* May the current thread access shared memory without asking the schedule? Between two barriers reads may
 * follow each other freely while nobody has stored; the first access, stores and what comes after them wait
 * for the others. */
static inline __attribute__((always_inline)) bool goes_on(bool write) {
    if (m->calm) return true;
    return !write && m->policy.stepwise && m->current->access_key == m->epoch_key && !m->seen[1];
}

static void order_shared(bool write, const void *pc) {
    cupel_emu_thread *self = m->current;
    if (m->policy.stepwise) {
        if (!goes_on(write)) cupel_emu_block_step(pc);
        self->access_key = m->epoch_key + write;
    } else if (m->policy.random_switch && cupel_emu_schedule_switches()) {
        cupel_emu_block_yield();
    }
    m->shared_touched = m->seen[write] = true;
}

/* An access to shared memory that need not wait and has nothing to report. */
static inline __attribute__((always_inline)) bool shared_at_once(const cupel_emu_shared *shared,
                                                                 size_t offset, uint32_t size, bool write) {
    if (!goes_on(write) || size > shared->size - offset) return false;
    if (!write && map_bits(shared->readable, offset, size) != (1u << size) - 1) return false;
    if (write) map_set(shared->readable, offset, size);
    m->shared_touched = m->seen[write] = true;
    return true;
}

static inline void order(uintptr_t address, size_t size, bool write, const void *pc) {
    if (is_shared(address))
        order_shared(write, pc);
    else if (m->races || m->proving)
        cupel_emu_global_order(address, size, write ? CUPEL_EMU_STORE : CUPEL_EMU_LOAD, pc);
}

/* The budget is spent, and the access is still to come. */
static __attribute__((noinline)) void spend(uintptr_t address, size_t size, bool write, const void *pc) {
    cupel_emu_budget_spent(pc);
    if (m->watched && write) cupel_emu_circle_store(address, size);
}

static __attribute__((noinline)) void uncommon(uintptr_t address, uint32_t size, bool write, const void *pc) {
    if (m->access_budget == 0) spend(address, size, write, pc);
    order(address, size, write, pc);
    if (address & (size - 1)) report(write, true, space_of(address), address, size, pc);
    settle(address, size, write, pc);
}

/* Keys of different times differ by more than the number of any line, and all of them together stay below
 * 2^64, so that no address, however wild, has the tag of another line. */
enum { LINE_KEY_SHIFT = 42, LINE_TIMES = 1 << 21 };

static void forget_lines(void) {
    m->line_key += UINT64_C(1) << LINE_KEY_SHIFT;
    if (m->line_key >> LINE_KEY_SHIFT < LINE_TIMES) return;
    memset(m->lines, 0, sizeof m->lines);
    m->line_key = UINT64_C(1) << LINE_KEY_SHIFT;
}

void cupel_emu_check_forget(void) {
    forget_lines();
    cupel_emu_site_forget();
}

void cupel_emu_check_epoch(void) {
    forget_lines();
    cupel_emu_site_forget_shared();
}

static inline cupel_emu_line *line_of(uintptr_t address) {
    return &m->lines[address / CUPEL_EMU_LINE_BYTES % CUPEL_EMU_LINES];
}

/* The line around address, which lies in a region with a map. Up to seven bits at its end may be left out. */
static __attribute__((noinline)) bool remember(uintptr_t address, uintptr_t start, size_t size,
                                               const uint8_t *map) {
    uintptr_t line = address & ~(uintptr_t)(CUPEL_EMU_LINE_BYTES - 1);
    size_t from = line < start ? 0 : line - start;
    uint64_t bits;
    memcpy(&bits, map + (from >> 3), sizeof bits);
    bits >>= from & 7;
    if (size - from < CUPEL_EMU_LINE_BYTES) bits &= (UINT64_C(1) << (size - from)) - 1;
    if (line < start) bits <<= start - line;
    *line_of(address) = (cupel_emu_line){address / CUPEL_EMU_LINE_BYTES + m->line_key, bits};
    return true;
}

static inline __attribute__((always_inline)) bool remembered(uintptr_t address, uint32_t all) {
    const cupel_emu_line *line = line_of(address);
    return line->tag == address / CUPEL_EMU_LINE_BYTES + m->line_key &&
           (~(line->readable >> address % CUPEL_EMU_LINE_BYTES) & all) == 0;
}

/* The same for memory that is shared, where a read that follows others waits for nobody. */
static inline __attribute__((always_inline)) bool
in_shared_at_once(const cupel_emu_shared *shared, uintptr_t address, uint32_t size, bool write) {
    if (!shared_at_once(shared, address - shared->start, size, write)) return false;
    return write || !m->calm || remember(address, shared->start, shared->size, shared->readable);
}

/* Nothing to report, nothing to wait for: the way of nearly every access, without a call. */
static __attribute__((always_inline)) inline bool at_once(uintptr_t address, uint32_t size, bool write) {
    if (--m->access_budget == 0 || (address & (size - 1)) != 0) return false;
    size_t offset = address - m->global_start;
    uint32_t all = (1u << size) - 1;
    if (!write && remembered(address, all)) return true;
    if (offset < m->global_size) {
        if (map_bits(write ? m->store_map : m->load_map, offset, size) != all) return false;
        if (!write) return remember(address, m->global_start, m->global_size, m->load_map);
        map_set(m->readable, offset, size);
        return true;
    }
    if (address - m->registers->stack_low < CUPEL_EMU_STACK_BYTES) return true;
    if (address - m->static_shared.start < m->static_shared.size)
        return in_shared_at_once(&m->static_shared, address, size, write);
    if (address - m->dynamic_shared.start < m->dynamic_shared.size)
        return in_shared_at_once(&m->dynamic_shared, address, size, write);
    return !write && address - (uintptr_t)m->parameters < sizeof m->parameters;
}

#define CUPEL_EMU_ACCESS(size)                                                                               \
    void cupel_emu_load##size##_noabort(uintptr_t address) {                                                 \
        if (!at_once(address, size, false)) uncommon(address, size, false, __builtin_return_address(0));     \
    }                                                                                                        \
    void cupel_emu_store##size##_noabort(uintptr_t address) {                                                \
        if (!at_once(address, size, true)) uncommon(address, size, true, __builtin_return_address(0));       \
    }
CUPEL_EMU_ACCESS(1)
CUPEL_EMU_ACCESS(2)
CUPEL_EMU_ACCESS(4)
CUPEL_EMU_ACCESS(8)
CUPEL_EMU_ACCESS(16)

/* Without the registers of floating point: they need not be saved then, which is most of the way's cost. */
__attribute__((target("general-regs-only"))) int cupel_emu_load_quickly(uintptr_t address, uint32_t size) {
    if (m->calm || m->access_budget <= 1 || (address & (size - 1)) != 0) return 0;
    if (m->policy.stepwise && (m->current->access_key != m->epoch_key || m->seen[1])) return 0;
    const cupel_emu_shared *shared =
        address - m->static_shared.start < m->static_shared.size ? &m->static_shared : &m->dynamic_shared;
    const size_t offset = address - shared->start;
    if (offset >= shared->size || size > shared->size - offset) return 0;
    uint32_t word;
    __builtin_memcpy(&word, shared->readable + (offset >> 3), sizeof word);
    if ((~(word >> (offset & 7)) & ((1u << size) - 1)) != 0) return 0;
    if (!m->policy.stepwise) { /* it switches at random: the draw is made only if this thread goes on */
        const uint64_t random = cupel_emu_schedule_next(m->policy.random);
        if (cupel_emu_schedule_scaled(random, CUPEL_EMU_SWITCH_ONE_IN) == 0) return 0;
        m->policy.random = random;
    }
    m->access_budget--;
    m->shared_touched = m->seen[0] = true;
    return 1;
}

void cupel_emu_load_at(uintptr_t address, uint32_t size, cupel_emu_site *site, const void *pc) {
    if (at_once(address, size, false))
        cupel_emu_site_tell(site, address, size);
    else
        uncommon(address, size, false, pc);
}

/* Any size and alignment, in pieces. */
static void access_range(uintptr_t address, size_t size, bool write, const void *pc) {
    if (--m->access_budget == 0) spend(address, size, write, pc);
    if (size == 0) return;
    if (size <= CUPEL_EMU_STACK_BYTES && address - m->registers->stack_low <= CUPEL_EMU_STACK_BYTES - size)
        return;
    order(address, size, write, pc);
    for (size_t done = 0; done < size; done += 16) {
        size_t piece = size - done < 16 ? size - done : 16;
        settle(address + done, (uint32_t)piece, write, pc);
    }
}

void cupel_emu_check_access(uintptr_t address, uint32_t size, bool write, const void *pc) {
    --m->access_budget;
    uncommon(address, size, write, pc);
}

void cupel_emu_check_range(uintptr_t address, size_t size, bool write, const void *pc) {
    access_range(address, size, write, pc);
}

void cupel_emu_loadN_noabort(uintptr_t address, size_t size) {
    access_range(address, size, false, __builtin_return_address(0));
}

void cupel_emu_storeN_noabort(uintptr_t address, size_t size) {
    access_range(address, size, true, __builtin_return_address(0));
}

void cupel_emu_check_own(uintptr_t address, uint32_t size, bool write, const void *pc) {
    if (!at_once(address, size, write) || cupel_emu_check_is_red(address, size))
        uncommon(address, size, write, pc);
    if (m->sanitizing)
        cupel_emu_sanitize_access(address, size, write ? CUPEL_EMU_STORE : CUPEL_EMU_LOAD, false, pc);
}

void cupel_emu_check_part(uintptr_t address, uint32_t size, uint32_t alignment, const void *pc) {
    if (address & (alignment - 1)) report(false, true, space_of(address), address, alignment, pc);
    access_range(address, size, false, pc);
    if (m->sanitizing) cupel_emu_sanitize_access(address, size, CUPEL_EMU_LOAD, false, pc);
}

static bool within(const cupel_emu_shared *shared, uintptr_t address, uint32_t size) {
    return address - shared->start < shared->size && size <= shared->size - (address - shared->start);
}

bool cupel_emu_check_target(uintptr_t address, uint32_t size, const void *pc) {
    if (within(&m->static_shared, address, size) && !cupel_emu_check_is_red(address, size)) return true;
    if (within(&m->dynamic_shared, address, size)) return true;
    uncommon(address, size, true, pc);
    return false;
}

/* pc: these are called by the candidate's own memcpy, a jump away from the code that wanted it. */
void *cupel_emu_memcpy(void *target, const void *source, size_t size) {
    access_range((uintptr_t)source, size, false, __builtin_return_address(0));
    access_range((uintptr_t)target, size, true, __builtin_return_address(0));
    return memmove(target, source, size);
}

void *cupel_emu_memmove(void *target, const void *source, size_t size) {
    access_range((uintptr_t)source, size, false, __builtin_return_address(0));
    access_range((uintptr_t)target, size, true, __builtin_return_address(0));
    return memmove(target, source, size);
}

void *cupel_emu_memset(void *target, int value, size_t size) {
    access_range((uintptr_t)target, size, true, __builtin_return_address(0));
    return memset(target, value, size);
}

/* Which thread first added to a floating-point address; a second one makes the result depend on the order. */
enum { ADDED_SLOTS = 4096 };
static struct {
    uintptr_t address;
    uint64_t thread;
} added[ADDED_SLOTS];
static uint32_t added_count;

void cupel_emu_check_begin(void) {
    cupel_emu_check_forget();
    if (added_count != 0) memset(added, 0, sizeof added);
    added_count = 0;
}

/* An addition to a floating-point value, or an exchange, which may be one in disguise. */
static void note_float_add(uintptr_t address) {
    uint64_t thread =
        m->block_linear * CUPEL_EMU_THREADS_MAX + m->current->warp * CUPEL_EMU_WARP + m->current->lane + 1;
    uint32_t slot = (uint32_t)((address >> 1) * 2654435761u) % ADDED_SLOTS;
    while (added[slot].address != 0 && added[slot].address != address) slot = (slot + 1) % ADDED_SLOTS;
    if (added[slot].address == address) {
        if (added[slot].thread != thread) m->out->float_atomics = true;
    } else if (added_count == ADDED_SLOTS / 2) {
        m->out->float_atomics = true; /* no room to tell: do not claim that the order is fixed */
    } else {
        added_count++;
        added[slot].address = address;
        added[slot].thread = thread;
    }
}

static bool anywhere; /* the next atomic access may be to local memory */

void cupel_emu_atomic_anywhere(void) {
    anywhere = true;
}

/* Not defined, and NVIDIA's compiler makes a trap of it where it sees it. */
static void refuse_local_atomic(const void *pc) {
    if (!anywhere)
        cupel_emu_report_stop(CUPEL_RUN_FAULT, CUPEL_FAULT_ASSERT, pc,
                              "an atomic operation on local memory: a device traps");
}

/* Atomics commute, mostly: they do not wait for others, but a read after one does. */
void cupel_emu_atomic_access(void *target, uint32_t size, int is_float) {
    uintptr_t address = (uintptr_t)target;
    const void *pc = __builtin_return_address(0);
    if (--m->access_budget == 0) spend(address, size, true, pc);
    if (is_shared(address)) {
        m->shared_touched = m->seen[0] = m->seen[1] = true;
        if (m->policy.random_switch) order_shared(true, pc);
        m->current->access_key = m->epoch_key + 1;
    } else if (on_stack(address, size, 0, 0)) {
        refuse_local_atomic(pc);
    } else {
        m->joined = true;
        if (m->races || m->proving) cupel_emu_global_order(address, size, CUPEL_EMU_ATOMIC, pc);
    }
    if ((size & (size - 1)) == 0 && (address & (size - 1)) != 0)
        report(true, true, space_of(address), address, size, pc);
    anywhere = false;
    settle(address, size, false, pc);
    settle(address, size, true, pc);
    if (is_float && !m->out->float_atomics) note_float_add(address);
    if (m->sanitizing) cupel_emu_sanitize_access(address, size, CUPEL_EMU_ATOMIC, true, pc);
}

void cupel_emu_atomic_exchanged(void *address) {
    if (!m->out->float_atomics) note_float_add((uintptr_t)address);
}

void cupel_emu_atomic_swapped(void) {
    m->out->float_atomics = true;
}

int cupel_emu_address_space(const void *address) {
    cupel_space space = space_of((uintptr_t)address);
    return space == CUPEL_SPACE_GLOBAL ? 0 : space == CUPEL_SPACE_SHARED ? 1 : 2;
}
