/* Inclusive scans along the last axis: step by step, or in blocks whose carries are brought in afterwards. */
#include <stdlib.h>
#include <string.h>

#include "shadow_impl.h"

/* The length of a block; the whole row where scans go step by step. */
static int64_t block_of(const cupel_shadow *s, int64_t n) {
    return s->plan.order == CUPEL_SHADOW_LANES && !s->sequential ? s->plan.lanes : n;
}

static double joined(cupel_shadow *s, bool product, double a, double b) {
    return product ? cupel_shadow_round(s, a * b) : cupel_shadow_step(s, a, b, NULL);
}

static void accumulate(cupel_shadow *s, bool product, const double *x, double *out, int64_t n) {
    const int64_t block = block_of(s, n);
    double carry = product;
    for (int64_t begin = 0; begin < n; begin += block) {
        double own = product;
        for (int64_t i = begin; i < n && i < begin + block; i++) {
            own = joined(s, product, own, x[i]);
            out[i] = begin == 0 ? own : joined(s, product, carry, own);
        }
        carry = begin == 0 ? own : joined(s, product, carry, own);
    }
}

/* The largest or smallest so far; a NaN stays unless it is swallowed. */
static void extremum(const cupel_shadow *s, bool largest, const double *x, double *out, int64_t n) {
    const bool swallowed = s->plan.fault == CUPEL_SHADOW_NAN_SWALLOWED;
    for (int64_t i = 0; i < n; i++) {
        const double best = i > 0 ? out[i - 1] : x[0];
        const bool takes = isnan(best)   ? swallowed
                           : isnan(x[i]) ? !swallowed
                                         : (largest ? x[i] > best : x[i] < best);
        out[i] = takes ? x[i] : best;
    }
}

static void integers(cupel_op op, const int64_t *x, int64_t *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const int64_t before = i > 0                    ? out[i - 1]
                               : op == CUPEL_OP_CUMSUM  ? 0
                               : op == CUPEL_OP_CUMPROD ? 1
                                                        : x[0];
        switch (op) {
        case CUPEL_OP_CUMSUM: out[i] = (int64_t)((uint64_t)before + (uint64_t)x[i]); break;
        case CUPEL_OP_CUMPROD: out[i] = (int64_t)((uint64_t)before * (uint64_t)x[i]); break;
        case CUPEL_OP_CUMMAX: out[i] = x[i] > before ? x[i] : before; break;
        default: out[i] = x[i] < before ? x[i] : before; break;
        }
    }
}

static void scan_row(cupel_shadow *s, int node, const void *from, void *to, int64_t n) {
    const cupel_node *scan = &s->graph->nodes[node];
    if (scan->kind == CUPEL_VALUE_INT)
        integers(scan->op, from, to, n);
    else if (scan->op == CUPEL_OP_CUMMAX || scan->op == CUPEL_OP_CUMMIN)
        extremum(s, scan->op == CUPEL_OP_CUMMAX, from, to, n);
    else
        accumulate(s, scan->op == CUPEL_OP_CUMPROD, from, to, n);
}

/* ---- faults of order; an element is eight bytes, a number or an integer ---- */

static int64_t row_bytes(int64_t n) {
    return n * (int64_t)sizeof(double);
}

/* What a scan without elements gives: 0, 1, or the least there is. */
static void write_neutral(const cupel_node *scan, void *element) {
    const bool integer = scan->kind == CUPEL_VALUE_INT, product = scan->op == CUPEL_OP_CUMPROD;
    const bool sum = product || scan->op == CUPEL_OP_CUMSUM, largest = scan->op == CUPEL_OP_CUMMAX;
    const int64_t whole = sum ? product : largest ? INT64_MIN : INT64_MAX;
    const double real = sum ? (double)product : largest ? -INFINITY : INFINITY;
    if (integer)
        memcpy(element, &whole, sizeof whole);
    else
        memcpy(element, &real, sizeof real);
}

/* A block of a scan together with what is carried into it: the block before it alone, or nothing. */
static void scan_block(cupel_shadow *s, int node, const char *from, char *to, char *scratch, int64_t begin,
                       int64_t n) {
    const int64_t block = cupel_shadow_block(s),
                  reach = s->plan.fault == CUPEL_SHADOW_SHORT_CARRY ? block : 0;
    const int64_t first = begin > reach ? begin - reach : 0, end = begin + block < n ? begin + block : n;
    scan_row(s, node, from + row_bytes(first), scratch, end - first);
    memcpy(to + row_bytes(begin), scratch + row_bytes(begin - first), (size_t)row_bytes(end - begin));
}

static void scan_wrongly(cupel_shadow *s, int node, const char *from, char *to, char *scratch, int64_t n) {
    switch (s->plan.fault) {
    case CUPEL_SHADOW_REVERSED_SCAN:
        for (int64_t i = 0; i < n; i++) memcpy(scratch + row_bytes(i), from + row_bytes(n - 1 - i), 8);
        scan_row(s, node, scratch, scratch + row_bytes(n), n);
        for (int64_t i = 0; i < n; i++) memcpy(to + row_bytes(i), scratch + row_bytes(2 * n - 1 - i), 8);
        break;
    case CUPEL_SHADOW_EXCLUSIVE_SCAN:
        write_neutral(&s->graph->nodes[node], to);
        scan_row(s, node, from, scratch, n);
        memcpy(to + row_bytes(1), scratch, (size_t)row_bytes(n - 1));
        break;
    default:
        for (int64_t begin = 0; begin < n; begin += cupel_shadow_block(s))
            scan_block(s, node, from, to, scratch, begin, n);
    }
}

static bool is_wrong(const cupel_shadow *s) {
    const unsigned faults = CUPEL_SHADOW_ORDER_FAULTS & ~(1u << CUPEL_SHADOW_LAST_TIE);
    return (faults >> s->plan.fault & 1) && s->plan.fault != CUPEL_SHADOW_RAW_CARRY;
}

cupel_code cupel_shadow_scan(cupel_shadow *s, int node) {
    const cupel_shadow_tensor *t = &s->tensors[node], *from = cupel_shadow_arg(s, node, 0);
    const int64_t row = cupel_shadow_row(s, node);
    char *scratch = is_wrong(s) ? malloc((size_t)row_bytes(2 * row + 1)) : NULL;
    if (is_wrong(s) && !scratch) return cupel_fail(s->err, CUPEL_MEMORY, "no memory for a scan");
    for (int64_t begin = 0; row > 0 && begin < t->count; begin += row) {
        const char *source = (const char *)from->data + row_bytes(begin);
        char *out = (char *)t->data + row_bytes(begin);
        if (scratch)
            scan_wrongly(s, node, source, out, scratch, row);
        else
            scan_row(s, node, source, out, row);
    }
    free(scratch);
    return CUPEL_OK;
}
