#include "diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"
#include "wording.h"
#include "worker_shared.h"

typedef struct diff {
    const cupel_diff_request *request;
    cupel_diff_report *out;
    cupel_supervisor *supervisors[2];
    cupel_arena *arena; /* of one case */
    cupel_trial *trials;
    cupel_error *err;
} diff;

/* ---- two outputs ---- */

/* What a case taught. */
typedef struct outcome {
    bool comparable, differs;
    char where[160], got[2][96];
} outcome;

/* The elements of an output after the first run; NULL where there are none. */
static unsigned char *elements_of(diff *d, const cupel_contract *contract, const cupel_trial *trial,
                                  const char *output) {
    int tensor = cupel_contract_tensor(contract, output);
    const cupel_observation *run = trial->run_count > 0 ? trial->runs[0].observation : NULL;
    if (tensor < 0 || run == NULL || trial->c == NULL || run->outcome != CUPEL_RUN_FINISHED) return NULL;
    const cupel_case_tensor *t = &trial->c->tensors[tensor];
    if (t->buffer >= run->buffer_count || run->buffers[t->buffer].bytes == NULL) return NULL;
    unsigned char *elements = cupel_arena_raw(d->arena, (size_t)t->count + 1, cupel_format_of(t->type)->size);
    if (elements != NULL) cupel_case_gather(trial->c, tensor, run->buffers[t->buffer].bytes, elements);
    return elements;
}

static void note_difference(const cupel_allowed *allowed, int64_t i, const unsigned char *const bytes[2],
                            outcome *seen) {
    if (seen->differs) return;
    seen->differs = true;
    cupel_word_index(allowed->name, allowed->rank, allowed->shape, i, seen->where, sizeof seen->where);
    for (int s = 0; s < 2; s++) {
        uint64_t bits = 0;
        memcpy(&bits, bytes[s], cupel_format_of(allowed->type)->size);
        cupel_word_element(allowed->type, bits, seen->got[s], sizeof seen->got[s]);
    }
}

/* Neither outside of what is allowed: how far apart, where they are judged? */
static void note_distance(cupel_diff_report *out, const cupel_allowed *allowed, int64_t i,
                          const unsigned char *const bytes[2]) {
    out->within++;
    if (cupel_format_of(allowed->type)->kind != CUPEL_KIND_REAL || allowed->reasons[i] != CUPEL_REASON_JUDGED)
        return;
    double steps = cupel_steps_between(allowed->type, cupel_decode(allowed->type, bytes[0]),
                                       cupel_decode(allowed->type, bytes[1]));
    if (isfinite(steps) && fabs(steps) > out->within_steps) out->within_steps = fabs(steps);
}

/* Is one pattern of bits allowed, and no other? Either zero, where the sign is not judged, is two. */
static bool has_one_value(const cupel_allowed *allowed, int64_t i) {
    const unsigned classes = allowed->classes[i] & CUPEL_CLASS_MASK;
    if (allowed->reasons[i] != CUPEL_REASON_JUDGED) return false;
    if (classes != CUPEL_CLASS_FINITE)
        return classes == CUPEL_CLASS_NAN || classes == CUPEL_CLASS_POS_INF || classes == CUPEL_CLASS_NEG_INF;
    const bool zero = cupel_format_of(allowed->type)->kind == CUPEL_KIND_REAL && allowed->lo[i] == 0;
    return allowed->lo[i] == allowed->hi[i] && (!zero || allowed->classes[i] & CUPEL_ZERO_SIGN_FIXED);
}

/* Elements that keep what they held, which both sides are judged by elsewhere, are passed over. */
static void compare_output(diff *d, const cupel_allowed *allowed, outcome *seen) {
    const cupel_diff_side *sides = d->request->sides;
    unsigned char *whole[2];
    for (int s = 0; s < 2; s++) {
        whole[s] = elements_of(d, sides[s].contract, &d->trials[s], allowed->name);
        if (whole[s] == NULL) return;
    }
    seen->comparable = true;
    size_t size = cupel_format_of(allowed->type)->size;
    for (int64_t i = 0; i < allowed->count; i++) {
        if (allowed->classes[i] & CUPEL_KEEP) continue;
        const unsigned char *const bytes[2] = {whole[0] + (size_t)i * size, whole[1] + (size_t)i * size};
        bool same = cupel_elements_equal(allowed->type, bytes[0], bytes[1]);
        bool exact = has_one_value(allowed, i);
        d->out->elements++;
        d->out->equal += same;
        d->out->exact += exact;
        d->out->exact_equal += exact && same;
        if (same) continue;
        bool allowed_both = cupel_judge_element(allowed, i, bytes[0]) <= CUPEL_NOT_JUDGED &&
                            cupel_judge_element(allowed, i, bytes[1]) <= CUPEL_NOT_JUDGED;
        if (allowed_both)
            note_distance(d->out, allowed, i, bytes);
        else
            note_difference(allowed, i, bytes, seen);
    }
}

/* ---- one case ---- */

static bool is_wrong(const cupel_trial *trial) {
    for (int f = 0; f < trial->judged.finding_count; f++)
        if (trial->judged.findings[f].standing == CUPEL_STANDING_PROOF) return true;
    return false;
}

static void keep_case(diff *d, uint64_t n, const cupel_recipe *recipe, const bool wrong[2],
                      const outcome *seen) {
    cupel_diff_report *out = d->out;
    if (out->kept == CUPEL_DIFF_KEPT) return;
    cupel_diff_case *kept = &out->kept_cases[out->kept++];
    *kept = (cupel_diff_case){.n = n};
    cupel_recipe_describe(d->request->sides[0].contract, recipe, kept->recipe, sizeof kept->recipe);
    memcpy(kept->where, seen->where, sizeof kept->where);
    for (int s = 0; s < 2; s++) {
        kept->wrong[s] = wrong[s];
        memcpy(kept->got[s], seen->got[s], sizeof kept->got[s]);
        if (!wrong[s]) continue;
        const cupel_finding *finding = &d->trials[s].judged.findings[0];
        snprintf(kept->why[s], sizeof kept->why[s], "%s: %.200s", cupel_finding_title(finding),
                 finding->text);
    }
}

static void judge(diff *d, uint64_t n, const cupel_recipe *recipe) {
    outcome seen = {0};
    const bool wrong[2] = {is_wrong(&d->trials[0]), is_wrong(&d->trials[1])};
    const cupel_trial *first = &d->trials[d->trials[0].allowed != NULL ? 0 : 1];
    d->out->cases++;
    for (int o = 0; first->allowed != NULL && o < first->graph->output_count; o++)
        compare_output(d, &first->allowed[o], &seen);
    if (!wrong[0] && !wrong[1]) return;
    if (wrong[0] && wrong[1] && !seen.differs) {
        d->out->both_fail++;
        return;
    }
    d->out->differing++;
    for (int s = 0; s < 2; s++) d->out->wrong[s] += wrong[s];
    keep_case(d, n, recipe, wrong, &seen);
}

/* The same types by the second contract's own variables; false when it does not claim them. */
static bool translate_types(const cupel_contract *from, const cupel_contract *to, const cupel_recipe *recipe,
                            cupel_recipe *out) {
    cupel_binding a, b;
    for (int t = 0; t < to->type_count; t++) {
        const cupel_type_variable *variable = &to->types[t];
        int same = 0, index = 0;
        while (same < from->type_count && strcmp(from->types[same].name, variable->name) != 0) same++;
        cupel_dtype wanted =
            same < from->type_count ? from->types[same].claimed[recipe->types[same]] : variable->claimed[0];
        while (index < variable->count && variable->claimed[index] != wanted) index++;
        if (index == variable->count) return false;
        out->types[t] = (uint8_t)index;
    }
    if (cupel_recipe_binding(from, recipe, &a, NULL) != CUPEL_OK ||
        cupel_recipe_binding(to, out, &b, NULL) != CUPEL_OK)
        return false;
    for (int t = 0; t < to->tensor_count; t++)
        if (cupel_binding_type(&a, t) != cupel_binding_type(&b, t)) return false;
    return true;
}

/* The recipe as the second contract writes it; false when that does not claim it. */
static bool translate(const diff *d, const cupel_recipe *recipe, cupel_recipe *out) {
    const cupel_contract *from = d->request->sides[0].contract, *to = d->request->sides[1].contract;
    *out = *recipe;
    if (!translate_types(from, to, recipe, out)) return false;
    cupel_recipe legal = *out;
    return cupel_recipe_repair(to, &legal, INT64_C(1) << 32, NULL) == CUPEL_OK &&
           cupel_recipe_equal(to, &legal, out);
}

static cupel_code try_case(diff *d, uint64_t n) {
    const cupel_diff_request *r = d->request;
    cupel_recipe recipe, other;
    cupel_limits limits = {.max_elements = r->max_elements};
    cupel_arena_reset(d->arena);
    CUPEL_TRY(cupel_recipe_draw(r->sides[0].contract, &limits, r->seed, n, &recipe, d->err));
    if (!translate(d, &recipe, &other)) {
        d->out->unclaimed++;
        return CUPEL_OK;
    }
    for (int s = 0; s < 2; s++) {
        cupel_code code =
            cupel_supervisor_try(d->supervisors[s], &recipe, false, d->arena, &d->trials[s], d->err);
        bool unsupported = code == CUPEL_UNSUPPORTED || code == CUPEL_UNABLE || d->trials[s].unsupported;
        if (unsupported) {
            d->out->unsupported++;
            snprintf(d->out->unsupported_text, sizeof d->out->unsupported_text, "%.500s",
                     code == CUPEL_OK ? d->trials[s].text
                     : d->err != NULL ? d->err->text
                                      : "");
            return CUPEL_OK;
        }
        CUPEL_TRY(code);
    }
    judge(d, n, &recipe);
    return CUPEL_OK;
}

/* ---- the whole ---- */

static cupel_code run_cases(diff *d) {
    const cupel_diff_request *r = d->request;
    uint64_t begun = cupel_worker_now();
    for (uint64_t n = 0; r->cases == 0 || n < r->cases; n++) {
        CUPEL_TRY(try_case(d, n));
        if (r->seconds > 0 && (double)(cupel_worker_now() - begun) * 1e-9 >= r->seconds) break;
    }
    return CUPEL_OK;
}

cupel_code cupel_diff_run(const cupel_diff_request *request, cupel_diff_report *out, cupel_error *err) {
    diff d = {.request = request, .out = out, .err = err};
    memset(out, 0, sizeof *out);
    d.arena = cupel_arena_create(0);
    d.trials = calloc(2, sizeof *d.trials);
    cupel_code code = CUPEL_OK;
    if (d.arena == NULL || d.trials == NULL)
        code = cupel_fail(err, CUPEL_MEMORY, "no memory for a comparison");
    for (int s = 0; s < 2 && code == CUPEL_OK; s++) {
        const cupel_diff_side *side = &request->sides[s];
        code = cupel_supervisor_open(side->contract, side->options, &d.supervisors[s], err);
        if (code != CUPEL_OK) code = cupel_check_executor_failed(side->contract, code, err);
    }
    if (code == CUPEL_OK) code = run_cases(&d);
    for (int s = 0; s < 2; s++) cupel_supervisor_close(d.supervisors[s]);
    free(d.trials);
    cupel_arena_free(d.arena);
    return code;
}
