/* Matrix products: [batch.., M, K] x [batch.., K, N]. Blocks of the result are summed tile by tile from
 * packed operands (bounded_tile.h, bounded_operand.h), terms in the order of k; then every element gets its
 * radius. */
#include <stdlib.h>

#include "bounded.h"
#include "bounded_operand.h"
#include "bounded_tile.h"

/* Rows and columns of a block, and terms that are packed at once: what the tiles read stays in the cache. */
enum { BLOCK = CUPEL_TILE_STRIDE, CACHE_LINE = 64 };

typedef struct extents {
    int64_t m, k, n;
} extents;

/* Sums of one block: values, |a||b| with the radii, what radii move, and the finest product. */
typedef struct block {
    double value[BLOCK][BLOCK], size[BLOCK][BLOCK], moved[BLOCK][BLOCK], grain[BLOCK][BLOCK];
    double packed_x[3 * BLOCK * BLOCK], packed_y[3 * BLOCK * BLOCK];
} block;

typedef struct matmul {
    cupel_bounded *b;
    int node;
    extents e;
    cupel_operand x, y;
    cupel_tensor *t;
    const cupel_tiling *tiling;
    block *s;
    double rounding;               /* of each product, in u; 0 where products are exact */
    double underflow;              /* of each product */
    bool factors;                  /* real, and no element of the operands has a history */
    bool loops;                    /* the loops may run for plain rows and columns */
    bool whole;                    /* of integers that are all known and finite */
    bool moves_x, moves_y;         /* elements of the operand have a radius, or hide one */
    uint8_t *odd_row, *odd_column; /* rows of x, columns of y with something special in them, of one batch */
    bool exact_terms;              /* no operand has a radius */
    bool fine;                 /* products are exact: whether their sum is, each element's own terms tell */
    bool raised;               /* some factor counts for more than its size on tensor cores */
    double *grain_x, *grain_y; /* powers of two that all of a row of x, a column of y are multiples of */
    double extent; /* of every element, where one bound serves all; else 0, and an element's own follows */
    double *sum_x, *sum_y; /* from the sums of |x| over its row and of |y| over its column */
} matmul;

/* The most bits that any element of t uses. */
static int bits_of(const cupel_tensor *t) {
    uint64_t bits = 0;
    for (int64_t i = 0; i < t->count; i++) bits |= cupel_bits(t->value[i]) & UINT64_C(0xfffffffffffff);
    return bits ? 53 - __builtin_ctzll(bits) : 1;
}

/* Is every element exactly its value for every kernel? */
static bool is_settled(const cupel_tensor *t) {
    return !t->radius && cupel_tensor_is_plain(t, 0, t->count);
}

/* Does no element of the operand have a history that a product would take on? */
static bool holds_factors(const cupel_operand *o) {
    const cupel_tensor *t = o->t;
    return !t->sum && !t->magnitude && !t->peak && !t->extents && t->roundings == 0;
}

static cupel_factor factor_at(const cupel_tensor *t, int64_t i) {
    const double value = t->value[i], radius = cupel_radius_at(t, i);
    return (cupel_factor){value, radius, t->floor, radius == 0 ? cupel_grain(value) : 0};
}

/* Term k of an element, where it is one of two plain factors; else nothing is added. */
static bool add_factors(const matmul *p, int64_t at_x, int64_t at_y, cupel_ball_tally *tally) {
    if (!p->factors || !cupel_tensor_is_plain(p->x.t, at_x, 1) || !cupel_tensor_is_plain(p->y.t, at_y, 1))
        return false;
    const cupel_factor a = factor_at(p->x.t, at_x), c = factor_at(p->y.t, at_y);
    return cupel_ball_tally_factors(&p->b->w, tally, &a, &c);
}

static void add_term(const matmul *p, int64_t at_x, int64_t at_y, cupel_ball_tally *tally) {
    const cupel_node *node = &p->b->graph->nodes[p->node];
    const cupel_ball a = cupel_tensor_load(p->x.t, at_x), c = cupel_tensor_load(p->y.t, at_y);
    const double product = a.value * c.value;
    if (node->kind == CUPEL_VALUE_REAL) {
        const bool exact = isfinite(product) && fma(a.value, c.value, -product) == 0;
        cupel_ball_tally_product(&p->b->w, tally, &a, &c, product, exact);
    } else {
        const cupel_ball term = cupel_ball_integer(&p->b->w, node->width, CUPEL_OP_MUL, &a, &c, product);
        cupel_ball_tally_add(&p->b->w, tally, &term);
    }
}

static cupel_code element_by_rules(const matmul *p, int64_t at, int64_t i, int64_t j) {
    cupel_ball_tally tally = cupel_ball_tally_start();
    double value = 0;
    for (int64_t k = 0; k < p->e.k; k++) {
        const int64_t at_x = cupel_operand_at(&p->x, i, k), at_y = cupel_operand_at(&p->y, j, k);
        if (!add_factors(p, at_x, at_y, &tally)) add_term(p, at_x, at_y, &tally);
        value += p->x.t->value[at_x] * p->y.t->value[at_y];
    }
    const cupel_ball r = cupel_ball_tally_end(&p->b->w, &p->b->plans[p->node].trait,
                                              p->b->graph->nodes[p->node].kind, &tally, value, false);
    return cupel_tensor_store(p->b, p->t, at, &r);
}

/* Is a factor NaN for every kernel? Then so is the sum; why else it might not be judged is not asked. */
static bool is_nan(const matmul *p, int64_t row, int64_t column) {
    if (p->x.t->reasons || p->y.t->reasons) return false;
    return p->odd_row[row] == CUPEL_ODD_NAN || p->odd_column[column] == CUPEL_ODD_NAN;
}

static cupel_code store_nan(const matmul *p, int64_t at) {
    const cupel_ball term = cupel_ball_plain(NAN, 0, CUPEL_CLASS_NAN, CUPEL_REASON_JUDGED);
    cupel_ball_tally tally = cupel_ball_tally_start();
    cupel_ball_tally_add(&p->b->w, &tally, &term);
    tally.terms = p->e.k;
    const cupel_ball r =
        cupel_ball_tally_end(&p->b->w, &p->b->plans[p->node].trait, CUPEL_VALUE_REAL, &tally, NAN, false);
    return cupel_tensor_store(p->b, p->t, at, &r);
}

/* ---- a block's sums ---- */

static int64_t at_most(int64_t n, int64_t limit) {
    return n < limit ? n : limit;
}

static void clear_block(const matmul *p, int64_t rows, int64_t columns) {
    block *s = p->s;
    const int64_t padded_rows = (rows + CUPEL_TILE_ROWS - 1) / CUPEL_TILE_ROWS * CUPEL_TILE_ROWS;
    const int64_t padded = (columns + CUPEL_TILE_COLUMNS - 1) / CUPEL_TILE_COLUMNS * CUPEL_TILE_COLUMNS;
    for (int64_t r = 0; r < padded_rows; r++) {
        memset(s->value[r], 0, (size_t)padded * sizeof(double));
        memset(s->size[r], 0, (size_t)padded * sizeof(double));
        memset(s->moved[r], 0, (size_t)padded * sizeof(double));
        for (int64_t c = 0; p->fine && c < padded; c++) s->grain[r][c] = INFINITY;
    }
}

static void add_products(const matmul *p, int64_t row, int64_t rows, int64_t column, int64_t columns,
                         int64_t k, int64_t terms) {
    block *s = p->s;
    const int64_t parts_x = p->moves_x ? 3 : 2, parts_y = p->moves_y ? 3 : 2;
    for (int64_t r = 0; r < rows; r += CUPEL_TILE_ROWS)
        cupel_operand_pack(&p->x, row + r, CUPEL_TILE_ROWS, k, terms, p->moves_x,
                           s->packed_x + r * terms * parts_x);
    for (int64_t c = 0; c < columns; c += CUPEL_TILE_COLUMNS)
        cupel_operand_pack(&p->y, column + c, CUPEL_TILE_COLUMNS, k, terms, p->moves_y,
                           s->packed_y + c * terms * parts_y);
    for (int64_t c = 0; c < columns; c += CUPEL_TILE_COLUMNS) {
        for (int64_t r = 0; r < rows; r += CUPEL_TILE_ROWS) {
            const cupel_tile tile = {.x = s->packed_x + r * terms * parts_x,
                                     .y = s->packed_y + c * terms * parts_y,
                                     .terms = terms,
                                     .moves_x = p->moves_x,
                                     .moves_y = p->moves_y,
                                     .value = &s->value[r][c],
                                     .size = &s->size[r][c],
                                     .moved = &s->moved[r][c]};
            p->tiling->multiply(&tile);
        }
    }
}

/* The grain of each sum: that of its finest product. */
static void add_grains(const matmul *p, int64_t row, int64_t rows, int64_t column, int64_t columns, int64_t k,
                       int64_t terms) {
    block *s = p->s;
    for (int64_t r = 0; r < rows; r += CUPEL_TILE_ROWS)
        cupel_operand_pack_grains(&p->x, row + r, CUPEL_TILE_ROWS, k, terms, s->packed_x + r * terms);
    for (int64_t c = 0; c < columns; c += CUPEL_TILE_COLUMNS)
        cupel_operand_pack_grains(&p->y, column + c, CUPEL_TILE_COLUMNS, k, terms, s->packed_y + c * terms);
    for (int64_t c = 0; c < columns; c += CUPEL_TILE_COLUMNS)
        for (int64_t r = 0; r < rows; r += CUPEL_TILE_ROWS)
            p->tiling->least(s->packed_x + r * terms, s->packed_y + c * terms, terms, &s->grain[r][c]);
}

/* ---- radii ---- */

/* What the radius of an element needs beside its sums. */
typedef struct closing {
    double k, unit, rounding, underflow, smallest, digits, overflow, largest;
    double roundings; /* of a sum, in u of its magnitude; cuts among them: */
    double cuts;      /* tensor cores: what a sum may lose, over the sum of what its terms are aligned to */
    double subnormal_cuts; /* and what that costs a subnormal one */
    double relative;       /* error of a product over its size, but for what narrowing its operands added */
    bool exact_terms, rescalable;
} closing;

/* What rescaling repeats: the error of the function that made the operand, not its narrowing. */
static double made_with(const cupel_tensor *t) {
    return t->narrowed ? t->relative : t->radius ? INFINITY : 0;
}

/* What tensor cores may cut of a sum, in u. */
static double cuts_of(const matmul *p) {
    return p->b->w.matrix_normal > 0 ? CUPEL_MATRIX_CUTS * (double)p->e.k : 0;
}

static closing closing_of(const matmul *p) {
    const cupel_working *w = &p->b->w;
    const cupel_trait *trait = &p->b->plans[p->node].trait;
    return (closing){.k = (double)p->e.k,
                     .roundings = (double)p->e.k - 1 + cuts_of(p),
                     .unit = w->unit * (1 + 0x1p-20),
                     .rounding = p->rounding,
                     .underflow = p->underflow,
                     .smallest = w->smallest,
                     .digits = ldexp(1, w->precision),
                     .overflow = 1.01 * trait->overflow,
                     .largest = w->largest,
                     .exact_terms = p->exact_terms && !trait->rescalable && !trait->in_statistic,
                     .relative =
                         made_with(p->x.t) + made_with(p->y.t) + made_with(p->x.t) * made_with(p->y.t),
                     .cuts = cuts_of(p) * w->unit * (1 + 0x1p-20),
                     .subnormal_cuts = w->matrix_normal > 0 ? 2 * (double)p->e.k * w->eta : 0,
                     .rescalable = trait->rescalable};
}

typedef struct closed {
    double radius, magnitude, spread, top;
} closed;

/* grain: 0 where it is not known; raised: what the terms' alignment exceeds size by. */
static inline closed close_sum(const closing *c, double value, double size, double moved, double grain,
                               double extent, double raised) {
    const double terms_exact = c->exact_terms && moved == 0 ? 1 : 0;
    const double coarse = grain >= c->smallest && size + raised <= grain * c->digits ? 1 : 0;
    const bool exact = terms_exact * coarse > 0;
    const double one = moved + c->rounding * c->unit * size + c->k * c->underflow;
    const double own = (c->relative + c->rounding * c->unit) * size + c->k * c->underflow;
    const double rescaled =
        c->rescalable && c->k > 1 ? (c->k - 1) * ((own < one ? own : one) + c->unit * size) : 0;
    const double cut = c->cuts * raised + c->subnormal_cuts;
    const double spread = exact ? 0 : one + rescaled + cut, magnitude = size + spread;
    const double rounded =
        (spread + c->roundings * c->unit * magnitude) * (1 + 0x1p-40) + fabs(value) * 0x1p-52;
    return (closed){exact ? 0 : rounded, magnitude, spread,
                    (magnitude > extent ? magnitude : extent) * c->overflow};
}

/* One row of a block; grain and extent hold one number for each column. False where an element needs the
 * rules. */
CUPEL_WIDE static bool close_row(const closing *c, const double *value, const double *size,
                                 const double *moved, const double *grain, const double *extent,
                                 const double *raised, int64_t n, double *restrict to,
                                 double *restrict radius) {
    uint64_t beyond = 0;
    const closing mine = *c;
    CUPEL_VECTORISE
    for (int64_t j = 0; j < n; j++) {
        const closed r = close_sum(&mine, value[j], size[j], moved[j], grain[j], extent[j], raised[j]);
        to[j] = value[j];
        radius[j] = r.radius;
        beyond |= !(r.top < mine.largest);
    }
    return beyond == 0;
}

/* What further nodes want to know of a sum. */
static void keep_state(const matmul *p, const closed *r, double extent, double grain, int64_t at) {
    cupel_tensor *t = p->t;
    if (t->magnitude) {
        t->magnitude[at] = r->magnitude;
        t->spread[at] = r->spread;
        t->grain[at] = r->spread == 0 ? grain : 0;
    }
    if (t->peak) {
        const double value = t->value[at], low = fabs(value) - t->radius[at];
        t->peak[at] = fmax(1, fmax(extent, r->magnitude));
        t->trough[at] = value == 0 && low == 0 ? 1 : fmin(1, fmax(low, 0));
    }
}

/* As keep_state, of n elements from at on. */
CUPEL_WIDE static void keep_row(const closing *c, const cupel_tensor *t, const double *size,
                                const double *moved, const double *grain, const double *extent,
                                const double *raised, int64_t at, int64_t n) {
    double room[5][BLOCK];
    const closing mine = *c;
    const double *value = t->value + at, *radius = t->radius + at;
    double *magnitude = t->magnitude ? t->magnitude + at : room[0];
    double *spread = t->spread ? t->spread + at : room[1], *fine = t->grain ? t->grain + at : room[2];
    double *peak = t->peak ? t->peak + at : room[3], *trough = t->trough ? t->trough + at : room[4];
    CUPEL_VECTORISE_ALONE
    for (int64_t j = 0; j < n; j++) {
        const closed r = close_sum(&mine, value[j], size[j], moved[j], grain[j], extent[j], raised[j]);
        const double high = extent[j] > r.magnitude ? extent[j] : r.magnitude, own = grain[j];
        const double low = fabs(value[j]) - radius[j], positive = low > 0 ? low : 0;
        magnitude[j] = r.magnitude;
        spread[j] = r.spread;
        fine[j] = r.spread == 0 ? own : 0;
        peak[j] = high > 1 ? high : 1;
        trough[j] = value[j] == 0 && low == 0 ? 1 : positive < 1 ? positive : 1;
    }
}

/* Row r of the block at (row, column): radii, and the rules where something special is in the way. */
static cupel_code finish_row(const matmul *p, const closing *c, int64_t batch, int64_t row, int64_t r,
                             int64_t column, int64_t n) {
    const block *s = p->s;
    cupel_tensor *t = p->t;
    const int64_t at = (batch * p->e.m + row + r) * p->e.n + column;
    double grain[BLOCK], extent[BLOCK], raised[BLOCK];
    const double normal = p->b->w.matrix_normal;
    bool plain = p->loops && !p->odd_row[row + r];
    for (int64_t j = 0; plain && j < n; j++) {
        grain[j] = p->fine          ? s->grain[r][j]
                   : p->exact_terms ? p->grain_x[row + r] * p->grain_y[column + j]
                                    : 0;
        /* the sum over the terms of max(1, |a|) max(1, |b|), or more */
        extent[j] =
            p->extent > 0 ? p->extent : c->k + p->sum_x[row + r] + p->sum_y[column + j] + s->size[r][j];
        raised[j] = p->raised ? normal * (p->sum_x[row + r] + p->sum_y[column + j] + c->k * normal) : 0;
    }
    const bool settled = plain && close_row(c, s->value[r], s->size[r], s->moved[r], grain, extent, raised, n,
                                            t->value + at, t->radius + at);
    if (settled && (t->magnitude || t->peak))
        keep_row(c, t, s->size[r], s->moved[r], grain, extent, raised, at, n);
    for (int64_t j = 0; j < n; j++) {
        bool good = plain && !p->odd_column[column + j];
        if (good && !settled) {
            const closed own =
                close_sum(c, s->value[r][j], s->size[r][j], s->moved[r][j], grain[j], extent[j], raised[j]);
            good = own.top < c->largest;
            keep_state(p, &own, extent[j], grain[j], at + j);
        }
        if (p->loops && is_nan(p, row + r, column + j))
            CUPEL_TRY(store_nan(p, at + j));
        else if (!good || cupel_tensor_may_flush(p->b, t, at + j, 1))
            CUPEL_TRY(element_by_rules(p, at + j, row + r, column + j));
    }
    return CUPEL_OK;
}

/* As finish_row of integers. Sums whose terms' sizes add up to less than 2^53 are exact in doubles, and so is
 * that sum of sizes: a rounded one is 2^53 or more. */
static cupel_code finish_whole_row(const matmul *p, int64_t batch, int64_t row, int64_t r, int64_t column,
                                   int64_t n) {
    const block *s = p->s;
    const int64_t at = (batch * p->e.m + row + r) * p->e.n + column;
    for (int64_t j = 0; j < n; j++) {
        if (s->size[r][j] < p->b->w.integers) {
            p->t->value[at + j] = s->value[r][j];
            p->t->radius[at + j] = 0;
        } else {
            CUPEL_TRY(element_by_rules(p, at + j, row + r, column + j));
        }
    }
    return CUPEL_OK;
}

static cupel_code multiply_block(const matmul *p, const closing *c, int64_t batch, int64_t row,
                                 int64_t column) {
    const int64_t rows = at_most(p->e.m - row, BLOCK), columns = at_most(p->e.n - column, BLOCK);
    if (p->loops) clear_block(p, rows, columns);
    for (int64_t k = 0; p->loops && k < p->e.k; k += BLOCK) {
        const int64_t terms = at_most(p->e.k - k, BLOCK);
        add_products(p, row, rows, column, columns, k, terms);
        if (p->fine) add_grains(p, row, rows, column, columns, k, terms);
    }
    for (int64_t r = 0; r < rows; r++)
        CUPEL_TRY(p->whole ? finish_whole_row(p, batch, row, r, column, columns)
                           : finish_row(p, c, batch, row, r, column, columns));
    return CUPEL_OK;
}

static cupel_code multiply_batch(matmul *p, const closing *c, int64_t batch) {
    cupel_operand_seek(&p->x, batch);
    cupel_operand_seek(&p->y, batch);
    if (p->loops && !p->whole) {
        const bool grains = p->exact_terms && !p->fine, sums = p->raised || !(p->extent > 0);
        cupel_operand_survey(&p->x, grains ? p->grain_x : NULL, sums ? p->sum_x : NULL, p->odd_row);
        cupel_operand_survey(&p->y, grains ? p->grain_y : NULL, sums ? p->sum_y : NULL, p->odd_column);
    }
    for (int64_t column = 0; column < p->e.n; column += BLOCK)
        for (int64_t row = 0; row < p->e.m; row += BLOCK) CUPEL_TRY(multiply_block(p, c, batch, row, column));
    return CUPEL_OK;
}

/* Node-wide facts about rounding, underflow and exactness of the products. */
static void plan_rules(matmul *p, cupel_tensor *x, cupel_tensor *y) {
    const cupel_working *w = &p->b->w;
    const bool real = p->b->graph->nodes[p->node].kind == CUPEL_VALUE_REAL;
    p->factors = real && holds_factors(&p->x) && holds_factors(&p->y);
    p->whole = !real && is_settled(x) && is_settled(y) && !p->t->magnitude && !p->t->peak;
    p->loops = p->whole || (real && cupel_tensor_keeps(p->b, x) && cupel_tensor_keeps(p->b, y));
    if (p->whole || !p->loops) return;
    cupel_tensor_size(x);
    cupel_tensor_size(y);
    p->exact_terms = !x->radius && !y->radius;
    p->raised = w->matrix_normal > 0 && !(fmin(x->least, y->least) >= w->matrix_normal);
    const double chain = x->roundings + y->roundings;
    p->x.hidden = x->roundings * w->unit * (1 + 0x1p-20);
    p->y.hidden = y->roundings * w->unit * (1 + 0x1p-20);
    p->moves_x = x->radius || p->x.hidden > 0;
    p->moves_y = y->radius || p->y.hidden > 0;
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
    const size_t rows = (size_t)p->e.m + 1, columns = (size_t)p->e.n + 1;
    p->s = aligned_alloc(CACHE_LINE, sizeof *p->s); /* else every vector store crosses two lines */
    p->grain_x = malloc(rows * sizeof(double));
    p->grain_y = malloc(columns * sizeof(double));
    p->sum_x = malloc(rows * sizeof(double));
    p->sum_y = malloc(columns * sizeof(double));
    p->odd_row = malloc(rows);
    p->odd_column = malloc(columns);
    cupel_code code = CUPEL_OK;
    if (!p->s || !p->odd_row || !p->odd_column || !p->grain_x || !p->grain_y || !p->sum_x || !p->sum_y)
        code = cupel_fail(p->b->err, CUPEL_MEMORY, "no memory for a matrix product");
    const closing c = closing_of(p);
    for (int64_t batch = 0; batch < batches && code == CUPEL_OK; batch++) code = multiply_batch(p, &c, batch);
    free(p->s);
    free(p->grain_x);
    free(p->grain_y);
    free(p->sum_x);
    free(p->sum_y);
    free(p->odd_row);
    free(p->odd_column);
    return code;
}

cupel_code cupel_bounded_product(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node], *left = &b->graph->nodes[n->args[0]];
    cupel_tensor *t = &b->tensors[node], *x = cupel_bounded_arg(b, node, 0),
                 *y = cupel_bounded_arg(b, node, 1);
    if (t->count == 0) return CUPEL_OK;
    const cupel_tiling *tilings[CUPEL_TILINGS_MAX];
    (void)cupel_tilings(tilings);
    matmul p = {.b = b,
                .node = node,
                .e = {n->shape[n->rank - 2], left->shape[left->rank - 1], n->shape[n->rank - 1]},
                .t = t,
                .tiling = tilings[0]};
    t->terms = (double)(p.e.k > 0 ? p.e.k : 1) + (n->kind == CUPEL_VALUE_REAL ? cuts_of(&p) : 0);
    t->sum = b->plans[node].has_sum;
    if (n->kind == CUPEL_VALUE_REAL && x->floor >= 0 && y->floor >= 0) t->floor = 0;
    t->products = t->sum;
    if (b->plans[node].wants_magnitude) CUPEL_TRY(cupel_tensor_need_magnitude(b, t));
    if (t->sum && b->plans[node].wants_chain) CUPEL_TRY(cupel_tensor_need_chain(b, t));
    CUPEL_TRY(cupel_tensor_need_radius(b, t));
    cupel_code code = cupel_operand_open(b, node, 0, &p.x);
    if (code == CUPEL_OK) code = cupel_operand_open(b, node, 1, &p.y);
    if (code == CUPEL_OK) {
        if (p.e.k > 0) plan_rules(&p, x, y);
        code = multiply(&p, t->count / (p.e.m * p.e.n));
    }
    cupel_operand_close(&p.x);
    cupel_operand_close(&p.y);
    if (code == CUPEL_OK) cupel_tensor_end_chain(t);
    return code;
}
