/* The bounded evaluator's loops against its rules: every graph is evaluated twice, the second time with all
 * blocks called unusual (the functions that tell are wrapped by the linker), so that each element goes
 * through ball*.c. Classes and reasons are the same, values and radii but for the roundings of doubles and
 * what the loops take for a little underflow. */
#include "graph_fixture.h"

#include <math.h>

#include "bounded_masked.h"
#include "bounded_operand.h"
#include "oracle.h"
#include "philox.h"

static bool by_rules;

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier) */
bool __real_cupel_tensor_is_plain(const cupel_tensor *t, int64_t begin, int64_t n);
bool __wrap_cupel_tensor_is_plain(const cupel_tensor *t, int64_t begin, int64_t n);
bool __real_cupel_masked_holds(const cupel_tensor *t, int64_t begin, int64_t n);
bool __wrap_cupel_masked_holds(const cupel_tensor *t, int64_t begin, int64_t n);
void __real_cupel_operand_survey(const cupel_operand *o, double *grain, double *size, uint8_t *odd);
void __wrap_cupel_operand_survey(const cupel_operand *o, double *grain, double *size, uint8_t *odd);
cupel_ball __real_cupel_tensor_load(const cupel_tensor *t, int64_t i);
cupel_ball __wrap_cupel_tensor_load(const cupel_tensor *t, int64_t i);

bool __wrap_cupel_tensor_is_plain(const cupel_tensor *t, int64_t begin, int64_t n) {
    return !by_rules && __real_cupel_tensor_is_plain(t, begin, n);
}

bool __wrap_cupel_masked_holds(const cupel_tensor *t, int64_t begin, int64_t n) {
    return !by_rules && __real_cupel_masked_holds(t, begin, n);
}

void __wrap_cupel_operand_survey(const cupel_operand *o, double *grain, double *size, uint8_t *odd) {
    __real_cupel_operand_survey(o, grain, size, odd);
    for (int64_t i = 0; by_rules && i < o->outer_count; i++) odd[i] = 1;
}

static int64_t loads;

cupel_ball __wrap_cupel_tensor_load(const cupel_tensor *t, int64_t i) {
    loads++;
    return __real_cupel_tensor_load(t, i);
}
/* NOLINTEND(bugprone-reserved-identifier) */

enum { ROWS = 24, COLUMNS = 40, COUNT = ROWS * COLUMNS };

/* What the inputs hold. */
typedef enum kind { ORDINARY, WHOLE, TINY, MASKED, KINDS } kind;

static const char *const kind_names[] = {"ordinary", "whole numbers", "tiny", "masked"};

static float x[COUNT], w[COUNT], v[COUNT], row[COLUMNS];

static float number(cupel_random *random, kind k) {
    const double u = cupel_random_unit(random) * 4 - 2;
    if (k == WHOLE) return (float)nearbyint(u * 4);
    if (k == TINY) return (float)(u * ldexp(1, -(int)(cupel_random_unit(random) * 140)));
    return (float)u;
}

static void fill(kind k, unsigned seed) {
    cupel_random random = cupel_random_start(seed, 17);
    for (int i = 0; i < COUNT; i++) {
        x[i] = number(&random, k);
        w[i] = number(&random, k);
        v[i] = number(&random, k);
        if (k == MASKED && cupel_random_unit(&random) < 0.3) x[i] = -INFINITY;
    }
    for (int j = 0; j < COLUMNS; j++) row[j] = number(&random, k);
}

/* plain: ordinary data needs the rules for no element but those of scalars; loops_mask: nor do masked
 * scores. */
static const struct {
    const char *text, *shape; /* of the result */
    bool masked;              /* for masked inputs, too */
    bool plain;
    bool loops_mask;
} graphs[] = {
    {"attention(x, w, v)", "24,40", false, true, false},
    {"attention(x, w, v, causal=true)", "24,40", false, true, false},
    {"softmax(x, axis=-1)", "24,40", true, true, true},
    {"exp2(x - amax(x, axis=-1, keepdim=true))", "24,40", true, true, true},
    {"log_softmax(x, axis=-1)", "24,40", true, true, false},
    {"amin(x, axis=-1)", "24", true, true, false},
    {"softmax(where(w > 0, x * 0.5, -inf), axis=-1)", "24,40", true, true, false},
    {"matmul(x, transpose(w)) / sum(exp(x), axis=-1, keepdim=true)", "24,24", false, true, false},
    {"sum(x, axis=-1, keepdim=true) / w", "24,40", false, true, false},
    {"sum(x * w, axis=-1, keepdim=true) / (w * v)", "24,40", false, true, false},
    {"sum(x, axis=-1, keepdim=true) * v / w / 8", "24,40", false, false, false},
    {"sum(x, axis=-1, keepdim=true) / 8", "24,1", false, false, false},
    {"sum(x, axis=-1, keepdim=true) * sum(w * v, axis=-1, keepdim=true)", "24,1", false, true, false},
    {"matmul(x, transpose(w)) * sum(w, axis=-1)[0] * 0.125", "24,24", false, true, false},
    {"matmul(x, transpose(w)) * matmul(x, transpose(w))", "24,24", false, true, false},
    {"matmul(x, transpose(w)) * 0.125 * 0.3 * matmul(v, transpose(w)) + 1", "24,24", false, true, false},
    {"-matmul(x, transpose(w)) * 4 + matmul(v, transpose(w))", "24,24", false, true, false},
    {"gelu(layer_norm(x, row, row, 1e-5))", "24,40", false, true, false},
    {"gelu(matmul(x, transpose(w)) * 0.1)", "24,24", false, true, false},
    {"gelu(x * w + v, approximate=\"tanh\")", "24,40", false, true, false},
    {"erf(x * w * v * 0.001)", "24,40", false, true, false},
    {"tanh(matmul(x, transpose(w)))", "24,24", false, true, false},
    {"atan(matmul(x, transpose(w)))", "24,24", false, true, false},
    {"sin(matmul(x, transpose(w)))", "24,24", false, true, false},
    {"silu(sum(x, axis=-1, keepdim=true)) * v", "24,40", false, true, false},
    {"vjp(softmax(x, axis=-1), x, w)", "24,40", false, true, false},
    {"vjp(layer_norm(x, row, row, 1e-5), x, w)", "24,40", false, true, false},
    {"vjp(rms_norm(x, row, 1e-5), x, w)", "24,40", false, true, false},
    {"vjp(gelu(x), x, w)", "24,40", false, true, false},
    {"where(isnan(x) or isinf(w), v, where(isfinite(x) and not x == w, w, v))", "24,40", true, true, false},
    {"attention(v, w, w, mask=x[:, :24])", "24,40", true, true, true},
    {"softmax(x[:, :24] + matmul(v, transpose(w)) * 0.3, axis=-1)", "24,24", true, true, true},
    {"(matmul(v, transpose(w)) + x[:, :24]) * 2 + x[:, 1:25]", "24,24", true, true, false},
    {"where(isinf(x), 1.0, 0.0) + where(isfinite(x), 2.0, 0.0) + where(isnan(x), 4.0, 0.0)", "24,40", true,
     true, true},
    {"where(x == w or x <= v, w, v)", "24,40", true, true, false},
    {"softmax(x * 100, axis=-1)", "24,40", true, true, false},
    {"x * w", "24,40", false, true, false},
    {"(x + w / 3) * v", "24,40", false, true, false},
    {"x / (w + 3)", "24,40", false, true, false},
    {"(x / 3) / (w + 3)", "24,40", false, true, false},
    {"x * w * v", "24,40", false, true, false},
    {"where(x < w, x * v, w * v) * row", "24,40", false, false, false},
    {"matmul(cast(x * 8, i32), cast(transpose(w), i32))", "24,24", false, false, false},
    {"clamp(matmul(cast(x * 1e9, i64), cast(transpose(w) * 1e6, i64)), -100000, 100000)", "24,24", false,
     false, false},
};

static void evaluate(const fixture *f, bool fast, bool rules_only, cupel_arena *arena, cupel_allowed *a) {
    cupel_error err = {0};
    const void *data[] = {x, w, v, row};
    const cupel_bindings bindings = {4, data};
    const cupel_rules rules = {.working = CUPEL_F32, .fast_math = fast};
    by_rules = rules_only;
    loads = 0;
    if (cupel_oracle_bounded(f->graph, &bindings, &rules, arena, a, &err) != CUPEL_OK)
        fail_msg("%s", err.text);
}

/* Returns the number of elements that differ. */
static int compare(const char *text, const char *what, const cupel_allowed *a, const cupel_allowed *b) {
    int off = 0;
    for (int64_t i = 0; i < a->count; i++) {
        const double p = a->value[i], y = b->value[i], r = a->radius[i], s = b->radius[i];
        const double size = fabs(y) + s;
        const bool value = p == y || (isnan(p) && isnan(y)) || fabs(p - y) <= size * 0x1p-44 + s * 0x1p-16;
        const bool radius = r == s || (r >= s * (1 - 1e-5) && r <= s * (1 + 1e-2) + 0x1p-138);
        if (value && radius && a->classes[i] == b->classes[i] && a->reasons[i] == b->reasons[i]) continue;
        if (off++ == 0)
            print_message("%s, %s [%lld]: loops %.17g +- %.9g classes %d reason %d, rules %.17g +- %.9g "
                          "classes %d reason %d\n",
                          text, what, (long long)i, p, r, a->classes[i], a->reasons[i], y, s, b->classes[i],
                          b->reasons[i]);
    }
    return off;
}

static void loops_answer_as_the_rules_do(void **state) {
    (void)state;
    int off = 0;
    for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++) {
        fixture f;
        fixture_start(&f);
        fixture_input(&f, "x", CUPEL_F32, "24,40");
        fixture_input(&f, "w", CUPEL_F32, "24,40");
        fixture_input(&f, "v", CUPEL_F32, "24,40");
        fixture_input(&f, "row", CUPEL_F32, "40");
        fixture_build(&f, graphs[g].text, CUPEL_F32, graphs[g].shape);
        for (int k = 0; k < (graphs[g].masked ? KINDS : MASKED); k++) {
            for (int fast = 0; fast < 2; fast++) {
                cupel_allowed loops, rules;
                fill((kind)k, (unsigned)(g * 8 + (size_t)k));
                evaluate(&f, fast, false, f.arena, &loops);
                const int64_t unusual = loads;
                const bool expected = k == ORDINARY ? graphs[g].plain : k == MASKED && graphs[g].loops_mask;
                if (expected && unusual > 2 * ROWS) {
                    print_message("%s, %s: the rules saw %lld operands\n", graphs[g].text, kind_names[k],
                                  (long long)unusual);
                    off++;
                }
                evaluate(&f, fast, true, f.arena, &rules);
                off += compare(graphs[g].text, kind_names[k], &loops, &rules);
            }
        }
        fixture_end(&f);
    }
    assert_int_equal(off, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_answer_as_the_rules_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
