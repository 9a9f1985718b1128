/* Matrix products of the bounded evaluator: the same sums as plain loops in the order of k, bit for bit, for
 * every vector unit, at every edge of tiles and blocks, and through views that are never written. */
#include "graph_fixture.h"

#include <math.h>

#include "bounded_tile.h"
#include "oracle.h"
#include "philox.h"

enum { ROWS = CUPEL_TILE_ROWS, COLUMNS = CUPEL_TILE_COLUMNS, STRIDE = CUPEL_TILE_STRIDE, TERMS = 37 };

static double draw(cupel_random *random) {
    return ldexp(cupel_random_unit(random) - 0.5, (int)(cupel_random_unit(random) * 60) - 30);
}

typedef struct tile_sums {
    _Alignas(64) double value[ROWS][STRIDE], size[ROWS][STRIDE], moved[ROWS][STRIDE];
} tile_sums;

/* The definition of a tile's sums. */
static void add_plainly(const cupel_tile *t, tile_sums *s) {
    const int parts_x = t->moves_x ? 3 : 2, parts_y = t->moves_y ? 3 : 2;
    for (int64_t k = 0; k < t->terms; k++) {
        const double *x = t->x + k * parts_x * ROWS, *y = t->y + k * parts_y * COLUMNS;
        for (int r = 0; r < ROWS; r++) {
            for (int c = 0; c < COLUMNS; c++) {
                s->value[r][c] += x[r] * y[c];
                s->size[r][c] += x[ROWS + r] * y[COLUMNS + c];
                if (t->moves_x) s->moved[r][c] += x[2 * ROWS + r] * y[COLUMNS + c];
                if (t->moves_y) s->moved[r][c] += fabs(x[r]) * y[2 * COLUMNS + c];
            }
        }
    }
}

static void every_vector_unit_adds_alike(void **state) {
    (void)state;
    static _Alignas(64) double x[3 * ROWS * TERMS], y[3 * COLUMNS * TERMS];
    static tile_sums expected, got;
    const cupel_tiling *tilings[CUPEL_TILINGS_MAX];
    const int count = cupel_tilings(tilings);
    assert_true(count >= 1);
    cupel_random random = cupel_random_start(1, 1);
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 3 * ROWS * TERMS; i++) x[i] = draw(&random);
        for (int i = 0; i < 3 * COLUMNS * TERMS; i++) y[i] = draw(&random);
        cupel_tile t = {.x = x, .y = y, .terms = round % TERMS, .moves_x = round & 1, .moves_y = round & 2};
        memset(&expected, 0, sizeof expected);
        expected.value[1][2] = 3.5; /* sums that have begun go on */
        for (int u = 0; u < count; u++) {
            memset(&got, 0, sizeof got);
            got.value[1][2] = 3.5;
            t.value = got.value[0], t.size = got.size[0], t.moved = got.moved[0];
            tilings[u]->multiply(&t);
            if (u == 0) add_plainly(&t, &expected);
            assert_memory_equal(&got, &expected, sizeof got);
        }
    }
}

static void every_vector_unit_finds_the_least_product(void **state) {
    (void)state;
    double x[ROWS * TERMS], y[COLUMNS * TERMS], least[ROWS * STRIDE];
    const cupel_tiling *tilings[CUPEL_TILINGS_MAX];
    const int count = cupel_tilings(tilings);
    cupel_random random = cupel_random_start(2, 1);
    for (int i = 0; i < ROWS * TERMS; i++) x[i] = fabs(draw(&random));
    for (int i = 0; i < COLUMNS * TERMS; i++) y[i] = fabs(draw(&random));
    for (int u = 0; u < count; u++) {
        for (int i = 0; i < ROWS * STRIDE; i++) least[i] = 0x1p-20;
        tilings[u]->least(x, y, TERMS, least);
        for (int r = 0; r < ROWS; r++) {
            for (int c = 0; c < COLUMNS; c++) {
                double expected = 0x1p-20;
                for (int k = 0; k < TERMS; k++)
                    expected = fmin(expected, x[k * ROWS + r] * y[k * COLUMNS + c]);
                assert_true(least[r * STRIDE + c] == expected);
            }
        }
    }
}

/* One product of x [batch, m, k] and w, through the whole evaluator. */
typedef struct problem {
    fixture f;
    float *x, *w;
    int64_t batch, m, k, n;
    cupel_arena *arena;
    cupel_allowed allowed;
} problem;

static float *fill(int64_t count, cupel_random *random, bool coarse) {
    float *values = malloc((size_t)(count + 1) * sizeof *values);
    for (int64_t i = 0; i < count; i++) {
        const double v = cupel_random_unit(random) * 4 - 2;
        values[i] = (float)(coarse ? floor(v * 8) : v);
    }
    return values;
}

static void start(problem *p, int64_t batch, int64_t m, int64_t k, int64_t n, const char *x_shape,
                  const char *w_shape, bool coarse) {
    *p = (problem){.batch = batch, .m = m, .k = k, .n = n, .arena = cupel_arena_create(0)};
    cupel_random random = cupel_random_start((uint64_t)(m * 100 + k * 10 + n), 7);
    fixture_start(&p->f);
    fixture_input(&p->f, "x", CUPEL_F32, x_shape);
    fixture_input(&p->f, "w", CUPEL_F32, w_shape);
    p->x = fill(batch * m * k, &random, coarse);
    p->w = fill(batch * k * n, &random, coarse);
}

static void answer(problem *p, const char *text, const char *shape) {
    const void *data[] = {p->x, p->w};
    const cupel_bindings bindings = {2, data};
    const cupel_rules rules = {.working = CUPEL_F32};
    fixture_build(&p->f, text, CUPEL_F32, shape);
    if (cupel_oracle_bounded(p->f.graph, &bindings, &rules, p->arena, &p->allowed, &p->f.err) != CUPEL_OK)
        fail_msg("%s: %s", text, p->f.err.text);
}

static void finish(problem *p) {
    free(p->x);
    free(p->w);
    cupel_arena_free(p->arena);
    fixture_end(&p->f);
}

/* Strides of x [batch, m, k] and w [batch, k, n] in their tensors. */
typedef struct strides {
    int64_t x_batch, x_row, x_inner, w_batch, w_inner, w_column;
} strides;

static void expect_plain_sums(const problem *p, const strides *s, const char *what) {
    for (int64_t b = 0; b < p->batch; b++) {
        for (int64_t i = 0; i < p->m; i++) {
            for (int64_t j = 0; j < p->n; j++) {
                double sum = 0;
                for (int64_t k = 0; k < p->k; k++)
                    sum += (double)p->x[b * s->x_batch + i * s->x_row + k * s->x_inner] *
                           (double)p->w[b * s->w_batch + k * s->w_inner + j * s->w_column];
                const int64_t at = (b * p->m + i) * p->n + j;
                if (p->allowed.value[at] != sum || !(p->allowed.radius[at] >= 0))
                    fail_msg("%s %lldx%lldx%lldx%lld [%lld]: %.17g, expected %.17g", what,
                             (long long)p->batch, (long long)p->m, (long long)p->k, (long long)p->n,
                             (long long)at, p->allowed.value[at], sum);
            }
        }
    }
}

static void sums_are_those_of_plain_loops(void **state) {
    (void)state;
    static const int64_t sizes[][4] = {{1, 1, 1, 1},   {2, 3, 5, 7},    {1, 4, 8, 8},      {1, 5, 9, 17},
                                       {3, 8, 1, 3},   {1, 129, 2, 9},  {1, 2, 129, 129},  {2, 128, 128, 8},
                                       {1, 4, 300, 1}, {1, 1, 257, 31}, {1, 131, 130, 127}};
    for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
        const int64_t *e = sizes[z];
        for (int coarse = 0; coarse < 2; coarse++) {
            char x[64], w[64], y[64];
            snprintf(x, sizeof x, "%lld,%lld,%lld", (long long)e[0], (long long)e[1], (long long)e[2]);
            snprintf(w, sizeof w, "%lld,%lld,%lld", (long long)e[0], (long long)e[2], (long long)e[3]);
            snprintf(y, sizeof y, "%lld,%lld,%lld", (long long)e[0], (long long)e[1], (long long)e[3]);
            problem p;
            start(&p, e[0], e[1], e[2], e[3], x, w, coarse);
            answer(&p, "matmul(x, w)", y);
            const strides s = {e[1] * e[2], e[2], 1, e[2] * e[3], e[3], 1};
            expect_plain_sums(&p, &s, coarse ? "coarse" : "fine");
            for (int64_t i = 0; coarse && i < p.allowed.count; i++) /* small integers: exact */
                assert_true(p.allowed.radius[i] == 0);
            finish(&p);
        }
    }
}

static void views_are_read_in_place(void **state) {
    (void)state;
    problem p;
    start(&p, 1, 11, 6, 13, "6,11", "13,6", false);
    answer(&p, "matmul(transpose(x, 0, 1), transpose(w, 0, 1))", "11,13");
    const strides transposed = {0, 1, 11, 0, 1, 6};
    expect_plain_sums(&p, &transposed, "transposed");
    /* the same view also as a term of its own is written for that */
    answer(&p, "matmul(transpose(x, 0, 1), x) * 0 + matmul(transpose(x, 0, 1), x)", "11,11");
    finish(&p);

    start(&p, 5, 3, 4, 9, "5,3,4", "4,9", false);
    answer(&p, "matmul(x, w)", "5,3,9");
    const strides broadcast = {12, 4, 1, 0, 9, 1};
    expect_plain_sums(&p, &broadcast, "broadcast");
    finish(&p);

    start(&p, 2, 3, 10, 4, "2,5,3,2", "10,4",
          false); /* a reshaped transpose: x[b, c, i, d] as [b, i, (c d)] */
    answer(&p, "matmul(reshape(transpose(x, 1, 2), [2, 3, 10]), w)", "2,3,4");
    for (int64_t b = 0; b < 2; b++) {
        for (int64_t i = 0; i < 3; i++) {
            double sum = 0;
            for (int64_t k = 0; k < 10; k++)
                sum += (double)p.x[((b * 5 + k / 2) * 3 + i) * 2 + k % 2] * (double)p.w[k * 4 + 1];
            assert_true(p.allowed.value[(b * 3 + i) * 4 + 1] == sum);
        }
    }
    finish(&p);
}

/* A view that only a product reads takes no memory. */
static void views_take_no_memory(void **state) {
    (void)state;
    problem p;
    start(&p, 400, 1, 64, 64, "400,1,64", "64,64", false);
    answer(&p, "matmul(x, w)", "400,1,64");
    const size_t copies = (size_t)400 * 64 * 64 * sizeof(double);
    assert_true(cupel_arena_used(p.arena) < copies / 2);
    finish(&p);
}

static void special_values_reach_their_rows_and_columns(void **state) {
    (void)state;
    problem p;
    start(&p, 1, 9, 5, 11, "9,5", "5,11", false);
    p.x[3 * 5 + 2] = INFINITY;
    p.w[1 * 11 + 10] = NAN;
    answer(&p, "matmul(x, w)", "9,11");
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 11; j++) {
            const uint8_t classes = p.allowed.classes[i * 11 + j] & CUPEL_CLASS_MASK;
            if (j == 10)
                assert_int_equal(classes, CUPEL_CLASS_NAN);
            else if (i == 3)
                assert_int_equal(classes, p.w[2 * 11 + j] > 0 ? CUPEL_CLASS_POS_INF : CUPEL_CLASS_NEG_INF);
            else
                assert_int_equal(classes, CUPEL_CLASS_FINITE);
        }
    }
    finish(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vector_unit_adds_alike),
        cmocka_unit_test(every_vector_unit_finds_the_least_product),
        cmocka_unit_test(sums_are_those_of_plain_loops),
        cmocka_unit_test(views_are_read_in_place),
        cmocka_unit_test(views_take_no_memory),
        cmocka_unit_test(special_values_reach_their_rows_and_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
