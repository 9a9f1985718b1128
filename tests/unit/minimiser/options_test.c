/* The command line's option table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cli_options.h"
#include "schedule.h"

static cupel_code parse(int command, const char *first, const char *second, const char *third,
                        cupel_cli_settings *out, cupel_error *err) {
    static char copies[3][64];
    const char *given[] = {first, second, third};
    char name[] = "command", *argv[5] = {name};
    int argc = 1;
    for (int i = 0; i < 3 && given[i]; i++) {
        snprintf(copies[i], sizeof copies[i], "%s", given[i]);
        argv[argc++] = copies[i];
    }
    *err = (cupel_error){0};
    return cupel_cli_parse(command, argc, argv, out, err);
}

static void values_arrive(void **state) {
    (void)state;
    cupel_cli_settings s;
    cupel_error err;
    assert_int_equal(parse(CUPEL_CLI_CHECK, "--cases=300", "kernel.cu", "--for=2m", &s, &err), CUPEL_OK);
    assert_int_equal(s.cases, 300);
    assert_true(s.seconds == 120);
    assert_string_equal(s.operand, "kernel.cu");
    assert_int_equal(s.standing, CUPEL_STANDING_PROOF);
    assert_int_equal(parse(CUPEL_CLI_CHECK, "-DA=1", "-I", "include", &s, &err), CUPEL_OK);
    assert_string_equal(s.defines.items[0], "A=1");
    assert_string_equal(s.includes.items[0], "include");
    assert_null(s.operand);
    assert_int_equal(parse(CUPEL_CLI_CHECK, "--gates", "CMP-01,EXC-01", "k", &s, &err), CUPEL_OK);
    assert_int_equal(s.gates, 1u << CUPEL_GATE_CMP_01 | 1u << CUPEL_GATE_EXC_01);
    assert_int_equal(parse(CUPEL_CLI_CHECK, "--for=500ms", "--seed", "0x10", &s, &err), CUPEL_OK);
    assert_true(s.seconds == 0.5);
    assert_int_equal(s.seed, 16);
    assert_int_equal(parse(CUPEL_CLI_RUN, "--schedule=last_warp", "--history=other_buffers", "k", &s, &err),
                     CUPEL_OK);
    assert_int_equal(cupel_schedule_unpack(s.schedule).way, CUPEL_SCHEDULE_LAST_WARP);
    assert_int_equal(s.history, CUPEL_HISTORY_OTHER_BUFFERS);
    assert_int_equal(parse(CUPEL_CLI_RUN, "--history=repeat:5", "k", NULL, &s, &err), CUPEL_OK);
    assert_int_equal(s.history, CUPEL_HISTORY_REPEAT);
    assert_int_equal(s.history_calls, 5);
}

static void complaint(int command, const char *first, const char *second, const char *expected) {
    cupel_cli_settings s;
    cupel_error err;
    assert_int_equal(parse(command, first, second, NULL, &s, &err), CUPEL_USAGE);
    if (!strstr(err.text, expected)) fail_msg("'%s' does not say '%s'", err.text, expected);
}

static void mistakes_are_named(void **state) {
    (void)state;
    complaint(CUPEL_CLI_CHECK, "--caes=3", NULL, "unknown option --caes, did you mean --cases?");
    complaint(CUPEL_CLI_CHECK, "--set", "N=3", "this command does not take --set");
    complaint(CUPEL_CLI_CHECK, "--cases", NULL, "option --cases needs a value");
    complaint(CUPEL_CLI_CHECK, "-o", NULL, "option -o needs a value");
    complaint(CUPEL_CLI_CHECK, "-z", NULL, "unknown option -z");
    complaint(CUPEL_CLI_CHECK, "--frob", NULL, "unknown option --frob; cupel command --help lists them");
    complaint(CUPEL_CLI_CHECK, "-o", "", "-o needs a value");
    complaint(CUPEL_CLI_CHECK, "--gates", "", "found nothing");
    complaint(CUPEL_CLI_RUN, "--schedule", "7", "expected a schedule such as canonical, reverse");
    complaint(CUPEL_CLI_RUN, "--history", "repet", "unknown 'repet', did you mean 'repeat'?");
    complaint(CUPEL_CLI_CHECK, "--cases", "99999999999999999999", "is too large");
    complaint(CUPEL_CLI_CHECK, "--cases", "many", "expected a whole number, found 'many'");
    complaint(CUPEL_CLI_CHECK, "--cases", "-3", "expected a whole number, found '-3'");
    complaint(CUPEL_CLI_CHECK, "--cases", "0", "at least 1");
    complaint(CUPEL_CLI_CHECK, "--seed", "99999999999999999999", "is too large");
    complaint(CUPEL_CLI_CHECK, "--for", "10x", "expected a time such as 10s or 2m, found '10x'");
    complaint(CUPEL_CLI_CHECK, "--for", "-1s", "expected a time");
    complaint(CUPEL_CLI_CHECK, "--for", "nan", "expected a time");
    complaint(CUPEL_CLI_CHECK, "--on", "gpu", "expected emu, host or cuda, found 'gpu'");
    complaint(CUPEL_CLI_CHECK, "--engine", "afl", "--engine afl is not there yet");
    complaint(CUPEL_CLI_CHECK, "--format", "junit", "--format junit is not there yet");
    complaint(CUPEL_CLI_CHECK, "--format", "xml", "expected text or json, found 'xml'");
    complaint(CUPEL_CLI_CHECK, "--gates", "CMP-99", "expected ids such as CMP-01,EXC-01");
    complaint(CUPEL_CLI_CHECK, "one.cu", "two.cu", "unexpected operand 'two.cu'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_arrive),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
