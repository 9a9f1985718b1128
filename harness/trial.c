#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy.h"
#include "case_size.h"
#include "discern.h"
#include "tolerance.h"

typedef struct trial {
    const cupel_contract *contract;
    const cupel_runner *runner;
    cupel_arena *arena;
    cupel_scoreboard *scoreboard;
    cupel_trial *out;
    cupel_bindings bindings;
    cupel_rules rules;
    cupel_exact_session *session; /* opened when first needed */
    uint64_t sample;              /* of the runs to come; 0: all blocks */
    cupel_error *err;
} trial;

static cupel_code no_memory(cupel_error *err) {
    return cupel_fail(err, CUPEL_MEMORY, "no memory for a trial");
}

/* ---- runs ---- */

/* One more run of the case. What the executor does not support ends the trial without a judgement. */
static cupel_code run_once(trial *t, uint64_t schedule, bool history, cupel_poison poison) {
    cupel_trial *out = t->out;
    const cupel_run_request request = {
        .schedule = schedule, .poison = poison, .history = history, .sample = t->sample};
    if (out->unsupported) return CUPEL_OK;
    cupel_observation *seen = cupel_arena_alloc(t->arena, sizeof *seen);
    if (!seen) return no_memory(t->err);
    CUPEL_TRY(t->runner->run(t->runner->self, out->c, &request, t->arena, seen, t->err));
    if (seen->outcome == CUPEL_RUN_NOT_STARTED) return cupel_fail(t->err, CUPEL_WORKER, "%s", seen->text);
    out->runs[out->run_count++] = (cupel_run){schedule, poison, seen, history};
    if (seen->outcome == CUPEL_RUN_UNSUPPORTED) {
        out->unsupported = true;
        const char *slash = strrchr(seen->place.file, '/'), *file = slash ? slash + 1 : seen->place.file;
        if (seen->place.line > 0)
            snprintf(out->text, sizeof out->text, "%s:%d: %s", file, seen->place.line, seen->text);
        else
            snprintf(out->text, sizeof out->text, "%s", seen->text);
    }
    return CUPEL_OK;
}

static bool finished(const cupel_trial *out, int r) {
    cupel_outcome outcome = out->runs[r].observation->outcome;
    return outcome == CUPEL_RUN_FINISHED || outcome == CUPEL_RUN_SKIPPED;
}

static uint64_t second_schedule(const trial *t) {
    return t->runner->permutes_schedules || t->runner->varies_schedules ? t->out->c->recipe->schedule : 0;
}

static bool has_history(const trial *t) {
    return t->out->c->recipe->history != CUPEL_HISTORY_NONE;
}

/* A/1 and B/2; the second only after the first has finished: a fault or refusal needs no second opinion. */
static cupel_code run_twice(trial *t) {
    CUPEL_TRY(run_once(t, 0, false, CUPEL_POISON_NAN));
    if (!finished(t->out, 0)) return CUPEL_OK;
    if (!t->out->runs[0].observation->blocks_left_out) t->sample = 0;
    return run_once(t, second_schedule(t), has_history(t), CUPEL_POISON_FINITE);
}

/* A/2 and B/1, to tell which of the differences made the bytes differ; with an earlier call, the schedule and
 * that call alone as well, or, where runs do not repeat, A/1 again. */
static cupel_code run_crossed(trial *t) {
    CUPEL_TRY(run_once(t, 0, false, CUPEL_POISON_FINITE));
    CUPEL_TRY(run_once(t, second_schedule(t), has_history(t), CUPEL_POISON_NAN));
    if (!has_history(t)) return CUPEL_OK;
    if (!t->runner->permutes_schedules) CUPEL_TRY(run_once(t, 0, false, CUPEL_POISON_NAN));
    if (second_schedule(t) == 0) return CUPEL_OK;
    CUPEL_TRY(run_once(t, second_schedule(t), false, CUPEL_POISON_FINITE));
    return run_once(t, 0, true, CUPEL_POISON_FINITE);
}

/* The same inputs under the first variant: what across_variants compares with. An executor that cannot run it
 * says nothing. */
static cupel_code run_first_variant(trial *t) {
    cupel_trial *out = t->out;
    const cupel_contract *c = t->contract;
    const cupel_run_request request = {.poison = CUPEL_POISON_NAN};
    if (c->deterministic != CUPEL_DETERMINISTIC_ACROSS_VARIANTS ||
        cupel_binding_is_first_variant(&out->c->binding))
        return CUPEL_OK;
    cupel_recipe *recipe = cupel_arena_raw(t->arena, 1, sizeof *recipe);
    if (!recipe) return no_memory(t->err);
    *recipe = *out->c->recipe;
    cupel_variants_first(c, recipe->dims);
    cupel_binding binding;
    if (cupel_recipe_binding(c, recipe, &binding, NULL) != CUPEL_OK || !cupel_binding_legal(&binding))
        return CUPEL_OK; /* requires leaves this variant out here */
    cupel_observation *seen = cupel_arena_alloc(t->arena, sizeof *seen);
    if (!seen) return no_memory(t->err);
    CUPEL_TRY(cupel_case_materialise(c, recipe, t->arena, &out->first_variant_case, t->err));
    CUPEL_TRY(t->runner->run(t->runner->self, out->first_variant_case, &request, t->arena, seen, t->err));
    if (seen->outcome == CUPEL_RUN_NOT_STARTED) return cupel_fail(t->err, CUPEL_WORKER, "%s", seen->text);
    out->first_variant = seen;
    return CUPEL_OK;
}

/* ---- the oracle ---- */

bool cupel_trial_bind(const cupel_case *c, cupel_arena *arena, cupel_bindings *out) {
    const void **data = cupel_arena_alloc(arena, (CUPEL_TENSOR_MAX + 1) * sizeof *data);
    if (!data) return false;
    int count = 0;
    for (int i = 0; i < c->tensor_count; i++)
        if (c->contract->tensors[i].roles & CUPEL_ROLE_INPUT) data[count++] = c->tensors[i].values;
    *out = (cupel_bindings){count, data};
    return true;
}

unsigned char *cupel_trial_result(const cupel_trial *trial, int output, cupel_arena *arena) {
    const int tensor = cupel_contract_tensor(trial->c->contract, trial->graph->outputs[output].name);
    const cupel_observation *run = trial->run_count > 0 ? trial->runs[0].observation : NULL;
    if (tensor < 0 || !run) return NULL;
    const cupel_case_tensor *t = &trial->c->tensors[tensor];
    if (t->buffer >= run->buffer_count || !run->buffers[t->buffer].bytes) return NULL;
    unsigned char *bytes = cupel_arena_raw(arena, (size_t)t->count + 1, cupel_format_of(t->type)->size);
    if (bytes) cupel_case_gather(trial->c, tensor, run->buffers[t->buffer].bytes, bytes);
    return bytes;
}

static cupel_code bind_inputs(trial *t) {
    return cupel_trial_bind(t->out->c, t->arena, &t->bindings) ? CUPEL_OK : no_memory(t->err);
}

static cupel_code exact_session(trial *t) {
    if (t->session) return CUPEL_OK;
    return cupel_exact_open(t->out->graph, &t->bindings, &t->rules, &t->session, t->err);
}

/* fp64 with a bound cannot judge what is itself computed in fp64 or rounded to it: such outputs are wholly
 * exact. */
static bool needs_exact(const trial *t, int output) {
    return t->rules.working == CUPEL_F64 || t->out->graph->outputs[output].type == CUPEL_F64;
}

/* Elements of an output that are beyond fp64's integers and evaluated exactly: seconds at most. */
enum { COMPLETED_MAX = 16384 };

/* Elements of an output that is evaluated in MPFR throughout: at 1 to 100 us each, seconds at most. Which
 * ones follows from the recipe alone, so that a case is judged alike whenever it is run. */
enum { SAMPLE_MAX = 65536 };

static cupel_code ask_oracle(trial *t) {
    const cupel_graph *graph = t->out->graph;
    int exact = 0;
    for (int o = 0; o < graph->output_count; o++) exact += needs_exact(t, o);
    cupel_allowed *allowed = cupel_arena_alloc(t->arena, (size_t)(graph->output_count + 1) * sizeof *allowed);
    if (!allowed) return no_memory(t->err);
    if (exact < graph->output_count)
        CUPEL_TRY(cupel_oracle_bounded(graph, &t->bindings, &t->rules, t->arena, allowed, t->err));
    if (exact) CUPEL_TRY(exact_session(t));
    for (int o = 0; o < graph->output_count; o++)
        if (needs_exact(t, o))
            CUPEL_TRY(cupel_exact_sample(t->session, o, SAMPLE_MAX, t->out->c->recipe->poison, t->arena,
                                         &allowed[o], t->err));
    for (int o = 0; o < graph->output_count; o++) {
        if (needs_exact(t, o) || allowed[o].by_reason[CUPEL_REASON_UNABLE] == 0) continue;
        CUPEL_TRY(exact_session(t));
        CUPEL_TRY(cupel_exact_complete(t->session, o, COMPLETED_MAX, &allowed[o], t->err));
    }
    for (int o = 0; o < graph->output_count; o++) cupel_tolerance_apply(t->contract, &allowed[o]);
    t->out->allowed = allowed;
    return CUPEL_OK;
}

/* ---- certification ---- */

/* The exact element as an allowed set of one element, so that one rule judges both oracles' answers. */
static cupel_judgement judge_exactly(const cupel_graph_output *output, cupel_exact_element *exact,
                                     const cupel_suspect_element *element, double *ratio) {
    cupel_allowed one = {.name = output->name,
                         .type = output->type,
                         .count = 1,
                         .value = &exact->value,
                         .lo = &exact->lo,
                         .hi = &exact->hi,
                         .least = cupel_dtype_is_wide(output->type) ? &exact->least : NULL,
                         .most = cupel_dtype_is_wide(output->type) ? &exact->most : NULL,
                         .radius = &exact->radius,
                         .classes = &exact->classes,
                         .reasons = &exact->reason};
    unsigned char bytes[8];
    memcpy(bytes, &element->bits, sizeof bytes);
    if (exact->reason != CUPEL_REASON_JUDGED) return CUPEL_NOT_JUDGED;
    *ratio = cupel_judge_ratio(&one, 0, bytes);
    return cupel_judge_element(&one, 0, bytes);
}

static double steps_outside(cupel_dtype type, double got, const cupel_exact_element *exact) {
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL || !isfinite(got) || !isfinite(exact->lo) ||
        !isfinite(exact->hi) || !(exact->lo <= exact->hi))
        return NAN;
    if (got > exact->hi) return cupel_steps_between(type, exact->hi, got);
    return got < exact->lo ? cupel_steps_between(type, got, exact->lo) : 0;
}

static void adopt(cupel_finding *finding, const cupel_suspect_element *element,
                  const cupel_exact_element *exact, double ratio) {
    unsigned char bytes[8];
    memcpy(bytes, &element->bits, sizeof bytes);
    finding->index = element->index;
    finding->got_bits = element->bits;
    finding->got = cupel_decode(finding->type, bytes);
    finding->ratio = ratio;
    finding->steps = steps_outside(finding->type, finding->got, exact);
    finding->exact = *exact;
    finding->certified = true;
}

/* Is an element that is allowed farther from the exact value than good kernels come? *ratio: how many times.
 */
static bool is_inaccurate(const trial *t, const cupel_finding *finding, const cupel_suspect_element *element,
                          const cupel_exact_element *exact, double *ratio) {
    unsigned char bytes[8];
    const double *good = t->out->good_radii ? t->out->good_radii[finding->output] : NULL;
    if (!good || exact->reason != CUPEL_REASON_JUDGED) return false;
    memcpy(bytes, &element->bits, sizeof bytes);
    *ratio = fabs(cupel_decode(finding->type, bytes) - exact->value) / good[element->index];
    return *ratio > 1;
}

static cupel_code exact_element(trial *t, int output, int64_t index, cupel_exact_element *out) {
    CUPEL_TRY(cupel_exact_element_of(t->session, output, index, out, t->err));
    cupel_tolerance_apply_exact(t->contract, &t->out->graph->outputs[output], out);
    return CUPEL_OK;
}

/* The first of the finding's worst elements that the exact oracle finds wrong too. */
static cupel_code certify_value(trial *t, int f, bool *confirmed) {
    cupel_judged *judged = &t->out->judged;
    cupel_finding *finding = &judged->findings[f];
    *confirmed = false;
    for (int i = 0; i < judged->element_counts[f] && !*confirmed; i++) {
        const cupel_suspect_element *element = &judged->elements[f][i];
        cupel_exact_element exact = {0};
        double ratio = NAN;
        CUPEL_TRY(exact_element(t, finding->output, element->index, &exact));
        const bool wrong = judge_exactly(&t->out->graph->outputs[finding->output], &exact, element, &ratio) >
                           CUPEL_NOT_JUDGED;
        if (finding->kind == CUPEL_FINDING_INACCURATE
                ? wrong || !is_inaccurate(t, finding, element, &exact, &ratio)
                : !wrong)
            continue;
        adopt(finding, element, &exact, ratio);
        *confirmed = true;
    }
    return CUPEL_OK;
}

/* Other findings need no confirmation; the exact value at their element is for the reader. */
static cupel_code add_exact(trial *t, cupel_finding *finding) {
    if (finding->output < 0 || finding->index < 0) return CUPEL_OK;
    CUPEL_TRY(exact_element(t, finding->output, finding->index, &finding->exact));
    finding->certified = true;
    return CUPEL_OK;
}

static void drop(cupel_judged *judged, int f) {
    int behind = judged->finding_count - f - 1;
    memmove(&judged->findings[f], &judged->findings[f + 1], (size_t)behind * sizeof *judged->findings);
    memmove(&judged->elements[f], &judged->elements[f + 1], (size_t)behind * sizeof *judged->elements);
    memmove(&judged->element_counts[f], &judged->element_counts[f + 1],
            (size_t)behind * sizeof *judged->element_counts);
    judged->finding_count--;
}

static cupel_code certify(trial *t) {
    cupel_judged *judged = &t->out->judged;
    bool any = false;
    for (int f = 0; f < judged->finding_count; f++) any = any || judged->findings[f].output >= 0;
    if (!any || !t->out->allowed) return CUPEL_OK;
    CUPEL_TRY(exact_session(t));
    for (int f = 0; f < judged->finding_count;) {
        bool confirmed = true;
        if (cupel_finding_is_about_values(judged->findings[f].kind) || judged->element_counts[f] > 0)
            CUPEL_TRY(certify_value(t, f, &confirmed));
        else
            CUPEL_TRY(add_exact(t, &judged->findings[f]));
        if (confirmed) {
            f++;
        } else {
            drop(judged, f);
            t->out->unconfirmed++;
        }
    }
    return CUPEL_OK;
}

/* ---- the whole ---- */

static void judge(trial *t) {
    const cupel_trial *out = t->out;
    cupel_evidence evidence = {.c = out->c,
                               .traits = cupel_recipe_traits(t->contract, out->c->recipe),
                               .graph = out->graph,
                               .allowed = out->allowed,
                               .good_radii = out->good_radii,
                               .discerned = out->discerned,
                               .run_count = out->run_count,
                               .first_variant_case = out->first_variant_case,
                               .first_variant = out->first_variant,
                               .blocks_left_out = t->sample != 0,
                               .addresses_checked = t->runner->checks_addresses,
                               .float_atomics_unknown = !t->runner->sees_atomics,
                               .schedule_fixed = t->runner->permutes_schedules};
    memcpy(evidence.runs, out->runs, sizeof evidence.runs);
    cupel_gates_judge(&evidence, t->scoreboard, t->arena, &t->out->judged);
}

/* What the runs are judged by: the allowed sets, and what else oracles and shadows say. */
static cupel_code prepare_judgement(trial *t) {
    cupel_trial *out = t->out;
    t->rules = cupel_binding_rules(&out->c->binding);
    CUPEL_TRY(bind_inputs(t));
    CUPEL_TRY(ask_oracle(t));
    if (t->sample)
        cupel_block_sampling_mask(t->runner->sampling, out->c, out->graph, out->runs, out->allowed);
    CUPEL_TRY(cupel_accuracy_radii(out, &t->bindings, &t->rules, t->scoreboard, t->arena, &out->good_radii,
                                   t->err));
    return cupel_discern(out, &t->bindings, &t->rules, t->scoreboard, t->err);
}

static bool judges_something(const cupel_trial *out) {
    int64_t judged = 0;
    for (int o = 0; o < out->graph->output_count; o++) judged += out->allowed[o].judged;
    return judged > 0;
}

/* A run in which blocks were left out settles a case where nothing at all is suspicious; until then the
 * scoreboard knows nothing of it. */
static cupel_code judge_sampled(trial *t, bool *settled) {
    cupel_trial *out = t->out;
    cupel_scoreboard *board = t->scoreboard, *draft = board;
    *settled = false;
    if (out->run_count < 2 || !cupel_block_sampling_serves(out->runs)) return CUPEL_OK;
    if (board) {
        draft = cupel_arena_raw(t->arena, 1, sizeof *draft);
        if (!draft) return no_memory(t->err);
        *draft = *board;
    }
    t->scoreboard = draft;
    cupel_code code = prepare_judgement(t);
    if (code == CUPEL_OK) judge(t);
    t->scoreboard = board;
    *settled = code == CUPEL_OK && !out->judged.finding_count && !out->judged.wants_more_runs &&
               !t->runner->sampling->keeps && judges_something(out);
    if (!*settled || !board) return code;
    draft->sampled++;
    *board = *draft;
    return CUPEL_OK;
}

/* The two runs: of some blocks, where that may be and is enough; else of all. */
static cupel_code run_and_sample(trial *t, bool *settled) {
    cupel_trial *out = t->out;
    *settled = false;
    if (t->runner->sampling) t->sample = cupel_block_sampling_draw(t->runner->sampling, out->c);
    CUPEL_TRY(run_twice(t));
    if (!out->run_count || !out->runs[0].observation->blocks_left_out) return CUPEL_OK;
    CUPEL_TRY(judge_sampled(t, settled));
    cupel_block_sampling_learn(t->runner->sampling, *settled);
    if (*settled) return CUPEL_OK;
    t->sample = 0;
    out->run_count = 0;
    out->unsupported = false;
    return run_twice(t);
}

static cupel_code try_case(trial *t, cupel_confirmation confirmation) {
    cupel_trial *out = t->out;
    bool settled;
    CUPEL_TRY(run_and_sample(t, &settled));
    if (out->unsupported || settled) return CUPEL_OK;
    if (finished(out, 0)) CUPEL_TRY(prepare_judgement(t));
    if (finished(out, 0)) CUPEL_TRY(run_first_variant(t));
    judge(t);
    if (out->judged.wants_more_runs) {
        CUPEL_TRY(run_crossed(t));
        if (out->unsupported) return CUPEL_OK;
        judge(t);
    }
    return confirmation == CUPEL_CERTIFY ? certify(t) : CUPEL_OK;
}

/* The case and its graph; UNSUPPORTED before either takes more memory than there is. */
static cupel_code make_case(trial *t, const cupel_recipe *recipe) {
    cupel_trial *out = t->out;
    cupel_binding binding;
    CUPEL_TRY(cupel_recipe_binding(t->contract, recipe, &binding, t->err));
    const double tensors = cupel_case_size_tensors(&binding);
    CUPEL_TRY(cupel_case_size_within(tensors, t->runner->memory, t->err));
    CUPEL_TRY(cupel_binding_graph(&binding, t->arena, &out->graph, t->err));
    CUPEL_TRY(
        cupel_case_size_within(tensors + cupel_case_size_oracle(out->graph), t->runner->memory, t->err));
    return cupel_case_materialise(t->contract, recipe, t->arena, &out->c, t->err);
}

cupel_code cupel_trial_run(const cupel_contract *contract, const cupel_recipe *recipe,
                           const cupel_runner *runner, cupel_confirmation confirmation, cupel_arena *arena,
                           cupel_scoreboard *scoreboard, cupel_trial *out, cupel_error *err) {
    memset(out, 0, sizeof *out);
    trial t = {.contract = contract,
               .runner = runner,
               .arena = arena,
               .scoreboard = scoreboard,
               .out = out,
               .err = err};
    cupel_recipe *mine = cupel_arena_alloc(arena, sizeof *mine);
    if (!mine) return no_memory(err);
    *mine = *recipe; /* the case outlives the caller's recipe */
    cupel_code code = make_case(&t, mine);
    if (code == CUPEL_UNSUPPORTED && scoreboard) scoreboard->cases++;
    CUPEL_TRY(code);
    if (scoreboard) cupel_scoreboard_count(scoreboard, out->c);
    code = try_case(&t, confirmation);
    cupel_exact_close(t.session);
    if (code == CUPEL_OK && out->unsupported && scoreboard) scoreboard->unsupported++;
    return code;
}

const cupel_finding *cupel_trial_finding(const cupel_trial *trial, const char *signature) {
    char text[160];
    for (int f = 0; f < trial->judged.finding_count; f++) {
        cupel_finding_signature(&trial->judged.findings[f], text, sizeof text);
        if (!strcmp(text, signature)) return &trial->judged.findings[f];
    }
    return NULL;
}
