/* A likely cause in words, and as a bundle keeps it. */
#include <stdio.h>
#include <string.h>

#include "likely_cause.h"

static void add_others(unsigned others, char *text, size_t size) {
    const char *between = "; as likely: ";
    for (int f = 0; f < CUPEL_SHADOW_FAULT_COUNT; f++) {
        const size_t used = strlen(text);
        if (!(others >> f & 1)) continue;
        snprintf(text + used, size - used, "%s%s", between,
                 cupel_shadow_fault_sentence((cupel_shadow_fault)f));
        between = ", ";
    }
}

void cupel_likely_cause_describe(const cupel_finding *finding, char *text, size_t size) {
    const cupel_cause *cause = &finding->cause;
    const char *sentence = cupel_shadow_fault_sentence(cause->fault);
    text[0] = '\0';
    if (cause->race) snprintf(text, size, "a race between accesses that nothing orders");
    if (cause->fault == CUPEL_SHADOW_NO_FAULT) return;
    switch (cause->basis) {
    case CUPEL_CAUSE_BITS:
    case CUPEL_CAUSE_RESULT:
        snprintf(text, size, "the same %s as with %s%s", cause->basis == CUPEL_CAUSE_BITS ? "bits" : "result",
                 sentence, cause->everywhere ? "" : ", wherever the result is wrong");
        break;
    case CUPEL_CAUSE_GRID:
        snprintf(text, size,
                 "%s, in an order of its own: on a larger case every result is a number of that type, and "
                 "within its error",
                 sentence);
        break;
    }
    add_others(cause->others, text, size);
}

/* ---- in a bundle: the fault, the basis, `everywhere`, the others, in this order; or `race` ---- */

static const char race_word[] = "race";

static const char *const bases[] = {
    [CUPEL_CAUSE_BITS] = "bits", [CUPEL_CAUSE_RESULT] = "result", [CUPEL_CAUSE_GRID] = "grid"};
enum { BASES = sizeof bases / sizeof *bases };

void cupel_likely_cause_write(const cupel_cause *cause, char *text, size_t size) {
    size_t used =
        (size_t)snprintf(text, size, "%s", cause->race ? race_word : cupel_shadow_fault_name(cause->fault));
    if (cause->fault == CUPEL_SHADOW_NO_FAULT || used >= size) return;
    used += (size_t)snprintf(text + used, size - used, " %s%s", bases[cause->basis],
                             cause->everywhere ? " everywhere" : "");
    for (int f = 0; f < CUPEL_SHADOW_FAULT_COUNT && used < size; f++)
        if (cause->others >> f & 1)
            used += (size_t)snprintf(text + used, size - used, " %s",
                                     cupel_shadow_fault_name((cupel_shadow_fault)f));
}

static bool read_word(const char *word, size_t length, bool first, cupel_cause *cause) {
    for (int f = 0; f < CUPEL_SHADOW_FAULT_COUNT; f++) {
        const char *name = cupel_shadow_fault_name((cupel_shadow_fault)f);
        if (strlen(name) != length || memcmp(name, word, length) != 0) continue;
        if (first)
            cause->fault = (cupel_shadow_fault)f;
        else
            cause->others |= 1u << f & CUPEL_SHADOW_SUM_FAULTS;
        return true;
    }
    for (int b = 0; b < BASES && !first; b++)
        if (strlen(bases[b]) == length && memcmp(bases[b], word, length) == 0) {
            cause->basis = (cupel_cause_basis)b;
            return true;
        }
    cause->everywhere = cause->everywhere || (!first && length == 10 && memcmp(word, "everywhere", 10) == 0);
    return !first && length == 10 && cause->everywhere;
}

bool cupel_likely_cause_read(const char *text, cupel_cause *out) {
    *out = (cupel_cause){.fault = CUPEL_SHADOW_NO_FAULT, .race = strcmp(text, race_word) == 0};
    bool first = true;
    if (out->race) return true;
    for (const char *at = text; *at; first = false) {
        const size_t length = strcspn(at, " ");
        if (!read_word(at, length, first, out)) return false;
        at += length;
        at += strspn(at, " ");
    }
    return !first;
}

void cupel_likely_cause_recall(const cupel_trial *trial, const char *recorded, cupel_finding *finding) {
    if (!recorded[0] || !cupel_likely_cause_read(recorded, &finding->cause))
        cupel_likely_cause_find(trial, finding);
}
