/* Functions that move elements, with a fault. */
#include <string.h>

#include "bad_kernels.h"

/* Element (i, j) of a result of [rows, columns]. */
typedef double mover(const property_problem *p, int64_t i, int64_t j);

typedef struct movement {
    const char *fault, *expression;
    mover *move;
    int64_t rows_m, rows_n, columns_m, columns_n, columns_1; /* rows = rows_m m + rows_n n, .. */
} movement;

static double x_of(const property_problem *p, int64_t i, int64_t j) {
    return p->inputs[0].values[i * p->n + j];
}
static double w_of(const property_problem *p, int64_t i, int64_t j) {
    return p->inputs[1].values[i * p->n + j];
}

#define MOVE(name, element)                                                                                  \
    static double name(const property_problem *p, int64_t i, int64_t j) {                                    \
        (void)p, (void)i, (void)j;                                                                           \
        return element;                                                                                      \
    }
MOVE(copied, p->inputs[0].values[i * p->m + j])
MOVE(transposed, x_of(p, j, i))
MOVE(same, x_of(p, i, j))
MOVE(rolled_left, x_of(p, i, (j + 1) % p->n))
MOVE(twice_x, x_of(p, i, j % p->n))
MOVE(twice_rows, x_of(p, i % p->m, j))
MOVE(from_zero, x_of(p, i, j))
MOVE(first_row, x_of(p, 0, j))
MOVE(padded_right, j < p->n ? x_of(p, i, j) : 0.5)
MOVE(strictly_lower, j < i ? x_of(p, i, j) : 0)
MOVE(whole_upper, j >= i ? x_of(p, i, j) : 0)
MOVE(masked_lower, x_of(p, i, j) * (j <= i))
MOVE(half_full, 0.1 * (1 + 0x1p-11))
MOVE(stacked_last, i < p->m ? x_of(p, i, j) : w_of(p, i - p->m, j))
MOVE(late_arange, (double)(3 + 2 * (j + 1)))

static const movement movements[] = {
    {"not transposed", "transpose(x)", copied, 0, 1, 1, 0, 0},
    {"not permuted", "permute(x, [1, 0])", copied, 0, 1, 1, 0, 0},
    {"transposed", "reshape(x, [-1, M])", transposed, 0, 1, 1, 0, 0},
    {"not flipped", "flip(x, 1)", same, 1, 0, 0, 1, 0},
    {"the other way", "roll(x, 1, 1)", rolled_left, 1, 0, 0, 1, 0},
    {"the first tensor twice", "concat([x, w], 1)", twice_x, 1, 0, 0, 2, 0},
    {"the first tensor twice", "concat([x, w])", twice_rows, 2, 0, 0, 1, 0},
    {"from the first element", "slice(x, 1, 1)", from_zero, 1, 0, 0, 1, -1},
    {"the first row", "broadcast_to(x[-1:], [M, N])", first_row, 1, 0, 0, 1, 0},
    {"on the other side", "pad(x, [1, 0], value=0.5)", padded_right, 1, 0, 0, 1, 1},
    {"without the diagonal", "tril(x)", strictly_lower, 1, 0, 0, 1, 0},
    {"multiplied by a mask", "tril(x)", masked_lower, 1, 0, 0, 1, 0},
    {"with the diagonal", "triu(x, 1)", whole_upper, 1, 0, 0, 1, 0},
    {"in half precision", "full([M, N], 0.1)", half_full, 1, 0, 0, 1, 0},
    {"along another axis", "reshape(stack([x, w], axis=1), [-1, N])", stacked_last, 2, 0, 0, 1, 0},
    {"transposed", "squeeze(unsqueeze(transpose(x), 1), 1)", copied, 0, 1, 1, 0, 0},
    {"from the second", "arange(3, 3 + 2 * N, 2) + full([M, N], 0)", late_arange, 1, 0, 0, 1, 0},
};
enum { MOVEMENT_COUNT = sizeof movements / sizeof *movements };

static const movement *movement_of(const property_problem *p) {
    for (int i = 0; i < MOVEMENT_COUNT; i++)
        if (strcmp(movements[i].expression, p->op->expression) == 0 &&
            strcmp(movements[i].fault, p->op->name) == 0)
            return &movements[i];
    return NULL;
}

static void movement_inputs(property_problem *p) {
    const movement *v = movement_of(p);
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->m, p->n));
    property_expect(p, 2,
                    (const int64_t[]){v->rows_m * p->m + v->rows_n * p->n,
                                      v->columns_m * p->m + v->columns_n * p->n + v->columns_1});
}

static void move(property_problem *p, int form, double *results) {
    const movement *v = movement_of(p);
    (void)form;
    for (int64_t i = 0; i < p->shape[0]; i++)
        for (int64_t j = 0; j < p->shape[1]; j++) results[i * p->shape[1] + j] = v->move(p, i, j);
}

/* ---- by index: one too far, and round the end ---- */

static void index_inputs(property_problem *p) {
    const cupel_dtype type = p->type;
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    p->type = CUPEL_I32;
    property_fill_integers(p, property_add(p, "i", 2, p->m, 3), 0, p->n - 1);
    property_fill_integers(p, property_add(p, "k", 1, 4, 0), 0, p->m - 1);
    p->type = type;
    property_expect(p, 2, (const int64_t[]){p->m, 3});
}
static void picked_inputs(property_problem *p) {
    index_inputs(p);
    property_expect(p, 2, (const int64_t[]){4, p->n});
}
static void hot_inputs(property_problem *p) {
    index_inputs(p);
    property_expect(p, 2, (const int64_t[]){4, 3});
}

static void next_gathered(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++)
        results[e] = x_of(p, e / 3, ((int64_t)p->inputs[1].values[e] + 1) % p->n);
}
static void next_picked(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++)
        results[e] = x_of(p, ((int64_t)p->inputs[2].values[e / p->n] + 1) % p->m, e % p->n);
}
static void next_hot(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++) results[e] = p->inputs[2].values[e / 3] + 1 == (double)(e % 3);
}

#define MOVEMENT(fault, text) {fault, text, 0, PROPERTY_OWN, 1, move, NULL, movement_inputs, 0},
#define INDEX(expression, shadow, inputs)                                                                    \
    {"the next", expression, 0, PROPERTY_OWN, 1, shadow, NULL, inputs, 0},
/* clang-format off */
static const property_operator rows[] = {
    MOVEMENT("not transposed", "transpose(x)")
    MOVEMENT("not permuted", "permute(x, [1, 0])")
    MOVEMENT("transposed", "reshape(x, [-1, M])")
    MOVEMENT("not flipped", "flip(x, 1)")
    MOVEMENT("the other way", "roll(x, 1, 1)")
    MOVEMENT("the first tensor twice", "concat([x, w], 1)")
    MOVEMENT("the first tensor twice", "concat([x, w])")
    MOVEMENT("from the first element", "slice(x, 1, 1)")
    MOVEMENT("the first row", "broadcast_to(x[-1:], [M, N])")
    MOVEMENT("on the other side", "pad(x, [1, 0], value=0.5)")
    MOVEMENT("without the diagonal", "tril(x)")
    MOVEMENT("multiplied by a mask", "tril(x)")
    MOVEMENT("with the diagonal", "triu(x, 1)")
    MOVEMENT("in half precision", "full([M, N], 0.1)")
    MOVEMENT("along another axis", "reshape(stack([x, w], axis=1), [-1, N])")
    MOVEMENT("transposed", "squeeze(unsqueeze(transpose(x), 1), 1)")
    MOVEMENT("from the second", "arange(3, 3 + 2 * N, 2) + full([M, N], 0)")
    INDEX("gather(x, 1, i)", next_gathered, index_inputs)
    INDEX("index_select(x, 0, k)", next_picked, picked_inputs)
    INDEX("embedding(k, x)", next_picked, picked_inputs)
    INDEX("one_hot(k, 3)", next_hot, hot_inputs)
};
/* clang-format on */
const property_family bad_shape = {"shape", rows, sizeof rows / sizeof *rows};
