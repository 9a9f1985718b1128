/* Global memory that kernels may write, as a place through which threads and blocks meet. Most runs use it
 * for results alone and never load from it: then no access there needs a second look. */
#include <stdlib.h>
#include <string.h>

#include "emu_load.h"
#include "emu_machine.h"
#include "emu_resident.h"
#include "emu_watch.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

/* Maps of the region, kept from run to run. */
static struct {
    uint8_t *inputs;  /* bytes that may be read and that nobody may write */
    uint8_t *stores;  /* for runs that are watched: bytes to which stores need no second look */
    uint8_t *nothing; /* all zeros */
    size_t capacity;  /* bytes of each */
} maps;

static bool reserve(size_t bytes) {
    if (bytes <= maps.capacity) return true;
    free(maps.inputs);
    maps.capacity = 0;
    maps.inputs = calloc(3, bytes);
    if (maps.inputs == NULL) return false;
    maps.stores = maps.inputs + bytes;
    maps.nothing = maps.stores + bytes;
    maps.capacity = bytes;
    return true;
}

static size_t map_bytes(void) {
    return m->global_size / 8 + 8;
}

static void find_inputs(void) {
    for (size_t i = 0; i < map_bytes(); i++) maps.inputs[i] = m->readable[i] & (uint8_t)~m->writable[i];
    m->load_map = maps.inputs;
}

bool cupel_emu_global_begin(void) {
    m->load_map = m->readable;
    m->store_map = m->writable;
    m->exchanged = m->proving = m->heard = m->global_stored = false;
    m->races = m->policy.random_switch || m->policy.schedule.way == CUPEL_SCHEDULE_ABREAST;
    if (!reserve(map_bytes())) return false;
    if (m->races) find_inputs();
    if (!cupel_emu_watch_is_on()) return true;
    for (size_t i = 0; i < map_bytes(); i++) maps.stores[i] = m->valid[i] & m->writable[i];
    m->store_map = maps.stores;
    return true;
}

void cupel_emu_global_prove(void) {
    m->proving = true;
    m->heard = false;
    /* stores tell work from spinning; once the steps are used up memory itself is compared */
    if (!m->waiting_out)
        m->store_map = maps.nothing;
    else
        m->store_map = cupel_emu_watch_is_on() ? maps.stores : m->writable;
    find_inputs();
    cupel_emu_check_forget();
}

static bool is_variable(uintptr_t address, size_t size) {
    return cupel_emu_module_owns(m->module, address, size, true);
}

static bool is_written_buffer(uintptr_t address) {
    size_t offset = address - m->global_start;
    return offset < m->global_size && (m->writable[offset >> 3] >> (offset & 7) & 1) != 0;
}

/* A look at a place from a place in the code; never 0. */
static uint32_t look_key(uintptr_t address, const void *pc) {
    return (uint32_t)(((uint64_t)address ^ (uint64_t)(uintptr_t)pc << 20) * 0x9E3779B97F4A7C15u >> 32) | 1;
}

/* The same look as the last time: maybe a thread that spins until somebody stores there. */
static bool looks_again(uintptr_t address, cupel_emu_use use, const void *pc) {
    uint32_t key = use == CUPEL_EMU_STORE ? 0 : look_key(address, pc);
    bool same = key != 0 && m->current->looked == key;
    m->current->looked = key;
    return same;
}

/* What the block has looked at since its looks were forgotten. Keys that meet in one place only make it seem
 * less of a spin. */
enum { LOOKS = 128, AGAIN_FOR_EACH = 2 };
static struct {
    uint32_t keys[LOOKS];
    uint64_t news, again;
    bool stored;
} looks;
static bool has_stored; /* the block, since it began or went on */

static void note_look(uintptr_t address, cupel_emu_use use, const void *pc) {
    if (use == CUPEL_EMU_STORE) {
        looks.stored = has_stored = true;
        return;
    }
    const uint32_t key = look_key(address, pc);
    uint32_t *known = &looks.keys[key >> 8 & (LOOKS - 1)];
    if (*known == key)
        looks.again++;
    else
        looks.news++;
    *known = key;
}

bool cupel_emu_global_spins(void) {
    const bool spins = !looks.stored && looks.again > 0 && looks.again >= AGAIN_FOR_EACH * looks.news;
    if (!spins && (looks.stored || looks.news > 4 * LOOKS)) memset(&looks, 0, sizeof looks);
    return spins;
}

void cupel_emu_global_forget_looks(void) {
    has_stored = false;
    if (looks.news != 0 || looks.stored) memset(&looks, 0, sizeof looks);
}

bool cupel_emu_global_has_stored(void) {
    return has_stored;
}

/* Before the first load of what somebody may have stored nothing depends on who comes first, but for which
 * store is the last: orders without switches show that. */
static bool has_exchange(bool buffer, cupel_emu_use use) {
    if (m->exchanged) return true;
    /* an atomic may draw a ticket: where blocks may change places that is a load as well */
    const bool draws = use == CUPEL_EMU_ATOMIC && m->policy.random_switch && m->others;
    if (!draws && (use != CUPEL_EMU_LOAD || (!buffer && !m->module_dirty))) return false;
    m->exchanged = true;
    m->store_map = maps.nothing;
    return true;
}

void cupel_emu_global_order(uintptr_t address, size_t size, cupel_emu_use use, const void *pc) {
    m->listened++;
    bool buffer = is_written_buffer(address);
    if (!buffer && !is_variable(address, size)) return;
    if (use != CUPEL_EMU_STORE) m->heard = true;
    if (m->others) note_look(address, use, pc);
    if (!m->races || !has_exchange(buffer, use)) return;
    if (looks_again(address, use, pc)) {
        cupel_emu_block_step(NULL);
    } else if (m->policy.stepwise) {
        if (use != CUPEL_EMU_LOAD || m->global_stored) cupel_emu_block_step(pc);
    } else if (m->policy.random_switch && cupel_emu_schedule_switches()) {
        if (cupel_emu_resident_may_switch())
            cupel_emu_block_give_way();
        else
            cupel_emu_block_yield();
    }
    if (use != CUPEL_EMU_LOAD) m->global_stored = true;
}
