/* The executor for GPUs over a driver that has none: memory, launches, faults, what is renewed between runs.
 * Skipped where NVRTC is missing. */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "executor.h"
#include "fake_cuda.h"
#include "nvrtc.h"

#define CONTRACT(extra) LAUNCHED("grid: [1], block: [N]", extra)
#define LAUNCHED(launch, extra)                                                                              \
    "/* cupel: 1\n"                                                                                          \
    "id: scale\n"                                                                                            \
    "dims: {N: 1..2000}\n"                                                                                   \
    "inputs: {x: \"f32[N]\"}\n"                                                                              \
    "outputs: {y: \"f32[N]\"}\n"                                                                             \
    "ensures: {y: \"x * 2\"}\n"                                                                              \
    "kernel: {entry: scale, args: [x, y, N], " launch "}\n"                                                  \
    "*/\n" extra

static const char plain[] = CONTRACT("__global__ void scale(const float *x, float *y, int n) {}\n");
static const char together[] = LAUNCHED("grid: [\"ceil_div(N, 4)\"], block: [128], cooperative: true",
                                        "__global__ void scale(const float *x, float *y, int n) {}\n");
static const char filling[] =
    LAUNCHED("grid: [1], block: [128], symbols: {\"ns::coef\": x}",
             "namespace ns { __constant__ float coef[64]; }\n"
             "__global__ void scale(const float *x, float *y, int n) { y[0] = ns::coef[threadIdx.x]; }\n");
static const char counting[] =
    CONTRACT("__device__ int calls;\n"
             "__global__ void scale(const float *x, float *y, int n) { y[0] = ++calls; }\n");
static const char atomic[] =
    CONTRACT("__global__ void scale(const float *x, float *y, int n) { atomicAdd(y, x[0]); }\n");

typedef struct fixture {
    fake_cuda *driver;
    cupel_arena *arena;
    cupel_executor *executor;
    cupel_case *c;
    cupel_observation seen;
    cupel_error err;
    char path[64], cache[64];
} fixture;

static fake_cuda *driver(void) {
    const cupel_nvrtc *nvrtc;
    cupel_error err;
    if (cupel_nvrtc_find(&nvrtc, &err) != CUPEL_OK) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    assert_int_equal(setenv("CUPEL_LIBCUDA", FAKE_CUDA, 1), 0);
    void *library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fail_msg("%s", dlerror());
    fake_cuda *state = dlsym(library, "fake_cuda_state");
    assert_non_null(state);
    return state;
}

static cupel_code open_source(fixture *x, const char *source) {
    memset(x, 0, sizeof *x);
    x->driver = driver();
    x->arena = cupel_arena_create(0);
    snprintf(x->path, sizeof x->path, "/tmp/cupel-exec-XXXXXX.cu");
    snprintf(x->cache, sizeof x->cache, "/tmp/cupel-exec-XXXXXX");
    int fd = mkstemps(x->path, 3);
    assert_true(fd >= 0 && write(fd, source, strlen(source)) == (ssize_t)strlen(source));
    close(fd);
    assert_non_null(mkdtemp(x->cache));
    cupel_contracts contracts;
    if (cupel_contracts_load(x->path, x->arena, &contracts, &x->err) != CUPEL_OK) fail_msg("%s", x->err.text);
    const cupel_executor_options options = {.cache = x->cache};
    CUPEL_TRY(
        cupel_executor_open(cupel_executor_cuda(), contracts.items[0], &options, &x->executor, &x->err));
    cupel_recipe *recipe = cupel_arena_alloc(x->arena, sizeof *recipe);
    assert_int_equal(cupel_recipe_simple(contracts.items[0], recipe, &x->err), CUPEL_OK);
    recipe->dims[0] = 100;
    assert_int_equal(cupel_case_materialise(contracts.items[0], recipe, x->arena, &x->c, &x->err), CUPEL_OK);
    return CUPEL_OK;
}

static void done(fixture *x) {
    char command[128];
    cupel_executor_close(x->executor);
    cupel_arena_free(x->arena);
    snprintf(command, sizeof command, "rm -r %s %s", x->path, x->cache);
    assert_int_equal(system(command), 0);
}

static cupel_code run(fixture *x, uint64_t schedule, cupel_poison poison) {
    const cupel_run_request request = {.schedule = schedule, .poison = poison};
    return cupel_executor_run(x->executor, x->c, &request, x->arena, &x->seen, &x->err);
}

static void test_a_run(void **state) {
    (void)state;
    fixture x;
    if (open_source(&x, plain) != CUPEL_OK) fail_msg("%s", x.err.text);
    void *places[2];
    for (int r = 0; r < 2; r++) {
        int spins = x.driver->spins;
        assert_int_equal(run(&x, r == 0 ? 0 : 3, r == 0 ? CUPEL_POISON_NAN : CUPEL_POISON_FINITE), CUPEL_OK);
        assert_int_equal(x.seen.outcome, CUPEL_RUN_FINISHED);
        assert_int_equal(x.driver->word, r == 0 ? 0xffffffffu : 0u);
        assert_int_equal(x.driver->spins - spins, r); /* another schedule has company */
        const float *in = x.c->tensors[0].values, *y = (const float *)(void *)x.seen.buffers[1].bytes;
        for (int i = 0; i < 100; i++) assert_true(y[i] == 2 * in[i]);
        assert_false(x.seen.buffers[1].guard_after_damaged || x.seen.buffers[0].guard_after_damaged);
        assert_memory_equal(x.seen.buffers[0].bytes, in, 400);
        assert_false(x.seen.float_atomics);
        places[r] = x.driver->y;
    }
    assert_ptr_not_equal(places[0], places[1]); /* and other addresses */
    assert_int_equal((uintptr_t)places[0] % 256, 0);
    assert_int_equal((uintptr_t)places[1] % 256, 0);
    done(&x);
}

static void test_one_past_the_end(void **state) {
    (void)state;
    fixture x;
    assert_int_equal(open_source(&x, plain), CUPEL_OK);
    x.driver->past_end = 1;
    assert_int_equal(run(&x, 0, CUPEL_POISON_NAN), CUPEL_OK);
    x.driver->past_end = 0;
    assert_true(x.seen.buffers[1].guard_after_damaged);
    assert_int_equal(x.seen.buffers[1].damage_offset, 400);
    done(&x);
}

static void test_refused(void **state) {
    (void)state;
    fixture x;
    assert_int_equal(open_source(&x, plain), CUPEL_OK);
    static const struct {
        int64_t n;
        const char *says;
    } cases[] = {{513, "launch bounds allow 512"}, {1025, "block.x is 1025"}};
    for (size_t i = 0; i < 2; i++) {
        cupel_recipe recipe = *x.c->recipe;
        int launches = x.driver->launches;
        recipe.dims[0] = cases[i].n;
        assert_int_equal(cupel_case_materialise(x.c->contract, &recipe, x.arena, &x.c, &x.err), CUPEL_OK);
        assert_int_equal(run(&x, 0, CUPEL_POISON_NAN), CUPEL_OK);
        assert_int_equal(x.seen.outcome, CUPEL_RUN_REFUSED);
        assert_non_null(strstr(x.seen.text, cases[i].says));
        assert_int_equal(x.driver->launches, launches);
        assert_false(cupel_executor_spent(x.executor));
    }
    done(&x);
}

/* 4 multiprocessors for 8 blocks of 128 threads each. */
static void test_cooperative(void **state) {
    (void)state;
    fixture x;
    assert_int_equal(open_source(&x, together), CUPEL_OK);
    for (int i = 0; i < 2; i++) {
        cupel_recipe recipe = *x.c->recipe;
        recipe.dims[0] = i == 0 ? 100 : 132;
        assert_int_equal(cupel_case_materialise(x.c->contract, &recipe, x.arena, &x.c, &x.err), CUPEL_OK);
        assert_int_equal(run(&x, 0, CUPEL_POISON_NAN), CUPEL_OK);
        assert_int_equal(x.seen.outcome, i == 0 ? CUPEL_RUN_FINISHED : CUPEL_RUN_REFUSED);
        assert_int_equal(x.driver->together, 1);
    }
    assert_non_null(strstr(x.seen.text, "33 blocks, of which the device keeps 32 resident"));
    done(&x);
}

/* The variable has room for 64 numbers. */
static void test_variables(void **state) {
    (void)state;
    fixture x;
    assert_int_equal(open_source(&x, filling), CUPEL_OK);
    for (int i = 0; i < 2; i++) {
        cupel_recipe recipe = *x.c->recipe;
        recipe.dims[0] = i == 0 ? 64 : 65;
        assert_int_equal(cupel_case_materialise(x.c->contract, &recipe, x.arena, &x.c, &x.err), CUPEL_OK);
        memset(x.driver->variable, 0xff, sizeof x.driver->variable);
        assert_int_equal(run(&x, 0, CUPEL_POISON_NAN), i == 0 ? CUPEL_OK : CUPEL_CONTRACT);
        if (i == 0) assert_memory_equal(x.driver->variable, x.c->tensors[0].values, 256);
    }
    assert_non_null(strstr(x.err.text, "at most 256 bytes, which the variable 'ns::coef' holds, found 260"));
    done(&x);
}

/* A fault is told once; nothing more runs in the process. The driver's state is sticky: this test is the
 * last. */
static void test_faults(void **state) {
    (void)state;
    static const struct {
        int status;
        cupel_fault fault;
        int signal;
        const char *says;
    } cases[] = {{700, CUPEL_FAULT_OUT_OF_BOUNDS, 0, "no memory"},
                 {716, CUPEL_FAULT_CRASH, SIGBUS, "multiple of the access's size"},
                 {710, CUPEL_FAULT_ASSERT, 0, "assertion"},
                 {714, CUPEL_FAULT_STACK_OVERFLOW, 0, "stack"},
                 {715, CUPEL_FAULT_CRASH, SIGILL, "illegal instruction"},
                 {719, CUPEL_FAULT_CRASH, SIGABRT, "stopped by the device"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture x;
        assert_int_equal(open_source(&x, plain), CUPEL_OK);
        x.driver->next_status = cases[i].status;
        assert_int_equal(run(&x, 0, CUPEL_POISON_NAN), CUPEL_OK);
        assert_int_equal(x.seen.outcome, CUPEL_RUN_FAULT);
        assert_int_equal(x.seen.fault, cases[i].fault);
        assert_int_equal(x.seen.signal, cases[i].signal);
        assert_non_null(strstr(x.seen.text, cases[i].says));
        assert_true(cupel_executor_spent(x.executor));
        assert_int_equal(run(&x, 0, CUPEL_POISON_NAN), CUPEL_WORKER);
        done(&x);
    }
}

/* A kernel with variables of its own finds them fresh in every run, so that no run needs a process of its
 * own. */
static void test_state_is_renewed(void **state) {
    (void)state;
    assert_true(cupel_executor_find("cuda")->forgets);
    for (int kept = 0; kept < 2; kept++) {
        fixture x;
        assert_int_equal(open_source(&x, kept ? counting : plain), CUPEL_OK);
        assert_int_equal(run(&x, 0, CUPEL_POISON_NAN), CUPEL_OK);
        int loads = x.driver->loads;
        for (int i = 0; i < 3; i++) assert_int_equal(run(&x, 0, CUPEL_POISON_NAN), CUPEL_OK);
        assert_int_equal(x.driver->loads - loads, kept ? 3 : 0);
        done(&x);
    }
}

static void test_atomics_are_told(void **state) {
    (void)state;
    fixture x;
    assert_int_equal(open_source(&x, atomic), CUPEL_OK);
    assert_int_equal(run(&x, 0, CUPEL_POISON_NAN), CUPEL_OK);
    assert_true(x.seen.float_atomics);
    done(&x);
}

static void test_disagreement_over_parameters(void **state) {
    (void)state;
    fixture x;
    assert_int_equal(open_source(&x, plain), CUPEL_OK);
    x.driver->wrong_sizes = 1;
    assert_int_equal(run(&x, 0, CUPEL_POISON_NAN), CUPEL_UNSUPPORTED);
    x.driver->wrong_sizes = 0;
    done(&x);
}

static void test_no_gpu(void **state) {
    (void)state;
    fixture x;
    driver()->devices = 0;
    assert_int_equal(open_source(&x, plain), CUPEL_UNSUPPORTED);
    assert_non_null(strstr(x.err.text, "no GPU"));
    x.driver->devices = 1;
    done(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_gpu),
                                       cmocka_unit_test(test_a_run),
                                       cmocka_unit_test(test_one_past_the_end),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_cooperative),
                                       cmocka_unit_test(test_variables),
                                       cmocka_unit_test(test_state_is_renewed),
                                       cmocka_unit_test(test_atomics_are_told),
                                       cmocka_unit_test(test_disagreement_over_parameters),
                                       cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
