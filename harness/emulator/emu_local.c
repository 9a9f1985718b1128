#include "emu_local.h"

#include <string.h>
#include <sys/mman.h>

#include "emu_fiber.h"

/* Below every address that is a program's, above every one that AddressSanitizer takes for itself: the shadow
 * of the upper half of user space lies in a part of it that nobody uses. */
#define SHADOW_OFFSET ((uintptr_t)1 << 44)
enum { SCALE = 4, GRAIN = 1 << SCALE, CHUNK = 1 << 20, CHUNKS_MAX = 1024 };

static struct {
    int count;
    uintptr_t starts[CHUNKS_MAX];
} chunks;

static uintptr_t shadow_of(uintptr_t address) {
    return (address >> SCALE) + SHADOW_OFFSET;
}

static bool map_chunk(uintptr_t start) {
    for (int i = 0; i < chunks.count; i++)
        if (chunks.starts[i] == start) return true;
    if (chunks.count == CHUNKS_MAX) return false;
    void *memory = mmap((void *)start, CHUNK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != (void *)start) {
        if (memory != MAP_FAILED) munmap(memory, CHUNK);
        return false;
    }
    chunks.starts[chunks.count++] = start;
    return true;
}

bool cupel_emu_local_stack(uintptr_t low) {
    const uintptr_t mask = ~((uintptr_t)CHUNK - 1), first = shadow_of(low - CUPEL_EMU_STACK_SPREAD) & mask,
                    last = shadow_of(low + CUPEL_EMU_STACK_BYTES + CUPEL_EMU_STACK_SPREAD) & mask;
    return map_chunk(first) && (last == first || map_chunk(last));
}

/* A shadow byte: 0, the whole grain may be touched; below GRAIN, so many of the first; else none. */
bool cupel_emu_local_allows(uintptr_t address, size_t size) {
    for (uintptr_t at = address; at < address + size;) {
        const uintptr_t stop =
            (at | (GRAIN - 1)) + 1 < address + size ? (at | (GRAIN - 1)) + 1 : address + size;
        const int8_t shadow = *(const int8_t *)shadow_of(at);
        if (shadow != 0 && (shadow < 0 || (intptr_t)(stop - 1 & (GRAIN - 1)) >= shadow)) return false;
        at = stop;
    }
    return true;
}

void cupel_emu_local_forget(void) {
    for (int i = 0; i < chunks.count; i++)
        if (madvise((void *)chunks.starts[i], CHUNK, MADV_DONTNEED) != 0)
            memset((void *)chunks.starts[i], 0, CHUNK);
}
