#include "emu_race.h"

#include <stdio.h>
#include <string.h>

#include "emu_load.h"
#include "emu_machine.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

enum { SEEN_MAX = 64 };

typedef struct seen {
    cupel_emu_race_side earlier, later;
    uintptr_t address;
    size_t size;
    int64_t count;
    bool excused;
} seen;

static struct {
    int count;
    seen items[SEEN_MAX];
    int64_t dropped;
} races;

void cupel_emu_race_begin(void) {
    races.count = 0;
    races.dropped = 0;
}

static bool is_marked(const seen *race) {
    return (race->earlier.mark.flags & race->later.mark.flags & CUPEL_EMU_MARK_STRONG) != 0;
}

void cupel_emu_race_add(const cupel_emu_race_side *earlier, const cupel_emu_race_side *later,
                        uintptr_t address, size_t size) {
    for (int i = 0; i < races.count; i++) {
        seen *race = &races.items[i];
        if (race->earlier.mark.pc != earlier->mark.pc || race->later.mark.pc != later->mark.pc ||
            race->earlier.use != earlier->use || race->later.use != later->use)
            continue;
        race->count++;
        return;
    }
    if (races.count == SEEN_MAX) {
        races.dropped++;
        return;
    }
    races.items[races.count++] = (seen){*earlier, *later, address, size, 1, false};
}

static bool is_load_of(const cupel_emu_race_side *side, uint32_t block, uint32_t thread) {
    return side->use == CUPEL_RACE_READ && side->mark.block == block && side->mark.thread == thread;
}

void cupel_emu_race_excuse(uint32_t block, uint32_t thread, uintptr_t address, size_t size) {
    for (int i = 0; i < races.count; i++) {
        seen *race = &races.items[i];
        if (race->address - address >= size) continue;
        if ((is_load_of(&race->earlier, block, thread) && race->later.use == CUPEL_RACE_ATOMIC) ||
            (is_load_of(&race->later, block, thread) && race->earlier.use == CUPEL_RACE_ATOMIC))
            race->excused = true;
    }
}

static void name_side(const cupel_emu_race_side *side, cupel_race_side *out) {
    const cupel_emu_dim grid = m->registers->grid_dim, block = m->registers->block_dim;
    const uint32_t b = side->mark.block - 1, t = side->mark.thread;
    const uintptr_t pc = cupel_emu_module_base(m->module) + side->mark.pc;
    out->use = side->use;
    cupel_emu_places_find(cupel_emu_module_places(m->module), (const void *)pc, &out->place);
    out->place.block[0] = b % grid.x, out->place.block[1] = b / grid.x % grid.y,
    out->place.block[2] = b / grid.x / grid.y;
    out->place.thread[0] = t % block.x, out->place.thread[1] = t / block.x % block.y,
    out->place.thread[2] = t / block.x / block.y;
}

static bool in_shared(const cupel_emu_shared *shared, uintptr_t address) {
    return address - shared->start < shared->size;
}

static void name_memory(uintptr_t address, cupel_race *out) {
    out->buffer = -1;
    if (in_shared(&m->static_shared, address)) {
        const char *name;
        int length;
        size_t size, offset = address - m->static_shared.start;
        out->space = CUPEL_SPACE_SHARED;
        if (cupel_emu_module_shared_array(m->module, address, &name, &length, &size, &offset))
            snprintf(out->array, sizeof out->array, "%.*s", length, name);
        out->offset = (int64_t)offset;
    } else if (in_shared(&m->dynamic_shared, address)) {
        out->space = CUPEL_SPACE_SHARED;
        out->offset = (int64_t)(address - m->dynamic_shared.start);
    } else {
        out->space = CUPEL_SPACE_GLOBAL;
        if (address - m->global_start < m->global_size)
            out->buffer = m->memory->locate(m->memory->self, (const void *)address, &out->offset);
    }
}

static bool same_line(const cupel_race_side *a, const cupel_race_side *b) {
    return a->use == b->use && a->place.line == b->place.line && strcmp(a->place.file, b->place.file) == 0;
}

/* Adds to an equal one, takes the place of one that weighs less, or is counted alone. */
static void keep(cupel_observation *out, const cupel_race *race) {
    for (int i = 0; i < out->race_count; i++)
        if (same_line(&out->races[i].earlier, &race->earlier) &&
            same_line(&out->races[i].later, &race->later)) {
            out->races[i].count += race->count;
            return;
        }
    if (out->race_count < CUPEL_RACE_MAX) {
        out->races[out->race_count++] = *race;
        return;
    }
    for (int i = 0; i < CUPEL_RACE_MAX && !race->marked; i++)
        if (out->races[i].marked) {
            out->races[i] = *race;
            return;
        }
}

void cupel_emu_race_end(void) {
    cupel_observation *out = m->out;
    for (int i = 0; i < races.count; i++) {
        const seen *race = &races.items[i];
        if (race->excused) continue;
        cupel_race named = {.size = (int32_t)race->size, .count = race->count, .marked = is_marked(race)};
        name_side(&race->earlier, &named.earlier);
        name_side(&race->later, &named.later);
        if (race->earlier.use == CUPEL_RACE_BARRIER && same_line(&named.earlier, &named.later)) continue;
        name_memory(race->address, &named);
        out->race_total += race->count;
        keep(out, &named);
    }
    out->race_total += races.dropped;
}
