/* An operand that may be one of several: a number or an infinity, an infinity of either sign, a NaN or not.
 * Whatever a kernel holds there, what IEEE arithmetic makes of it must be allowed. The independent route is
 * the arithmetic itself, on a sample of everything that the operand may be. */
#include "ball.h"
#include "exact_fixture.h"
#include "function_value.h"
#include "philox.h"

#include <float.h>
#include <math.h>

enum { SAMPLES = 12, DRAWS = 20000 };

static const uint8_t infinite[] = {CUPEL_CLASS_POS_INF, CUPEL_CLASS_NEG_INF};
static const cupel_trait plain = {.overflow = 4};

static cupel_working working(bool fast) {
    const cupel_rules rules = {.working = CUPEL_F32, .fast_math = fast};
    return cupel_working_of(&rules);
}

static double draw_number(cupel_random *random) {
    static const double few[] = {0, 1, -1, 0.5, 2, -3};
    const uint64_t bits = cupel_random_u64(random);
    if (bits % 4 == 0) return few[bits / 4 % 6];
    return (double)((float)((double)(bits >> 40) / 0x1p24 - 0.5) * ldexpf(1, (int)(bits % 9) - 4));
}

/* A number with a radius or none, or an infinity or NaN; mostly it may also be of other classes. A value that
 * is no number has no number beside it: such a ball has no bound and is not judged. */
static cupel_ball draw_open(cupel_random *random) {
    static const double special[] = {INFINITY, -INFINITY, NAN};
    const uint64_t bits = cupel_random_u64(random);
    const double value = bits % 8 < 3 ? special[bits % 8] : draw_number(random);
    const double radius = isfinite(value) && bits / 8 % 2 ? fabs(draw_number(random)) / 8 : 0;
    uint8_t classes = cupel_class_of(value);
    for (int i = 0; i < 2; i++) classes |= bits / (16 << i) % 2 ? infinite[i] : 0;
    if (bits / 64 % 4 == 0) classes |= CUPEL_CLASS_NAN;
    if (value == 0 && radius == 0 && bits / 4096 % 2) classes |= cupel_zero_sign_of(value);
    cupel_ball b = cupel_ball_plain(value, radius, classes, CUPEL_REASON_JUDGED);
    if (bits / 256 % 3 == 0) b.floor = isfinite(value) ? value - radius / 2 : draw_number(random);
    if (bits / 1024 % 3 == 0)
        b.ceiling = isfinite(value) ? value + radius / 2 : b.floor + fabs(draw_number(random));
    return b;
}

/* Some of what the operand may be: at least one value of each class. */
static int sample(cupel_random *random, const cupel_ball *b, double values[SAMPLES]) {
    int n = 0;
    if (b->classes & CUPEL_CLASS_FINITE) {
        const double lo = cupel_ball_lo(b), hi = cupel_ball_hi(b);
        const bool sign_known = b->classes & CUPEL_ZERO_SIGN_FIXED;
        values[n++] = b->value;
        if (!sign_known && lo <= 0 && hi >= 0) values[n++] = 0.0, values[n++] = -0.0;
        if (lo < hi) values[n++] = lo, values[n++] = hi;
        while (lo < hi && n < SAMPLES - 3)
            values[n++] = lo + (hi - lo) * ((double)(cupel_random_u64(random) >> 11) / 0x1p53);
    }
    if (b->classes & CUPEL_CLASS_POS_INF) values[n++] = INFINITY;
    if (b->classes & CUPEL_CLASS_NEG_INF) values[n++] = -INFINITY;
    if (b->classes & CUPEL_CLASS_NAN) values[n++] = NAN;
    return n;
}

static bool allows(const cupel_ball *r, double y) {
    if (r->reason) return true; /* not judged */
    if (!(r->classes & cupel_class_of(y))) return false;
    if (!isfinite(y)) return true;
    const double slack = 1e-13 * (fabs(y) + fabs(r->value));
    return y >= cupel_ball_lo(r) - slack && y <= cupel_ball_hi(r) + slack;
}

static void describe(const cupel_ball *b, char text[128]) {
    snprintf(text, 128, "%.9g +- %.3g (classes %d, reason %d)", b->value, b->radius,
             b->classes & CUPEL_CLASS_MASK, b->reason);
}

static void expect_allowed(const char *what, int op, const cupel_ball *a, double x, const cupel_ball *b,
                           double z, const cupel_ball *r, double y) {
    char of_a[128], of_b[128] = "", of_r[128];
    if (allows(r, y)) return;
    describe(a, of_a);
    if (b) describe(b, of_b);
    describe(r, of_r);
    fail_msg("%s %d of {%s} {%s} at %.9g %.9g is %.9g, allowed: %s", what, op, of_a, of_b, x, z, y, of_r);
}

static bool is_judged_often(int judged) {
    return judged > DRAWS / 50;
}

static void functions_of_one_argument(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(5, 0);
    for (int op = CUPEL_OP_NEG; op <= CUPEL_OP_ERFC; op++) {
        if (op == CUPEL_OP_BITNOT || op == CUPEL_OP_TOREAL || op == CUPEL_OP_NOT) continue;
        int judged = 0;
        for (int i = 0; i < DRAWS; i++) {
            const cupel_working w = working(i % 2);
            const cupel_ball a = draw_open(&random);
            const double value = cupel_function_value((cupel_op)op, a.value);
            const cupel_ball r =
                cupel_ball_unary(&w, &plain, (cupel_op)op, CUPEL_VALUE_REAL, &a, value, false);
            double x[SAMPLES];
            const int n = sample(&random, &a, x);
            judged += r.reason == CUPEL_REASON_JUDGED;
            for (int k = 0; k < n; k++)
                expect_allowed("function", op, &a, x[k], NULL, 0, &r,
                               cupel_function_value((cupel_op)op, x[k]));
        }
        if (!is_judged_often(judged)) fail_msg("operation %d: judged %d of %d", op, judged, DRAWS);
    }
}

static double python_remainder(double x, double y) {
    const double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static double largest(double x, double y, bool nan_wins) {
    if (isnan(x) || isnan(y)) return nan_wins ? NAN : isnan(x) ? y : x;
    return x > y ? x : y;
}

static double combine(cupel_op op, double x, double y) {
    switch (op) {
    case CUPEL_OP_ADD: return x + y;
    case CUPEL_OP_SUB: return x - y;
    case CUPEL_OP_MUL: return x * y;
    case CUPEL_OP_DIV: return x / y;
    case CUPEL_OP_POW: return pow(x, y);
    case CUPEL_OP_ATAN2: return atan2(x, y);
    case CUPEL_OP_FMOD: return fmod(x, y);
    case CUPEL_OP_REMAINDER: return python_remainder(x, y);
    case CUPEL_OP_MAXIMUM: return largest(x, y, true);
    case CUPEL_OP_MINIMUM: return -largest(-x, -y, true);
    case CUPEL_OP_FMAX: return largest(x, y, false);
    case CUPEL_OP_FMIN: return -largest(-x, -y, false);
    case CUPEL_OP_LT: return x < y;
    case CUPEL_OP_LE: return x <= y;
    case CUPEL_OP_EQ: return x == y;
    default: return x != y;
    }
}

static const cupel_op pairs[] = {CUPEL_OP_ADD,     CUPEL_OP_SUB,     CUPEL_OP_MUL,  CUPEL_OP_DIV,
                                 CUPEL_OP_POW,     CUPEL_OP_ATAN2,   CUPEL_OP_FMOD, CUPEL_OP_REMAINDER,
                                 CUPEL_OP_MAXIMUM, CUPEL_OP_MINIMUM, CUPEL_OP_FMAX, CUPEL_OP_FMIN,
                                 CUPEL_OP_LT,      CUPEL_OP_LE,      CUPEL_OP_EQ,   CUPEL_OP_NE};

static void functions_of_two_arguments(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(6, 0);
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        int judged = 0;
        for (int i = 0; i < DRAWS; i++) {
            const cupel_working w = working(i % 2);
            const cupel_ball a = draw_open(&random), b = draw_open(&random);
            const double value = combine(pairs[p], a.value, b.value);
            const cupel_ball r =
                cupel_ball_binary(&w, &plain, pairs[p], CUPEL_VALUE_REAL, &a, &b, value, false);
            double x[SAMPLES], y[SAMPLES];
            const int nx = sample(&random, &a, x), ny = sample(&random, &b, y);
            judged += r.reason == CUPEL_REASON_JUDGED;
            for (int k = 0; k < nx * ny; k++)
                expect_allowed("operation", (int)pairs[p], &a, x[k % nx], &b, y[k / nx], &r,
                               combine(pairs[p], x[k % nx], y[k / nx]));
        }
        if (!is_judged_often(judged)) fail_msg("operation %d: judged %d of %d", (int)pairs[p], judged, DRAWS);
    }
}

static void narrower_types(void **state) {
    (void)state;
    static const cupel_dtype types[] = {CUPEL_F16, CUPEL_BF16, CUPEL_TF32};
    const cupel_working w = working(false);
    cupel_random random = cupel_random_start(7, 0);
    for (int i = 0; i < 3 * DRAWS; i++) {
        const cupel_dtype type = types[i % 3];
        const cupel_ball a = draw_open(&random);
        const cupel_ball r = cupel_ball_cast(&w, type, &a, cupel_round(type, a.value));
        double x[SAMPLES];
        const int n = sample(&random, &a, x);
        for (int k = 0; k < n; k++)
            expect_allowed("cast", (int)type, &a, x[k], NULL, 0, &r, cupel_round(type, x[k]));
    }
}

static void open_choices(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(8, 0);
    for (int i = 0; i < DRAWS; i++) {
        const cupel_ball a = draw_open(&random), b = draw_open(&random);
        const double chosen = i % 2;
        const cupel_ball condition =
            cupel_ball_plain(chosen, i / 2 % 2, CUPEL_CLASS_FINITE, CUPEL_REASON_JUDGED);
        const cupel_ball r = cupel_ball_where(&condition, &a, &b, chosen != 0 ? a.value : b.value);
        double x[SAMPLES], y[SAMPLES];
        const int nx = sample(&random, &a, x), ny = sample(&random, &b, y);
        for (int k = 0; k < nx && (chosen != 0 || condition.radius > 0); k++)
            expect_allowed("where", 1, &a, x[k], &b, 0, &r, x[k]);
        for (int k = 0; k < ny && (chosen == 0 || condition.radius > 0); k++)
            expect_allowed("where", 0, &a, 0, &b, y[k], &r, y[k]);
    }
}

/* A row of a few elements: its sum, its winner, its order. */
enum { ROW = 4 };

static int compare_nan_last(const void *p, const void *q) {
    const double a = *(const double *)p, b = *(const double *)q;
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int winner_of(const double x[ROW]) {
    int best = 0;
    for (int i = 1; i < ROW; i++)
        if (!isnan(x[best]) && (isnan(x[i]) || x[i] > x[best])) best = i;
    return best;
}

static double sum_of(const double x[ROW]) {
    return (x[0] + x[1]) + (x[2] + x[3]);
}

static void rows(void **state) {
    (void)state;
    const cupel_working w = working(false);
    cupel_random random = cupel_random_start(9, 0);
    for (int i = 0; i < DRAWS; i++) {
        cupel_ball row[ROW], sorted[ROW];
        double exact[ROW], x[ROW][SAMPLES];
        int n[ROW];
        cupel_ball_tally tally = cupel_ball_tally_start();
        for (int k = 0; k < ROW; k++) {
            row[k] = draw_open(&random);
            exact[k] = row[k].value;
            n[k] = sample(&random, &row[k], x[k]);
            cupel_ball_tally_add(&w, &tally, &row[k]);
        }
        const cupel_ball sum =
            cupel_ball_tally_end(&w, &plain, CUPEL_VALUE_REAL, &tally, sum_of(exact), false);
        const cupel_ball winner = cupel_ball_arg(&w, CUPEL_OP_ARGMAX, row, ROW);
        assert_true(cupel_ball_sort(&w, CUPEL_VALUE_REAL, row, ROW, sorted));
        for (int draw = 0; draw < 8; draw++) {
            double held[ROW];
            for (int k = 0; k < ROW; k++) held[k] = x[k][cupel_random_u64(&random) % (uint64_t)n[k]];
            expect_allowed("sum", 0, &row[0], held[0], &row[1], held[1], &sum, sum_of(held));
            expect_allowed("argmax", 0, &row[0], held[0], &row[1], held[1], &winner, winner_of(held));
            qsort(held, ROW, sizeof *held, compare_nan_last);
            for (int k = 0; k < ROW; k++)
                expect_allowed("position", k, &row[0], row[0].value, &row[1], row[1].value, &sorted[k],
                               held[k]);
        }
    }
}

static bool is_exact_product(double x, double y) {
    return isfinite(x * y) && fma(x, y, -(x * y)) == 0;
}

static void products(void **state) {
    (void)state;
    const cupel_working w = working(false);
    cupel_random random = cupel_random_start(10, 0);
    for (int i = 0; i < DRAWS; i++) {
        cupel_ball product = cupel_ball_one();
        cupel_ball_tally tally = cupel_ball_tally_start();
        double all = 1, dot = 0, held_all = 1, held_dot = 0;
        cupel_ball a, b;
        for (int k = 0; k < 2; k++) {
            double x[SAMPLES], y[SAMPLES];
            a = draw_open(&random), b = draw_open(&random);
            const int nx = sample(&random, &a, x), ny = sample(&random, &b, y);
            const double held_x = x[cupel_random_u64(&random) % (uint64_t)nx],
                         held_y = y[cupel_random_u64(&random) % (uint64_t)ny];
            const bool exact = is_exact_product(all, a.value);
            all *= a.value;
            product = cupel_ball_prod_step(&w, &plain, CUPEL_VALUE_REAL, &product, &a, all, exact);
            cupel_ball_tally_product(&w, &tally, &a, &b, a.value * b.value,
                                     is_exact_product(a.value, b.value));
            dot += a.value * b.value;
            held_all *= held_x;
            held_dot += held_x * held_y;
        }
        const cupel_ball sum = cupel_ball_tally_end(&w, &plain, CUPEL_VALUE_REAL, &tally, dot, false);
        expect_allowed("product ending with", 0, &a, a.value, NULL, 0, &product, held_all);
        expect_allowed("dot product ending with", 0, &a, a.value, &b, b.value, &sum, held_dot);
    }
}

/* A term of a chain: near the largest number half of the time. */
static cupel_ball draw_large(cupel_random *random) {
    static const double sizes[] = {1, 0.5, 0.125, 0x1p-6};
    const cupel_ball open = draw_open(random);
    const uint64_t bits = cupel_random_u64(random);
    if (!isfinite(open.value) || bits % 2) return open;
    const double size = FLT_MAX * sizes[bits / 2 % 4], value = bits / 8 % 2 ? size : -size;
    const double radius = bits / 16 % 2 ? size / 64 : 0;
    return cupel_ball_plain(value, radius, open.classes & CUPEL_CLASS_MASK, CUPEL_REASON_JUDGED);
}

/* Adds two at a time, whichever come. */
static double sum_in_some_order(cupel_random *random, double *terms, int n) {
    while (n > 1) {
        const uint64_t i = cupel_random_below(random, (uint64_t)n);
        const double taken = terms[i];
        terms[i] = terms[--n];
        const uint64_t j = cupel_random_below(random, (uint64_t)n);
        terms[j] = (double)((float)terms[j] + (float)taken);
    }
    return terms[0];
}

static void chains(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(11, 0);
    int judged = 0;
    for (int i = 0; i < DRAWS; i++) {
        const cupel_working w = working(i % 2);
        const int n = 3 + i % 4;
        cupel_ball terms[6], sum = terms[0] = draw_large(&random);
        for (int k = 1; k < n; k++) {
            terms[k] = draw_large(&random);
            const cupel_trait step = {.overflow = 4, .joins = k > 1};
            const bool subtract = cupel_random_below(&random, 3) == 0;
            const double value = subtract ? sum.value - terms[k].value : sum.value + terms[k].value;
            sum = cupel_ball_add(&w, &step, subtract, &sum, &terms[k], value, false);
            if (subtract)
                terms[k] = cupel_ball_unary(&w, &plain, CUPEL_OP_NEG, CUPEL_VALUE_REAL, &terms[k],
                                            -terms[k].value, true);
        }
        judged += sum.reason == CUPEL_REASON_JUDGED;
        for (int draw = 0; draw < 12; draw++) {
            double held[6], of_term[SAMPLES];
            for (int k = 0; k < n; k++)
                held[k] = of_term[cupel_random_below(&random, (uint64_t)sample(&random, &terms[k], of_term))];
            const double first = held[0], second = held[1];
            expect_allowed("chain", n, &terms[0], first, &terms[1], second, &sum,
                           sum_in_some_order(&random, held, n));
        }
    }
    assert_true(is_judged_often(judged));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_one_argument),
        cmocka_unit_test(functions_of_two_arguments),
        cmocka_unit_test(narrower_types),
        cmocka_unit_test(open_choices),
        cmocka_unit_test(rows),
        cmocka_unit_test(products),
        cmocka_unit_test(chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
