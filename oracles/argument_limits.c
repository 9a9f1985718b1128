/* Numbers among the arguments that no kernel could mean: refused where they are written, instead of giving a
 * postcondition that is NaN everywhere. Only numbers that stand in the expression are looked at: what a
 * parameter may be is said by its own range, and tensors hold what they hold. */
#include <math.h>
#include <string.h>

#include "compose.h"

typedef enum bound { FINITE, NOT_NAN, NOT_ZERO, NOT_NEGATIVE, POSITIVE, PROBABILITY, WHOLE } bound;

static const char *const words[] = {
    [FINITE] = "a finite number",
    [NOT_NAN] = "a number, not NaN,",
    [NOT_ZERO] = "a finite number other than 0",
    [NOT_NEGATIVE] = "a finite number of at least 0",
    [POSITIVE] = "a finite number above 0",
    [PROBABILITY] = "a probability, 0..1,",
    [WHOLE] = "an integer",
};

/* function NULL: every function that has such an argument. PyTorch refuses most of these itself; it computes
 * with a negative eps (NaN where the variance is smaller) and with NaN, which a contract cannot mean. Left
 * open are the numbers whose NaN or infinity is an answer: clamp's bounds, pow's exponent, full's and pad's
 * value, kinks of hardshrink. */
static const struct {
    const char *function, *argument;
    bound bound;
} limits[] = {
    {NULL, "eps", NOT_NEGATIVE},
    {NULL, "momentum", FINITE},
    {NULL, "scale", FINITE}, /* of attention and the recurrences; of quantize see below */
    {"quantize", "scale", POSITIVE},
    {"dequantize", "scale", POSITIVE},
    {NULL, "zero_point", WHOLE},
    {"dropout_mask", "p", PROBABILITY},
    {"norm", "p", NOT_NAN},
    {"leaky_relu", "negative_slope", FINITE},
    {"elu", "alpha", FINITE},
    {"celu", "alpha", NOT_ZERO},
    {"softplus", "beta", NOT_ZERO},
    {"softplus", "threshold", NOT_NAN},
    {"hardtanh", "min_val", NOT_NAN},
    {"hardtanh", "max_val", NOT_NAN},
    {"softshrink", "lambd", NOT_NEGATIVE},
    {"hardshrink", "lambd", NOT_NAN},
    {"smooth_l1_loss", "beta", NOT_NEGATIVE},
    {"huber_loss", "delta", POSITIVE},
    {"triplet_margin_loss", "margin", FINITE},
};

static bool within(bound bound, double x) {
    switch (bound) {
    case FINITE: return isfinite(x);
    case NOT_NAN: return !isnan(x);
    case NOT_ZERO: return isfinite(x) && x != 0;
    case NOT_NEGATIVE: return isfinite(x) && x >= 0;
    case POSITIVE: return isfinite(x) && x > 0;
    case PROBABILITY: return x >= 0 && x <= 1;
    case WHOLE: return isfinite(x) && x == nearbyint(x);
    }
    return true;
}

bool cupel_operand_number(const cupel_operand *o, double *out) {
    *out = o->form == CUPEL_OPERAND_REAL ? o->number : (double)o->integer;
    return (o->form == CUPEL_OPERAND_REAL && !o->given) || o->form == CUPEL_OPERAND_INTEGER ||
           o->form == CUPEL_OPERAND_TRUTH;
}

static const char *found(cupel_builder *b, const cupel_operand *o, double x) {
    const char *text =
        o->form == CUPEL_OPERAND_REAL && o->digits ? o->digits : cupel_arena_printf(b->arena, "%.17g", x);
    return text ? text : "another";
}

void cupel_operand_limited(cupel_builder *b, const cupel_function_info *info, const char *argument,
                           const cupel_operand *o) {
    double x;
    if (b->code != CUPEL_OK || !cupel_operand_number(o, &x)) return;
    int at = -1;
    for (int i = 0; i < (int)(sizeof limits / sizeof *limits); i++) {
        const bool here = limits[i].function && strcmp(limits[i].function, info->name) == 0;
        if (strcmp(limits[i].argument, argument) == 0 && (here || (at < 0 && !limits[i].function))) at = i;
    }
    if (at < 0 || within(limits[at].bound, x)) return;
    cupel_emit_fail(b, CUPEL_CONTRACT, o->place, "expected %s as %s of %s, found %s", words[limits[at].bound],
                    argument, info->name, found(b, o, x));
}
