/* Runs features of device code and compares what they write with their meaning:
 *
 *   run_features FOLDER CACHE [--on emu|cuda|nvrtc] [--list] [FILE..]
 *
 * FOLDER holds the kernels, CACHE the compiled ones. Prints one line a feature; exit status 0 when all hold,
 * 3 where the executor is not available. --list prints the names alone. nvrtc: compiled for sm_90, not run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_compile.h"
#include "executor.h"
#include "feature.h"
#include "feature_check.h"
#include "schedule.h"
#include "text.h"

enum { INPUT_SETS = 3 };

static const feature_file *const files[] = {
#define ENTRY(name) &feature_##name,
    FEATURE_FILES(ENTRY)
#undef ENTRY
};
enum { FILE_COUNT = sizeof files / sizeof *files, FEATURES_MAX = 23 };

/* Whole warps, partial ones, one lane, several warps of which the last is partial, two and three dimensions.
 */
static const feature_launch launches[] = {
    {.block = {32, 1, 1}, .grid = {2, 1}}, {.block = {45, 1, 1}, .grid = {2, 2}},
    {.block = {8, 8, 1}, .grid = {1, 3}},  {.block = {5, 3, 3}, .grid = {2, 1}},
    {.block = {7, 1, 1}, .grid = {3, 1}},  {.block = {1, 1, 1}, .grid = {4, 1}},
    {.block = {33, 4, 1}, .grid = {1, 1}},
};

typedef struct run_state {
    const feature_file *file;
    const cupel_contract *contract;
    cupel_executor *executor;
    cupel_arena *arena; /* of a launch */
    feature_result results[FEATURES_MAX];
} run_state;

/* One contract for all kernels of a file. What it ensures is not asked: the meanings judge. */
static cupel_code write_contract(const feature_file *file, const char *folder, const char *path,
                                 cupel_error *err) {
    FILE *out = fopen(path, "w");
    if (out == NULL) return cupel_fail(err, CUPEL_IO, "cannot write %s", path);
    fprintf(out,
            "cupel: 1\nid: features-%s\ndims: {X: 1..1024, Y: 1..32, Z: 1..32, G: 1..8, H: 1..8}\n"
            "let: {T: \"X * Y * Z * G * H\"}\nsource: {file: %s/%s.cu}\ninputs: {x: \"u32[T, %d]\"}\n"
            "outputs:\n",
            file->name, folder, file->name, FEATURE_INPUTS);
    for (int i = 0; i < file->count; i++)
        fprintf(out, "  %s_out: \"u32[T, %d]\"\n", file->items[i].name, file->items[i].words);
    fprintf(out, "ensures:\n");
    for (int i = 0; i < file->count; i++)
        fprintf(out, "  %s_out: \"full([T, %d], 0)\"\n", file->items[i].name, file->items[i].words);
    fprintf(out, "kernel:\n");
    for (int i = 0; i < file->count; i++)
        fprintf(out, "  - {entry: %s, args: [x, %s_out], grid: [G, H], block: [X, Y, Z], shared: 8192%s}\n",
                file->items[i].name, file->items[i].name,
                file->items[i].together ? ", cooperative: true" : "");
    if (fclose(out) != 0) return cupel_fail(err, CUPEL_IO, "cannot write %s", path);
    return CUPEL_OK;
}

static cupel_code make_case(run_state *s, const feature_launch *l, unsigned set, cupel_recipe *recipe,
                            cupel_case **c, cupel_error *err) {
    const char *const names[] = {"X", "Y", "Z", "G", "H"};
    const unsigned values[] = {l->block[0], l->block[1], l->block[2], l->grid[0], l->grid[1]};
    CUPEL_TRY(cupel_recipe_simple(s->contract, recipe, err));
    for (int i = 0; i < 5; i++) recipe->dims[cupel_contract_dim(s->contract, names[i])] = values[i];
    CUPEL_TRY(cupel_case_materialise(s->contract, recipe, s->arena, c, err));
    size_t count = (size_t)l->threads * l->blocks * FEATURE_INPUTS;
    uint32_t *x = cupel_arena_alloc(s->arena, count * sizeof *x);
    if (x == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    feature_fill(x, count, set);
    (*c)->tensors[cupel_contract_tensor(s->contract, "x")].values = x;
    return CUPEL_OK;
}

static cupel_code judge(run_state *s, const feature_launch *l, const cupel_case *c,
                        const cupel_observation *seen, cupel_error *err) {
    const uint32_t *x = c->tensors[cupel_contract_tensor(s->contract, "x")].values;
    for (int i = 0; i < s->file->count; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s_out", s->file->items[i].name);
        int tensor = cupel_contract_tensor(s->contract, name);
        size_t words = (size_t)l->threads * l->blocks * (size_t)s->file->items[i].words;
        uint32_t *got = cupel_arena_alloc(s->arena, words * sizeof *got),
                 *want = cupel_arena_alloc(s->arena, words * sizeof *want);
        if (got == NULL || want == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
        cupel_case_gather(c, tensor, seen->buffers[c->tensors[tensor].buffer].bytes, got);
        memset(want, 0, words * sizeof *want);
        feature_check(&s->file->items[i], l, x, got, want, &s->results[i]);
    }
    return CUPEL_OK;
}

static cupel_code run_launch(run_state *s, const feature_launch *l, unsigned set, uint64_t schedule,
                             cupel_error *err) {
    cupel_recipe recipe;
    cupel_case *c;
    cupel_observation seen;
    cupel_arena_reset(s->arena);
    CUPEL_TRY(make_case(s, l, set, &recipe, &c, err));
    CUPEL_TRY(cupel_executor_prepare(s->executor, &c->binding, err));
    const cupel_run_request request = {.schedule = schedule,
                                       .poison = set & 1 ? CUPEL_POISON_NAN : CUPEL_POISON_FINITE};
    CUPEL_TRY(cupel_executor_run(s->executor, c, &request, s->arena, &seen, err));
    if (seen.outcome != CUPEL_RUN_FINISHED || seen.access_total != 0)
        return cupel_fail(err, CUPEL_WORKER, "%s:%d: block of %ux%ux%u: %s", seen.place.file, seen.place.line,
                          l->block[0], l->block[1], l->block[2],
                          seen.access_total != 0 ? cupel_access_name(seen.accesses[0].kind) : seen.text);
    return judge(s, l, c, &seen, err);
}

static cupel_code run_file(run_state *s, const char *folder, const char *cache,
                           const cupel_executor_backend *on, cupel_arena *arena, cupel_error *err) {
    const cupel_executor_options options = {.cache = cache};
    cupel_contracts contracts;
    const char *path = cupel_arena_printf(arena, "%s/%s.yaml", cache, s->file->name);
    if (path == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(write_contract(s->file, folder, path, err));
    CUPEL_TRY(cupel_contracts_load(path, arena, &contracts, err));
    s->contract = contracts.items[0];
    CUPEL_TRY(cupel_executor_open(on, s->contract, &options, &s->executor, err));
    cupel_code code = CUPEL_OK;
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        feature_launch l = launches[i];
        l.threads = l.block[0] * l.block[1] * l.block[2], l.blocks = l.grid[0] * l.grid[1];
        for (unsigned set = 0; set < INPUT_SETS && code == CUPEL_OK; set++)
            code = run_launch(s, &l, set, on->permutes_schedules ? cupel_schedule_nth(set) : set, err);
    }
    cupel_executor_close(s->executor);
    return code;
}

/* As for a GPU, where there is none. */
static int compile_file(const feature_file *file, const char *folder, cupel_arena *arena) {
    const char *entries[FEATURES_MAX];
    cupel_error err = {0};
    cupel_source *source;
    cupel_cuda_code code;
    const cupel_source_options options = {.for_device = true};
    for (int i = 0; i < file->count; i++) entries[i] = file->items[i].name;
    cupel_cuda_compile_request request = {.architecture = 90, .entry_count = file->count, .entries = entries};
    const char *path = cupel_arena_printf(arena, "%s/%s.cu", folder, file->name);
    cupel_code status = cupel_source_load(path, &options, arena, &source, &err);
    request.source = source;
    if (status == CUPEL_OK) status = cupel_cuda_compile(&request, arena, &code, &err);
    if (status != CUPEL_OK)
        printf("not ok %s: %s:%d: %s\n", file->name, err.file, err.line, err.text);
    else
        printf("ok     %s: %d kernels compiled\n", file->name, file->count);
    return status == CUPEL_OK ? 0 : status == CUPEL_UNSUPPORTED ? 3 : 1;
}

/* 0: all hold; 1: some do not; 3: not available. */
static int show(const run_state *s, cupel_code code, const cupel_error *err) {
    if (code == CUPEL_UNSUPPORTED || code != CUPEL_OK)
        printf("not ok %s: %s:%d: %s\n", s->file->name, err->file, err->line, err->text);
    if (code != CUPEL_OK) return code == CUPEL_UNSUPPORTED ? 3 : 1;
    int status = 0;
    for (int i = 0; i < s->file->count; i++) {
        const feature_result *r = &s->results[i];
        const char *name = s->file->items[i].name;
        if (r->wrong != 0) {
            printf("not ok %s/%s: %lld of %lld words wrong: %s\n", s->file->name, name, (long long)r->wrong,
                   (long long)r->compared, r->text);
            status = 1;
        } else if (s->file->items[i].real != NULL) {
            printf("ok     %s/%s: %lld results, largest share of what is allowed %.3g\n", s->file->name, name,
                   (long long)r->compared, r->worst);
        } else {
            printf("ok     %s/%s: %lld words equal\n", s->file->name, name, (long long)r->compared);
        }
    }
    return status;
}

static int run(const feature_file *file, const char *folder, const char *cache,
               const cupel_executor_backend *on) {
    static run_state s;
    cupel_error err = {0};
    cupel_arena *arena = cupel_arena_create(0);
    s = (run_state){.file = file, .arena = cupel_arena_create(0)};
    if (file->count > FEATURES_MAX) {
        printf("not ok %s: more than %d kernels in a file\n", file->name, FEATURES_MAX);
        return 1;
    }
    int status = on == NULL ? compile_file(file, folder, arena)
                            : show(&s, run_file(&s, folder, cache, on, arena, &err), &err);
    cupel_arena_free(s.arena);
    cupel_arena_free(arena);
    return status;
}

static bool asked_for(const char *name, int count, char **names) {
    bool found = count == 0;
    for (int i = 0; i < count; i++) found |= strcmp(names[i], name) == 0;
    return found;
}

int main(int argc, char **argv) {
    const cupel_executor_backend *on = cupel_executor_emu();
    bool list = false, compile = false;
    char *names[FILE_COUNT * 2];
    int count = 0, status = 0, runs = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: run_features FOLDER CACHE [--on emu|cuda] [--list] [FILE..]\n");
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--on") == 0 && i + 1 < argc) {
            on = cupel_executor_find(argv[++i]);
            compile = strcmp(argv[i], "nvrtc") == 0;
        } else if (strcmp(argv[i], "--list") == 0) {
            list = true;
        } else if (count < FILE_COUNT) {
            names[count++] = argv[i];
        }
    }
    if (on == NULL && !compile) return 2;
    for (int f = 0; f < FILE_COUNT; f++) {
        if (!asked_for(files[f]->name, count, names)) continue;
        runs++;
        for (int i = 0; list && i < files[f]->count; i++)
            printf("%s/%s\n", files[f]->name, files[f]->items[i].name);
        if (list) continue;
        int one = run(files[f], argv[1], argv[2], on);
        if (one > status) status = one;
    }
    return runs == 0 ? 2 : status;
}
