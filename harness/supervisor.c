#include "supervisor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor_impl.h"

static const double default_seconds = 10, default_host_seconds = 0.25, default_gpu_seconds = 2,
                    prepare_seconds = 180;
enum { STOP_WATCH_MILLISECONDS = 100 };

static const uint64_t default_memory = (uint64_t)2 << 30, default_host_memory = (uint64_t)512 << 20,
                      default_gpu_memory = (uint64_t)16 << 30;

/* ---- opening ---- */

static cupel_code make_folders(const char *path, cupel_error *err) {
    char part[1024];
    snprintf(part, sizeof part, "%s", path);
    for (char *c = part + 1; *c; c++) {
        if (*c != '/') continue;
        *c = 0;
        (void)mkdir(part, 0700);
        *c = '/';
    }
    (void)mkdir(part, 0700);
    if (access(part, W_OK)) return cupel_fail(err, CUPEL_IO, "the folder %s cannot be written", part);
    return CUPEL_OK;
}

/* The folder of compiled candidates: asked for, or the user's cache, or one under /tmp that is his alone. */
static cupel_code choose_cache(const char *asked, char *path, size_t size, cupel_error *err) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char chosen[1024];
    if (asked && asked[0])
        snprintf(chosen, sizeof chosen, "%s", asked);
    else if (cache && cache[0] == '/')
        snprintf(chosen, sizeof chosen, "%s/cupel", cache);
    else if (home && home[0] == '/')
        snprintf(chosen, sizeof chosen, "%s/.cache/cupel", home);
    else
        snprintf(chosen, sizeof chosen, "/tmp/cupel-%u", (unsigned)getuid());
    CUPEL_TRY(make_folders(chosen, err));
    char *real = realpath(chosen, NULL);
    if (!real || strlen(real) >= size) {
        free(real);
        return cupel_fail(err, CUPEL_IO, "the folder %s cannot be used", chosen);
    }
    memcpy(path, real, strlen(real) + 1);
    free(real);
    return CUPEL_OK;
}

static cupel_code copy_texts(const char *const *from, int count, char *to, size_t width, const char *what,
                             cupel_error *err) {
    if (count > CUPEL_PROTOCOL_TEXTS_MAX)
        return cupel_fail(err, CUPEL_USAGE, "at most %d %s are possible", CUPEL_PROTOCOL_TEXTS_MAX, what);
    for (int i = 0; i < count; i++) {
        if (strlen(from[i]) >= width)
            return cupel_fail(err, CUPEL_USAGE, "'%s' is too long for %s", from[i], what);
        snprintf(to + (size_t)i * width, width, "%s", from[i]);
    }
    return CUPEL_OK;
}

static cupel_code describe_candidate(cupel_supervisor *s, const cupel_supervisor_options *options,
                                     cupel_error *err) {
    cupel_open_command *open = &s->open;
    char *path = realpath(options->contract_path, NULL);
    if (!path || strlen(path) >= sizeof open->contract_path) {
        free(path);
        return cupel_fail(err, CUPEL_IO, "the contract %s cannot be read", options->contract_path);
    }
    memcpy(open->contract_path, path, strlen(path) + 1);
    free(path);
    snprintf(open->contract_id, sizeof open->contract_id, "%s", s->contract->id);
    snprintf(open->executor, sizeof open->executor, "%s", s->backend->name);
    CUPEL_TRY(choose_cache(options->exec.cache, open->cache, sizeof open->cache, err));
    open->seconds_limit = s->limits.seconds;
    open->memory_limit = s->limits.memory;
    open->step_limit = options->exec.step_limit;
    open->sanitize = options->exec.sanitize;
    open->whole_grids = options->exec.whole_grids;
    open->define_count = options->exec.define_count;
    open->include_count = options->exec.include_count;
    CUPEL_TRY(copy_texts(options->exec.defines, open->define_count, open->defines[0], sizeof open->defines[0],
                         "definitions", err));
    return copy_texts(options->exec.includes, open->include_count, open->includes[0],
                      sizeof open->includes[0], "include folders", err);
}

static void set_limits(cupel_supervisor *s, const cupel_supervisor_options *options) {
    bool emulated =
        s->backend
            ->permutes_schedules; /* then the executor stops a hang itself, and needs memory of its own */
    double seconds = emulated ? default_seconds : default_host_seconds;
    uint64_t memory = emulated ? default_memory : default_host_memory;
    if (s->backend->hangs) { /* of a GPU: the driver maps much, and a launch of a case takes milliseconds */
        seconds = default_gpu_seconds;
        memory = default_gpu_memory;
    }
    s->limits.memory = options->memory_limit ? options->memory_limit : memory;
    s->limits.seconds = options->seconds_limit > 0 ? options->seconds_limit : seconds;
    s->limits.prepare_seconds = prepare_seconds;
}

cupel_code cupel_supervisor_create(const cupel_contract *contract, const cupel_supervisor_options *options,
                                   cupel_supervisor **out, cupel_error *err) {
    const cupel_executor_backend *backend =
        options->executor ? cupel_executor_find(options->executor) : cupel_executor_default(contract);
    if (!backend)
        return cupel_fail(err, CUPEL_USAGE, "there is no executor '%s'",
                          options->executor ? options->executor : "");
    cupel_supervisor *s = calloc(1, sizeof *s);
    if (!s) return cupel_fail(err, CUPEL_MEMORY, "no memory for the supervisor");
    s->contract = contract;
    s->backend = backend;
    s->stop = options->stop;
    s->deadline = options->deadline;
    s->lone.board.fd = s->search.board.fd = -1;
    set_limits(s, options);
    cupel_code code = describe_candidate(s, options, err);
    if (code == CUPEL_OK) code = cupel_worker_board_create(&s->lone.board, err);
    if (code == CUPEL_OK) code = cupel_worker_board_create(&s->search.board, err);
    if (code != CUPEL_OK) {
        cupel_supervisor_close(s);
        return code;
    }
    *out = s;
    return CUPEL_OK;
}

cupel_code cupel_supervisor_open(const cupel_contract *contract, const cupel_supervisor_options *options,
                                 cupel_supervisor **out, cupel_error *err) {
    cupel_supervisor *s;
    CUPEL_TRY(cupel_supervisor_create(contract, options, &s, err));
    cupel_code code = cupel_supervisor_ready(s, &s->lone, err);
    if (code != CUPEL_OK) {
        cupel_supervisor_close(s);
        return code;
    }
    *out = s;
    return CUPEL_OK;
}

void cupel_supervisor_close(cupel_supervisor *s) {
    if (!s) return;
    cupel_worker_free(s->lone.worker);
    cupel_worker_free(s->search.worker);
    cupel_worker_board_free(&s->lone.board);
    cupel_worker_board_free(&s->search.board);
    free(s);
}

uint64_t cupel_supervisor_memory(const cupel_supervisor *s) {
    return s->limits.memory;
}

const char *cupel_supervisor_isolation(const cupel_supervisor *s) {
    return s->isolation;
}

/* ---- workers ---- */

cupel_worker_event cupel_supervisor_wait(cupel_supervisor *s, cupel_desk *desk, int milliseconds,
                                         cupel_header *header, const uint8_t **payload) {
    enum { SLICE = 50 };
    for (int waited = 0;; waited += SLICE) {
        int left = milliseconds - waited;
        cupel_worker_watch(s->lone.worker);
        cupel_worker_watch(s->search.worker);
        cupel_worker_event event =
            cupel_worker_wait(desk->worker, left < SLICE ? left : SLICE, header, payload);
        if (event != CUPEL_WORKER_QUIET || left <= SLICE) return event;
    }
}

cupel_code cupel_supervisor_failed(const cupel_header *header, const uint8_t *payload, cupel_error *err) {
    cupel_reader r = {.bytes = payload, .size = (size_t)header->length};
    cupel_error told;
    if (header->type != CUPEL_MESSAGE_FAILED || !cupel_protocol_get_error(&r, &told))
        return cupel_fail(err, CUPEL_WORKER, "the worker answered out of turn");
    if (err) *err = told;
    return told.code;
}

/* Why a worker could not be opened: its own message, or how it died. */
static cupel_code opening_failed(const cupel_supervisor *s, const cupel_desk *desk, cupel_error *err) {
    cupel_observation seen;
    cupel_worker_death(desk->worker, &seen);
    if (cupel_worker_overran(desk->worker))
        return cupel_fail(err, CUPEL_WORKER, "compiling and loading the candidate took more than %g seconds",
                          s->limits.prepare_seconds);
    return cupel_fail(err, CUPEL_WORKER, "the candidate cannot be loaded: %s", seen.text);
}

static bool out_of_time(cupel_supervisor *s) {
    const uint64_t now = cupel_worker_now();
    if (s->stop && *s->stop && s->stop_seen == 0) s->stop_seen = now;
    return (s->deadline > 0 && (double)now * 1e-9 > s->deadline) ||
           (s->stop_seen != 0 && (double)(now - s->stop_seen) * 1e-9 > CUPEL_STOP_PATIENCE);
}

/* The compiler may be at work for minutes; the worker, which is dismissed then, takes it along. */
static bool interrupted(const cupel_supervisor *s, const cupel_desk *desk) {
    return s->stop && *s->stop && atomic_load(&desk->board.shared->phase) == CUPEL_PHASE_PREPARING;
}

static cupel_code fail_interrupted(cupel_error *err) {
    return cupel_fail(err, CUPEL_UNABLE, "interrupted while the candidate was compiled");
}

static cupel_code fail_out_of_time(const cupel_supervisor *s, cupel_error *err) {
    return cupel_fail(err, CUPEL_UNABLE,
                      s->stop_seen != 0 ? "interrupted while the candidate was at work"
                                        : "the time was used up while the candidate was at work");
}

cupel_code cupel_supervisor_send_open(cupel_supervisor *s, cupel_desk *desk, cupel_error *err) {
    uint8_t *bytes = malloc(CUPEL_PROTOCOL_COMMAND_MAX);
    if (!bytes) return cupel_fail(err, CUPEL_MEMORY, "no memory for a command");
    cupel_writer w = {.bytes = bytes, .capacity = CUPEL_PROTOCOL_COMMAND_MAX};
    cupel_protocol_put_open(&w, &s->open);
    (void)cupel_worker_send(desk->worker, CUPEL_MESSAGE_OPEN, bytes, w.used); /* a death shows below */
    free(bytes);
    return CUPEL_OK;
}

cupel_code cupel_supervisor_take_ready(cupel_supervisor *s, cupel_desk *desk, cupel_worker_event event,
                                       const cupel_header *header, const uint8_t *payload, cupel_error *err) {
    if (event == CUPEL_WORKER_DEATH) return opening_failed(s, desk, err);
    if (header->type != CUPEL_MESSAGE_READY || header->length != sizeof s->isolation)
        return cupel_supervisor_failed(header, payload, err);
    memcpy(s->isolation, payload, sizeof s->isolation);
    s->isolation[sizeof s->isolation - 1] = 0;
    return CUPEL_OK;
}

static cupel_code greet(cupel_supervisor *s, cupel_desk *desk, cupel_error *err) {
    cupel_header header;
    const uint8_t *payload;
    cupel_worker_event event;
    CUPEL_TRY(cupel_supervisor_send_open(s, desk, err));
    do event = cupel_supervisor_wait(s, desk, STOP_WATCH_MILLISECONDS, &header, &payload);
    while (event == CUPEL_WORKER_QUIET && !interrupted(s, desk));
    if (event == CUPEL_WORKER_QUIET) return fail_interrupted(err);
    return cupel_supervisor_take_ready(s, desk, event, &header, payload, err);
}

void cupel_supervisor_dismiss(cupel_desk *desk) {
    cupel_worker_free(desk->worker);
    desk->worker = NULL;
    desk->tainted = false;
}

bool cupel_supervisor_overfilled_itself(const cupel_supervisor *s, const cupel_desk *desk, char *text,
                                        size_t size) {
    if (s->contract->host || !cupel_worker_overfilled(desk->worker) ||
        cupel_worker_last_phase(desk->worker) == CUPEL_PHASE_RUNNING)
        return false;
    snprintf(text, size, "judging the case takes more than the %llu MiB of memory of a run",
             (unsigned long long)(s->limits.memory >> 20));
    return true;
}

cupel_code cupel_supervisor_ready(cupel_supervisor *s, cupel_desk *desk, cupel_error *err) {
    if (desk->worker && !desk->tainted) return CUPEL_OK;
    cupel_supervisor_dismiss(desk);
    CUPEL_TRY(cupel_worker_spawn(&desk->board, &s->limits, &desk->worker, err));
    cupel_code code = greet(s, desk, err);
    if (code != CUPEL_OK) cupel_supervisor_dismiss(desk);
    return code;
}

/* ---- one recipe ---- */

typedef struct lone_run {
    cupel_supervisor *supervisor;
    bool fresh; /* the next run gets a new worker */
    bool apart; /* each run gets a new worker: what earlier calls leave behind is what is asked */
    bool proof; /* the trial is to stand by itself */
} lone_run;

cupel_code cupel_supervisor_send_run(cupel_supervisor *s, const cupel_case *c,
                                     const cupel_run_request *request, cupel_error *err) {
    cupel_run_command command = {
        .schedule = request->schedule, .poison = request->poison, .history = request->history};
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX + 64];
    cupel_writer w = {.bytes = bytes, .capacity = sizeof bytes};
    command.recipe_size =
        (uint32_t)cupel_recipe_encode(s->contract, c->recipe, command.recipe, sizeof command.recipe);
    if (!command.recipe_size) return cupel_fail(err, CUPEL_RANGE, "the recipe is too large for a worker");
    cupel_protocol_put_run(&w, &command);
    atomic_store(&s->lone.board.shared->phase, CUPEL_PHASE_PREPARING);
    atomic_store(&s->lone.board.shared->started, cupel_worker_now());
    (void)cupel_worker_send(s->lone.worker, CUPEL_MESSAGE_RUN, bytes,
                            w.used); /* a death shows when we wait */
    return CUPEL_OK;
}

/* Faults after which the process may be damaged although it lives. Emulated code cannot reach the harness's
 * memory unseen. */
static bool taints(const cupel_supervisor *s, const cupel_observation *seen) {
    if (seen->outcome != CUPEL_RUN_FAULT) return false;
    return !s->backend->checks_addresses || seen->fault == CUPEL_FAULT_HEAP;
}

typedef enum answer { ANSWERED, FAILED, DIED } answer;

static answer await_run(cupel_supervisor *s, const cupel_case *c, cupel_arena *arena, cupel_observation *out,
                        cupel_code *code, cupel_error *err) {
    cupel_header header;
    const uint8_t *payload;
    cupel_worker_event event;
    do event = cupel_supervisor_wait(s, &s->lone, STOP_WATCH_MILLISECONDS, &header, &payload);
    while (event == CUPEL_WORKER_QUIET && !interrupted(s, &s->lone) && !out_of_time(s));
    if (event == CUPEL_WORKER_QUIET) {
        *code = out_of_time(s) ? fail_out_of_time(s, err) : fail_interrupted(err);
        return FAILED;
    }
    if (event == CUPEL_WORKER_DEATH) return DIED;
    if (header.type == CUPEL_MESSAGE_OBSERVED) {
        cupel_reader r = {.bytes = payload, .size = (size_t)header.length};
        if (cupel_protocol_get_observation(&r, c, arena, out)) return ANSWERED;
        memset(out, 0, sizeof *out);
        out->outcome = CUPEL_RUN_FAULT;
        out->fault = CUPEL_FAULT_HEAP;
        snprintf(out->text, sizeof out->text, "the candidate damaged the memory of the process that ran it");
        return ANSWERED;
    }
    *code = cupel_supervisor_failed(&header, payload, err);
    return FAILED;
}

/* One attempt in one worker, which may take this many times the limit. *again: the death proves nothing yet.
 */
static cupel_code attempt(lone_run *run, double factor, const cupel_case *c, const cupel_run_request *request,
                          cupel_arena *arena, cupel_observation *out, bool *again, cupel_error *err) {
    cupel_supervisor *s = run->supervisor;
    cupel_desk *desk = &s->lone;
    *again = false;
    if (out_of_time(s)) return fail_out_of_time(s, err);
    desk->tainted = desk->tainted || run->fresh || run->apart;
    CUPEL_TRY(cupel_supervisor_ready(s, desk, err));
    run->fresh = false;
    int calls = 1 + (request->history ? cupel_recipe_calls(c->recipe) : 0);
    cupel_worker_set_seconds(desk->worker, s->limits.seconds * factor * calls);
    CUPEL_TRY(cupel_supervisor_send_run(s, c, request, err));
    cupel_code code = CUPEL_OK;
    answer answer = await_run(s, c, arena, out, &code, err);
    if (answer == ANSWERED) desk->tainted = taints(s, out);
    if (answer == FAILED) desk->tainted = true;
    if (answer != DIED) return code;
    cupel_worker_death(desk->worker, out);
    char text[160];
    const bool overfilled = cupel_supervisor_overfilled_itself(s, desk, text, sizeof text);
    bool loading =
        cupel_worker_overran(desk->worker) && cupel_worker_last_phase(desk->worker) == CUPEL_PHASE_PREPARING;
    *again = cupel_worker_overran(desk->worker) || cupel_worker_killed_by_stranger(desk->worker);
    const bool hung = s->backend->hangs && cupel_worker_overran(desk->worker);
    const bool ours = s->backend->contains_faults && !hung && (!*again || factor > 1);
    cupel_supervisor_dismiss(desk);
    if (loading)
        return cupel_fail(err, CUPEL_WORKER, "compiling and loading the candidate took more than %g seconds",
                          s->limits.prepare_seconds);
    if (overfilled) return cupel_fail(err, CUPEL_UNSUPPORTED, "%s", text);
    if (ours)
        return cupel_fail(err, CUPEL_WORKER,
                          "the executor '%s' broke down over a case, which says nothing of the kernel: %s",
                          s->backend->name, out->text);
    return CUPEL_OK;
}

/* A hang is believed only when, alone in a new worker with ten times the limit, the run still does not end; a
 * kill by a stranger only when it happens twice. Once a hang is proven, tries that are no proof themselves
 * (the minimiser's) go without the patience. */
static cupel_code run_lone(void *self, const cupel_case *c, const cupel_run_request *request,
                           cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    enum { PATIENCE = 10 };
    lone_run *run = self;
    cupel_supervisor *s = run->supervisor;
    bool again;
    CUPEL_TRY(attempt(run, 1, c, request, arena, out, &again, err));
    if (!again || (out->fault == CUPEL_FAULT_HANG && s->hang_proven && !run->proof)) return CUPEL_OK;
    CUPEL_TRY(attempt(run, PATIENCE, c, request, arena, out, &again, err));
    s->hang_proven = s->hang_proven || (out->outcome == CUPEL_RUN_FAULT && out->fault == CUPEL_FAULT_HANG);
    return CUPEL_OK;
}

cupel_code cupel_supervisor_try(cupel_supervisor *s, const cupel_recipe *recipe, bool fresh,
                                cupel_arena *arena, cupel_trial *out, cupel_error *err) {
    lone_run run = {.supervisor = s,
                    .fresh = fresh,
                    .apart = recipe->history != CUPEL_HISTORY_NONE && !s->backend->forgets,
                    .proof = fresh};
    cupel_runner runner = {.self = &run,
                           .checks_addresses = s->backend->checks_addresses,
                           .sees_atomics = s->backend->sees_atomics,
                           .permutes_schedules = s->backend->permutes_schedules,
                           .varies_schedules = s->backend->varies_schedules,
                           .run = run_lone,
                           .memory = s->limits.memory};
    return cupel_trial_run(s->contract, recipe, &runner, CUPEL_CERTIFY, arena, NULL, out, err);
}

cupel_code cupel_supervisor_run(cupel_supervisor *s, const cupel_case *c, const cupel_run_request *request,
                                cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    lone_run run = {.supervisor = s};
    return run_lone(&run, c, request, arena, out, err);
}
