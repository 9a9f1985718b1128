/* Spans, near misses, reading, and writing that never shows half a file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "observation.h"
#include "text.h"

static void parts_know_their_place(void **state) {
    (void)state;
    cupel_span span = cupel_span_of("ab\nc\xc3\xa9"
                                    "d",
                                    "f.cu", 5, 10);
    cupel_span part = cupel_span_part(span, 1, 2);
    assert_true(cupel_span_equals(part, "b"));
    assert_int_equal(part.line, 5);
    assert_int_equal(part.column, 11);
    part = cupel_span_part(span, 6, 100); /* behind the two bytes of an e with an accent */
    assert_true(cupel_span_equals(part, "d"));
    assert_int_equal(part.line, 6);
    assert_int_equal(part.column, 3);
    part = cupel_span_part(span, 100, 200);
    assert_int_equal(part.length, 0);
    cupel_error err;
    assert_int_equal(cupel_fail_span(&err, CUPEL_SYNTAX, cupel_span_part(span, 1, 2), "found %s", "b"),
                     CUPEL_SYNTAX);
    char line[100];
    assert_string_equal(cupel_error_format(&err, line, sizeof line), "f.cu:5:11: found b");
}

static void nearest(void **state) {
    (void)state;
    static const char *const keys[] = {"ensures", "inputs", "outputs", "grid", "id"};
    size_t count = sizeof keys / sizeof *keys;
    assert_string_equal(cupel_text_nearest("esnures", keys, count), "ensures");
    assert_string_equal(cupel_text_nearest("ensure", keys, count), "ensures");
    assert_string_equal(cupel_text_nearest("imputs", keys, count), "inputs");
    assert_string_equal(cupel_text_nearest("gird", keys, count), "grid");
    assert_null(cupel_text_nearest("banana", keys, count));
    assert_null(cupel_text_nearest("", keys, count));
    assert_null(cupel_text_nearest("x", keys, count));
    assert_null(cupel_text_nearest("xy", keys, count));
    char word[200];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(cupel_text_nearest(word, keys, count));
}

static int set_up(void **state) {
    char folder[] = "/tmp/cupel-text-XXXXXX";
    return mkdtemp(folder) ? (*state = strdup(folder), 0) : -1;
}

static int tear_down(void **state) {
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    int rc = system(command);
    free(*state);
    return rc;
}

static int count_files(const char *folder) {
    DIR *dir = opendir(folder);
    int count = 0;
    for (struct dirent *e; (e = readdir(dir));) count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void write_then_read(void **state) {
    char path[300];
    snprintf(path, sizeof path, "%s/a", (char *)*state);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_error err = {0};
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *bytes = cupel_arena_alloc(arena, sizes[i] + 1), *text;
        for (size_t k = 0; k < sizes[i]; k++) bytes[k] = (char)(k * 31);
        size_t length;
        assert_int_equal(cupel_text_write(path, bytes, sizes[i], &err), CUPEL_OK);
        assert_int_equal(cupel_text_read(path, arena, &text, &length, &err), CUPEL_OK);
        assert_int_equal(length, sizes[i]);
        assert_memory_equal(text, bytes, length);
        assert_int_equal(text[length], 0);
    }
    assert_int_equal(count_files(*state), 1); /* no temporary files are left behind */
    cupel_arena_free(arena);
}

static void failures(void **state) {
    char path[300];
    cupel_error err = {0};
    cupel_arena *arena = cupel_arena_create(0);
    char *text;
    size_t length;
    snprintf(path, sizeof path, "%s/none/a", (char *)*state);
    assert_int_equal(cupel_text_write(path, "x", 1, &err), CUPEL_IO);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(cupel_text_read(path, arena, &text, &length, &err), CUPEL_IO);
    assert_int_equal(cupel_text_read(*state, arena, &text, &length, &err), CUPEL_IO);
    assert_non_null(strstr(err.text, "folder"));
    /* a folder in the way: the rename fails and takes its temporary file with it */
    snprintf(path, sizeof path, "%s/in-the-way", (char *)*state);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(cupel_text_write(path, "x", 1, &err), CUPEL_IO);
    assert_int_equal(count_files(*state), 1);
    snprintf(path, sizeof path, "%s/large", (char *)*state);
    FILE *file = fopen(path, "w");
    assert_int_equal(ftruncate(fileno(file), 65L * 1024 * 1024), 0);
    fclose(file);
    assert_int_equal(cupel_text_read(path, arena, &text, &length, &err), CUPEL_IO);
    assert_non_null(strstr(err.text, "64 MiB"));
    cupel_arena_free(arena);
}

static void reads_files_that_state_no_size(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_error err = {0};
    char *text;
    size_t length;
    assert_int_equal(cupel_text_read("/proc/self/status", arena, &text, &length, &err), CUPEL_OK);
    assert_non_null(strstr(text, "VmPeak"));
    cupel_arena_free(arena);
}

/* A writer that is killed at any moment leaves the old content or the new one. */
static void killed_writer_leaves_a_whole_file(void **state) {
    enum { SIZE = 200000, ROUNDS = 30 };
    char path[300];
    snprintf(path, sizeof path, "%s/a", (char *)*state);
    cupel_error err = {0};
    char *bytes = malloc(SIZE);
    memset(bytes, 'a', SIZE);
    assert_int_equal(cupel_text_write(path, bytes, SIZE, &err), CUPEL_OK);
    for (int round = 0; round < ROUNDS; round++) {
        pid_t child = fork();
        if (child == 0) {
            for (char c = 'b';; c = c == 'z' ? 'b' : (char)(c + 1)) {
                memset(bytes, c, SIZE);
                if (cupel_text_write(path, bytes, SIZE, &err) != CUPEL_OK) _exit(1);
            }
        }
        usleep((useconds_t)(500 + round * 370));
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        cupel_arena *arena = cupel_arena_create(0);
        char *text;
        size_t length;
        assert_int_equal(cupel_text_read(path, arena, &text, &length, &err), CUPEL_OK);
        assert_int_equal(length, SIZE);
        for (size_t i = 1; i < length; i++)
            if (text[i] != text[0]) fail_msg("mixed content at %zu", i);
        cupel_arena_free(arena);
    }
    free(bytes);
}

static void names_of_faults_and_accesses(void **state) {
    (void)state;
    for (int i = 0; i < CUPEL_FAULT_COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(cupel_fault_name((cupel_fault)i), cupel_fault_name((cupel_fault)j));
    assert_string_equal(cupel_fault_name(CUPEL_FAULT_HANG), "hang");
    assert_string_equal(cupel_access_name(CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE), "out of bounds write");
    for (int i = 0; i < CUPEL_ACCESS_KIND_COUNT; i++)
        assert_string_not_equal(cupel_access_name((cupel_access_kind)i), "unknown access");
    assert_string_equal(cupel_fault_name((cupel_fault)99), "unknown fault");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_know_their_place),
        cmocka_unit_test(nearest),
        cmocka_unit_test_setup_teardown(write_then_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failures, set_up, tear_down),
        cmocka_unit_test(reads_files_that_state_no_size),
        cmocka_unit_test_setup_teardown(killed_writer_leaves_a_whole_file, set_up, tear_down),
        cmocka_unit_test(names_of_faults_and_accesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
