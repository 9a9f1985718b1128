/* What a kernel computes, by its name and the shapes of its operands: only functions that the oracle has. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "init_guess.h"

enum { NAME_MAX_LENGTH = 120, OPERAND_MAX = 16 };

/* A kernel's name in two forms: "vectoradd" and "-vector-add-". */
typedef struct kernel_name {
    char compact[NAME_MAX_LENGTH], parts[NAME_MAX_LENGTH];
} kernel_name;

typedef struct operands {
    cupel_guess *guess;
    kernel_name name;
    int count; /* inputs */
    const cupel_guess_tensor *in[OPERAND_MAX];
    cupel_guess_tensor *out;
} operands;

static cupel_arena *arena_of(const operands *o) {
    return o->guess->kernel->file->arena;
}

#define FORMAT(o, ...) cupel_arena_printf(arena_of(o), __VA_ARGS__)

static kernel_name name_of(const cupel_guess *guess) {
    kernel_name n = {.compact = ""};
    size_t used = 0;
    for (const char *c = guess->id; *c && used + 1 < sizeof n.compact; c++)
        if (*c != '-') n.compact[used++] = *c;
    used = 0;
    n.parts[used++] = '-';
    for (const char *part = guess->id; *part;) { /* gelu4 counts as gelu too */
        size_t length = strcspn(part, "-"), bare = length;
        while (bare > 0 && isdigit((unsigned char)part[bare - 1])) bare--;
        if (used + 2 * length + 3 > sizeof n.parts) break;
        used += (size_t)snprintf(n.parts + used, sizeof n.parts - used, "%.*s-", (int)length, part);
        if (bare > 1 && bare < length)
            used += (size_t)snprintf(n.parts + used, sizeof n.parts - used, "%.*s-", (int)bare, part);
        part += length + (part[length] == '-');
    }
    return n;
}

/* Is one of the words (separated by blanks) in the name? Words under five letters must be a part of their
 * own. */
static bool named(const operands *o, const char *words) {
    char word[32], part[36];
    while (*words) {
        size_t length = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        snprintf(part, sizeof part, "-%s-", word);
        if (strstr(length < 5 ? o->name.parts : o->name.compact, length < 5 ? part : word)) return true;
        words += length + (words[length] == ' ');
    }
    return false;
}

static bool lower_contains(const char *text, const char *part) {
    char lower[64];
    size_t n = 0;
    for (; text[n] && n + 1 < sizeof lower; n++) lower[n] = (char)tolower((unsigned char)text[n]);
    lower[n] = '\0';
    return strstr(lower, part) != NULL;
}

/* The input whose name holds one of the words; NULL: none. */
static const cupel_guess_tensor *input_named(const operands *o, const char *words) {
    char word[32];
    while (*words) {
        size_t length = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        for (int i = 0; i < o->count; i++)
            if (length < 3 ? strcmp(o->in[i]->name, word) == 0 : lower_contains(o->in[i]->name, word))
                return o->in[i];
        words += length + (words[length] == ' ');
    }
    return NULL;
}

static const char *scalar_named(const operands *o, const char *words) {
    char word[32];
    while (*words) {
        size_t length = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        for (int i = 0; i < o->guess->scalar_count; i++)
            if (length < 3 ? strcmp(o->guess->scalars[i].name, word) == 0
                           : lower_contains(o->guess->scalars[i].name, word))
                return o->guess->scalars[i].name;
        words += length + (words[length] == ' ');
    }
    return NULL;
}

static bool same_extent(const cupel_guess_tensor *a, int i, const cupel_guess_tensor *b, int k) {
    return i >= 0 && k >= 0 && i < a->rank && k < b->rank && cupel_init_tree_equal(a->shape[i], b->shape[k]);
}

static bool same_shape(const cupel_guess_tensor *a, const cupel_guess_tensor *b) {
    bool same = a->rank == b->rank;
    for (int i = 0; i < a->rank && same; i++) same = same_extent(a, i, b, i);
    return same;
}

/* --- pointwise --- */

static const struct unary {
    const char *words, *before, *after; /* around the operand */
} unaries[] = {{"leakyrelu lrelu", "leaky_relu(", ")"},
               {"relu6", "clamp(", ", 0, 6)"},
               {"hardswish", "hardswish(", ")"},
               {"hardsigmoid", "hardsigmoid(", ")"},
               {"hardtanh", "hardtanh(", ")"},
               {"logsigmoid", "logsigmoid(", ")"},
               {"softplus", "softplus(", ")"},
               {"softsign", "softsign(", ")"},
               {"relu", "relu(", ")"},
               {"gelu newgelu fastgelu", "gelu(", ")"},
               {"silu swish", "silu(", ")"},
               {"selu", "selu(", ")"},
               {"celu", "celu(", ")"},
               {"elu", "elu(", ")"},
               {"mish", "mish(", ")"},
               {"sigmoid", "sigmoid(", ")"},
               {"tanh", "tanh(", ")"},
               {"rsqrt", "rsqrt(", ")"},
               {"sqrt", "sqrt(", ")"},
               {"square sqr", "", " ** 2"},
               {"exp", "exp(", ")"},
               {"log", "log(", ")"},
               {"abs", "abs(", ")"},
               {"neg negate", "-", ""},
               {"sin", "sin(", ")"},
               {"cos", "cos(", ")"},
               {"erf", "erf(", ")"},
               {"floor", "floor(", ")"},
               {"ceil", "ceil(", ")"},
               {"reciprocal recip", "reciprocal(", ")"}};

static const char *gelu_of(const operands *o, const char *x) {
    const cupel_init_kernel *kernel = o->guess->kernel;
    static const char *const quick[] = {"1.702"}, *const exact[] = {"erf", "normcdf"},
                             *const smooth[] = {"tanh", "htanh", "__tanhf", "0.044715", "0.0447", "0.797"};
    if (cupel_init_kernel_reaches(kernel, quick, 1)) return FORMAT(o, "%s * sigmoid(1.702 * %s)", x, x);
    bool erf = cupel_init_kernel_reaches(kernel, exact, 2),
         tanh = cupel_init_kernel_reaches(kernel, smooth, 6);
    if (erf && !tanh) return FORMAT(o, "gelu(%s)", x);
    return FORMAT(o,
                  tanh && !erf ? "gelu(%s, approximate='tanh')"
                               : "gelu(%s, approximate=" CUPEL_GUESS_PLACEHOLDER ")",
                  x);
}

/* A function with a number of its own: what the scalar or the code says. none: what no number means, or NULL.
 */
static const char *parametric(const operands *o, const char *function, const char *x, const char *keyword,
                              const char *none) {
    const char *value = scalar_named(o, "slope alpha leak");
    if (!value && o->guess->scalar_count == 1) value = o->guess->scalars[0].name;
    if (!value) value = cupel_guess_factor(o->guess->kernel, none);
    return FORMAT(o, "%s(%s, %s=%s)", function, x, keyword, value);
}

/* Of hardtanh and its like: only with the numbers that PyTorch's have is it what the name says. */
static bool has_only(const operands *o, const double *usual, int count) {
    double values[8];
    int found = cupel_guess_reals(o->guess->kernel, values, 8);
    for (int i = 0; i < found && i < 8; i++) {
        bool known = false;
        for (int k = 0; k < count; k++) known = known || values[i] == usual[k] || values[i] == -usual[k];
        if (!known) return false;
    }
    return found <= 8;
}

/* Activations that have defaults; NULL: it is none of them. */
static const char *with_defaults(const operands *o, const char *before, const char *x) {
    static const double sixths[] = {3,          6,           1. / 6,    0.5,
                                    0.16666667, 0.166666667, 0.1666667, 0.16666666666666666},
                        twenty[] = {20};
    if (strcmp(before, "gelu(") == 0) return gelu_of(o, x);
    if (strcmp(before, "leaky_relu(") == 0)
        return parametric(o, "leaky_relu", x, "negative_slope", CUPEL_GUESS_PLACEHOLDER);
    if (strcmp(before, "elu(") == 0) return parametric(o, "elu", x, "alpha", "1");
    if (strcmp(before, "celu(") == 0) return parametric(o, "celu", x, "alpha", "1");
    if (strcmp(before, "hardtanh(") == 0)
        return has_only(o, NULL, 0) ? NULL
                                    : FORMAT(o, "hardtanh(%s, min_val=%s, max_val=%s)", x,
                                             cupel_guess_bound(o->guess->kernel, false),
                                             cupel_guess_bound(o->guess->kernel, true));
    if (strcmp(before, "hardsigmoid(") == 0 || strcmp(before, "hardswish(") == 0)
        return has_only(o, sixths, 8) ? NULL : CUPEL_GUESS_PLACEHOLDER;
    if (strcmp(before, "softplus(") == 0 && !has_only(o, twenty, 1))
        return FORMAT(
            o, "softplus(%s, beta=" CUPEL_GUESS_PLACEHOLDER ", threshold=" CUPEL_GUESS_PLACEHOLDER ")", x);
    return NULL;
}

/* The activation that the name speaks of, around x; x itself when it speaks of none; *found tells. */
static const char *activated(const operands *o, const char *x, bool *found) {
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++) {
        if (!named(o, unaries[i].words)) continue;
        *found = true;
        const char *text = with_defaults(o, unaries[i].before, x);
        if (text) return text;
        bool brackets = !strchr(unaries[i].before, '(') && strchr(x, ' ');
        return FORMAT(o, "%s%s%s%s%s", unaries[i].before, brackets ? "(" : "", x, brackets ? ")" : "",
                      unaries[i].after);
    }
    *found = false;
    return x;
}

static const char *sum_of_operands(const operands *o, const char *op) {
    char text[200];
    size_t used = 0;
    for (int i = 0; i < o->count && used < 150; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.40s", i ? op : "", o->in[i]->name);
    return FORMAT(o, "%s", text);
}

static const char *pointwise(const operands *o) {
    const char *a = o->in[0]->name, *b = o->count > 1 ? o->in[1]->name : NULL;
    const char *alpha =
        o->guess->scalar_count == 1 ? scalar_named(o, "alpha a scale factor scalar s k") : NULL;
    bool act;
    if (named(o, "softmax layernorm rmsnorm norm matmul gemm sgemm hgemm matrixmul matmult mm gemv matvec "
                 "transpose cumsum scan prefix prefixsum reduce reduction dot embedding argmax argmin"))
        return NULL; /* the name speaks of something else, which its shapes do not bear out */
    if (b && named(o, "swiglu siluandmul silumul")) return FORMAT(o, "silu(%s) * %s", a, b);
    if (b && named(o, "geglu")) return FORMAT(o, "%s * %s", gelu_of(o, a), b);
    if (b && o->in[0] == o->out && alpha && named(o, "saxpy axpy daxpy"))
        return FORMAT(o, "%s * %s + %s", alpha, b, a);
    if (b && alpha && named(o, "saxpy axpy daxpy")) return FORMAT(o, "%s * %s + %s", alpha, a, b);
    if (named(o, "clamp clip")) {
        const char *lo = scalar_named(o, "min lo low"), *hi = scalar_named(o, "max hi high");
        if (!lo) lo = cupel_guess_bound(o->guess->kernel, false);
        if (!hi) hi = cupel_guess_bound(o->guess->kernel, true);
        if (!b && same_shape(o->in[0], o->out)) return FORMAT(o, "clamp(%s, min=%s, max=%s)", a, lo, hi);
    }
    const char *power = scalar_named(o, "exponent power exp p");
    if (!b && power && named(o, "pow power")) return FORMAT(o, "pow(%s, %s)", a, power);
    const char *base = a;
    bool binary = b != NULL;
    if (!b && !same_shape(o->in[0], o->out)) return NULL;
    if (b && named(o, "add vecadd vectoradd vadd matadd matrixadd arrayadd addvec addvectors addarrays "
                      "addkernel bias biasadd residual sumarrays plus"))
        base = sum_of_operands(o, " + ");
    else if (b && named(o, "sub subtract vecsub vectorsub minus"))
        base = FORMAT(o, "%s - %s", a, b);
    else if (b && named(o, "mul multiply vecmul vectormul hadamard elementwisemul times product prod"))
        base = sum_of_operands(o, " * ");
    else if (b && named(o, "div divide"))
        base = FORMAT(o, "%s / %s", a, b);
    else if (!b && alpha && named(o, "scale scalar mul multiply scal sscal"))
        base = FORMAT(o, "%s * %s", a, alpha), binary = true;
    else if (!b && alpha && named(o, "add addscalar"))
        base = FORMAT(o, "%s + %s", a, alpha), binary = true;
    else
        binary = false;
    const char *text = activated(o, base, &act);
    if (act && (binary || o->count == 1)) return text;
    if (binary) return base;
    return o->count == 1 && named(o, "copy memcpy identity clone copykernel") ? a : NULL;
}

/* --- rows: softmax and norms --- */

static bool is_other(void *self, const char *name) {
    return strcmp(self, name) != 0;
}

static bool mentions(const cupel_init_tree *tree, const char *name) {
    return !cupel_init_tree_names(tree, is_other, (void *)(uintptr_t)name);
}

/* The axis that a block walks along: the only one of three or more whose extent the grid does not know. */
static const char *walked_axis(const operands *o, const cupel_guess_tensor *x) {
    int found = -1;
    for (int a = 0; a < x->rank && x->rank > 2; a++) {
        bool in_grid = false;
        for (int g = 0; g < o->guess->grid_count && x->shape[a]->op == 'n'; g++)
            in_grid = in_grid || mentions(o->guess->grid[g], x->shape[a]->name);
        if (in_grid) continue;
        if (found >= 0) return "-1";
        found = a;
    }
    return found < 0 || found == x->rank - 1 ? "-1" : FORMAT(o, "%d", found);
}

static const char *normed(const operands *o) {
    const char *x = o->in[0]->name;
    const cupel_guess_tensor *weight = input_named(o, "gamma weight scale g w"),
                             *bias = input_named(o, "beta bias b"),
                             *first = input_named(o, "input x inp in src");
    if (first) x = first->name;
    if (named(o, "logsoftmax")) return FORMAT(o, "log_softmax(%s, axis=%s)", x, walked_axis(o, o->in[0]));
    if (named(o, "softmax"))
        return o->count == 1 ? FORMAT(o, "softmax(%s, axis=%s)", x, walked_axis(o, o->in[0])) : NULL;
    bool layer = named(o, "layernorm"), rms = named(o, "rmsnorm");
    if (!layer && !rms) return NULL;
    const char *eps = scalar_named(o, "eps");
    if (!eps) eps = cupel_guess_eps(o->guess->kernel);
    if (o->count > 1 + (weight != NULL) + (bias != NULL && layer)) return NULL; /* it adds something */
    if ((weight && weight->rank != 1) || (bias && bias->rank != 1)) return NULL;
    char text[256];
    size_t used = (size_t)snprintf(text, sizeof text, "%s(%.50s", layer ? "layer_norm" : "rms_norm", x);
    if (weight) used += (size_t)snprintf(text + used, sizeof text - used, ", weight=%.50s", weight->name);
    if (bias && layer) used += (size_t)snprintf(text + used, sizeof text - used, ", bias=%.50s", bias->name);
    used += (size_t)snprintf(text + used, sizeof text - used, ", eps=%.50s", eps);
    snprintf(text + used, sizeof text - used, ")");
    return FORMAT(o, "%s", text);
}

/* --- products --- */

/* matmul of the two inputs that fit the output, transposed where their shapes say so. */
static const char *multiplied(const operands *o) {
    const cupel_guess_tensor *a = o->in[0], *b = o->count > 1 ? o->in[1] : NULL, *c = o->out;
    if (!b) return NULL;
    if (c->rank == 1 && a->rank == 2 && b->rank == 1)
        return same_extent(a, 1, b, 0) ? FORMAT(o, "matmul(%s, %s)", a->name, b->name) : NULL;
    if (c->rank == 1 && a->rank == 1 && b->rank == 2)
        return same_extent(b, 1, a, 0) ? FORMAT(o, "matmul(%s, %s)", b->name, a->name) : NULL;
    if (a->rank < 2 || b->rank < 2 || c->rank < 2) return NULL;
    int ar = a->rank, br = b->rank, cr = c->rank;
    bool left = same_extent(a, ar - 2, c, cr - 2), left_turned = same_extent(a, ar - 1, c, cr - 2);
    bool right = same_extent(b, br - 1, c, cr - 1), right_turned = same_extent(b, br - 2, c, cr - 1);
    for (int turn = 0; turn < 4; turn++) {
        bool ta = turn >= 2, tb = turn % 2;
        if (!(ta ? left_turned : left) || !(tb ? right_turned : right)) continue;
        if (!same_extent(a, ta ? ar - 2 : ar - 1, b, tb ? br - 1 : br - 2)) continue;
        return FORMAT(o,
                      ta && tb ? "matmul(transpose(%s), transpose(%s))"
                      : ta     ? "matmul(transpose(%s), %s)"
                      : tb     ? "matmul(%s, transpose(%s))"
                               : "matmul(%s, %s)",
                      a->name, b->name);
    }
    return NULL;
}

static const char *product(const operands *o) {
    if (!named(o, "matmul gemm sgemm hgemm matrixmul matmult matrixmult mm mmul gemv sgemv matvec "
                  "matrixvector linear "
                  "multiplymatri matrixproduct dense fullyconnected"))
        return NULL;
    const char *text = multiplied(o);
    if (!text) return NULL;
    const char *alpha = scalar_named(o, "alpha"), *beta = scalar_named(o, "beta");
    if (alpha) text = FORMAT(o, "%s * %s", alpha, text);
    if (beta && o->out->role == CUPEL_GUESS_BOTH) text = FORMAT(o, "%s + %s * %s", text, beta, o->out->name);
    if (!beta && o->out->role == CUPEL_GUESS_BOTH) text = FORMAT(o, "%s + %s", text, o->out->name);
    const cupel_guess_tensor *bias = o->count > 2 ? input_named(o, "bias b") : NULL;
    if (bias && bias != o->in[1]) text = FORMAT(o, "%s + %s", text, bias->name);
    bool act;
    return activated(o, text, &act);
}

/* --- reductions and scans --- */

static const struct reduction {
    const char *words, *function, *padding;
} reductions[] = {{"argmax", "argmax", NULL},
                  {"argmin", "argmin", NULL},
                  {"mean average avg", "mean", NULL},
                  {"max maximum reducemax rowmax", "amax", "-inf"},
                  {"min minimum reducemin", "amin", "inf"},
                  {"norm l2norm", "norm", NULL},
                  {"variance var", "var", NULL},
                  {"prod", "prod", "1"},
                  {"sum reduce reduction rowsum blocksum reducesum", "sum", "0"}};

static const char *axis_of(const operands *o, const cupel_guess_tensor *x) {
    const cupel_guess_tensor *y = o->out;
    bool one = y->rank == 0 || (y->rank == 1 && y->shape[0]->op == '#' && y->shape[0]->value == 1);
    if (one) return y->rank == 0 ? "" : NULL;
    if (y->rank == x->rank && same_extent(x, 0, y, 0) && x->rank > 1) return NULL;
    if (y->rank != x->rank - 1) return NULL;
    for (int axis = y->rank; axis >= 0; axis--) { /* the axis that the output lacks */
        bool rest = true;
        for (int i = 0; i < y->rank; i++) rest = rest && same_extent(x, i + (i >= axis), y, i);
        if (rest) return axis == y->rank ? ", axis=-1" : FORMAT(o, ", axis=%d", axis);
    }
    return NULL;
}

/* One result for each block of a vector: the vector is padded to whole blocks. */
static const char *partial(const operands *o, const struct reduction *r, const char *x) {
    const cupel_guess_tensor *y = o->out;
    if (!r->padding || y->rank != 1 || o->in[0]->rank != 1 || y->shape[0]->op != 'c' ||
        o->in[0]->shape[0]->op != 'n' || strcmp(y->shape[0]->name, "ceil_div") != 0 ||
        !cupel_init_tree_equal(y->shape[0]->child[0], o->in[0]->shape[0]))
        return NULL;
    const char *step = cupel_init_tree_text(y->shape[0]->child[1], arena_of(o));
    if (cupel_guess_dim_find(o->guess, "G") >= 0) return NULL;
    if (o->guess->let_count + 2 > CUPEL_GUESS_LET_MAX) return NULL;
    o->guess->lets[o->guess->let_count++] =
        (cupel_guess_let){"G", cupel_init_tree_text(y->shape[0], arena_of(o)), "one result for each block"};
    o->guess->lets[o->guess->let_count++] =
        (cupel_guess_let){"REST", FORMAT(o, "%s * G - %s", step, o->in[0]->shape[0]->name), ""};
    return FORMAT(o, "%s(reshape(pad(%s, [0, REST], value=%s), [G, %s]), axis=-1)", r->function, x,
                  r->padding, step);
}

static const char *reduced(const operands *o) {
    const char *x = o->in[0]->name;
    if (o->count > 1 && named(o, "dot dotproduct innerproduct dotprod"))
        x = FORMAT(o, "%s * %s", x, o->in[1]->name);
    bool dot = x != o->in[0]->name;
    for (size_t i = dot ? sizeof reductions / sizeof *reductions - 1 : 0;
         i < sizeof reductions / sizeof *reductions; i++) {
        const struct reduction *r = &reductions[i];
        if (!dot && (!named(o, r->words) || o->count > 1)) continue;
        bool one = o->out->rank == 1 && o->out->shape[0]->op == '#' && o->out->shape[0]->value == 1;
        if (one) return FORMAT(o, "reshape(%s(%s), [1])", r->function, x);
        const char *axis = axis_of(o, o->in[0]);
        return axis ? FORMAT(o, "%s(%s%s)", r->function, x, axis) : partial(o, r, x);
    }
    return NULL;
}

static const char *scanned(const operands *o) {
    if (o->count != 1 || !named(o, "cumsum scan prefixsum prefix inclusivescan") || named(o, "exclusive"))
        return NULL;
    return same_shape(o->in[0], o->out) ? FORMAT(o, "cumsum(%s, axis=-1)", o->in[0]->name) : NULL;
}

static const char *turned(const operands *o) {
    if (o->count != 1 || !named(o, "transpose")) return NULL;
    const cupel_guess_tensor *x = o->in[0], *y = o->out;
    return x->rank == 2 && same_extent(x, 0, y, 1) && same_extent(x, 1, y, 0)
               ? FORMAT(o, "transpose(%s)", x->name)
               : NULL;
}

/* --- embedding --- */

static const char *looked_up(const operands *o) {
    if (o->count != 2 || !named(o, "embedding embed lookup")) return NULL;
    int ids = strcmp(o->in[0]->type, "i32") == 0 ? 0 : 1;
    cupel_guess_tensor *index = NULL, *table = NULL;
    for (int t = 0; t < o->guess->tensor_count; t++) {
        if (&o->guess->tensors[t] == o->in[ids]) index = &o->guess->tensors[t];
        if (&o->guess->tensors[t] == o->in[1 - ids]) table = &o->guess->tensors[t];
    }
    if (!index || !table || strcmp(index->type, "i32") != 0 || o->out->rank < 2) return NULL;
    int d = cupel_guess_dim_find(o->guess, "vocab_size");
    const char *rows = d >= 0 ? "vocab_size" : "V";
    cupel_guess_dim_add(o->guess, rows, 1, 512, "rows of the table");
    index->conditions = FORMAT(o, ", below: %s", rows);
    table->open = index->open = false;
    table->why = "the table; its rows are what the index may name";
    table->rank = 2;
    table->shape[0] = cupel_init_tree_name(rows, arena_of(o));
    table->shape[1] = o->out->shape[o->out->rank - 1];
    index->rank = o->out->rank - 1;
    memcpy(index->shape, o->out->shape, sizeof index->shape);
    return FORMAT(o, "embedding(%s, %s)", index->name, table->name);
}

/* torch.bincount; what is counted lies in the bins, else a count would be left out. */
static const char *counted(const operands *o) {
    if (o->count != 1 || !named(o, "histogram hist bincount") || o->out->rank != 1 || o->in[0]->rank != 1 ||
        o->out->shape[0]->op == 'c' || strcmp(o->in[0]->type, "i32") != 0)
        return NULL;
    const char *bins = cupel_init_tree_text(o->out->shape[0], arena_of(o));
    for (int t = 0; t < o->guess->tensor_count; t++)
        if (&o->guess->tensors[t] == o->in[0])
            o->guess->tensors[t].conditions = FORMAT(o, ", below: %s", bins);
    return FORMAT(o, "sum(one_hot(%s, %s), axis=0)", o->in[0]->name, bins);
}

/* --- all of them --- */

static const char *unsupported(const operands *o) {
    static const struct {
        const char *words, *what;
    } list[] = {{"backward bwd grad gradient dgrad wgrad",
                 "a gradient is written vjp(expression of the forward kernel, input, upstream gradient)"},
                {"conv2d conv1d conv3d convolution conv", "convolutions are not there yet"},
                {"maxpool avgpool pooling pool", "pooling is not there yet"},
                {"attention flash mha sdpa",
                 "attention(..) is not there yet: it can be written with matmul and softmax"},
                {"rope rotary", "rope is not there yet: it can be written with slices, cos and sin"},
                {"batchnorm groupnorm instancenorm",
                 "that norm is not there yet: it can be written with mean and var"},
                {"sort topk", "no function of the language says that yet"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (named(o, list[i].words)) return list[i].what;
    return NULL;
}

static const char *(*const families[])(const operands *) = {counted, looked_up, normed,  product,
                                                            turned,  scanned,   reduced, pointwise};

static void add_candidate(cupel_guess *guess, const char *text) {
    if (text && guess->candidate_count < CUPEL_GUESS_CANDIDATE_MAX)
        guess->candidates[guess->candidate_count++] = text;
}

static void suggest(const operands *o) {
    cupel_guess *guess = o->guess;
    const char *x = o->in[0]->name, *other = o->count > 1 ? o->in[1]->name : NULL;
    add_candidate(guess, multiplied(o));
    if (other && same_shape(o->in[0], o->out)) {
        add_candidate(guess, FORMAT(o, "%s + %s", x, other));
        add_candidate(guess, FORMAT(o, "%s * %s", x, other));
    }
    if (same_shape(o->in[0], o->out)) {
        add_candidate(guess, FORMAT(o, "relu(%s)", x));
        add_candidate(guess, FORMAT(o, "softmax(%s, axis=-1)", x));
        add_candidate(guess, FORMAT(o, "cumsum(%s, axis=-1)", x));
    }
    if (o->out->rank == 0) add_candidate(guess, FORMAT(o, "sum(%s)", x));
    if (o->out->rank == o->in[0]->rank - 1 && o->out->rank > 0) {
        add_candidate(guess, FORMAT(o, "sum(%s, axis=-1)", x));
        add_candidate(guess, FORMAT(o, "amax(%s, axis=-1)", x));
    }
}

cupel_guess_tensor *cupel_guess_output(cupel_guess *guess) {
    for (int t = 0; t < guess->tensor_count; t++)
        if (guess->tensors[t].role & CUPEL_GUESS_OUTPUT) return &guess->tensors[t];
    return NULL;
}

/* Outputs beside the first: statistics that norms keep. */
static void side_outputs(operands *o) {
    const char *eps = scalar_named(o, "eps");
    for (int t = 0; t < o->guess->tensor_count && o->count > 0; t++) {
        cupel_guess_tensor *tensor = &o->guess->tensors[t];
        if (!(tensor->role & CUPEL_GUESS_OUTPUT) || tensor == o->out || tensor->ensures) continue;
        const char *x = o->in[0]->name;
        if (lower_contains(tensor->name, "mean")) tensor->ensures = FORMAT(o, "mean(%s, axis=-1)", x);
        if (lower_contains(tensor->name, "rstd") || lower_contains(tensor->name, "inv_std"))
            tensor->ensures = FORMAT(o, "rsqrt(var(%s, axis=-1, correction=0) + %s)", x,
                                     eps ? eps : cupel_guess_eps(o->guess->kernel));
        tensor->ensures_why = "by its name";
    }
}

void cupel_guess_postcondition(cupel_guess *guess) {
    operands o = {.guess = guess, .name = name_of(guess), .out = cupel_guess_output(guess)};
    for (int t = 0; t < guess->tensor_count; t++)
        if (guess->tensors[t].role & CUPEL_GUESS_INPUT && o.count < OPERAND_MAX)
            o.in[o.count++] = &guess->tensors[t];
    if (!o.out) return;
    /* the tensor that is updated stands last among the operands of a product, first elsewhere */
    if (o.count > 2 && o.in[0] == o.out) {
        for (int i = 0; i + 1 < o.count; i++) o.in[i] = o.in[i + 1];
        o.in[o.count - 1] = o.out;
    }
    guess->note = unsupported(&o);
    for (size_t f = 0;
         f < sizeof families / sizeof *families && !guess->note && o.count > 0 && !o.out->ensures; f++)
        o.out->ensures = families[f](&o);
    if (o.out->ensures)
        o.out->ensures_why = FORMAT(
            &o, "by the name %s%s", guess->kernel->declaration->name,
            strncmp(o.out->ensures, "arg", 3) == 0 ? "; the first of equal elements, as in PyTorch" : "");
    else if (o.count > 0 && !guess->note)
        suggest(&o);
    side_outputs(&o);
}
