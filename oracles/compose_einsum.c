/* einsum of one or two operands. Strides do what the equation says: a repeated label is a diagonal (its
 * strides add up), a label that an operand lacks is an axis of stride 0. Two operands are one matrix product
 * over the labels that are summed, all of which both must have: whether a label of one alone is summed first
 * or with the products is open, and matters where infinities meet zeros. */
#include <ctype.h>
#include <string.h>

#include "function_table.h"

enum {
    OPERANDS = 2,
    LETTERS = 52,
    LABELS = LETTERS + CUPEL_RANK_MAX, /* the axes of "..." come last, counted from the end */
    AXES = CUPEL_RANK_MAX
};

/* The labels of one term, in order. */
typedef struct term {
    int count, labels[AXES];
    int before_dots; /* labels before "...", -1 where there is none */
} term;

typedef struct operand {
    int node;
    cupel_window window;
    bool has[LABELS];
    int64_t stride[LABELS];
} operand;

typedef struct equation {
    cupel_span place;
    const char *text;
    int operand_count;
    term terms[OPERANDS], result;
    operand operands[OPERANDS];
    int64_t extent[LABELS]; /* 0 may be one: used tells */
    bool used[LABELS];
    int dots; /* axes that "..." stands for */
} equation;

static bool refuse(cupel_builder *b, const equation *e, const char *expected, const char *found) {
    cupel_emit_fail(b, CUPEL_CONTRACT, e->place, "expected %s in the equation of einsum, found \"%s\"",
                    expected, found);
    return false;
}

/* ---- the text ---- */

static int label_of(char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' : 26 + (c - 'a');
}

/* Reads up to ',', '-' or the end. */
static bool read_term(cupel_builder *b, const equation *e, const char **text, term *out) {
    const char *at = *text;
    *out = (term){.before_dots = -1};
    for (; *at && *at != ',' && *at != '-'; at++) {
        if (*at == ' ') continue;
        if (strncmp(at, "...", 3) == 0 && out->before_dots < 0) {
            out->before_dots = out->count;
            at += 2;
        } else if (isalpha((unsigned char)*at) && out->count < AXES) {
            out->labels[out->count++] = label_of(*at);
        } else {
            return refuse(b, e, "letters (at most 8 a term), one \"...\" a term, ',' and \"->\"", at);
        }
    }
    *text = at;
    return true;
}

/* Puts the labels of "..." in their place: the last `dots` of those after the letters. */
static bool expand(cupel_builder *b, const equation *e, term *t, int dots) {
    if (t->before_dots < 0) return true;
    if (t->count + dots > AXES) return refuse(b, e, "at most 8 axes a term", "...");
    memmove(t->labels + t->before_dots + dots, t->labels + t->before_dots,
            (size_t)(t->count - t->before_dots) * sizeof *t->labels);
    for (int i = 0; i < dots; i++) t->labels[t->before_dots + i] = LABELS - dots + i;
    t->count += dots;
    return true;
}

/* ---- the operands ---- */

/* What the labels of one term say about its operand's axes. */
static bool read_operand(cupel_builder *b, const cupel_call *call, equation *e, int which) {
    operand *o = &e->operands[which];
    term *t = &e->terms[which];
    const int rank = b->nodes[o->node].rank;
    const int dots = rank - t->count;
    if (t->before_dots < 0 ? dots != 0 : dots < 0) {
        cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1 + which].place,
                        "expected a tensor of %s%d axes, as the equation says, found the shape %s",
                        t->before_dots < 0 ? "" : "at least ", t->count,
                        cupel_emit_shape_text(b, rank, b->nodes[o->node].shape));
        return false;
    }
    if (!expand(b, e, t, dots)) return false;
    if (t->before_dots >= 0 && dots > e->dots) e->dots = dots;
    o->window = cupel_window_of(b, o->node);
    for (int i = 0; i < rank; i++) {
        const int label = t->labels[i];
        const int64_t extent = o->window.shape[i];
        /* an extent of 1 broadcasts, within an operand too */
        if (e->used[label] && e->extent[label] != extent && e->extent[label] != 1 && extent != 1) {
            cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1 + which].place,
                            "expected equal extents of equal labels in einsum, found %lld and %lld",
                            (long long)e->extent[label], (long long)extent);
            return false;
        }
        if (!e->used[label] || e->extent[label] == 1) e->extent[label] = extent;
        e->used[label] = true;
        if (extent == 1) continue;
        o->has[label] = true;
        o->stride[label] += o->window.stride[i];
    }
    return true;
}

/* Without "->": the axes of "...", then the labels that appear once, in alphabetical order. */
static bool implicit_result(cupel_builder *b, equation *e) {
    int times[LABELS] = {0};
    for (int k = 0; k < e->operand_count; k++)
        for (int i = 0; i < e->terms[k].count; i++) times[e->terms[k].labels[i]]++;
    e->result = (term){.before_dots = 0};
    for (int label = 0; label < LETTERS; label++) {
        if (times[label] != 1) continue;
        if (e->result.count == AXES) return refuse(b, e, "at most 8 axes in the result", e->text);
        e->result.labels[e->result.count++] = label;
    }
    return true;
}

/* A letter of the result that no operand has, or that stood before. */
static bool refuse_label(cupel_builder *b, const equation *e, int label, bool again) {
    const char name = label < 26 ? (char)('A' + label) : label < LETTERS ? (char)('a' + label - 26) : '.';
    cupel_emit_fail(
        b, CUPEL_CONTRACT, e->place,
        "expected labels of the operands, each once, after \"->\" in the equation of einsum, found "
        "'%c' %s",
        name, again ? "again" : "in no operand");
    return false;
}

static bool check_result(cupel_builder *b, equation *e) {
    bool seen[LABELS] = {false};
    if (!expand(b, e, &e->result, e->dots)) return false;
    for (int i = 0; i < e->result.count; i++) {
        const int label = e->result.labels[i];
        if (!e->used[label] || seen[label]) return refuse_label(b, e, label, seen[label]);
        seen[label] = true;
    }
    return true;
}

static bool read_equation(cupel_builder *b, const cupel_call *call, equation *e) {
    const cupel_operand *text = &call->args[0];
    e->place = text->place;
    if (text->form != CUPEL_OPERAND_TEXT) return refuse(b, e, "a string such as \"ij,jk->ik\"", "no string");
    const char *at = e->text = text->text;
    for (;;) {
        if (e->operand_count == OPERANDS)
            return refuse(b, e, "one or two terms (of more, the order of contraction is open)", text->text);
        if (!read_term(b, e, &at, &e->terms[e->operand_count++])) return false;
        if (*at != ',') break;
        at++;
    }
    const int given = cupel_call_has(call, 2) ? 2 : 1;
    if (given != e->operand_count)
        return refuse(b, e, given == 2 ? "a term for each of two tensors" : "a term for the one tensor",
                      text->text);
    bool explicit = *at == '-';
    if (explicit && at[1] != '>') return refuse(b, e, "\"->\"", at);
    if (explicit) {
        at += 2;
        if (!read_term(b, e, &at, &e->result)) return false;
        if (*at) return refuse(b, e, "one result", at);
    }
    for (int k = 0; k < e->operand_count; k++)
        if (!read_operand(b, call, e, k)) return false;
    return (explicit || implicit_result(b, e)) && check_result(b, e);
}

/* ---- the product ---- */

/* Labels for the axes of a view, in groups. */
typedef struct axes {
    int count, labels[LABELS];
} axes;

static bool holds(const term *t, int label) {
    for (int i = 0; i < t->count; i++)
        if (t->labels[i] == label) return true;
    return false;
}

static int64_t extent_of(const equation *e, const axes *a) {
    int64_t count = 1;
    for (int i = 0; i < a->count; i++)
        if (__builtin_mul_overflow(count, e->extent[a->labels[i]], &count)) return INT64_MAX;
    return count;
}

static void append(axes *to, const axes *from) {
    memcpy(to->labels + to->count, from->labels, (size_t)from->count * sizeof *to->labels);
    to->count += from->count;
}

/* The operand with one axis for each label. */
static int view_of(cupel_builder *b, const equation *e, const operand *o, const axes *a) {
    if (a->count > AXES)
        return cupel_emit_fail(b, CUPEL_UNSUPPORTED, e->place,
                               "expected at most %d labels for an operand of einsum", (int)AXES);
    cupel_window w = {.base = o->window.base, .rank = a->count, .offset = o->window.offset};
    for (int i = 0; i < a->count; i++) {
        w.shape[i] = e->extent[a->labels[i]];
        w.stride[i] = o->stride[a->labels[i]];
    }
    return cupel_window_finish(b, &w);
}

/* The labels sorted into those of the result that both operands, the first alone and the second alone have,
 * and those that are summed. */
static void sort_labels(const equation *e, axes *both, axes *first, axes *second, axes *summed) {
    for (int label = 0; label < LABELS; label++) {
        if (!e->used[label]) continue;
        const bool left = e->operands[0].has[label], right = e->operands[1].has[label];
        axes *to = !holds(&e->result, label) ? summed : left && right ? both : left ? first : second;
        to->labels[to->count++] = label;
    }
}

/* y has one axis for each label of a; the result's order. */
static int in_order(cupel_builder *b, const equation *e, int y, const axes *a) {
    int order[AXES] = {0};
    for (int i = 0; i < e->result.count; i++)
        for (int k = 0; k < a->count; k++)
            if (a->labels[k] == e->result.labels[i]) order[i] = k;
    return cupel_emit_permute(b, y, order);
}

static int single(cupel_builder *b, const equation *e, const axes *summed) {
    axes all = {.count = e->result.count};
    memcpy(all.labels, e->result.labels, (size_t)all.count * sizeof *all.labels);
    append(&all, summed);
    const int view = view_of(b, e, &e->operands[0], &all);
    if (summed->count == 0) return view;
    return cupel_emit_reduce(b, CUPEL_OP_SUM, view, ((1u << all.count) - 1) & ~((1u << e->result.count) - 1),
                             false);
}

/* Is every label that is summed in both operands? */
static bool sums_agree(cupel_builder *b, const equation *e, const axes *summed) {
    for (int i = 0; i < summed->count; i++) {
        const int label = summed->labels[i];
        if ((e->operands[0].has[label] && e->operands[1].has[label]) || e->extent[label] <= 1) continue;
        const char name = label < 26 ? (char)('A' + label) : label < LETTERS ? (char)('a' + label - 26) : '.';
        cupel_emit_fail(
            b, CUPEL_UNSUPPORTED, e->place,
            "expected labels that are summed to be in both operands of einsum (or to be summed before, "
            "with sum), found '%c' in one alone",
            name);
        return false;
    }
    return true;
}

static int product(cupel_builder *b, const equation *e) {
    axes both = {0}, first = {0}, second = {0}, summed = {0}, left = {0}, right = {0}, result = {0};
    sort_labels(e, &both, &first, &second, &summed);
    if (!sums_agree(b, e, &summed)) return -1;
    append(&left, &both), append(&left, &first), append(&left, &summed);
    append(&right, &both), append(&right, &summed), append(&right, &second);
    append(&result, &both), append(&result, &first), append(&result, &second);
    const int64_t batch = extent_of(e, &both), m = extent_of(e, &first), n = extent_of(e, &second);
    const int64_t k = extent_of(e, &summed);
    int x = view_of(b, e, &e->operands[0], &left), y = view_of(b, e, &e->operands[1], &right);
    x = cupel_emit_reshape(b, x, 3, (int64_t[]){batch, m, k});
    y = cupel_emit_reshape(b, y, 3, (int64_t[]){batch, k, n});
    /* nothing summed: the elements' products, whose zeros keep their signs */
    const int z = summed.count ? cupel_emit_matmul(b, x, y) : mul_(b, x, y);
    int64_t shape[AXES] = {0};
    for (int i = 0; i < result.count && i < AXES; i++) shape[i] = e->extent[result.labels[i]];
    return in_order(b, e, cupel_emit_reshape(b, z, result.count, shape), &result);
}

int cupel_compose_einsum(cupel_builder *b, const cupel_call *call) {
    equation *e = cupel_arena_alloc(b->arena, sizeof *e);
    if (!e) return cupel_emit_fail(b, CUPEL_MEMORY, call->place, "out of memory");
    cupel_value_kind kind = CUPEL_VALUE_INT;
    for (int k = 0; k < OPERANDS; k++) {
        if (!cupel_call_has(call, 1 + k)) continue;
        e->operands[k].node = cupel_call_node(b, call, 1 + k);
        if (e->operands[k].node < 0) return -1;
        if (b->nodes[e->operands[k].node].kind == CUPEL_VALUE_REAL) kind = CUPEL_VALUE_REAL;
    }
    for (int k = 0; k < OPERANDS; k++) {
        if (!cupel_call_has(call, 1 + k)) continue;
        int *node = &e->operands[k].node;
        *node = cupel_emit_as(b, kind, *node);
        if (cupel_call_has(call, 2)) *node = cupel_compose_operand(b, *node);
        if (*node < 0) return -1;
    }
    if (!read_equation(b, call, e)) return -1;
    if (e->operand_count == 2) return product(b, e);
    axes both = {0}, first = {0}, second = {0}, summed = {0};
    sort_labels(e, &both, &first, &second, &summed);
    return single(b, e, &summed);
}
