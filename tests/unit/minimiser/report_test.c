/* The words of reports: findings of one line together, findings without a case, elements that are left open.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explanation.h"
#include "fake_kernel.h"
#include "report.h"
#include "wording.h"

static const char text[] = "cupel: 1\n"
                           "id: reported\n"
                           "source: {file: fake.cu}\n"
                           "dims: {N: 1..1024}\n"
                           "inputs: {x: 'f32[N]'}\n"
                           "outputs: {y: 'f32[N]'}\n"
                           "ensures: {y: 'exp(x)'}\n"
                           "kernel: {entry: fake, args: [x, y, N], grid: [1], block: [32]}\n";

static cupel_check_finding *add(cupel_check_report *report, cupel_finding_kind kind, const char *file,
                                int line) {
    cupel_check_finding *found = &report->findings[report->finding_count++];
    found->finding = (cupel_finding){.gate = CUPEL_GATE_RES_01,
                                     .kind = kind,
                                     .standing = CUPEL_STANDING_PROOF,
                                     .output = -1,
                                     .index = -1,
                                     .ratio = NAN,
                                     .steps = NAN};
    snprintf(found->finding.place.file, sizeof found->finding.place.file, "%s", file);
    found->finding.place.line = line;
    snprintf(found->described, sizeof found->described, "N=%d", report->finding_count);
    snprintf(found->bundle, sizeof found->bundle, "crashes/%d", report->finding_count);
    return found;
}

static int count(const char *in, const char *part) {
    int n = 0;
    for (const char *at = in; (at = strstr(at, part)); at++) n++;
    return n;
}

static void findings_of_one_line_stand_together(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_check_report *report = calloc(1, sizeof *report);
    char *words = NULL, *json = NULL;
    size_t length;
    assert_non_null(report);
    report->contract = fake_contract(arena, text);
    report->kernel = "fake.cu";
    report->executor = report->engine = "emu";
    add(report, CUPEL_FINDING_STRAY_READ, "fake.cu", 14);
    add(report, CUPEL_FINDING_FAULT, "other.cu", 14);
    add(report, CUPEL_FINDING_FAULT, "fake.cu", 14);
    add(report, CUPEL_FINDING_STRAY_WRITE, "fake.cu", 15);
    add(report, CUPEL_FINDING_WRONG_VALUE, "", 0)->finding.gate = CUPEL_GATE_CMP_01;
    add(report, CUPEL_FINDING_WRONG_CLASS, "", 0)->finding.gate =
        CUPEL_GATE_CMP_01; /* no line is no one line */
    FILE *out = open_memstream(&words, &length);
    cupel_report_text(report, out);
    fclose(out);
    assert_int_equal(count(words, "\nRES-01 memory residency: "), 3);
    assert_int_equal(count(words, "\nCMP-01 input variation: "), 2);
    assert_non_null(strstr(words, "  1 more finding at this line:\n"
                                  "    RES-01: fault (proof): N=3\n"
                                  "      cupel replay crashes/3\n"));
    out = open_memstream(&json, &length);
    assert_int_equal(cupel_report_json(report, out, NULL), CUPEL_OK);
    fclose(out);
    assert_int_equal(count(json, "\"signature\""), 6);
    free(words);
    free(json);
    free(report);
    cupel_arena_free(arena);
}

/* What does not reject stands beside the verdict, where nobody overlooks it. */
static void the_verdict_tells_of_evidence(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_check_report *report = calloc(1, sizeof *report);
    assert_non_null(report);
    report->contract = fake_contract(arena, text);
    report->kernel = "fake.cu";
    report->executor = report->engine = "emu";
    report->cases = 60;
    report->verdict = CUPEL_VERDICT_ACCEPTED;
    static const char *const wanted[] = {
        "", ", with 1 finding as evidence: ORD-02 accesses that nothing orders",
        ", with 2 findings as evidence: ORD-02 accesses that nothing orders (2)",
        ", RES-01 result depends on memory that is not input"};
    for (int i = 0; i < 5; i++) {
        char *words = NULL;
        size_t length;
        FILE *out = open_memstream(&words, &length);
        cupel_report_text(report, out);
        fclose(out);
        if (i < 4) {
            char line[160];
            snprintf(line, sizeof line, "%s%s (60 cases, ", i < 3 ? "\nACCEPTED" : "", wanted[i]);
            if (!strstr(words, line)) fail_msg("%s not in\n%s", line, words);
        }
        if (i == 4) assert_non_null(strstr(words, "\nREJECTED by RES-01 (60 cases, "));
        free(words);
        cupel_check_finding *found =
            add(report, i < 2 ? CUPEL_FINDING_RACE : CUPEL_FINDING_STRAY_READ, "fake.cu", 14 + i);
        found->finding.standing = i < 3 ? CUPEL_STANDING_EVIDENCE : CUPEL_STANDING_PROOF;
        if (i < 2) found->finding.gate = CUPEL_GATE_ORD_02;
        if (i == 3) report->verdict = CUPEL_VERDICT_REJECTED, report->gates[CUPEL_GATE_RES_01].findings = 1;
    }
    free(report);
    cupel_arena_free(arena);
}

static void outputs_say_what_was_left_open(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_check_report *report = calloc(1, sizeof *report);
    char *words = NULL, *json = NULL;
    size_t length;
    assert_non_null(report);
    report->contract = fake_contract(arena, text);
    report->kernel = "fake.cu";
    report->executor = report->engine = "emu";
    cupel_output_tally *y = &report->scoreboard.outputs[1];
    y->by_reason[CUPEL_REASON_JUDGED] = 97100;
    FILE *out = open_memstream(&words, &length);
    cupel_report_text(report, out);
    fclose(out);
    assert_null(strstr(words, "output ")); /* nothing to say */
    free(words);
    y->by_reason[CUPEL_REASON_OVERFLOW] = 2100;
    y->by_reason[CUPEL_REASON_EXCLUDED] = 799;
    y->by_reason[CUPEL_REASON_SAMPLED_OUT] = 1;
    y->coarse = 24275;
    out = open_memstream(&words, &length);
    cupel_report_text(report, out);
    fclose(out);
    assert_non_null(strstr(words,
                           "\noutput    y: 97.1 % judged; not judged: 2.1 % overflow, 0.799 % excluded, "
                           "under 0.1 % unsampled; radius above magnitude 25 %\n"));
    out = open_memstream(&json, &length);
    assert_int_equal(cupel_report_json(report, out, NULL), CUPEL_OK);
    fclose(out);
    const char *outputs = strstr(json, "\"outputs\": [");
    assert_non_null(outputs);
    assert_int_equal(count(outputs, "\"name\": \"y\""), 1);
    assert_int_equal(count(outputs, "\"name\": \"x\""), 0);
    assert_non_null(strstr(outputs, "\"considered\": 100000,"));
    assert_non_null(strstr(outputs, "\"judged\": 97100,"));
    assert_non_null(strstr(outputs, "\"unsampled\": 1"));
    assert_non_null(strstr(outputs, "\"radius_above_magnitude\": 24275,"));
    assert_non_null(strstr(outputs, "\"radius_above_magnitude_share\": 0.25"));
    free(words);
    free(json);
    free(report);
    cupel_arena_free(arena);
}

static void a_limit_speaks_of_no_values(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_recipe recipe;
    cupel_trial trial = {0};
    char *words = NULL;
    size_t length;
    const cupel_contract *contract = fake_contract(arena, text);
    assert_int_equal(cupel_recipe_simple(contract, &recipe, NULL), CUPEL_OK);
    cupel_check_finding found = {.finding = {.gate = CUPEL_GATE_RES_02,
                                             .kind = CUPEL_FINDING_REFUSED,
                                             .standing = CUPEL_STANDING_PROOF,
                                             .output = -1,
                                             .index = -1,
                                             .output_name = "grid.y",
                                             .text = "grid.y is 65536"},
                                 .minimised = true,
                                 .signature = "refused-grid.y"};
    FILE *out = open_memstream(&words, &length);
    cupel_report_finding(&found, out);
    fclose(out);
    assert_non_null(strstr(words, "\n  needs     the launch alone: no values matter\n"));
    free(words);
    cupel_bundle bundle = {.contract = contract,
                           .contract_path = "fake.yaml",
                           .executor = "emu",
                           .recipe = &recipe,
                           .trial = &trial,
                           .finding = &found.finding};
    const char *explained = cupel_explanation_write(&bundle, "crashes/1", NULL, arena);
    assert_non_null(explained);
    assert_non_null(strstr(explained, "## What happened\n\nNothing ran."));
    assert_non_null(strstr(explained, "a device refuses it: grid.y is 65536.\n"));
    assert_null(strstr(explained, "x: "));
    assert_null(strstr(explained, "--gdb"));
    cupel_arena_free(arena);
}

static void what_overflows_itself_is_not_blamed_on_the_order(void **state) {
    (void)state;
    double value[] = {2e67, 1e30, 3.5e38}, lo[3] = {0}, hi[3] = {0};
    uint8_t classes[] = {1, 1, 1};
    uint8_t reasons[] = {CUPEL_REASON_OVERFLOW, CUPEL_REASON_OVERFLOW, CUPEL_REASON_OVERFLOW};
    cupel_allowed allowed = {
        .type = CUPEL_F32, .value = value, .lo = lo, .hi = hi, .classes = classes, .reasons = reasons};
    char words[192];
    cupel_word_allowed_at(&allowed, 0, CUPEL_F32, words, sizeof words);
    assert_string_equal(words,
                        "anything (the result overflows the working precision, and `range: working` leaves "
                        "such elements open; `range: safe` judges them)");
    cupel_word_allowed_at(&allowed, 1, CUPEL_F32, words, sizeof words);
    assert_string_equal(words,
                        "anything (the working precision may overflow in a legal order of evaluation)");
    cupel_word_allowed_at(&allowed, 2, CUPEL_F64, words, sizeof words); /* in doubles it does not */
    assert_string_equal(words,
                        "anything (the working precision may overflow in a legal order of evaluation)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_of_one_line_stand_together),
        cmocka_unit_test(the_verdict_tells_of_evidence),
        cmocka_unit_test(outputs_say_what_was_left_open),
        cmocka_unit_test(a_limit_speaks_of_no_values),
        cmocka_unit_test(what_overflows_itself_is_not_blamed_on_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
