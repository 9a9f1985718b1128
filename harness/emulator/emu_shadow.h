/* Who touched which byte last: marks of accesses, four for each byte of memory that a sanitized launch
 * touched. Pages of marks are made when a byte of theirs is first touched. */
#ifndef CUPEL_EMU_SHADOW_H
#define CUPEL_EMU_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cupel_emu_mark_flag {
    CUPEL_EMU_MARK_ATOMIC = 1,
    CUPEL_EMU_MARK_STRONG = 2,   /* atomic, volatile or meant for other threads: two of them do not race */
    CUPEL_EMU_MARK_RELEASE = 4,  /* a store right behind a fence: it may be a flag */
    CUPEL_EMU_MARK_UNCHANGED = 8 /* a store of what was there */
} cupel_emu_mark_flag;

/* One access, as far as others have to compare theirs with it. */
typedef struct cupel_emu_mark {
    uint32_t block;  /* linear index + 1; 0: no access */
    uint32_t thread; /* linear index in the block */
    uint32_t phase, clock;
    uint32_t pc;    /* return address, from the start of the candidate's object */
    uint32_t flags; /* cupel_emu_mark_flag */
} cupel_emu_mark;

enum { CUPEL_EMU_READERS = 3 };

/* A byte. Of the reads that are not ordered, so many are remembered. */
typedef struct cupel_emu_cell {
    cupel_emu_mark write, read[CUPEL_EMU_READERS];
} cupel_emu_cell;

enum { CUPEL_EMU_SHADOW_PAGE = 1024 }; /* bytes that a page of cells stands for */

typedef struct cupel_emu_shadow_page {
    struct cupel_emu_shadow_page *next; /* of one bucket, or of the free ones */
    uintptr_t number;
    cupel_emu_cell cells[CUPEL_EMU_SHADOW_PAGE];
} cupel_emu_shadow_page;

enum { CUPEL_EMU_SHADOW_BUCKETS = 1024 };

/* The marks of one memory: of global memory, or of a block's shared memory. All zeros: empty. */
typedef struct cupel_emu_shadow {
    cupel_emu_shadow_page *last; /* the page that was looked up last */
    cupel_emu_shadow_page *buckets[CUPEL_EMU_SHADOW_BUCKETS];
} cupel_emu_shadow;

/* The cell of a byte; NULL when out of memory (more than 1 GiB of marks, or none left). */
cupel_emu_cell *cupel_emu_shadow_cell(cupel_emu_shadow *shadow, uintptr_t address);

/* Empties a shadow; its pages serve others. */
void cupel_emu_shadow_clear(cupel_emu_shadow *shadow);

/* Gives all pages of cleared shadows back. */
void cupel_emu_shadow_forget(void);

#endif
