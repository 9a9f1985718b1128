/* RES-01: nothing is written but the outputs, inputs stay as they were, and no access leaves its buffer. That
 * all of the output is written and that only inputs are read shows in the comparison of runs (determinism.c).
 */
#include "judging.h"

#include <stdio.h>
#include <string.h>

enum {
    READS = 1u << CUPEL_ACCESS_OUT_OF_BOUNDS_READ,
    WRITES = 1u << CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE,
    PROVEN = READS | WRITES | 1u << CUPEL_ACCESS_MISALIGNED_READ | 1u << CUPEL_ACCESS_MISALIGNED_WRITE
};

static int kept_accesses(const cupel_observation *seen) {
    return seen->access_count < CUPEL_ACCESS_MAX ? seen->access_count : CUPEL_ACCESS_MAX;
}

bool cupel_judging_has_access(const cupel_judging *j, unsigned kinds) {
    for (int r = 0; r < j->evidence->run_count; r++) {
        const cupel_observation *seen = j->evidence->runs[r].observation;
        for (int a = 0; a < kept_accesses(seen); a++)
            if (kinds & (1u << seen->accesses[a].kind)) return true;
    }
    return false;
}

/* The tensor whose name stands for a buffer: an output if it holds one. */
static int tensor_of_buffer(const cupel_case *c, int buffer) {
    int found = -1;
    for (int t = 0; t < c->tensor_count; t++)
        if (c->tensors[t].buffer == buffer &&
            (found < 0 || (c->contract->tensors[t].roles & CUPEL_ROLE_OUTPUT)))
            found = t;
    return found;
}

static void name_buffer(const cupel_case *c, int buffer, char *text, size_t size) {
    int t = buffer >= 0 ? tensor_of_buffer(c, buffer) : -1;
    snprintf(text, size, "%s", t >= 0 ? c->contract->tensors[t].name : "");
}

static void describe_access(const cupel_access *access, const char *buffer, char *text, size_t size) {
    static const char *const spaces[] = {"global", "shared", "local"};
    const cupel_place *place = &access->place;
    char where[96] = "";
    if (buffer[0])
        snprintf(where, sizeof where, " at byte %lld of %s", (long long)access->offset, buffer);
    else if (access->space != CUPEL_SPACE_GLOBAL)
        snprintf(where, sizeof where, " in %s memory",
                 spaces[access->space <= CUPEL_SPACE_LOCAL ? access->space : 0]);
    snprintf(text, size, "%s of %d bytes%s, thread (%u, %u, %u) of block (%u, %u, %u)%s%s",
             cupel_access_name(access->kind), access->size, where, place->thread[0], place->thread[1],
             place->thread[2], place->block[0], place->block[1], place->block[2],
             place->function[0] ? ", in " : "", place->function);
}

void cupel_judging_describe_access(const cupel_case *c, cupel_finding *finding) {
    const cupel_access *access = &finding->access;
    name_buffer(c, access->buffer < c->buffer_count ? access->buffer : -1, finding->output_name,
                sizeof finding->output_name);
    describe_access(access, finding->output_name, finding->text, sizeof finding->text);
}

static void add_access(cupel_judging *j, const cupel_access *access, cupel_standing standing) {
    cupel_finding *finding = cupel_judging_add(j, CUPEL_FINDING_BAD_ACCESS);
    if (!finding) return;
    finding->standing = standing;
    finding->has_access = true;
    finding->access = *access;
    finding->place = access->place;
    cupel_judging_describe_access(j->evidence->c, finding);
    cupel_judging_keep(j, finding);
}

/* An access so wild that the run was stopped is told by the fault at that line. */
static bool told_by_fault(const cupel_observation *seen, const cupel_access *access) {
    return seen->outcome == CUPEL_RUN_FAULT && seen->place.line > 0 &&
           seen->place.line == access->place.line &&
           (seen->fault == CUPEL_FAULT_OUT_OF_BOUNDS || seen->fault == CUPEL_FAULT_CRASH);
}

static void judge_accesses(cupel_judging *j) {
    for (int r = 0; r < j->evidence->run_count; r++) {
        const cupel_observation *seen = j->evidence->runs[r].observation;
        for (int a = 0; a < kept_accesses(seen); a++)
            if ((PROVEN & (1u << seen->accesses[a].kind)) && !told_by_fault(seen, &seen->accesses[a]))
                add_access(j, &seen->accesses[a], CUPEL_STANDING_PROOF);
    }
}

/* An uninitialised read is proof only through its consequences: it is printed as evidence where no two runs
 * differ. */
void cupel_gate_uninitialised(cupel_judging *j) {
    for (int i = 0; i < j->out->finding_count; i++)
        if (j->out->findings[i].kind == CUPEL_FINDING_STRAY_READ) return;
    for (int r = 0; r < j->evidence->run_count; r++) {
        const cupel_observation *seen = j->evidence->runs[r].observation;
        for (int a = 0; a < kept_accesses(seen); a++)
            if (seen->accesses[a].kind == CUPEL_ACCESS_UNINITIALISED_READ &&
                !cupel_access_may_be_dropped(&seen->accesses[a]))
                add_access(j, &seen->accesses[a], CUPEL_STANDING_EVIDENCE);
    }
}

static void add_stray_write(cupel_judging *j, int buffer, int64_t offset) {
    cupel_finding *finding = cupel_judging_add(j, CUPEL_FINDING_STRAY_WRITE);
    if (!finding) return;
    int64_t size = (int64_t)j->evidence->c->buffers[buffer].size;
    name_buffer(j->evidence->c, buffer, finding->output_name, sizeof finding->output_name);
    if (offset < 0)
        snprintf(finding->text, sizeof finding->text, "a byte %lld before the start of %s was overwritten",
                 (long long)-offset, finding->output_name);
    else if (offset >= size)
        snprintf(finding->text, sizeof finding->text,
                 "byte %lld past the end of %s (%lld bytes) was overwritten", (long long)(offset - size + 1),
                 finding->output_name, (long long)size);
    else
        snprintf(finding->text, sizeof finding->text,
                 "byte %lld of %s, in a gap between its elements, was overwritten", (long long)offset,
                 finding->output_name);
    cupel_judging_keep(j, finding);
}

static void judge_guards(cupel_judging *j, int r) {
    const cupel_observation *seen = j->evidence->runs[r].observation;
    if (cupel_judging_has_access(j, WRITES)) return; /* which names the line of the same write */
    for (int b = 0; b < j->evidence->c->buffer_count; b++)
        if (seen->buffers[b].guard_before_damaged || seen->buffers[b].guard_after_damaged)
            add_stray_write(j, b, seen->buffers[b].damage_offset);
}

/* The only tensor in a buffer, or NULL. */
static const cupel_case_tensor *sole_tensor(const cupel_case *c, int buffer) {
    const cupel_case_tensor *found = NULL;
    for (int t = 0; t < c->tensor_count; t++) {
        if (c->tensors[t].buffer != buffer) continue;
        if (found) return NULL;
        found = &c->tensors[t];
    }
    return found;
}

/* The tensor whose elements are the buffer's bytes, in order and without gaps; NULL when there is none. */
static const cupel_case_tensor *plain_tensor(const cupel_case *c, int buffer) {
    const cupel_case_tensor *tensor = sole_tensor(c, buffer);
    if (!tensor || tensor->offset) return NULL;
    int64_t stride = 1;
    for (int axis = tensor->rank - 1; axis >= 0; axis--) {
        if (tensor->shape[axis] != 1 && tensor->stride[axis] != stride) return NULL;
        stride *= tensor->shape[axis];
    }
    size_t bytes = (size_t)tensor->count * cupel_format_of(tensor->type)->size;
    return bytes == c->buffers[buffer].size ? tensor : NULL;
}

static unsigned char *image_of(cupel_judging *j, int b, cupel_poison poison) {
    unsigned char *image = cupel_arena_raw(j->arena, j->evidence->c->buffers[b].size + 1, 1);
    if (image) cupel_case_image(j->evidence->c, b, poison, image);
    return image;
}

static void add_input_changed(cupel_judging *j, int b, size_t at, const unsigned char *after,
                              const cupel_access *access) {
    cupel_finding *finding = cupel_judging_add(j, CUPEL_FINDING_INPUT_CHANGED);
    if (!finding) return;
    const cupel_case_tensor *tensor = plain_tensor(j->evidence->c, b);
    name_buffer(j->evidence->c, b, finding->output_name, sizeof finding->output_name);
    char where[160];
    snprintf(where, sizeof where, "byte %zu of %s", at, finding->output_name);
    if (tensor) {
        size_t size = cupel_format_of(tensor->type)->size;
        finding->index = (int64_t)(at / size);
        finding->type = tensor->type;
        memcpy(&finding->got_bits, after + at / size * size, size);
        finding->got = cupel_decode(tensor->type, after + at / size * size);
        cupel_judging_where(finding->output_name, tensor->rank, tensor->shape, finding->index, where,
                            sizeof where);
    }
    if (access) finding->place = access->place;
    snprintf(finding->text, sizeof finding->text, "the launch changed %s, which is only an input", where);
    cupel_judging_keep(j, finding);
}

static const cupel_access *input_write(const cupel_observation *seen, int b) {
    for (int a = 0; a < kept_accesses(seen); a++)
        if (seen->accesses[a].kind == CUPEL_ACCESS_INPUT_WRITE && seen->accesses[a].buffer == b)
            return &seen->accesses[a];
    return NULL;
}

static void judge_input(cupel_judging *j, int r, int b) {
    const cupel_evidence *e = j->evidence;
    const unsigned char *after = e->runs[r].observation->buffers[b].bytes;
    const cupel_case_tensor *plain = plain_tensor(e->c, b);
    const unsigned char *before = plain ? plain->values : NULL;
    if (!before) before = image_of(j, b, e->runs[r].poison);
    size_t size = e->c->buffers[b].size;
    if (!before || !size || !memcmp(before, after, size)) return;
    size_t at = 0;
    while (before[at] == after[at]) at++;
    add_input_changed(j, b, at, after, input_write(e->runs[r].observation, b));
}

static void add_input_write(cupel_judging *j, const cupel_access *access) {
    cupel_finding *finding = cupel_judging_add(j, CUPEL_FINDING_INPUT_CHANGED);
    if (!finding) return;
    finding->has_access = true;
    finding->access = *access;
    finding->place = access->place;
    name_buffer(j->evidence->c, access->buffer, finding->output_name, sizeof finding->output_name);
    char line[32] = "the launch";
    if (access->place.line > 0) snprintf(line, sizeof line, "line %d", access->place.line);
    snprintf(finding->text, sizeof finding->text, "%s writes to the input %s, at byte %lld", line,
             finding->output_name, (long long)access->offset);
    cupel_judging_keep(j, finding);
}

/* Stores to inputs whose bytes do not show it: they were put back, or the run came to no end. */
static void judge_input_writes(cupel_judging *j) {
    const cupel_case *c = j->evidence->c;
    for (int r = 0; r < j->evidence->run_count; r++)
        for (int b = 0; b < c->buffer_count; b++) {
            const cupel_access *access = input_write(j->evidence->runs[r].observation, b);
            if (access && !c->buffers[b].written) add_input_write(j, access);
        }
}

/* Bytes of a written buffer that belong to no output or scratch element must be as they were. */
static void judge_gaps(cupel_judging *j, int r, int b) {
    const cupel_evidence *e = j->evidence;
    size_t size = e->c->buffers[b].size;
    if (plain_tensor(e->c, b) || !size) return;
    uint8_t *mask = cupel_arena_alloc(j->arena, size);
    const unsigned char *before = image_of(j, b, e->runs[r].poison);
    const unsigned char *after = e->runs[r].observation->buffers[b].bytes;
    if (!mask || !before) return;
    cupel_case_mark(e->c, b, CUPEL_ROLE_OUTPUT | CUPEL_ROLE_SCRATCH, mask);
    for (size_t at = 0; at < size; at++)
        if (!mask[at] && before[at] != after[at]) {
            add_stray_write(j, b, (int64_t)at);
            return;
        }
}

static int64_t facts(const cupel_judging *j) {
    const cupel_case *c = j->evidence->c;
    int64_t count = 2 * (int64_t)c->buffer_count; /* guards */
    for (int t = 0; t < c->tensor_count; t++)
        if (c->contract->tensors[t].roles & (CUPEL_ROLE_INPUT | CUPEL_ROLE_OUTPUT))
            count += c->tensors[t].count;
    for (int v = 0; v < j->view_count; v++) count -= j->views[v].count - cupel_view_run(&j->views[v]);
    return count;
}

void cupel_gate_memory(cupel_judging *j) {
    const cupel_evidence *e = j->evidence;
    bool any = false;
    judge_accesses(j);
    for (int r = 0; r < e->run_count; r++) {
        if (!cupel_judging_finished(j, r)) continue;
        any = any || e->runs[r].observation->outcome == CUPEL_RUN_FINISHED;
        judge_guards(j, r);
        for (int b = 0; b < e->c->buffer_count; b++)
            if (e->c->buffers[b].written)
                judge_gaps(j, r, b);
            else
                judge_input(j, r, b);
    }
    judge_input_writes(j);
    int64_t count = facts(j);
    if (any) cupel_judging_tally(j, CUPEL_GATE_RES_01, count, count);
}
