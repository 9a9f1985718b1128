/* Value patterns. An element's value depends on (pattern and its numbers, seed, tensor, coordinates) and not
 * on the tensor's extents, so it survives when a dimension shrinks. Two neighbours along the last axis share
 * one Philox block, 64 bits each.
 *
 * Where a pattern has several forms the seed's two low bits choose: TIES is few distinct values, values one
 * step apart, midpoints of f16, midpoints of bf16; NEAR_OVERFLOW is just under the square root of the largest
 * number, just under it, and both for f16. CANCELLATION with a centre is a large mean with a small spread for
 * each row; without one it is pairs (v, -v + rest). */
#include "pattern.h"

#include <math.h>

static const cupel_pattern_flags uses[CUPEL_PATTERN_COUNT] = {
    [CUPEL_PATTERN_ZERO] = {false, false, false},         [CUPEL_PATTERN_ONE] = {false, false, false},
    [CUPEL_PATTERN_CONSTANT] = {false, true, false},      [CUPEL_PATTERN_INTEGERS] = {true, true, true},
    [CUPEL_PATTERN_INDEX] = {false, false, false},        [CUPEL_PATTERN_NORMAL] = {true, true, true},
    [CUPEL_PATTERN_UNIFORM] = {true, true, true},         [CUPEL_PATTERN_LOG_UNIFORM] = {true, true, false},
    [CUPEL_PATTERN_CANCELLATION] = {true, true, true},    [CUPEL_PATTERN_ONE_LARGE] = {true, true, false},
    [CUPEL_PATTERN_TIES] = {true, true, false},           [CUPEL_PATTERN_SUBNORMALS] = {true, false, false},
    [CUPEL_PATTERN_NEAR_OVERFLOW] = {true, false, false}, [CUPEL_PATTERN_BITS] = {true, false, false},
};

cupel_pattern_flags cupel_pattern_uses(cupel_pattern pattern) {
    return uses[pattern];
}

enum {
    INDEX_PERIOD = 251
}; /* prime: swapped tiles and rows show; small: exact even with 8 significand bits */

/* What the element functions need, worked out once a row. */
typedef struct row {
    const cupel_values *values;
    double amplitude, centre;
    int precision, emin, emax;
    double largest, smallest, normal;
    bool real;
    uint32_t seed;
    uint64_t row_word; /* random bits of the row */
    int64_t large_at;  /* ONE_LARGE: position, */
    double large;      /* and value */
    double mean;       /* CANCELLATION: of the row */
} row;

/* A function for one element; w and w_pair are the 64 random bits of the element and of its neighbour. */
typedef double (*element_function)(const row *r, int64_t j, uint64_t w, uint64_t w_pair);

static double sign_of(uint64_t word) {
    return word & 1 ? -1.0 : 1.0;
}

static double zero(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)r, (void)j, (void)w, (void)w_pair;
    return 0;
}
static double one(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)r, (void)j, (void)w, (void)w_pair;
    return 1;
}
static double constant(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)j, (void)w, (void)w_pair;
    return r->amplitude;
}

static double integers(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)j, (void)w_pair;
    int64_t k = (int64_t)r->amplitude;
    return r->centre + (double)((int64_t)cupel_pick_from(w, (uint64_t)(2 * k + 1)) - k);
}

static double index_of(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)w, (void)w_pair;
    return (double)(((int64_t)r->row_word + j) % INDEX_PERIOD);
}

static double normal(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)j, (void)w_pair;
    return r->amplitude * cupel_normal_from(w) + r->centre;
}

static double uniform(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)j, (void)w_pair;
    return r->amplitude * (2 * cupel_unit_from(w) - 1) + r->centre;
}

/* Either sign, every normal exponent with the same weight; amplitude below 1 narrows the exponents. */
static double log_uniform(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)j, (void)w_pair;
    if (!r->real) {
        int bits = (int)cupel_pick_from(w, (uint64_t)r->emax + 1);
        return sign_of(w) * (double)((w >> 1 & 0xFFFFFFFF) % ((UINT64_C(1) << (bits < 31 ? bits : 31))) + 1);
    }
    int lo = (int)(r->emin * r->amplitude), hi = (int)(r->emax * r->amplitude);
    int exponent = lo + (int)cupel_pick_from(w, (uint64_t)(hi - lo + 1));
    double significand = 1 + (double)(w_pair >> 12) * 0x1p-52;
    return sign_of(w) * significand * cupel_power_of_two(exponent);
}

static double cancellation(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    if (r->centre != 0) return r->mean + r->amplitude * cupel_normal_from(w);
    bool odd = j & 1;
    double v = r->amplitude * cupel_normal_from(odd ? w_pair : w);
    if (!r->real) v = rint(v);
    if (!odd) return v;
    double rest = r->real ? r->amplitude * cupel_power_of_two(-(r->precision / 2)) : 1;
    return rest * (2 * cupel_unit_from(w) - 1) - v;
}

static double one_large(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)w_pair;
    return j == r->large_at ? r->large : r->amplitude * (2 * cupel_unit_from(w) - 1);
}

/* The midpoint between two neighbours with `bits` significant bits, near amplitude. */
static double midpoint(const row *r, uint64_t w, int bits) {
    int exponent = ilogb(r->amplitude) + (int)(w >> 1 & 3) - 2;
    double half_steps =
        (double)((UINT64_C(1) << bits) + 2 * cupel_pick_from(w, UINT64_C(1) << (bits - 1)) + 1);
    return sign_of(w) * half_steps * cupel_power_of_two(exponent - bits);
}

static double ties(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)j, (void)w_pair;
    unsigned form = r->seed & 3, pick = (unsigned)(w >> 32) & 3;
    const double few[4] = {0, r->amplitude, -r->amplitude, r->amplitude / 2};
    if (form == 0 || !r->real) return few[pick];
    if (form == 1) { /* equal values and values one step apart */
        double base = cupel_round(r->values->facts->type, r->amplitude);
        return pick ? base : cupel_next_up(r->values->facts->type, base);
    }
    /* ties of a later rounding: to f16 or bf16 where the type is wider, else to an integer */
    int bits = form == 2 ? 11 : 8;
    if (r->precision > bits) return midpoint(r, w, bits);
    return sign_of(w) * ((double)cupel_pick_from(w, 16) + 0.5);
}

static double subnormals(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)j;
    if (!r->real) return (double)cupel_pick_from(w, 3) - 1;
    if ((w >> 1 & 7) == 0) return sign_of(w) * r->normal * (1 + cupel_unit_from(w_pair));
    int bits = 1 + (int)cupel_pick_from(w, (uint64_t)(r->precision - 1));
    return sign_of(w) *
           ((double)((w_pair >> 11) & ((UINT64_C(1) << (bits - 1)) - 1)) +
            (double)(UINT64_C(1) << (bits - 1))) *
           r->smallest;
}

static double near_overflow(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)j, (void)w_pair;
    /* a wider type also meets the edges of f16, where a kernel that computes in half precision breaks */
    double largest = r->seed & 2 && r->emax > 15 && r->real ? cupel_format_largest(CUPEL_F16) : r->largest;
    double edge = r->seed & 1 ? largest : sqrt(largest);
    return sign_of(w) * edge * (1 - cupel_unit_from(w) / 16);
}

static double random_bits(const row *r, int64_t j, uint64_t w, uint64_t w_pair) {
    (void)j;
    if (!r->real) return (2 * cupel_unit_from(w) - 1) * r->largest;
    int field = (int)cupel_pick_from(w, (uint64_t)(r->emax - r->emin + 2)); /* 0: subnormal */
    double fraction = (double)(w_pair >> 12) * 0x1p-52;
    double magnitude =
        field == 0 ? fraction * r->normal : (1 + fraction) * cupel_power_of_two(r->emin + field - 1);
    return sign_of(w) * magnitude;
}

static const element_function functions[CUPEL_PATTERN_COUNT] = {
    [CUPEL_PATTERN_ZERO] = zero,
    [CUPEL_PATTERN_ONE] = one,
    [CUPEL_PATTERN_CONSTANT] = constant,
    [CUPEL_PATTERN_INTEGERS] = integers,
    [CUPEL_PATTERN_INDEX] = index_of,
    [CUPEL_PATTERN_NORMAL] = normal,
    [CUPEL_PATTERN_UNIFORM] = uniform,
    [CUPEL_PATTERN_LOG_UNIFORM] = log_uniform,
    [CUPEL_PATTERN_CANCELLATION] = cancellation,
    [CUPEL_PATTERN_ONE_LARGE] = one_large,
    [CUPEL_PATTERN_TIES] = ties,
    [CUPEL_PATTERN_SUBNORMALS] = subnormals,
    [CUPEL_PATTERN_NEAR_OVERFLOW] = near_overflow,
    [CUPEL_PATTERN_BITS] = random_bits,
};

/* The finaliser of splitmix64: cheap mixing where one Philox word must give many. */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

int64_t cupel_place_position(uint64_t key, uint32_t stream, int64_t n) {
    if (n <= 1) return 0;
    uint64_t word = cupel_philox(key, stream, 0);
    /* One candidate uniform in 0..2^k-1 for each k downwards; the first below n is uniform in 0..n-1, and a
     * smaller n that is still above it rejects the same candidates before it. */
    for (int k = 41; k > 0; k--) {
        uint64_t candidate = mix(word + (uint64_t)k * 0x9E3779B97F4A7C15u) >> (64 - k);
        if (candidate < (uint64_t)n) return (int64_t)candidate;
    }
    return 0;
}

/* Integer types as patterns see them: emax is the number of value bits. */
static void measure(row *r) {
    const cupel_format *format = r->values->facts->format;
    r->real = format->kind == CUPEL_KIND_REAL;
    if (r->real) {
        r->precision = format->precision;
        r->emin = format->emin, r->emax = format->emax;
        r->largest = cupel_format_largest(r->values->facts->type);
        r->smallest = cupel_format_smallest(r->values->facts->type);
        r->normal = cupel_format_normal(r->values->facts->type);
        return;
    }
    int bits = (int)format->size * 8 - (format->kind == CUPEL_KIND_SIGNED);
    if (format->kind == CUPEL_KIND_BOOLEAN) bits = 1;
    if (bits > 53) bits = 53; /* integers pass through doubles here */
    r->precision = 53, r->emin = 0, r->emax = bits;
    r->largest = cupel_power_of_two(bits) - 1, r->smallest = 1, r->normal = 1;
}

static void prepare(row *r, const cupel_values *values, uint64_t row_key, int64_t index_base, int64_t n) {
    const cupel_tensor_recipe *recipe = values->recipe;
    *r = (row){
        .values = values, .amplitude = recipe->amplitude, .centre = recipe->centre, .seed = recipe->seed};
    measure(r);
    r->row_word = recipe->pattern == CUPEL_PATTERN_INDEX ? (uint64_t)index_base : 0;
    switch (recipe->pattern) {
    case CUPEL_PATTERN_INTEGERS: { /* small enough for the significand */
        double most = r->precision < 21 ? cupel_power_of_two(r->precision) : 0x1p20;
        r->amplitude = fmin(fmax(rint(fabs(r->amplitude)), 1), most);
        r->centre = rint(r->centre);
        break;
    }
    case CUPEL_PATTERN_LOG_UNIFORM:
        if (!(r->amplitude > 0 && r->amplitude <= 1)) r->amplitude = 1;
        break;
    case CUPEL_PATTERN_CANCELLATION:
        /* rows differ, by multiples of an eighth that keep the mean's magnitude */
        r->mean =
            r->centre * (1 + (double)cupel_pick_from(cupel_philox(row_key, CUPEL_STREAM_PLACE, 99), 8) / 8);
        break;
    case CUPEL_PATTERN_ONE_LARGE: {
        uint64_t word = cupel_philox(row_key, CUPEL_STREAM_PLACE, 98);
        int exponent = 4 + (int)cupel_pick_from(word, (uint64_t)(r->real ? r->precision + 4 : r->emax));
        r->large_at = cupel_place_position(row_key, CUPEL_STREAM_PLACE + CUPEL_RANK_MAX, n);
        r->large = fmin(fabs(r->amplitude) * cupel_power_of_two(exponent), r->largest / 4) * sign_of(word);
        break;
    }
    case CUPEL_PATTERN_TIES:
        if (r->amplitude == 0) r->amplitude = 1;
        break;
    default: break;
    }
}

/* Into what the type and the contract permit: finite, no zero but +0, integers whole, inside the bounds. */
static double permit_real(const row *r, double v) {
    const cupel_tensor_facts *facts = r->values->facts;
    if (facts->below > 0) {
        v = fmod(rint(v), (double)facts->below);
        if (v < 0) v += (double)facts->below;
    }
    if (fabs(v) <= r->smallest / 2) v = 0;
    if (v > r->largest) v = r->largest;
    if (v < -r->largest) v = -r->largest;
    if (facts->bounded) v = v < facts->lo ? facts->lo : v > facts->hi ? facts->hi : v;
    return v;
}

static double permit_integer(const row *r, double v) {
    const cupel_tensor_facts *facts = r->values->facts;
    v = rint(v);
    if (facts->format->kind == CUPEL_KIND_BOOLEAN) v = fmod(fabs(v), 2);
    if (facts->format->kind == CUPEL_KIND_UNSIGNED) v = fabs(v);
    if (facts->below > 0) {
        v = fmod(v, (double)facts->below);
        if (v < 0) v += (double)facts->below;
    }
    if (v > r->largest) v = r->largest;
    if (v < -r->largest) v = -r->largest;
    if (facts->bounded) v = v < facts->lo ? facts->lo : v > facts->hi ? facts->hi : v;
    return v + 0.0;
}

void cupel_pattern_row(const cupel_values *values, uint64_t row_key, int64_t index_base, int64_t n,
                       double *out) {
    row r;
    prepare(&r, values, row_key, index_base, n);
    element_function element = functions[values->recipe->pattern];
    bool random = uses[values->recipe->pattern].seed;
    const uint32_t key[2] = {(uint32_t)row_key, (uint32_t)(row_key >> 32)};
    for (int64_t j = 0; j < n; j += 2) {
        uint32_t block[4] = {(uint32_t)(j / 2), (uint32_t)(j >> 33), CUPEL_STREAM_TENSOR, 0}, word[4] = {0};
        if (random) cupel_philox4x32(block, key, word);
        uint64_t w0 = (uint64_t)word[1] << 32 | word[0], w1 = (uint64_t)word[3] << 32 | word[2];
        out[j] = element(&r, j, w0, w1);
        if (j + 1 < n) out[j + 1] = element(&r, j + 1, w1, w0);
    }
    if (r.real)
        for (int64_t j = 0; j < n; j++) out[j] = permit_real(&r, out[j]);
    else
        for (int64_t j = 0; j < n; j++) out[j] = permit_integer(&r, out[j]);
}
