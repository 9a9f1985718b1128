/* What the oracle knew of each output: counted by output and reason, and added up over searches. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "allowed.h"
#include "evidence_fixture.h"

/* Judged, one of them with a radius above its magnitude; an exact zero and an infinity have none such. */
static void mix_elements(fixture *f) {
    f->value[0] = f->radius[0] = 0;
    f->value[1] = INFINITY, f->classes[1] = CUPEL_CLASS_POS_INF;
    f->radius[2] = nextafter(fabs(f->value[2]), INFINITY);
    f->radius[3] = fabs(f->value[3]);
    f->radius[4] = INFINITY, f->reasons[4] = CUPEL_REASON_UNBOUNDED;
    f->reasons[5] = CUPEL_REASON_SAMPLED_OUT;
    f->reasons[6] = CUPEL_REASON_SAMPLED_OUT;
    cupel_allowed_count(&f->allowed);
}

static void elements_are_counted_by_output_and_reason(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    mix_elements(&f);
    fixture_judge(&f);
    const cupel_output_tally *y = &f.board.outputs[1];
    assert_int_equal(cupel_output_considered(y), FIXTURE_N);
    assert_int_equal(y->by_reason[CUPEL_REASON_JUDGED], FIXTURE_N - 3);
    assert_int_equal(y->by_reason[CUPEL_REASON_UNBOUNDED], 1);
    assert_int_equal(y->by_reason[CUPEL_REASON_SAMPLED_OUT], 2);
    assert_int_equal(y->coarse, 1);
    assert_int_equal(cupel_output_considered(&f.board.outputs[0]), 0); /* an input */
    fixture_stop(&f);
}

static void a_case_that_did_not_finish_says_nothing_of_its_output(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    mix_elements(&f);
    for (int r = 0; r < 2; r++) f.seen[r].outcome = CUPEL_RUN_FAULT, f.seen[r].fault = CUPEL_FAULT_CRASH;
    fixture_judge(&f);
    assert_int_equal(cupel_output_considered(&f.board.outputs[1]), 0);
    fixture_stop(&f);
}

static void searches_add_up(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    mix_elements(&f);
    cupel_scoreboard one = {.cases = 1}, sum = {0};
    cupel_scoreboard_count_output(&one, 1, &f.allowed);
    cupel_scoreboard_count_output(&one, 0, &f.allowed);
    cupel_scoreboard_add(&sum, &one);
    cupel_scoreboard_add(&sum, &one);
    assert_int_equal(sum.outputs[1].coarse, 2);
    assert_int_equal(sum.outputs[1].by_reason[CUPEL_REASON_SAMPLED_OUT], 4);
    assert_int_equal(cupel_scoreboard_by_reason(&sum, CUPEL_REASON_SAMPLED_OUT), 8);
    assert_int_equal(cupel_output_considered(&sum.outputs[0]), 2 * FIXTURE_N);
    fixture_stop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_counted_by_output_and_reason),
        cmocka_unit_test(a_case_that_did_not_finish_says_nothing_of_its_output),
        cmocka_unit_test(searches_add_up),
    };
    return cmocka_run_group_tests_name("scoreboard", tests, NULL, NULL);
}
