#include <math.h>
#include <string.h>

#include "recipe_impl.h"

/* A bound in the element type: nearest, and never infinite. */
static double round_bound(cupel_dtype type, double bound) {
    const cupel_format *format = cupel_format_of(type);
    if (format->kind != CUPEL_KIND_REAL) return rint(bound);
    double largest = cupel_format_largest(type), rounded = cupel_round(type, bound);
    if (isnan(rounded) || fabs(rounded) > largest) rounded = copysign(largest, bound);
    return rounded;
}

static int legal_specials(const cupel_tensor_facts *facts) {
    if (facts->format->kind != CUPEL_KIND_REAL || facts->below > 0) return 0;
    int specials = 0;
    if (!facts->bounded || (facts->lo <= 0 && facts->hi >= 0)) specials |= 1 << CUPEL_SPECIAL_NEG_ZERO;
    if (!facts->bounded && !facts->decl->finite) {
        /* OCP's e4m3 has a NaN and no infinity */
        if (facts->type != CUPEL_E4M3) specials |= 1 << CUPEL_SPECIAL_POS_INF | 1 << CUPEL_SPECIAL_NEG_INF;
        /* a NaN has no place in a sorted row */
        if (!facts->decl->sorted) specials |= 1 << CUPEL_SPECIAL_NAN;
    }
    return specials;
}

static cupel_code bound_below(const cupel_binding *binding, cupel_tensor_facts *facts, cupel_error *err) {
    cupel_scalar below;
    CUPEL_TRY(cupel_binding_scalar(binding, facts->decl->below, NULL, &below, err));
    if (below.real)
        return cupel_fail(err, CUPEL_CONTRACT, "'below' of %s is not an integer", facts->decl->name);
    if (below.i < 1) {
        if (facts->count > 0)
            return cupel_fail(err, CUPEL_RANGE, "%s has elements, but no integer lies in 0..%lld",
                              facts->decl->name, (long long)below.i - 1);
        below.i = 1;
    }
    double hi = (double)(below.i - 1);
    if (facts->format->kind == CUPEL_KIND_REAL) hi = cupel_round_down(facts->type, hi);
    if (!facts->bounded || facts->lo < 0) facts->lo = 0;
    if (!facts->bounded || facts->hi > hi) facts->hi = hi;
    if (facts->lo > facts->hi) facts->lo = facts->hi;
    facts->below = below.i;
    facts->bounded = true;
    return CUPEL_OK;
}

cupel_code cupel_facts_of(const cupel_binding *binding, int tensor, cupel_tensor_facts *out,
                          cupel_error *err) {
    *out = (cupel_tensor_facts){.decl = &binding->contract->tensors[tensor],
                                .type = cupel_binding_type(binding, tensor)};
    out->format = cupel_format_of(out->type);
    CUPEL_TRY(cupel_binding_shape(binding, tensor, out->shape, &out->count, err));
    if (out->decl->has_range) {
        out->bounded = true;
        out->lo = round_bound(out->type, out->decl->range_lo);
        out->hi = round_bound(out->type, out->decl->range_hi);
    }
    if (out->decl->below != NULL) CUPEL_TRY(bound_below(binding, out, err));
    out->specials = legal_specials(out);
    return CUPEL_OK;
}

bool cupel_facts_permit(const cupel_tensor_facts *facts, uint64_t bits) {
    unsigned char element[8];
    memcpy(element, &bits, sizeof element);
    if (facts->format->kind == CUPEL_KIND_BOOLEAN) return (bits & 0xFF) <= 1;
    if (cupel_dtype_is_wide(facts->type)) {
        int64_t integer = cupel_decode_int(facts->type, element);
        return !facts->bounded || ((double)integer >= facts->lo && (double)integer <= facts->hi);
    }
    double value = cupel_decode(facts->type, element);
    if (facts->format->kind == CUPEL_KIND_REAL) {
        if (isnan(value)) return (facts->specials & 1 << CUPEL_SPECIAL_NAN) != 0;
        if (isinf(value)) return (facts->specials & 1 << CUPEL_SPECIAL_POS_INF) != 0;
        if (facts->below > 0 && (value != floor(value) || signbit(value))) return false;
    }
    return !facts->bounded || (value >= facts->lo && value <= facts->hi);
}
