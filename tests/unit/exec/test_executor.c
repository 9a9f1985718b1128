/* Dispatch, and the floating-point mode that a candidate leaves behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "executor.h"

static uint32_t mxcsr_during, leave_mxcsr;
static uint16_t leave_x87;
static cupel_outcome outcome;

static uint32_t mxcsr(void) {
    uint32_t value;
    __asm__ volatile("stmxcsr %0" : "=m"(value));
    return value;
}

static cupel_code open_it(const cupel_contract *contract, const cupel_executor_options *options, void **self,
                          cupel_error *err) {
    (void)contract, (void)options, (void)err;
    *self = NULL;
    return CUPEL_OK;
}

static cupel_code run_it(void *self, const cupel_case *c, const cupel_run_request *request,
                         cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    (void)self, (void)c, (void)request, (void)arena, (void)err;
    mxcsr_during = mxcsr();
    out->outcome = outcome;
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(leave_mxcsr), "m"(leave_x87));
    return CUPEL_OK;
}

static void close_it(void *self) {
    (void)self;
}

static const cupel_executor_backend backend = {
    .name = "test", .open = open_it, .run = run_it, .close = close_it};

static void leave(uint32_t sse, uint16_t x87, cupel_outcome what, cupel_observation *seen) {
    cupel_executor *executor;
    cupel_error err;
    leave_mxcsr = sse, leave_x87 = x87, outcome = what;
    assert_int_equal(cupel_executor_open(&backend, NULL, NULL, &executor, &err), CUPEL_OK);
    memset(seen, 0, sizeof *seen);
    assert_int_equal(
        cupel_executor_run(executor, NULL, &(cupel_run_request){.schedule = 0}, NULL, seen, &err), CUPEL_OK);
    cupel_executor_close(executor);
    assert_int_equal(mxcsr_during & ~0x3fu, 0x1f80);
    assert_int_equal(mxcsr() & ~0x3fu, 0x1f80); /* put back */
}

static void test_mode(void **state) {
    (void)state;
    cupel_observation seen;
    leave(0x1f80, 0x37f, CUPEL_RUN_FINISHED, &seen);
    assert_int_equal(seen.outcome, CUPEL_RUN_FINISHED);
    leave(0x1fbf, 0x37f, CUPEL_RUN_FINISHED, &seen); /* exception flags are no mode */
    assert_int_equal(seen.outcome, CUPEL_RUN_FINISHED);
    static const struct {
        uint32_t sse;
        uint16_t x87;
        const char *word;
    } modes[] = {{0x9f80, 0x37f, "flush to zero"},
                 {0x1fc0, 0x37f, "denormals are zero"},
                 {0x3f80, 0x37f, "another rounding"},
                 {0x1f80, 0x77f, "another rounding"}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        leave(modes[i].sse, modes[i].x87, CUPEL_RUN_FINISHED, &seen);
        assert_int_equal(seen.outcome, CUPEL_RUN_FAULT);
        assert_int_equal(seen.fault, CUPEL_FAULT_FP_MODE);
        assert_non_null(strstr(seen.text, modes[i].word));
    }
    leave(0x9f80, 0x37f, CUPEL_RUN_UNSUPPORTED, &seen); /* a run that did not finish keeps its own reason */
    assert_int_equal(seen.outcome, CUPEL_RUN_UNSUPPORTED);
}

static void test_find(void **state) {
    (void)state;
    assert_ptr_equal(cupel_executor_find("emu"), cupel_executor_emu());
    assert_ptr_equal(cupel_executor_find("host"), cupel_executor_host());
    assert_ptr_equal(cupel_executor_find("cuda"), cupel_executor_cuda());
    assert_null(cupel_executor_find("triton"));
    assert_ptr_equal(cupel_executor_default(&(cupel_contract){.host = true}), cupel_executor_host());
    assert_ptr_equal(cupel_executor_default(&(cupel_contract){0}), cupel_executor_emu());
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mode), cmocka_unit_test(test_find)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
