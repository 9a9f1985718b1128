#include "init_trial.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shrink.h"
#include "text.h"
#include "wording.h"

enum { CASES = 40, ELEMENTS = 4096, SECONDS = 20 /* after which no further case is begun */ };

static void one_line(char *text) {
    for (; *text; text++)
        if (*text == '\n' || *text == '\r') *text = ' ';
}

static void untried(cupel_init_trial *out, const cupel_error *err) {
    char message[1400];
    out->outcome = err->code == CUPEL_CONTRACT || err->code == CUPEL_MISMATCH ? CUPEL_INIT_CONTRADICTORY
                                                                              : CUPEL_INIT_UNTRIED;
    snprintf(out->text, sizeof out->text, "%.600s", cupel_error_format(err, message, sizeof message));
    one_line(out->text);
}

static void doubted(const cupel_contract *contract, const cupel_recipe *recipe, const cupel_trial *trial,
                    const cupel_finding *finding, cupel_init_trial *out) {
    char where[128], shape[300];
    cupel_word_where(finding, trial, where, sizeof where);
    cupel_recipe_describe_shape(contract, recipe, shape, sizeof shape);
    out->outcome = CUPEL_INIT_DOUBTED;
    out->values = cupel_word_has_values(finding);
    snprintf(out->output, sizeof out->output, "%s", finding->output >= 0 ? finding->output_name : "");
    if (finding->kind == CUPEL_FINDING_UNWRITTEN)
        snprintf(out->text, sizeof out->text, "%s was not written, at %s", where, shape);
    else
        snprintf(out->text, sizeof out->text, "%s, at %s",
                 finding->text[0] ? finding->text : cupel_finding_title(finding), shape);
    one_line(out->text);
}

/* Draws cases until one fails. False: a case could not be run for a reason of ours; *err says why. */
static bool try_cases(const cupel_cli_settings *settings, const cupel_cli_session *session,
                      cupel_supervisor *supervisor, cupel_init_trial *out, cupel_error *err) {
    cupel_arena *arena = cupel_arena_create(0);
    cupel_trial *trial = malloc(sizeof *trial);
    cupel_limits limits = {.max_elements = ELEMENTS};
    cupel_code code = arena && trial ? CUPEL_OK : cupel_fail(err, CUPEL_MEMORY, "out of memory");
    double start = cupel_shrink_now();
    for (uint64_t n = 0; n < CASES && code == CUPEL_OK && out->outcome != CUPEL_INIT_DOUBTED; n++) {
        cupel_recipe recipe;
        if (n > 0 && cupel_shrink_now() - start > SECONDS) break;
        cupel_arena_reset(arena);
        code = cupel_recipe_draw(session->contract, &limits, 1, n, &recipe, err);
        if (code == CUPEL_OK) code = cupel_supervisor_try(supervisor, &recipe, false, arena, trial, err);
        if (code != CUPEL_OK) break;
        if (trial->unsupported) {
            snprintf(out->text, sizeof out->text, "%s", trial->text);
            continue;
        }
        out->cases++;
        for (int f = 0; f < trial->judged.finding_count && out->outcome != CUPEL_INIT_DOUBTED; f++)
            if (trial->judged.findings[f].standing >= settings->standing)
                doubted(session->contract, &recipe, trial, &trial->judged.findings[f], out);
    }
    if (code == CUPEL_OK && out->outcome != CUPEL_INIT_DOUBTED && out->cases > 0)
        out->outcome = CUPEL_INIT_BORNE_OUT, out->text[0] = '\0';
    free(trial);
    cupel_arena_free(arena);
    return code == CUPEL_OK;
}

void cupel_init_trial_run(const cupel_cli_settings *settings, const char *contract, cupel_init_trial *out) {
    cupel_error err = {0};
    cupel_cli_session session;
    cupel_supervisor *supervisor = NULL;
    *out = (cupel_init_trial){.outcome = CUPEL_INIT_UNTRIED};
    const char *base = getenv("TMPDIR");
    char folder[1024], path[1100];
    snprintf(folder, sizeof folder, "%.900s/cupel-init-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder)) {
        snprintf(out->text, sizeof out->text, "no temporary folder could be made in %.500s",
                 base && *base ? base : "/tmp");
        return;
    }
    snprintf(path, sizeof path, "%s/guess.yaml", folder);
    cupel_code code = cupel_text_write(path, contract, strlen(contract), &err);
    if (code == CUPEL_OK) {
        code = cupel_cli_session_open(settings, path, NULL, &session, &err);
        if (code == CUPEL_OK)
            code = cupel_supervisor_open(session.contract, &session.supervisor, &supervisor, &err);
        if (code == CUPEL_OK && !try_cases(settings, &session, supervisor, out, &err)) code = err.code;
        if (supervisor) cupel_supervisor_close(supervisor);
        cupel_cli_session_close(&session);
    }
    if (code != CUPEL_OK) untried(out, &err);
    (void)unlink(path);
    (void)rmdir(folder);
}
