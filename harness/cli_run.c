#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "likely_cause.h"
#include "report.h"
#include "wording.h"

/* "NAME=VALUE" or, where the name may be missing, "VALUE". */
typedef struct setting {
    char name[64];
    const char *value;
} setting;

static cupel_code split(const char *option, const char *text, bool name_needed, setting *out,
                        cupel_error *err) {
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    if ((name_needed && !equals) || length >= sizeof out->name)
        return cupel_fail(err, CUPEL_USAGE, "%s: expected NAME=VALUE, found '%s'", option, text);
    snprintf(out->name, sizeof out->name, "%.*s", (int)length, text);
    out->value = equals ? equals + 1 : text;
    return CUPEL_OK;
}

static cupel_code real_value(const char *option, const char *text, double *out, cupel_error *err) {
    char *end;
    *out = strtod(text, &end);
    if (end == text || *end || isnan(*out))
        return cupel_fail(err, CUPEL_USAGE, "%s: expected a number, found '%s'", option, text);
    if (isinf(*out))
        return cupel_fail(err, CUPEL_USAGE, "%s: '%s' is too large; at most %g", option, text, DBL_MAX);
    return CUPEL_OK;
}

/* ---- dims, types, params ---- */

static cupel_code apply_dim(const cupel_contract *contract, const char *text, cupel_recipe *recipe,
                            cupel_error *err) {
    setting s;
    CUPEL_TRY(split("--set", text, true, &s, err));
    const char *names[CUPEL_DIM_MAX];
    for (int d = 0; d < contract->dim_count; d++) names[d] = contract->dims[d].name;
    int d = cupel_contract_dim(contract, s.name);
    if (d < 0) return cupel_cli_unknown("--set", s.name, names, (size_t)contract->dim_count, err);
    char *end;
    errno = 0;
    long long value = strtoll(s.value, &end, 0);
    if (end != s.value && !*end && errno == ERANGE)
        return cupel_fail(err, CUPEL_USAGE, "--set: '%.100s' is too large; dim %s is claimed for %lld..%lld",
                          s.value, s.name, (long long)contract->dims[d].lo, (long long)contract->dims[d].hi);
    if (end == s.value || *end || errno)
        return cupel_fail(err, CUPEL_USAGE, "--set: expected a whole number, found '%s'", s.value);
    recipe->dims[d] = value;
    return CUPEL_OK;
}

static cupel_code choose_type(const cupel_type_variable *variable, int t, const char *wanted,
                              cupel_recipe *recipe, cupel_error *err) {
    const char *claimed[CUPEL_DTYPE_COUNT];
    cupel_dtype type;
    bool known = cupel_dtype_parse(wanted, &type);
    for (int i = 0; i < variable->count; i++) {
        claimed[i] = cupel_format_of(variable->claimed[i])->name;
        if (!known || variable->claimed[i] != type) continue;
        recipe->types[t] = (uint8_t)i;
        return CUPEL_OK;
    }
    return cupel_cli_unknown("--type", wanted, claimed, (size_t)variable->count, err);
}

static cupel_code apply_type(const cupel_contract *contract, const char *text, cupel_recipe *recipe,
                             cupel_error *err) {
    setting s;
    CUPEL_TRY(split("--type", text, true, &s, err));
    const char *names[CUPEL_TYPE_MAX];
    for (int t = 0; t < contract->type_count; t++) {
        names[t] = contract->types[t].name;
        if (strcmp(names[t], s.name) == 0) return choose_type(&contract->types[t], t, s.value, recipe, err);
    }
    return cupel_cli_unknown("--type", s.name, names, (size_t)contract->type_count, err);
}

/* Numbers that a contract may list, and that no digits give. */
static bool is_special(const char *text) {
    return strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0 || strcmp(text, "nan") == 0;
}

static cupel_code apply_param(const cupel_contract *contract, const char *text, cupel_recipe *recipe,
                              cupel_error *err) {
    setting s;
    CUPEL_TRY(split("--param", text, true, &s, err));
    const char *names[CUPEL_PARAM_MAX];
    for (int p = 0; p < contract->param_count; p++) names[p] = contract->params[p].name;
    int p = cupel_contract_param(contract, s.name);
    if (p < 0) return cupel_cli_unknown("--param", s.name, names, (size_t)contract->param_count, err);
    if (is_special(s.value)) {
        recipe->params[p] = strtod(s.value, NULL);
        return CUPEL_OK;
    }
    return real_value("--param", s.value, &recipe->params[p], err);
}

/* ---- values ---- */

typedef cupel_code (*tensor_setter)(cupel_tensor_recipe *tensor, const char *option, const char *value,
                                    cupel_error *err);

static cupel_code set_pattern(cupel_tensor_recipe *tensor, const char *option, const char *value,
                              cupel_error *err) {
    const char *names[CUPEL_PATTERN_COUNT];
    for (int p = 0; p < CUPEL_PATTERN_COUNT; p++) {
        names[p] = cupel_pattern_name((cupel_pattern)p);
        if (strcmp(names[p], value) == 0) {
            tensor->pattern = (cupel_pattern)p;
            return CUPEL_OK;
        }
    }
    return cupel_cli_unknown(option, value, names, CUPEL_PATTERN_COUNT, err);
}

static cupel_code set_special(cupel_tensor_recipe *tensor, const char *option, const char *value,
                              cupel_error *err) {
    const char *names[CUPEL_SPECIAL_COUNT];
    for (int s = 0; s < CUPEL_SPECIAL_COUNT; s++) {
        names[s] = cupel_special_name((cupel_special)s);
        if (strcmp(names[s], value) == 0) {
            tensor->special = (cupel_special)s;
            return CUPEL_OK;
        }
    }
    return cupel_cli_unknown(option, value, names, CUPEL_SPECIAL_COUNT, err);
}

static cupel_code set_placement(cupel_tensor_recipe *tensor, const char *option, const char *value,
                                cupel_error *err) {
    const char *names[CUPEL_PLACE_COUNT];
    for (int p = 0; p < CUPEL_PLACE_COUNT; p++) {
        names[p] = cupel_placement_name((cupel_placement)p);
        if (strcmp(names[p], value) == 0) {
            tensor->placement = (cupel_placement)p;
            return CUPEL_OK;
        }
    }
    return cupel_cli_unknown(option, value, names, CUPEL_PLACE_COUNT, err);
}

static cupel_code set_amplitude(cupel_tensor_recipe *tensor, const char *option, const char *value,
                                cupel_error *err) {
    return real_value(option, value, &tensor->amplitude, err);
}

static cupel_code set_centre(cupel_tensor_recipe *tensor, const char *option, const char *value,
                             cupel_error *err) {
    return real_value(option, value, &tensor->centre, err);
}

static cupel_code apply_values(const cupel_contract *contract, const char *option, const cupel_cli_list *list,
                               tensor_setter set, cupel_recipe *recipe, cupel_error *err) {
    const char *names[CUPEL_TENSOR_MAX];
    for (int t = 0; t < contract->tensor_count; t++) names[t] = contract->tensors[t].name;
    for (int i = 0; i < list->count; i++) {
        setting s;
        CUPEL_TRY(split(option, list->items[i], false, &s, err));
        if (s.name[0] && cupel_contract_tensor(contract, s.name) < 0)
            return cupel_cli_unknown(option, s.name, names, (size_t)contract->tensor_count, err);
        for (int t = 0; t < contract->tensor_count; t++) {
            if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT) ||
                (s.name[0] && strcmp(names[t], s.name) != 0))
                continue;
            CUPEL_TRY(set(&recipe->tensors[t], option, s.value, err));
        }
    }
    return CUPEL_OK;
}

/* ---- the case as a whole ---- */

/* What repair changed, as "x: centre 1e39 becomes 0"; nothing where only fields differ that mean nothing for
 * the pattern. */
typedef struct changes {
    char text[1024];
    size_t used;
} changes;

static void add_change(changes *c, const char *name, const char *what, const char *before,
                       const char *after) {
    if (strcmp(before, after) == 0 || c->used >= sizeof c->text) return;
    int length = snprintf(c->text + c->used, sizeof c->text - c->used, "%s%s%s%s %s becomes %s",
                          c->used ? "; " : "", name, what[0] ? ": " : "", what, before, after);
    c->used += length > 0 ? (size_t)length : 0;
}

static void add_number(changes *c, const char *name, const char *what, double before, double after) {
    char from[32], to[32];
    snprintf(from, sizeof from, "%.9g", before);
    snprintf(to, sizeof to, "%.9g", after);
    add_change(c, name, what, from, to);
}

static void compare_recipes(const cupel_contract *contract, const cupel_cli_settings *settings,
                            const cupel_recipe *asked, const cupel_recipe *legal, changes *c) {
    for (int d = 0; d < contract->dim_count; d++)
        add_number(c, contract->dims[d].name, "", (double)asked->dims[d], (double)legal->dims[d]);
    for (int p = 0; p < contract->param_count; p++)
        add_number(c, contract->params[p].name, "", asked->params[p], legal->params[p]);
    for (int t = 0; t < contract->tensor_count; t++) {
        const cupel_tensor_recipe *a = &asked->tensors[t], *l = &legal->tensors[t];
        const char *name = contract->tensors[t].name;
        if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT)) continue;
        add_change(c, name, "pattern", cupel_pattern_name(a->pattern), cupel_pattern_name(l->pattern));
        add_change(c, name, "special", cupel_special_name(a->special), cupel_special_name(l->special));
        if (l->special != CUPEL_SPECIAL_NONE)
            add_change(c, name, "placement", cupel_placement_name(a->placement),
                       cupel_placement_name(l->placement));
        if (settings->amplitudes.count || l->amplitude != 0)
            add_number(c, name, "amplitude", a->amplitude, l->amplitude);
        if (settings->centres.count || l->centre != 0) add_number(c, name, "centre", a->centre, l->centre);
    }
}

static cupel_code make_legal(const cupel_contract *contract, const cupel_cli_settings *settings,
                             cupel_recipe *recipe, cupel_error *err) {
    cupel_recipe legal = *recipe;
    CUPEL_TRY(cupel_recipe_repair(contract, &legal, INT64_C(1) << 32, err));
    if (cupel_recipe_equal(contract, &legal, recipe)) return CUPEL_OK;
    cupel_binding binding;
    bool claimed =
        cupel_recipe_binding(contract, recipe, &binding, NULL) == CUPEL_OK && cupel_binding_legal(&binding);
    if (!claimed) {
        char nearest[512];
        cupel_recipe_describe(contract, &legal, nearest, sizeof nearest);
        return cupel_fail(err, CUPEL_USAGE, "the contract does not claim this shape; the nearest it does: %s",
                          nearest);
    }
    changes c = {.used = 0};
    compare_recipes(contract, settings, recipe, &legal, &c);
    if (c.used) fprintf(stderr, "note: brought into the contract: %s\n", c.text);
    *recipe = legal;
    return CUPEL_OK;
}

static cupel_code build_recipe(const cupel_contract *contract, const cupel_cli_settings *settings,
                               cupel_recipe *recipe, cupel_error *err) {
    CUPEL_TRY(cupel_recipe_simple(contract, recipe, err));
    for (int i = 0; i < settings->sets.count; i++)
        CUPEL_TRY(apply_dim(contract, settings->sets.items[i], recipe, err));
    for (int i = 0; i < settings->types.count; i++)
        CUPEL_TRY(apply_type(contract, settings->types.items[i], recipe, err));
    for (int i = 0; i < settings->params.count; i++)
        CUPEL_TRY(apply_param(contract, settings->params.items[i], recipe, err));
    CUPEL_TRY(apply_values(contract, "--pattern", &settings->patterns, set_pattern, recipe, err));
    CUPEL_TRY(apply_values(contract, "--amplitude", &settings->amplitudes, set_amplitude, recipe, err));
    CUPEL_TRY(apply_values(contract, "--centre", &settings->centres, set_centre, recipe, err));
    CUPEL_TRY(apply_values(contract, "--special", &settings->specials, set_special, recipe, err));
    CUPEL_TRY(apply_values(contract, "--placement", &settings->placements, set_placement, recipe, err));
    if (settings->seed_given)
        for (int t = 0; t < contract->tensor_count; t++)
            recipe->tensors[t].seed = (uint32_t)settings->seed + (uint32_t)t;
    recipe->schedule = settings->schedule;
    recipe->history = settings->history;
    recipe->calls = settings->history_calls;
    return make_legal(contract, settings, recipe, err);
}

static void print_finding(const cupel_contract *contract, const cupel_recipe *recipe,
                          const cupel_trial *trial, const cupel_finding *finding) {
    cupel_check_finding found = {.finding = *finding, .recipe = *recipe};
    cupel_likely_cause_find(trial, &found.finding);
    cupel_recipe_describe(contract, recipe, found.described, sizeof found.described);
    cupel_word_where(finding, trial, found.where, sizeof found.where);
    printf("\n");
    cupel_report_finding(&found, stdout);
}

/* Nothing judged is no pass; reports of the sanitizer are evidence, which rejects nothing. Returns the exit
 * status. */
static int print_verdict(const cupel_trial *trial, int reports) {
    int64_t judged = 0, by_reason[CUPEL_REASON_COUNT] = {0};
    if (trial->judged.finding_count > reports) {
        printf("\nFAILS\n");
        return cupel_check_exit_status(CUPEL_VERDICT_REJECTED);
    }
    for (int o = 0; trial->allowed && trial->graph && o < trial->graph->output_count; o++) {
        judged += trial->allowed[o].judged;
        for (int r = 0; r < CUPEL_REASON_COUNT; r++) by_reason[r] += trial->allowed[o].by_reason[r];
    }
    if (judged > 0) {
        printf("\nholds\n");
        return cupel_check_exit_status(CUPEL_VERDICT_ACCEPTED);
    }
    printf("\ninconclusive: nothing was judged\n");
    for (int r = CUPEL_REASON_JUDGED + 1; r < CUPEL_REASON_COUNT; r++)
        if (by_reason[r])
            printf("not judged: %" PRId64 " elements: %s\n", by_reason[r],
                   cupel_reason_text((cupel_reason)r));
    return cupel_check_exit_status(CUPEL_VERDICT_INCONCLUSIVE);
}

static cupel_code try_case(const cupel_cli_settings *settings, cupel_cli_session *session,
                           cupel_supervisor *supervisor, const cupel_recipe *recipe, cupel_trial *trial,
                           cupel_sanitized_counts *counts, cupel_error *err) {
    if (!settings->sanitize)
        return cupel_supervisor_try(supervisor, recipe, true, session->arena, trial, err);
    if (!cupel_sanitized_available(session->supervisor.executor))
        return cupel_fail(err, CUPEL_UNSUPPORTED, "--sanitizer: '%s' has none; --on emu has",
                          session->supervisor.executor);
    return cupel_sanitized_try(supervisor, session->contract, &session->supervisor, recipe, session->arena,
                               trial, counts, err);
}

static cupel_code run(const cupel_cli_settings *settings, cupel_cli_session *session, int *status,
                      cupel_error *err) {
    cupel_recipe recipe;
    char described[512];
    CUPEL_TRY(build_recipe(session->contract, settings, &recipe, err));
    cupel_recipe_describe(session->contract, &recipe, described, sizeof described);
    cupel_supervisor *supervisor;
    cupel_code opened = cupel_supervisor_open(session->contract, &session->supervisor, &supervisor, err);
    if (opened != CUPEL_OK) return cupel_check_executor_failed(session->contract, opened, err);
    cupel_trial trial = {0};
    cupel_sanitized_counts counts = {0};
    cupel_code code = try_case(settings, session, supervisor, &recipe, &trial, &counts, err);
    if (code == CUPEL_OK && trial.unsupported) code = cupel_fail(err, CUPEL_UNSUPPORTED, "%s", trial.text);
    if (code == CUPEL_OK) {
        printf("%s\n", described);
        cupel_cli_table(session->contract, &trial, settings->all, stdout);
        if (settings->sanitize)
            printf("\nsanitizer %d run%s, %d report%s\n", counts.runs, counts.runs == 1 ? "" : "s",
                   counts.reports, counts.reports == 1 ? "" : "s");
        for (int i = 0; i < trial.judged.finding_count; i++)
            print_finding(session->contract, &recipe, &trial, &trial.judged.findings[i]);
        *status = print_verdict(&trial, counts.reports);
    }
    cupel_supervisor_close(supervisor);
    return code;
}

int cupel_cli_run(const cupel_cli_settings *settings) {
    cupel_cli_session session;
    cupel_error err = {0};
    if (cupel_cli_session_open(settings, settings->operand, settings->contract, &session, &err) != CUPEL_OK)
        return cupel_cli_complain(&err, false);
    int status = 3;
    if (run(settings, &session, &status, &err) != CUPEL_OK) status = cupel_cli_complain(&err, false);
    cupel_cli_session_close(&session);
    return status;
}
