/* Contracts that tell right from wrong, and those that do not: each clause that hides a fault is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../contract/contract_text.h"
#include "calibrate_impl.h"
#include "calibrate_report.h"

/* ---- a family of good shadows that may hold a bad one ---- */

static const cupel_shadow_plan *the_family;
static int the_count;
const cupel_shadow_plan *__real_cupel_shadow_family(int *count);
const cupel_shadow_plan *__wrap_cupel_shadow_family(int *count);

const cupel_shadow_plan *__wrap_cupel_shadow_family(int *count) {
    if (!the_family) return __real_cupel_shadow_family(count);
    *count = the_count;
    return the_family;
}

/* Two good plans are enough for tests about faults. */
static const cupel_shadow_plan few[] = {{.name = "plain"},
                                        {.name = "block", .order = CUPEL_SHADOW_LANES, .lanes = 256}};

static int setup(void **state) {
    the_family = few;
    the_count = 2;
    *state = calloc(1, sizeof(cupel_calibrate_report));
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    free(*state);
    return 0;
}

static const cupel_calibrate_report *calibrated(void **state, cupel_arena *arena, const char *text) {
    cupel_calibrate_report *report = *state;
    const cupel_calibrate_options options = {.cases = 120, .seed = 1, .max_elements = 8192};
    cupel_error err = {0};
    if (cupel_calibrate(contract_of(arena, text), &options, NULL, report, &err) != CUPEL_OK)
        fail_msg("%s", err.text);
    return report;
}

static const cupel_calibrate_row *row_of(const cupel_calibrate_report *report, const char *name) {
    for (int i = 0; i < report->row_count; i++)
        if (strcmp(report->rows[i].name, name) == 0) return &report->rows[i];
    return NULL;
}

static void expect(const cupel_calibrate_report *report, const char *name, cupel_calibration outcome) {
    const cupel_calibrate_row *row = row_of(report, name);
    if (!row) fail_msg("no shadow %s", name);
    if (row->outcome != outcome)
        fail_msg("%s: expected %s, found %s (%s) %s", name, cupel_calibration_name(outcome),
                 cupel_calibration_name(row->outcome), row->described, row->advice);
}

/* ---- a contract that tells right from wrong ---- */

#define SUM                                                                                                  \
    "cupel: 1\nid: t\ndims: {M: 1..8, N: 1..300}\ntypes: {T: [f32, f16]}\n"                                  \
    "inputs: {x: \"T[M, N]\"}\noutputs: {y: \"T[M]\"}\nensures: {y: \"sum(x, axis=-1)\"}\n"
#define KERNEL "source: {file: k.cu}\nkernel: {entry: k<$T>, args: [x, y, M, N], grid: [M], block: [256]}\n"

static void a_contract_that_says_enough(void **state) {
    static const char *const sound[] = {
        "dropped-tail", "scaled",        "nan-cleared",        "inf-clamped", "coarse-type",
        "past-end",     "input-changed", "schedule-dependent", "first-call",  "last-unwritten"};
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_calibrate_report *report = calibrated(state, arena, SUM KERNEL);
    assert_int_equal(report->verdict, CUPEL_VERDICT_ACCEPTED);
    expect(report, "plain", CUPEL_CALIBRATION_SOUND);
    expect(report, "block", CUPEL_CALIBRATION_SOUND);
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        expect(report, sound[i], CUPEL_CALIBRATION_SOUND);
    assert_int_equal(cupel_calibrate_count(report, false, CUPEL_CALIBRATION_PASSES), 0);
    assert_non_null(row_of(report, "f16-accumulator"));
    assert_int_not_equal(row_of(report, "f16-accumulator")->rejected, 0);
    /* what the expression cannot show is no row */
    assert_null(row_of(report, "no-maximum"));
    assert_null(row_of(report, "last-tie"));
    assert_null(row_of(report, "uniform-cotangent"));
    const cupel_calibrate_row *row = row_of(report, "dropped-tail");
    assert_true(row->rejected & 1u << CUPEL_GATE_CMP_03);
    assert_non_null(strstr(row->described, "N=33"));
    cupel_arena_free(arena);
}

/* Equal seeds, equal reports. */
static void a_calibration_repeats(void **state) {
    cupel_arena *arena = cupel_arena_create(0);
    cupel_calibrate_report *first = malloc(sizeof *first);
    assert_non_null(first);
    *first = *calibrated(state, arena, SUM KERNEL);
    const cupel_calibrate_report *again = calibrated(state, arena, SUM KERNEL);
    assert_int_equal(first->row_count, again->row_count);
    for (int i = 0; i < first->row_count; i++) {
        assert_int_equal(first->rows[i].outcome, again->rows[i].outcome);
        assert_string_equal(first->rows[i].described, again->rows[i].described);
        assert_int_equal(first->rows[i].cases, again->rows[i].cases);
    }
    free(first);
    cupel_arena_free(arena);
}

static void a_bad_shadow_among_the_good_is_told(void **state) {
    static const cupel_shadow_plan bad[] = {{.name = "plain"},
                                            {.name = "drops", .fault = CUPEL_SHADOW_DROPPED_LAST}};
    the_family = bad;
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_calibrate_report *report = calibrated(state, arena, SUM KERNEL);
    expect(report, "plain", CUPEL_CALIBRATION_SOUND);
    expect(report, "drops", CUPEL_CALIBRATION_ACCUSED);
    assert_int_equal(report->verdict, CUPEL_VERDICT_REJECTED);
    cupel_arena_free(arena);
}

/* ---- what hides a fault ---- */

static void advises(const cupel_calibrate_report *report, const char *name, const char *quoted) {
    const cupel_calibrate_row *row = row_of(report, name);
    if (!row || !strstr(row->advice, quoted))
        fail_msg("%s: expected an advice about %s, found: %s", name, quoted, row ? row->advice : "no row");
}

static void a_wide_tolerance_hides(void **state) {
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_calibrate_report *report =
        calibrated(state, arena, SUM "tolerance: {y: {abs: 1e30, rel: 1}}\n" KERNEL);
    assert_int_equal(report->verdict, CUPEL_VERDICT_REJECTED);
    expect(report, "scaled", CUPEL_CALIBRATION_PASSES);
    expect(report, "bf16-accumulator", CUPEL_CALIBRATION_PASSES);
    advises(report, "scaled", "t.yaml:8: tolerance: {y: {abs: 1e30, rel: 1}}");
    advises(report, "bf16-accumulator", "leave it out");
    expect(report, "past-end", CUPEL_CALIBRATION_SOUND);
    cupel_arena_free(arena);
}

static void a_narrow_range_hides(void **state) {
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_calibrate_report *report =
        calibrated(state, arena,
                   "cupel: 1\nid: t\ndims: {M: 1..8, N: 1..64}\n"
                   "inputs:\n  x: {type: f32, shape: [M, N], range: [0, 1]}\n"
                   "outputs: {y: \"f32[M, N]\"}\nensures: {y: \"softmax(x, axis=-1)\"}\n"
                   "source: {file: k.cu}\nkernel: {entry: k, args: [x, y, M, N], grid: [M], block: [256]}\n");
    expect(report, "no-maximum", CUPEL_CALIBRATION_UNSEEN); /* exp(1) does not overflow */
    advises(report, "no-maximum", "t.yaml:5: x: {type: f32, shape: [M, N], range: [0, 1]}");
    advises(report, "no-maximum", "too narrow");
    expect(report, "nan-cleared", CUPEL_CALIBRATION_UNCLAIMED);
    advises(report, "nan-cleared", "every input is finite by the contract");
    assert_int_equal(report->verdict, CUPEL_VERDICT_ACCEPTED);
    cupel_arena_free(arena);
}

static void finite_inputs_and_no_determinism_are_not_claimed(void **state) {
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_calibrate_report *report =
        calibrated(state, arena,
                   "cupel: 1\nid: t\ndims: {N: 1..64}\n"
                   "inputs: {x: {type: f32, shape: [N], finite: true}}\noutputs: {y: \"f32[N]\"}\n"
                   "ensures: {y: \"x * 2\"}\ndeterministic: false\n"
                   "source: {file: k.cu}\nkernel: {entry: k, args: [x, y, N], grid: [1], block: [64]}\n");
    expect(report, "nan-cleared", CUPEL_CALIBRATION_UNCLAIMED);
    expect(report, "schedule-dependent", CUPEL_CALIBRATION_SOUND); /* the bit is wrong besides */
    expect(report, "scaled", CUPEL_CALIBRATION_SOUND);
    cupel_arena_free(arena);
}

static void shapes_that_are_left_out_are_named(void **state) {
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_calibrate_report *report =
        calibrated(state, arena,
                   "cupel: 1\nid: t\ndims: {N: 32..256}\nrequires: [\"N % 32 == 0\"]\n"
                   "inputs: {x: \"f32[N]\"}\noutputs: {y: \"f32[N]\"}\nensures: {y: \"x * 2\"}\n"
                   "source: {file: k.cu}\nkernel: {entry: k, args: [x, y, N], grid: [8], block: [64]}\n");
    expect(report, "tail-cleared", CUPEL_CALIBRATION_UNSEEN);
    advises(report, "tail-cleared", "t.yaml:4: requires: [\"N % 32 == 0\"]");
    assert_int_equal(report->verdict, CUPEL_VERDICT_ACCEPTED); /* such shapes are not claimed */
    cupel_arena_free(arena);
}

static void gradients_need_upstream_gradients_that_differ(void **state) {
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_calibrate_report *report = calibrated(
        state, arena,
        "cupel: 1\nid: t\ndims: {M: 1..4, N: 1..32}\n"
        "inputs: {x: \"f32[M, N]\", dy: \"f32[M, N]\"}\noutputs: {dx: \"f32[M, N]\"}\n"
        "ensures: {dx: \"vjp(tanh(x), x, dy)\"}\n"
        "source: {file: k.cu}\nkernel: {entry: k, args: [x, dy, dx, M, N], grid: [M], block: [64]}\n");
    const cupel_calibrate_row *row = row_of(report, "uniform-cotangent");
    assert_non_null(row);
    assert_int_not_equal(row->rejected, 0);
    expect(report, "scaled", CUPEL_CALIBRATION_SOUND);
    cupel_arena_free(arena);
}

/* ---- reports ---- */

static void the_report_names_what_passes(void **state) {
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_calibrate_report *report =
        calibrated(state, arena, SUM "tolerance: {y: {abs: 1e30, rel: 1}}\n" KERNEL);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cupel_calibrate_report_text(report, out);
    fclose(out);
    assert_non_null(strstr(text, "Under-specified: these faults pass\n"));
    assert_non_null(strstr(text, "NOT CALIBRATED\n"));
    assert_non_null(strstr(text, "good      2 of 2 pass every gate\n"));
    free(text);
    out = open_memstream(&text, &size);
    assert_true(cupel_calibrate_report_json(report, out));
    fclose(out);
    assert_non_null(strstr(text, "\"outcome\": \"passes\""));
    assert_non_null(strstr(text, "\"verdict\": \"rejected\""));
    free(text);
    cupel_arena_free(arena);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(a_contract_that_says_enough),
                                       TEST(a_calibration_repeats),
                                       TEST(a_bad_shadow_among_the_good_is_told),
                                       TEST(a_wide_tolerance_hides),
                                       TEST(a_narrow_range_hides),
                                       TEST(finite_inputs_and_no_determinism_are_not_claimed),
                                       TEST(shapes_that_are_left_out_are_named),
                                       TEST(gradients_need_upstream_gradients_that_differ),
                                       TEST(the_report_names_what_passes)};
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
