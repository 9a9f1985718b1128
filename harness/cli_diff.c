#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli.h"
#include "diff.h"

enum { DEFAULT_CASES = 500 };

/* The names of the two sides in a report. */
typedef struct labels {
    char text[2][300];
} labels;

/* ---- reports ---- */

static const char *which_is_right(const cupel_diff_case *kept) {
    if (kept->wrong[0] && kept->wrong[1]) return "neither is right";
    return kept->wrong[0] ? "B is right" : "A is right";
}

static void print_case(const cupel_diff_case *kept) {
    printf("\ncase %" PRIu64 ": %s\n  %s\n", kept->n, kept->recipe, which_is_right(kept));
    for (int s = 0; s < 2; s++) {
        if (kept->where[0] != '\0') printf("  %c  %s is %s\n", "AB"[s], kept -> where, kept -> got[s]);
        if (kept->wrong[s]) printf("  %c  %s\n", "AB"[s], kept -> why[s]);
    }
}

static void print_text(const cupel_diff_report *r, const labels *names, int status) {
    printf("A: %s\nB: %s\n", names->text[0], names->text[1]);
    for (int i = 0; i < r->kept; i++) print_case(&r->kept_cases[i]);
    if ((uint64_t)r->kept < r->differing)
        printf("\n.. and %" PRIu64 " more\n", r->differing - (uint64_t)r->kept);
    printf("\n%" PRIu64 " cases: %" PRId64 " elements compared, %" PRId64 " with equal bits\n", r->cases,
           r->elements, r->equal);
    printf("where only one value is allowed: %" PRId64 " elements, %" PRId64 " with equal bits\n", r->exact,
           r->exact_equal);
    printf("different, and neither wrong: %" PRId64 " elements, at most %.0f ulp apart\n", r->within,
           r->within_steps);
    if (r->unclaimed) printf("left out: %" PRIu64 " cases that B's contract does not claim\n", r->unclaimed);
    if (r->unsupported)
        printf("left out: %" PRIu64 " cases that could not be run: %s\n", r->unsupported,
               r->unsupported_text);
    if (r->both_fail) printf("both fail alike: %" PRIu64 " cases\n", r->both_fail);
    if (status == 3)
        printf("\nINCONCLUSIVE: nothing was compared\n");
    else if (r->differing)
        printf("\nDIFFERENT: in %" PRIu64 " cases; A is wrong in %" PRIu64 ", B in %" PRIu64 "\n",
               r->differing, r->wrong[0], r->wrong[1]);
    else
        printf("\nNO DIFFERENCE beyond what is allowed\n");
}

static json_t *json_case(const cupel_diff_case *kept) {
    json_t *sides = json_array();
    for (int s = 0; s < 2; s++)
        json_array_append_new(sides, json_pack("{s:b, s:s, s:s}", "wrong", kept->wrong[s], "got",
                                               kept->got[s], "why", kept->why[s]));
    return json_pack("{s:I, s:s, s:s, s:s, s:o}", "n", (json_int_t)kept->n, "case", kept->recipe, "where",
                     kept->where, "right", which_is_right(kept), "sides", sides);
}

static cupel_code print_json(const cupel_diff_report *r, const labels *names, int status, cupel_error *err) {
    json_t *cases = json_array();
    for (int i = 0; i < r->kept; i++) json_array_append_new(cases, json_case(&r->kept_cases[i]));
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "a",
        names->text[0], "b", names->text[1], "verdict",
        status == 0   ? "same"
        : status == 1 ? "different"
                      : "inconclusive",
        "cases", (json_int_t)r->cases, "elements", (json_int_t)r->elements, "equal", (json_int_t)r->equal,
        "exact", (json_int_t)r->exact, "exact_equal", (json_int_t)r->exact_equal, "neither_wrong",
        (json_int_t)r->within, "neither_wrong_ulp", r->within_steps, "different", (json_int_t)r->differing,
        "a_wrong", (json_int_t)r->wrong[0], "b_wrong", (json_int_t)r->wrong[1], "both_fail_alike",
        (json_int_t)r->both_fail, "unclaimed", (json_int_t)r->unclaimed, "unsupported",
        (json_int_t)r->unsupported, "examples", cases);
    char *text = root != NULL ? json_dumps(root, JSON_INDENT(2) | JSON_ENSURE_ASCII) : NULL;
    json_decref(root);
    if (text == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for the report");
    puts(text);
    free(text);
    return CUPEL_OK;
}

/* ---- the command ---- */

/* "emu,cuda": the executor of one side. */
static const char *side_executor(const cupel_cli_settings *settings, int side, char *text, size_t size) {
    if (settings->executor == NULL) return NULL;
    const char *comma = strchr(settings->executor, ',');
    const char *from = comma != NULL && side == 1 ? comma + 1 : settings->executor;
    snprintf(text, size, "%.*s", (int)strcspn(from, ","), from);
    return text;
}

static cupel_code compare(const cupel_cli_settings *settings, cupel_cli_session sessions[2], int *status,
                          cupel_error *err) {
    labels names;
    cupel_diff_report *report = calloc(1, sizeof *report);
    if (report == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for the report");
    cupel_diff_request request = {.seed = settings->seed,
                                  .cases = settings->cases,
                                  .seconds = settings->seconds,
                                  .max_elements = settings->elements};
    if (request.cases == 0 && request.seconds <= 0) request.cases = DEFAULT_CASES;
    for (int s = 0; s < 2; s++) {
        const cupel_cli_session *session = &sessions[s];
        request.sides[s] = (cupel_diff_side){session->contract, &session->supervisor};
        snprintf(names.text[s], sizeof names.text[s], "%.120s of %.140s on %s", session->contract->id,
                 session->supervisor.contract_path, session->supervisor.executor);
    }
    cupel_code code = cupel_diff_compatible(sessions[0].contract, sessions[1].contract, err);
    if (code == CUPEL_OK) code = cupel_diff_run(&request, report, err);
    if (code == CUPEL_OK) {
        bool nothing = report->elements == 0 && report->differing == 0 && report->both_fail == 0;
        *status = cupel_check_exit_status(nothing             ? CUPEL_VERDICT_INCONCLUSIVE
                                          : report->differing ? CUPEL_VERDICT_REJECTED
                                                              : CUPEL_VERDICT_ACCEPTED);
        if (settings->json)
            code = print_json(report, &names, *status, err);
        else
            print_text(report, &names, *status);
    }
    free(report);
    return code;
}

int cupel_cli_diff(const cupel_cli_settings *settings) {
    cupel_cli_session sessions[2];
    cupel_error err = {0};
    int status = 3, opened = 0;
    char executors[2][16];
    bool two = settings->executor != NULL && strchr(settings->executor, ',') != NULL;
    cupel_code code = CUPEL_OK;
    if (settings->second == NULL && !two)
        code =
            cupel_fail(&err, CUPEL_USAGE,
                       "expected two kernels, or two executors: cupel diff A B, cupel diff A --on emu,cuda");
    for (int s = 0; s < 2 && code == CUPEL_OK; s++) {
        cupel_cli_settings mine = *settings;
        const char *path = s == 1 && settings->second != NULL ? settings->second : settings->operand;
        mine.executor = side_executor(settings, s, executors[s], sizeof executors[s]);
        /* an id names a contract of the first file; the other has one of its own */
        const char *id = s == 0 || settings->second == NULL ? settings->contract : NULL;
        code = cupel_cli_session_open(&mine, path, id, &sessions[s], &err);
        opened += code == CUPEL_OK;
    }
    if (code == CUPEL_OK) code = compare(settings, sessions, &status, &err);
    for (int s = 0; s < opened; s++) cupel_cli_session_close(&sessions[s]);
    return code == CUPEL_OK ? status : cupel_cli_complain(&err, settings->json);
}
