#include "races.h"

#include <stdio.h>
#include <string.h>

#include "judging.h"
#include "schedule.h"

static const char *verb(cupel_race_use use) {
    static const char *const verbs[] = {"loads", "stores", "updates atomically", "waits"};
    return verbs[use < CUPEL_RACE_USE_COUNT ? use : CUPEL_RACE_READ];
}

void cupel_race_describe(const cupel_race *race, char *text, size_t size) {
    const cupel_race_side *const sides[] = {&race->earlier, &race->later};
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < 2 && used < size; i++) {
        const cupel_place *p = &sides[i]->place;
        used += (size_t)snprintf(text + used, size - used,
                                 "%sline %d %s (block (%u, %u, %u), thread (%u, %u, %u))", i ? ", " : "",
                                 p->line, verb(sides[i]->use), p->block[0], p->block[1], p->block[2],
                                 p->thread[0], p->thread[1], p->thread[2]);
    }
}

/* "byte 4 of the shared array tile" */
static void name_memory(const cupel_case *c, const cupel_race *race, char *text, size_t size) {
    const long long offset = (long long)race->offset;
    const char *buffer = "";
    for (int t = 0; t < c->tensor_count && race->space == CUPEL_SPACE_GLOBAL; t++)
        if (race->buffer >= 0 && c->tensors[t].buffer == race->buffer) buffer = c->contract->tensors[t].name;
    if (buffer[0])
        snprintf(text, size, "byte %lld of %s", offset, buffer);
    else if (race->space == CUPEL_SPACE_GLOBAL)
        snprintf(text, size, "a variable of the device code");
    else if (race->array[0])
        snprintf(text, size, "byte %lld of the shared array %s", offset, race->array);
    else
        snprintf(text, size, "byte %lld of shared memory", offset);
}

static void word(const cupel_case *c, uint64_t schedule, cupel_finding *finding) {
    const cupel_race *race = &finding->race;
    char lines[256], memory[128], how[160];
    cupel_race_describe(race, lines, sizeof lines);
    cupel_schedule_describe(schedule, how, sizeof how);
    if (race->earlier.use == CUPEL_RACE_BARRIER) {
        snprintf(finding->text, sizeof finding->text,
                 "%s: threads of one warp meet at two barriers, which CUDA leaves undefined (schedule: %s)",
                 lines, how);
        return;
    }
    name_memory(c, race, memory, sizeof memory);
    snprintf(finding->text, sizeof finding->text, "%s: both touch %s, and nothing orders them (schedule: %s)",
             lines, memory, how);
}

/* Room for one more; NULL: there is none, or its signature is known. */
static cupel_finding *add(cupel_judged *judged, const cupel_finding *finding) {
    char signature[160], other[160];
    if (judged->finding_count == CUPEL_CASE_FINDINGS_MAX) return NULL;
    cupel_finding_signature(finding, signature, sizeof signature);
    for (int i = 0; i < judged->finding_count; i++) {
        cupel_finding_signature(&judged->findings[i], other, sizeof other);
        if (strcmp(signature, other) == 0) return NULL;
    }
    const int n = judged->finding_count++;
    judged->findings[n] = *finding;
    judged->element_counts[n] = 0;
    return &judged->findings[n];
}

static cupel_finding evidence(cupel_finding_kind kind, cupel_gate gate, uint64_t schedule) {
    return (cupel_finding){.kind = kind,
                           .gate = gate,
                           .standing = CUPEL_STANDING_EVIDENCE,
                           .output = -1,
                           .index = -1,
                           .run_a = {.index = -1},
                           .run_b = {.index = -1, .schedule = schedule}};
}

/* The race that best explains why a result depends on the schedule: one that nobody meant, else any. */
static int explaining(const cupel_observation *seen) {
    int found = -1;
    for (int i = seen->race_count - 1; i >= 0; i--) {
        const cupel_race *race = &seen->races[i];
        if (race->earlier.use == CUPEL_RACE_BARRIER) continue;
        if (found < 0 || !race->marked || seen->races[found].marked) found = i;
    }
    return found;
}

static bool explain(const cupel_observation *seen, int race, cupel_judged *judged) {
    bool any = false;
    for (int i = 0; i < judged->finding_count && race >= 0; i++) {
        cupel_finding *finding = &judged->findings[i];
        if (finding->kind != CUPEL_FINDING_NONDETERMINISM) continue;
        finding->has_race = any = true;
        finding->race = seen->races[race];
    }
    return any;
}

/* A value may be wrong because of a race; which of them, nothing tells. */
static void suggest(const cupel_observation *seen, int race, cupel_judged *judged) {
    if (race < 0 || seen->races[race].marked) return;
    for (int i = 0; i < judged->finding_count; i++) {
        cupel_finding *finding = &judged->findings[i];
        if (!cupel_finding_is_about_values(finding->kind)) continue;
        finding->has_race = true;
        finding->race = seen->races[race];
    }
}

static bool has_kind(const cupel_judged *judged, cupel_finding_kind kind) {
    for (int i = 0; i < judged->finding_count; i++)
        if (judged->findings[i].kind == kind) return true;
    return false;
}

int cupel_gate_sanitized(const cupel_case *c, const cupel_observation *seen, uint64_t schedule,
                         cupel_judged *judged) {
    const int before = judged->finding_count, race = explaining(seen);
    if (!seen->sanitized || seen->outcome != CUPEL_RUN_FINISHED) return 0;
    const bool explained = explain(seen, race, judged);
    suggest(seen, race, judged);
    for (int i = 0; i < seen->race_count; i++) {
        if (seen->races[i].marked || (explained && i == race)) continue;
        cupel_finding finding = evidence(CUPEL_FINDING_RACE, CUPEL_GATE_ORD_02, schedule);
        finding.has_race = true;
        finding.race = seen->races[i];
        finding.place = seen->races[i].later.place;
        word(c, schedule, &finding);
        add(judged, &finding);
    }
    const bool stray = has_kind(judged, CUPEL_FINDING_STRAY_READ); /* which tells of the read already */
    for (int a = 0; a < seen->access_count && a < CUPEL_ACCESS_MAX; a++) {
        if (stray && seen->accesses[a].kind == CUPEL_ACCESS_UNINITIALISED_READ) continue;
        if (cupel_access_may_be_dropped(&seen->accesses[a])) continue;
        cupel_finding finding = evidence(CUPEL_FINDING_BAD_ACCESS, CUPEL_GATE_RES_01, schedule);
        finding.has_access = true;
        finding.access = seen->accesses[a];
        finding.place = seen->accesses[a].place;
        cupel_judging_describe_access(c, &finding);
        add(judged, &finding);
    }
    return judged->finding_count - before;
}
