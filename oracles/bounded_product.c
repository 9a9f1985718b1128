/* Matrix products: [batch.., M, K] x [batch.., K, N]. */
#include <stdlib.h>

#include "bounded.h"

enum { COLUMNS = 128, ROWS = 4, CACHE_LINE = 64 };

typedef struct extents {
    int64_t m, k, n;
} extents;

typedef struct matmul {
    cupel_bounded *b;
    int node;
    extents e;
    const cupel_tensor *x, *y;
    cupel_tensor *t;
    double rounding;               /* of each product, in u; 0 where products are exact */
    double underflow;              /* of each product */
    bool loops;                    /* the loops may run for plain rows and columns */
    uint8_t *odd_row, *odd_column; /* rows of x, columns of y with something special in them, of one batch */
    bool exact_terms;              /* no operand has a radius */
    int *low_row, *low_column; /* exponents of the lowest bits, per row of x and column of y of one batch */
    bool fine;                 /* products are exact: whether their sum is, each element's own terms tell */
    double *grain_x, *grain_y; /* with fine: powers of two that the elements are multiples of, of one batch */
    double hidden_x, hidden_y; /* relative roundings of chains whose result happened to be exact */
    double *size_y, *moved_y;  /* |y| + radius and that radius, of one batch; moved_y NULL when 0 */
    double extent; /* of every element, where one bound serves all; else 0, and an element's own follows */
    double *sum_x, *sum_y; /* from the sums of |x| over its row and of |y| over its column */
} matmul;

/* The most bits that any element of t uses. */
static int bits_of(const cupel_tensor *t) {
    uint64_t bits = 0;
    for (int64_t i = 0; i < t->count; i++) bits |= cupel_bits(t->value[i]) & UINT64_C(0xfffffffffffff);
    return bits ? 53 - __builtin_ctzll(bits) : 1;
}

static cupel_code element_by_rules(const matmul *p, int64_t batch, int64_t i, int64_t j) {
    const extents e = p->e;
    const int64_t at_x = (batch * e.m + i) * e.k, at_y = batch * e.k * e.n + j;
    const cupel_value_kind kind = p->b->graph->nodes[p->node].kind;
    cupel_ball_tally tally = cupel_ball_tally_start();
    double value = 0;
    for (int64_t k = 0; k < e.k; k++) {
        const cupel_ball a = cupel_tensor_load(p->x, at_x + k), c = cupel_tensor_load(p->y, at_y + k * e.n);
        const double product = a.value * c.value;
        if (kind == CUPEL_VALUE_REAL) {
            const bool exact = isfinite(product) && fma(a.value, c.value, -product) == 0;
            cupel_ball_tally_product(&p->b->w, &tally, &a, &c, product, exact);
        } else {
            const cupel_ball term = cupel_ball_integer(CUPEL_OP_MUL, &a, &c, product);
            cupel_ball_tally_add(&p->b->w, &tally, &term);
        }
        value += product;
    }
    const cupel_ball r =
        cupel_ball_tally_end(&p->b->w, &p->b->plans[p->node].trait, kind, &tally, value, false);
    return cupel_tensor_store(p->b, p->t, (batch * e.m + i) * e.n + j, &r);
}

/* Value, sum of magnitudes and of moved magnitudes of one row's block of columns. */
typedef struct block {
    double value[ROWS][COLUMNS], size[ROWS][COLUMNS], moved[ROWS][COLUMNS], grain[ROWS][COLUMNS];
} block;

CUPEL_WIDE static void add_products(const matmul *p, block *s, int64_t batch, int64_t row, int rows,
                                    int64_t column, int64_t n) {
    const extents e = p->e;
    for (int64_t k = 0; k < e.k; k++) {
        const double *y = p->y->value + (batch * e.k + k) * e.n + column;
        const double *size_y = p->size_y + k * e.n + column;
        for (int r = 0; r < rows; r++) {
            const int64_t at_x = (batch * e.m + row + r) * e.k + k;
            const double a = p->x->value[at_x], own = cupel_radius_at(p->x, at_x);
            const double ra = own > 0 ? own : p->hidden_x * fabs(a), size_a = fabs(a) + own;
            double *value = s->value[r], *size = s->size[r], *moved = s->moved[r];
            for (int64_t j = 0; j < n; j++) {
                value[j] += a * y[j];
                size[j] += size_a * size_y[j];
            }
            if (ra > 0) {
                for (int64_t j = 0; j < n; j++) moved[j] += ra * size_y[j];
            }
            if (p->moved_y) {
                const double *ry = p->moved_y + k * e.n + column, plain_a = fabs(a);
                for (int64_t j = 0; j < n; j++) moved[j] += plain_a * ry[j];
            }
        }
    }
}

/* The grain of each sum: that of its finest product. */
CUPEL_WIDE static void add_grains(const matmul *p, block *s, int64_t row, int rows, int64_t column,
                                  int64_t n) {
    const extents e = p->e;
    for (int64_t k = 0; k < e.k; k++) {
        const double *y = p->grain_y + k * e.n + column;
        for (int r = 0; r < rows; r++) {
            const double x = p->grain_x[(row + r) * e.k + k];
            double *grain = s->grain[r];
            CUPEL_VECTORISE
            for (int64_t j = 0; j < n; j++) grain[j] = x * y[j] < grain[j] ? x * y[j] : grain[j];
        }
    }
}

/* Radius of one element from its sums; grain 0: not known. False: by the rules. */
static bool finish(const matmul *p, int64_t at, double value, double size, double moved, double grain,
                   double extent) {
    const cupel_working *w = &p->b->w;
    const cupel_trait *trait = &p->b->plans[p->node].trait;
    const double k = (double)p->e.k, u = w->unit * (1 + 0x1p-20);
    const bool exact_terms = p->exact_terms && moved == 0 && grain >= w->smallest && !trait->rescalable;
    const bool exact = exact_terms && !trait->in_statistic && size <= ldexp(grain, w->precision);
    double spread = exact ? 0 : moved + p->rounding * u * size + k * p->underflow;
    if (trait->rescalable && k > 1) spread += (k - 1) * (spread + u * size);
    const double magnitude = size + spread;
    const double top = (magnitude > extent ? magnitude : extent) * 1.01 * trait->overflow;
    if (!(top < w->largest)) return false;
    p->t->value[at] = value;
    p->t->radius[at] = exact ? 0 : (spread + (k - 1) * u * magnitude) * (1 + 0x1p-40) + fabs(value) * 0x1p-52;
    if (p->t->magnitude) {
        p->t->magnitude[at] = magnitude;
        p->t->spread[at] = spread;
        p->t->grain[at] = spread == 0 ? grain : 0;
    }
    if (p->t->peak) {
        const double low = fabs(value) - p->t->radius[at];
        p->t->peak[at] = fmax(1, fmax(extent, magnitude));
        p->t->trough[at] = value == 0 && low == 0 ? 1 : fmin(1, fmax(low, 0));
    }
    return true;
}

/* The sum over the terms of max(1, |a|) max(1, |b|), or more. */
static double extent_of(const matmul *p, int64_t row, int64_t column, double size) {
    return p->extent > 0 ? p->extent : (double)p->e.k + p->sum_x[row] + p->sum_y[column] + size;
}

static double coarse_grain(const matmul *p, int64_t row, int64_t column) {
    const int low = p->low_row[row] + p->low_column[column];
    return low > 1000 ? INFINITY : low < -1000 ? 0 : ldexp(1, low);
}

static cupel_code multiply_rows(const matmul *p, block *s, int64_t batch, int64_t row, int rows) {
    const extents e = p->e;
    for (int64_t column = 0; column < e.n; column += COLUMNS) {
        const int64_t n = e.n - column < COLUMNS ? e.n - column : COLUMNS;
        memset(s, 0, sizeof *s);
        if (p->loops) add_products(p, s, batch, row, rows, column, n);
        for (int r = 0; p->loops && p->fine && r < rows; r++) {
            for (int64_t j = 0; j < n; j++) s->grain[r][j] = INFINITY;
        }
        if (p->loops && p->fine) add_grains(p, s, row, rows, column, n);
        for (int r = 0; r < rows; r++) {
            for (int64_t j = 0; j < n; j++) {
                const int64_t at = (batch * e.m + row + r) * e.n + column + j;
                const double grain = p->fine          ? s->grain[r][j]
                                     : p->exact_terms ? coarse_grain(p, row + r, column + j)
                                                      : 0;
                const bool plain = p->loops && !p->odd_row[row + r] && !p->odd_column[column + j];
                const double extent = extent_of(p, row + r, column + j, s->size[r][j]);
                if (!plain || !finish(p, at, s->value[r][j], s->size[r][j], s->moved[r][j], grain, extent) ||
                    cupel_tensor_may_flush(p->b, p->t, at, 1))
                    CUPEL_TRY(element_by_rules(p, batch, row + r, column + j));
            }
        }
    }
    return CUPEL_OK;
}

static double grain_of(double x) {
    const int low = cupel_low_exponent(x);
    return low > 1000 ? INFINITY : ldexp(1, low);
}

static void sum_sizes(const matmul *p, int64_t batch) {
    const extents e = p->e;
    for (int64_t i = 0; i < e.m; i++) {
        const int64_t begin = (batch * e.m + i) * e.k;
        double size = 0;
        for (int64_t k = begin; k < begin + e.k; k++) size += fabs(p->x->value[k]) + cupel_radius_at(p->x, k);
        p->sum_x[i] = size;
    }
    double *restrict sums = p->sum_y;
    memset(sums, 0, (size_t)e.n * sizeof *sums);
    for (int64_t k = 0; k < e.k; k++) {
        const double *restrict y = p->size_y + k * e.n;
        for (int64_t j = 0; j < e.n; j++) sums[j] += y[j];
    }
}

static void prepare_batch(const matmul *p, int64_t batch) {
    const extents e = p->e;
    const double *y = p->y->value + batch * e.k * e.n;
    for (int64_t i = 0; i < e.k * e.n; i++)
        p->size_y[i] = fabs(y[i]) + cupel_radius_at(p->y, batch * e.k * e.n + i);
    for (int64_t i = 0; p->moved_y && i < e.k * e.n; i++) {
        const double own = cupel_radius_at(p->y, batch * e.k * e.n + i);
        p->moved_y[i] = own > 0 ? own : p->hidden_y * fabs(y[i]);
    }
    for (int64_t i = 0; p->fine && i < e.m * e.k; i++)
        p->grain_x[i] = grain_of(p->x->value[batch * e.m * e.k + i]);
    for (int64_t i = 0; p->fine && i < e.k * e.n; i++) p->grain_y[i] = grain_of(y[i]);
    for (int64_t i = 0; i < e.m; i++)
        p->odd_row[i] = !cupel_tensor_is_plain(p->x, (batch * e.m + i) * e.k, e.k);
    if (!(p->extent > 0)) sum_sizes(p, batch);
    memset(p->odd_column, 0, (size_t)e.n);
    for (int64_t i = 0; (p->y->classes || p->y->reasons) && i < e.k * e.n; i++)
        p->odd_column[i % e.n] |= !cupel_tensor_is_plain(p->y, batch * e.k * e.n + i, 1);
    if (!p->exact_terms || p->fine) return;
    for (int64_t i = 0; i < e.m; i++) {
        p->low_row[i] = 4096;
        for (int64_t k = 0; k < e.k; k++) {
            const int own = cupel_low_exponent(p->x->value[(batch * e.m + i) * e.k + k]);
            if (own < p->low_row[i]) p->low_row[i] = own;
        }
    }
    for (int64_t j = 0; j < e.n; j++) p->low_column[j] = 4096;
    for (int64_t i = 0; i < e.k * e.n; i++) {
        const int own = cupel_low_exponent(y[i]);
        if (own < p->low_column[i % e.n]) p->low_column[i % e.n] = own;
    }
}

/* Node-wide facts about rounding, underflow and exactness of the products. */
static void plan(matmul *p, cupel_tensor *x, cupel_tensor *y) {
    const cupel_working *w = &p->b->w;
    const bool real = p->b->graph->nodes[p->node].kind == CUPEL_VALUE_REAL;
    p->loops = real && cupel_tensor_keeps(p->b, x) && cupel_tensor_keeps(p->b, y);
    if (!p->loops) return;
    cupel_tensor_size(x);
    cupel_tensor_size(y);
    p->exact_terms = !x->radius && !y->radius;
    const double chain = x->roundings + y->roundings;
    p->hidden_x = x->roundings * w->unit * (1 + 0x1p-20);
    p->hidden_y = y->roundings * w->unit * (1 + 0x1p-20);
    p->fine = p->exact_terms && chain == 0 && bits_of(x) + bits_of(y) <= w->precision;
    p->rounding = p->fine ? 0 : 1;
    if (!(x->least * y->least >= w->normal)) p->underflow = w->eta;
    const double peak = (x->extents ? x->chain_peak : fmax(1, x->largest)) *
                        (y->extents ? y->chain_peak : fmax(1, y->largest));
    const double trough = (x->extents ? x->chain_trough : fmin(1, x->least)) *
                          (y->extents ? y->chain_trough : fmin(1, y->least));
    const double overflow = p->b->plans[p->node].trait.overflow;
    const double all = (double)p->e.k * peak;
    p->t->depth = trough;
    if (chain > 0 || x->products || y->products) {
        if (chain > 0 && !(trough >= w->normal)) p->underflow = w->eta * 3 * peak;
        p->extent = all;
        if (!(all * 1.01 * overflow < w->largest) || x->peak || y->peak) p->loops = false;
    } else if (!p->t->peak && all * 1.01 * overflow < w->largest) {
        p->extent = all; /* small enough for every element */
    }
    if (w->flush && !(trough * 2 * w->unit >= w->normal)) p->loops = false;
    if (w->flush && x->least * y->least * 2 * w->unit < w->normal) p->loops = false;
}

static cupel_code multiply(matmul *p, int64_t batches) {
    const extents e = p->e;
    block *s = aligned_alloc(CACHE_LINE, sizeof *s); /* else every vector store crosses two lines */
    p->low_row = malloc((size_t)(e.m + 1) * sizeof(int));
    p->low_column = malloc((size_t)(e.n + 1) * sizeof(int));
    const size_t size_x = (size_t)(e.m * e.k + 1), size_y = (size_t)(e.k * e.n + 1);
    p->size_y = aligned_alloc(CACHE_LINE, (size_y * sizeof(double) / CACHE_LINE + 1) * CACHE_LINE);
    if (p->y->radius || p->hidden_y > 0) p->moved_y = malloc(size_y * sizeof(double));
    if (p->fine) p->grain_x = malloc(size_x * sizeof(double)), p->grain_y = malloc(size_y * sizeof(double));
    const bool grains = !p->fine || (p->grain_x && p->grain_y);
    const bool moves = !(p->y->radius || p->hidden_y > 0) || p->moved_y;
    p->sum_x = malloc((size_t)(e.m + 1) * sizeof(double));
    p->sum_y = malloc((size_t)(e.n + 1) * sizeof(double));
    p->odd_row = malloc((size_t)e.m + 1);
    p->odd_column = malloc((size_t)e.n + 1);
    cupel_code code = CUPEL_OK;
    if (!s || !p->odd_row || !p->odd_column || !p->low_row || !p->low_column || !p->size_y || !p->sum_x ||
        !p->sum_y || !grains || !moves)
        code = cupel_fail(p->b->err, CUPEL_MEMORY, "no memory for a matrix product");
    for (int64_t batch = 0; batch < batches && code == CUPEL_OK; batch++) {
        prepare_batch(p, batch);
        for (int64_t row = 0; row < e.m && code == CUPEL_OK; row += ROWS)
            code = multiply_rows(p, s, batch, row, e.m - row < ROWS ? (int)(e.m - row) : ROWS);
    }
    free(s);
    free(p->odd_row);
    free(p->odd_column);
    free(p->low_row);
    free(p->low_column);
    free(p->size_y);
    free(p->moved_y);
    free(p->sum_x);
    free(p->sum_y);
    free(p->grain_x);
    free(p->grain_y);
    return code;
}

cupel_code cupel_bounded_product(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node], *left = &b->graph->nodes[n->args[0]];
    cupel_tensor *t = &b->tensors[node], *x = cupel_bounded_arg(b, node, 0),
                 *y = cupel_bounded_arg(b, node, 1);
    if (t->count == 0) return CUPEL_OK;
    matmul p = {.b = b,
                .node = node,
                .e = {n->shape[n->rank - 2], left->shape[left->rank - 1], n->shape[n->rank - 1]},
                .x = x,
                .y = y,
                .t = t};
    t->terms = (double)(p.e.k > 0 ? p.e.k : 1);
    t->sum = b->plans[node].has_sum;
    if (n->kind == CUPEL_VALUE_REAL && x->floor >= 0 && y->floor >= 0) t->floor = 0;
    t->products = t->sum;
    if (b->plans[node].wants_magnitude) CUPEL_TRY(cupel_tensor_need_magnitude(b, t));
    if (t->sum && b->plans[node].wants_chain) CUPEL_TRY(cupel_tensor_need_chain(b, t));
    CUPEL_TRY(cupel_tensor_need_radius(b, t));
    if (p.e.k > 0) plan(&p, x, y);
    CUPEL_TRY(multiply(&p, t->count / (p.e.m * p.e.n)));
    cupel_tensor_end_chain(t);
    return CUPEL_OK;
}
