/* What is mined for a contract: its own source, folders and macros, and those of the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source_numbers.h"

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static bool holds(const cupel_dictionary *d, int64_t value) {
    for (int i = 0; i < d->word_count; i++)
        if (d->words[i].value == value) return true;
    return false;
}

static void test_contract_and_command_line(void **state) {
    (void)state;
    char folder[] = "/tmp/cupel-numbers-XXXXXX", path[128], command[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/own", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/own/tile.cuh", folder);
    write_text(path, "constexpr int kTile = 72;\n");
    snprintf(path, sizeof path, "%s/k.cu", folder);
    write_text(
        path,
        "/* cupel: 1\nid: a\ndims: {N: 1..99}\ninputs: {x: 'f32[N]'}\noutputs: {y: 'f32[N]'}\nensures: {y: "
        "x}\n"
        "source: {defines: {LANES: 24}, include: [own]}\n"
        "kernel: {entry: k, args: [x, y, N], grid: [1], block: [32]}\n*/\n"
        "#include \"tile.cuh\"\n"
        "__global__ void k(const float *x, float *y, int n) { if (n == LANES || n == EXTRA) n /= kTile; }\n");
    cupel_arena *arena = cupel_arena_create(0);
    cupel_contracts contracts;
    cupel_error err = {0};
    if (cupel_contracts_load(path, arena, &contracts, &err) != CUPEL_OK) fail_msg("%s", err.text);
    static const char *const defines[] = {"EXTRA=55"};
    const cupel_executor_options options = {.define_count = 1, .defines = defines};
    cupel_dictionary d;
    cupel_source_numbers(contracts.items[0], &options, &d);
    assert_true(holds(&d, 24) && holds(&d, 72) && holds(&d, 55));
    assert_false(holds(&d, 99));
    cupel_source_numbers(contracts.items[0], NULL, &d);
    assert_true(holds(&d, 24) && holds(&d, 72) && !holds(&d, 55));
    /* gone: a search does without */
    assert_int_equal(unlink(path), 0);
    cupel_source_numbers(contracts.items[0], &options, &d);
    assert_int_equal(d.word_count + d.number_count, 0);
    cupel_arena_free(arena);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contract_and_command_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
