/* Shapes out of indices: row * N + col, with row < M, is an index into [M, N]. An index is multiplied out to
 * a sum of products; factors that are integer parameters are strides, the others walk along an axis. */
#include <string.h>

#include "init_guess.h"

enum { FACTOR_MAX = 8, PRODUCT_MAX = 24, DEPTH_MAX = 12 };

typedef struct product {
    int64_t coefficient;
    int count;
    const cupel_init_tree *factors[FACTOR_MAX];
} product;

typedef struct polynomial {
    bool known;
    int count;
    product at[PRODUCT_MAX];
} polynomial;

static bool is_size(const cupel_init_kernel *kernel, const cupel_init_tree *factor) {
    int p = factor->op == 'n' ? cupel_init_kernel_param(kernel, factor->name) : -1;
    if (factor->op == 'n' && cupel_init_kernel_derived(kernel, factor->name)) return true;
    return p >= 0 && kernel->params[p].kind == CUPEL_INIT_CLASS_INTEGER;
}

static void add_product(polynomial *p, product term) {
    if (term.coefficient == 0) return;
    if (p->count == PRODUCT_MAX) {
        p->known = false;
        return;
    }
    p->at[p->count++] = term;
}

static void expand(const cupel_init_kernel *kernel, const cupel_init_tree *tree, int depth, polynomial *out);

static void expand_product(const cupel_init_kernel *kernel, const cupel_init_tree *tree, int depth,
                           polynomial *out) {
    polynomial left = {.known = true}, right = {.known = true};
    expand(kernel, tree->child[0], depth + 1, &left);
    expand(kernel, tree->child[1], depth + 1, &right);
    out->known = out->known && left.known && right.known;
    for (int i = 0; i < left.count; i++)
        for (int k = 0; k < right.count; k++) {
            product term = left.at[i];
            if (term.count + right.at[k].count > FACTOR_MAX ||
                __builtin_mul_overflow(term.coefficient, right.at[k].coefficient, &term.coefficient)) {
                out->known = false;
                return;
            }
            for (int f = 0; f < right.at[k].count; f++) term.factors[term.count++] = right.at[k].factors[f];
            add_product(out, term);
        }
}

static void expand_sum(const cupel_init_kernel *kernel, const cupel_init_tree *tree, int depth,
                       polynomial *out) {
    expand(kernel, tree->child[0], depth + 1, out);
    int before = out->count;
    expand(kernel, tree->child[1], depth + 1, out);
    for (int i = before; i < out->count && tree->op == '-'; i++) out->at[i].coefficient *= -1;
}

/* Adds the products of tree to out. */
static void expand(const cupel_init_kernel *kernel, const cupel_init_tree *tree, int depth, polynomial *out) {
    if (depth > DEPTH_MAX || tree->op == '?') {
        out->known = false;
        return;
    }
    if (tree->op == '#') {
        add_product(out, (product){.coefficient = tree->value});
    } else if (tree->op == '+' || tree->op == '-') {
        expand_sum(kernel, tree, depth, out);
    } else if (tree->op == '*') {
        expand_product(kernel, tree, depth, out);
    } else {
        bool open = tree->op == 'n' && !cupel_init_kernel_derived(kernel, tree->name);
        const cupel_init_tree *value = open ? cupel_init_kernel_value(kernel, tree->name) : NULL;
        if (value)
            expand(kernel, value, depth + 1, out);
        else
            add_product(out, (product){.coefficient = 1, .count = 1, .factors = {tree}});
    }
}

static polynomial expanded(const cupel_init_kernel *kernel, const cupel_init_tree *tree) {
    polynomial p = {.known = true};
    expand(kernel, tree, 0, &p);
    return p;
}

/* Does factor f stand in the product as often as in like? */
static bool holds_all(const product *of, const product *like) {
    bool used[FACTOR_MAX] = {false};
    for (int i = 0; i < of->count; i++) {
        bool found = false;
        for (int k = 0; k < like->count && !found; k++)
            if (!used[k] && cupel_init_tree_equal(of->factors[i], like->factors[k])) used[k] = found = true;
        if (!found) return false;
    }
    return true;
}

static bool same(const product *a, const product *b) {
    return a->count == b->count && holds_all(a, b);
}

static bool same_polynomial(const polynomial *a, const polynomial *b) {
    if (a->count != b->count || !a->known || !b->known) return false;
    for (int i = 0; i < a->count; i++) {
        bool found = false;
        for (int k = 0; k < b->count && !found; k++)
            found = a->at[i].coefficient == b->at[k].coefficient && same(&a->at[i], &b->at[k]);
        if (!found) return false;
    }
    return true;
}

/* The part of a product that is strides, and the rest. */
static product sizes_of(const cupel_init_kernel *kernel, const product *term, bool sizes) {
    product part = {.coefficient = sizes ? 1 : term->coefficient};
    for (int i = 0; i < term->count; i++)
        if (is_size(kernel, term->factors[i]) == sizes) part.factors[part.count++] = term->factors[i];
    return part;
}

static const cupel_init_tree *product_tree(const product *p, cupel_arena *arena) {
    const cupel_init_tree *tree = NULL;
    for (int i = 0; i < p->count; i++)
        tree = tree ? cupel_init_tree_pair('*', tree, p->factors[i], arena) : p->factors[i];
    return tree;
}

/* whole / by where it comes out even: rows * cols by cols is rows. */
static const cupel_init_tree *quotient(const cupel_init_tree *whole, const cupel_init_tree *by,
                                       cupel_arena *arena) {
    if (cupel_init_tree_equal(whole, by)) return cupel_init_tree_number(1, arena);
    if (by->op == '*') { /* by one factor after the other */
        const cupel_init_tree *rest = quotient(whole, by->child[1], arena);
        return rest ? quotient(rest, by->child[0], arena) : NULL;
    }
    if (whole->op != '*') return NULL;
    for (int i = 0; i < 2; i++) {
        const cupel_init_tree *rest = quotient(whole->child[i], by, arena);
        if (!rest) continue;
        if (rest->op == '#' && rest->value == 1) return whole->child[1 - i];
        return i == 0 ? cupel_init_tree_pair('*', rest, whole->child[1], arena)
                      : cupel_init_tree_pair('*', whole->child[0], rest, arena);
    }
    return NULL;
}

static const cupel_init_tree *axis_extent(const cupel_guess *guess, const char *name) {
    static const char *const invented[] = {"rows", "batch", "outer"};
    const cupel_init_kernel *kernel = guess->kernel;
    bool block = strncmp(name, "blockIdx.", 9) == 0, thread = strncmp(name, "threadIdx.", 10) == 0;
    int axis = name[strlen(name) - 1] - 'x';
    if ((!block && !thread) || axis < 0 || axis > 2) return NULL;
    const cupel_init_launch *launch = &kernel->launch;
    const cupel_init_tree *said = block ? (axis < launch->grid_count ? launch->grid[axis] : NULL)
                                        : (axis < launch->block_count ? launch->block[axis] : NULL);
    if (said && cupel_init_tree_known(said)) return said;
    const cupel_init_tree *blocks = block ? cupel_guess_blocks(guess, axis) : NULL;
    if (blocks) return blocks;
    return block ? cupel_init_tree_name(invented[axis], kernel->file->arena) : NULL;
}

static const cupel_init_tree *factor_extent(const cupel_guess *guess, const cupel_init_tree *factor,
                                            int depth) {
    const cupel_init_kernel *kernel = guess->kernel;
    cupel_arena *arena = kernel->file->arena;
    if (depth > DEPTH_MAX) return NULL;
    if (factor->op == 'n') {
        int v = cupel_init_kernel_variable(kernel, factor->name);
        if (v >= 0 && kernel->variables[v].bound) return kernel->variables[v].bound;
        if (v >= 0 && kernel->variables[v].value)
            return factor_extent(guess, kernel->variables[v].value, depth + 1);
        return axis_extent(guess, factor->name);
    }
    if (factor->op != '%' && factor->op != '/') return NULL;
    const cupel_init_tree *by =
        cupel_init_tree_resolve(factor->child[1], cupel_init_kernel_value, kernel, arena);
    if (factor->op == '%') return cupel_init_tree_known(by) ? by : NULL;
    const cupel_init_tree *whole = factor_extent(guess, factor->child[0], depth + 1);
    return whole ? quotient(whole, by, arena) : NULL;
}

/* How far the walking parts of one stride go: `group` holds the products, strides removed. */
static const cupel_init_tree *group_extent(const cupel_guess *guess, const polynomial *group) {
    const cupel_init_kernel *kernel = guess->kernel;
    if (group->count == 1 && group->at[0].count == 1 && group->at[0].coefficient == 1) {
        const cupel_init_tree *extent = factor_extent(guess, group->at[0].factors[0], 0);
        if (extent) return extent;
    }
    if (group->count == 1 && group->at[0].count == 1 && group->at[0].coefficient > 1) { /* 4 * i, i < n / 4 */
        const cupel_init_tree *extent = factor_extent(guess, group->at[0].factors[0], 0);
        const cupel_init_tree *by = cupel_init_tree_number(group->at[0].coefficient, kernel->file->arena);
        if (extent && extent->op == '/' && cupel_init_tree_equal(extent->child[1], by))
            return extent->child[0];
        if (extent && extent->op != '/')
            return cupel_init_tree_resolve(cupel_init_tree_pair('*', extent, by, kernel->file->arena), NULL,
                                           NULL, kernel->file->arena);
    }
    for (int v = 0; v < kernel->variable_count; v++) {
        const cupel_init_variable *variable = &kernel->variables[v];
        if (!variable->bound || !variable->value) continue;
        polynomial value = expanded(kernel, variable->value);
        if (same_polynomial(&value, group)) return variable->bound;
    }
    for (int i = 0; i < group->count; i++) /* a single bounded walker among steps of a thread */
        if (group->at[i].count == 1 && group->at[i].factors[0]->op == 'n') {
            int v = cupel_init_kernel_variable(kernel, group->at[i].factors[0]->name);
            if (v >= 0 && kernel->variables[v].bound && kernel->variables[v].bound->op != '#')
                return kernel->variables[v].bound;
        }
    return NULL;
}

/* Row * 64 + i: the rows' extent and 64, where one stride is a number; false when the group is no such sum.
 */
static bool numeric_axes(const cupel_guess *guess, const polynomial *group, const cupel_init_tree *axes[2]) {
    int64_t stride = 1;
    polynomial rows = {.known = true};
    for (int i = 0; i < group->count; i++)
        if (group->at[i].coefficient > stride) stride = group->at[i].coefficient;
    for (int i = 0; i < group->count; i++)
        if (group->at[i].coefficient == stride) {
            add_product(&rows, group->at[i]);
            rows.at[rows.count - 1].coefficient = 1;
        }
    if (stride < 8 || rows.count == group->count) return false;
    axes[0] = group_extent(guess, &rows);
    axes[1] = cupel_init_tree_number(stride, guess->kernel->file->arena);
    return axes[0] != NULL && axes[0]->op != '?';
}

/* Puts the axes of an extent at the front: a product of names is several axes. */
static int add_axes(const cupel_init_tree *extent, const cupel_init_tree **shape, int rank) {
    if (!extent) return -1;
    if (extent->op == '*' && extent->child[0]->op != '#' && extent->child[1]->op != '#') {
        rank = add_axes(extent->child[0], shape, rank);
        return rank < 0 ? rank : add_axes(extent->child[1], shape, rank);
    }
    if (rank == CUPEL_GUESS_RANK_MAX) return -1;
    shape[rank] = extent;
    return rank + 1;
}

/* The strides of an index, longest first, each once; -1 when one is no part of the next. */
static int strides_of(const cupel_init_kernel *kernel, const polynomial *index,
                      product strides[PRODUCT_MAX]) {
    int count = 0;
    for (int i = 0; i < index->count; i++) {
        product sizes = sizes_of(kernel, &index->at[i], true);
        bool seen = false;
        for (int k = 0; k < count; k++) seen = seen || same(&strides[k], &sizes);
        if (seen || (index->at[i].count == 0)) continue;
        int at = count++;
        while (at > 0 && strides[at - 1].count < sizes.count) strides[at] = strides[at - 1], at--;
        strides[at] = sizes;
    }
    if (count == 0 || strides[count - 1].count > 0) strides[count++] = (product){.coefficient = 1};
    for (int i = 0; i + 1 < count; i++)
        if (!holds_all(&strides[i + 1], &strides[i])) return -1;
    return count;
}

static polynomial group_of(const cupel_init_kernel *kernel, const polynomial *index, const product *stride) {
    polynomial group = {.known = true};
    for (int i = 0; i < index->count; i++) {
        product sizes = sizes_of(kernel, &index->at[i], true), rest = sizes_of(kernel, &index->at[i], false);
        if (same(&sizes, stride) && rest.count > 0) add_product(&group, rest);
    }
    return group;
}

/* Rank and shape that one index tells of; -1: nothing. */
static int shape_of_index(const cupel_guess *guess, const cupel_init_tree *tree,
                          const cupel_init_tree *shape[CUPEL_GUESS_RANK_MAX]) {
    const cupel_init_kernel *kernel = guess->kernel;
    cupel_arena *arena = kernel->file->arena;
    polynomial index = expanded(kernel, tree);
    product strides[PRODUCT_MAX + 1];
    if (!index.known) return -1;
    bool constant = true;
    for (int i = 0; i < index.count; i++) constant = constant && index.at[i].count == 0;
    if (constant) return 0;
    int count = strides_of(kernel, &index, strides);
    if (count < 0) return -1;
    polynomial outer = group_of(kernel, &index, &strides[0]);
    const cupel_init_tree *numeric[2];
    int rank;
    if (count == 1 && numeric_axes(guess, &outer, numeric)) {
        rank = add_axes(numeric[0], shape, 0);
        return rank < 0 ? rank : add_axes(numeric[1], shape, rank);
    }
    rank = add_axes(group_extent(guess, &outer), shape, 0);
    for (int i = 1; i < count && rank >= 0; i++) {
        product between = {.coefficient = 1};
        product inner = strides[i];
        for (int f = 0; f < strides[i - 1].count; f++) {
            bool shared = false;
            for (int k = 0; k < inner.count && !shared; k++)
                if (cupel_init_tree_equal(inner.factors[k], strides[i - 1].factors[f])) {
                    inner.factors[k] = inner.factors[--inner.count];
                    shared = true;
                }
            if (!shared) between.factors[between.count++] = strides[i - 1].factors[f];
        }
        rank = add_axes(product_tree(&between, arena), shape, rank);
    }
    return rank;
}

int cupel_guess_shape(const cupel_guess *guess, int param,
                      const cupel_init_tree *shape[CUPEL_GUESS_RANK_MAX]) {
    const cupel_init_kernel *kernel = guess->kernel;
    cupel_arena *arena = kernel->file->arena;
    int best = -1;
    for (int i = 0; i < kernel->access_count; i++) {
        const cupel_init_tree *found[CUPEL_GUESS_RANK_MAX] = {NULL};
        if (kernel->accesses[i].param != param) continue;
        int rank = shape_of_index(guess, kernel->accesses[i].index, found);
        bool whole = rank > 0 && rank == best && shape[rank - 1]->op == '/' && found[rank - 1]->op != '/';
        if (rank <= best && !whole) continue; /* n rather than n / 4 */
        best = rank;
        memcpy(shape, found, sizeof found);
    }
    if (best > 0 && kernel->params[param].vector > 1)
        shape[best - 1] = cupel_init_tree_pair(
            '*', shape[best - 1], cupel_init_tree_number(kernel->params[param].vector, arena), arena);
    return best;
}
