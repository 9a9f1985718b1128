/* Every supported function against values that expectations.py computes by another route (mpmath, NumPy). */
#include "exact_fixture.h"

#include <math.h>
#include <mpfr.h>

enum { LINE_MAX_BYTES = 1 << 16, INPUT_BYTES = 1024 };

static exact_fixture x;
static unsigned char storage[FIXTURE_INPUTS][INPUT_BYTES];
static int failures;
static char called[1 << 16]; /* all expressions, to see which functions were tried */

static void read_input(char *rest) {
    static char names[FIXTURE_INPUTS][8], shapes[FIXTURE_INPUTS][16];
    const int at = x.bindings.count;
    cupel_dtype type;
    snprintf(names[at], sizeof names[at], "%s", strtok(rest, "\t\n"));
    assert_true(cupel_dtype_parse(strtok(NULL, "\t\n"), &type));
    snprintf(shapes[at], sizeof shapes[at], "%s", strtok(NULL, "\t\n"));
    size_t offset = 0;
    for (char *value; (value = strtok(NULL, "\t\n")); offset += cupel_format_of(type)->size)
        cupel_encode(type, strtod(value, NULL), storage[at] + offset);
    exact_input(&x, names[at], type, shapes[at], storage[at]);
}

/* |got - expected| <= 1e-20 |expected| + 1e-40 */
static bool close_enough(const char *got, const char *expected) {
    mpfr_t a, b;
    mpfr_inits2(256, a, b, (mpfr_ptr)NULL);
    mpfr_set_str(a, got, 10, MPFR_RNDN);
    mpfr_set_str(b, expected, 10, MPFR_RNDN);
    const double size = fabs(mpfr_get_d(b, MPFR_RNDN));
    mpfr_sub(a, a, b, MPFR_RNDN);
    const bool fits = fabs(mpfr_get_d(a, MPFR_RNDN)) <= 1e-20 * size + 1e-40;
    mpfr_clears(a, b, (mpfr_ptr)NULL);
    return fits;
}

/* All failures are shown, not only the first. */
static void __attribute__((format(printf, 1, 2))) complain(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_error("%s\n", text);
    failures++;
}

static int read_case(char *rest) {
    char *save = rest, *expression = strsep(&save, "\t\n"), *shape = strsep(&save, "\t\n");
    strcat(strcat(called, expression), ";");
    const bool integers = !strpbrk(save, ".");
    exact_build(&x, expression, integers ? CUPEL_I32 : CUPEL_F32, shape);
    int64_t i = 0;
    for (char *value; (value = strsep(&save, "\t\n")) && *value; i++) {
        cupel_exact_element e = exact_element(&x, i);
        if (e.reason != CUPEL_REASON_JUDGED || !(e.classes & CUPEL_CLASS_FINITE))
            complain("%s [%d]: reason %d, classes %d", expression, (int)i, e.reason, e.classes);
        if (!close_enough(e.digits, value))
            complain("%s [%d]: %s, expected %s", expression, (int)i, e.digits, value);
        if (!(e.lo <= e.rounded && e.rounded <= e.hi))
            complain("%s [%d]: %a outside [%a, %a]", expression, (int)i, e.rounded, e.lo, e.hi);
        if (integers && e.radius != 0) complain("%s [%d]: an integer with a radius", expression, (int)i);
    }
    assert_int_equal(i, x.f.graph->outputs[0].count);
    return 1;
}

static void functions_agree_with_mpmath_and_numpy(void **state) {
    (void)state;
    FILE *script = popen("/usr/bin/python3 " EXPECTATIONS, "r");
    assert_non_null(script);
    static char line[LINE_MAX_BYTES];
    int cases = 0;
    exact_start(&x);
    while (fgets(line, sizeof line, script)) {
        if (strncmp(line, "skip\t", 5) == 0) {
            print_message("skipped: %s", line + 5);
            pclose(script);
            exact_end(&x);
            skip();
        }
        if (strncmp(line, "input\t", 6) == 0) read_input(line + 6);
        if (strncmp(line, "case\t", 5) == 0) cases += read_case(line + 5);
    }
    assert_int_equal(pclose(script), 0);
    assert_true(cases > 180);
    assert_int_equal(failures, 0);
    exact_end(&x);
}

/* A function that is supported but stands in no case would be untested. */
static void every_supported_function_is_tried(void **state) {
    (void)state;
    /* test_exact_special.c, test_gradient_differences.c */
    static const char *const elsewhere[] = {"isfinite", "isnan", "isinf", "vjp"};
    size_t count;
    const cupel_function_info *functions = cupel_functions(&count);
    if (!called[0]) skip();
    for (size_t i = 0; i < count; i++) {
        char call[64];
        snprintf(call, sizeof call, "%s(", functions[i].name);
        bool known = !functions[i].supported || strstr(called, call);
        for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++)
            known |= strcmp(functions[i].name, elsewhere[k]) == 0;
        if (!known) fail_msg("%s stands in no case", functions[i].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_agree_with_mpmath_and_numpy),
        cmocka_unit_test(every_supported_function_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
