#include "exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allowed.h"
#include "philox.h"

enum { FIRST_PRECISION = 96, CAP = 256, CAP_F64 = 1200, DIGITS = 40 };

cupel_code cupel_exact_open(const cupel_graph *graph, const cupel_bindings *bindings,
                            const cupel_rules *rules, cupel_exact_session **out, cupel_error *err) {
    cupel_exact_session *s = calloc(1, sizeof *s);
    if (!s) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    s->graph = graph;
    s->bindings = bindings;
    s->w = cupel_working_of(rules);
    s->w.integers = INFINITY; /* enclosures hold them; what leaves 64 bits is not judged anyway */
    cupel_exact_init(&s->spare);
    s->traits = calloc((size_t)graph->node_count + 1, sizeof *s->traits);
    s->uses = calloc((size_t)graph->node_count + 1, sizeof *s->uses);
    if (!s->traits || !s->uses) {
        cupel_exact_close(s);
        return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    }
    for (int i = 0; i < graph->node_count; i++) {
        const cupel_node *n = &graph->nodes[i];
        s->traits[i] = cupel_trait_of(graph, i);
        /* an element that a view repeats is asked for many times, and so is every operand of a matrix product
         */
        const bool repeats = n->op == CUPEL_OP_VIEW || n->op == CUPEL_OP_GATHER || n->op == CUPEL_OP_MATMUL ||
                             n->op == CUPEL_OP_RESHAPE;
        for (int k = 0; k < n->arg_count; k++) s->uses[n->args[k]] += repeats ? 2 : 1;
    }
    *out = s;
    return CUPEL_OK;
}

void cupel_exact_close(cupel_exact_session *s) {
    if (!s) return;
    cupel_exact_forget(s);
    cupel_exact_drain(s);
    cupel_exact_clear(&s->spare);
    free(s->traits);
    free(s->uses);
    free(s);
    mpfr_free_cache(); /* constants such as pi, kept per thread */
}

/* One end of the enclosure as the output holds it: rounded to a real type, truncated to an integer one. */
static double as_output(cupel_dtype type, mpfr_srcptr x) {
    if (cupel_format_of(type)->kind == CUPEL_KIND_REAL) return cupel_exact_round(type, x);
    return cupel_round(type, mpfr_get_d(x, MPFR_RNDZ));
}

/* Integers are compared as they are: doubles tell few of 64 bits apart. */
static bool same_integer(const cupel_exact_value *v) {
    mpfr_t lo, hi;
    mpfr_init2(lo, mpfr_get_prec(v->lo));
    mpfr_init2(hi, mpfr_get_prec(v->hi));
    mpfr_rint_trunc(lo, v->lo, MPFR_RNDN);
    mpfr_rint_trunc(hi, v->hi, MPFR_RNDN);
    const bool same = mpfr_equal_p(lo, hi);
    mpfr_clear(lo);
    mpfr_clear(hi);
    return same;
}

static bool rounds_one_way(cupel_dtype type, const cupel_exact_value *v, double *rounded) {
    *rounded = as_output(type, v->lo);
    const double other = as_output(type, v->hi);
    if (isnan(*rounded) && isnan(other)) return true;
    return *rounded == other &&
           (cupel_format_of(type)->kind == CUPEL_KIND_REAL || isinf(other) || same_integer(v));
}

/* The ends of a 64-bit integer output, which the permitted doubles only come near. False: some do not fit. */
static bool integer_ends(cupel_dtype type, cupel_value_kind kind, const cupel_exact_value *v,
                         cupel_exact_element *out) {
    cupel_exact_value ends;
    cupel_exact_init(&ends);
    mpfr_set_prec(ends.lo, mpfr_get_prec(v->lo) + 64);
    mpfr_set_prec(ends.hi, mpfr_get_prec(v->hi) + 64);
    mpfr_sub_d(ends.lo, v->lo, v->ball.radius, MPFR_RNDD);
    mpfr_add_d(ends.hi, v->hi, v->ball.radius, MPFR_RNDU);
    if (v->ball.radius > 0 && mpfr_cmp_d(ends.lo, v->ball.floor) < 0)
        mpfr_set_d(ends.lo, v->ball.floor, MPFR_RNDD);
    if (v->ball.radius > 0 && mpfr_cmp_d(ends.hi, v->ball.ceiling) > 0)
        mpfr_set_d(ends.hi, v->ball.ceiling, MPFR_RNDU);
    if (kind == CUPEL_VALUE_REAL) {
        mpfr_rint_trunc(ends.lo, ends.lo, MPFR_RNDD);
        mpfr_rint_trunc(ends.hi, ends.hi, MPFR_RNDU);
    } else {
        mpfr_rint_floor(ends.lo, ends.lo, MPFR_RNDD);
        mpfr_rint_ceil(ends.hi, ends.hi, MPFR_RNDU);
    }
    const bool fits = cupel_exact_fits(type, &ends);
    if (fits) {
        out->least = cupel_exact_bits(ends.lo);
        out->most = cupel_exact_bits(ends.hi);
    }
    cupel_exact_clear(&ends);
    return fits;
}

/* As many significant digits as both ends agree on, 40 at most. */
static void write_digits(const cupel_exact_value *v, char *text, size_t size) {
    if (!mpfr_number_p(v->lo) || !mpfr_number_p(v->hi)) {
        const bool point = cupel_exact_is_point(v);
        mpfr_snprintf(text, size, "%s",
                      !point                ? "unknown"
                      : mpfr_nan_p(v->lo)   ? "nan"
                      : mpfr_sgn(v->lo) > 0 ? "inf"
                                            : "-inf");
        return;
    }
    int digits = DIGITS;
    if (!cupel_exact_is_point(v)) {
        mpfr_t width;
        mpfr_init2(width, 64);
        mpfr_sub(width, v->hi, v->lo, MPFR_RNDU);
        const mpfr_exp_t value_at = mpfr_zero_p(v->hi) ? mpfr_get_exp(v->lo) : mpfr_get_exp(v->hi);
        const double bits = (double)(value_at - mpfr_get_exp(width));
        mpfr_clear(width);
        if (bits * 0.30103 < digits) digits = bits > 4 ? (int)(bits * 0.30103) : 1;
    }
    mpfr_snprintf(text, size, "%.*Rg", digits, v->lo);
}

static int next_precision(int precision, int cap) {
    return 2 * precision < cap ? 2 * precision : cap;
}

static void fill(const cupel_exact_session *s, const cupel_graph_output *output, const cupel_exact_value *v,
                 double rounded, bool unable, bool with_digits, cupel_exact_element *out) {
    bool exact;
    const cupel_permitted p =
        cupel_ball_permit(&s->w, output->type, s->graph->nodes[output->node].kind, &v->ball);
    *out = (cupel_exact_element){.value = cupel_exact_nearest(v, &exact),
                                 .rounded = rounded,
                                 .lo = p.lo,
                                 .hi = p.hi,
                                 .radius = p.radius,
                                 .classes = p.classes,
                                 .reason = p.reason,
                                 .precision = s->precision};
    if (unable && out->reason == CUPEL_REASON_JUDGED) out->reason = CUPEL_REASON_UNABLE;
    if (cupel_dtype_is_wide(output->type) && out->reason == CUPEL_REASON_JUDGED &&
        !(p.classes & CUPEL_KEEP) && !integer_ends(output->type, s->graph->nodes[output->node].kind, v, out))
        out->reason = CUPEL_REASON_CONVENTION;
    if (with_digits) write_digits(v, out->digits, sizeof out->digits);
}

/* Decimal digits cost more than many an element. */
static cupel_code element_of(cupel_exact_session *s, int output, int64_t index, bool with_digits,
                             cupel_exact_element *out, cupel_error *err) {
    if (output < 0 || output >= s->graph->output_count || index < 0 ||
        index >= s->graph->outputs[output].count)
        return cupel_fail(err, CUPEL_RANGE, "expected an element of an output, found output %d, element %lld",
                          output, (long long)index);
    const cupel_graph_output *o = &s->graph->outputs[output];
    const int cap = o->type == CUPEL_F64 ? CAP_F64 : CAP;
    /* not at the limit itself: sums of long rows are still to be shared then */
    if (s->memory.count >= 4 * (size_t)CUPEL_EXACT_ENTRIES) cupel_exact_forget(s);
    s->code = CUPEL_OK;
    cupel_exact_value scratch;
    cupel_exact_init(&scratch);
    for (s->precision = FIRST_PRECISION;; s->precision = next_precision(s->precision, cap)) {
        const cupel_exact_value *v = cupel_exact_reach_down(s, o->node, index, &scratch);
        if (s->code != CUPEL_OK) break;
        double rounded;
        const bool settled = rounds_one_way(o->type, v, &rounded);
        if ((settled && !v->open) || s->precision >= cap || v->ball.reason != CUPEL_REASON_JUDGED) {
            fill(s, o, v, rounded, !settled || v->unsound, with_digits, out);
            break;
        }
    }
    cupel_exact_clear(&scratch);
    if (s->code == CUPEL_OK) return CUPEL_OK;
    cupel_exact_forget(s); /* elements that were begun hold nothing */
    return cupel_fail(err, s->code, "out of memory");
}

cupel_code cupel_exact_element_of(cupel_exact_session *s, int output, int64_t index, cupel_exact_element *out,
                                  cupel_error *err) {
    return element_of(s, output, index, true, out, err);
}

static cupel_code set_element(cupel_exact_session *s, int output, int64_t i, cupel_allowed *out,
                              cupel_error *err) {
    cupel_exact_element e;
    CUPEL_TRY(element_of(s, output, i, false, &e, err));
    const cupel_permitted p = {e.lo, e.hi, e.radius, e.classes, e.reason};
    cupel_allowed_set(out, i, e.value, &p);
    if (out->least) cupel_allowed_set_integer(out, i, e.least, e.most);
    return CUPEL_OK;
}

/* Permits everything. */
static void leave_out(cupel_allowed *out, int64_t i) {
    const cupel_permitted all = {.lo = -INFINITY,
                                 .hi = INFINITY,
                                 .radius = INFINITY,
                                 .classes = CUPEL_CLASS_MASK,
                                 .reason = CUPEL_REASON_SAMPLED_OUT};
    cupel_allowed_set(out, i, 0, &all);
}

cupel_code cupel_exact_sample(cupel_exact_session *s, int output, int64_t most, uint64_t seed,
                              cupel_arena *arena, cupel_allowed *out, cupel_error *err) {
    if (output < 0 || output >= s->graph->output_count || most < 1)
        return cupel_fail(err, CUPEL_RANGE, "expected an output of the graph and a sample, found %d, %lld",
                          output, (long long)most);
    const int64_t count = s->graph->outputs[output].count;
    if (count <= most) return cupel_exact_output(s, output, arena, out, err);
    CUPEL_TRY(cupel_allowed_create(&s->graph->outputs[output], arena, out, err));
    const int64_t rest = count % most, length = count / most;
    int64_t begin = 0;
    for (int64_t k = 0; k < most; k++) {
        const int64_t n = length + (k < rest ? 1 : 0);
        int64_t chosen = (int64_t)(cupel_philox(seed, (uint32_t)output, (uint64_t)k) % (uint64_t)n);
        if (k == 0) chosen = 0;
        if (k == most - 1) chosen = n - 1;
        for (int64_t i = 0; i < n; i++)
            if (i != chosen) leave_out(out, begin + i);
        CUPEL_TRY(set_element(s, output, begin + chosen, out, err));
        begin += n;
    }
    cupel_allowed_count(out);
    return CUPEL_OK;
}

cupel_code cupel_exact_output(cupel_exact_session *s, int output, cupel_arena *arena, cupel_allowed *out,
                              cupel_error *err) {
    if (output < 0 || output >= s->graph->output_count)
        return cupel_fail(err, CUPEL_RANGE, "expected an output of the graph, found %d", output);
    CUPEL_TRY(cupel_allowed_create(&s->graph->outputs[output], arena, out, err));
    for (int64_t i = 0; i < out->count; i++) CUPEL_TRY(set_element(s, output, i, out, err));
    cupel_allowed_count(out);
    return CUPEL_OK;
}

cupel_code cupel_exact_complete(cupel_exact_session *s, int output, int64_t most, cupel_allowed *out,
                                cupel_error *err) {
    const int64_t open = out->by_reason[CUPEL_REASON_UNABLE];
    if (open == 0 || most < 1) return CUPEL_OK;
    const int64_t stride = (open + most - 1) / most;
    int64_t seen = 0;
    for (int64_t i = 0; i < out->count; i++)
        if (out->reasons[i] == CUPEL_REASON_UNABLE && seen++ % stride == 0)
            CUPEL_TRY(set_element(s, output, i, out, err));
    cupel_allowed_count(out);
    return CUPEL_OK;
}
