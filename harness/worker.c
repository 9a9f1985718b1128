/* The worker: a process that loads the contract and the candidate, runs cases on command, and dies alone when
 * the candidate takes it along. Its judgement is a filter; what it suspects, the supervisor tries again
 * elsewhere. */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "case_size.h"
#include "source_numbers.h"
#include "supervisor.h"
#include "worker_features.h"
#include "worker_isolation.h"
#include "worker_process.h"
#include "worker_spawn.h"

enum { SAME_SUSPECTS_MAX = 16, SIGNATURES_MAX = 128 };

/* Recipes that came before a search. */
typedef struct recipe_list {
    cupel_encoded *items;
    size_t count, capacity;
} recipe_list;

typedef struct worker {
    cupel_worker_shared *shared;
    cupel_contract *contract;
    cupel_executor *executor;
    cupel_arena *contract_arena, *arena; /* arena: of one case */
    cupel_open_command open;
    uint8_t command[CUPEL_PROTOCOL_COMMAND_MAX];
    cupel_features features;
    cupel_error err;
    cupel_code search_code;            /* why the search ended early */
    uint32_t suspects[SIGNATURES_MAX]; /* of each signature, by hash */
    recipe_list starts, corpus;        /* of the next search */
    cupel_dictionary dictionary;       /* the candidate's own numbers; empty where they are not known */
    cupel_block_sampling sampling;
    cupel_trial trial; /* large: not on the stack */
    cupel_suspect suspect;
    uint8_t record[CUPEL_PROTOCOL_SUSPECT_MAX];
} worker;

static void enter(worker *w, cupel_phase phase) {
    atomic_store_explicit(&w->shared->started, cupel_worker_now(), memory_order_relaxed);
    atomic_store_explicit(&w->shared->phase, phase, memory_order_release);
}

/* ---- opening ---- */

static cupel_code load_contract(worker *w) {
    cupel_contracts contracts;
    CUPEL_TRY(cupel_contracts_load_chosen(w->open.contract_path, w->open.contract_id, w->contract_arena,
                                          &contracts, &w->err));
    for (int i = 0; i < contracts.count; i++)
        if (!strcmp(contracts.items[i]->id, w->open.contract_id)) w->contract = contracts.items[i];
    if (w->contract) return CUPEL_OK;
    return cupel_fail(&w->err, CUPEL_CONTRACT, "%s holds no contract '%s' any more", w->open.contract_path,
                      w->open.contract_id);
}

/* What the candidate was opened with; its lists lie in defines and includes. */
static cupel_executor_options executor_options(const worker *w, const char **defines, const char **includes) {
    for (int i = 0; i < w->open.define_count; i++) defines[i] = w->open.defines[i];
    for (int i = 0; i < w->open.include_count; i++) includes[i] = w->open.includes[i];
    return (cupel_executor_options){.cache = w->open.cache,
                                    .define_count = w->open.define_count,
                                    .include_count = w->open.include_count,
                                    .defines = defines,
                                    .includes = includes,
                                    .seconds_limit = w->open.seconds_limit,
                                    .step_limit = w->open.step_limit,
                                    .sanitize = w->open.sanitize};
}

static cupel_code open_candidate(worker *w) {
    const char *defines[CUPEL_PROTOCOL_TEXTS_MAX], *includes[CUPEL_PROTOCOL_TEXTS_MAX];
    cupel_executor_options options = executor_options(w, defines, includes);
    const cupel_executor_backend *backend = cupel_executor_find(w->open.executor);
    if (!backend)
        return cupel_fail(&w->err, CUPEL_UNSUPPORTED, "there is no executor '%s'", w->open.executor);
    CUPEL_TRY(cupel_executor_open(backend, w->contract, &options, &w->executor, &w->err));
    cupel_binding ordinary;
    CUPEL_TRY(cupel_binding_ordinary(w->contract, &ordinary, &w->err));
    return cupel_executor_prepare(w->executor, &ordinary, &w->err);
}

static cupel_code open_worker(worker *w, const cupel_header *header, char *isolation, size_t size) {
    cupel_reader r = {.bytes = w->command, .size = (size_t)header->length};
    if (header->type != CUPEL_MESSAGE_OPEN || !cupel_protocol_get_open(&r, &w->open))
        return cupel_fail(&w->err, CUPEL_WORKER, "the worker got no sound command to open a candidate");
    CUPEL_TRY(load_contract(w));
    if (w->open.cache[0]) setenv("TMPDIR", w->open.cache, 1); /* compilers need a place that stays writable */
    const cupel_executor_backend *backend = cupel_executor_find(w->open.executor);
    cupel_worker_isolate(w->open.cache[0] ? w->open.cache : NULL, backend && backend->writes_proc, isolation,
                         size);
    return open_candidate(w);
}

/* ---- running ---- */

/* Is a refused allocation a lie? The largest case needs less than this. */
static bool memory_is_left(void) {
    enum { PLENTY = 64 << 20 };
    void *volatile block = malloc(PLENTY);
    free(block);
    return block != NULL;
}

static cupel_code run_case(void *self, const cupel_case *c, const cupel_run_request *request,
                           cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    worker *w = self;
    atomic_store(&w->shared->own, (uint64_t)cupel_case_size_tensors(&c->binding));
    enter(w, CUPEL_PHASE_PREPARING);
    CUPEL_TRY(cupel_executor_prepare(w->executor, &c->binding, err));
    enter(w, CUPEL_PHASE_RUNNING);
    cupel_code code = cupel_executor_run(w->executor, c, request, arena, out, err);
    enter(w, CUPEL_PHASE_AFTER);
    if (code == CUPEL_MEMORY && memory_is_left()) abort(); /* it was the candidate that broke our books */
    return code;
}

/* Makes the allocator look at what it holds, so that damage shows now and not in a later case: it aborts when
 * it finds some. */
static void probe_heap(void) {
    enum { BLOCKS = 256 };
    void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) blocks[i] = malloc((size_t)(16 + 40 * i));
    __asm__ volatile("" : : "r"(blocks) : "memory"); /* else the compiler drops the pairs */
    for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
    malloc_trim(0);
}

static bool send_error(worker *w) {
    cupel_writer out = {.bytes = w->record, .capacity = sizeof w->record};
    cupel_protocol_put_error(&out, &w->err);
    return cupel_protocol_send(CUPEL_WORKER_SOCKET, CUPEL_MESSAGE_FAILED, w->record, out.used);
}

static cupel_code run_command(worker *w, const cupel_run_command *command, cupel_observation *seen) {
    cupel_recipe recipe;
    cupel_case *c = NULL;
    if (!cupel_recipe_decode(w->contract, command->recipe, command->recipe_size, &recipe))
        return cupel_fail(&w->err, CUPEL_WORKER, "the worker got a recipe that it cannot read");
    CUPEL_TRY(cupel_case_materialise(w->contract, &recipe, w->arena, &c, &w->err));
    const cupel_run_request request = {
        .schedule = command->schedule, .poison = command->poison, .history = command->history};
    CUPEL_TRY(run_case(w, c, &request, w->arena, seen, &w->err));
    probe_heap();
    return CUPEL_OK;
}

static bool serve_run(worker *w, const cupel_header *header) {
    cupel_run_command command;
    cupel_reader r = {.bytes = w->command, .size = (size_t)header->length};
    if (!cupel_protocol_get_run(&r, &command)) return false;
    cupel_arena_reset(w->arena);
    cupel_observation *seen = cupel_arena_alloc(w->arena, sizeof *seen);
    if (!seen) return false;
    cupel_code code = run_command(w, &command, seen);
    bool sent = code == CUPEL_OK ? cupel_protocol_send_observation(CUPEL_WORKER_SOCKET, seen) : send_error(w);
    enter(w, CUPEL_PHASE_IDLE);
    return sent && !cupel_executor_spent(w->executor);
}

/* ---- searching ---- */

static bool keep_recipe(worker *w, const cupel_header *header, recipe_list *list) {
    cupel_recipe_message message;
    cupel_reader r = {.bytes = w->command, .size = (size_t)header->length};
    if (!cupel_protocol_get_recipe(&r, &message)) return false;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        cupel_encoded *items = reallocarray(list->items, capacity, sizeof *items);
        if (!items) return false;
        list->items = items;
        list->capacity = capacity;
    }
    uint8_t *bytes = cupel_arena_raw(w->contract_arena, (size_t)message.size + 1, 1);
    if (!bytes) return false;
    memcpy(bytes, message.bytes, message.size);
    list->items[list->count++] = (cupel_encoded){bytes, message.size, message.news};
    return true;
}

/* Is this finding's signature among those that were sent often enough? */
static bool is_stale(worker *w, const cupel_finding *finding) {
    char signature[160];
    cupel_finding_signature(finding, signature, sizeof signature);
    uint32_t hash = 2166136261u;
    for (const char *c = signature; *c; c++) hash = (hash ^ (uint8_t)*c) * 16777619u;
    return w->suspects[hash % SIGNATURES_MAX]++ >= SAME_SUSPECTS_MAX;
}

static bool report(worker *w, uint64_t n) {
    const cupel_judged *judged = &w->trial.judged;
    bool fresh = false;
    for (int f = 0; f < judged->finding_count; f++) fresh = !is_stale(w, &judged->findings[f]) || fresh;
    if (!fresh) return true;
    w->suspect.n = n;
    w->suspect.recipe_size = w->shared->recipe_size;
    memcpy(w->suspect.recipe, w->shared->recipe, w->shared->recipe_size);
    w->suspect.finding_count = judged->finding_count;
    memcpy(w->suspect.findings, judged->findings, sizeof w->suspect.findings);
    cupel_writer out = {.bytes = w->record, .capacity = sizeof w->record};
    cupel_protocol_put_suspect(&out, &w->suspect);
    enter(w, CUPEL_PHASE_IDLE); /* the supervisor may take its time to read */
    return !out.full && cupel_protocol_send(CUPEL_WORKER_SOCKET, CUPEL_MESSAGE_SUSPECT, w->record, out.used);
}

/* Before anything is run, the board says what: should the worker die, its death names this recipe. */
static void announce(worker *w, uint64_t n, const cupel_recipe *recipe) {
    cupel_worker_shared *shared = w->shared;
    shared->recipe_size =
        (uint32_t)cupel_recipe_encode(w->contract, recipe, shared->recipe, sizeof shared->recipe);
    atomic_store_explicit(&shared->n, n, memory_order_relaxed);
    enter(w, CUPEL_PHASE_PREPARING);
}

/* What the case taught, for the engine and for the board. */
static void learn(worker *w, cupel_feedback *feedback) {
    feedback->coverage = cupel_executor_coverage(w->executor, &feedback->coverage_count);
    feedback->finding = w->trial.judged.finding_count > 0;
    cupel_features_learn(&w->features, w->trial.c, &w->trial.judged, feedback);
    atomic_store_explicit(&w->shared->edge_count, feedback->coverage_count, memory_order_relaxed);
    /* how often an edge is taken goes on changing with sizes: that keeps no check running */
    if (feedback->news & ~(unsigned)CUPEL_NEWS_COUNT)
        atomic_store_explicit(&w->shared->feature_at, cupel_worker_now(), memory_order_relaxed);
}

/* The case at work brought something new. */
static bool hand_on(worker *w, unsigned news) {
    cupel_writer out = {.bytes = w->record, .capacity = sizeof w->record};
    cupel_protocol_put_recipe(&out, news, w->shared->recipe, w->shared->recipe_size);
    enter(w, CUPEL_PHASE_IDLE);
    return cupel_protocol_send(CUPEL_WORKER_SOCKET, CUPEL_MESSAGE_INTERESTING, w->record, out.used);
}

static void tell_unsupported(worker *w, const char *text) {
    snprintf(w->shared->unsupported, sizeof w->shared->unsupported, "%s", text);
}

/* False when the supervisor wants no more. */
static bool finish_case(worker *w) {
    enter(w, CUPEL_PHASE_IDLE);
    return !atomic_load_explicit(&w->shared->stop, memory_order_relaxed);
}

static bool try_one(void *self, uint64_t n, const cupel_recipe *recipe, cupel_feedback *feedback) {
    worker *w = self;
    const cupel_executor_backend *backend = cupel_executor_backend_of(w->executor);
    cupel_runner runner = {w,
                           backend->checks_addresses,
                           backend->sees_atomics,
                           backend->permutes_schedules,
                           backend->varies_schedules,
                           run_case,
                           w->open.memory_limit,
                           w->open.whole_grids ? NULL : &w->sampling};
    announce(w, n, recipe);
    cupel_arena_reset(w->arena);
    cupel_code code = cupel_trial_run(w->contract, recipe, &runner, CUPEL_FILTER, w->arena,
                                      &w->shared->scoreboard, &w->trial, &w->err);
    if (code == CUPEL_UNSUPPORTED || code == CUPEL_UNABLE) { /* this case only; the others go on */
        w->shared->scoreboard.unsupported++;
        tell_unsupported(w, w->err.text);
        return finish_case(w);
    }
    w->search_code = code;
    if (code != CUPEL_OK) return false;
    if (w->trial.unsupported) tell_unsupported(w, w->trial.text);
    learn(w, feedback);
    bool listening = !feedback->news || hand_on(w, feedback->news);
    listening = listening && (!w->trial.judged.finding_count || report(w, n));
    if (cupel_executor_spent(w->executor)) {
        atomic_store(&w->shared->spent, 1);
        _exit(0);
    }
    return finish_case(w) && listening;
}

static void mine(worker *w) {
    const char *defines[CUPEL_PROTOCOL_TEXTS_MAX], *includes[CUPEL_PROTOCOL_TEXTS_MAX];
    cupel_executor_options options = executor_options(w, defines, includes);
    cupel_source_numbers(w->contract, &options, &w->dictionary);
}

static bool serve_search(worker *w, const cupel_header *header) {
    cupel_search_command command;
    cupel_reader r = {.bytes = w->command, .size = (size_t)header->length};
    if (!cupel_protocol_get_search(&r, &command)) return false;
    if (w->starts.count != (command.first < command.start_count ? command.start_count : 0)) return false;
    const cupel_engine *engine = cupel_engine_find(command.engine);
    if (!engine) {
        cupel_fail(&w->err, CUPEL_USAGE, "there is no engine '%s'", command.engine);
        return send_error(w);
    }
    mine(w);
    cupel_search search = {.contract = w->contract,
                           .limits = {command.max_elements, &w->dictionary},
                           .seed = command.seed,
                           .first = command.first,
                           .count = command.count,
                           .start_count = command.start_count,
                           .starts = w->starts.items,
                           .corpus_count = w->corpus.count,
                           .corpus = w->corpus.items,
                           .self = w,
                           .try_one = try_one};
    w->search_code = CUPEL_OK;
    cupel_code code = engine->run(&search, &w->err);
    w->starts.count = w->corpus.count = 0;
    if (code != CUPEL_OK || w->search_code != CUPEL_OK) return send_error(w);
    return cupel_protocol_send(CUPEL_WORKER_SOCKET, CUPEL_MESSAGE_DONE, NULL, 0);
}

/* ---- the loop ---- */

static bool serve(worker *w, const cupel_header *header) {
    switch (header->type) {
    case CUPEL_MESSAGE_RUN: return serve_run(w, header);
    case CUPEL_MESSAGE_START: return keep_recipe(w, header, &w->starts);
    case CUPEL_MESSAGE_CORPUS: return keep_recipe(w, header, &w->corpus);
    case CUPEL_MESSAGE_SEARCH: return serve_search(w, header);
    default: return false;
    }
}

static cupel_worker_shared *map_board(void) {
    void *memory =
        mmap(NULL, sizeof(cupel_worker_shared), PROT_READ | PROT_WRITE, MAP_SHARED, CUPEL_WORKER_BOARD, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool start(worker *w, cupel_header *header) {
    char isolation[512] = "";
    w->shared = map_board();
    w->contract_arena = cupel_arena_create(0);
    w->arena = cupel_arena_create(0);
    if (!w->shared || !w->contract_arena || !w->arena ||
        !cupel_protocol_receive(CUPEL_WORKER_SOCKET, header, w->command))
        return false;
    w->features = (cupel_features){w->shared->features, w->shared->edges, w->shared->closeness};
    enter(w, CUPEL_PHASE_PREPARING);
    if (open_worker(w, header, isolation, sizeof isolation) != CUPEL_OK) {
        send_error(w);
        return false;
    }
    enter(w, CUPEL_PHASE_IDLE);
    return cupel_protocol_send(CUPEL_WORKER_SOCKET, CUPEL_MESSAGE_READY, isolation, sizeof isolation);
}

/* Ends without running exit handlers: the candidate may have left some. */
int cupel_worker_main(int argc, char **argv) {
    alarm(0);
    if (argc != 3 || strcmp(argv[1], "--worker") || atoi(argv[2]) != CUPEL_WORKER_SOCKET) return 2;
    worker *w = calloc(1, sizeof *w);
    cupel_header header;
    if (!w || !start(w, &header)) _exit(1);
    while (cupel_protocol_receive(CUPEL_WORKER_SOCKET, &header, w->command) && serve(w, &header)) {
    }
    _exit(0);
}
