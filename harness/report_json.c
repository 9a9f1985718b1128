#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "likely_cause.h"
#include "report.h"
#include "wording.h"

/* JSON has no NaN and no infinities: they become strings. */
static json_t *number(double value) {
    if (isnan(value)) return json_string("nan");
    if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

static json_t *number_or_null(double value) {
    return isnan(value) ? json_null() : number(value);
}

/* JSON is UTF-8, file names need not be: then what is not ASCII becomes '?'. */
static json_t *text_or_null(const char *text) {
    if (!text || !text[0]) return json_null();
    json_t *string = json_string(text);
    if (string) return string;
    char ascii[1024];
    snprintf(ascii, sizeof ascii, "%s", text);
    for (char *c = ascii; *c; c++)
        if ((unsigned char)*c >= 0x80) *c = '?';
    return json_string(ascii);
}

/* JSON's integers end at 2^63 - 1: what lies above is the nearest double, beside its bits. */
static json_t *whole(cupel_dtype type, uint64_t bits) {
    const int64_t value = cupel_decode_int(type, &bits);
    return type == CUPEL_U64 && value < 0 ? json_real((double)bits) : json_integer(value);
}

static json_t *got_object(const cupel_finding *finding) {
    char bits[32];
    const cupel_format *format = cupel_format_of(finding->type);
    snprintf(bits, sizeof bits, "0x%0*" PRIx64, (int)format->size * 2, finding->got_bits);
    json_t *value = format->kind == CUPEL_KIND_REAL ? number(cupel_decode(finding->type, &finding->got_bits))
                                                    : whole(finding->type, finding->got_bits);
    return json_pack("{s:o, s:s, s:s}", "value", value, "bits", bits, "type", format->name);
}

static json_t *allowed_object(cupel_dtype type, const cupel_exact_element *exact) {
    json_t *object = json_object();
    if (exact->classes & CUPEL_CLASS_FINITE) {
        const bool wide = cupel_dtype_is_wide(type);
        json_object_set_new(object, "lo", wide ? whole(type, exact->least) : number(exact->lo));
        json_object_set_new(object, "hi", wide ? whole(type, exact->most) : number(exact->hi));
    }
    json_object_set_new(object, "nan", json_boolean(exact->classes & CUPEL_CLASS_NAN));
    json_object_set_new(object, "inf", json_boolean(exact->classes & CUPEL_CLASS_POS_INF));
    json_object_set_new(object, "-inf", json_boolean(exact->classes & CUPEL_CLASS_NEG_INF));
    if (exact->classes & CUPEL_ZERO_SIGN_FIXED)
        json_object_set_new(object, "zero",
                            json_string(exact->classes & CUPEL_ZERO_SIGN_NEGATIVE ? "-0" : "+0"));
    return object;
}

static json_t *race_side_object(const cupel_race_side *side) {
    static const char *const uses[] = {"load", "store", "atomic", "barrier"};
    const cupel_place *p = &side->place;
    return json_pack("{s:s, s:s, s:i, s:[i, i, i], s:[i, i, i]}", "use",
                     uses[side->use < CUPEL_RACE_USE_COUNT ? side->use : CUPEL_RACE_READ], "file", p->file,
                     "line", p->line, "block", (int)p->block[0], (int)p->block[1], (int)p->block[2], "thread",
                     (int)p->thread[0], (int)p->thread[1], (int)p->thread[2]);
}

static json_t *race_object(const cupel_race *race) {
    static const char *const spaces[] = {"global", "shared", "local"};
    return json_pack("{s:o, s:o, s:s, s:s, s:I, s:i, s:b}", "earlier", race_side_object(&race->earlier),
                     "later", race_side_object(&race->later), "space",
                     spaces[race->space <= CUPEL_SPACE_LOCAL ? race->space : CUPEL_SPACE_GLOBAL], "array",
                     race->array, "offset", (json_int_t)race->offset, "size", (int)race->size,
                     "meant_for_others", (int)race->marked);
}

static json_t *cause_name(const cupel_cause *cause) {
    if (cause->race) return json_string("race");
    return cause->fault == CUPEL_SHADOW_NO_FAULT ? json_null()
                                                 : json_string(cupel_shadow_fault_name(cause->fault));
}

static json_t *finding_object(const cupel_check_finding *found) {
    const cupel_finding *finding = &found->finding;
    bool values = cupel_word_has_values(finding), certified = values && finding->certified;
    json_t *object = json_object();
    json_object_set_new(object, "gate", json_string(cupel_gate_id(finding->gate)));
    json_object_set_new(object, "standing",
                        json_string(finding->standing == CUPEL_STANDING_PROOF ? "proof" : "evidence"));
    json_object_set_new(object, "kind", json_string(cupel_finding_title(finding)));
    json_object_set_new(object, "output", text_or_null(finding->output_name));
    json_object_set_new(object, "signature", json_string(found->signature));
    json_object_set_new(object, "case", text_or_null(found->described));
    json_object_set_new(object, "found_at",
                        found->found_at ? json_integer((json_int_t)found->found_at) : json_null());
    json_object_set_new(object, "minimised", json_boolean(found->minimised));
    json_object_set_new(object, "known", json_boolean(found->known));
    json_object_set_new(object, "region", text_or_null(found->report.region));
    json_object_set_new(object, "text", text_or_null(finding->text));
    json_object_set_new(object, "element", values ? text_or_null(found->where) : json_null());
    json_object_set_new(object, "got", values ? got_object(finding) : json_null());
    json_object_set_new(object, "allowed",
                        certified ? allowed_object(finding->type, &finding->exact) : json_null());
    json_object_set_new(object, "exact", certified ? number(finding->exact.value) : json_null());
    json_object_set_new(object, "exact_digits",
                        certified ? text_or_null(finding->exact.digits) : json_null());
    json_object_set_new(object, "ulp", values ? number_or_null(finding->steps) : json_null());
    json_object_set_new(object, "radii", values ? number_or_null(finding->ratio) : json_null());
    const cupel_place *place = cupel_word_place_of(finding);
    char where[512];
    cupel_word_place(place, where, sizeof where);
    json_object_set_new(object, "place", text_or_null(where));
    json_object_set_new(object, "race", finding->has_race ? race_object(&finding->race) : json_null());
    json_object_set_new(object, "likely_cause", cause_name(&finding->cause));
    json_object_set_new(object, "bundle", text_or_null(found->bundle));
    return object;
}

/* Others judge facts, which have no distance. */
static bool compares_values(cupel_gate gate) {
    return cupel_gate_info_of(gate)->exercised != NULL;
}

static json_t *gate_object(const cupel_check_report *report, int g) {
    const cupel_gate_tally *tally = &report->scoreboard.gates[g];
    json_t *object = json_object();
    json_object_set_new(object, "id", json_string(cupel_gate_id((cupel_gate)g)));
    json_object_set_new(object, "status", json_string(cupel_gate_status_name(report->gates[g].status)));
    json_object_set_new(object, "cases", json_integer(tally->cases));
    json_object_set_new(object, "judged", json_integer(tally->judged));
    json_object_set_new(object, "considered", json_integer(tally->considered));
    json_object_set_new(object, "worst_ratio",
                        compares_values((cupel_gate)g) && tally->judged > 0 ? number(tally->worst_ratio)
                                                                            : json_null());
    json_object_set_new(object, "why", text_or_null(report->gates[g].why));
    return object;
}

/* scoreboard NULL: nothing was tried. */
static json_t *dims_array(const cupel_contract *contract, const cupel_scoreboard *scoreboard) {
    json_t *dims = json_array();
    for (int d = 0; d < contract->dim_count; d++) {
        const cupel_dim *dim = &contract->dims[d];
        json_t *object = json_pack("{s:s, s:[I, I]}", "name", dim->name, "claimed", (json_int_t)dim->lo,
                                   (json_int_t)dim->hi);
        json_t *tried =
            scoreboard && scoreboard->cases > 0
                ? json_pack("[I, I]", (json_int_t)scoreboard->smallest[d], (json_int_t)scoreboard->largest[d])
                : json_null();
        if (scoreboard)
            json_object_set_new(object, "tried", tried);
        else
            json_decref(tried);
        json_array_append_new(dims, object);
    }
    return dims;
}

static json_t *outputs_array(const cupel_check_report *report) {
    json_t *outputs = json_array();
    for (int t = 0; t < report->contract->tensor_count; t++) {
        const cupel_tensor_decl *tensor = &report->contract->tensors[t];
        const cupel_output_tally *tally = &report->scoreboard.outputs[t];
        if (!(tensor->roles & CUPEL_ROLE_OUTPUT)) continue;
        json_t *reasons = json_object();
        for (int r = CUPEL_REASON_JUDGED + 1; r < CUPEL_REASON_COUNT; r++)
            if (r != CUPEL_REASON_NOT_RUN) /* which is never tallied */
                json_object_set_new(reasons, cupel_reason_word((cupel_reason)r),
                                    json_integer(tally->by_reason[r]));
        const int64_t judged = tally->by_reason[CUPEL_REASON_JUDGED];
        json_t *share = judged > 0 ? json_real((double)tally->coarse / (double)judged) : json_null();
        json_array_append_new(outputs,
                              json_pack("{s:s, s:I, s:I, s:o, s:I, s:o}", "name", tensor->name, "considered",
                                        (json_int_t)cupel_output_considered(tally), "judged",
                                        (json_int_t)judged, "not_judged", reasons, "radius_above_magnitude",
                                        (json_int_t)tally->coarse, "radius_above_magnitude_share", share));
    }
    return outputs;
}

static json_t *gone_array(const cupel_check_report *report) {
    json_t *gone = json_array();
    for (int i = 0; i < report->gone_count; i++) json_array_append_new(gone, text_or_null(report->gone[i]));
    return gone;
}

static json_t *campaign_object(const cupel_check_report *report) {
    const cupel_corpus_counts *corpus = &report->corpus;
    int skipped = 0;
    for (int i = 0; i < CUPEL_CORPUS_SKIP_COUNT; i++) skipped += corpus->skipped[i];
    json_t *object = json_object();
    json_object_set_new(object, "engine", json_string(report->engine));
    json_object_set_new(object, "searches", json_integer(report->rounds));
    json_object_set_new(object, "restarts", json_integer(report->restarts));
    json_object_set_new(object, "features", json_integer(report->features));
    json_object_set_new(object, "edges", json_integer(report->edges));
    json_object_set_new(object, "edge_count", json_integer(report->edge_count));
    json_object_set_new(object, "corpus",
                        json_pack("{s:i, s:i, s:i, s:i, s:i}", "loaded", corpus->loaded, "stored",
                                  corpus->stored, "found", corpus->found, "dropped", corpus->dropped,
                                  "skipped", skipped));
    return object;
}

static json_t *resources_object(const cupel_resources *r) {
    json_t *object = json_object(), *kernels = json_array(), *architectures = json_array();
    char name[16];
    for (int i = 0; i < r->architecture_count; i++) {
        snprintf(name, sizeof name, "sm_%d", r->architectures[i]);
        json_array_append_new(architectures, json_string(name));
    }
    for (int i = 0; i < r->count && r->compiler[0]; i++) {
        const cupel_compiled *k = &r->compiled[i];
        snprintf(name, sizeof name, "sm_%d", k->architecture);
        json_array_append_new(kernels,
                              json_pack("{s:s, s:o, s:i, s:I, s:I, s:o, s:b}", "architecture", name, "entry",
                                        text_or_null(k->entry), "registers", k->registers, "shared",
                                        (json_int_t)k->shared, "local", (json_int_t)k->local, "max_threads",
                                        k->max_threads ? json_integer(k->max_threads) : json_null(),
                                        "tensor_memory", (int)k->tensor_memory));
    }
    json_object_set_new(object, "architectures", architectures);
    json_object_set_new(object, "compiler", text_or_null(r->compiler));
    json_object_set_new(object, "missing", text_or_null(r->missing));
    json_object_set_new(object, "kernels", kernels);
    json_object_set_new(object, "limits",
                        json_pack("{s:i, s:i, s:i, s:i}", "asked", r->asked, "proven", r->proven,
                                  "beyond_memory", r->beyond, "unproven", r->unproven));
    json_object_set_new(object, "note", text_or_null(r->note));
    return object;
}

static json_t *sanitizer_object(const cupel_check_report *report) {
    const cupel_side_counts *s = &report->sanitizer;
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "inputs", (json_int_t)s->inputs, "runs",
                     (json_int_t)s->runs, "skipped", (json_int_t)s->skipped, "left", (json_int_t)s->left,
                     "missing", text_or_null(report->sanitizer_trouble));
}

static json_t *unsupported_object(const cupel_check_report *report) {
    json_t *object = json_object();
    json_object_set_new(object, "cases", json_integer(report->scoreboard.unsupported));
    json_object_set_new(object, "reason",
                        report->scoreboard.unsupported ? text_or_null(report->unsupported) : json_null());
    return object;
}

/* {"BLOCK": {"64": 1010, ..}} */
static json_t *variants_object(const cupel_check_report *report) {
    const cupel_contract *c = report->contract;
    json_t *object = json_object();
    for (int d = c->dim_count - c->variant_count; d < c->dim_count; d++) {
        const cupel_dim *dim = &c->dims[d];
        json_t *counts = json_object();
        for (int i = 0; i < dim->value_count; i++) {
            char value[32];
            snprintf(value, sizeof value, "%" PRId64, dim->values[i]);
            const int rank = cupel_variant_rank(dim, dim->values[i]);
            json_object_set_new(counts, value, json_integer(report->scoreboard.cases_by_variant[d][rank]));
        }
        json_object_set_new(object, dim->name, counts);
    }
    return object;
}

static json_t *report_object(const cupel_check_report *report) {
    json_t *object = json_object(), *gates = json_array(), *findings = json_array(),
           *patterns = json_object();
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) json_array_append_new(gates, gate_object(report, g));
    for (int i = 0; i < report->finding_count; i++)
        json_array_append_new(findings, finding_object(&report->findings[i]));
    for (int p = 0; p < CUPEL_PATTERN_COUNT; p++)
        json_object_set_new(patterns, cupel_pattern_name((cupel_pattern)p),
                            json_integer(report->scoreboard.cases_by_pattern[p]));
    json_object_set_new(object, "kernel", text_or_null(report->kernel));
    json_object_set_new(object, "contract", json_string(report->contract->id));
    json_object_set_new(object, "executor", json_string(report->executor));
    json_object_set_new(object, "engine", text_or_null(report->engine));
    json_object_set_new(object, "verdict", json_string(cupel_verdict_name(report->verdict)));
    json_object_set_new(object, "reason", text_or_null(report->reason));
    json_object_set_new(object, "cases", json_integer((json_int_t)report->cases));
    json_object_set_new(object, "unsupported", unsupported_object(report));
    json_object_set_new(object, "sampled", json_integer(report->scoreboard.sampled));
    json_object_set_new(object, "elements", json_integer(report->scoreboard.elements));
    json_object_set_new(object, "seconds", json_real(report->seconds));
    json_object_set_new(object, "seed", json_integer((json_int_t)report->seed));
    json_object_set_new(object, "dims", dims_array(report->contract, &report->scoreboard));
    json_object_set_new(object, "gates", gates);
    json_object_set_new(object, "outputs", outputs_array(report));
    json_object_set_new(object, "resources",
                        report->resources.architecture_count ? resources_object(&report->resources)
                                                             : json_null());
    json_object_set_new(object, "sanitizer", report->sanitized ? sanitizer_object(report) : json_null());
    json_object_set_new(object, "findings", findings);
    json_object_set_new(object, "no_longer_fails", gone_array(report));
    json_object_set_new(object, "campaign", report->endless ? campaign_object(report) : json_null());
    json_object_set_new(object, "cases_by_pattern", patterns);
    if (report->contract->variant_count > 0)
        json_object_set_new(object, "cases_by_variant", variants_object(report));
    json_object_set_new(object, "unconfirmed", json_integer(report->unconfirmed));
    json_object_set_new(object, "refuted", json_integer(report->false_alarms));
    return object;
}

cupel_code cupel_report_json(const cupel_check_report *report, FILE *out, cupel_error *err) {
    json_t *object = report_object(report);
    int failed = json_dumpf(object, out, JSON_INDENT(2));
    json_decref(object);
    if (failed || fputc('\n', out) == EOF || fflush(out) != 0)
        return cupel_fail(err, CUPEL_IO, "the report could not be written");
    return CUPEL_OK;
}

static json_t *plan_gate(const cupel_contract *contract, int g) {
    static const cupel_scoreboard nothing_tried;
    const char *why;
    bool applies =
        cupel_gate_status_of(contract, &nothing_tried, (cupel_gate)g, 0, &why) == CUPEL_STATUS_NOT_EXERCISED;
    json_t *object = json_object();
    json_object_set_new(object, "id", json_string(cupel_gate_id((cupel_gate)g)));
    json_object_set_new(object, "applies", json_boolean(applies));
    json_object_set_new(object, "why", applies ? json_null() : text_or_null(why));
    return object;
}

void cupel_report_json_plan(const cupel_contract *contract, const char *executor, FILE *out) {
    json_t *object = json_object(), *types = json_object(), *gates = json_array();
    for (int t = 0; t < contract->type_count; t++) {
        json_t *claimed = json_array();
        for (int i = 0; i < contract->types[t].count; i++)
            json_array_append_new(claimed, json_string(cupel_format_of(contract->types[t].claimed[i])->name));
        json_object_set_new(types, contract->types[t].name, claimed);
    }
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) json_array_append_new(gates, plan_gate(contract, g));
    json_object_set_new(object, "contract", json_string(contract->id));
    json_object_set_new(object, "executor", json_string(executor));
    json_object_set_new(object, "dims", dims_array(contract, NULL));
    json_object_set_new(object, "types", types);
    json_object_set_new(object, "gates", gates);
    (void)json_dumpf(object, out, JSON_INDENT(2));
    (void)fputc('\n', out);
    json_decref(object);
}

void cupel_report_json_error(const cupel_error *err, int status, FILE *out) {
    json_t *object = json_object(), *error = json_object();
    json_object_set_new(error, "file", text_or_null(err->file));
    json_object_set_new(error, "line", err->line > 0 ? json_integer(err->line) : json_null());
    json_object_set_new(error, "column", err->column > 0 ? json_integer(err->column) : json_null());
    json_object_set_new(error, "text", text_or_null(err->text[0] ? err->text : cupel_code_text(err->code)));
    json_object_set_new(error, "status", json_integer(status));
    json_object_set_new(object, "error", error);
    (void)json_dumpf(object, out, JSON_INDENT(2));
    (void)fputc('\n', out);
    json_decref(object);
}
