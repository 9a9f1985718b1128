#include "finding.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

const char *cupel_finding_kind_name(cupel_finding_kind kind) {
    static const char *const names[] = {
#define CUPEL_KIND_TEXT(name, text) text,
        CUPEL_FINDING_KINDS(CUPEL_KIND_TEXT)
#undef CUPEL_KIND_TEXT
    };
    return (unsigned)kind < CUPEL_FINDING_KIND_COUNT ? names[kind] : "unknown";
}

/* The kinds as they begin a signature. Part of the bundles' folder names, so they never change. */
static const char *slug(cupel_finding_kind kind) {
    static const char *const slugs[CUPEL_FINDING_KIND_COUNT] = {
        [CUPEL_FINDING_WRONG_VALUE] = "wrong-value",
        [CUPEL_FINDING_WRONG_CLASS] = "wrong-class",
        [CUPEL_FINDING_WRONG_ZERO_SIGN] = "wrong-zero-sign",
        [CUPEL_FINDING_UNWRITTEN] = "unwritten",
        [CUPEL_FINDING_NOT_KEPT] = "not-kept",
        [CUPEL_FINDING_STRAY_WRITE] = "stray-write",
        [CUPEL_FINDING_INPUT_CHANGED] = "input-changed",
        [CUPEL_FINDING_STRAY_READ] = "stray-read",
        [CUPEL_FINDING_NONDETERMINISM] = "nondeterminism",
        [CUPEL_FINDING_HISTORY] = "earlier-calls",
        [CUPEL_FINDING_BAD_ACCESS] = "bad-access",
        [CUPEL_FINDING_REFUSED] = "refused",
        [CUPEL_FINDING_FAULT] = "fault",
        [CUPEL_FINDING_INACCURATE] = "inaccurate",
        [CUPEL_FINDING_RACE] = "race",
        [CUPEL_FINDING_VARIANTS] = "variants",
    };
    return (unsigned)kind < CUPEL_FINDING_KIND_COUNT ? slugs[kind] : "unknown";
}

bool cupel_finding_is_about_values(cupel_finding_kind kind) {
    return kind == CUPEL_FINDING_WRONG_VALUE || kind == CUPEL_FINDING_WRONG_CLASS ||
           kind == CUPEL_FINDING_WRONG_ZERO_SIGN || kind == CUPEL_FINDING_INACCURATE;
}

static bool is_uninitialised_read(const cupel_finding *finding) {
    return finding->kind == CUPEL_FINDING_BAD_ACCESS &&
           finding->access.kind == CUPEL_ACCESS_UNINITIALISED_READ;
}

static bool is_at_barriers(const cupel_finding *finding) {
    return finding->kind == CUPEL_FINDING_RACE && finding->race.earlier.use == CUPEL_RACE_BARRIER;
}

const char *cupel_finding_title(const cupel_finding *finding) {
    if (is_uninitialised_read(finding)) return "read of memory that nothing has written";
    if (is_at_barriers(finding)) return "threads of one warp wait at different barriers";
    return cupel_finding_kind_name(finding->kind);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "-softmax.cu-31", or "-" and a name where no line is known. */
static void add_place(char *text, size_t size, const cupel_place *place, const char *otherwise) {
    size_t used = strlen(text);
    if (place->line > 0)
        snprintf(text + used, size - used, "-%s-%d", base_name(place->file), place->line);
    else if (otherwise[0])
        snprintf(text + used, size - used, "-%s", otherwise);
}

/* Both lines, whichever came first; with the scheme of add_place. */
static void add_race(char *text, size_t size, const cupel_race *race) {
    const cupel_place *first = &race->earlier.place, *second = &race->later.place;
    if (second->line < first->line) first = &race->later.place, second = &race->earlier.place;
    add_place(text, size, first, "");
    size_t used = strlen(text);
    if (second->line > 0 && used < size) snprintf(text + used, size - used, "-%d", second->line);
}

/* Only faults that the candidate raises at one line carry it: where a hang or a crash is noticed varies from
 * case to case. */
static bool has_stable_line(cupel_fault fault) {
    return fault == CUPEL_FAULT_ASSERT || fault == CUPEL_FAULT_OUT_OF_BOUNDS;
}

static void name_fault(const cupel_finding *finding, char *text, size_t size) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "-%s", cupel_fault_name(finding->fault));
    if (finding->fault == CUPEL_FAULT_CRASH && finding->signal) {
        used = strlen(text);
        const char *name = sigabbrev_np(finding->signal);
        snprintf(text + used, size - used, "-sig%s", name ? name : "nal");
    }
    if (has_stable_line(finding->fault)) add_place(text, size, &finding->place, "");
}

static bool is_safe(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
}

void cupel_finding_signature(const cupel_finding *finding, char *text, size_t size) {
    if (!size) return;
    snprintf(text, size, "%s",
             is_uninitialised_read(finding) ? "uninitialised-read"
             : is_at_barriers(finding)      ? "divergent-barrier"
                                            : slug(finding->kind));
    if (finding->kind == CUPEL_FINDING_FAULT)
        name_fault(finding, text, size);
    else if (finding->kind == CUPEL_FINDING_RACE)
        add_race(text, size, &finding->race);
    else if (finding->kind == CUPEL_FINDING_BAD_ACCESS)
        add_place(text, size, &finding->access.place, finding->output_name);
    else if (finding->output_name[0]) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "-%s", finding->output_name);
    }
    for (char *c = text; *c; c++)
        if (!is_safe(*c)) *c = *c == ' ' ? '-' : '_';
}
