#include "evidence_fixture.h"

#include <stdlib.h>
#include <string.h>

enum { INPUT = 0, OUTPUT = 1 };

static void make_contract(fixture *f) {
    cupel_contract *contract = &f->contract;
    contract->id = "double";
    contract->tensor_count = 2;
    contract->tensors[INPUT] = (cupel_tensor_decl){
        .name = "x", .roles = CUPEL_ROLE_INPUT, .type_variable = 0, .rank = 1, .align = 256};
    contract->tensors[OUTPUT] = (cupel_tensor_decl){
        .name = "y", .roles = CUPEL_ROLE_OUTPUT, .type_variable = 0, .rank = 1, .align = 256};
    contract->type_count = 1;
    contract->types[0] = (cupel_type_variable){.name = "T", .count = 1, .claimed = {CUPEL_F32}};
    contract->dim_count = 1;
    contract->dims[0] = (cupel_dim){.name = "N", .lo = 1, .hi = 64};
    contract->launch_count = 1;
}

static void make_case(fixture *f) {
    cupel_case *c = &f->c;
    c->contract = &f->contract;
    c->recipe = &f->recipe;
    c->tensor_count = c->buffer_count = 2;
    for (int i = 0; i < FIXTURE_N; i++) f->x[i] = (float)i + 1;
    for (int t = 0; t < 2; t++) {
        c->tensors[t] = (cupel_case_tensor){.type = CUPEL_F32,
                                            .rank = 1,
                                            .shape = {FIXTURE_N},
                                            .stride = {1},
                                            .count = FIXTURE_N,
                                            .buffer = t};
        c->buffers[t] =
            (cupel_case_buffer){.size = FIXTURE_N * sizeof(float), .align = 256, .written = t == OUTPUT};
    }
    c->tensors[INPUT].values = f->x;
    c->element_count = 2 * FIXTURE_N;
}

static void make_allowed(fixture *f) {
    f->output = (cupel_graph_output){
        .name = "y", .type = CUPEL_F32, .rank = 1, .shape = {FIXTURE_N}, .count = FIXTURE_N};
    f->graph = (cupel_graph){.output_count = 1, .outputs = &f->output};
    f->allowed = (cupel_allowed){.name = "y",
                                 .type = CUPEL_F32,
                                 .rank = 1,
                                 .shape = {FIXTURE_N},
                                 .count = FIXTURE_N,
                                 .value = f->value,
                                 .lo = f->lo,
                                 .hi = f->hi,
                                 .radius = f->radius,
                                 .classes = f->classes,
                                 .reasons = f->reasons,
                                 .judged = FIXTURE_N};
    for (int i = 0; i < FIXTURE_N; i++) {
        f->value[i] = 2.0 * f->x[i];
        f->lo[i] = f->value[i] - 0.25;
        f->hi[i] = f->value[i] + 0.25;
        f->radius[i] = 0.25;
        f->classes[i] = CUPEL_CLASS_FINITE;
        f->reasons[i] = CUPEL_REASON_JUDGED;
    }
}

static unsigned char *element(const fixture *f, int r, int i) {
    const cupel_case_tensor *y = &f->c.tensors[OUTPUT];
    return f->seen[r].buffers[OUTPUT].bytes + y->offset + (int64_t)sizeof(float) * i * y->stride[0];
}

void fixture_set(fixture *f, int r, int i, float y) {
    memcpy(element(f, r, i), &y, sizeof y);
}

float fixture_get(const fixture *f, int r, int i) {
    float y;
    memcpy(&y, element(f, r, i), sizeof y);
    return y;
}

void fixture_unwrite(fixture *f, int r, int i) {
    size_t size = f->c.buffers[OUTPUT].size;
    unsigned char *image = cupel_arena_alloc(f->arena, size);
    cupel_case_image(&f->c, OUTPUT, f->evidence.runs[r].poison, image);
    size_t at = (size_t)(element(f, r, i) - f->seen[r].buffers[OUTPUT].bytes);
    memcpy(element(f, r, i), image + at, sizeof(float));
}

void fixture_runs(fixture *f, int count) {
    static const struct {
        uint64_t schedule;
        cupel_poison poison;
        bool history;
    } runs[CUPEL_RUN_MAX] = {{0, CUPEL_POISON_NAN, false},
                             {FIXTURE_SCHEDULE, CUPEL_POISON_FINITE, true},
                             {0, CUPEL_POISON_FINITE, false},
                             {FIXTURE_SCHEDULE, CUPEL_POISON_NAN, true},
                             {FIXTURE_SCHEDULE, CUPEL_POISON_FINITE, false},
                             {0, CUPEL_POISON_FINITE, true}};
    f->evidence.run_count = count;
    for (int r = 0; r < count; r++) {
        cupel_observation *seen = &f->seen[r];
        memset(seen, 0, sizeof *seen);
        seen->outcome = CUPEL_RUN_FINISHED;
        seen->buffer_count = 2;
        for (int b = 0; b < 2; b++) {
            seen->buffers[b].size = f->c.buffers[b].size;
            seen->buffers[b].bytes = cupel_arena_alloc(f->arena, f->c.buffers[b].size);
            cupel_case_image(&f->c, b, runs[r].poison, seen->buffers[b].bytes);
        }
        f->evidence.runs[r] =
            (cupel_run){runs[r].schedule, runs[r].poison, seen, f->history && runs[r].history};
        for (int i = 0; i < FIXTURE_N; i++) fixture_set(f, r, i, 2 * f->x[i]);
    }
}

void fixture_spread_output(fixture *f) {
    f->c.tensors[OUTPUT].stride[0] = 2;
    f->c.buffers[OUTPUT].size = (2 * FIXTURE_N - 1) * sizeof(float);
    fixture_runs(f, f->evidence.run_count);
}

void fixture_start(fixture *f) {
    memset(f, 0, sizeof *f);
    f->arena = cupel_arena_create(0);
    make_contract(f);
    make_case(f);
    make_allowed(f);
    f->evidence = (cupel_evidence){.c = &f->c,
                                   .graph = &f->graph,
                                   .allowed = &f->allowed,
                                   .addresses_checked = true,
                                   .schedule_fixed = true};
    fixture_runs(f, 2);
}

void fixture_stop(fixture *f) {
    cupel_arena_free(f->arena);
}

void fixture_access(fixture *f, int r, cupel_access_kind kind, int line) {
    cupel_access *access = &f->seen[r].accesses[f->seen[r].access_count++];
    *access = (cupel_access){.kind = kind, .buffer = OUTPUT, .offset = 32, .size = 4, .count = 1};
    strcpy(access->place.file, "/src/kernel.cu");
    access->place.line = line;
    f->seen[r].access_total++;
}

void fixture_judge(fixture *f) {
    memset(&f->board, 0, sizeof f->board);
    cupel_gates_judge(&f->evidence, &f->board, f->arena, &f->judged);
}

const cupel_finding *fixture_finding(const fixture *f, cupel_finding_kind kind) {
    for (int i = 0; i < f->judged.finding_count; i++)
        if (f->judged.findings[i].kind == kind) return &f->judged.findings[i];
    return NULL;
}
