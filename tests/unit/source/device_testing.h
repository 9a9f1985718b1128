/* Runs device code in a test, one thread, without the runtime: the test program takes the runtime's place,
 * and counts what it is told. Include once in a program. */
#ifndef DEVICE_TESTING_H
#define DEVICE_TESTING_H

#include <dlfcn.h>

#include "emu_abi.h"
#include "emu_compile.h"
#include "source_testing.h"

static struct told {
    int loads[17], stores[17]; /* by size; 0: any other */
    uintptr_t misaligned;
    int atomics, float_atomics, exchanges, barriers;
    int shuffle_kind, vote_kind;
    uint32_t mask, argument, width;
    uint64_t value;
} told;

static void tell(int *counts, uintptr_t address, size_t size) {
    counts[size <= 16 && (size & (size - 1)) == 0 ? size : 0]++;
    if (size <= 16 && address % size) told.misaligned = address;
}

#define ACCESS(size)                                                                                         \
    void cupel_emu_load##size##_noabort(uintptr_t a) {                                                       \
        tell(told.loads, a, size);                                                                           \
    }                                                                                                        \
    void cupel_emu_store##size##_noabort(uintptr_t a) {                                                      \
        tell(told.stores, a, size);                                                                          \
    }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void cupel_emu_load_at(uintptr_t a, uint32_t size, cupel_emu_site *site, const void *pc) {
    (void)site, (void)pc;
    tell(told.loads, a, size);
}
int cupel_emu_load_quickly(uintptr_t a, uint32_t size) {
    (void)a, (void)size;
    return 0;
}
void cupel_emu_loadN_noabort(uintptr_t a, size_t size) {
    (void)a, (void)size, told.loads[0]++;
}
void cupel_emu_storeN_noabort(uintptr_t a, size_t size) {
    (void)a, (void)size, told.stores[0]++;
}
void *cupel_emu_memcpy(void *t, const void *s, size_t n) {
    return memcpy(t, s, n);
}
void *cupel_emu_memmove(void *t, const void *s, size_t n) {
    return memmove(t, s, n);
}
void *cupel_emu_memset(void *t, int v, size_t n) {
    return memset(t, v, n);
}
void cupel_emu_budget_spent(const void *pc) {
    (void)pc;
    fail_msg("the budget is spent");
}
void cupel_emu_trap(void) {
    abort();
}
void cupel_emu_assert_fail(const char *c, const char *f, unsigned l, const char *g) {
    (void)c, (void)f, (void)l, (void)g, abort();
}
void cupel_emu_unsupported(const char *what) {
    (void)what, abort();
}
uint64_t cupel_emu_clock(void) {
    return 12345;
}
uint32_t cupel_emu_active_mask(void) {
    return 0x0f0f0f0f;
}
cupel_emu_continuation cupel_emu_warp_here(void *sp, const void *pc, uint32_t mask) {
    (void)pc;
    told.mask = mask;
    return (cupel_emu_continuation){0, sp};
}
cupel_emu_continuation cupel_emu_barrier_here(void *sp, const void *pc, int kind, int predicate) {
    (void)pc;
    told.barriers++;
    return (cupel_emu_continuation){(uint64_t)(kind * 10 + predicate), sp};
}
void cupel_emu_atomic_anywhere(void) {}
void cupel_emu_atomic_exchanged(void *a) {
    (void)a;
    told.exchanges++;
}
void cupel_emu_atomic_swapped(void) {
    told.exchanges++;
}
void cupel_emu_atomic_access(void *a, uint32_t size, int is_float) {
    told.atomics++, told.float_atomics += is_float;
    if ((uintptr_t)a % size) told.misaligned = (uintptr_t)a;
}
cupel_emu_continuation cupel_emu_shuffle_here(void *sp, const void *pc, uint64_t detail, uint32_t mask,
                                              uint64_t value) {
    (void)pc;
    told.shuffle_kind = detail & 0xff, told.mask = mask, told.value = value;
    told.argument = (uint32_t)(detail >> 32), told.width = (uint32_t)detail >> 8;
    return (cupel_emu_continuation){value, sp};
}
cupel_emu_continuation cupel_emu_vote_here(void *sp, const void *pc, int kind, uint32_t mask, uint64_t value,
                                           int *predicate) {
    (void)pc;
    told.vote_kind = kind, told.mask = mask, told.value = value;
    if (predicate) *predicate = 1;
    return (cupel_emu_continuation){0x80000001u, sp};
}

typedef struct device {
    fixture f;
    void *object;
    const cupel_emu_candidate_t *candidate;
} device;

/* Compiles text; kernels are called by their place in entries. */
static void device_open(device *d, const char *text, int count, const char *const *entries) {
    cupel_error err;
    const char *path;
    char cache[96];
    d->f = fixture_open();
    snprintf(cache, sizeof cache, "%s/cache", d->f.folder);
    cupel_source *source = fixture_load(&d->f, text);
    cupel_emu_compile_request request = {
        .source = source, .entry_count = count, .entries = entries, .cache = cache};
    if (cupel_emu_compile(&request, d->f.arena, &path, &err) != CUPEL_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    d->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!d->object) fail_msg("%s", dlerror());
    d->candidate = dlsym(d->object, "cupel_emu_candidate");
    assert_non_null(d->candidate);
    assert_int_equal(d->candidate->abi_version, CUPEL_EMU_ABI_VERSION);
    assert_int_equal(d->candidate->kernel_count, count);
    assert_true(d->candidate->edge_count >= (uint32_t)count);
}

static void device_call(device *d, int kernel, void *const *args) {
    d->candidate->registers->budget = UINT32_MAX;
    memset(&told, 0, sizeof told);
    d->candidate->kernels[kernel].call(args);
}

static void device_close(device *d) {
    dlclose(d->object);
    fixture_close(&d->f);
}

#endif
