/* Attention: naive, online over blocks of keys, split over the keys and combined, with log2(e) in the scale.
 */
#include "good_kernels.h"

enum { KEYS = 40, WIDTH = 16 };

/* q [m, E], k [n, E], v [n, k], and what further inputs the expression names. */
static void matrices(property_problem *p) {
    static const int64_t widths[] = {1, 2, 3, 4, 8, 16}, keys[] = {1, 2, 3, 4, 5, 8, 13, 33};
    cupel_random *r = &p->random;
    const int64_t width = widths[cupel_random_below(r, 6)];
    p->n = keys[cupel_random_below(r, 8)];
    p->k = 1 + (int64_t)cupel_random_below(r, 3);
    property_fill(p, property_add(p, "q", 2, p->m, width), p->pattern);
    property_fill_any(p, property_add(p, "k", 2, p->n, width));
    property_fill_any(p, property_add(p, "v", 2, p->n, p->k));
    property_expect(p, 2, (const int64_t[]){p->m, p->k});
}

static void with_truths(property_problem *p) {
    matrices(p);
    property_input *mask = property_add_shaped(p, "mask", CUPEL_BOOL, 2, (const int64_t[]){p->m, p->n});
    property_fill_integers(p, mask, 0, 1);
}

/* Numbers to add, -inf among them. */
static void with_bias(property_problem *p) {
    matrices(p);
    property_input *mask = property_add(p, "mask", 2, p->m, p->n);
    property_fill_any(p, mask);
    for (int64_t i = 0; i < mask->count; i++)
        if (cupel_random_below(&p->random, 3) == 0) mask->values[i] = -INFINITY;
}

typedef enum masking { NO_MASK, CAUSAL, TOP_LEFT, TRUTHS, BIAS } masking;

/* One row of queries as a kernel goes through it. */
typedef struct row {
    property_problem *p;
    masking masking;
    int64_t query, keys;
    int form;
    bool base2; /* scores are in powers of 2: log2(e) is part of the scale */
    float scores[KEYS];
} row;

static bool takes_part(const row *r, int64_t key) {
    const property_problem *p = r->p;
    switch (r->masking) {
    case CAUSAL: return key <= r->query + p->n - p->m;
    case TOP_LEFT: return key <= r->query;
    case TRUTHS: return good_at(p, 3, r->query, key) != 0;
    case BIAS: return good_at(p, 3, r->query, key) > -INFINITY || isnan(good_at(p, 3, r->query, key));
    case NO_MASK: break;
    }
    return true;
}

/* Scale inside (on q) or outside of the product. */
static float score_of(const row *r, int64_t key) {
    property_problem *p = r->p;
    const int64_t width = p->inputs[0].shape[1];
    const float log2e = 1.44269504f, scale = 1.0f / sqrtf((float)width) * (r->base2 ? log2e : 1.0f);
    float terms[WIDTH], fused = 0;
    const bool inside = r->form / 8 % 2;
    for (int64_t i = 0; i < width; i++) {
        const float q = good_at(p, 0, r->query, i) * (inside ? scale : 1.0f), k = good_at(p, 1, key, i);
        terms[i] = q * k;
        fused = fmaf(q, k, fused);
    }
    float score = r->form / 16 % 2 ? fused : good_sum(p, terms, width, r->form);
    if (!inside) score *= scale;
    if (r->masking == BIAS) {
        const float bias = good_at(p, 3, r->query, key);
        score += r->base2 ? bias * log2e : bias;
    }
    return score;
}

static float power(const row *r, float x) {
    if (!r->base2) return good_exp(r->p, x);
    return r->p->rules.fast_math ? property_edge(exp2((double)x), 2, 0, &r->p->random) : exp2f(x);
}

/* Maximum, sum of weights and weighted sum of the values over some keys. */
typedef struct part {
    float top, sum, values[3];
} part;

static const part nothing = {.top = -INFINITY};

/* Adds keys first .. last - 1 at once: one new maximum, one rescale. */
static void add_block(const row *r, part *a, int64_t first, int64_t last) {
    float top = a->top;
    for (int64_t j = first; j < last; j++)
        if (!isnan(top)) top = isnan(r->scores[j]) || r->scores[j] > top ? r->scores[j] : top;
    const float reference = isinf(top) && top < 0 ? 0 : top;
    const float rescale = isinf(a->top) && a->top < 0 ? 0 : power(r, a->top - reference);
    float weights[KEYS], terms[KEYS];
    for (int64_t j = first; j < last; j++) weights[j - first] = power(r, r->scores[j] - reference);
    a->sum = a->sum * rescale + good_sum(r->p, weights, last - first, r->form);
    for (int64_t c = 0; c < r->p->k; c++) {
        for (int64_t j = first; j < last; j++) terms[j - first] = weights[j - first] * good_at(r->p, 2, j, c);
        a->values[c] = a->values[c] * rescale + good_sum(r->p, terms, last - first, r->form);
    }
    a->top = top;
}

static part online(const row *r, int64_t first, int64_t last) {
    const int64_t block = 1 + r->form % 4;
    part a = nothing;
    for (int64_t j = first; j < last; j += block) add_block(r, &a, j, j + block < last ? j + block : last);
    return a;
}

/* Parts of the keys, each with its own maximum, brought to a common one at the end. */
static part split(const row *r) {
    const int64_t size = 1 + (int64_t)cupel_random_below(&r->p->random, (uint64_t)r->keys);
    part parts[KEYS], all = nothing;
    int64_t count = 0;
    for (int64_t j = 0; j < r->keys; j += size)
        parts[count++] = online(r, j, j + size < r->keys ? j + size : r->keys);
    for (int64_t i = 0; i < count; i++)
        if (!isnan(all.top)) all.top = isnan(parts[i].top) || parts[i].top > all.top ? parts[i].top : all.top;
    for (int64_t i = 0; i < count; i++) {
        const bool lost = isinf(parts[i].top) && parts[i].top < 0;
        const float factor = lost ? 0 : power(r, parts[i].top - all.top);
        all.sum += parts[i].sum * factor;
        for (int64_t c = 0; c < r->p->k; c++) all.values[c] += parts[i].values[c] * factor;
    }
    return all;
}

/* log of the sum of exp(score), as a partial result stores it. */
static float log_sum(const row *r, const part *a) {
    return r->base2 ? a->top + log2f(a->sum) : a->top + good_log(r->p, a->sum);
}

/* Parts that store their quotients and logarithms of sums, weighted by exp(log sum - largest log sum). */
static void split_by_logarithms(const row *r, double *out) {
    const int64_t size = 1 + (int64_t)cupel_random_below(&r->p->random, (uint64_t)r->keys);
    float logs[KEYS], means[KEYS][3], top = -INFINITY, sum = 0, total[3] = {0};
    int64_t count = 0;
    for (int64_t j = 0; j < r->keys; j += size, count++) {
        const part a = online(r, j, j + size < r->keys ? j + size : r->keys);
        const bool lost = isinf(a.top) && a.top < 0; /* no key of this part takes part */
        logs[count] = lost ? -INFINITY : log_sum(r, &a);
        for (int64_t c = 0; c < r->p->k; c++)
            means[count][c] = lost ? a.values[c] : good_divide(r->p, a.values[c], a.sum);
        if (!isnan(top)) top = isnan(logs[count]) || logs[count] > top ? logs[count] : top;
    }
    for (int64_t i = 0; i < count; i++) {
        const float weight = power(r, logs[i] - top);
        sum += weight;
        for (int64_t c = 0; c < r->p->k; c++) total[c] = fmaf(weight, means[i][c], total[c]);
    }
    for (int64_t c = 0; c < r->p->k; c++) out[c] = good_divide(r->p, total[c], sum);
}

/* The quotient so far is kept, as the first version of flash attention does. */
static void normalised_always(const row *r, double *out) {
    part a = nothing;
    const int64_t block = 1 + r->form % 4;
    for (int64_t j = 0; j < r->keys; j += block) {
        const float before = a.sum;
        for (int64_t c = 0; c < r->p->k; c++) a.values[c] *= before; /* back to a sum */
        add_block(r, &a, j, j + block < r->keys ? j + block : r->keys);
        const bool lost = isinf(a.top) && a.top < 0 && j + block < r->keys;
        for (int64_t c = 0; c < r->p->k && !lost; c++) a.values[c] = good_divide(r->p, a.values[c], a.sum);
    }
    for (int64_t c = 0; c < r->p->k; c++) out[c] = a.values[c];
}

/* Weights divided before the product with v. */
static void normalised_first(const row *r, double *out) {
    part a = nothing;
    add_block(r, &a, 0, r->keys);
    for (int64_t c = 0; c < r->p->k; c++) {
        float terms[KEYS];
        for (int64_t j = 0; j < r->keys; j++)
            terms[j] = good_divide(r->p, power(r, r->scores[j] - a.top), a.sum) * good_at(r->p, 2, j, c);
        out[c] = good_sum(r->p, terms, r->keys, r->form);
    }
}

static void attend(property_problem *p, masking masking, bool zero, int form, double *results) {
    const bool skips = form / 32 % 2; /* a kernel skips excluded keys, or gives them a score of -inf */
    for (int64_t i = 0; i < p->m; i++) {
        row r = {.p = p, .masking = masking, .query = i, .form = form, .base2 = form / 64 % 2};
        bool any = false;
        for (int64_t j = 0; j < p->n; j++) {
            const bool seen = takes_part(&r, j);
            any |= seen;
            r.scores[j] = seen ? score_of(&r, j) : -INFINITY;
        }
        /* under a causal mask what is skipped stands at the end */
        r.keys = p->n;
        while (skips && r.keys > 1 && !takes_part(&r, r.keys - 1)) r.keys--;
        double *out = results + i * p->k;
        if (zero && !any) {
            for (int64_t c = 0; c < p->k; c++) out[c] = 0;
        } else if (form % 5 == 2) {
            normalised_first(&r, out);
        } else if (form % 5 == 3) {
            split_by_logarithms(&r, out);
        } else if (form % 5 == 4) {
            normalised_always(&r, out);
        } else {
            part a = form % 5 ? split(&r) : online(&r, 0, r.keys);
            for (int64_t c = 0; c < p->k; c++) out[c] = good_divide(p, a.values[c], a.sum);
        }
    }
}

#define KERNEL(name, masking, zero)                                                                          \
    static void name(property_problem *p, int form, double *results) {                                       \
        attend(p, masking, zero, form, results);                                                             \
    }
KERNEL(plain, NO_MASK, false)
KERNEL(causal, CAUSAL, false)
KERNEL(causal_zero, CAUSAL, true)
KERNEL(top_left, TOP_LEFT, false)
KERNEL(truths, TRUTHS, true)
KERNEL(bias, BIAS, false)
#undef KERNEL

enum { FORMS = 640 };
#define ATTENTION(arguments, shadow, inputs)                                                                 \
    {                                                                                                        \
        "attention" arguments, "attention(q, k, v" arguments ")", 0, PROPERTY_OWN, FORMS, shadow, NULL,      \
            inputs, 0                                                                                        \
    }
static const property_operator rows[] = {
    ATTENTION("", plain, matrices),
    ATTENTION(", causal=true", causal, matrices),
    ATTENTION(", causal=true, empty_rows=\"zero\"", causal_zero, matrices),
    ATTENTION(", causal=true, align=\"top_left\"", top_left, matrices),
    ATTENTION(", mask=mask, empty_rows=\"zero\"", truths, with_truths),
    ATTENTION(", mask=mask", bias, with_bias),
};
const property_family property_attention = {"attention", rows, sizeof rows / sizeof *rows};
