/* The compiler options of a contract, on the emulator: each changes the bits that it should, and no others.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "executor.h"
#include "text.h"

static const char text[] =
    "/* cupel: 1\n"
    "id: options\n"
    "dims: {N: 1..64}\n"
    "inputs: {x: \"f32[N]\", d: \"f64[N]\"}\n"
    "outputs: {y: \"f32[N, 5]\"}\n"
    "ensures: {y: \"full([N, 5], 0)\"}\n"
    "kernel: {entry: k, args: [x, y, N], grid: [1], block: [64]%s}\n"
    "*/\n"
    "__device__ float apart(float a, float b) { return __fadd_rn(__fmul_rn(a, a), -b); }\n"
    "__global__ void k(const float *x, float *y, int n) {\n"
    "    int i = threadIdx.x;\n"
    "    if (i >= n) return;\n"
    "    float v = x[i], square = v * v;\n"
    "    y[5 * i] = v * v - square;\n"
    "    y[5 * i + 1] = apart(v, square);\n"
    "    y[5 * i + 2] = (v * 0x1p-140f) * 0x1p100f;\n"
    "    y[5 * i + 3] = expf(v);\n"
    "    y[5 * i + 4] = v / 3.0f + sqrtf(v);\n"
    "}\n";

enum { COUNT = 64, WORDS = 5 };

typedef struct results {
    float x[COUNT], y[COUNT][WORDS];
} results;

/* Runs the kernel with options; with_double: the case holds a tensor of doubles. */
static void run(const char *options, bool with_double, results *out) {
    char path[] = "/tmp/cupel-options-XXXXXX.cu", source[2048], command[64],
         cache[] = "/tmp/cupel-options-XXXXXX";
    cupel_error err = {0};
    cupel_contracts contracts;
    cupel_executor *executor;
    cupel_recipe recipe;
    cupel_case *c;
    cupel_observation seen;
    cupel_arena *arena = cupel_arena_create(0);
    int file = mkstemps(path, 3);
    assert_true(file >= 0 && mkdtemp(cache) != NULL);
    close(file);
    snprintf(source, sizeof source, text, options);
    char *d = strstr(source, "\"f64[N]\"");
    if (!with_double) memcpy(d, "\"f32[N]\"", 8);
    assert_int_equal(cupel_text_write(path, source, strlen(source), &err), CUPEL_OK);
    if (cupel_contracts_load(path, arena, &contracts, &err) != CUPEL_OK)
        fail_msg("line %d: %s", err.line, err.text);
    const cupel_contract *contract = contracts.items[0];
    const cupel_executor_options how = {.cache = cache};
    if (cupel_executor_open(cupel_executor_emu(), contract, &how, &executor, &err) != CUPEL_OK)
        fail_msg("%s", err.text);
    assert_int_equal(cupel_recipe_simple(contract, &recipe, &err), CUPEL_OK);
    assert_int_equal(cupel_case_materialise(contract, &recipe, arena, &c, &err), CUPEL_OK);
    for (int i = 0; i < COUNT; i++) out->x[i] = 1.0f + (float)i * 0.0123f;
    c->tensors[0].values = out->x;
    const cupel_run_request request = {.poison = CUPEL_POISON_NAN};
    if (cupel_executor_run(executor, c, &request, arena, &seen, &err) != CUPEL_OK) fail_msg("%s", err.text);
    if (seen.outcome != CUPEL_RUN_FINISHED) fail_msg("%s", seen.text);
    cupel_case_gather(c, 2, seen.buffers[c->tensors[2].buffer].bytes, out->y);
    cupel_executor_close(executor);
    cupel_arena_free(arena);
    unlink(path);
    snprintf(command, sizeof command, "rm -rf %s", cache);
    assert_int_equal(system(command), 0);
}

/* How many of the results equal what each meaning gives. */
static void expect(const results *r, bool fused, bool flushed, bool fast) {
    int differ = 0;
    for (int i = 0; i < COUNT; i++) {
        volatile float v = r->x[i], square = v * v;
        float residue = fmaf(v, v, -square), precise = expf(v), formula = exp2f(v * 1.4426950408889634f);
        differ += residue != 0;
        assert_true(r->y[i][0] == (fused ? residue : 0.0f));
        assert_true(r->y[i][1] == 0.0f);
        assert_true(r->y[i][2] == (flushed ? 0.0f : rintf(ldexpf(v, 9)) * 0x1p-49f));
        assert_true(r->y[i][3] == (fast ? formula : precise));
        volatile float third = v / 3.0f;
        assert_true(r->y[i][4] == third + sqrtf(v));
    }
    assert_true(differ > COUNT / 2);
}

static void products_are_fused_on_demand(void **state) {
    results r;
    (void)state;
    run("", false, &r);
    expect(&r, false, false, false);
    run(", nvrtc: -fmad=false", false, &r);
    expect(&r, false, false, false);
    run(", nvrtc: [--fmad=true]", false, &r);
    expect(&r, __builtin_cpu_supports("fma") != 0, false, false);
}

static void subnormals_are_flushed_on_demand(void **state) {
    results r;
    (void)state;
    run(", nvrtc: [-ftz=true]", false, &r);
    expect(&r, false, true, false);
    run(", nvrtc: [-ftz=true, -ftz=false]", false, &r);
    expect(&r, false, false, false);
    run(", nvrtc: [-ftz=true]", true, &r); /* doubles are never flushed */
    expect(&r, false, false, false);
}

static void fast_math_is_all_of_it(void **state) {
    results r;
    (void)state;
    run(", nvrtc: [--use_fast_math]", false, &r);
    expect(&r, __builtin_cpu_supports("fma") != 0, true, true);
    run(", nvrtc: [-use_fast_math, -fmad=false]", false, &r);
    expect(&r, false, true, true);
    run(", nvrtc: [-prec-div=false, -prec-sqrt=false]", false, &r); /* permits errors, and asks for none */
    expect(&r, false, false, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_fused_on_demand),
                                       cmocka_unit_test(subnormals_are_flushed_on_demand),
                                       cmocka_unit_test(fast_math_is_all_of_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
