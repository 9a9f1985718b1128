/* What loads remember at their places (cupel_emu_site): as much memory around an address as may be read there
 * without a second look, so that the next address of the same place is most likely in it. Bytes become
 * readable and stay so until shared memory is poisoned, so that what was told is at worst too little. */
#include <string.h>

#include "emu_load.h"
#include "emu_machine.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

/* Shared memory is looked through so far on both sides: it fills up while the block runs. */
enum { SHARED_REACH = 4096, WORD = 64 };

/* 64 bits of a map, less those of another one (NULL: none), at a multiple of 64. */
static uint64_t word_of(const uint8_t *map, const uint8_t *unless, size_t offset) {
    uint64_t word, less = 0;
    memcpy(&word, map + offset / 8, sizeof word);
    if (unless != NULL) memcpy(&less, unless + offset / 8, sizeof less);
    return word & ~less;
}

/* The first offset from `from` on that the map lacks, at most limit. */
static size_t stop_of(const uint8_t *map, const uint8_t *unless, size_t from, size_t limit) {
    size_t at = from & ~(size_t)(WORD - 1);
    uint64_t lacks = ~word_of(map, unless, at) & ~UINT64_C(0) << from % WORD;
    while (lacks == 0 && (at += WORD) < limit) lacks = ~word_of(map, unless, at);
    if (lacks != 0) at += (size_t)__builtin_ctzll(lacks);
    return at < limit ? at : limit;
}

/* The first offset of all up to from that the map has without a gap, at least limit. */
static size_t start_of(const uint8_t *map, const uint8_t *unless, size_t from, size_t limit) {
    size_t at = from & ~(size_t)(WORD - 1);
    uint64_t lacks = ~word_of(map, unless, at) & ~UINT64_C(0) >> (WORD - 1 - from % WORD);
    while (lacks == 0 && at > limit) lacks = ~word_of(map, unless, at -= WORD);
    if (lacks != 0) at += (size_t)(WORD - __builtin_clzll(lacks));
    return at > limit ? at : limit;
}

/* Inputs do not change in a run: what was found of one holds for all of its loads. */
static cupel_emu_run input_run(size_t offset) {
    for (int i = 0; i < CUPEL_EMU_RUNS; i++)
        if (offset - m->runs[i].start < m->runs[i].stop - m->runs[i].start) return m->runs[i];
    cupel_emu_run run = {start_of(m->load_map, m->writable, offset, 0),
                         stop_of(m->load_map, m->writable, offset, m->global_size)};
    m->runs[m->next_run++ % CUPEL_EMU_RUNS] = run;
    return run;
}

static cupel_emu_run global_run(size_t offset) {
    if ((m->writable[offset >> 3] >> (offset & 7) & 1) == 0) return input_run(offset);
    const size_t line = offset & ~(size_t)(WORD - 1),
                 limit = m->global_size - line < WORD ? m->global_size : line + WORD;
    return (cupel_emu_run){start_of(m->load_map, NULL, offset, line),
                           stop_of(m->load_map, NULL, offset, limit)};
}

static void tell(cupel_emu_site *site, uintptr_t base, cupel_emu_run run, uint32_t size) {
    site->start = (base + run.start + size - 1) & ~(uintptr_t)(size - 1);
    site->count = (base + run.stop - site->start) / size;
}

/* found: the run that was found last, which need not be looked for again where it reaches far enough. */
static void tell_shared(cupel_emu_site *site, const cupel_emu_shared *shared, cupel_emu_run *found,
                        size_t offset, uint32_t size) {
    if (!m->calm) return;
    const size_t low = offset < SHARED_REACH ? 0 : offset - SHARED_REACH,
                 high = shared->size - offset < SHARED_REACH ? shared->size : offset + SHARED_REACH;
    if (!(found->start <= low && found->stop >= high))
        *found = (cupel_emu_run){start_of(shared->readable, NULL, offset, low),
                                 stop_of(shared->readable, NULL, offset, high)};
    tell(site, shared->start, *found, size);
    if (m->shared_site_count < CUPEL_EMU_SHARED_SITES) m->shared_sites[m->shared_site_count] = site;
    m->shared_site_count++;
}

void cupel_emu_site_tell(cupel_emu_site *site, uintptr_t address, uint32_t size) {
    if (address - m->global_start < m->global_size)
        tell(site, m->global_start, global_run(address - m->global_start), size);
    else if (address - m->static_shared.start < m->static_shared.size)
        tell_shared(site, &m->static_shared, &m->static_run, address - m->static_shared.start, size);
    else if (address - m->dynamic_shared.start < m->dynamic_shared.size)
        tell_shared(site, &m->dynamic_shared, &m->dynamic_run, address - m->dynamic_shared.start, size);
}

void cupel_emu_site_forget(void) {
    const cupel_emu_candidate_t *candidate = cupel_emu_module_candidate(m->module);
    if (candidate->sites_start != NULL) /* objects whose checks are calls have none */
        memset(candidate->sites_start, 0,
               (size_t)(candidate->sites_stop - candidate->sites_start) * sizeof *candidate->sites_start);
    memset(m->runs, 0, sizeof m->runs);
    m->static_run = m->dynamic_run = (cupel_emu_run){0};
    m->shared_site_count = m->next_run = 0;
}

void cupel_emu_site_forget_shared(void) {
    if (m->shared_site_count > CUPEL_EMU_SHARED_SITES) {
        cupel_emu_site_forget();
        return;
    }
    for (uint32_t i = 0; i < m->shared_site_count; i++) m->shared_sites[i]->count = 0;
    m->shared_site_count = 0;
}
