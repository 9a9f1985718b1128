/* Activations, as torch._decomp writes them. Arguments of integer tensors become real first. */
#include "function_table.h"

static int argument_or(cupel_builder *b, const cupel_call *call, int i, const char *literal) {
    return cupel_call_has(call, i) ? cupel_call_real(b, call, i) : cupel_emit_literal(b, literal);
}

static int greater_(cupel_builder *b, int x, int y) {
    return less_(b, y, x);
}

static int clamp_(cupel_builder *b, int x, double low, double high) {
    return minimum_(b, maximum_(b, x, number_(b, low)), number_(b, high));
}

/* The same value with an error relative to 1 instead of to itself, which is what the other forms of textbooks
 * have: 1/2 + tanh(x/2)/2 for a sigmoid, x/6 + 1/2 for hardsigmoid. */
static int relative_to_one(cupel_builder *b, int x) {
    int one = number_(b, 1.0);
    return sub_(b, add_(b, x, one), one);
}

/* 1 - 1 / (1 + exp(x)) has the errors of all its steps relative to 1: the exponential's, of which a quarter
 * counts at most (1.9 u by the hardware's), the sum's u, the quotient's (5 u by the hardware) and the
 * difference's. The nine u of a rounding near 8 hold them. */
static int with_steps_relative_to_one(cupel_builder *b, int x) {
    int eight = number_(b, 8.0);
    return sub_(b, add_(b, x, eight), eight);
}

int cupel_compose_sigmoid_of(cupel_builder *b, int x) {
    int one = number_(b, 1.0);
    int y = with_steps_relative_to_one(b, div_(b, one, add_(b, one, exp_(b, neg_(b, x)))));
    return composite_(b, CUPEL_FORM_SIGMOID, y, x, -1, -1);
}

int cupel_compose_sigmoid(cupel_builder *b, const cupel_call *call) {
    return cupel_compose_sigmoid_of(b, cupel_call_real(b, call, 0));
}

/* clamp at 0: NaN stays NaN, integers stay integers */
int cupel_compose_relu(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0);
    return composite_(b, CUPEL_FORM_RELU, maximum_(b, x, cupel_emit_integer(b, 0)), x, -1, -1);
}

int cupel_compose_leaky_relu(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0);
    int slope = argument_or(b, call, 1, "0.01"), below = mul_(b, x, slope);
    /* max(x, 0) + slope min(x, 0) has another zero for -0: a sum's is not judged */
    int y = where_(b, greater_(b, x, number_(b, 0.0)), x, add_(b, below, number_(b, 0.0)));
    return composite_(b, CUPEL_FORM_LEAKY_RELU, y, x, slope, -1);
}

/* exp(x) - 1 by either formula: where expm1 is exact near 0, the exponential's own error remains. */
static int exp_less_one(cupel_builder *b, int x) {
    return sub_(b, exp_(b, x), number_(b, 1.0));
}

/* log(1 + exp(x)) by either formula: under `math: fast` the hardware's logarithm of 1 + exp(x) is absolute.
 */
static int log_one_and_exp(cupel_builder *b, int x) {
    return log_(b, add_(b, number_(b, 1.0), exp_(b, x)));
}

/* x > 0: scale * x; else scale * alpha * (exp(x * input_scale) - 1), -1 standing for factors of 1 that
 * PyTorch leaves out */
static int elu_of(cupel_builder *b, int x, int alpha, int scale, int input_scale) {
    int inside = input_scale >= 0 ? mul_(b, x, input_scale) : x;
    int above = scale >= 0 ? mul_(b, x, scale) : x;
    int below = mul_(b, exp_less_one(b, inside), scale >= 0 ? mul_(b, alpha, scale) : alpha);
    int y = where_(b, greater_(b, x, number_(b, 0.0)), above, below);
    return cupel_emit_composite(
        b, (cupel_composite){.node = y, .form = CUPEL_FORM_ELU, .args = {x, alpha, scale, input_scale}});
}

int cupel_compose_elu(cupel_builder *b, const cupel_call *call) {
    return elu_of(b, cupel_call_real(b, call, 0), argument_or(b, call, 1, "1"), -1, -1);
}

int cupel_compose_selu(cupel_builder *b, const cupel_call *call) {
    return elu_of(b, cupel_call_real(b, call, 0), cupel_emit_literal(b, "1.6732632423543772848170429916717"),
                  cupel_emit_literal(b, "1.0507009873554804934193349852946"), -1);
}

int cupel_compose_celu(cupel_builder *b, const cupel_call *call) {
    int alpha = argument_or(b, call, 1, "1");
    return elu_of(b, cupel_call_real(b, call, 0), alpha, -1, div_(b, number_(b, 1.0), alpha));
}

int cupel_compose_gelu(cupel_builder *b, const cupel_call *call) {
    static const char *const forms[] = {"none", "tanh", NULL};
    int x = cupel_call_real(b, call, 0), half = number_(b, 0.5), one = number_(b, 1.0);
    if (cupel_call_choice(b, call, 1, forms) == 0) {
        int root_half = cupel_emit_literal(b, "0.70710678118654752440084436210484903928483593768847");
        int y = mul_(b, mul_(b, x, half), add_(b, one, erf_(b, mul_(b, x, root_half))));
        return composite_(b, CUPEL_FORM_GELU, y, x, -1, -1);
    }
    int beta =
        cupel_emit_literal(b, "0.79788456080286535587989211986876373695171726232986"); /* sqrt(2 / pi) */
    int cube = mul_(b, mul_(b, x, x), x);
    int inner = mul_(b, beta, add_(b, x, mul_(b, cupel_emit_literal(b, "0.044715"), cube)));
    int y = mul_(b, mul_(b, half, x), add_(b, one, tanh_(b, inner)));
    return composite_(b, CUPEL_FORM_GELU_TANH, y, x, -1, -1);
}

int cupel_compose_silu(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0);
    return composite_(b, CUPEL_FORM_SILU, mul_(b, x, cupel_compose_sigmoid_of(b, x)), x, -1, -1);
}

static int softplus_of(cupel_builder *b, int x, int beta, int threshold) {
    int scaled = beta >= 0 ? mul_(b, x, beta) : x;
    int soft = log_one_and_exp(b, scaled);
    if (beta >= 0) soft = div_(b, soft, beta);
    int y = where_(b, greater_(b, scaled, threshold), x, soft);
    return composite_(b, CUPEL_FORM_SOFTPLUS, y, x, scaled, threshold);
}

int cupel_compose_softplus(cupel_builder *b, const cupel_call *call) {
    int beta = cupel_call_has(call, 1) ? cupel_call_real(b, call, 1) : -1;
    return softplus_of(b, cupel_call_real(b, call, 0), beta, argument_or(b, call, 2, "20"));
}

int cupel_compose_mish(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0);
    int t = relative_to_one(b, tanh_(b, softplus_of(b, x, -1, number_(b, 20.0))));
    return composite_(b, CUPEL_FORM_MISH, mul_(b, x, t), x, t, -1);
}

int cupel_compose_softsign(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0);
    return div_(b, x, add_(b, number_(b, 1.0), abs_(b, x)));
}

int cupel_compose_hardtanh(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0);
    int low = argument_or(b, call, 1, "-1"), high = argument_or(b, call, 2, "1");
    double least = -1, most = 1;
    bool known = !cupel_call_has(call, 1) || cupel_operand_number(&call->args[1], &least);
    if (known && (!cupel_call_has(call, 2) || cupel_operand_number(&call->args[2], &most)) && least > most)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->place,
                               "expected min_val to be at most max_val in hardtanh, found %g and %g", least,
                               most);
    return composite_(b, CUPEL_FORM_HARDTANH, minimum_(b, maximum_(b, x, low), high), x, low, high);
}

/* (x + 3) / 6, which PyTorch's documentation writes x/6 + 1/2 */
static int sixth(cupel_builder *b, int x) {
    return relative_to_one(b, div_(b, add_(b, x, number_(b, 3.0)), number_(b, 6.0)));
}

int cupel_compose_hardsigmoid(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0);
    return composite_(b, CUPEL_FORM_HARDSIGMOID, clamp_(b, sixth(b, x), 0.0, 1.0), x, -1, -1);
}

/* x relu6(x + 3) / 6: the product comes first, and may overflow. At -inf that is NaN, and 0 by the pieces in
 * which torch.nn.Hardswish defines it: not judged. */
int cupel_compose_hardswish(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0), six = number_(b, 6.0);
    int y = div_(b, mul_(b, x, clamp_(b, mul_(b, six, sixth(b, x)), 0.0, 6.0)), six);
    y = cupel_emit_exclude(b, y, is_minus_infinity_(b, x));
    return composite_(b, CUPEL_FORM_HARDSWISH, y, x, -1, -1);
}

/* min(x, 0) - log1p(exp(-|x|)) */
int cupel_compose_logsigmoid(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0);
    int soft = log_one_and_exp(b, neg_(b, abs_(b, x)));
    int y = sub_(b, minimum_(b, x, number_(b, 0.0)), soft);
    return composite_(b, CUPEL_FORM_LOGSIGMOID, y, x, -1, -1);
}

int cupel_compose_tanhshrink(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0);
    return sub_(b, x, tanh_(b, x));
}

/* NaN stays NaN, as in PyTorch's decomposition; its zero is x * 0, whose sign would be judged, so a plain 0
 * stands here. */
int cupel_compose_softshrink(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0), lambda = argument_or(b, call, 1, "0.5");
    int inner = where_(b, cupel_emit_unary(b, CUPEL_OP_ISNAN, x), x, number_(b, 0.0));
    int below = where_(b, less_(b, x, neg_(b, lambda)), add_(b, x, lambda), inner);
    return where_(b, greater_(b, x, lambda), sub_(b, x, lambda), below);
}

int cupel_compose_hardshrink(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0), lambda = argument_or(b, call, 1, "0.5");
    int inside = and_(b, less_equal_(b, neg_(b, lambda), x), less_equal_(b, x, lambda));
    return where_(b, inside, number_(b, 0.0), x);
}
