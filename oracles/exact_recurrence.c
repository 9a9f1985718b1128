/* Linear recurrences along an axis of time, as they are defined: step by step. Every element needs those
 * before it, so a row (of a state: a column, over all steps) is computed at once and remembered. */
#include <stdlib.h>

#include "ball_recurrence.h"
#include "exact.h"

static void inherit(cupel_exact_value *out, const cupel_exact_value *a) {
    out->open |= a->open;
    out->unsound |= a->unsound;
}

static void keep(cupel_exact_session *s, int node, int64_t at, int64_t index, const cupel_exact_value *value,
                 cupel_exact_value *out) {
    if (at == index) {
        cupel_exact_copy(out, value);
        return;
    }
    if (s->memory.count >= CUPEL_EXACT_ENTRIES) return; /* computed again when it is asked for */
    bool fresh;
    cupel_exact_value *kept = cupel_exact_remember(s, node, at, &fresh);
    if (kept) cupel_exact_copy(kept, value);
}

static bool is_finite(const cupel_ball *b) {
    return (b->classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_FINITE;
}

/* out = a h + b */
static void step(cupel_exact_session *s, cupel_exact_value *out, const cupel_exact_value *a,
                 const cupel_exact_value *h, const cupel_exact_value *b) {
    cupel_exact_value *product = cupel_exact_borrow(s);
    cupel_exact_start(s, product);
    cupel_exact_multiply(product, a, h);
    cupel_exact_start(s, out);
    cupel_exact_add(out, product, b);
    inherit(out, product);
    inherit(out, a), inherit(out, h), inherit(out, b);
    cupel_exact_return(s);
}

/* ---- LINEAR_SCAN ---- */

/* The last element of the row that masked products of chunked forms meet. */
static int64_t last_special(cupel_exact_session *s, int node, int64_t row, int64_t length) {
    const cupel_node *n = &s->graph->nodes[node];
    int64_t last = row - 1;
    if (!(n->step & CUPEL_SCAN_LOGS) || s->w.sequential) return last;
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    for (int64_t i = row; i < row + length && s->code == CUPEL_OK; i++)
        for (int k = 0; k < 2; k++)
            if (!is_finite(&cupel_exact_get(s, n->args[k], i, scratch)->ball)) last = i;
    cupel_exact_return(s);
    return last;
}

static void linear_scan(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    const int64_t length = n->shape[n->rank - 1], row = index / length * length;
    const int64_t last = last_special(s, node, row, length);
    cupel_line line = cupel_line_start((int)n->step);
    cupel_exact_value *scratch_a = cupel_exact_borrow(s), *scratch_b = cupel_exact_borrow(s);
    cupel_exact_value *scratch_log = cupel_exact_borrow(s);
    cupel_exact_value *state = cupel_exact_borrow(s), *next = cupel_exact_borrow(s);
    for (int64_t i = row; i < row + length && s->code == CUPEL_OK; i++) {
        const cupel_exact_value *a = cupel_exact_get(s, n->args[0], i, scratch_a);
        const cupel_exact_value *b = cupel_exact_get(s, n->args[1], i, scratch_b);
        const cupel_exact_value *log =
            n->arg_count > 2 ? cupel_exact_get(s, n->args[2], i, scratch_log) : NULL;
        if (i == row) {
            cupel_exact_copy(next, b);
            next->precision = s->precision;
        } else {
            step(s, next, a, state, b);
        }
        bool exact;
        const double value = cupel_exact_nearest(next, &exact);
        next->ball = cupel_line_next(&s->w, &s->traits[node], &line, &a->ball, &b->ball,
                                     log ? &log->ball : NULL, value);
        if (i < last) next->ball = cupel_scan_excluded(next->ball);
        cupel_exact_copy(state, next);
        keep(s, node, i, index, next, out);
    }
    for (int i = 0; i < 5; i++) cupel_exact_return(s);
}

/* ---- STATE_SCAN ---- */

enum { A, P, R, Q, SHARED }; /* operands of shape [.., L, K] */

typedef struct column {
    cupel_exact_session *s;
    int node, flags;
    int shared[SHARED], x, log; /* nodes; -1: absent */
    int64_t length, k, v;
    int64_t batch, at;                                                  /* which column */
    double *value[SHARED], *radius[SHARED], *x_value, *x_radius, *logs; /* [k] */
    double peak[SHARED], trough[SHARED], x_peak, x_trough;
    uint8_t *classes, *reasons, *x_classes, *x_reasons, *q_classes, *q_reasons; /* [k] */
    cupel_exact_value **states;                                                 /* [k], borrowed */
} column;

static const cupel_exact_value *shared_element(const column *c, int which, int64_t t, int64_t i,
                                               cupel_exact_value *scratch) {
    return cupel_exact_get(c->s, c->shared[which], (c->batch * c->length + t) * c->k + i, scratch);
}

static const cupel_exact_value *x_element(const column *c, int64_t t, int64_t i, cupel_exact_value *scratch) {
    return cupel_exact_get(c->s, c->x, ((c->batch * c->length + t) * c->k + i) * c->v + c->at, scratch);
}

static void note(const cupel_working *w, const cupel_ball *ball, double *value, double *radius, double *peak,
                 double *trough, uint8_t *classes, uint8_t *reasons) {
    const cupel_ball b = cupel_ball_operand(w, ball);
    const uint8_t own = b.classes & CUPEL_CLASS_MASK, finite = *classes & own & CUPEL_CLASS_FINITE;
    *value = b.value;
    *radius = b.radius;
    *peak = fmax(*peak, b.peak);
    *trough = fmin(*trough, b.trough);
    *classes = (uint8_t)(((*classes | own) & ~CUPEL_CLASS_FINITE) | finite);
    if (!*reasons) *reasons = b.reason;
}

static void read_logs(column *c, int64_t t) {
    cupel_exact_value *scratch = cupel_exact_borrow(c->s);
    for (int64_t i = 0; i < c->k && c->s->code == CUPEL_OK; i++) {
        const int64_t at = (c->batch * c->length + t) * c->k + i;
        const cupel_ball log = cupel_exact_get(c->s, c->log, at, scratch)->ball;
        c->logs[i] = fabs(log.value) + log.radius;
    }
    cupel_exact_return(c->s);
}

/* The balls of one step's operands, as the rule wants them. */
static cupel_state_step step_of(column *c, int64_t t) {
    cupel_exact_session *s = c->s;
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    for (int w = 0; w < SHARED; w++) c->peak[w] = c->trough[w] = 1;
    c->x_peak = c->x_trough = 1;
    for (int64_t i = 0; i < c->k && s->code == CUPEL_OK; i++) {
        c->classes[i] = c->x_classes[i] = c->q_classes[i] = CUPEL_CLASS_FINITE;
        c->reasons[i] = c->x_reasons[i] = c->q_reasons[i] = CUPEL_REASON_JUDGED;
        for (int w = 0; w < SHARED; w++) {
            if (c->shared[w] < 0) continue;
            note(&s->w, &shared_element(c, w, t, i, scratch)->ball, &c->value[w][i], &c->radius[w][i],
                 &c->peak[w], &c->trough[w], w == Q ? &c->q_classes[i] : &c->classes[i],
                 w == Q ? &c->q_reasons[i] : &c->reasons[i]);
        }
        note(&s->w, &x_element(c, t, i, scratch)->ball, &c->x_value[i], &c->x_radius[i], &c->x_peak,
             &c->x_trough, &c->x_classes[i], &c->x_reasons[i]);
    }
    cupel_exact_return(s);
    if (c->log >= 0) read_logs(c, t);
    const bool rank_one = c->shared[P] >= 0;
    return (cupel_state_step){.a = c->value[A],
                              .ra = c->radius[A],
                              .p = rank_one ? c->value[P] : NULL,
                              .rp = c->radius[P],
                              .r = c->value[R],
                              .rr = c->radius[R],
                              .x = c->x_value,
                              .rx = c->x_radius,
                              .logs = c->log < 0 ? NULL : c->logs,
                              .x_peak = c->x_peak,
                              .x_trough = c->x_trough,
                              .p_peak = c->peak[P],
                              .r_peak = c->peak[R],
                              .trough = fmin(c->trough[P], c->trough[R]),
                              .odd = true,
                              .classes = c->classes,
                              .reasons = c->reasons,
                              .x_classes = c->x_classes,
                              .x_reasons = c->x_reasons};
}

/* sum = vector' S */
static void take_dot(column *c, int which, int64_t t, cupel_exact_value *sum) {
    cupel_exact_session *s = c->s;
    cupel_exact_value *scratch = cupel_exact_borrow(s), *before = cupel_exact_borrow(s);
    cupel_exact_start(s, sum);
    cupel_exact_set_integer(sum, 0);
    for (int64_t i = 0; i < c->k && s->code == CUPEL_OK; i++) {
        const cupel_exact_value *r = shared_element(c, which, t, i, scratch);
        cupel_exact_copy(before, sum);
        step(s, sum, r, c->states[i], before);
    }
    cupel_exact_return(s);
    cupel_exact_return(s);
}

/* S = a S - p dot + x */
static void advance(column *c, int64_t t) {
    cupel_exact_session *s = c->s;
    cupel_exact_value *scratch = cupel_exact_borrow(s), *scratch_x = cupel_exact_borrow(s);
    cupel_exact_value *dot = cupel_exact_borrow(s), *sum = cupel_exact_borrow(s),
                      *hop = cupel_exact_borrow(s);
    const bool rank_one = c->shared[P] >= 0 && t > 0;
    if (rank_one) take_dot(c, R, t, dot);
    for (int64_t i = 0; i < c->k && s->code == CUPEL_OK; i++) {
        const cupel_exact_value *x = x_element(c, t, i, scratch_x);
        if (t == 0) {
            cupel_exact_copy(c->states[i], x);
            c->states[i]->precision = s->precision;
            continue;
        }
        if (rank_one) {
            const cupel_exact_value *p = shared_element(c, P, t, i, scratch);
            cupel_exact_start(s, hop);
            cupel_exact_multiply(hop, p, dot);
            inherit(hop, p), inherit(hop, dot), inherit(hop, x);
            cupel_exact_start(s, sum);
            cupel_exact_subtract(sum, x, hop);
            inherit(sum, hop);
            x = sum;
        }
        cupel_exact_copy(hop, c->states[i]);
        step(s, c->states[i], shared_element(c, A, t, i, scratch), hop, x);
    }
    for (int i = 0; i < 5; i++) cupel_exact_return(s);
}

/* The last step that masked products of chunked forms meet. */
static int64_t last_of(const column *c) {
    cupel_exact_session *s = c->s;
    int64_t last = -1;
    if (s->w.sequential) return last;
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    for (int64_t t = 0; t < c->length && s->code == CUPEL_OK; t++) {
        for (int64_t i = 0; i < c->k; i++) {
            if (!is_finite(&x_element(c, t, i, scratch)->ball)) last = t;
            for (int w = 0; w < Q; w++)
                if (c->shared[w] >= 0 && !is_finite(&shared_element(c, w, t, i, scratch)->ball)) last = t;
        }
    }
    cupel_exact_return(s);
    return last;
}

static void write_step(column *c, cupel_state *state, int64_t t, int64_t last, int64_t index,
                       cupel_exact_value *out) {
    cupel_exact_session *s = c->s;
    const cupel_trait *trait = &s->traits[c->node];
    const int64_t row = c->batch * c->length + t;
    bool exact;
    if (c->shared[Q] < 0) {
        for (int64_t i = 0; i < c->k; i++) {
            cupel_exact_value *v = c->states[i];
            v->ball = cupel_state_element(&s->w, trait, state, i, cupel_exact_nearest(v, &exact));
            if (t < last) v->ball = cupel_scan_excluded(v->ball);
            keep(s, c->node, (row * c->k + i) * c->v + c->at, index, v, out);
        }
        return;
    }
    const cupel_query q = {.q = c->value[Q],
                           .rq = c->radius[Q],
                           .peak = c->peak[Q],
                           .trough = c->trough[Q],
                           .classes = c->q_classes,
                           .reasons = c->q_reasons};
    cupel_exact_value *sum = cupel_exact_borrow(s);
    take_dot(c, Q, t, sum);
    cupel_state_query(&s->w, state, &q);
    sum->ball = cupel_state_read(&s->w, trait, state, &q, 0, cupel_exact_nearest(sum, &exact));
    if (t < last) sum->ball = cupel_scan_excluded(sum->ball);
    keep(s, c->node, row * c->v + c->at, index, sum, out);
    cupel_exact_return(s);
}

static cupel_state start(column *c, double *doubles, uint8_t *bytes) {
    cupel_exact_session *s = c->s;
    cupel_state state = cupel_state_start(c->flags, c->k, 1, doubles, bytes);
    cupel_state_narrow(&s->w, &state, s->graph->nodes[c->node].type);
    for (int64_t t = 0; c->log >= 0 && t < c->length && s->code == CUPEL_OK; t++) {
        read_logs(c, t);
        cupel_state_note_logs(&state, c->logs);
    }
    cupel_state_end_logs(&s->w, &state);
    return state;
}

static void run(column *c, double *doubles, uint8_t *bytes, int64_t index, cupel_exact_value *out) {
    cupel_exact_session *s = c->s;
    cupel_state state = start(c, doubles, bytes);
    for (int64_t i = 0; i < c->k; i++) c->states[i] = cupel_exact_borrow(s);
    int64_t last = last_of(c);
    if (state.flags & CUPEL_SCAN_RANK_ONE && !s->w.sequential) { /* the rule alone, in fp64 */
        cupel_state ahead = state;
        for (int64_t t = 0; t < c->length && s->code == CUPEL_OK; t++) {
            const cupel_state_step in = step_of(c, t);
            cupel_state_advance(&s->w, &ahead, &in);
            if (cupel_state_may_overflow(&s->w, &s->traits[c->node], &ahead) && t > last) last = t;
        }
        state = start(c, doubles, bytes);
    }
    for (int64_t t = 0; t < c->length && s->code == CUPEL_OK; t++) {
        const cupel_state_step in = step_of(c, t);
        if (s->code != CUPEL_OK) break;
        advance(c, t);
        cupel_state_advance(&s->w, &state, &in);
        bool exact;
        for (int64_t i = 0; i < c->k; i++) state.value[i] = cupel_exact_nearest(c->states[i], &exact);
        write_step(c, &state, t, last, index, out);
    }
    for (int64_t i = 0; i < c->k; i++) cupel_exact_return(s);
}

static column column_of(cupel_exact_session *s, int node, int64_t index) {
    const cupel_node *n = &s->graph->nodes[node], *first = &s->graph->nodes[n->args[0]];
    column c = {.s = s, .node = node, .flags = (int)n->step, .shared = {-1, -1, -1, -1}, .log = -1};
    int next = 0;
    c.shared[A] = n->args[next++];
    if (c.flags & CUPEL_SCAN_RANK_ONE) c.shared[P] = n->args[next++], c.shared[R] = n->args[next++];
    c.x = n->args[next++];
    if (c.flags & CUPEL_SCAN_LOGS) c.log = n->args[next++];
    if (c.flags & CUPEL_SCAN_READ) c.shared[Q] = n->args[next];
    c.length = first->shape[first->rank - 2];
    c.k = first->shape[first->rank - 1];
    c.v = n->shape[n->rank - 1];
    c.at = index % c.v;
    c.batch = index / c.v / c.length / (c.shared[Q] < 0 ? c.k : 1);
    return c;
}

static void state_scan(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    column c = column_of(s, node, index);
    const size_t k = (size_t)c.k, own = cupel_state_doubles(c.k, 1);
    double *doubles = calloc(own + (2 * SHARED + 3) * k, sizeof *doubles);
    uint8_t *bytes = calloc(8 * k + 1, 1);
    c.states = calloc(k + 1, sizeof(cupel_exact_value *));
    cupel_exact_start(s, out);
    if (!doubles || !bytes || !c.states) {
        s->code = CUPEL_MEMORY;
    } else {
        double *at = doubles + own;
        for (int w = 0; w < SHARED; w++) c.value[w] = at, c.radius[w] = at + k, at += 2 * k;
        c.x_value = at, c.x_radius = at + k, c.logs = at + 2 * k;
        uint8_t *byte = bytes + 2 * k;
        c.classes = byte, c.reasons = byte + k, c.x_classes = byte + 2 * k, c.x_reasons = byte + 3 * k;
        c.q_classes = byte + 4 * k, c.q_reasons = byte + 5 * k;
        run(&c, doubles, bytes, index, out);
    }
    free(doubles);
    free(bytes);
    free(c.states);
}

void cupel_exact_recurrence(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    if (s->graph->nodes[node].op == CUPEL_OP_LINEAR_SCAN)
        linear_scan(s, node, index, out);
    else
        state_scan(s, node, index, out);
}
