/* Linear recurrences along an axis of time. */
#include <stdlib.h>

#include "ball_recurrence.h"
#include "bounded.h"

/* The sum state of an element and its chain, for those who join, scale or fold it. */
static cupel_code plan(cupel_bounded *b, int node, double terms) {
    cupel_tensor *t = &b->tensors[node];
    t->sum = b->plans[node].has_sum;
    t->products = t->sum;
    t->terms = terms;
    if (b->plans[node].wants_magnitude) CUPEL_TRY(cupel_tensor_need_magnitude(b, t));
    if (t->sum && b->plans[node].wants_chain) CUPEL_TRY(cupel_tensor_need_chain(b, t));
    return cupel_tensor_need_radius(b, t);
}

static bool is_finite(const cupel_tensor *t, int64_t i) {
    return !t->classes || t->classes[i] == CUPEL_CLASS_FINITE;
}

/* ---- LINEAR_SCAN ---- */

typedef struct line_operands {
    const cupel_tensor *a, *b, *log;
    int flags;
} line_operands;

static double log_size(const line_operands *o, int64_t i, int64_t step) {
    if (!o->log) return 0;
    const double size = fabs(o->log->value[i]) + cupel_radius_at(o->log, i);
    return o->flags & CUPEL_SCAN_MAXIMUM ? size + log1p((double)step) : size;
}

/* Plain elements, nothing near the ends of the range. Stops before the first that is not. */
static int64_t fast_line(cupel_bounded *b, int node, const line_operands *o, int64_t begin, int64_t n) {
    cupel_tensor *t = &b->tensors[node];
    const double limit = b->w.largest / b->plans[node].trait.overflow / 1.01;
    cupel_line s = cupel_line_start(o->flags);
    for (int64_t i = begin; i < begin + n; i++) {
        cupel_line_advance(&b->w, &s, o->a->value[i], cupel_radius_at(o->a, i), o->b->value[i],
                           cupel_radius_at(o->b, i), log_size(o, i, i - begin));
        const double radius = cupel_line_radius(&b->w, &s);
        if (!(s.top < limit && s.growth < limit && s.top + radius < limit)) return i - begin;
        t->value[i] = s.value;
        t->radius[i] = radius > 0 ? radius * (1 + 0x1p-40) + fabs(s.value) * 0x1p-52 : 0;
        if (t->magnitude) {
            t->magnitude[i] = s.majorant + radius;
            t->spread[i] = radius;
            t->grain[i] = radius == 0 ? s.grain : 0;
        }
        if (t->peak) {
            t->peak[i] = fmax(1, fmax(s.top, s.growth));
            t->trough[i] = 0;
        }
    }
    return n;
}

static cupel_code line_by_rules(cupel_bounded *b, int node, const line_operands *o, int64_t begin,
                                int64_t n) {
    cupel_line s = cupel_line_start(o->flags);
    int64_t last = begin - 1; /* the last element that masked products meet */
    if ((o->flags & CUPEL_SCAN_LOGS) && !b->w.sequential) {
        for (int64_t i = begin; i < begin + n; i++)
            if (!is_finite(o->b, i) || !is_finite(o->a, i)) last = i;
    }
    for (int64_t i = begin; i < begin + n; i++) {
        const cupel_ball a = cupel_tensor_load(o->a, i), c = cupel_tensor_load(o->b, i);
        cupel_ball log;
        if (o->log) log = cupel_tensor_load(o->log, i);
        const double value = i == begin ? c.value : a.value * s.value + c.value;
        cupel_ball r = cupel_line_next(&b->w, &b->plans[node].trait, &s, &a, &c, o->log ? &log : NULL, value);
        if (i < last) r = cupel_scan_excluded(r);
        CUPEL_TRY(cupel_tensor_store(b, &b->tensors[node], i, &r));
    }
    return CUPEL_OK;
}

static cupel_code linear_scan(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    const int64_t length = n->shape[n->rank - 1], count = b->tensors[node].count;
    const line_operands o = {.a = cupel_bounded_arg(b, node, 0),
                             .b = cupel_bounded_arg(b, node, 1),
                             .log = n->arg_count > 2 ? cupel_bounded_arg(b, node, 2) : NULL,
                             .flags = (int)n->step};
    CUPEL_TRY(plan(b, node, (double)length));
    const bool fast = !b->w.flush && !b->w.sequential;
    for (int64_t begin = 0; begin < count; begin += length) {
        const bool plain = fast && cupel_tensor_is_plain(o.a, begin, length) &&
                           cupel_tensor_is_plain(o.b, begin, length) &&
                           (!o.log || cupel_tensor_is_plain(o.log, begin, length));
        if (!plain || fast_line(b, node, &o, begin, length) < length)
            CUPEL_TRY(line_by_rules(b, node, &o, begin, length));
    }
    return CUPEL_OK;
}

/* ---- STATE_SCAN ---- */

typedef struct state_scan {
    cupel_bounded *b;
    int node, flags;
    int64_t length, k, v;
    const cupel_tensor *a, *p, *r, *x, *log, *q;
    double *none;                   /* zeros, for tensors without radius */
    double *radii[6];               /* under flush: radii that cover a zero; a p r q [k], x [k, v] */
    double *logs;                   /* [k] */
    double *doubles;                /* of the state */
    uint8_t *bytes;                 /* of the state, */
    uint8_t *classes, *reasons;     /* and of shared operands [k]; */
    uint8_t *x_classes, *x_reasons; /* of x, [k, v] */
    int64_t *last;                  /* per column: the last step that is not finite */
} state_scan;

static const double *radii_of(const state_scan *s, const cupel_tensor *t, int64_t at, int64_t n, int which) {
    const double *own = t->radius ? t->radius + at : s->none;
    if (!s->b->w.flush) return own;
    for (int64_t i = 0; i < n; i++) {
        const double v = fabs(t->value[at + i]);
        const bool lost = isfinite(v) && v != 0 && v - own[i] < s->b->w.normal;
        s->radii[which][i] = lost ? fmax(own[i], v) : own[i];
    }
    return s->radii[which];
}

/* The largest product of max(1, |factor|) (or the least of min(1, |factor|)) among these elements. */
static double peak_of(const cupel_tensor *t, int64_t at, int64_t n) {
    double peak = 1;
    if (!t->peak && t->extents) return t->chain_peak;
    for (int64_t i = at; i < at + n; i++) {
        const double own = t->peak ? t->peak[i] : fabs(t->value[i]) + cupel_radius_at(t, i);
        peak = own > peak ? own : peak;
    }
    return peak;
}

static double trough_of(const cupel_tensor *t, int64_t at, int64_t n) {
    double trough = 1;
    if (!t->trough && t->extents) return t->chain_trough;
    for (int64_t i = at; i < at + n; i++) {
        const double size = fabs(t->value[i]), r = cupel_radius_at(t, i);
        const double own = t->trough ? t->trough[i] : size + r == 0 ? 1 : fmax(size - r, 0);
        trough = own < trough ? own : trough;
    }
    return trough;
}

/* Joins the classes and reasons of a shared operand. */
static void join(state_scan *s, const cupel_tensor *t, int64_t at) {
    for (int64_t i = 0; t && i < s->k; i++) {
        const uint8_t own = t->classes ? t->classes[at + i] & CUPEL_CLASS_MASK : CUPEL_CLASS_FINITE;
        const uint8_t finite = s->classes[i] & own & CUPEL_CLASS_FINITE;
        s->classes[i] = (uint8_t)(((s->classes[i] | own) & ~CUPEL_CLASS_FINITE) | finite);
        if (t->reasons && !s->reasons[i]) s->reasons[i] = t->reasons[at + i];
    }
}

static void odd_operands(state_scan *s, int64_t at, int64_t at_x, cupel_state_step *in) {
    const int64_t n = s->k * s->v;
    memset(s->classes, CUPEL_CLASS_FINITE, (size_t)s->k);
    memset(s->reasons, CUPEL_REASON_JUDGED, (size_t)s->k);
    join(s, s->a, at);
    join(s, s->p, at);
    join(s, s->r, at);
    for (int64_t i = 0; i < n; i++) {
        s->x_classes[i] = s->x->classes ? s->x->classes[at_x + i] & CUPEL_CLASS_MASK : CUPEL_CLASS_FINITE;
        s->x_reasons[i] = s->x->reasons ? s->x->reasons[at_x + i] : CUPEL_REASON_JUDGED;
    }
    in->odd = true;
    in->classes = s->classes, in->reasons = s->reasons;
    in->x_classes = s->x_classes, in->x_reasons = s->x_reasons;
}

static bool is_plain(const state_scan *s, int64_t at, int64_t at_x, int64_t steps) {
    const int64_t k = s->k * steps;
    return cupel_tensor_is_plain(s->a, at, k) && (!s->p || cupel_tensor_is_plain(s->p, at, k)) &&
           (!s->r || cupel_tensor_is_plain(s->r, at, k)) &&
           (!s->log || cupel_tensor_is_plain(s->log, at, k)) && cupel_tensor_is_plain(s->x, at_x, k * s->v);
}

static const double *logs_of(state_scan *s, int64_t at) {
    for (int64_t i = 0; i < s->k; i++)
        s->logs[i] = fabs(s->log->value[at + i]) + cupel_radius_at(s->log, at + i);
    return s->logs;
}

static cupel_state_step step_of(state_scan *s, int64_t at) {
    const int64_t k = s->k, v = s->v, at_x = at * v;
    cupel_state_step in = {.a = s->a->value + at, .x = s->x->value + at_x, .trough = 1};
    in.ra = radii_of(s, s->a, at, k, 0);
    in.rx = radii_of(s, s->x, at_x, k * v, 4);
    in.x_peak = peak_of(s->x, at_x, k * v);
    if (s->flags & CUPEL_SCAN_RANK_ONE) {
        in.p = s->p->value + at, in.r = s->r->value + at;
        in.rp = radii_of(s, s->p, at, k, 1), in.rr = radii_of(s, s->r, at, k, 2);
        in.p_peak = peak_of(s->p, at, k), in.r_peak = peak_of(s->r, at, k);
    }
    in.x_trough = 1;
    in.logs = s->log ? logs_of(s, at) : NULL;
    if (!is_plain(s, at, at_x, 1)) odd_operands(s, at, at_x, &in);
    return in;
}

/* The troughs are asked for only while everything is exact. */
static void find_troughs(const state_scan *s, int64_t at, cupel_state_step *in) {
    in->x_trough = trough_of(s->x, at * s->v, s->k * s->v);
    if (in->p) in->trough = fmin(trough_of(s->p, at, s->k), trough_of(s->r, at, s->k));
}

/* In chunked forms a masked product of a later step is 0 times it: what is not finite there may be NaN here.
 */
static void find_last(state_scan *s, int64_t batch) {
    const int64_t first = batch * s->length;
    for (int64_t j = 0; j < s->v; j++) s->last[j] = -1;
    if (s->b->w.sequential || is_plain(s, first * s->k, first * s->k * s->v, s->length)) return;
    for (int64_t t = 0; t < s->length; t++) {
        bool shared = false;
        for (int64_t i = 0; i < s->k; i++) {
            const int64_t at = (first + t) * s->k + i;
            shared |=
                !is_finite(s->a, at) || (s->p && !is_finite(s->p, at)) || (s->r && !is_finite(s->r, at));
            for (int64_t j = 0; j < s->v; j++)
                if (!is_finite(s->x, at * s->v + j)) s->last[j] = t;
        }
        for (int64_t j = 0; shared && j < s->v; j++) s->last[j] = t;
    }
}

static cupel_code write_states(const state_scan *s, const cupel_state *state, int64_t t, int64_t at) {
    cupel_tensor *out = &s->b->tensors[s->node];
    for (int64_t i = 0; i < s->k * s->v; i++) {
        cupel_ball r = cupel_state_element(&s->b->w, &s->b->plans[s->node].trait, state, i, state->value[i]);
        if (t < s->last[i % s->v]) r = cupel_scan_excluded(r);
        CUPEL_TRY(cupel_tensor_store(s->b, out, at * s->v + i, &r));
    }
    return CUPEL_OK;
}

static cupel_code write_reads(state_scan *s, cupel_state *state, int64_t step, int64_t row) {
    cupel_bounded *b = s->b;
    cupel_tensor *out = &b->tensors[s->node];
    const double limit = b->w.largest / b->plans[s->node].trait.overflow / 1.01;
    const int64_t at = row * s->k;
    const bool odd = !cupel_tensor_is_plain(s->q, at, s->k);
    cupel_query q = {.q = s->q->value + at,
                     .rq = radii_of(s, s->q, at, s->k, 3),
                     .peak = peak_of(s->q, at, s->k),
                     .trough = state->exact ? trough_of(s->q, at, s->k) : 0};
    memset(s->classes, CUPEL_CLASS_FINITE, (size_t)s->k);
    memset(s->reasons, CUPEL_REASON_JUDGED, (size_t)s->k);
    if (odd) join(s, s->q, at), q.classes = s->classes, q.reasons = s->reasons;
    cupel_state_query(&b->w, state, &q);
    const bool plain = !odd && !state->odd && !b->w.flush && !out->magnitude && !out->peak;
    for (int64_t j = 0; j < s->v; j++) {
        const int64_t i = row * s->v + j;
        const double value = state->read[j], radius = cupel_state_read_radius(&b->w, state, j);
        if (plain && step >= s->last[j] &&
            cupel_state_read_top(&b->w, state, j) * state->narrow_range + radius < limit) {
            out->value[i] = value;
            out->radius[i] = radius > 0 ? radius * (1 + 0x1p-40) + fabs(value) * 0x1p-52 : 0;
            continue;
        }
        cupel_ball r = cupel_state_read(&b->w, &b->plans[s->node].trait, state, &q, j, value);
        if (step < s->last[j]) r = cupel_scan_excluded(r);
        CUPEL_TRY(cupel_tensor_store(b, out, i, &r));
    }
    return CUPEL_OK;
}

/* A later step that may overflow does so behind masks, too. */
static cupel_code exclude_before(const state_scan *s, int64_t batch, int64_t steps) {
    cupel_tensor *out = &s->b->tensors[s->node];
    const int64_t each = s->v * (s->q ? 1 : s->k), begin = batch * s->length * each;
    if (steps > 0) CUPEL_TRY(cupel_tensor_need_reasons(s->b, out));
    for (int64_t i = begin; i < begin + steps * each; i++)
        if (!out->reasons[i]) out->reasons[i] = CUPEL_REASON_EXCLUDED;
    return CUPEL_OK;
}

static cupel_code scan_batch(state_scan *s, int64_t batch) {
    cupel_state state = cupel_state_start(s->flags, s->k, s->v, s->doubles, s->bytes);
    int64_t overflows = 0;
    cupel_state_narrow(&s->b->w, &state, s->b->graph->nodes[s->node].type);
    for (int64_t t = 0; s->log && t < s->length; t++)
        cupel_state_note_logs(&state, logs_of(s, (batch * s->length + t) * s->k));
    cupel_state_end_logs(&s->b->w, &state);
    find_last(s, batch);
    for (int64_t t = 0; t < s->length; t++) {
        const int64_t row = batch * s->length + t, at = row * s->k;
        cupel_state_step in = step_of(s, at);
        if (state.exact) find_troughs(s, at, &in);
        cupel_state_advance(&s->b->w, &state, &in);
        CUPEL_TRY(s->q ? write_reads(s, &state, t, row) : write_states(s, &state, t, at));
        if (cupel_state_may_overflow(&s->b->w, &s->b->plans[s->node].trait, &state)) overflows = t;
    }
    return exclude_before(s, batch, overflows);
}

static void free_scan(state_scan *s) {
    free(s->none);
    for (int i = 0; i < 6; i++) free(s->radii[i]);
    free(s->logs);
    free(s->doubles);
    free(s->bytes);
    free(s->classes);
    free(s->x_classes);
    free(s->last);
}

static cupel_code allocate(state_scan *s) {
    const size_t k = (size_t)s->k, n = (size_t)(s->k * s->v);
    s->none = calloc(n + 1, sizeof(double));
    bool ok = s->none != NULL;
    for (int i = 0; s->b->w.flush && i < 5; i++) {
        s->radii[i] = malloc((n + 1) * sizeof(double));
        ok = ok && s->radii[i];
    }
    s->logs = malloc((k + 1) * sizeof(double));
    s->doubles = malloc((cupel_state_doubles(s->k, s->v) + 1) * sizeof(double));
    s->bytes = malloc(2 * n + 1);
    s->classes = malloc(2 * k + 1);
    s->x_classes = malloc(2 * n + 1);
    s->last = malloc(((size_t)s->v + 1) * sizeof *s->last);
    ok = ok && s->logs && s->doubles && s->bytes && s->classes && s->x_classes && s->last;
    if (!ok) return cupel_fail(s->b->err, CUPEL_MEMORY, "no memory for a recurrence");
    s->reasons = s->classes + k;
    s->x_reasons = s->x_classes + n;
    return CUPEL_OK;
}

static cupel_code state_scan_of(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    int next = 0;
    state_scan s = {.b = b, .node = node, .flags = (int)n->step};
    const cupel_node *first = &b->graph->nodes[n->args[0]];
    s.a = cupel_bounded_arg(b, node, next++);
    if (s.flags & CUPEL_SCAN_RANK_ONE) {
        s.p = cupel_bounded_arg(b, node, next++);
        s.r = cupel_bounded_arg(b, node, next++);
    }
    s.x = cupel_bounded_arg(b, node, next++);
    if (s.flags & CUPEL_SCAN_LOGS) s.log = cupel_bounded_arg(b, node, next++);
    if (s.flags & CUPEL_SCAN_READ) s.q = cupel_bounded_arg(b, node, next);
    s.length = first->shape[first->rank - 2];
    s.k = first->shape[first->rank - 1];
    s.v = n->shape[n->rank - 1];
    CUPEL_TRY(plan(b, node, (double)(s.length + s.k)));
    cupel_code code = allocate(&s);
    const int64_t batches = s.length > 0 ? b->tensors[node].count / (s.length * s.v * (s.q ? 1 : s.k)) : 0;
    for (int64_t batch = 0; batch < batches && code == CUPEL_OK; batch++) code = scan_batch(&s, batch);
    free_scan(&s);
    return code;
}

cupel_code cupel_bounded_recurrence(cupel_bounded *b, int node) {
    if (b->tensors[node].count == 0) return CUPEL_OK;
    CUPEL_TRY(b->graph->nodes[node].op == CUPEL_OP_LINEAR_SCAN ? linear_scan(b, node)
                                                               : state_scan_of(b, node));
    cupel_tensor_end_chain(&b->tensors[node]);
    return CUPEL_OK;
}
