/* npy files: round trips, NumPy's own reader, broken files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "npy.h"
#include "text.h"

static int set_up(void **state) {
    char folder[] = "/tmp/cupel-npy-XXXXXX";
    return mkdtemp(folder) ? (*state = strdup(folder), 0) : -1;
}

static int tear_down(void **state) {
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    int rc = system(command);
    free(*state);
    return rc;
}

static const struct {
    const char *descr;
    size_t size;
} types[] = {{"<f8", 8}, {"<f4", 4}, {"<f2", 2}, {"<i4", 4}, {"<u2", 2}, {"|u1", 1}, {"|b1", 1}, {"<i8", 8}};

static const struct {
    int rank;
    int64_t shape[8];
    int64_t count;
} shapes[] = {{0, {0}, 1},     {1, {0}, 0},       {1, {7}, 7},
              {2, {3, 5}, 15}, {3, {2, 0, 4}, 0}, {8, {1, 2, 1, 2, 1, 2, 1, 2}, 16}};

static void round_trip(void **state) {
    char path[300];
    snprintf(path, sizeof path, "%s/a.npy", (char *)*state);
    unsigned char data[128];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 7 & 1);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_error err = {0};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            cupel_npy back;
            assert_int_equal(
                cupel_npy_write(path, types[t].descr, shapes[s].rank, shapes[s].shape, data, &err), CUPEL_OK);
            if (cupel_npy_read(path, arena, &back, &err) != CUPEL_OK) fail_msg("%s", err.text);
            assert_string_equal(back.descr, types[t].descr);
            assert_int_equal(back.rank, shapes[s].rank);
            assert_int_equal(back.count, shapes[s].count);
            for (int i = 0; i < back.rank; i++) assert_int_equal(back.shape[i], shapes[s].shape[i]);
            assert_memory_equal(back.data, data, (size_t)back.count * types[t].size);
            char *text;
            size_t length;
            assert_int_equal(cupel_text_read(path, arena, &text, &length, &err), CUPEL_OK);
            assert_int_equal((length - (size_t)back.count * types[t].size) % 64, 0); /* data stay aligned */
        }
    cupel_arena_free(arena);
}

/* NumPy writes what we read and reads what we write. */
static void numpy_agrees(void **state) {
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) skip();
    char path[300], command[1200];
    snprintf(path, sizeof path, "%s/a.npy", (char *)*state);
    const float data[6] = {1.5f, -2, 3, 0.25f, -0.0f, 1e30f};
    cupel_error err = {0};
    assert_int_equal(cupel_npy_write(path, "<f4", 2, (const int64_t[]){2, 3}, data, &err), CUPEL_OK);
    snprintf(command, sizeof command,
             "/usr/bin/python3 -c \"import numpy as n; a=n.load('%s'); assert a.dtype==n.float32 and "
             "a.shape==(2,3); "
             "assert a.tobytes()==n.array([[1.5,-2,3],[.25,-0.0,1e30]],n.float32).tobytes(); "
             "n.save('%s', (a[:, ::-1]*2).astype(n.float64).copy()); "
             "n.save('%s.f.npy', n.asfortranarray(a)); n.save('%s.be.npy', a.astype('>f4')); "
             "n.save('%s.s.npy', n.array(['text']))\"",
             path, path, path, path, path);
    assert_int_equal(system(command), 0);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_npy back;
    if (cupel_npy_read(path, arena, &back, &err) != CUPEL_OK) fail_msg("%s", err.text);
    assert_string_equal(back.descr, "<f8");
    const double *values = back.data;
    assert_true(values[0] == 6 && values[1] == -4 && values[2] == 3);
    static const char *const refused[][2] = {
        {"f", "Fortran order"}, {"be", "little endian"}, {"s", "plain number"}};
    for (size_t i = 0; i < 3; i++) {
        char other[400];
        snprintf(other, sizeof other, "%s.%s.npy", path, refused[i][0]);
        assert_int_equal(cupel_npy_read(other, arena, &back, &err), CUPEL_UNSUPPORTED);
        assert_non_null(strstr(err.text, refused[i][1]));
    }
    cupel_arena_free(arena);
}

static void every_truncation_is_refused(void **state) {
    char path[300];
    snprintf(path, sizeof path, "%s/a.npy", (char *)*state);
    const int32_t data[5] = {1, 2, 3, 4, 5};
    cupel_error err = {0};
    assert_int_equal(cupel_npy_write(path, "<i4", 1, (const int64_t[]){5}, data, &err), CUPEL_OK);
    cupel_arena *arena = cupel_arena_create(0);
    char *text;
    size_t length;
    assert_int_equal(cupel_text_read(path, arena, &text, &length, &err), CUPEL_OK);
    for (size_t cut = 0; cut < length; cut++) {
        cupel_npy back;
        FILE *file = fopen(path, "w");
        fwrite(text, 1, cut, file);
        fclose(file);
        assert_int_not_equal(cupel_npy_read(path, arena, &back, &err), CUPEL_OK);
        assert_non_null(strstr(err.text, path));
    }
    cupel_arena_free(arena);
}

static void hostile_arrays_are_refused(void **state) {
    char path[300];
    snprintf(path, sizeof path, "%s/a.npy", (char *)*state);
    cupel_error err = {0};
    assert_int_equal(cupel_npy_write(path, "<f4", 2, (const int64_t[]){INT64_MAX, 2}, NULL, &err),
                     CUPEL_RANGE);
    assert_int_equal(cupel_npy_write(path, "<f4", 1, (const int64_t[]){-1}, NULL, &err), CUPEL_RANGE);
    assert_int_equal(cupel_npy_write(path, "float", 0, NULL, NULL, &err), CUPEL_RANGE);
    static const char file[] = "\x93NUMPY\x01\x00\x56\x00{'descr': '<f8', 'fortran_order': False, 'shape': "
                               "(4611686018427387904, 1), }              \n";
    assert_int_equal(cupel_text_write(path, file, sizeof file - 1, &err), CUPEL_OK);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_npy back;
    assert_int_not_equal(cupel_npy_read(path, arena, &back, &err), CUPEL_OK);
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numpy_agrees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_truncation_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_arrays_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
