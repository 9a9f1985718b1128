/* The budgets of functions against what a GPU's functions do: the recorded table of tests/gpu/functions, over
 * all finite floats. No budget may be smaller than an error that was measured. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "budgets.h"

typedef struct row {
    char function[40], primitive[16], math[12], measure[12];
    double error;
    float x, z;
} row;

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* False at a comment. */
static bool read_row(const char *line, row *out) {
    unsigned x, z;
    if (line[0] == '#') return false;
    const int count = sscanf(line, "%39[^,],%15[^,],%11[^,],%11[^,],%lf,%x,%x", out->function, out->primitive,
                             out->math, out->measure, &out->error, &x, &z);
    if (count != 7) fail_msg("expected seven cells, found: %s", line);
    out->x = float_of(x);
    out->z = float_of(z);
    return true;
}

static cupel_op op_of(const char *name) {
    for (int op = 0; op < CUPEL_OP_COUNT; op++)
        if (strcmp(cupel_op_name((cupel_op)op), name) == 0) return (cupel_op)op;
    fail_msg("the table names the primitive '%s'", name);
    return CUPEL_OP_COUNT;
}

/* The exact result's magnitude, in double: enough for an ulp of single precision. */
static double magnitude_of(cupel_op op, double x, double z) {
    switch (op) {
    case CUPEL_OP_SQRT: return sqrt(x);
    case CUPEL_OP_RSQRT: return 1 / sqrt(x);
    case CUPEL_OP_EXP: return exp(x);
    case CUPEL_OP_EXP2: return exp2(x);
    case CUPEL_OP_EXPM1: return fabs(expm1(x));
    case CUPEL_OP_LOG: return fabs(log(x));
    case CUPEL_OP_LOG2: return fabs(log2(x));
    case CUPEL_OP_LOG10: return fabs(log10(x));
    case CUPEL_OP_LOG1P: return fabs(log1p(x));
    case CUPEL_OP_SIN: return fabs(sin(x));
    case CUPEL_OP_COS: return fabs(cos(x));
    case CUPEL_OP_TAN: return fabs(tan(x));
    case CUPEL_OP_ASIN: return fabs(asin(x));
    case CUPEL_OP_ACOS: return acos(x);
    case CUPEL_OP_ATAN: return fabs(atan(x));
    case CUPEL_OP_SINH: return fabs(sinh(x));
    case CUPEL_OP_COSH: return cosh(x);
    case CUPEL_OP_TANH: return fabs(tanh(x));
    case CUPEL_OP_ERF: return fabs(erf(x));
    case CUPEL_OP_ERFC: return erfc(x);
    case CUPEL_OP_POW: return fabs(pow(x, z));
    case CUPEL_OP_ATAN2: return fabs(atan2(x, z));
    case CUPEL_OP_DIV: return fabs(x / z);
    default: fail_msg("no formula for %s", cupel_op_name(op)); return NAN;
    }
}

static double budget_of(const cupel_working *w, cupel_op op, const row *r, double y) {
    const double x = (double)r->x, z = (double)r->z;
    if (op == CUPEL_OP_POW) return cupel_budget_power(w, fabs(x), fabs(x), fabs(z), y);
    /* a quotient's rounding is ball_arithmetic's: so many u, half the smallest subnormal for each of its two
     * roundings; a divisor beyond 2^126 gives 0 under the fast form, and its inverse may underflow */
    if (op == CUPEL_OP_DIV) {
        if (w->fast && fabs(z) > 0x1p126) return y + w->smallest;
        return w->division * w->unit * y + w->smallest + fabs(x) * w->eta;
    }
    return cupel_budget_error(w, op, x, x, y);
}

static void no_measured_error_is_beyond_its_budget(void **state) {
    (void)state;
    FILE *table = fopen(FUNCTION_ERRORS, "r");
    char line[512];
    int rows = 0, beyond = 0;
    char last[40] = "";
    double worst = 0;
    assert_non_null(table);
    while (fgets(line, sizeof line, table)) {
        row r;
        if (!read_row(line, &r)) continue;
        const cupel_rules rules = {.working = CUPEL_F32, .fast_math = strcmp(r.math, "fast") == 0};
        const cupel_working w = cupel_working_of(&rules);
        const cupel_op op = op_of(r.primitive);
        const double y = magnitude_of(op, (double)r.x, (double)r.z);
        const double error = strcmp(r.measure, "ulps") == 0 ? r.error * cupel_working_ulp(&w, y) : r.error;
        const double budget = budget_of(&w, op, &r, y);
        if (strcmp(last, r.function) != 0) {
            if (rows) print_message("%-28s largest error over budget %.3f\n", last, worst);
            memcpy(last, r.function, sizeof last);
            worst = 0;
        }
        rows++;
        if (isfinite(budget)) worst = fmax(worst, error / budget);
        if (error <= budget * (1 + 0x1p-20)) continue; /* the table has nine digits */
        beyond++;
        print_message("%s at %a, %a: error %.3f ulps, budget %.3f\n", r.function, (double)r.x, (double)r.z,
                      error / cupel_working_ulp(&w, y), budget / cupel_working_ulp(&w, y));
    }
    print_message("%-28s largest error over budget %.3f\n", last, worst);
    fclose(table);
    assert_true(rows > 2000);
    assert_int_equal(beyond, 0);
}

/* And a fast form that has figures of its own was measured as such. log1p's is log(1 + x), a formula rather
 * than a function of the hardware. */
static void every_function_with_a_budget_was_measured(void **state) {
    (void)state;
    bool seen[CUPEL_OP_COUNT][2] = {{false}};
    FILE *table = fopen(FUNCTION_ERRORS, "r");
    char line[512];
    row r;
    assert_non_null(table);
    while (fgets(line, sizeof line, table))
        if (read_row(line, &r)) seen[op_of(r.primitive)][strcmp(r.math, "fast") == 0] = true;
    fclose(table);
    for (int op = 0; op < CUPEL_OP_COUNT; op++) {
        const cupel_budget *budget = cupel_budget_of((cupel_op)op);
        if (!budget) continue;
        if (!seen[op][0]) fail_msg("%s was not measured", cupel_op_name((cupel_op)op));
        const bool own_fast_form =
            budget->fast_ulps != budget->precise_ulps || budget->fast_slope > 0 || budget->fast_absolute > 0;
        if (own_fast_form && op != CUPEL_OP_LOG1P && !seen[op][1])
            fail_msg("the fast form of %s was not measured", cupel_op_name((cupel_op)op));
    }
}

/* PTX ISA: tanh.approx.f32 is off by up to 2^-11 of the result. */
static void fast_functions_admit_the_hardware_tanh(void **state) {
    (void)state;
    for (int flag = 0; flag < 2; flag++) {
        const cupel_rules rules = {.working = CUPEL_F32, .fast_math = true, .fast_functions = flag};
        const cupel_working w = cupel_working_of(&rules);
        for (double x = 0x1p-10; x < 8; x *= 1.5) {
            const double y = tanh(x), error = cupel_budget_error(&w, CUPEL_OP_TANH, x, x, y);
            assert_true(flag ? error >= 0x1p-11 * y && error < 0x1.1p-11 * y + 0x1p-19 : error < 0x1p-19);
        }
    }
    /* precise promises the standard function whatever the compiler is told */
    const cupel_working precise =
        cupel_working_of(&(cupel_rules){.working = CUPEL_F32, .fast_functions = true});
    assert_true(cupel_budget_error(&precise, CUPEL_OP_TANH, 1, 1, tanh(1)) < 0x1p-20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_functions_admit_the_hardware_tanh),
        cmocka_unit_test(no_measured_error_is_beyond_its_budget),
        cmocka_unit_test(every_function_with_a_budget_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
