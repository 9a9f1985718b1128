/* The directed search: libFuzzer as a library. It keeps the corpus and chooses what to change next; recipes
 * are changed by our mutators, and what a recipe reaches is told to it in counters of our own, as nothing of
 * the candidate or of this program is instrumented for it.
 *
 * libFuzzer hands out recipes through its mutator alone, so that starts, draws and the corpus of an earlier
 * part of the campaign are simply returned in place of a mutation. Its driver ends the process when it ends
 * (FuzzerDriver.cpp of LLVM 14), so that it is left by a jump instead, out of the mutator: between two cases
 * nothing of it is under way but its loop, and what the jump leaks is as large as its corpus. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"
#include "engine_list.h"
#include "mixture.h"

/* libFuzzer's interface (compiler-rt/include/fuzzer/FuzzerInterface.h). */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
                                 uint8_t *out, size_t max_out, unsigned seed);

typedef enum offer { OFFER_NOTHING, OFFER_CORPUS, OFFER_CASE } offer;

typedef struct driver {
    const cupel_search *search;
    cupel_error *err;
    cupel_code code;
    jmp_buf leave;
    offer offer;     /* what the bytes are that libFuzzer gives the callback next */
    uint64_t done;   /* cases tried */
    size_t restored; /* recipes of the corpus handed over */
    bool over;
    cupel_front front;
    int real_stderr; /* while libFuzzer starts up and talks; else -1 */
} driver;

/* libFuzzer's hooks have no argument of ours. */
static driver *running;

/* ---- what libFuzzer says ---- */

static void hush(driver *d) {
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    d->real_stderr = null < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (d->real_stderr >= 0) dup2(null, STDERR_FILENO);
    if (null >= 0) close(null);
}

static void speak(driver *d) {
    if (d->real_stderr < 0) return;
    dup2(d->real_stderr, STDERR_FILENO);
    close(d->real_stderr);
    d->real_stderr = -1;
}

/* ---- the mutator ---- */

static _Noreturn void leave(driver *d, cupel_code code) {
    d->code = code;
    longjmp(d->leave, 1);
}

static bool is_over(const driver *d) {
    return d->over || (d->search->count && d->done >= d->search->count);
}

static size_t offer_corpus(driver *d, uint8_t *data, size_t max_size) {
    const cupel_encoded *recipe = &d->search->corpus[d->restored];
    size_t size = recipe->size < max_size ? recipe->size : max_size;
    memcpy(data, recipe->bytes, size);
    d->offer = OFFER_CORPUS;
    cupel_front_add(&d->front, recipe, recipe->news);
    return size;
}

static size_t offer_case(driver *d, const cupel_encoded *parent, const cupel_encoded *other, uint8_t *out,
                         size_t max_size) {
    cupel_recipe recipe;
    cupel_code code =
        cupel_mixture_next(d->search, d->search->first + d->done, parent, other, &d->front, &recipe, d->err);
    if (code != CUPEL_OK) leave(d, code);
    size_t size = cupel_recipe_encode(d->search->contract, &recipe, out, max_size);
    if (!size) leave(d, cupel_fail(d->err, CUPEL_RANGE, "a recipe is too large for the engine"));
    d->offer = OFFER_CASE;
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    driver *d = running;
    (void)seed;                                            /* a case's random numbers come from its number */
    if (!d) return LLVMFuzzerMutate(data, size, max_size); /* a fuzz target that links this library */
    speak(d);
    if (is_over(d)) leave(d, CUPEL_OK);
    if (d->restored < d->search->corpus_count) return offer_corpus(d, data, max_size);
    cupel_encoded parent = {.bytes = data, .size = size};
    return offer_case(d, &parent, NULL, data, max_size);
}

/* 0: libFuzzer asks the mutator instead. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
                                 uint8_t *out, size_t max_out, unsigned seed) {
    driver *d = running;
    (void)seed;
    if (!d || is_over(d) || d->restored < d->search->corpus_count) return 0;
    cupel_encoded parent = {.bytes = data1, .size = size1}, other = {.bytes = data2, .size = size2};
    if (!cupel_mixture_crosses(d->search, d->search->first + d->done, &parent, &other)) return 0;
    return offer_case(d, &parent, &other, out, max_out);
}

/* ---- the callback ---- */

static void try_case(driver *d, const uint8_t *data, size_t size) {
    cupel_recipe recipe;
    cupel_feedback feedback = {0};
    if (!cupel_recipe_decode(d->search->contract, data, size, &recipe)) return; /* our own bytes: cannot be */
    d->over = !d->search->try_one(d->search->self, d->search->first + d->done++, &recipe, &feedback);
    cupel_counters_of_feedback(&feedback);
    cupel_front_add(&d->front, &(cupel_encoded){.bytes = data, .size = size}, feedback.news);
}

static int tried(const uint8_t *data, size_t size) {
    driver *d = running;
    const uintptr_t depth = cupel_counters_depth();
    offer offer = d->offer;
    d->offer = OFFER_NOTHING;
    switch (offer) {
    case OFFER_NOTHING: cupel_counters_of_nothing(); break; /* libFuzzer's own first inputs */
    case OFFER_CORPUS: cupel_counters_of_corpus(d->restored++); break;
    case OFFER_CASE: try_case(d, data, size); break;
    }
    cupel_counters_hide_ours(depth);
    return 0;
}

/* ---- the driver ---- */

/* A candidate that calls exit() must end the process as it would without libFuzzer, which has a handler that
 * takes this for a crash. Handlers run in reverse order, so that this one comes first. */
static void leave_quietly(int status, void *unused) {
    (void)unused;
    if (running) _exit(status);
}

static void drive(driver *d, unsigned seed) {
    char seed_option[32], length_option[32];
    static char name[] = "cupel";
    snprintf(seed_option, sizeof seed_option, "-seed=%u", seed);
    snprintf(length_option, sizeof length_option, "-max_len=%d", CUPEL_RECIPE_BYTES_MAX);
    static char fixed[][40] = {"-verbosity=0", "-len_control=0", "-mutate_depth=1", "-reduce_inputs=0",
                               "-reload=0",
                               /* limits and faults are the worker's business */
                               "-timeout=0", "-rss_limit_mb=0", "-malloc_limit_mb=0", "-detect_leaks=0",
                               "-purge_allocator_interval=-1", "-handle_abrt=0", "-handle_bus=0",
                               "-handle_fpe=0", "-handle_ill=0", "-handle_int=0", "-handle_segv=0",
                               "-handle_term=0", "-handle_xfsz=0", "-handle_usr1=0", "-handle_usr2=0",
                               /* it writes no files */
                               "-exact_artifact_path=/dev/null", "-report_slow_units=2000000000"};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    char *arguments[FIXED + 4] = {name, seed_option, length_option};
    for (int i = 0; i < FIXED; i++) arguments[3 + i] = fixed[i];
    int count = FIXED + 3;
    char **list = arguments;
    hush(d);
    on_exit(leave_quietly, NULL);
    (void)LLVMFuzzerRunDriver(&count, &list, tried);
}

static cupel_code run(const cupel_search *search, cupel_error *err) {
    driver *d = calloc(1, sizeof *d);
    if (!d) return cupel_fail(err, CUPEL_MEMORY, "no memory for the search");
    d->search = search;
    d->err = err;
    d->real_stderr = -1;
    d->code = CUPEL_WORKER;
    running = d;
    if (!setjmp(d->leave)) drive(d, cupel_mixture_seed(search));
    running = NULL;
    speak(d);
    cupel_code code = d->code;
    free(d);
    return code;
}

const cupel_engine cupel_engine_libfuzzer = {"libfuzzer", run};
