#include "gradient.h"

#include <string.h>

#include "gradient_rules.h"

typedef void rule(cupel_sweep *s, int node, int dy);

static rule *const rules[] = {
#define RULE(name, text, family) [CUPEL_OP_##name] = cupel_gradient_##family,
    CUPEL_PRIMITIVES(RULE)
#undef RULE
};

/* ---- shares ---- */

bool cupel_sweep_wants(const cupel_sweep *s, int node) {
    return node >= 0 && node < s->count && s->depends[node];
}

/* A sum of nothing, to which what is added joins. */
static int empty_sum(cupel_builder *b) {
    int nothing = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_emit_iota(b, 0, 1, 0));
    return cupel_emit_reduce(b, CUPEL_OP_SUM, nothing, 1, false);
}

int cupel_gradient_joined(cupel_builder *b, int x, int y) {
    return add_(b, add_(b, x, empty_sum(b)), y);
}

/* The sum over the axes along which the node was repeated to meet another operand. */
static int unbroadcast(cupel_builder *b, int share, int node) {
    const int rank = b->nodes[node].rank, more = b->nodes[share].rank - rank;
    unsigned axes = 0;
    for (int i = 0; i < b->nodes[share].rank; i++)
        if (i < more || (b->nodes[node].shape[i - more] == 1 && b->nodes[share].shape[i] != 1))
            axes |= 1u << i;
    if (more < 0 || !axes) return share;
    int sum = cupel_gradient_sum_over(b, share, axes);
    if (sum < 0) return -1;
    cupel_window w = cupel_window_of(b, sum);
    for (int i = 0; i < more; i++) cupel_window_remove(&w, 0);
    return cupel_window_finish(b, &w);
}

void cupel_sweep_give(cupel_sweep *s, int node, int share) {
    cupel_builder *b = s->b;
    if (share < 0 || !cupel_sweep_wants(s, node)) return;
    share = unbroadcast(b, share, node);
    if (share < 0) return;
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, b->nodes[node].shape, sizeof shape);
    share = cupel_emit_broadcast(b, share, b->nodes[node].rank, shape);
    s->masked[node] |= s->masking;
    if (s->adjoint[node] < 0) {
        s->adjoint[node] = share;
        return;
    }
    s->adjoint[node] = s->shared[node] ? add_(b, s->adjoint[node], share)
                                       : cupel_gradient_joined(b, s->adjoint[node], share);
    s->shared[node] = true;
}

void cupel_sweep_refuse(cupel_sweep *s, int node) {
    const cupel_node *n = &s->b->nodes[node];
    cupel_emit_fail(s->b, CUPEL_UNSUPPORTED, n->place, "'%s' has no derivative yet", cupel_op_name(n->op));
}

/* ---- what rules share ---- */

int cupel_gradient_guarded(const cupel_sweep *s, int product, int upstream) {
    cupel_builder *b = s->b;
    if (!s->masking) return product;
    int open = and_(b, equal_(b, upstream, number_(b, 0.0)), isnan_(b, product));
    return cupel_emit_exclude(b, product, open);
}

int cupel_gradient_masked(cupel_sweep *s, int condition, int upstream) {
    cupel_builder *b = s->b;
    s->masking = true;
    int kept = where_(b, condition, upstream, number_(b, 0.0));
    int open = and_(b, not_(b, condition), not_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, upstream)));
    return cupel_emit_exclude(b, kept, open);
}

int cupel_gradient_kink(const cupel_sweep *s, int value, int other, int condition) {
    return s->kinks_any ? cupel_emit_between(s->b, value, other, condition) : value;
}

int cupel_gradient_finite_rows(cupel_builder *b, int value, int upstream, unsigned axes) {
    if (b->code != CUPEL_OK || value < 0 || upstream < 0) return -1;
    if (b->nodes[upstream].count == 0) return value;
    int infinite = cupel_emit_unary(b, CUPEL_OP_ISINF, upstream);
    return cupel_emit_exclude(b, value, cupel_emit_reduce(b, CUPEL_OP_AMAX, infinite, axes, true));
}

int cupel_gradient_spread(cupel_builder *b, int reduced, unsigned axes, int x) {
    if (b->code != CUPEL_OK || reduced < 0 || x < 0) return -1;
    const int rank = b->nodes[x].rank;
    cupel_window w = cupel_window_of(b, reduced);
    for (int i = 0; i < rank; i++)
        if ((axes >> i & 1) && w.rank < rank) cupel_window_insert(&w, i, 1);
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, b->nodes[x].shape, sizeof shape);
    return cupel_emit_broadcast(b, cupel_window_finish(b, &w), rank, shape);
}

/* ---- the sweep ---- */

static void mark_dependent(cupel_sweep *s, int wrt) {
    for (int i = wrt; i < s->count; i++) {
        const cupel_node *n = &s->b->nodes[i];
        s->depends[i] = i == wrt;
        if (n->kind != CUPEL_VALUE_REAL) continue;
        for (int k = 0; k < n->arg_count; k++) s->depends[i] |= s->depends[n->args[k]];
    }
}

/* A composite stands for its node only where its arguments come before the node. */
static bool usable(const cupel_composite *c, int count) {
    bool fits = c->node < count;
    for (int i = 0; i < CUPEL_COMPOSITE_ARGS; i++) fits = fits && c->args[i] < c->node;
    return fits;
}

static bool same_composite(const cupel_composite *c, const cupel_composite *d) {
    return c->form == d->form && c->axes == d->axes && memcmp(c->args, d->args, sizeof c->args) == 0;
}

/* The composite of each node, -1: none. relu(x) and maximum(x, 0) are one node, and differ in what they do at
 * the kink: nobody can tell which was meant, so anything between is right there. */
static void find_composites(const cupel_sweep *s, int *of_node, bool *open) {
    const cupel_builder *b = s->b;
    for (int i = 0; i < s->count; i++) of_node[i] = -1;
    for (int i = 0; i < b->composite_count; i++) {
        const cupel_composite *c = &b->composites[i];
        if (!usable(c, s->count)) continue;
        int *at = &of_node[c->node];
        if (*at >= 0 && !same_composite(&b->composites[*at], c)) open[c->node] = true;
        if (*at < 0 || b->composites[*at].form == CUPEL_FORM_PLAIN) *at = i;
    }
}

static int run(cupel_sweep *s, int output, int wrt, const int *composites, const bool *open) {
    cupel_builder *b = s->b;
    const bool kinks_any = s->kinks_any;
    for (int i = output; i > wrt && b->code == CUPEL_OK; i--) {
        if (s->adjoint[i] < 0 || !s->depends[i]) continue;
        s->kinks_any = kinks_any || open[i];
        s->masking = s->masked[i];
        const int at = composites[i];
        if (at >= 0 && b->composites[at].form != CUPEL_FORM_PLAIN) {
            const cupel_composite composite = b->composites[at];
            cupel_gradient_composite(s, &composite, s->adjoint[i]);
        } else {
            rules[b->nodes[i].op](s, i, s->adjoint[i]);
        }
    }
    return s->adjoint[wrt];
}

int cupel_gradient_of(cupel_builder *b, int output, int wrt, int cotangent) {
    if (b->code != CUPEL_OK || output < 0 || wrt < 0 || cotangent < 0) return -1;
    const int count = (output > wrt ? output : wrt) + 1;
    cupel_sweep s = {.b = b, .count = count, .kinks_any = b->symbols->kinks_any};
    const size_t size = (size_t)count;
    s.depends = cupel_arena_alloc(b->arena, size * sizeof *s.depends);
    s.shared = cupel_arena_alloc(b->arena, size * sizeof *s.shared);
    s.masked = cupel_arena_alloc(b->arena, size * sizeof *s.masked);
    s.adjoint = cupel_arena_alloc(b->arena, size * sizeof *s.adjoint);
    int *composites = cupel_arena_alloc(b->arena, size * sizeof *composites);
    bool *open = cupel_arena_alloc(b->arena, size * sizeof *open);
    if (!s.depends || !s.shared || !s.masked || !s.adjoint || !composites || !open)
        return cupel_emit_fail(b, CUPEL_MEMORY, b->place, "out of memory");
    for (int i = 0; i < count; i++) s.adjoint[i] = -1;
    mark_dependent(&s, wrt);
    find_composites(&s, composites, open);
    cupel_sweep_give(&s, output, cotangent);
    int gradient = run(&s, output, wrt, composites, open);
    if (b->code != CUPEL_OK) return -1;
    if (gradient >= 0) return gradient;
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, b->nodes[wrt].shape, sizeof shape);
    return cupel_emit_broadcast(b, number_(b, 0.0), b->nodes[wrt].rank, shape);
}
