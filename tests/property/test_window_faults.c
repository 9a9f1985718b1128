/* Convolutions with one fault each leave the allowed set, and named hard cases stay inside it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "window_kernels.h"

enum { PROBLEMS = 400 };

typedef struct tally {
    int changed, caught; /* problems whose results the fault changes by much, and those judged wrong */
} tally;

/* One random problem of ordinary values, without special ones; the right kernel, then the faulty one. */
static void try_problem(cupel_arena *arena, uint64_t seed, bool transposed, window_fault fault, tally *t) {
    property_problem p = {.arena = arena, .type = CUPEL_F32, .random = cupel_random_start(seed, 9)};
    p.rules = (cupel_rules){.working = CUPEL_F32, .fast_math = true};
    window_draw_conv(&p, transposed, true);
    p.products_given = fault == WINDOW_OPERANDS_COARSE || seed % 4 == 0;
    p.products = seed % 3 ? CUPEL_TF32 : CUPEL_F16;
    for (int k = 0; k < p.input_count; k++)
        for (int64_t i = 0; i < p.inputs[k].count; i++)
            p.inputs[k].values[i] = cupel_round(CUPEL_F32, cupel_random_unit(&p.random) * 4 - 2);
    property_answer(&p);
    window_shape *s = p.own;
    double *right = cupel_arena_alloc(arena, (size_t)p.count * sizeof(double));
    double *wrong = cupel_arena_alloc(arena, (size_t)p.count * sizeof(double));
    const int form = 8 * (int)(seed % 40) + 2;
    window_conv(&p, form, right);
    s->fault = fault;
    window_conv(&p, form, wrong);
    double worst = 0, moved = 0;
    int64_t judged = 0, first = -1;
    assert_int_equal(property_judge(&p, right, &worst, &judged, &first), 0);
    for (int64_t i = 0; i < p.count; i++) moved = fmax(moved, fabs(right[i] - wrong[i]));
    const double visible = fault == WINDOW_OPERANDS_COARSE ? 0 : 0.2;
    t->changed += moved > visible;
    t->caught += moved > visible && property_judge(&p, wrong, &worst, &judged, &first) > 0;
}

static void faults_leave_the_allowed_set(void **state) {
    (void)state;
    static const struct {
        window_fault fault;
        const char *name;
        bool transposed;
        double share; /* of the problems that it changes */
    } rows[] = {
        {WINDOW_PADDING_LATE, "padding off by one", false, 1},
        {WINDOW_CHANNEL_LOST, "channel tail dropped", false, 1},
        {WINDOW_STRIDE_WRONG, "stride wrong", false, 1},
        {WINDOW_HALO_CLAMPED, "halo clamped", false, 1},
        {WINDOW_OPERANDS_COARSE, "operands coarse", false, 0.05},
        {WINDOW_PADDING_LATE, "transposed, padding off by one", true, 1},
        {WINDOW_CHANNEL_LOST, "transposed, channel tail dropped", true, 1},
        {WINDOW_STRIDE_WRONG, "transposed, stride wrong", true, 1},
    };
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        tally t = {0};
        for (uint64_t k = 0; k < PROBLEMS; k++) {
            try_problem(arena, 1000 * (uint64_t)r + k, rows[r].transposed, rows[r].fault, &t);
            cupel_arena_reset(arena);
        }
        print_message("%-34s changes %d of %d problems, %d outside\n", rows[r].name, t.changed, (int)PROBLEMS,
                      t.caught);
        assert_true(t.changed > PROBLEMS / 10);
        assert_true(t.caught >= rows[r].share * t.changed);
    }
    cupel_arena_free(arena);
}

/* An accumulator that starts from a bias of 1e8 never sees 512 products of 1. */
static void an_accumulator_may_start_from_the_bias(void **state) {
    (void)state;
    static const char *const expressions[] = {
        "conv1d(x, w, b)",
        "conv1d(x, w) + reshape(b, [1, 1])",
        "conv2d(unsqueeze(x, 2), unsqueeze(w, 2), b)[:, :, 0]",
        "conv1d(x, w, b, padding=0, dilation=3)",
        "conv_transpose1d(x, permute(w, [1, 0, 2]), b)",
        "relu(conv1d(x, w, b))",
    };
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t e = 0; e < sizeof expressions / sizeof *expressions; e++) {
        for (int given = 0; given < 2; given++) {
            property_problem p = {.expression = expressions[e], .arena = arena, .type = CUPEL_F32};
            p.rules = (cupel_rules){.working = CUPEL_F32, .fast_math = true};
            p.products_given = given;
            p.products = CUPEL_BF16;
            property_input *x = property_add_shaped(&p, "x", CUPEL_F32, 3, (const int64_t[]){1, 512, 2});
            property_input *w = property_add_shaped(&p, "w", CUPEL_F32, 3, (const int64_t[]){1, 512, 1});
            property_input *b = property_add(&p, "b", 1, 1, 0);
            for (int64_t i = 0; i < x->count; i++) x->values[i] = 1;
            for (int64_t i = 0; i < w->count; i++) w->values[i] = 1;
            b->values[0] = 1e8;
            property_expect(&p, 3, (const int64_t[]){1, 1, 2});
            property_answer(&p);
            double worst = 0;
            int64_t judged = 0, first = -1;
            assert_int_equal(property_judge(&p, (const double[]){1e8, 1e8}, &worst, &judged, &first), 0);
            assert_int_equal(judged, 2);
            cupel_error err = {0};
            cupel_exact_session *session;
            cupel_exact_element element;
            assert_int_equal(cupel_exact_open(p.graph, &p.bindings, &p.rules, &session, &err), CUPEL_OK);
            assert_int_equal(cupel_exact_element_of(session, 0, 1, &element, &err), CUPEL_OK);
            assert_true(element.value == 1e8 + 512 && element.lo <= 1e8);
            /* and not from just anything */
            assert_true(element.lo > 0.99e8);
            cupel_exact_close(session);
            cupel_arena_reset(arena);
        }
    }
    cupel_arena_free(arena);
}

/* Operands that the type holds exactly, which a kernel multiplies (or divides by a softmax's sum) before it
 * narrows them. */
static void operands_may_be_scaled_before_they_are_narrowed(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        float x, w, scale; /* three of each; the kernel narrows scale x */
    } rows[] = {
        {"matmul(x, w) * 0.3", 1, 1, 0.3f},
        {"0.3 * (matmul(x, w) + 0)", 1, 1, 0.3f},
        {"log(exp(matmul(x, w)))", 1, 1, 1.44269504f}, /* in powers of 2 */
        {"matmul(exp(x - amax(x)), w) / sum(exp(x - amax(x)))", 0, 1, 1 / 3.0f},
        {"matmul(softmax(x, axis=0), w)", 0, 1, 1 / 3.0f},
        {"conv1d(reshape(x, [1, 3, 1]), reshape(w, [1, 3, 1]))[0, 0, 0] * 0.3", 1, 1, 0.3f},
    };
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (int exact = 0; exact < 2; exact++) {
            property_problem p = {.expression = rows[r].expression, .arena = arena, .type = CUPEL_F32};
            p.rules = (cupel_rules){.working = CUPEL_F32, .fast_math = true};
            p.products_given = true;
            p.products = CUPEL_BF16;
            property_input *x = property_add(&p, "x", 1, 3, 0), *w = property_add(&p, "w", 1, 3, 0);
            for (int i = 0; i < 3; i++) x->values[i] = (double)rows[r].x, w->values[i] = (double)rows[r].w;
            property_expect(&p, 0, NULL);
            property_answer(&p);
            /* each weight is 1 here, or e^0 */
            const float narrow = window_narrowed(&p, rows[r].scale, 2, 0);
            float got = 3 * narrow * rows[r].w;
            if (rows[r].scale > 1) got /= 1.44269504f;
            double lo = p.allowed.lo[0], hi = p.allowed.hi[0];
            if (exact) {
                cupel_error err = {0};
                cupel_exact_session *session;
                cupel_exact_element element;
                assert_int_equal(cupel_exact_open(p.graph, &p.bindings, &p.rules, &session, &err), CUPEL_OK);
                assert_int_equal(cupel_exact_element_of(session, 0, 0, &element, &err), CUPEL_OK);
                lo = element.lo, hi = element.hi;
                cupel_exact_close(session);
            }
            if (!(lo <= (double)got && (double)got <= hi))
                fail_msg("%s: %.9g outside [%.9g, %.9g]", rows[r].expression, (double)got, lo, hi);
            assert_true(hi - lo < 0.1); /* and not just anything */
            cupel_arena_reset(arena);
        }
    }
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_leave_the_allowed_set),
        cmocka_unit_test(an_accumulator_may_start_from_the_bias),
        cmocka_unit_test(operands_may_be_scaled_before_they_are_narrowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
