#include "good_radius.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budgets.h"

/* So many times the worst that the family does. Measured: kernels in orders that the family lacks stay below
 * a fifth of the result (tests/records/tolerance.txt). */
static const double factor = 8;

/* Runs with random roundings: independent samples, so that no row is lucky in all of them. */
enum { NOISY = 12 };

/* Rows of at least so many elements have a scale of their own; shorter ones share the output's. */
enum { ROW_LEAST = 8 };

/* ---- where it applies ---- */

static bool is_leaf_rounded(const cupel_node *n, const cupel_working *w) {
    if (n->kind != CUPEL_VALUE_REAL || n->op == CUPEL_OP_KEEP) return false;
    if (n->op == CUPEL_OP_CONSTANT)
        return n->digits || (isfinite(n->number) && !cupel_working_holds(w, n->number));
    const cupel_format *from = cupel_format_of(n->type), *to = cupel_format_of(w->type);
    return from->precision > to->precision || from->emin < to->emin || from->emax > to->emax;
}

/* Does the result hold no rounding that its arguments lack? */
static bool keeps_exactness(cupel_op op) {
    switch (op) {
    case CUPEL_OP_NEG:
    case CUPEL_OP_ABS:
    case CUPEL_OP_SIGN:
    case CUPEL_OP_FLOOR:
    case CUPEL_OP_CEIL:
    case CUPEL_OP_ROUND:
    case CUPEL_OP_TRUNC:
    case CUPEL_OP_MINIMUM:
    case CUPEL_OP_MAXIMUM:
    case CUPEL_OP_FMIN:
    case CUPEL_OP_FMAX:
    case CUPEL_OP_WHERE:
    case CUPEL_OP_EXCLUDE:
    case CUPEL_OP_AMAX:
    case CUPEL_OP_AMIN:
    case CUPEL_OP_CUMMAX:
    case CUPEL_OP_CUMMIN:
    case CUPEL_OP_SORT:
    case CUPEL_OP_VIEW:
    case CUPEL_OP_RESHAPE:
    case CUPEL_OP_CONCAT:
    case CUPEL_OP_PAD:
    case CUPEL_OP_GATHER: return true;
    default: return false;
    }
}

/* The arguments (a bit each) of which a small change may make a jump. */
static unsigned jumps_with(cupel_op op) {
    switch (op) {
    case CUPEL_OP_SIGN:
    case CUPEL_OP_FLOOR:
    case CUPEL_OP_CEIL:
    case CUPEL_OP_ROUND:
    case CUPEL_OP_TRUNC:
    case CUPEL_OP_CAST:
    case CUPEL_OP_ARGMAX:
    case CUPEL_OP_ARGMIN:
    case CUPEL_OP_ARGSORT:
    case CUPEL_OP_WHERE: return 1;
    case CUPEL_OP_GATHER:
    case CUPEL_OP_SCATTER_ADD:
    case CUPEL_OP_EXCLUDE: return 2;
    case CUPEL_OP_LT:
    case CUPEL_OP_LE:
    case CUPEL_OP_EQ:
    case CUPEL_OP_NE:
    case CUPEL_OP_FMOD:
    case CUPEL_OP_REMAINDER:
    case CUPEL_OP_ATAN2: return 3;
    default: return 0;
    }
}

/* rounded[i]: two kernels may hold different values of node i. False where a jump is on the way to output. */
static bool is_smooth(const cupel_graph *graph, const cupel_working *w, int output, bool *rounded,
                      bool *needed) {
    needed[graph->outputs[output].node] = true;
    for (int i = graph->node_count - 1; i >= 0; i--)
        for (int k = 0; needed[i] && k < graph->nodes[i].arg_count; k++)
            needed[graph->nodes[i].args[k]] = true;
    for (int i = 0; i < graph->node_count; i++) {
        const cupel_node *n = &graph->nodes[i];
        unsigned from = 0;
        for (int k = 0; k < n->arg_count && k < 32; k++) from |= (unsigned)rounded[n->args[k]] << k;
        if (needed[i] && (from & jumps_with(n->op))) return false;
        if (n->arg_count == 0)
            rounded[i] = is_leaf_rounded(n, w);
        else
            rounded[i] = from || (n->kind == CUPEL_VALUE_REAL && !keeps_exactness(n->op));
    }
    return true;
}

bool cupel_good_radius_applies(const cupel_graph *graph, const cupel_rules *rules, int output) {
    const cupel_working w = cupel_working_of(rules);
    const cupel_dtype type = graph->outputs[output].type;
    if (w.type == CUPEL_F64 || w.flush || cupel_format_of(type)->kind != CUPEL_KIND_REAL) return false;
    if (graph->nodes[graph->outputs[output].node].kind != CUPEL_VALUE_REAL) return false;
    bool *marks = calloc(2 * (size_t)graph->node_count + 1, sizeof *marks);
    const bool smooth = marks && is_smooth(graph, &w, output, marks, marks + graph->node_count);
    free(marks);
    return smooth;
}

bool cupel_good_radius_tame(const cupel_graph *graph, const cupel_bindings *bindings) {
    for (int i = 0; i < graph->node_count; i++) {
        const cupel_node *n = &graph->nodes[i];
        if (n->op != CUPEL_OP_INPUT || n->kind != CUPEL_VALUE_REAL) continue;
        const size_t size = cupel_format_of(n->type)->size;
        for (int64_t k = 0; k < n->count; k++) {
            const double x =
                fabs(cupel_decode(n->type, (const char *)bindings->data[n->input] + (size_t)k * size));
            if (!(x < 0x1p30) || (x > 0 && x < 0x1p-30)) return false;
        }
    }
    return true;
}

/* ---- the radius ---- */

typedef struct finder {
    const cupel_graph *graph;
    const cupel_bindings *bindings;
    const cupel_rules *rules;
    const cupel_allowed *allowed;
    cupel_arena *scratch;
    double **radii; /* until the end: the largest error of the runs so far */
    cupel_error *err;
} finder;

/* Raises the errors to this run's; infinite where it has no finite value. */
static void raise_errors(const cupel_allowed *allowed, const cupel_shadow_output *run, double *errors) {
    for (int64_t i = 0; i < allowed->count; i++) {
        const double error = fabs(run->values[i] - allowed->value[i]);
        errors[i] = isfinite(error) ? fmax(errors[i], error) : INFINITY;
    }
}

static cupel_code try_plan(finder *f, const cupel_shadow_plan *plan) {
    cupel_arena_reset(f->scratch);
    cupel_shadow_output *outputs =
        cupel_arena_alloc(f->scratch, (size_t)f->graph->output_count * sizeof *outputs + 1);
    if (!outputs) return cupel_fail(f->err, CUPEL_MEMORY, "no memory for a shadow");
    CUPEL_TRY(cupel_shadow_run(f->graph, f->bindings, f->rules, plan, f->scratch, outputs, f->err));
    for (int o = 0; o < f->graph->output_count; o++)
        if (f->radii[o]) raise_errors(&f->allowed[o], &outputs[o], f->radii[o]);
    return CUPEL_OK;
}

static cupel_code try_all(finder *f) {
    int count;
    const cupel_shadow_plan *family = cupel_shadow_family(&count);
    for (int i = 0; i < count; i++)
        if (cupel_shadow_counts(f->rules, &family[i])) CUPEL_TRY(try_plan(f, &family[i]));
    for (int i = 0; i < NOISY; i++) {
        cupel_shadow_plan noisy = family[i % count];
        noisy.noise = true;
        noisy.seed = 101 + (uint64_t)i;
        CUPEL_TRY(try_plan(f, &noisy));
    }
    return CUPEL_OK;
}

static bool is_judged(const cupel_allowed *allowed, int64_t i) {
    return allowed->reasons[i] == CUPEL_REASON_JUDGED && allowed->classes[i] == CUPEL_CLASS_FINITE &&
           isfinite(allowed->radius[i]) && isfinite(allowed->value[i]);
}

/* Two ulps of the output, or of the working precision where that is coarser. */
static double two_ulps(const finder *f, const cupel_allowed *allowed, int64_t i) {
    const double value = allowed->value[i];
    return 2 * fmax(cupel_format_ulp(allowed->type, value), cupel_format_ulp(f->rules->working, value));
}

/* A group's elements share the worst ratio of error to sound radius: a single element may be lucky in every
 * run. */
static void scale_group(const finder *f, const cupel_allowed *allowed, int64_t begin, int64_t n,
                        double *errors) {
    double ratio = 0;
    bool open = false;
    for (int64_t i = begin; i < begin + n; i++) {
        if (!is_judged(allowed, i)) continue;
        open = open || isinf(errors[i]);
        ratio = fmax(ratio, errors[i] / (allowed->radius[i] + two_ulps(f, allowed, i)));
    }
    for (int64_t i = begin; i < begin + n; i++) {
        const double sound = allowed->radius[i];
        if (open || !is_judged(allowed, i))
            errors[i] = INFINITY;
        else
            errors[i] = fmin(sound, factor * fmax(ratio * sound, errors[i])) + two_ulps(f, allowed, i);
    }
}

static void scale_output(const finder *f, int o) {
    const cupel_allowed *allowed = &f->allowed[o];
    const int64_t last = allowed->rank > 0 ? allowed->shape[allowed->rank - 1] : 1;
    const int64_t row = last >= ROW_LEAST ? last : allowed->count;
    for (int64_t begin = 0; begin < allowed->count; begin += row)
        scale_group(f, allowed, begin, row, f->radii[o]);
}

cupel_code cupel_good_radius_find(const cupel_graph *graph, const cupel_bindings *bindings,
                                  const cupel_rules *rules, const cupel_allowed *allowed, cupel_arena *arena,
                                  double **radii, cupel_error *err) {
    int applying = 0;
    for (int o = 0; o < graph->output_count; o++) {
        radii[o] = NULL;
        if (!cupel_good_radius_applies(graph, rules, o)) continue;
        radii[o] = cupel_arena_alloc(arena, ((size_t)allowed[o].count + 1) * sizeof **radii);
        if (!radii[o]) return cupel_fail(err, CUPEL_MEMORY, "no memory for an evidence radius");
        applying++;
    }
    if (applying == 0) return CUPEL_OK;
    finder f = {.graph = graph,
                .bindings = bindings,
                .rules = rules,
                .allowed = allowed,
                .scratch = cupel_arena_create(0),
                .radii = radii,
                .err = err};
    if (!f.scratch) return cupel_fail(err, CUPEL_MEMORY, "no memory for shadows");
    const cupel_code code = try_all(&f);
    for (int o = 0; code == CUPEL_OK && o < graph->output_count; o++)
        if (radii[o]) scale_output(&f, o);
    cupel_arena_free(f.scratch);
    return code;
}
