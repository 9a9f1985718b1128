/* Sorting and adding at positions: the rules.
 *
 * A row of enclosures is sorted without deciding comparisons: order statistics are monotone, so the k-th
 * smallest of the true elements lies between the k-th smallest of their lower ends and the k-th smallest of
 * their upper ends, in the order -inf < numbers < +inf < NaN. */
#include <stdlib.h>

#include "ball.h"

/* One end of an element, as a key: a NaN stands above +inf, as torch.sort has it. */
typedef struct end {
    double key;
    int64_t index;
} end;

static int compare_ends(const void *p, const void *q) {
    const end *a = p, *b = q;
    if (isnan(a->key) != isnan(b->key)) return isnan(a->key) ? 1 : -1;
    if (a->key < b->key) return -1;
    if (a->key > b->key) return 1;
    return a->index < b->index ? -1 : a->index > b->index; /* stable */
}

static bool below(double a, double b) {
    return a < b || (isnan(b) && !isnan(a));
}

static double lower_end(const cupel_ball *a) {
    if (a->classes & CUPEL_CLASS_NEG_INF) return -INFINITY;
    if (a->classes & CUPEL_CLASS_FINITE) return cupel_ball_lo(a);
    return a->classes & CUPEL_CLASS_POS_INF ? INFINITY : NAN;
}

static double upper_end(const cupel_ball *a) {
    if (a->classes & CUPEL_CLASS_NAN) return NAN;
    if (a->classes & CUPEL_CLASS_POS_INF) return INFINITY;
    return a->classes & CUPEL_CLASS_FINITE ? cupel_ball_hi(a) : -INFINITY;
}

/* What sorting knows of a row: its elements as a kernel may read them, values and both ends in order. */
typedef struct row {
    int64_t n;
    cupel_ball *elements;
    end *values, *lower, *upper;
    uint8_t classes, reason; /* of all elements together */
} row;

static void row_free(row *r) {
    free(r->elements);
    free(r->values);
    free(r->lower);
    free(r->upper);
}

static bool row_read(const cupel_working *w, cupel_value_kind kind, const cupel_ball *elements, int64_t n,
                     row *r) {
    const size_t count = (size_t)n + 1;
    *r = (row){.n = n,
               .elements = malloc(count * sizeof *r->elements),
               .values = malloc(count * sizeof *r->values),
               .lower = malloc(count * sizeof *r->lower),
               .upper = malloc(count * sizeof *r->upper)};
    if (!r->elements || !r->values || !r->lower || !r->upper) {
        row_free(r);
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        r->elements[i] = kind == CUPEL_VALUE_REAL ? cupel_ball_operand(w, &elements[i]) : elements[i];
        r->values[i] = (end){r->elements[i].value, i};
        r->lower[i] = (end){lower_end(&r->elements[i]), i};
        r->upper[i] = (end){upper_end(&r->elements[i]), i};
        r->classes |= r->elements[i].classes & CUPEL_CLASS_MASK;
        if (!r->reason) r->reason = r->elements[i].reason;
    }
    qsort(r->values, (size_t)n, sizeof *r->values, compare_ends);
    qsort(r->lower, (size_t)n, sizeof *r->lower, compare_ends);
    qsort(r->upper, (size_t)n, sizeof *r->upper, compare_ends);
    return true;
}

/* The classes between two ends that some element of the row may have. */
static uint8_t classes_between(const row *r, double lo, double hi) {
    uint8_t classes = 0;
    if (lo == -INFINITY) classes |= CUPEL_CLASS_NEG_INF;
    if (isnan(hi)) classes |= CUPEL_CLASS_NAN;
    if (!isnan(lo) && (isnan(hi) || hi == INFINITY)) classes |= CUPEL_CLASS_POS_INF;
    if (below(lo, INFINITY) && below(-INFINITY, hi)) classes |= CUPEL_CLASS_FINITE;
    return classes & r->classes;
}

/* The least and the largest finite value in the row, for positions that an infinity or NaN may also take. */
static void finite_hull(const row *r, double *lo, double *hi) {
    *lo = INFINITY, *hi = -INFINITY;
    for (int64_t i = 0; i < r->n; i++) {
        if (!(r->elements[i].classes & CUPEL_CLASS_FINITE)) continue;
        *lo = fmin(*lo, cupel_ball_lo(&r->elements[i]));
        *hi = fmax(*hi, cupel_ball_hi(&r->elements[i]));
    }
}

bool cupel_ball_sort(const cupel_working *w, cupel_value_kind kind, const cupel_ball *elements, int64_t n,
                     cupel_ball *out) {
    row r;
    double least, largest;
    if (!row_read(w, kind, elements, n, &r)) return false;
    finite_hull(&r, &least, &largest);
    for (int64_t k = 0; k < n; k++) {
        const double lo = r.lower[k].key, hi = r.upper[k].key, value = r.values[k].key;
        const uint8_t classes = (uint8_t)(classes_between(&r, lo, hi) | cupel_class_of(value));
        cupel_ball b = cupel_ball_plain(value, 0, classes, r.reason);
        if (isfinite(value)) {
            b = cupel_ball_plain(
                value, cupel_ball_radius_to(value, isfinite(lo) ? lo : least, isfinite(hi) ? hi : largest),
                classes, r.reason);
        } else if (classes & CUPEL_CLASS_FINITE) {
            b.radius = INFINITY;
            if (!b.reason) b.reason = CUPEL_REASON_UNBOUNDED;
        }
        out[k] = b;
    }
    row_free(&r);
    return true;
}

enum { CLUSTER_PAIRS = 1024 }; /* clusters up to this length are judged position by position */

/* How far the index at position k may be from the exact one, among the members of its cluster. */
static double spread_at(const row *r, int64_t k, int64_t first, int64_t last, bool *tied) {
    const int64_t own = r->values[k].index;
    const double lo = r->lower[k].key, hi = r->upper[k].key;
    const bool narrow = last - first <= CLUSTER_PAIRS;
    bool settled = true;
    double radius = 0;
    *tied = false;
    for (int64_t i = first; i < last; i++) {
        const cupel_ball *e = &r->elements[r->lower[i].index];
        if (narrow && (below(hi, lower_end(e)) || below(upper_end(e), lo))) continue;
        settled &= cupel_ball_is_settled(e); /* so that ties are ties for every kernel */
        *tied |= r->lower[i].index != own;
        radius = fmax(radius, fabs((double)(r->lower[i].index - own)));
    }
    /* all candidates are one number, which the stable order tells apart */
    return settled ? 0 : radius;
}

bool cupel_ball_argsort(const cupel_working *w, cupel_value_kind kind, const cupel_ball *elements, int64_t n,
                        bool stable, cupel_ball *out) {
    row r;
    if (!row_read(w, kind, elements, n, &r)) return false;
    for (int64_t first = 0, last; first < n; first = last) {
        /* a cluster: elements whose enclosures overlap, directly or through others; it owns its positions */
        double top = upper_end(&r.elements[r.lower[first].index]);
        for (last = first + 1; last < n && !below(top, r.lower[last].key); last++) {
            const double next = upper_end(&r.elements[r.lower[last].index]);
            if (below(top, next)) top = next;
        }
        for (int64_t k = first; k < last; k++) {
            bool tied;
            const double radius = spread_at(&r, k, first, last, &tied);
            uint8_t reason = r.reason;
            if (!reason && tied && !stable && radius == 0) reason = CUPEL_REASON_CONVENTION;
            out[k] = cupel_ball_plain((double)r.values[k].index, radius, CUPEL_CLASS_FINITE, reason);
        }
    }
    row_free(&r);
    return true;
}

uint8_t cupel_ball_index_reason(const cupel_ball *index, int64_t extent) {
    if (index->reason) return index->reason;
    if (!(index->value >= 0 && index->value < (double)extent)) return CUPEL_REASON_CONVENTION;
    return index->radius > 0 ? CUPEL_REASON_UNBOUNDED : CUPEL_REASON_JUDGED;
}
