#include "counters.h"

#include <string.h>

/* Room for each kind. libFuzzer looks at all of it after every case: one comparison for eight. */
enum { EDGES = 4096, CELLS = 1024, CLIMBS = CUPEL_CLOSENESS_ROWS * CUPEL_CLOSENESS_STEPS, MARKS = 256 };

/* Written here, read by libFuzzer alone: volatile, or the compiler drops the writes. */
typedef struct counters {
    volatile uint8_t edges[EDGES]; /* counts, as the candidate's */
    volatile uint8_t cells[CELLS];
    volatile uint8_t climbs[CLIMBS]; /* a step and all below it */
    volatile uint8_t marks[MARKS];
} counters;

__attribute__((section("__libfuzzer_extra_counters"), used, aligned(64))) static counters extra;

static void count_edges(const uint8_t *coverage, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!coverage[i]) continue;
        volatile uint8_t *edge = &extra.edges[i % EDGES];
        if (coverage[i] > *edge) *edge = coverage[i];
    }
}

void cupel_counters_of_feedback(const cupel_feedback *feedback) {
    if (feedback->coverage) count_edges(feedback->coverage, feedback->coverage_count);
    for (int i = 0; i < feedback->cell_count; i++) extra.cells[feedback->cells[i] % CELLS] = 1;
    for (int i = 0; i < feedback->climb_count; i++) {
        cupel_climb climb = feedback->climbs[i];
        volatile uint8_t *row = &extra.climbs[climb.row % CUPEL_CLOSENESS_ROWS * CUPEL_CLOSENESS_STEPS];
        for (int step = 0; step < climb.steps && step < CUPEL_CLOSENESS_STEPS; step++) row[step] = 1;
    }
}

void cupel_counters_of_nothing(void) {
    extra.marks[0] = 1;
}

/* A counter has a feature for each class of its value. */
void cupel_counters_of_corpus(size_t i) {
    static const uint8_t of_class[CUPEL_COUNT_CLASSES] = {1, 2, 3, 4, 8, 16, 32, 128};
    size_t mark = i % ((MARKS - 1) * CUPEL_COUNT_CLASSES);
    extra.marks[1 + mark / CUPEL_COUNT_CLASSES] = of_class[mark % CUPEL_COUNT_CLASSES];
}

/* The linker's names for the section of -fsanitize-coverage=inline-8bit-counters; absent where nothing is
 * compiled so. */
extern uint8_t __start___sancov_cntrs[] __attribute__((weak, visibility("hidden")));
extern uint8_t __stop___sancov_cntrs[] __attribute__((weak, visibility("hidden")));

/* The lowest address of the stack so far: libFuzzer's, written by instrumented code (-fsanitize-coverage=
 * stack-depth). */
extern _Thread_local uintptr_t __sancov_lowest_stack __attribute__((tls_model("initial-exec")));

__attribute__((no_sanitize("coverage"))) uintptr_t cupel_counters_depth(void) {
    return __sancov_lowest_stack;
}

__attribute__((no_sanitize("coverage"))) void cupel_counters_hide_ours(uintptr_t depth) {
    __sancov_lowest_stack = depth;
    if (__start___sancov_cntrs != NULL)
        memset(__start___sancov_cntrs, 0, (size_t)(__stop___sancov_cntrs - __start___sancov_cntrs));
}
