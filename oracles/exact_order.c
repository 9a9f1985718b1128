/* Sorting along the last axis. Every position needs the whole row, so a row is sorted at once and remembered.
 */
#include <stdlib.h>

#include "exact.h"

/* Ascending, NaN last. */
static int compare_numbers(mpfr_srcptr a, mpfr_srcptr b) {
    const bool nan_a = mpfr_nan_p(a) != 0, nan_b = mpfr_nan_p(b) != 0;
    if (nan_a || nan_b) return nan_a - nan_b;
    return mpfr_cmp(a, b);
}

static int compare_lower(const void *p, const void *q) {
    return compare_numbers((*(cupel_exact_value *const *)p)->lo, (*(cupel_exact_value *const *)q)->lo);
}

static int compare_upper(const void *p, const void *q) {
    return compare_numbers((*(cupel_exact_value *const *)p)->hi, (*(cupel_exact_value *const *)q)->hi);
}

/* The row that holds an element, before and after. */
typedef struct row {
    int64_t begin, n;
    cupel_exact_value *elements;
    cupel_exact_value **lower, **upper; /* the elements in the order of their ends */
    cupel_ball *balls, *sorted;
    bool open, unsound;
} row;

static void row_free(row *r) {
    for (int64_t i = 0; r->elements && i < r->n; i++) cupel_exact_clear(&r->elements[i]);
    free(r->elements);
    free(r->lower);
    free(r->upper);
    free(r->balls);
    free(r->sorted);
}

static bool row_allocate(row *r) {
    const size_t n = (size_t)r->n;
    r->elements = malloc(n * sizeof *r->elements);
    for (int64_t i = 0; r->elements && i < r->n; i++) cupel_exact_init(&r->elements[i]);
    r->lower = malloc(n * sizeof(cupel_exact_value *));
    r->upper = malloc(n * sizeof(cupel_exact_value *));
    r->balls = malloc(n * sizeof *r->balls);
    r->sorted = malloc(n * sizeof *r->sorted);
    return r->elements && r->lower && r->upper && r->balls && r->sorted;
}

static void row_read(cupel_exact_session *s, int argument, row *r) {
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    for (int64_t i = 0; i < r->n && s->code == CUPEL_OK; i++) {
        cupel_exact_copy(&r->elements[i], cupel_exact_get(s, argument, r->begin + i, scratch));
        r->balls[i] = r->elements[i].ball;
        r->lower[i] = r->upper[i] = &r->elements[i];
        r->open |= r->elements[i].open;
        r->unsound |= r->elements[i].unsound;
    }
    cupel_exact_return(s);
}

/* The k-th smallest lies between the k-th smallest of both ends. */
static void write_position(const cupel_exact_session *s, const cupel_node *n, const row *r, int64_t k,
                           cupel_exact_value *out) {
    cupel_exact_start(s, out);
    if (n->op == CUPEL_OP_SORT) {
        mpfr_set(out->lo, r->lower[k]->lo, MPFR_RNDD);
        mpfr_set(out->hi, r->upper[k]->hi, MPFR_RNDU);
        if (mpfr_nan_p(out->lo) != mpfr_nan_p(out->hi)) cupel_exact_tidy(out, false);
    } else {
        cupel_exact_set_integer(out, (int64_t)r->sorted[k].value);
    }
    out->ball = r->sorted[k];
    out->open |= r->open;
    out->unsound |= r->unsound;
}

/* Integers that are known exactly differ where their nearest doubles do not: their ranks, equal ones alike,
 * stand for them. lower is in order. */
static void rank_integers(row *r) {
    int64_t rank = 0;
    for (int64_t k = 0; k < r->n; k++) {
        const cupel_exact_value *v = r->lower[k];
        if (k > 0 && compare_numbers(r->lower[k - 1]->lo, v->lo) != 0) rank++;
        r->balls[v - r->elements] = cupel_ball_plain((double)rank, 0, CUPEL_CLASS_FINITE, v->ball.reason);
    }
}

static void sort_row(cupel_exact_session *s, int node, int64_t index, row *r, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_value_kind kind = s->graph->nodes[n->args[0]].kind;
    row_read(s, n->args[0], r);
    if (s->code != CUPEL_OK) return;
    bool known = kind != CUPEL_VALUE_REAL;
    for (int64_t i = 0; i < r->n; i++) known = known && r->balls[i].radius == 0;
    qsort(r->lower, (size_t)r->n, sizeof(cupel_exact_value *), compare_lower);
    qsort(r->upper, (size_t)r->n, sizeof(cupel_exact_value *), compare_upper);
    if (known && n->op == CUPEL_OP_ARGSORT) rank_integers(r);
    const bool done = n->op == CUPEL_OP_SORT
                          ? cupel_ball_sort(&s->w, kind, r->balls, r->n, r->sorted)
                          : cupel_ball_argsort(&s->w, kind, r->balls, r->n, n->integer != 0, r->sorted);
    if (!done) {
        s->code = CUPEL_MEMORY;
        return;
    }
    write_position(s, n, r, index - r->begin, out);
    for (int64_t k = 0; k < r->n && s->memory.count < CUPEL_EXACT_ENTRIES; k++) {
        if (r->begin + k == index) continue;
        bool fresh;
        cupel_exact_value *kept = cupel_exact_remember(s, node, r->begin + k, &fresh);
        if (kept) write_position(s, n, r, k, kept);
    }
}

void cupel_exact_order(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    row r = {.n = n->shape[n->rank - 1]};
    r.begin = index / r.n * r.n;
    if (row_allocate(&r))
        sort_row(s, node, index, &r, out);
    else
        s->code = CUPEL_MEMORY;
    row_free(&r);
}
