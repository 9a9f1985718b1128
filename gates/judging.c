/* One case before all gates. Each gate adds findings and tallies; what an earlier gate explains, a later one
 * does not accuse. */
#include "judging.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cupel_judging_finished(const cupel_judging *j, int r) {
    cupel_outcome outcome = j->evidence->runs[r].observation->outcome;
    return outcome == CUPEL_RUN_FINISHED || outcome == CUPEL_RUN_SKIPPED;
}

static int tensor_of_output(const cupel_contract *contract, const char *name) {
    for (int t = 0; t < contract->tensor_count; t++)
        if (!strcmp(contract->tensors[t].name, name)) return t;
    return -1;
}

/* Does the buffer hold exactly this tensor's elements, in order? Then its bytes serve as they are. */
static bool is_plain(const cupel_case *c, const cupel_case_tensor *tensor, size_t size) {
    if (tensor->offset || c->buffers[tensor->buffer].size != (size_t)tensor->count * size) return false;
    int64_t stride = 1;
    for (int axis = tensor->rank - 1; axis >= 0; axis--) {
        if (tensor->shape[axis] != 1 && tensor->stride[axis] != stride) return false;
        stride *= tensor->shape[axis];
    }
    return true;
}

static const unsigned char *gather(cupel_judging *j, int t, const unsigned char *buffer, size_t size) {
    const cupel_case *c = j->evidence->c;
    const cupel_case_tensor *tensor = &c->tensors[t];
    if (is_plain(c, tensor, size)) return buffer;
    unsigned char *elements = cupel_arena_raw(j->arena, (size_t)tensor->count + 1, size);
    if (elements) cupel_case_gather(c, t, buffer, elements);
    return elements;
}

const unsigned char *cupel_judging_before(cupel_judging *j, cupel_output_view *view, int r) {
    if (view->before[r]) return view->before[r];
    const cupel_case *c = j->evidence->c;
    int buffer = c->tensors[view->tensor].buffer;
    unsigned char *image = cupel_arena_raw(j->arena, c->buffers[buffer].size + 1, 1);
    if (!image) return NULL;
    cupel_case_image(c, buffer, j->evidence->runs[r].poison, image);
    view->before[r] = gather(j, view->tensor, image, view->size);
    return view->before[r];
}

void cupel_judging_excuse(cupel_judging *j, cupel_output_view *view, int64_t i) {
    if (!view->excused) view->excused = cupel_arena_alloc(j->arena, (size_t)view->count + 1);
    if (!view->excused || view->excused[i]) return;
    view->excused[i] = 1;
    view->excused_count++;
}

static bool make_view(cupel_judging *j, int o, cupel_output_view *view) {
    const cupel_evidence *e = j->evidence;
    view->output = &e->graph->outputs[o];
    view->allowed = e->allowed ? &e->allowed[o] : NULL;
    view->index = o;
    view->tensor = tensor_of_output(e->c->contract, view->output->name);
    if (view->tensor < 0) return false;
    const cupel_case_tensor *tensor = &e->c->tensors[view->tensor];
    view->size = cupel_format_of(tensor->type)->size;
    view->count = tensor->count;
    view->poisoned = !tensor->values;
    for (int r = 0; r < e->run_count; r++) {
        if (!cupel_judging_finished(j, r)) continue;
        view->after[r] =
            gather(j, view->tensor, e->runs[r].observation->buffers[tensor->buffer].bytes, view->size);
        if (!view->after[r]) return false;
    }
    return true;
}

static bool make_views(cupel_judging *j) {
    int count = j->evidence->graph ? j->evidence->graph->output_count : 0;
    j->views = cupel_arena_alloc(j->arena, (size_t)(count + 1) * sizeof *j->views);
    if (!j->views) return false;
    for (int o = 0; o < count; o++)
        if (!make_view(j, o, &j->views[o])) return false;
    j->view_count = count;
    return true;
}

cupel_finding *cupel_judging_add(cupel_judging *j, cupel_finding_kind kind) {
    if (j->out->finding_count == CUPEL_CASE_FINDINGS_MAX) return NULL;
    cupel_finding *finding = &j->out->findings[j->out->finding_count];
    memset(finding, 0, sizeof *finding);
    j->out->element_counts[j->out->finding_count] = 0;
    finding->kind = kind;
    finding->standing = CUPEL_STANDING_PROOF;
    finding->output = -1;
    finding->index = -1;
    finding->ratio = NAN;
    finding->steps = NAN;
    finding->got = NAN;
    finding->run_a.index = finding->run_b.index = -1;
    return finding;
}

void cupel_judging_keep(cupel_judging *j, cupel_finding *finding) {
    char mine[160], other[160];
    cupel_finding_signature(finding, mine, sizeof mine);
    for (int i = 0; i < j->out->finding_count; i++) {
        cupel_finding_signature(&j->out->findings[i], other, sizeof other);
        if (!strcmp(mine, other)) return;
    }
    finding->gradient =
        finding->output >= 0 &&
        cupel_claims_gradient(j->evidence->c->contract,
                              cupel_contract_tensor(j->evidence->c->contract, finding->output_name));
    /* nearly every case has a schedule: only necessity makes it the cause */
    finding->gate =
        cupel_gate_of_finding(finding, j->evidence->traits & ~(CUPEL_TRAIT_SCHEDULE | CUPEL_TRAIT_HISTORY));
    j->out->finding_count++;
    if (j->scoreboard && finding->standing == CUPEL_STANDING_PROOF)
        j->scoreboard->gates[finding->gate].failures++;
}

void cupel_judging_element(const cupel_output_view *view, int64_t i, const unsigned char *bytes,
                           cupel_finding *finding) {
    finding->output = view->index;
    snprintf(finding->output_name, sizeof finding->output_name, "%s", view->output->name);
    finding->index = i;
    finding->type = view->output->type;
    finding->got_bits = 0;
    memcpy(&finding->got_bits, bytes, view->size);
    finding->got = cupel_decode(finding->type, bytes);
    finding->judged_elements = view->allowed ? view->allowed->judged : 0;
    if (!view->allowed) return;
    finding->ratio = cupel_judge_ratio(view->allowed, i, bytes);
    double lo = view->allowed->lo[i], hi = view->allowed->hi[i];
    if (cupel_format_of(finding->type)->kind == CUPEL_KIND_REAL && isfinite(finding->got) && isfinite(lo) &&
        isfinite(hi) && lo <= hi)
        finding->steps = finding->got > hi   ? cupel_steps_between(finding->type, hi, finding->got)
                         : finding->got < lo ? cupel_steps_between(finding->type, finding->got, lo)
                                             : 0;
}

void cupel_judging_where(const char *name, int rank, const int64_t *shape, int64_t i, char *text,
                         size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s", name);
    int64_t below[CUPEL_RANK_MAX + 1] = {0};
    below[rank] = 1;
    for (int axis = rank - 1; axis >= 0; axis--) below[axis] = below[axis + 1] * shape[axis];
    for (int axis = 0; axis < rank && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", axis ? ", " : "[",
                                 (long long)(below[axis + 1] ? i / below[axis + 1] % shape[axis] : 0));
    if (rank && used < size) snprintf(text + used, size - used, "]");
}

void cupel_judging_number(cupel_dtype type, double x, char *text, size_t size) {
    if (isnan(x)) {
        snprintf(text, size, "NaN");
        return;
    }
    snprintf(text, size, "%.9g", x);
    if (cupel_format_of(type)->precision <= 24) return; /* enough for two values to look different */
    for (int digits = 10; digits <= 17 && strtod(text, NULL) != x; digits++)
        snprintf(text, size, "%.*g", digits, x);
}

void cupel_judging_tally(cupel_judging *j, cupel_gate gate, int64_t judged, int64_t considered) {
    if (!j->scoreboard) return;
    cupel_gate_tally *tally = &j->scoreboard->gates[gate];
    tally->cases++;
    tally->judged += judged;
    tally->considered += considered;
}

void cupel_scoreboard_count(cupel_scoreboard *scoreboard, const cupel_case *c) {
    bool seen[CUPEL_PATTERN_COUNT] = {false}, first = scoreboard->cases++ == 0;
    for (int d = 0; d < c->contract->dim_count; d++) {
        int64_t extent = c->binding.dims[d];
        if (first || extent < scoreboard->smallest[d]) scoreboard->smallest[d] = extent;
        if (first || extent > scoreboard->largest[d]) scoreboard->largest[d] = extent;
    }
    for (int d = c->contract->dim_count - c->contract->variant_count; d < c->contract->dim_count; d++)
        scoreboard->cases_by_variant[d][cupel_variant_rank(&c->contract->dims[d], c->binding.dims[d])]++;
    for (int t = 0; t < c->tensor_count; t++) {
        int roles = c->contract->tensors[t].roles;
        cupel_pattern pattern = c->recipe->tensors[t].pattern;
        if (roles & (CUPEL_ROLE_INPUT | CUPEL_ROLE_OUTPUT)) scoreboard->elements += c->tensors[t].count;
        if (!(roles & CUPEL_ROLE_INPUT) || (unsigned)pattern >= CUPEL_PATTERN_COUNT) continue;
        if (!seen[pattern]) scoreboard->cases_by_pattern[pattern]++;
        seen[pattern] = true;
    }
}

static bool could_not_run(const cupel_evidence *e) {
    for (int r = 0; r < e->run_count; r++)
        if (e->runs[r].observation->outcome == CUPEL_RUN_UNSUPPORTED ||
            e->runs[r].observation->outcome == CUPEL_RUN_NOT_STARTED)
            return true;
    return !e->run_count;
}

void cupel_gates_judge(const cupel_evidence *evidence, cupel_scoreboard *scoreboard, cupel_arena *arena,
                       cupel_judged *out) {
    cupel_judging j = {.evidence = evidence, .arena = arena, .scoreboard = scoreboard, .out = out};
    out->finding_count = 0;
    out->worst_ratio = 0;
    out->closeness_count = 0;
    out->wants_more_runs = false;
    if (could_not_run(evidence)) return;
    for (int r = 0; r < evidence->run_count; r++)
        j.float_atomics = j.float_atomics || evidence->runs[r].observation->float_atomics;
    if (!make_views(&j)) return;
    if (cupel_runs_want_more(&j)) {
        out->wants_more_runs = true;
        return;
    }
    cupel_gate_faults(&j);
    cupel_gate_launch(&j);
    cupel_gate_memory(&j);
    cupel_gate_determinism(&j);
    cupel_gate_values(&j);
    cupel_gate_variants(&j);
    cupel_gate_uninitialised(&j);
}
