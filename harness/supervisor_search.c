/* Searches: a worker runs the engine; the supervisor hands out what it suspects, shows its progress, and
 * replaces it when it dies. */
#include <stdlib.h>
#include <string.h>

#include "supervisor_impl.h"
#include "worker_features.h"

enum {
    SAME_SUSPECTS_MAX = 16,
    SIGNATURES_MAX = 256,
    CORPUS_MAX = 1024, /* interesting recipes that a new worker gets: the last ones */
    PROGRESS_MILLISECONDS = 100,
    STOP_MILLISECONDS = 5000,
    STILLBORN_MAX = 3
};

typedef struct held_recipe {
    uint8_t *bytes;
    uint32_t size, news;
} held_recipe;

typedef struct search {
    cupel_supervisor *s;
    cupel_desk *desk;
    const cupel_search_options *options;
    const cupel_search_callbacks *callbacks;
    cupel_scoreboard *scoreboard;
    uint64_t begun, shown; /* nanoseconds */
    int restarts;
    bool finished, stopped;
    held_recipe *starts;
    uint64_t start_count;
    uint64_t interesting;
    held_recipe corpus[CORPUS_MAX]; /* the i-th at i % CORPUS_MAX */
    cupel_suspect suspect;
    cupel_recipe_message message;
    cupel_judged judged;
    int signature_count;
    struct {
        char text[160];
        int count;
    } signatures[SIGNATURES_MAX];
} search;

static double seconds_since(uint64_t then) {
    uint64_t now = cupel_worker_now();
    return now > then ? (double)(now - then) * 1e-9 : 0;
}

/* Counts one more suspect of this signature; false when there were enough. */
static bool count_signature(search *h, const cupel_finding *finding) {
    char text[160];
    cupel_finding_signature(finding, text, sizeof text);
    for (int i = 0; i < h->signature_count; i++)
        if (!strcmp(h->signatures[i].text, text)) return h->signatures[i].count++ < SAME_SUSPECTS_MAX;
    if (h->signature_count == SIGNATURES_MAX) return false;
    memcpy(h->signatures[h->signature_count].text, text, sizeof text);
    h->signatures[h->signature_count++].count = 1;
    return true;
}

static void hand_out(search *h, const uint8_t *bytes, uint32_t size) {
    cupel_recipe recipe;
    bool wanted = false;
    for (int i = 0; i < h->judged.finding_count; i++)
        wanted = count_signature(h, &h->judged.findings[i]) || wanted;
    if (!wanted || !cupel_recipe_decode(h->s->contract, bytes, size, &recipe)) return;
    /* What the worker drew is legal and stays as it is; what a damaged worker wrote is made so. */
    if (cupel_recipe_repair(h->s->contract, &recipe, h->options->limits.max_elements, NULL) != CUPEL_OK)
        return;
    if (!h->callbacks->suspect(h->callbacks->self, &recipe, &h->judged)) h->stopped = true;
}

static void hand_out_message(search *h, const cupel_header *header, const uint8_t *payload) {
    cupel_reader r = {.bytes = payload, .size = (size_t)header->length};
    if (!cupel_protocol_get_suspect(&r, &h->suspect)) return;
    memset(&h->judged, 0, sizeof h->judged);
    h->judged.n = h->suspect.n;
    h->judged.finding_count = h->suspect.finding_count;
    memcpy(h->judged.findings, h->suspect.findings, sizeof h->judged.findings);
    hand_out(h, h->suspect.recipe, h->suspect.recipe_size);
}

static bool hold(held_recipe *held, const uint8_t *bytes, uint32_t size, uint32_t news) {
    uint8_t *copy = malloc((size_t)size + 1);
    if (!copy) return false;
    memcpy(copy, bytes, size);
    free(held->bytes);
    *held = (held_recipe){copy, size, news};
    return true;
}

/* As with suspects, what a damaged worker wrote is made legal. */
static void hand_out_interesting(search *h, const cupel_header *header, const uint8_t *payload) {
    cupel_reader r = {.bytes = payload, .size = (size_t)header->length};
    cupel_recipe recipe;
    if (!cupel_protocol_get_recipe(&r, &h->message) ||
        !cupel_recipe_decode(h->s->contract, h->message.bytes, h->message.size, &recipe) ||
        cupel_recipe_repair(h->s->contract, &recipe, h->options->limits.max_elements, NULL) != CUPEL_OK)
        return;
    uint32_t size =
        (uint32_t)cupel_recipe_encode(h->s->contract, &recipe, h->message.bytes, sizeof h->message.bytes);
    if (!size || !hold(&h->corpus[h->interesting % CORPUS_MAX], h->message.bytes, size, h->message.news))
        return;
    h->interesting++;
    if (h->callbacks->interesting) h->callbacks->interesting(h->callbacks->self, &recipe);
}

/* The worker died over a case: its recipe becomes a suspect, its death the suspicion. */
static void hand_out_death(search *h) {
    cupel_worker_shared *shared = h->desk->board.shared;
    uint32_t size = shared->recipe_size;
    if (!size || size > sizeof h->suspect.recipe) return;
    memcpy(h->suspect.recipe, shared->recipe, size);
    cupel_recipe recipe;
    cupel_observation seen;
    cupel_worker_death(h->desk->worker, &seen);
    memset(&h->judged, 0, sizeof h->judged);
    h->judged.n = atomic_load(&shared->n);
    cupel_finding *finding = &h->judged.findings[h->judged.finding_count++];
    finding->kind = CUPEL_FINDING_FAULT;
    finding->standing = CUPEL_STANDING_PROOF;
    finding->output = -1;
    finding->index = -1;
    finding->fault = seen.fault;
    finding->signal = seen.signal;
    memcpy(finding->text, seen.text, sizeof finding->text);
    if (cupel_recipe_decode(h->s->contract, h->suspect.recipe, size, &recipe))
        finding->gate = cupel_gate_of_finding(finding, cupel_recipe_traits(h->s->contract, &recipe));
    if (finding->gate < CUPEL_GATE_COUNT) shared->scoreboard.gates[finding->gate].failures++;
    hand_out(h, h->suspect.recipe, size);
}

static double worst_ratio(const cupel_scoreboard *scoreboard) {
    double worst = 0;
    for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++)
        if (scoreboard->gates[gate].worst_ratio > worst) worst = scoreboard->gates[gate].worst_ratio;
    return worst;
}

static void show_progress(search *h) {
    cupel_worker_shared *shared = h->desk->board.shared;
    h->shown = cupel_worker_now();
    *h->scoreboard = shared->scoreboard;
    char unsupported[sizeof shared->unsupported];
    memcpy(unsupported, shared->unsupported, sizeof unsupported);
    unsupported[sizeof unsupported - 1] = 0;
    cupel_features features = {shared->features, shared->edges, shared->closeness};
    cupel_progress progress = {.scoreboard = h->scoreboard,
                               .cases = (uint64_t)h->scoreboard->cases,
                               .seconds = seconds_since(h->begun),
                               .worst_ratio = worst_ratio(h->scoreboard),
                               .restarts = h->restarts,
                               .unsupported = unsupported,
                               .seconds_since_feature = seconds_since(atomic_load(&shared->feature_at)),
                               .features = cupel_features_count(&features),
                               .edges = cupel_features_edges(&features),
                               .edge_count = (int64_t)(atomic_load(&shared->edge_count) & INT64_MAX),
                               .corpus = (int64_t)h->interesting};
    if (h->callbacks->progress && !h->callbacks->progress(h->callbacks->self, &progress)) h->stopped = true;
    if (h->options->seconds > 0 && progress.seconds >= h->options->seconds) h->stopped = true;
}

static bool send_recipe(search *h, cupel_message_type type, const held_recipe *held) {
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX + 16];
    cupel_writer w = {.bytes = bytes, .capacity = sizeof bytes};
    cupel_protocol_put_recipe(&w, held->news, held->bytes, held->size);
    return cupel_worker_send(h->desk->worker, type, bytes, w.used);
}

/* What a new worker needs to go on: the starts that are not behind it, and what was interesting so far. A
 * death on the way shows when we wait. */
static void send_recipes(search *h, uint64_t first) {
    bool alive = true;
    if (first < h->start_count)
        for (uint64_t i = 0; i < h->start_count && alive; i++)
            alive = send_recipe(h, CUPEL_MESSAGE_START, &h->starts[i]);
    uint64_t oldest = h->interesting > CORPUS_MAX ? h->interesting - CORPUS_MAX : 0;
    for (uint64_t i = oldest; i < h->interesting && alive; i++)
        alive = send_recipe(h, CUPEL_MESSAGE_CORPUS, &h->corpus[i % CORPUS_MAX]);
}

static const char *engine_of(const cupel_search_options *options) {
    return options->engine ? options->engine : cupel_engine_default();
}

static void send_search(search *h, uint64_t first) {
    cupel_search_command command = {.seed = h->options->seed,
                                    .first = first,
                                    .count = h->options->cases ? h->options->cases - first : 0,
                                    .max_elements = h->options->limits.max_elements,
                                    .start_count = h->start_count};
    strncpy(command.engine, engine_of(h->options), sizeof command.engine - 1);
    uint8_t bytes[256];
    cupel_writer w = {.bytes = bytes, .capacity = sizeof bytes};
    cupel_protocol_put_search(&w, &command);
    atomic_store(&h->desk->board.shared->phase, CUPEL_PHASE_IDLE);
    (void)cupel_worker_send(h->desk->worker, CUPEL_MESSAGE_SEARCH, bytes, w.used);
}

static cupel_code take_message(search *h, const cupel_header *header, const uint8_t *payload,
                               cupel_error *err) {
    switch (header->type) {
    case CUPEL_MESSAGE_SUSPECT: hand_out_message(h, header, payload); return CUPEL_OK;
    case CUPEL_MESSAGE_INTERESTING: hand_out_interesting(h, header, payload); return CUPEL_OK;
    case CUPEL_MESSAGE_DONE: h->finished = true; return CUPEL_OK;
    default: return cupel_supervisor_failed(header, payload, err);
    }
}

/* Did the worker die over a case of its own? One that gave up a spent device has told of it already. */
static void tell_death(search *h) {
    cupel_worker_shared *shared = h->desk->board.shared;
    if (cupel_supervisor_overfilled_itself(h->s, h->desk, shared->unsupported, sizeof shared->unsupported)) {
        shared->scoreboard.unsupported++;
        return;
    }
    bool told = h->s->backend->spent && atomic_load(&shared->spent);
    if (!told) hand_out_death(h);
}

/* The search goes on behind the case over which the worker died: the n-th draw depends on n alone, so nothing
 * else changes. */
static cupel_code bury(search *h, uint64_t *first, int *stillborn, cupel_error *err) {
    cupel_worker_shared *shared = h->desk->board.shared;
    uint64_t n = atomic_load(&shared->n);
    bool overran_loading = cupel_worker_overran(h->desk->worker) &&
                           cupel_worker_last_phase(h->desk->worker) == CUPEL_PHASE_PREPARING;
    bool worked = n != UINT64_MAX && n >= *first;
    if (overran_loading)
        return cupel_fail(err, CUPEL_WORKER, "compiling the candidate took more than %g seconds",
                          h->s->limits.prepare_seconds);
    if (worked) {
        *stillborn = 0;
        tell_death(h);
        *first = n + 1;
    } else if (++*stillborn == STILLBORN_MAX)
        return cupel_fail(err, CUPEL_WORKER, "workers die before their first case");
    cupel_supervisor_dismiss(h->desk);
    h->restarts++;
    h->finished = h->options->cases && *first >= h->options->cases;
    return CUPEL_OK;
}

/* A case that may hang is waited for until that is a suspicion; somebody who has asked for the end waits
 * less. */
static bool is_worth_waiting(const search *h, double seconds) {
    const bool asked = h->s->stop && *h->s->stop,
               running = atomic_load(&h->desk->board.shared->phase) == CUPEL_PHASE_RUNNING;
    return seconds * 1000 < STOP_MILLISECONDS || (!asked && running && seconds < h->s->limits.seconds + 1);
}

/* Asks the worker to stop after its case; what is on the way is handed out still, its death over a case too:
 * a suspicion that came at the end is one all the same. */
static void stop_worker(search *h, uint64_t first) {
    if (!h->desk->worker || h->finished) return;
    atomic_store(&h->desk->board.shared->stop, 1);
    cupel_header header;
    const uint8_t *payload;
    uint64_t since = cupel_worker_now();
    while (is_worth_waiting(h, seconds_since(since))) {
        cupel_worker_event event = cupel_supervisor_wait(h->s, h->desk, 100, &header, &payload);
        if (event == CUPEL_WORKER_DEATH) {
            uint64_t n = atomic_load(&h->desk->board.shared->n);
            if (n != UINT64_MAX && n >= first) tell_death(h);
            return;
        }
        if (event != CUPEL_WORKER_MESSAGE) continue;
        if (header.type == CUPEL_MESSAGE_INTERESTING)
            hand_out_interesting(h, &header, payload);
        else if (header.type != CUPEL_MESSAGE_SUSPECT)
            return;
        else {
            hand_out_message(h, &header, payload);
            since = cupel_worker_now(); /* what was made of it took its own time */
        }
    }
}

static cupel_code serve(search *h, uint64_t *first, int *stillborn, cupel_error *err) {
    cupel_header header;
    const uint8_t *payload;
    cupel_worker_event event =
        cupel_supervisor_wait(h->s, h->desk, PROGRESS_MILLISECONDS / 2, &header, &payload);
    if (event == CUPEL_WORKER_MESSAGE) CUPEL_TRY(take_message(h, &header, payload, err));
    if (event == CUPEL_WORKER_DEATH) CUPEL_TRY(bury(h, first, stillborn, err));
    if (seconds_since(h->shown) * 1000 >= PROGRESS_MILLISECONDS) show_progress(h);
    return CUPEL_OK;
}

static cupel_code run_search(search *h, cupel_error *err) {
    uint64_t first = 0;
    int stillborn = 0;
    while (!h->finished && !h->stopped) {
        if (!h->desk->worker) {
            CUPEL_TRY(cupel_supervisor_ready(h->s, h->desk, err));
            atomic_store(&h->desk->board.shared->n, UINT64_MAX);
            send_recipes(h, first);
            send_search(h, first);
        }
        CUPEL_TRY(serve(h, &first, &stillborn, err));
    }
    if (!h->finished) stop_worker(h, first);
    return CUPEL_OK;
}

/* The starts as they will be tried: legal; those that cannot be made so are left out. */
static cupel_code take_starts(search *h, cupel_error *err) {
    const cupel_search_options *options = h->options;
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    h->starts = calloc(options->start_count + 1, sizeof *h->starts);
    if (!h->starts) return cupel_fail(err, CUPEL_MEMORY, "no memory for the starting recipes");
    for (size_t i = 0; i < options->start_count; i++) {
        cupel_recipe recipe = options->starts[i];
        if (cupel_recipe_repair(h->s->contract, &recipe, options->limits.max_elements, NULL) != CUPEL_OK)
            continue;
        uint32_t size = (uint32_t)cupel_recipe_encode(h->s->contract, &recipe, bytes, sizeof bytes);
        if (!size) continue;
        if (!hold(&h->starts[h->start_count], bytes, size, 0))
            return cupel_fail(err, CUPEL_MEMORY, "no memory for the starting recipes");
        h->start_count++;
    }
    return CUPEL_OK;
}

static void free_search(search *h) {
    for (uint64_t i = 0; h->starts && i < h->start_count; i++) free(h->starts[i].bytes);
    free(h->starts);
    for (int i = 0; i < CORPUS_MAX; i++) free(h->corpus[i].bytes);
    free(h);
}

cupel_code cupel_supervisor_search(cupel_supervisor *s, const cupel_search_options *options,
                                   const cupel_search_callbacks *callbacks, cupel_scoreboard *scoreboard,
                                   cupel_error *err) {
    const char *engine = engine_of(options), *missing = cupel_engine_missing(engine);
    if (missing) return cupel_fail(err, CUPEL_USAGE, "%s", missing);
    if (!cupel_engine_find(engine)) return cupel_fail(err, CUPEL_USAGE, "there is no engine '%s'", engine);
    search *h = calloc(1, sizeof *h);
    if (!h) return cupel_fail(err, CUPEL_MEMORY, "no memory for a search");
    h->s = s;
    h->desk = &s->search;
    h->options = options;
    h->callbacks = callbacks;
    h->scoreboard = scoreboard;
    cupel_supervisor_dismiss(h->desk);
    memset((void *)h->desk->board.shared, 0, sizeof *h->desk->board.shared);
    h->begun = cupel_worker_now();
    atomic_store(&h->desk->board.shared->feature_at, h->begun);
    cupel_code code = take_starts(h, err);
    if (code == CUPEL_OK) code = run_search(h, err);
    show_progress(h);
    cupel_supervisor_dismiss(h->desk);
    free_search(h);
    return code;
}
