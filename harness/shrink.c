#include "shrink.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ERRORS_MAX = 8, SIGNATURE_SIZE = 160 };

double cupel_shrink_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool cupel_shrink_spent(const cupel_shrink *shrink) {
    return shrink->tries >= shrink->max_tries || shrink->errors >= ERRORS_MAX ||
           cupel_shrink_now() >= shrink->deadline;
}

bool cupel_shrink_repair(const cupel_contract *contract, cupel_recipe *candidate) {
    return cupel_recipe_repair(contract, candidate, INT64_C(1) << 40, NULL) == CUPEL_OK;
}

const cupel_finding *cupel_shrink_finding(const cupel_trial *trial, const char *signature) {
    for (int i = 0; i < trial->judged.finding_count; i++) {
        char text[SIGNATURE_SIZE];
        cupel_finding_signature(&trial->judged.findings[i], text, sizeof text);
        if (strcmp(text, signature) == 0) return &trial->judged.findings[i];
    }
    return NULL;
}

/* FNV-1a over the recipe's bytes; never 0, which marks a free slot. */
static uint64_t recipe_hash(const cupel_contract *contract, const cupel_recipe *recipe) {
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    size_t size = cupel_recipe_encode(contract, recipe, bytes, sizeof bytes);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

static bool seen_slot(uint64_t *table, size_t capacity, uint64_t hash, size_t *slot) {
    size_t at = (size_t)hash & (capacity - 1);
    while (table[at] && table[at] != hash) at = (at + 1) & (capacity - 1);
    *slot = at;
    return table[at] == hash;
}

static bool seen_grow(cupel_shrink *shrink) {
    size_t capacity = shrink->seen_capacity ? shrink->seen_capacity * 2 : 1024;
    uint64_t *table = calloc(capacity, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < shrink->seen_capacity; i++) {
        size_t slot;
        if (shrink->seen[i] && !seen_slot(table, capacity, shrink->seen[i], &slot))
            table[slot] = shrink->seen[i];
    }
    free(shrink->seen);
    shrink->seen = table;
    shrink->seen_capacity = capacity;
    return true;
}

/* Remembers the recipe; true when it was there already. Without memory nothing is remembered: slower, never
 * wrong. */
static bool seen_before(cupel_shrink *shrink, const cupel_recipe *recipe) {
    if (shrink->seen_count * 2 >= shrink->seen_capacity && !seen_grow(shrink)) return false;
    size_t slot;
    uint64_t hash = recipe_hash(shrink->contract, recipe);
    if (seen_slot(shrink->seen, shrink->seen_capacity, hash, &slot)) return true;
    shrink->seen[slot] = hash;
    shrink->seen_count++;
    return false;
}

static void report_slips(const cupel_shrink *shrink, const cupel_recipe *recipe) {
    if (!shrink->predicate->slipped) return;
    for (int i = 0; i < shrink->trial.judged.finding_count; i++) {
        const cupel_finding *finding = &shrink->trial.judged.findings[i];
        char text[SIGNATURE_SIZE];
        cupel_finding_signature(finding, text, sizeof text);
        if (strcmp(text, shrink->signature) != 0)
            shrink->predicate->slipped(shrink->predicate->self, recipe, finding);
    }
}

static cupel_code run(cupel_shrink *shrink, const cupel_recipe *recipe, cupel_error *err) {
    cupel_arena_reset(shrink->arena);
    memset(&shrink->trial, 0, sizeof shrink->trial);
    shrink->tries++;
    cupel_code code =
        shrink->predicate->try_one(shrink->predicate->self, recipe, shrink->arena, &shrink->trial, err);
    if (code == CUPEL_OK) report_slips(shrink, recipe);
    return code;
}

cupel_code cupel_shrink_open(cupel_shrink *shrink, const cupel_contract *contract, const char *signature,
                             const cupel_predicate *predicate, const cupel_recipe *recipe, cupel_error *err) {
    *shrink =
        (cupel_shrink){.contract = contract, .signature = signature, .predicate = predicate, .best = *recipe};
    shrink->arena = cupel_arena_create(0);
    if (!shrink->arena) return cupel_fail(err, CUPEL_MEMORY, "no memory for the minimiser");
    cupel_code code = run(shrink, recipe, err);
    const cupel_finding *finding = code == CUPEL_OK ? cupel_shrink_finding(&shrink->trial, signature) : NULL;
    if (code == CUPEL_OK && !finding)
        code = cupel_fail(err, CUPEL_UNABLE, "the case does not fail with %s", signature);
    if (code != CUPEL_OK) {
        cupel_shrink_close(shrink);
        return code;
    }
    shrink->finding = *finding;
    (void)seen_before(shrink, recipe);
    return CUPEL_OK;
}

void cupel_shrink_close(cupel_shrink *shrink) {
    cupel_arena_free(shrink->arena);
    free(shrink->seen);
    shrink->arena = NULL;
    shrink->seen = NULL;
}

const cupel_trial *cupel_shrink_try(cupel_shrink *shrink, const cupel_recipe *recipe) {
    if (cupel_shrink_spent(shrink)) return NULL;
    cupel_error err = {0};
    if (run(shrink, recipe, &err) != CUPEL_OK) {
        shrink->errors++;
        return NULL;
    }
    return &shrink->trial;
}

bool cupel_shrink_consider(cupel_shrink *shrink, const cupel_recipe *candidate) {
    cupel_recipe recipe = *candidate;
    if (cupel_shrink_spent(shrink) || !cupel_shrink_repair(shrink->contract, &recipe)) return false;
    if (cupel_recipe_compare(shrink->contract, &recipe, &shrink->best) >= 0) return false;
    if (seen_before(shrink, &recipe)) return false;
    const cupel_trial *trial = cupel_shrink_try(shrink, &recipe);
    const cupel_finding *finding = trial ? cupel_shrink_finding(trial, shrink->signature) : NULL;
    if (!finding) return false;
    shrink->best = recipe;
    shrink->finding = *finding;
    shrink->accepted++;
    return true;
}

int64_t cupel_shrink_find_integer(bool (*works)(void *self, int64_t n), void *self, int64_t limit) {
    enum { SMALL_STEPS = 4 };
    int64_t good = 0;
    for (int64_t n = 1; n <= SMALL_STEPS; n++) {
        if (n > limit || !works(self, n)) return good;
        good = n;
    }
    int64_t bad = good * 2;
    while (bad <= limit && works(self, bad)) {
        good = bad;
        bad *= 2;
    }
    if (bad > limit) bad = limit + 1;
    while (bad - good > 1) {
        int64_t middle = good + (bad - good) / 2;
        if (works(self, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}
