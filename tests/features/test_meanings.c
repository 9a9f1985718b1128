/* The meanings of features can say no: what writes zeros is none of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "feature.h"
#include "feature_check.h"

static const feature_file *const files[] = {
#define ENTRY(name) &feature_##name,
    FEATURE_FILES(ENTRY)
#undef ENTRY
};

static const feature_launch launches[] = {
    {.block = {64, 1, 1}, .grid = {2, 1}, .threads = 64, .blocks = 2},
    {.block = {8, 8, 1}, .grid = {1, 3}, .threads = 64, .blocks = 3},
    {.block = {33, 4, 1}, .grid = {1, 1}, .threads = 132, .blocks = 1},
};

static int64_t wrong_zeros(const feature *f, const feature_launch *l) {
    size_t threads = (size_t)l->threads * l->blocks, words = threads * (size_t)f->words;
    uint32_t *x = calloc(threads, FEATURE_INPUTS * sizeof *x), *got = calloc(words, sizeof *got);
    uint32_t *want = calloc(words, sizeof *want);
    feature_result result = {0};
    assert_true(x != NULL && got != NULL && want != NULL);
    for (unsigned set = 0; set < 3; set++) {
        feature_fill(x, threads * FEATURE_INPUTS, set);
        memset(want, 0, words * sizeof *want);
        feature_check(f, l, x, got, want, &result);
    }
    free(x), free(got), free(want);
    return result.wrong;
}

static void zeros_are_never_right(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (int i = 0; i < files[f]->count; i++) {
            int64_t wrong = 0;
            for (size_t l = 0; l < sizeof launches / sizeof *launches; l++)
                wrong += wrong_zeros(&files[f]->items[i], &launches[l]);
            if (wrong == 0) fail_msg("%s/%s takes zeros", files[f]->name, files[f]->items[i].name);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(zeros_are_never_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
