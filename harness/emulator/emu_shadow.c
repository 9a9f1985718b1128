#include "emu_shadow.h"

#include <stdlib.h>
#include <string.h>

/* In a worker that may hold 2 GiB. */
enum { PAGES_MAX = (int)(((size_t)1 << 30) / sizeof(cupel_emu_shadow_page)) };

static struct {
    cupel_emu_shadow_page *free_pages;
    int count; /* made and not given back */
} store;

static cupel_emu_shadow_page *take(uintptr_t number) {
    cupel_emu_shadow_page *page = store.free_pages;
    if (page != NULL) {
        store.free_pages = page->next;
        memset(page, 0, sizeof *page);
    } else {
        page = store.count < PAGES_MAX ? calloc(1, sizeof *page) : NULL;
        if (page == NULL) return NULL;
        store.count++;
    }
    page->number = number;
    return page;
}

static cupel_emu_shadow_page **bucket_of(cupel_emu_shadow *shadow, uintptr_t number) {
    return &shadow->buckets[(uint32_t)(number * 2654435761u) / (UINT32_MAX / CUPEL_EMU_SHADOW_BUCKETS + 1)];
}

cupel_emu_cell *cupel_emu_shadow_cell(cupel_emu_shadow *shadow, uintptr_t address) {
    const uintptr_t number = address / CUPEL_EMU_SHADOW_PAGE;
    cupel_emu_shadow_page *page = shadow->last;
    if (page == NULL || page->number != number) {
        cupel_emu_shadow_page **bucket = bucket_of(shadow, number);
        page = *bucket;
        while (page != NULL && page->number != number) page = page->next;
        if (page == NULL) {
            page = take(number);
            if (page == NULL) return NULL;
            page->next = *bucket;
            *bucket = page;
        }
        shadow->last = page;
    }
    return &page->cells[address % CUPEL_EMU_SHADOW_PAGE];
}

void cupel_emu_shadow_clear(cupel_emu_shadow *shadow) {
    for (int b = 0; b < CUPEL_EMU_SHADOW_BUCKETS; b++)
        while (shadow->buckets[b] != NULL) {
            cupel_emu_shadow_page *page = shadow->buckets[b];
            shadow->buckets[b] = page->next;
            page->next = store.free_pages;
            store.free_pages = page;
        }
    shadow->last = NULL;
}

void cupel_emu_shadow_forget(void) {
    while (store.free_pages != NULL) {
        cupel_emu_shadow_page *page = store.free_pages;
        store.free_pages = page->next;
        free(page);
        store.count--;
    }
}
