/* Views that elementwise operations read where their argument lies: the elements of every block, across rows
 * and blocks. */
#include "graph_fixture.h"

#include <math.h>

#include "oracle.h"

enum { M = 37, N = 19, COUNT = M * N };

static float x[COUNT], w[COUNT], column[M], row[N];

static float expected_sum(int view, int i, int j) {
    switch (view) {
    case 0: return w[j * M + i];
    case 1: return row[j];
    case 2: return column[i];
    case 3: return w[(M - 1 - i) * N + j];
    case 4: return w[i * N + (N - 1 - j)];
    case 5: return w[i * N + j];
    default: return w[(i * N + j) / M + (i * N + j) % M * N];
    }
}

static void views_hold_the_elements_of_plain_loops(void **state) {
    (void)state;
    static const struct {
        const char *text, *shape; /* of w */
    } rows[] = {
        {"x * 2 + transpose(w, 0, 1)", "19,37"},
        {"x * 2 + row", "37,19"},
        {"x * 2 + reshape(column, [37, 1])", "37,19"},
        {"x * 2 + flip(w, 0)", "37,19"},
        {"x * 2 + flip(w, 1)", "37,19"},
        {"x * 2 + reshape(w, [37, 19])", "703"},
        {"x * 2 + reshape(transpose(w, 0, 1), [37, 19])", "37,19"},
    };
    for (int i = 0; i < COUNT; i++) x[i] = (float)(i % 101), w[i] = (float)(i % 97) * 0.5f;
    for (int i = 0; i < M; i++) column[i] = (float)i;
    for (int j = 0; j < N; j++) row[j] = (float)(j * j);
    /* one that is special, so that its block goes through the rules */
    for (int special = 0; special < 2; special++) {
        if (special) w[400] = INFINITY, row[3] = INFINITY, column[11] = INFINITY;
        for (int r = 0; r < (int)(sizeof rows / sizeof *rows); r++) {
            fixture f;
            fixture_start(&f);
            fixture_input(&f, "x", CUPEL_F32, "37,19");
            fixture_input(&f, "w", CUPEL_F32, rows[r].shape);
            fixture_input(&f, "row", CUPEL_F32, "19");
            fixture_input(&f, "column", CUPEL_F32, "37");
            fixture_build(&f, rows[r].text, CUPEL_F32, "37,19");
            const void *data[] = {x, w, row, column};
            const cupel_bindings bindings = {4, data};
            const cupel_rules rules = {.working = CUPEL_F32};
            cupel_allowed a;
            assert_int_equal(cupel_oracle_bounded(f.graph, &bindings, &rules, f.arena, &a, &f.err), CUPEL_OK);
            for (int i = 0; i < M; i++) {
                for (int j = 0; j < N; j++) {
                    const double expected = 2 * (double)x[i * N + j] + (double)expected_sum(r, i, j);
                    if (a.value[i * N + j] != expected)
                        fail_msg("%s [%d, %d]: %g, expected %g", rows[r].text, i, j, a.value[i * N + j],
                                 expected);
                    const uint8_t classes = a.classes[i * N + j] & CUPEL_CLASS_MASK;
                    assert_int_equal(classes, isinf(expected) ? CUPEL_CLASS_POS_INF : CUPEL_CLASS_FINITE);
                    assert_true(a.radius[i * N + j] == 0); /* multiples of 1/2 */
                }
            }
            fixture_end(&f);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(views_hold_the_elements_of_plain_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
