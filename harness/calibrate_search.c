/* The search with one shadow: as a check goes about it, in this process, since no foreign code runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate_impl.h"
#include "starts.h"

enum { SIGNATURES_MAX = 8, MINIMISE_TRIES = 400 };
static const double untimed = 1e9;

typedef struct run {
    const cupel_contract *contract;
    const cupel_calibrate_options *options;
    const cupel_calibrate_shadow *shadow;
    cupel_calibrate_row *row;
    cupel_executor *executor, *right; /* right: the same shadow without its fault */
    cupel_stand_in without;           /* the fault */
    cupel_runner runner;
    cupel_arena *arena;
    bool shown; /* the fault changed an element that was judged */
    cupel_scoreboard board;
    cupel_trial trial; /* large: not on the stack */
    int signature_count;
    char signatures[SIGNATURES_MAX][160];
    int findings[CUPEL_GATE_COUNT]; /* at proof standing */
    cupel_code code;
    cupel_error *err;
} run;

static cupel_code run_shadow(void *self, const cupel_case *c, const cupel_run_request *request,
                             cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    const run *r = self;
    return cupel_executor_run(r->executor, c, request, arena, out, err);
}

static cupel_code try_recipe(void *self, const cupel_recipe *recipe, cupel_arena *arena, cupel_trial *out,
                             cupel_error *err) {
    const run *r = self;
    return cupel_trial_run(r->contract, recipe, &r->runner, CUPEL_CERTIFY, arena, NULL, out, err);
}

/* One finding a signature, as in a check. */
static bool is_new(run *r, const char *signature) {
    for (int i = 0; i < r->signature_count; i++)
        if (strcmp(r->signatures[i], signature) == 0) return false;
    if (r->signature_count == SIGNATURES_MAX) return false;
    snprintf(r->signatures[r->signature_count++], sizeof r->signatures[0], "%s", signature);
    return true;
}

static bool is_own(const run *r, cupel_gate gate) {
    return r->shadow->own >> gate & 1;
}

/* Has the row its answer? */
static bool is_decided(const run *r) {
    return r->shadow->good ? r->row->rejected != 0 : (r->row->rejected & r->shadow->own) != 0;
}

/* The gate of a confirmed finding, by what its minimal case needs. */
static void settle(run *r, const cupel_recipe *found, const char *signature) {
    const cupel_predicate predicate = {.self = r, .try_one = try_recipe};
    const cupel_minimise_options budget = {.max_tries = MINIMISE_TRIES, .seconds = untimed};
    cupel_recipe recipe = *found;
    cupel_finding finding;
    cupel_minimise_report report = {0};
    if (cupel_minimise(r->contract, signature, &predicate, &budget, &recipe, &finding, &report, NULL) !=
        CUPEL_OK)
        return;
    const bool better = is_own(r, finding.gate) || r->row->rejected == 0;
    r->row->rejected |= 1u << finding.gate;
    r->findings[finding.gate]++;
    if (!better) return;
    snprintf(r->row->signature, sizeof r->row->signature, "%s", signature);
    cupel_recipe_describe(r->contract, &recipe, r->row->described, sizeof r->row->described);
}

/* Suspicions of the filter, asked again with the exact oracle. */
static cupel_code confirm(run *r, const cupel_recipe *recipe) {
    struct {
        int count;
        cupel_standing standing[CUPEL_CASE_FINDINGS_MAX];
        char signature[CUPEL_CASE_FINDINGS_MAX][160];
    } all = {0};
    cupel_arena_reset(r->arena);
    CUPEL_TRY(try_recipe(r, recipe, r->arena, &r->trial, r->err));
    for (int i = 0; i < r->trial.judged.finding_count; i++) {
        const cupel_finding *finding = &r->trial.judged.findings[i];
        all.standing[all.count] = finding->standing;
        cupel_finding_signature(finding, all.signature[all.count++], sizeof all.signature[0]);
    }
    for (int i = 0; i < all.count && !is_decided(r); i++) {
        if (!is_new(r, all.signature[i])) continue;
        if (all.standing[i] == CUPEL_STANDING_PROOF)
            settle(r, recipe, all.signature[i]);
        else
            r->row->evidence = true;
    }
    return CUPEL_OK;
}

static bool has_news(run *r) {
    for (int i = 0; i < r->trial.judged.finding_count; i++) {
        char signature[160];
        bool known = r->signature_count == SIGNATURES_MAX;
        cupel_finding_signature(&r->trial.judged.findings[i], signature, sizeof signature);
        for (int k = 0; k < r->signature_count; k++)
            known = known || strcmp(r->signatures[k], signature) == 0;
        if (!known) return true;
    }
    return false;
}

/* ---- does the fault show? ---- */

static bool differs(const run *r, int output, const unsigned char *right, const unsigned char *got) {
    const cupel_allowed *allowed = &r->trial.allowed[output];
    const size_t size = cupel_format_of(allowed->type)->size;
    for (int64_t i = 0; i < allowed->count; i++)
        if (allowed->reasons[i] == CUPEL_REASON_JUDGED &&
            !cupel_elements_equal(allowed->type, right + (size_t)i * size, got + (size_t)i * size))
            return true;
    return false;
}

/* An output's elements after a run, in the run's arena. */
static unsigned char *elements(const run *r, int output, const cupel_observation *seen) {
    const cupel_case *c = r->trial.c;
    const int tensor = cupel_contract_tensor(r->contract, r->trial.graph->outputs[output].name);
    const cupel_case_tensor *t = &c->tensors[tensor];
    if (seen->outcome != CUPEL_RUN_FINISHED) return NULL;
    unsigned char *bytes = cupel_arena_raw(r->arena, (size_t)t->count + 1, cupel_format_of(t->type)->size);
    if (bytes) cupel_case_gather(c, tensor, seen->buffers[t->buffer].bytes, bytes);
    return bytes;
}

/* Compares the trial at hand, which no gate objects to, with what the shadow without its fault returns. */
static cupel_code look_for_fault(run *r) {
    const cupel_run_request request = {.poison = CUPEL_POISON_NAN};
    if (r->shadow->good || r->shown || !r->trial.allowed) return CUPEL_OK;
    cupel_observation *seen = cupel_arena_alloc(r->arena, sizeof *seen);
    if (!seen) return cupel_fail(r->err, CUPEL_MEMORY, "no memory for a calibration");
    CUPEL_TRY(cupel_executor_run(r->right, r->trial.c, &request, r->arena, seen, r->err));
    for (int o = 0; o < r->trial.graph->output_count; o++) {
        const unsigned char *right = elements(r, o, seen);
        for (int k = 0; right && k < r->trial.run_count && !r->shown; k++) {
            const unsigned char *got = elements(r, o, r->trial.runs[k].observation);
            r->shown = got && differs(r, o, right, got);
        }
    }
    return CUPEL_OK;
}

/* ---- the search ---- */

static bool try_one(void *self, uint64_t n, const cupel_recipe *recipe, cupel_feedback *feedback) {
    run *r = self;
    (void)n, (void)feedback;
    if (r->options->stop && *r->options->stop) r->code = cupel_fail(r->err, CUPEL_UNABLE, "interrupted");
    if (r->code != CUPEL_OK) return false;
    cupel_arena_reset(r->arena);
    cupel_code code = cupel_trial_run(r->contract, recipe, &r->runner, CUPEL_FILTER, r->arena, &r->board,
                                      &r->trial, r->err);
    if (code == CUPEL_UNSUPPORTED) return true; /* the case is too large, and counted */
    if (code == CUPEL_OK && r->trial.judged.finding_count == 0) code = look_for_fault(r);
    if (code == CUPEL_OK && has_news(r)) code = confirm(r, recipe);
    r->code = code;
    return code == CUPEL_OK && !is_decided(r);
}

static bool judged_anything(const run *r) {
    return r->board.gates[CUPEL_GATE_PRC_01].judged > 0;
}

static cupel_calibration outcome_of(const run *r) {
    const unsigned rejected = r->row->rejected;
    if (r->shadow->good && rejected) return CUPEL_CALIBRATION_ACCUSED;
    if (rejected) return rejected & r->shadow->own ? CUPEL_CALIBRATION_SOUND : CUPEL_CALIBRATION_ELSEWHERE;
    if (!judged_anything(r)) return CUPEL_CALIBRATION_UNJUDGED;
    if (r->row->evidence && !r->shadow->good) return CUPEL_CALIBRATION_EVIDENCE;
    if (r->shadow->good) return CUPEL_CALIBRATION_SOUND;
    return r->shown ? CUPEL_CALIBRATION_PASSES : CUPEL_CALIBRATION_UNSEEN;
}

static void fill_row(const run *r) {
    cupel_calibrate_row *row = r->row;
    row->cases = r->board.cases;
    for (int g = 0; g < CUPEL_GATE_COUNT; g++)
        row->gates[g] = cupel_gate_status_of(r->contract, &r->board, (cupel_gate)g, r->findings[g], NULL);
    /* no launch was made: what the gate counted says nothing */
    row->gates[CUPEL_GATE_RES_02] = CUPEL_STATUS_NOT_AVAILABLE;
    row->outcome = outcome_of(r);
}

static cupel_code search_with(run *r, const cupel_search *cases) {
    cupel_search search = *cases;
    search.contract = r->contract;
    search.self = r;
    search.try_one = try_one;
    CUPEL_TRY(cupel_engine_find("draw")->run(&search, r->err));
    CUPEL_TRY(r->code);
    fill_row(r);
    return CUPEL_OK;
}

static cupel_code open_shadows(run *r) {
    const cupel_contract *contract = r->contract;
    cupel_stand_in right = r->shadow->stand_in;
    right.plan.fault = CUPEL_SHADOW_NO_FAULT;
    right.misdeed = CUPEL_MISDEED_NO_MISDEED;
    r->without = right;
    const cupel_executor_options options = {.stand_in = &r->shadow->stand_in},
                                 others = {.stand_in = &r->without};
    r->arena = cupel_arena_create(0);
    if (!r->arena) return cupel_fail(r->err, CUPEL_MEMORY, "no memory for a calibration");
    CUPEL_TRY(cupel_executor_open(cupel_executor_shadow(), contract, &options, &r->executor, r->err));
    return cupel_executor_open(cupel_executor_shadow(), contract, &others, &r->right, r->err);
}

cupel_code cupel_calibrate_try(const cupel_contract *contract, const cupel_search *cases,
                               const cupel_calibrate_options *options, const cupel_calibrate_shadow *shadow,
                               cupel_calibrate_row *row, cupel_error *err) {
    run *r = calloc(1, sizeof *r);
    *row = (cupel_calibrate_row){
        .name = shadow->name, .sentence = shadow->sentence, .good = shadow->good, .own = shadow->own};
    if (!r) return cupel_fail(err, CUPEL_MEMORY, "no memory for a calibration");
    *r = (run){.contract = contract, .options = options, .shadow = shadow, .row = row, .err = err};
    r->runner =
        (cupel_runner){.self = r, .sees_atomics = true, .permutes_schedules = true, .run = run_shadow};
    cupel_code code = open_shadows(r);
    if (code == CUPEL_OK) code = search_with(r, cases);
    cupel_executor_close(r->executor);
    cupel_executor_close(r->right);
    cupel_arena_free(r->arena);
    free(r);
    return code;
}

/* ---- the cases ---- */

cupel_code cupel_calibrate_cases(const cupel_contract *contract, const cupel_calibrate_options *options,
                                 cupel_arena *arena, cupel_search *out, cupel_error *err) {
    int count = 0;
    cupel_recipe *starts = NULL;
    const cupel_limits limits = {.max_elements = options->max_elements};
    CUPEL_TRY(cupel_starts_for(contract, &limits, arena, &count, &starts, err));
    cupel_encoded *encoded = cupel_arena_alloc(arena, (size_t)(count + 1) * sizeof *encoded);
    if (!encoded) return cupel_fail(err, CUPEL_MEMORY, "no memory for the starts of the search");
    for (int i = 0; i < count; i++) {
        uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
        const size_t size = cupel_recipe_encode(contract, &starts[i], bytes, sizeof bytes);
        uint8_t *mine = cupel_arena_raw(arena, size + 1, 1);
        if (!mine) return cupel_fail(err, CUPEL_MEMORY, "no memory for the starts of the search");
        memcpy(mine, bytes, size);
        encoded[i] = (cupel_encoded){.bytes = mine, .size = size};
    }
    *out = (cupel_search){.contract = contract,
                          .limits = limits,
                          .seed = options->seed,
                          .count = options->cases ? options->cases : CUPEL_CALIBRATE_CASES,
                          .start_count = (uint64_t)count,
                          .starts = encoded};
    return CUPEL_OK;
}
