/* Functions that move elements: the result is element source(i, j) of x, or a number. */
#include <string.h>

#include "good_kernels.h"

/* Element (i, j) of the result of an m x n argument x and a second one w of the same shape. */
typedef float mover(const property_problem *p, int64_t i, int64_t j);

static float x_of(const property_problem *p, int64_t i, int64_t j) {
    return (float)p->inputs[0].values[i * p->n + j];
}
static float w_of(const property_problem *p, int64_t i, int64_t j) {
    return (float)p->inputs[1].values[i * p->n + j];
}

/* The result's rows and columns follow from m and n. */
typedef struct movement {
    const char *expression;
    mover *move;
    int64_t rows_m, rows_n, rows_1; /* rows = rows_m m + rows_n n + rows_1 */
    int64_t columns_m, columns_n, columns_1;
} movement;

#define MOVE(name, element)                                                                                  \
    static float name(const property_problem *p, int64_t i, int64_t j) {                                     \
        (void)p, (void)i, (void)j;                                                                           \
        return element;                                                                                      \
    }
MOVE(transpose_, x_of(p, j, i))
MOVE(reshape_, (float)p->inputs[0].values[i * p->m + j])
MOVE(flip_, x_of(p, i, p->n - 1 - j))
MOVE(roll_, x_of(p, i, (j - 1 + p->n) % p->n))
MOVE(concat_, j < p->n ? x_of(p, i, j) : w_of(p, i, j - p->n))
MOVE(concat_rows, i < p->m ? x_of(p, i, j) : w_of(p, i - p->m, j))
MOVE(slice_, x_of(p, i, j + 1))
MOVE(every_row, x_of(p, p->m - 1, j))
MOVE(pad_, j >= 1 && j <= p->n ? x_of(p, i, j - 1) : 0.5f)
MOVE(tril_, j <= i ? x_of(p, i, j) : 0)
MOVE(triu_, j >= i + 1 ? x_of(p, i, j) : 0)
MOVE(full_, 0.25f)
MOVE(stack_, i % 2 ? w_of(p, i / 2, j) : x_of(p, i / 2, j))
MOVE(arange_, (float)(3 + 2 * j) * 0.5f)

static const movement movements[] = {
    {"transpose(x)", transpose_, 0, 1, 0, 1, 0, 0},
    {"permute(x, [1, 0])", transpose_, 0, 1, 0, 1, 0, 0},
    {"reshape(x, [-1, M])", reshape_, 0, 1, 0, 1, 0, 0},
    {"flip(x, 1)", flip_, 1, 0, 0, 0, 1, 0},
    {"roll(x, 1, 1)", roll_, 1, 0, 0, 0, 1, 0},
    {"concat([x, w], 1)", concat_, 1, 0, 0, 0, 2, 0},
    {"concat([x, w])", concat_rows, 2, 0, 0, 0, 1, 0},
    {"slice(x, 1, 1)", slice_, 1, 0, 0, 0, 1, -1},
    {"broadcast_to(x[-1:], [M, N])", every_row, 1, 0, 0, 0, 1, 0},
    {"pad(x, [1, 2], value=0.5)", pad_, 1, 0, 0, 0, 1, 3},
    {"tril(x)", tril_, 1, 0, 0, 0, 1, 0},
    {"triu(x, 1)", triu_, 1, 0, 0, 0, 1, 0},
    {"full([M, N], 0.25)", full_, 1, 0, 0, 0, 1, 0},
    {"reshape(stack([x, w], axis=1), [-1, N])", stack_, 2, 0, 0, 0, 1, 0},
    {"squeeze(unsqueeze(x, 1), 1)", x_of, 1, 0, 0, 0, 1, 0},
    {"arange(3, 3 + 2 * N, 2) * 0.5 + full([M, N], 0)", arange_, 1, 0, 0, 0, 1, 0},
};
enum { MOVEMENT_COUNT = sizeof movements / sizeof *movements };

static const movement *movement_of(const property_problem *p) {
    for (int i = 0; i < MOVEMENT_COUNT; i++)
        if (strcmp(movements[i].expression, p->op->expression) == 0) return &movements[i];
    return NULL;
}

static void movement_inputs(property_problem *p) {
    const movement *v = movement_of(p);
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->m, p->n));
    property_expect(p, 2,
                    (const int64_t[]){v->rows_m * p->m + v->rows_n * p->n + v->rows_1,
                                      v->columns_m * p->m + v->columns_n * p->n + v->columns_1});
}

static void move(property_problem *p, int form, double *results) {
    const movement *v = movement_of(p);
    (void)form;
    for (int64_t i = 0; i < p->shape[0]; i++)
        for (int64_t j = 0; j < p->shape[1]; j++) results[i * p->shape[1] + j] = v->move(p, i, j);
}

/* ---- by index ---- */

static void index_inputs(property_problem *p) {
    const cupel_dtype type = p->type;
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    p->type = CUPEL_I32;
    property_fill_integers(p, property_add(p, "i", 2, p->m, 3), 0, p->n - 1);
    property_fill_integers(p, property_add(p, "k", 1, 4, 0), 0, p->m - 1);
    p->type = type;
    property_expect(p, 2, (const int64_t[]){p->m, 3});
}

static void gather(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++) results[e] = x_of(p, e / 3, (int64_t)p->inputs[1].values[e]);
}

static void picked_inputs(property_problem *p) {
    index_inputs(p);
    property_expect(p, 2, (const int64_t[]){4, p->n});
}

static void picked(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++)
        results[e] = x_of(p, (int64_t)p->inputs[2].values[e / p->n], e % p->n);
}

static void one_hot_inputs(property_problem *p) {
    index_inputs(p);
    property_expect(p, 2, (const int64_t[]){4, 3});
}

static void one_hot(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++) results[e] = p->inputs[2].values[e / 3] == (double)(e % 3);
}

#define MOVEMENT(text) {text, text, 0, PROPERTY_OWN, 1, move, NULL, movement_inputs, 0},
#define INDEX(expression, shadow, inputs)                                                                    \
    {expression, expression, 0, PROPERTY_OWN, 1, shadow, NULL, inputs, 0},
/* clang-format off */
static const property_operator rows[] = {
    MOVEMENT("transpose(x)")
    MOVEMENT("permute(x, [1, 0])")
    MOVEMENT("reshape(x, [-1, M])")
    MOVEMENT("flip(x, 1)")
    MOVEMENT("roll(x, 1, 1)")
    MOVEMENT("concat([x, w], 1)")
    MOVEMENT("concat([x, w])")
    MOVEMENT("slice(x, 1, 1)")
    MOVEMENT("broadcast_to(x[-1:], [M, N])")
    MOVEMENT("pad(x, [1, 2], value=0.5)")
    MOVEMENT("tril(x)")
    MOVEMENT("triu(x, 1)")
    MOVEMENT("full([M, N], 0.25)")
    MOVEMENT("reshape(stack([x, w], axis=1), [-1, N])")
    MOVEMENT("squeeze(unsqueeze(x, 1), 1)")
    MOVEMENT("arange(3, 3 + 2 * N, 2) * 0.5 + full([M, N], 0)")
    INDEX("gather(x, 1, i)", gather, index_inputs)
    INDEX("index_select(x, 0, k)", picked, picked_inputs)
    INDEX("embedding(k, x)", picked, picked_inputs)
    INDEX("one_hot(k, 3)", one_hot, one_hot_inputs)
};
/* clang-format on */
const property_family property_shape = {"shape", rows, sizeof rows / sizeof *rows};
