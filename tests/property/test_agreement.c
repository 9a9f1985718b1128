/* The bounded evaluator against the exact one: the same classes, the same value but for fp64's own rounding,
 * and a radius that is no smaller and little larger. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "property.h"

typedef struct totals {
    int64_t elements, judged;
    int64_t value, classes, reasons, smaller; /* failures */
    int64_t
        looser; /* the filter allows more, by more than a few percent: it uses node-wide extents in places */
    double widest; /* bounded radius over exact radius */
} totals;

static void complain(const property_problem *p, const char *what, int64_t i, const cupel_allowed *b,
                     const cupel_allowed *e, unsigned long long seed, int64_t *count) {
    if ((*count)++ >= 3) return;
    print_message("%s: case seed %llu %s n=%lld %s fast %d flush %d [%lld]: bounded %.17g +- %.6g classes %d "
                  "reason %d, exact %.17g +- %.6g "
                  "classes %d reason %d\n",
                  what, seed, p->expression, (long long)p->n, cupel_format_of(p->type)->name,
                  p->rules.fast_math, p->rules.subnormals, (long long)i, b->value[i], b->radius[i],
                  b->classes[i], b->reasons[i], e->value[i], e->radius[i], e->classes[i], e->reasons[i]);
}

/* What the filter does not judge is never looked at; what it judges, the exact evaluator must judge, or be
 * unable to. */
static void compare(const property_problem *p, const cupel_allowed *e, unsigned long long seed, totals *t) {
    const cupel_allowed *b = &p->allowed;
    const double tiny = cupel_format_smallest(p->rules.working) * 0x1p24;
    for (int64_t i = 0; i < p->count; i++) {
        t->elements++;
        if (b->reasons[i] || e->reasons[i] == CUPEL_REASON_UNABLE) continue;
        if (e->reasons[i]) {
            complain(p, "judged by the filter alone", i, b, e, seed, &t->reasons);
            continue;
        }
        t->judged++;
        const uint8_t known = CUPEL_CLASS_MASK | CUPEL_KEEP;
        const uint8_t mine = b->classes[i] & known, theirs = e->classes[i] & known;
        if (theirs & ~mine) complain(p, "classes missing", i, b, e, seed, &t->classes);
        bool looser = (mine & ~theirs) != 0;
        if ((theirs & CUPEL_CLASS_FINITE) && isfinite(e->value[i]) && isfinite(b->value[i])) {
            const double off = fabs(b->value[i] - e->value[i]), rb = b->radius[i], re = e->radius[i];
            if (!(off <= fabs(e->value[i]) * 0x1p-40 + re * 0x1p-12))
                complain(p, "value", i, b, e, seed, &t->value);
            if (rb < re * (1 - 1e-3) - tiny * 0x1p-24)
                complain(p, "smaller radius", i, b, e, seed, &t->smaller);
            looser |= rb > re * 1.05 + tiny;
            if (re > tiny && rb / re > t->widest) t->widest = rb / re;
        }
        t->looser += looser;
    }
}

static void bounded_agrees_with_exact(void **state) {
    (void)state;
    const char *text = getenv("CUPEL_PROPERTY_CASES");
    const long wanted = text ? strtol(text, NULL, 10) : 0, cases = wanted > 0 ? wanted : 40;
    cupel_arena *arena = cupel_arena_create(0);
    int64_t problems = 0, judged = 0, looser = 0;
    for (int o = 0; o < property_operator_count; o++) {
        const property_operator *op = &property_operators[o];
        totals t = {0};
        for (long c = 0; c < cases; c++) {
            property_problem p;
            const unsigned long long seed = 7000003ULL + (unsigned long long)c * 131 + (unsigned long long)o;
            property_draw(&p, op, seed, arena);
            property_answer(&p);
            cupel_error err = {0};
            cupel_exact_session *session;
            cupel_allowed exact;
            if (cupel_exact_open(p.graph, &p.bindings, &p.rules, &session, &err) != CUPEL_OK)
                fail_msg("%s", err.text);
            if (cupel_exact_output(session, 0, arena, &exact, &err) != CUPEL_OK) fail_msg("%s", err.text);
            compare(&p, &exact, seed, &t);
            cupel_exact_close(session);
            cupel_arena_reset(arena);
        }
        print_message("%-20s %6lld elements, %6lld judged; value %lld classes %lld reasons %lld smaller "
                      "%lld; looser %lld, "
                      "widest %.3f\n",
                      op->name, (long long)t.elements, (long long)t.judged, (long long)t.value,
                      (long long)t.classes, (long long)t.reasons, (long long)t.smaller, (long long)t.looser,
                      t.widest);
        problems += t.value + t.classes + t.reasons + t.smaller;
        judged += t.judged;
        looser += t.looser;
    }
    cupel_arena_free(arena);
    assert_int_equal(problems, 0);
    assert_true(judged > 0);
    assert_true(looser * 100 <= judged); /* one in a hundred */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounded_agrees_with_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
