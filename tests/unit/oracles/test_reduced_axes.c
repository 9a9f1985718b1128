/* Which axes are wholly reduced: named ones, and that permuting them changes no result. */
#include "reduced_axes.h"

#include <math.h>

#include "graph_fixture.h"
#include "shadow.h"

enum { INPUTS = 6, MOST = 64 };

/* The inputs of every expression; groups are named by these letters and the axis. */
static const struct {
    const char *name, *shape;
} inputs[INPUTS] = {{"x", "4,6"}, {"w", "6"}, {"a", "4,5"}, {"b", "5,6"}, {"v", "6"}, {"z", "2,4,6"}};

typedef struct row {
    const char *expression, *shape;
    const char *groups; /* "x1=w0 a1=b0"; in the order of inputs and axes */
} row;

static const row rows[] = {
    {"sum(x, axis=-1)", "4", "x1"},
    {"sum(x, axis=0)", "6", "x0"},
    {"sum(x)", "", "x0 x1"},
    {"sum(x * w, axis=-1)", "4", "x1=w0"},
    {"mean(x, axis=1)", "4", "x1"},
    {"matmul(a, b)", "4,6", "a1=b0"},
    {"matmul(x, w)", "4", "x1=w0"},
    {"sum(matmul(a, b) * x)", "", "x0=a0 x1=b1 a1=b0"},
    {"amax(x, axis=1) - amin(v)", "4", "x1 v0"},
    {"logsumexp(x, axis=1)", "4", "x1"},
    {"sum(softmax(x, axis=1) * w, axis=1)", "4", "x1=w0"},
    {"prod(v)", "", "v0"},
    {"sum(z, axis=1)", "2,6", "z1"},
    {"sum(z[1] * x, axis=0)", "6", "x0=z1"},
    {"sum(matmul(transpose(x, 0, 1), a), axis=1)", "6", "x0=a0 a1"},
    {"sum(concat([v, w]))", "", ""},
    {"softmax(x, axis=1)", "4,6", ""},
    {"x + w", "4,6", ""},
    {"sum(cumsum(x, axis=1), axis=1)", "4", ""},
    {"cumsum(sum(x, axis=0), axis=0)", "6", "x0"},
    {"cast(argmax(v), f32)", "", ""},
    {"cast(argmax(sum(x, axis=0)), f32)", "", "x0"},
    {"sum(v * flip(v, 0))", "", ""},
    {"v[0] + sum(w)", "", "w0"},
    {"sum(x[:, 1:], axis=1)", "4", ""},
    {"sort(v)[0]", "", "v0"},
    {"cast(argsort(v)[0], f32)", "", ""},
    {"sum(reshape(x, [24]))", "", "x0 x1"},
    {"sum(reshape(x, [12, 2]), axis=0)", "2", ""},
    {"reshape(x, [24])", "24", ""},
    {"conv1d(z, reshape(b, [5, 6, 1])[:, :4, :])", "2,5,6", ""},
    {"linear_scan(v, w)[5]", "", ""},
};

static void start(fixture *f, const row *r) {
    fixture_start(f);
    for (int i = 0; i < INPUTS; i++) fixture_input(f, inputs[i].name, CUPEL_F32, inputs[i].shape);
    fixture_build(f, r->expression, CUPEL_F32, r->shape);
}

/* All axes of one group, joined by "=". */
static void write_group(const cupel_reduced_axes *axes, int group, char *text, size_t size) {
    const char *join = text[0] ? " " : "";
    for (int i = 0; i < INPUTS; i++)
        for (int axis = 0; axis < CUPEL_RANK_MAX; axis++) {
            if (axes->group[i][axis] != group) continue;
            const size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s%d", join, inputs[i].name, axis);
            join = "=";
        }
}

static void write_groups(const cupel_reduced_axes *axes, char *text, size_t size) {
    unsigned written = 0;
    text[0] = 0;
    for (int i = 0; i < INPUTS; i++)
        for (int axis = 0; axis < CUPEL_RANK_MAX; axis++) {
            const int group = axes->group[i][axis];
            if (group < 0 || (written >> group & 1)) continue;
            written |= 1u << group;
            write_group(axes, group, text, size);
        }
}

static void axes_are_named(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        fixture f;
        cupel_reduced_axes axes;
        char text[256];
        start(&f, &rows[k]);
        assert_true(cupel_reduced_axes_find(f.graph, &axes));
        write_groups(&axes, text, sizeof text);
        if (strcmp(text, rows[k].groups) != 0)
            fail_msg("%s: expected '%s', found '%s'", rows[k].expression, rows[k].groups, text);
        fixture_end(&f);
    }
}

/* ---- permuting changes nothing ---- */

static int64_t moved(const cupel_reduced_axes *axes, int input, int axis, int64_t at, int64_t extent) {
    return axes->group[input][axis] < 0 ? at : (at * 5 + 2 * (axes->group[input][axis] + 1)) % extent;
}

/* A permutation where 5 has no factor in common with the extent: 4 and 6 here; 5 is turned instead. */
static int64_t source_of(const cupel_reduced_axes *axes, int input, int axis, int64_t at, int64_t extent) {
    if (extent == 5 && axes->group[input][axis] >= 0) return (at + 2) % 5;
    return moved(axes, input, axis, at, extent);
}

static void permute(const fixture *f, const cupel_reduced_axes *axes, int input, const float *from,
                    float *to) {
    const cupel_symbol_input *s = &f->inputs[input];
    int64_t count = 1;
    for (int axis = 0; axis < s->rank; axis++) count *= s->shape[axis];
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, source = 0, weight = 1;
        for (int axis = s->rank - 1; axis >= 0; axis--) {
            source += weight * source_of(axes, input, axis, rest % s->shape[axis], s->shape[axis]);
            rest /= s->shape[axis];
            weight *= s->shape[axis];
        }
        to[i] = from[source];
    }
}

static void evaluate(const fixture *f, float values[INPUTS][MOST], cupel_shadow_output *out) {
    const void *data[INPUTS];
    const cupel_rules rules = {.working = CUPEL_F64};
    const cupel_shadow_plan plan = {0};
    for (int i = 0; i < INPUTS; i++) data[i] = values[i];
    const cupel_bindings bindings = {INPUTS, data};
    assert_int_equal(cupel_shadow_run(f->graph, &bindings, &rules, &plan, f->arena, out, NULL), CUPEL_OK);
}

static void permuting_them_changes_nothing(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        fixture f;
        cupel_reduced_axes axes;
        cupel_shadow_output before, after;
        float values[INPUTS][MOST], others[INPUTS][MOST];
        start(&f, &rows[k]);
        assert_true(cupel_reduced_axes_find(f.graph, &axes));
        for (int i = 0; i < INPUTS; i++)
            for (int e = 0; e < MOST; e++) values[i][e] = (float)((e * 7 + i * 5 + e * e) % 11) - 4;
        for (int i = 0; i < INPUTS; i++) permute(&f, &axes, i, values[i], others[i]);
        evaluate(&f, values, &before);
        evaluate(&f, others, &after);
        for (int64_t e = 0; e < before.count; e++)
            if (fabs(before.values[e] - after.values[e]) > 1e-9 * (1 + fabs(before.values[e])))
                fail_msg("%s: element %d is %g, permuted %g", rows[k].expression, (int)e, before.values[e],
                         after.values[e]);
        fixture_end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(axes_are_named),
                                       cmocka_unit_test(permuting_them_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
