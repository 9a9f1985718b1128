#include "sanitizer_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "case_size.h"
#include "races.h"
#include "shrink.h"
#include "supervisor_impl.h"

/* A queue longer than this is a campaign's, and the rest of it is left. */
enum { QUEUE_MAX = 65536, DEATHS_MAX = 8, NICE = 10, POLL_MILLISECONDS = 20 };

typedef enum side_state { NO_WORKER, OPENING, READY, RUNNING } side_state;

struct cupel_side {
    const cupel_contract *contract;
    cupel_supervisor *supervisor;
    cupel_arena *arena; /* of the case at work */
    int most, taken;
    side_state state;
    size_t head, count, capacity; /* of the queue: the first head are done */
    cupel_recipe *queue;
    cupel_recipe recipe; /* at work */
    cupel_case *c;
    int run; /* how manieth of it */
    uint64_t schedule;
    int deaths;
    cupel_side_counts counts;
    int result_count;
    cupel_side_result results[CUPEL_SIDE_RESULTS_MAX];
    cupel_judged judged;
    cupel_error trouble;
    bool broken;
};

cupel_code cupel_side_open(const cupel_contract *contract, const cupel_supervisor_options *options, int most,
                           cupel_side **out, cupel_error *err) {
    const cupel_supervisor_options strict = cupel_sanitized_options(options);
    cupel_side *side = calloc(1, sizeof *side);
    if (!side) return cupel_fail(err, CUPEL_MEMORY, "no memory for the sanitizer");
    side->contract = contract;
    side->most = most;
    side->arena = cupel_arena_create(0);
    cupel_code code = side->arena ? CUPEL_OK : cupel_fail(err, CUPEL_MEMORY, "no memory for the sanitizer");
    if (code == CUPEL_OK) code = cupel_supervisor_create(contract, &strict, &side->supervisor, err);
    if (code != CUPEL_OK) {
        cupel_side_close(side);
        return code;
    }
    *out = side;
    return CUPEL_OK;
}

void cupel_side_close(cupel_side *side) {
    if (!side) return;
    cupel_supervisor_close(side->supervisor);
    cupel_arena_free(side->arena);
    free(side->queue);
    free(side);
}

void cupel_side_add(cupel_side *side, const cupel_recipe *recipe) {
    if (side->broken || (side->most && side->taken >= side->most) || side->count == QUEUE_MAX) return;
    if (side->count == side->capacity) {
        size_t capacity = side->capacity ? 2 * side->capacity : 64;
        cupel_recipe *grown = reallocarray(side->queue, capacity, sizeof *grown);
        if (!grown) return;
        side->queue = grown;
        side->capacity = capacity;
    }
    side->queue[side->count++] = *recipe;
    side->taken++;
}

/* ---- what it showed ---- */

static bool is_known(const cupel_side *side, const cupel_finding *finding) {
    char signature[160], other[160];
    cupel_finding_signature(finding, signature, sizeof signature);
    for (int i = 0; i < side->result_count; i++) {
        cupel_finding_signature(&side->results[i].finding, other, sizeof other);
        if (!strcmp(signature, other)) return true;
    }
    return false;
}

static void take_observation(cupel_side *side, const cupel_observation *seen) {
    side->counts.runs += seen->sanitized;
    memset(&side->judged, 0, sizeof side->judged);
    cupel_gate_sanitized(side->c, seen, side->schedule, &side->judged);
    for (int f = 0; f < side->judged.finding_count; f++) {
        const cupel_finding *finding = &side->judged.findings[f];
        if (side->result_count == CUPEL_SIDE_RESULTS_MAX || is_known(side, finding)) continue;
        side->results[side->result_count++] = (cupel_side_result){side->recipe, *finding};
    }
}

/* ---- the worker ---- */

static void give_up(cupel_side *side, const cupel_error *why) {
    cupel_supervisor_dismiss(&side->supervisor->lone);
    side->state = NO_WORKER;
    side->trouble = *why;
    side->broken = true;
}

/* It died, or answered out of turn: the case at work is skipped. */
static void lose_worker(cupel_side *side) {
    cupel_error why = {.code = CUPEL_WORKER};
    if (side->state == RUNNING) side->counts.skipped++;
    cupel_supervisor_dismiss(&side->supervisor->lone);
    side->state = NO_WORKER;
    if (++side->deaths < DEATHS_MAX) return;
    snprintf(why.text, sizeof why.text, "the sanitizer's worker broke down %d times", side->deaths);
    give_up(side, &why);
}

static void start_worker(cupel_side *side) {
    cupel_error why = {0};
    cupel_desk *desk = &side->supervisor->lone;
    if (desk->worker && !desk->tainted) { /* of a single run */
        side->state = READY;
        return;
    }
    cupel_supervisor_dismiss(desk);
    if (cupel_worker_spawn(&desk->board, &side->supervisor->limits, &desk->worker, &why) != CUPEL_OK ||
        cupel_supervisor_send_open(side->supervisor, desk, &why) != CUPEL_OK) {
        give_up(side, &why);
        return;
    }
    (void)setpriority(PRIO_PROCESS, (id_t)cupel_worker_pid(desk->worker), NICE);
    side->state = OPENING;
}

/* The next run of the case at work; false: it has had them all. */
static bool next_run(cupel_side *side) {
    cupel_run_request request;
    cupel_error why = {0};
    if (!cupel_sanitized_request(&side->recipe, side->run, &request)) return false;
    side->run++;
    side->schedule = request.schedule;
    side->state = RUNNING;
    if (cupel_supervisor_send_run(side->supervisor, side->c, &request, &why) != CUPEL_OK) lose_worker(side);
    return true;
}

/* The next recipe of the queue that makes a case of a size that is taken. */
static void next_case(cupel_side *side) {
    cupel_binding binding;
    while (side->head < side->count && side->state == READY) {
        side->recipe = side->queue[side->head++];
        side->run = 0;
        cupel_arena_reset(side->arena);
        const bool fits =
            cupel_recipe_binding(side->contract, &side->recipe, &binding, NULL) == CUPEL_OK &&
            cupel_case_size_tensors(&binding) <= CUPEL_SANITIZED_BYTES_MAX &&
            cupel_case_materialise(side->contract, &side->recipe, side->arena, &side->c, NULL) == CUPEL_OK;
        if (fits)
            next_run(side);
        else
            side->counts.skipped++;
    }
}

static void take_answer(cupel_side *side, const cupel_header *header, const uint8_t *payload) {
    cupel_reader r = {.bytes = payload, .size = (size_t)header->length};
    cupel_observation *seen = cupel_arena_alloc(side->arena, sizeof *seen);
    if (seen && header->type == CUPEL_MESSAGE_OBSERVED &&
        cupel_protocol_get_observation(&r, side->c, side->arena, seen)) {
        take_observation(side, seen);
        if (next_run(side)) return;
        side->counts.inputs++;
    } else if (header->type == CUPEL_MESSAGE_FAILED) {
        side->counts.skipped++;
    } else {
        lose_worker(side);
        return;
    }
    side->state = READY;
}

/* One message, waited for so long at most; false: there was none. */
static bool listen(cupel_side *side, int milliseconds) {
    cupel_header header;
    const uint8_t *payload;
    cupel_error why = {0};
    cupel_desk *desk = &side->supervisor->lone;
    cupel_worker_event event = cupel_worker_wait(desk->worker, milliseconds, &header, &payload);
    if (event == CUPEL_WORKER_QUIET) return false;
    if (side->state == OPENING) {
        if (cupel_supervisor_take_ready(side->supervisor, desk, event, &header, payload, &why) == CUPEL_OK)
            side->state = READY;
        else
            give_up(side, &why);
    } else if (event == CUPEL_WORKER_MESSAGE) {
        take_answer(side, &header, payload);
    } else {
        lose_worker(side);
    }
    return true;
}

/* False: there is nothing to do, or nothing to do yet. */
static bool step(cupel_side *side, int milliseconds) {
    if (side->broken) return false;
    if (side->state == NO_WORKER && side->head < side->count) start_worker(side);
    if (side->state == READY) next_case(side);
    return (side->state == OPENING || side->state == RUNNING) && listen(side, milliseconds);
}

void cupel_side_poll(cupel_side *side) {
    while (step(side, 0)) {
    }
}

static bool is_busy(const cupel_side *side) {
    return !side->broken && (side->head < side->count || side->state == RUNNING);
}

void cupel_side_finish(cupel_side *side, double seconds, const volatile sig_atomic_t *stop) {
    const double start = cupel_shrink_now();
    while (is_busy(side) && cupel_shrink_now() - start < seconds && !(stop && *stop))
        step(side, POLL_MILLISECONDS);
    side->counts.left += (int64_t)(side->count - side->head);
    side->counts.left += side->state == RUNNING;
    side->head = side->count;
    if (side->state == OPENING || side->state == RUNNING) {
        cupel_supervisor_dismiss(&side->supervisor->lone);
        side->state = NO_WORKER;
    }
}

const cupel_side_result *cupel_side_results(const cupel_side *side, int *count) {
    *count = side->result_count;
    return side->results;
}

cupel_side_counts cupel_side_counted(const cupel_side *side) {
    return side->counts;
}

const char *cupel_side_trouble(const cupel_side *side) {
    return side->broken ? side->trouble.text : NULL;
}

cupel_supervisor *cupel_side_supervisor(cupel_side *side) {
    return side->supervisor;
}
