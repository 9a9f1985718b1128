/* Closed forms of composites over rows, as torch._decomp and derivatives.yaml have them. What kernels write
 * differently (y dy - y sum for y (dy - sum), the division by n before or after its sums) is inside the
 * radius, because the sums are ordinary ones: terms join them and factors go inside. */
#include "gradient_rules.h"

static int extent(cupel_builder *b, const cupel_composite *c) {
    return number_(b, (double)cupel_compose_extent(b, c->args[0], c->axes));
}

/* y (dy - sum(y dy)) */
static int softmax_share(cupel_builder *b, const cupel_composite *c, int dy) {
    int sum = sum_(b, mul_(b, c->node, dy), c->axes);
    return mul_(b, c->node, sub_(b, dy, sum));
}

/* dy - exp(y) sum(dy) */
static int log_softmax_share(cupel_builder *b, const cupel_composite *c, int dy) {
    return sub_(b, dy, mul_(b, exp_(b, c->node), sum_(b, dy, c->axes)));
}

/* dy exp(x - y), where y keeps its axes; a result that is infinite is left open: PyTorch's versions differ */
static int logsumexp_share(cupel_builder *b, const cupel_composite *c, int dy) {
    int share = mul_(b, dy, exp_(b, sub_(b, c->args[0], c->node)));
    int infinite = cupel_emit_unary(b, CUPEL_OP_ISINF, c->node);
    return cupel_emit_exclude(b, share, cupel_gradient_spread(b, infinite, c->axes, c->args[0]));
}

/* y = (x - mean) rstd, with rstd in args[1]: rstd / n (n dy - sum(dy) - y sum(dy y)); without a mean (rms)
 * the first sum is missing */
static int normalised_share(cupel_builder *b, const cupel_composite *c, int dy) {
    int n = extent(b, c), terms = mul_(b, dy, n), rstd = c->args[1];
    if (c->form == CUPEL_FORM_NORMALISED) terms = sub_(b, terms, sum_(b, dy, c->axes));
    int along = mul_(b, c->node, sum_(b, mul_(b, dy, c->node), c->axes));
    return mul_(b, div_(b, rstd, n), sub_(b, terms, along));
}

/* y = x / max(norm, eps), with the norm and the divisor in args[1], args[2]: (dy - y sum(y dy)) / divisor,
 * and dy / eps where the norm is below */
static int l2_share(const cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    int along = mul_(b, c->node, sum_(b, mul_(b, c->node, dy), c->axes));
    int above = div_(b, sub_(b, dy, along), c->args[2]), below = div_(b, dy, c->args[2]);
    int large = less_equal_(b, c->args[2], c->args[1]);
    return cupel_gradient_kink(s, where_(b, large, above, below), below, equal_(b, c->args[1], c->args[2]));
}

/* 2 dy (x - mean) / divisor; y may lack the axes */
static int variance_share(cupel_builder *b, const cupel_composite *c, int dy) {
    const int x = c->args[0];
    int difference = sub_(b, x, cupel_compose_mean_of(b, x, c->axes, true));
    int scale = div_(b, number_(b, 2.0), number_(b, c->number));
    return mul_(b, mul_(b, scale, cupel_gradient_spread(b, dy, c->axes, x)), difference);
}

/* The root of a variance: dy / (2 y), 0 where y is 0 */
static int root_share(cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    int flat = equal_(b, c->node, number_(b, 0.0));
    int share = where_(b, flat, number_(b, 0.0), div_(b, dy, mul_(b, number_(b, 2.0), c->node)));
    s->masking = true;
    if (s->kinks_any) return cupel_emit_exclude(b, share, flat);
    return cupel_emit_exclude(b, share, and_(b, flat, not_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, dy))));
}

/* The euclidean norm x dy / y, any other sign(x) |x|^(p-1) dy / y^(p-1); 0 where y is 0. */
static int norm_share(cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    const int x = c->args[0];
    int norm = cupel_gradient_spread(b, c->node, c->axes, x),
        upstream = cupel_gradient_spread(b, dy, c->axes, x);
    int zero = number_(b, 0.0), flat = equal_(b, norm, zero), share;
    if (c->number == 2.0) {
        share = mul_(b, x, div_(b, upstream, norm));
    } else {
        int p = number_(b, c->number - 1);
        int size = cupel_emit_binary(b, CUPEL_OP_POW, abs_(b, x), p);
        int scale = div_(b, upstream, cupel_emit_binary(b, CUPEL_OP_POW, norm, p));
        share = mul_(b, mul_(b, cupel_emit_unary(b, CUPEL_OP_SIGN, x), size), scale);
        if (c->number < 1.0) flat = or_(b, flat, equal_(b, x, zero));
    }
    s->masking = true;
    int open = s->kinks_any ? flat : and_(b, flat, not_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, upstream)));
    if (b->code != CUPEL_OK || b->nodes[x].count == 0) return share;
    /* a row of zeros is known to be one, where its root may be off */
    int top = cupel_emit_reduce(b, CUPEL_OP_AMAX, abs_(b, x), c->axes, true);
    share = where_(b, equal_(b, top, zero), zero, where_(b, flat, zero, share));
    return cupel_emit_exclude(b, share, open);
}

static int share_of(cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    switch (c->form) {
    case CUPEL_FORM_SOFTMAX: return softmax_share(b, c, dy);
    case CUPEL_FORM_LOG_SOFTMAX: return log_softmax_share(b, c, dy);
    case CUPEL_FORM_NORMALISED:
    case CUPEL_FORM_RMS_NORMALISED: return normalised_share(b, c, dy);
    case CUPEL_FORM_L2_NORMALISED: return l2_share(s, c, dy);
    case CUPEL_FORM_LOGSUMEXP: return logsumexp_share(b, c, dy);
    case CUPEL_FORM_VARIANCE: return variance_share(b, c, dy);
    case CUPEL_FORM_ROOT: return root_share(s, c, dy);
    case CUPEL_FORM_NORM: return norm_share(s, c, dy);
    case CUPEL_FORM_LOGCUMSUMEXP: return cupel_gradient_logcumsumexp(b, c, dy);
    default: return -1;
    }
}

void cupel_gradient_composite(cupel_sweep *s, const cupel_composite *c, int dy) {
    switch (c->form) {
    case CUPEL_FORM_SOFTMAX:
    case CUPEL_FORM_LOG_SOFTMAX:
    case CUPEL_FORM_NORMALISED:
    case CUPEL_FORM_RMS_NORMALISED:
    case CUPEL_FORM_L2_NORMALISED: /* where sums of infinities meet depends on the form */
        cupel_sweep_give(s, c->args[0], cupel_gradient_finite_rows(s->b, share_of(s, c, dy), dy, c->axes));
        break;
    case CUPEL_FORM_LOGSUMEXP:
    case CUPEL_FORM_VARIANCE:
    case CUPEL_FORM_ROOT:
    case CUPEL_FORM_LOGCUMSUMEXP:
    case CUPEL_FORM_NORM: cupel_sweep_give(s, c->args[0], share_of(s, c, dy)); break;
    case CUPEL_FORM_IDENTITY: cupel_sweep_give(s, c->args[0], dy); break;
    case CUPEL_FORM_FIRST_MAXIMUM: cupel_gradient_first_maximum(s, c, dy); break;
    case CUPEL_FORM_ATTENTION: cupel_gradient_attention(s, c, dy); break;
    case CUPEL_FORM_CONVOLUTION: cupel_gradient_convolution(s, c, dy); break;
    default: cupel_gradient_activation(s, c, dy); break;
    }
}
