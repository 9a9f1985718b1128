#include <stdio.h>
#include <string.h>

#include "gdb.h"
#include "wording.h"

/* ---- which run ---- */

static const cupel_observation *run_of(const cupel_trial *trial, int r) {
    return r >= 0 && r < trial->run_count ? trial->runs[r].observation : NULL;
}

static bool has_access(const cupel_observation *seen, const cupel_access *access) {
    for (int a = 0; a < seen->access_count && a < CUPEL_ACCESS_MAX; a++)
        if (seen->accesses[a].kind == access->kind && seen->accesses[a].place.line == access->place.line)
            return true;
    return false;
}

/* Byte offset of an element from its tensor's data pointer. */
static int64_t offset_of(const cupel_case_tensor *tensor, int64_t index) {
    int64_t at = 0;
    for (int axis = tensor->rank - 1; axis >= 0; axis--) {
        at += index % tensor->shape[axis] * tensor->stride[axis];
        index /= tensor->shape[axis];
    }
    return at * (int64_t)cupel_format_of(tensor->type)->size;
}

static uint64_t element_after(const cupel_observation *seen, const cupel_case *c, const cupel_watch *watch) {
    const cupel_case_tensor *tensor = &c->tensors[watch->tensor];
    uint64_t bits = 0;
    if (seen && tensor->buffer < seen->buffer_count && seen->buffers[tensor->buffer].bytes)
        memcpy(&bits, seen->buffers[tensor->buffer].bytes + tensor->offset + watch->offset, watch->size);
    return bits;
}

/* The run to make again: the second of two that differ, else the first that shows the finding. */
static int choose_run(const cupel_trial *trial, const cupel_finding *finding, const cupel_watch *watch) {
    if (cupel_word_has_runs(finding) && finding->run_b.index < trial->run_count) return finding->run_b.index;
    for (int r = 0; r < trial->run_count; r++) {
        const cupel_observation *seen = run_of(trial, r);
        if (finding->kind == CUPEL_FINDING_FAULT && seen->outcome == CUPEL_RUN_FAULT) return r;
        if (finding->has_access && has_access(seen, &finding->access)) return r;
        if (watch->tensor >= 0 && element_after(seen, trial->c, watch) == finding->got_bits) return r;
    }
    return trial->run_count > 0 ? 0 : -1;
}

/* ---- what to watch ---- */

static void watch_element(const cupel_contract *contract, const cupel_trial *trial,
                          const cupel_finding *finding, cupel_gdb_aim *aim) {
    int t = cupel_contract_tensor(contract, finding->output_name);
    if (t < 0 || finding->index < 0 || finding->index >= trial->c->tensors[t].count) return;
    aim->watch.tensor = t;
    aim->watch.size = cupel_format_of(trial->c->tensors[t].type)->size;
    aim->watch.offset = offset_of(&trial->c->tensors[t], finding->index);
}

void cupel_gdb_aim_at(const cupel_contract *contract, const cupel_trial *trial, const cupel_finding *finding,
                      cupel_gdb_aim *aim) {
    *aim = (cupel_gdb_aim){.watch = {.tensor = -1}, .run = trial->run_count > 0 ? 0 : -1};
    if (!finding) {
        aim->kernel_start = true;
        snprintf(aim->words, sizeof aim->words, "the failure does not show in a build without optimisation");
        return;
    }
    switch (finding->kind) {
    case CUPEL_FINDING_BAD_ACCESS: aim->watch.stop_accesses = 1u << finding->access.kind; break;
    case CUPEL_FINDING_INPUT_CHANGED:
        if (finding->has_access)
            aim->watch.stop_accesses = 1u << finding->access.kind;
        else
            watch_element(contract, trial, finding, aim);
        break;
    case CUPEL_FINDING_STRAY_WRITE: aim->watch.stop_accesses = 1u << CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE; break;
    case CUPEL_FINDING_FAULT: aim->watch.stop_end = true; break;
    case CUPEL_FINDING_STRAY_READ:
        aim->watch.stop_accesses =
            1u << CUPEL_ACCESS_UNINITIALISED_READ | 1u << CUPEL_ACCESS_OUT_OF_BOUNDS_READ;
        watch_element(contract, trial, finding, aim);
        break;
    case CUPEL_FINDING_UNWRITTEN:
    case CUPEL_FINDING_REFUSED: aim->kernel_start = true; break;
    default: watch_element(contract, trial, finding, aim); break;
    }
    aim->run = choose_run(trial, finding, &aim->watch);
    snprintf(aim->words, sizeof aim->words, "%s", finding->text);
}

/* ---- which store ---- */

static bool is_right(const cupel_finding *finding, uint64_t bits) {
    double lo = finding->exact.lo, hi = finding->exact.hi, value = finding->exact.value;
    double radius = finding->exact.radius;
    uint8_t classes = finding->exact.classes, reason = finding->exact.reason;
    cupel_allowed one = {.type = finding->type,
                         .count = 1,
                         .value = &value,
                         .lo = &lo,
                         .hi = &hi,
                         .radius = &radius,
                         .classes = &classes,
                         .reasons = &reason};
    return finding->certified && cupel_judge_element(&one, 0, &bits) == CUPEL_ALLOWED;
}

void cupel_gdb_aim_choose(const cupel_finding *finding, const cupel_observation *seen, const cupel_case *c,
                          cupel_gdb_aim *aim) {
    cupel_watch *watch = &aim->watch;
    char stored[96] = "";
    int last_right = 0, stores = watch->stores < CUPEL_WATCH_VALUES ? watch->stores : CUPEL_WATCH_VALUES;
    if (watch->tensor < 0) return;
    if (watch->stores == 0) {
        watch->tensor = -1;
        aim->kernel_start = watch->stop_accesses == 0;
        return;
    }
    watch->values[stores - 1] = element_after(seen, c, watch);
    for (int i = 0; i < stores; i++)
        if (is_right(finding, watch->values[i])) last_right = i + 1;
    watch->stop_store = last_right < watch->stores ? last_right + 1 : 1;
    if (watch->stop_store <= stores)
        cupel_word_element(c->tensors[watch->tensor].type, watch->values[watch->stop_store - 1], stored,
                           sizeof stored);
    size_t used = strlen(aim->words);
    snprintf(aim->words + used, sizeof aim->words - used, "%sstore %d of %d to the element, of %s",
             used ? ": " : "", watch->stop_store, watch->stores, stored);
}
