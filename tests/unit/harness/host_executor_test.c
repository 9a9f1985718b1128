/* The host executor: arguments of every type, several launches, sources that are compiled, and what it says
 * when something does not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host_fixture.h"

static const uint64_t memory = 400 << 20;

static int findings(host_fixture *f) {
    static cupel_trial trial;
    cupel_error err;
    cupel_recipe recipe = host_fixture_recipe(f, 33);
    cupel_code code = cupel_supervisor_try(f->supervisor, &recipe, true, f->arena, &trial, &err);
    if (code != CUPEL_OK) print_message("%s\n", err.text);
    assert_int_equal(code, CUPEL_OK);
    return trial.judged.finding_count;
}

static void every_type_arrives(void **state) {
    (void)state;
    host_fixture f;
    host_fixture_start_with(&f, NULL,
                            "{symbol: takes_all, args: [x, y, N, {\"-5\": i8}, {\"250\": u8}, {\"-300\": "
                            "i16}, {\"65000\": u16}, {\"-70000\": i32}, "
                            "{\"4000000000\": u32}, {\"-5000000000\": i64}, {\"5000000000\": u64}, {\"0.1\": "
                            "f32}, {\"0.1\": f64}, null]}",
                            "");
    host_fixture_open(&f, 5, memory);
    assert_int_equal(findings(&f), 0);
    host_fixture_stop(&f);
    /* The test itself would see a wrong value. */
    host_fixture_start_with(&f, NULL,
                            "{symbol: takes_all, args: [x, y, N, {\"-5\": i8}, {\"250\": u8}, {\"-300\": "
                            "i16}, {\"65000\": u16}, {\"-70000\": i32}, "
                            "{\"4000000000\": u32}, {\"-5000000000\": i64}, {\"5000000001\": u64}, {\"0.1\": "
                            "f32}, {\"0.1\": f64}, null]}",
                            "");
    host_fixture_open(&f, 5, memory);
    assert_int_equal(findings(&f), 1);
    host_fixture_stop(&f);
}

/* A function that goes on with what the first call of the process gave it: each run has a process of its own,
 * so that only an earlier call in it shows that. */
static void earlier_calls_are_made(void **state) {
    (void)state;
    host_fixture f;
    static cupel_trial trial;
    cupel_error err;
    host_fixture_start(&f, "remembers_the_first", "deterministic: true\n");
    host_fixture_open(&f, 5, memory);
    for (int history = 0; history < CUPEL_HISTORY_COUNT; history++) {
        cupel_recipe recipe = host_fixture_recipe(&f, 33);
        recipe.history = (cupel_history)history;
        assert_int_equal(cupel_supervisor_try(f.supervisor, &recipe, true, f.arena, &trial, &err), CUPEL_OK);
        /* of FIRST_AGAIN the first call is the judged one, which it then remembers */
        bool shows = history >= CUPEL_HISTORY_OTHER_VALUES && history != CUPEL_HISTORY_FIRST_AGAIN;
        assert_int_equal(trial.judged.finding_count, shows);
        if (!shows) continue;
        assert_int_equal(trial.judged.findings[0].kind, CUPEL_FINDING_HISTORY);
        assert_int_equal(trial.judged.findings[0].index, 0);
    }
    host_fixture_stop(&f);
}

/* They fit at every shape that is looked at before anything runs, and not at N = 33. */
static void values_that_do_not_fit_are_contract_errors(void **state) {
    (void)state;
    static const char *kernels[] = {"{symbol: right, args: [x, y, {\"(N == 33) * 4000000000\": i32}]}",
                                    "{symbol: right, args: [x, y, \"(N == 33) * 4000000000\"]}",
                                    "{symbol: right, args: [x, y, {\"0 - (N == 33)\": u32}]}",
                                    "{symbol: right, args: [x, y, {\"(N == 33) * 300\": u8}]}"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        host_fixture f;
        static cupel_trial trial;
        cupel_error err;
        host_fixture_start_with(&f, NULL, kernels[i], "");
        host_fixture_open(&f, 5, memory);
        cupel_recipe recipe = host_fixture_recipe(&f, 33);
        assert_int_equal(cupel_supervisor_try(f.supervisor, &recipe, true, f.arena, &trial, &err),
                         CUPEL_MISMATCH);
        assert_int_equal(err.line, 8);
        host_fixture_stop(&f);
    }
}

static void launches_run_in_order(void **state) {
    (void)state;
    host_fixture f;
    host_fixture_start_with(
        &f, NULL, "[{symbol: first_half, args: [x, y, N]}, {symbol: second_half, args: [y, N]}]", "");
    host_fixture_open(&f, 5, memory);
    assert_int_equal(findings(&f), 0);
    host_fixture_stop(&f);
    host_fixture_start_with(
        &f, NULL,
        "[{symbol: first_half, args: [x, y, N]}, {symbol: second_half, args: [y, N], skip_if: \"N == 33\"}]",
        "");
    host_fixture_open(&f, 5, memory);
    assert_int_equal(findings(&f), 1);
    host_fixture_stop(&f);
}

/* Sources are compiled, again when they or a header change. */
static void sources_are_compiled(void **state) {
    (void)state;
    host_fixture f;
    host_fixture_start_with(&f,
                            "#include \"add.h\"\nvoid k(const float *x, float *y, int n) {\n"
                            "    for (int i = 0; i < n; i++) y[i] = x[i] + ADD;\n}\n",
                            "{symbol: k, args: [x, y, N]}", "");
    host_fixture_write(&f, "add.h", "#define ADD 1\n");
    host_fixture_open(&f, 5, memory);
    assert_int_equal(findings(&f), 0);
    host_fixture_write(&f, "add.h", "#define ADD 2\n");
    assert_int_equal(findings(&f), 1); /* a fresh worker compiles afresh */
    host_fixture_stop(&f);
}

static void compiler_errors_have_their_line(void **state) {
    (void)state;
    host_fixture f;
    cupel_error err;
    host_fixture_start_with(
        &f, "void k(const float *x, float *y, int n) {\n    y[0] = x[0] + undeclared + n;\n}\n",
        "{symbol: k, args: [x, y, N]}", "");
    cupel_supervisor_options options = {.exec = {.cache = f.folder}, .contract_path = f.path};
    assert_int_equal(cupel_supervisor_open(f.contract, &options, &f.supervisor, &err), CUPEL_BUILD);
    assert_int_equal(err.line, 2);
    assert_non_null(strstr(err.text, "undeclared"));
    f.supervisor = NULL;
    host_fixture_stop(&f);
}

/* An object that changes the floating-point mode as it is loaded hurts nobody but itself. */
static void fast_math_objects_are_told(void **state) {
    (void)state;
    host_fixture f;
    static cupel_trial trial;
    host_fixture_start_with(
        &f,
        "#include <xmmintrin.h>\n"
        "__attribute__((constructor)) static void set(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }\n"
        "void k(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] + 1; }\n",
        "{symbol: k, args: [x, y, N]}", "");
    host_fixture_open(&f, 5, memory);
    cupel_recipe recipe = host_fixture_recipe(&f, 33);
    assert_int_equal(cupel_supervisor_try(f.supervisor, &recipe, true, f.arena, &trial, NULL), CUPEL_OK);
    assert_int_equal(trial.judged.finding_count, 1);
    assert_int_equal(trial.judged.findings[0].fault, CUPEL_FAULT_FP_MODE);
    assert_int_equal(trial.judged.findings[0].gate, CUPEL_GATE_RES_01);
    host_fixture_stop(&f);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--worker")) return cupel_worker_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_arrives),
        cmocka_unit_test(values_that_do_not_fit_are_contract_errors),
        cmocka_unit_test(launches_run_in_order),
        cmocka_unit_test(sources_are_compiled),
        cmocka_unit_test(compiler_errors_have_their_line),
#if defined(__x86_64__)
        cmocka_unit_test(fast_math_objects_are_told),
#endif
        cmocka_unit_test(earlier_calls_are_made),
    };
    return cmocka_run_group_tests_name("host executor", tests, NULL, NULL);
}
