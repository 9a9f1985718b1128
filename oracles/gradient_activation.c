/* Derivatives of activations in closed form, as PyTorch's backward kernels have them (torch._decomp,
 * ATen/native/cpu/Activation.cpp). args[0] is always the argument x. */
#include "gradient_rules.h"

static int one(cupel_builder *b) {
    return number_(b, 1.0);
}
static int zero(cupel_builder *b) {
    return number_(b, 0.0);
}

/* cdf(x) + x pdf(x) of the normal distribution */
static int gelu_slope(cupel_builder *b, int x) {
    int root_half = cupel_emit_literal(b, "0.70710678118654752440084436210484903928483593768847");
    int scale =
        cupel_emit_literal(b, "0.39894228040143267793994605993438186847585863116493"); /* 1/sqrt(2 pi) */
    int half = number_(b, 0.5);
    int cdf = mul_(b, half, add_(b, one(b), erf_(b, mul_(b, x, root_half))));
    int pdf = mul_(b, exp_(b, mul_(b, neg_(b, half), mul_(b, x, x))), scale);
    return cupel_gradient_joined(b, cdf, mul_(b, x, pdf));
}

/* t = tanh(beta (x + k x^3)): (1 + t) / 2 + x (1 - t^2) beta (1 + 3 k x^2) / 2 */
static int gelu_tanh_slope(cupel_builder *b, int x) {
    int beta =
        cupel_emit_literal(b, "0.79788456080286535587989211986876373695171726232986"); /* sqrt(2 / pi) */
    int k = cupel_emit_literal(b, "0.044715"), half = number_(b, 0.5), square = mul_(b, x, x);
    int t = tanh_(b, mul_(b, beta, add_(b, x, mul_(b, k, mul_(b, square, x)))));
    int inner = mul_(b, beta, add_(b, one(b), mul_(b, mul_(b, number_(b, 3.0), k), square)));
    int left = mul_(b, half, add_(b, one(b), t));
    int right = mul_(b, mul_(b, half, x), mul_(b, sub_(b, one(b), mul_(b, t, t)), inner));
    return cupel_gradient_joined(b, left, right);
}

/* sigmoid (1 + x (1 - sigmoid)) */
static int silu_slope(cupel_builder *b, int x) {
    int sigmoid = cupel_compose_sigmoid_of(b, x);
    return mul_(b, sigmoid, cupel_gradient_joined(b, one(b), mul_(b, x, sub_(b, one(b), sigmoid))));
}

/* t = tanh(softplus(x)): t + x sigmoid(x) (1 - t^2); args[1] is t */
static int mish_slope(cupel_builder *b, int x, int t) {
    int bell = sub_(b, one(b), mul_(b, t, t));
    return cupel_gradient_joined(b, t, mul_(b, mul_(b, x, cupel_compose_sigmoid_of(b, x)), bell));
}

/* An infinite argument makes a term of the slope 0 * inf, and an infinite upstream makes terms of both signs:
 * the way of adding up decides between NaN and an infinity. */
static int slope_times(cupel_builder *b, int x, int slope, int dy) {
    int open = or_(b, cupel_emit_unary(b, CUPEL_OP_ISINF, x), cupel_emit_unary(b, CUPEL_OP_ISINF, dy));
    return cupel_emit_exclude(b, mul_(b, dy, slope), open);
}

/* Kernels ask for what is inside, or for what is outside, and a NaN is neither: its gradient is 0 or dy. */
static int masks_differ(cupel_builder *b, int x, int share) {
    return cupel_emit_exclude(b, share, cupel_emit_unary(b, CUPEL_OP_ISNAN, x));
}

/* x > 0: scale, else alpha scale input_scale exp(input_scale x); args[1..3], -1 for factors of 1. A kernel
 * may hold the result plus alpha instead of the exponential, whose error is then relative to alpha. */
static int elu_share(const cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    const int x = c->args[0], alpha = c->args[1], scale = c->args[2], input_scale = c->args[3];
    int inside = input_scale >= 0 ? mul_(b, x, input_scale) : x;
    int above = scale >= 0 ? mul_(b, dy, scale) : dy;
    int slope = mul_(b, alpha, cupel_gradient_exp_or(b, inside, cupel_emit_unary(b, CUPEL_OP_EXPM1, inside)));
    if (input_scale >= 0) slope = mul_(b, slope, input_scale);
    int below = mul_(b, above, slope);
    int value = where_(b, less_(b, zero(b), x), above, below);
    return cupel_gradient_kink(s, value, above, equal_(b, x, zero(b)));
}

/* scaled > threshold: 1, else z / (z + 1) with z = exp(scaled), where dy z may overflow, or a sigmoid; args:
 * x, scaled, threshold */
static int softplus_share(const cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    int z = exp_(b, c->args[1]), soft = div_(b, mul_(b, dy, z), add_(b, z, one(b)));
    int other = mul_(b, dy, cupel_compose_sigmoid_of(b, c->args[1]));
    soft = cupel_emit_between(b, soft, other, cupel_emit_truth(b, true));
    return where_(b, less_(b, c->args[2], c->args[1]), dy, soft);
}

/* x > 0: 1, else the slope, at 0 too */
static int leaky_share(const cupel_sweep *s, int x, int slope, int dy) {
    cupel_builder *b = s->b;
    int value = where_(b, less_(b, zero(b), x), dy, mul_(b, dy, slope));
    return cupel_gradient_kink(s, value, dy, equal_(b, x, zero(b)));
}

/* hardtanh: dy strictly between the bounds, 0 outside and at them; a NaN takes dy. */
static int window_share(cupel_sweep *s, int x, int low, int high, int dy) {
    cupel_builder *b = s->b;
    int edge = or_(b, equal_(b, x, low), equal_(b, x, high));
    int inside = not_(b, or_(b, less_equal_(b, x, low), less_equal_(b, high, x)));
    return masks_differ(b, x, cupel_gradient_kink(s, cupel_gradient_masked(s, inside, dy), dy, edge));
}

/* x < -3: 0; x > 3: 1; else x / 3 + 1/2. Versions of PyTorch differ in what they return at -3 and 3. */
static int hardswish_share(cupel_sweep *s, int x, int dy) {
    cupel_builder *b = s->b;
    int low = number_(b, -3.0), high = number_(b, 3.0);
    int slope = cupel_gradient_joined(b, div_(b, x, high), number_(b, 0.5));
    int value = where_(b, less_equal_(b, high, x), dy, mul_(b, dy, slope));
    value = cupel_emit_between(b, value, mul_(b, dy, number_(b, 1.5)), equal_(b, x, high));
    value = where_(b, less_(b, x, low), cupel_gradient_masked(s, not_(b, less_(b, x, low)), dy), value);
    return cupel_emit_between(b, value, zero(b), equal_(b, x, low));
}

static int hardsigmoid_share(cupel_sweep *s, int x, int dy) {
    cupel_builder *b = s->b;
    return div_(b, window_share(s, x, number_(b, -3.0), number_(b, 3.0), dy), number_(b, 6.0));
}

/* by x: (x - t) / max(x (1 - x), 1e-12); by t: log(1 - x) - log(x), each at least -100; args: x, t, the two
 * logarithms */
static void give_bce(cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    const int x = c->args[0], t = c->args[1];
    int room = maximum_(b, mul_(b, sub_(b, one(b), x), x), cupel_emit_literal(b, "1e-12"));
    if (cupel_sweep_wants(s, x)) cupel_sweep_give(s, x, mul_(b, dy, div_(b, sub_(b, x, t), room)));
    if (cupel_sweep_wants(s, t)) cupel_sweep_give(s, t, mul_(b, dy, sub_(b, c->args[2], c->args[3])));
}

/* by x: sigmoid(x) - t; by t: -x */
static void give_bce_with_logits(cupel_sweep *s, int x, int t, int dy) {
    cupel_builder *b = s->b;
    if (cupel_sweep_wants(s, x))
        cupel_sweep_give(s, x, mul_(b, dy, sub_(b, cupel_compose_sigmoid_of(b, x), t)));
    if (cupel_sweep_wants(s, t)) cupel_sweep_give(s, t, mul_(b, neg_(b, dy), x));
}

/* clamp: the bound (args[1]) belongs to the inside, and a NaN to neither. */
static void give_clamp(cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    const int x = c->args[0], bound = c->args[1];
    const bool lower = c->form == CUPEL_FORM_CLAMP_MIN;
    int inside = lower ? less_equal_(b, bound, x) : less_equal_(b, x, bound);
    int tie = equal_(b, x, bound);
    if (cupel_sweep_wants(s, x))
        cupel_sweep_give(
            s, x,
            masks_differ(b, x, cupel_gradient_kink(s, cupel_gradient_masked(s, inside, dy), zero(b), tie)));
    if (!cupel_sweep_wants(s, bound)) return;
    int outside = lower ? less_(b, x, bound) : less_(b, bound, x);
    cupel_sweep_give(s, bound, cupel_gradient_kink(s, cupel_gradient_masked(s, outside, dy), dy, tie));
}

static int share_of(cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    const int x = c->args[0];
    switch (c->form) {
    case CUPEL_FORM_SIGMOID: return mul_(b, dy, mul_(b, sub_(b, one(b), c->node), c->node));
    case CUPEL_FORM_SILU: return slope_times(b, x, silu_slope(b, x), dy);
    case CUPEL_FORM_GELU: return slope_times(b, x, gelu_slope(b, x), dy);
    case CUPEL_FORM_GELU_TANH: return slope_times(b, x, gelu_tanh_slope(b, x), dy);
    case CUPEL_FORM_MISH: return slope_times(b, x, mish_slope(b, x, c->args[1]), dy);
    case CUPEL_FORM_SOFTPLUS: return softplus_share(s, c, dy);
    case CUPEL_FORM_LOGSIGMOID: return mul_(b, dy, cupel_compose_sigmoid_of(b, neg_(b, x)));
    case CUPEL_FORM_ELU: return elu_share(s, c, dy);
    case CUPEL_FORM_LEAKY_RELU: return leaky_share(s, x, c->args[1], dy);
    case CUPEL_FORM_RELU: /* x <= 0: 0, so that NaN would take dy; of x > 0 it would be 0 */
        return masks_differ(
            b, x,
            cupel_gradient_kink(s, cupel_gradient_masked(s, not_(b, less_equal_(b, x, zero(b))), dy), dy,
                                equal_(b, x, zero(b))));
    case CUPEL_FORM_HARDTANH: return window_share(s, x, c->args[1], c->args[2], dy);
    case CUPEL_FORM_HARDSIGMOID: return hardsigmoid_share(s, x, dy);
    case CUPEL_FORM_HARDSWISH: return hardswish_share(s, x, dy);
    default: return -1;
    }
}

void cupel_gradient_activation(cupel_sweep *s, const cupel_composite *c, int dy) {
    switch (c->form) {
    case CUPEL_FORM_BCE: give_bce(s, c, dy); break;
    case CUPEL_FORM_BCE_WITH_LOGITS: give_bce_with_logits(s, c->args[0], c->args[1], dy); break;
    case CUPEL_FORM_CLAMP_MIN:
    case CUPEL_FORM_CLAMP_MAX: give_clamp(s, c, dy); break;
    default: cupel_sweep_give(s, c->args[0], share_of(s, c, dy)); break;
    }
}
