/* A guessed contract as YAML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "init_guess.h"

enum { COLUMN = 46 };

typedef struct output {
    char *text;
    size_t size;
    FILE *file;
} output;

static const char *text_of(const cupel_guess *guess, const cupel_init_tree *tree) {
    return cupel_init_tree_text(tree, guess->kernel->file->arena);
}

/* A line, and why it says what it says. */
static void line(FILE *out, const char *text, const char *why) {
    if (!why || !*why)
        fprintf(out, "%s\n", text);
    else if (strlen(text) < COLUMN)
        fprintf(out, "%-*s # guess: %s\n", COLUMN, text, why);
    else
        fprintf(out, "%s  # guess: %s\n", text, why);
}

#define LINE(out, why, ...)                                                                                  \
    do {                                                                                                     \
        char line_text_[600];                                                                                \
        snprintf(line_text_, sizeof line_text_, __VA_ARGS__);                                                \
        line(out, line_text_, why);                                                                          \
    } while (0)

/* Has a tensor a fixed number of elements beyond what a case holds? */
static bool is_large(const cupel_guess *guess) {
    for (int t = 0; t < guess->tensor_count; t++) {
        double elements = 1;
        for (int a = 0; a < guess->tensors[t].rank; a++)
            elements *= guess->tensors[t].shape[a]->op == '#' ? (double)guess->tensors[t].shape[a]->value : 1;
        if (elements > CUPEL_GUESS_ELEMENTS_MAX) return true;
    }
    return false;
}

static void write_head(const cupel_guess *guess, const char *source, FILE *out) {
    const cupel_source_kernel *facts = guess->kernel->facts;
    fprintf(out, "# A contract for %s (%s:%d), guessed by cupel init. Look at every line with \"guess\":\n",
            facts->name, facts->file, facts->line);
    fprintf(out, "# it was read off the code or its names. docs/writing-contracts.md says how; "
                 "docs/contract.md lists the keys.\n");
    const cupel_source_refusal *refusal = cupel_source_refused(guess->kernel->file->source, facts->name);
    if (refusal)
        fprintf(out, "# The emulator will refuse this kernel: %s in line %d %s not supported.\n",
                refusal->what, refusal->line, refusal->plural ? "are" : "is");
    if (is_large(guess))
        fprintf(
            out,
            "# Its sizes are constants of the file, too large for a search: compile it with smaller ones.\n");
    fprintf(out, "cupel: 1\nid: %s\n", guess->id);
    bool plain = source && !source[strcspn(source, " ,:#{}[]&*!|>'\"%@`\\")];
    if (source && plain) fprintf(out, "source: {file: %s}\n", source);
    if (source && !plain) { /* in single quotes, which YAML doubles */
        fprintf(out, "source: {file: '");
        for (const char *c = source; *c; c++) fprintf(out, *c == '\'' ? "''" : "%c", *c);
        fprintf(out, "'}\n");
    }
}

static void write_dims(const cupel_guess *guess, FILE *out) {
    fprintf(out, "\ndims:\n");
    for (int d = 0; d < guess->dim_count; d++) {
        const cupel_guess_dim *dim = &guess->dims[d];
        if (dim->lo == dim->hi)
            LINE(out, dim->why, "  %s: %lld", dim->name, (long long)dim->lo);
        else
            LINE(out, dim->why, "  %s: %lld..%lld", dim->name, (long long)dim->lo, (long long)dim->hi);
    }
    if (guess->let_count) fprintf(out, "let:\n");
    for (int l = 0; l < guess->let_count; l++)
        LINE(out, guess->lets[l].why, "  %s: \"%s\"", guess->lets[l].name, guess->lets[l].value);
    if (guess->require_count) fprintf(out, "requires:\n");
    for (int r = 0; r < guess->require_count; r++)
        LINE(out, guess->requires_[r].why, "  - %s", guess->requires_[r].text);
    if (guess->type_variable) {
        fprintf(out, "types:\n");
        LINE(out, guess->types_why, "  %s: [%s]", guess->type_variable, guess->types);
    }
    if (guess->scalar_count) fprintf(out, "params:\n");
    for (int s = 0; s < guess->scalar_count; s++)
        LINE(out, guess->scalars[s].why, "  %s: %s", guess->scalars[s].name, guess->scalars[s].value);
}

/* Macros that the file defines only where nobody has, as variants: for the author to claim. */
static void write_variants(const cupel_guess *guess, const char *source, FILE *out) {
    enum { TUNABLE_MAX = 4 };
    const char *file = guess->kernel->facts->file, *slash = strrchr(file, '/');
    cupel_init_tunable t[TUNABLE_MAX];
    int count = 0;
    for (size_t i = 0; count < TUNABLE_MAX && cupel_init_tunable_next(guess->kernel, &i, &t[count]);) count++;
    if (count == 0) return;
    fprintf(out, "\n# The compiler may override");
    for (int i = 0; i < count; i++) fprintf(out, "%s %s (line %d)", i ? " and" : "", t[i].name, t[i].line);
    fprintf(out, ". To claim other values too, say which, and write\n# the name for the value in grid, block "
                 "and shared below, where it is meant:\n# variants: {");
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%s: [%lld, %lld]", i ? ", " : "", t[i].name, (long long)t[i].value,
                (long long)(t[i].value > 1 && t[i].value % 2 == 0 ? t[i].value / 2 : 2 * t[i].value));
    fprintf(out, "}\n# source: {file: %s, defines: {", source ? source : slash ? slash + 1 : file);
    for (int i = 0; i < count; i++) fprintf(out, "%s%s: $%s", i ? ", " : "", t[i].name, t[i].name);
    fprintf(out, "}}\n");
}

static void write_tensor(const cupel_guess *guess, const cupel_guess_tensor *tensor, bool output_part,
                         FILE *out) {
    char shape[300] = "";
    size_t used = 0;
    for (int a = 0; a < tensor->rank && used < sizeof shape; a++) {
        const char *extent = text_of(guess, tensor->shape[a]);
        const char *quote = strpbrk(extent, ",") ? "\"" : "";
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%s%s%s", a ? ", " : "", quote, extent,
                                 quote);
    }
    if (tensor->open) snprintf(shape, sizeof shape, "%s", CUPEL_GUESS_PLACEHOLDER);
    bool both = tensor->role == CUPEL_GUESS_BOTH;
    LINE(out, both && output_part ? "updated in place; in ensures its name means the old value" : tensor->why,
         "  %s: {type: %s, shape: [%s]%s}", tensor->name, tensor->type, shape,
         both && output_part ? "" : tensor->conditions);
}

static void write_tensors(const cupel_guess *guess, FILE *out) {
    int inputs = 0;
    for (int t = 0; t < guess->tensor_count; t++) inputs += guess->tensors[t].role & CUPEL_GUESS_INPUT;
    fprintf(out, inputs ? "\ninputs:\n" : "\ninputs: {}\n");
    for (int t = 0; t < guess->tensor_count; t++)
        if (guess->tensors[t].role & CUPEL_GUESS_INPUT) write_tensor(guess, &guess->tensors[t], false, out);
    fprintf(out, "outputs:\n");
    for (int t = 0; t < guess->tensor_count; t++)
        if (guess->tensors[t].role & CUPEL_GUESS_OUTPUT) write_tensor(guess, &guess->tensors[t], true, out);
}

static void write_ensures(const cupel_guess *guess, FILE *out) {
    fprintf(out, "\nensures:\n");
    for (int t = 0; t < guess->tensor_count; t++) {
        const cupel_guess_tensor *tensor = &guess->tensors[t];
        if (!(tensor->role & CUPEL_GUESS_OUTPUT)) continue;
        if (tensor->ensures && guess->doubted_output && strcmp(tensor->name, guess->doubted_output) == 0) {
            fprintf(out, "  %s: " CUPEL_GUESS_PLACEHOLDER "  # guess not borne out by a trial run: %s\n",
                    tensor->name, guess->doubt);
            fprintf(out, "  # either the kernel or the guess is wrong; it was:\n  # %s: \"%s\"\n",
                    tensor->name, tensor->ensures);
            continue;
        }
        if (tensor->ensures) {
            LINE(out, tensor->ensures_why, "  %s: \"%s\"", tensor->name, tensor->ensures);
            continue;
        }
        LINE(out,
             guess->note ? guess->note : "none; say what it holds afterwards (cupel ops lists the functions)",
             "  %s: %s", tensor->name, CUPEL_GUESS_PLACEHOLDER);
        for (int c = 0; c < guess->candidate_count; c++)
            fprintf(out, "  # %s: \"%s\"\n", tensor->name, guess->candidates[c]);
    }
    if (guess->accumulate) LINE(out, guess->accumulate_why, "accumulate: %s", guess->accumulate);
}

static void axes(const cupel_guess *guess, const cupel_init_tree *const *trees, int count, char *text,
                 size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used < size; i++) {
        const char *axis = text_of(guess, trees[i]), *quote = strchr(axis, ',') ? "\"" : "";
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", i ? ", " : "", quote, axis, quote);
    }
}

static void write_kernel(const cupel_guess *guess, FILE *out) {
    const cupel_init_kernel *kernel = guess->kernel;
    char text[400];
    size_t used = 0;
    fprintf(out, "\nkernel:\n");
    LINE(out, guess->entry_why, "  entry: \"%s\"", guess->entry);
    for (int p = 0; p < kernel->param_count && used + 80 < sizeof text; p++) {
        bool known = kernel->params[p].kind != CUPEL_INIT_CLASS_OTHER;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.60s", p ? ", " : "",
                                 guess->null_params >> p & 1 ? "null"
                                 : known                     ? kernel->params[p].name
                                                             : CUPEL_GUESS_PLACEHOLDER);
    }
    char args[420];
    snprintf(args, sizeof args, "  args: [%s]", used ? text : "");
    line(out, args, guess->null_params ? "null for an output that the kernel can do without" : "");
    axes(guess, guess->grid, guess->grid_count, text, sizeof text);
    if (guess->doubt && !guess->doubted_output) {
        fprintf(out, "  grid: [" CUPEL_GUESS_PLACEHOLDER "]  # guess not borne out by a trial run: %s\n",
                guess->doubt);
        fprintf(
            out,
            "  # either the kernel or a guess (grid, block, a shape, the range of a dim) is wrong; it was:\n"
            "  # grid: [%s]\n",
            text);
    } else {
        LINE(out, guess->grid_why, "  grid: [%s]", text);
    }
    axes(guess, guess->block, guess->block_count, text, sizeof text);
    LINE(out, guess->block_why, "  block: [%s]", text);
    if (guess->shared) LINE(out, guess->shared_why, "  shared: %s", guess->shared);
    if (guess->cooperative_why) LINE(out, guess->cooperative_why, "  cooperative: true");
}

const char *cupel_guess_write(const cupel_guess *guess, const char *source) {
    output o = {NULL, 0, NULL};
    o.file = open_memstream(&o.text, &o.size);
    if (!o.file) return NULL;
    write_head(guess, source, o.file);
    write_dims(guess, o.file);
    write_variants(guess, source, o.file);
    write_tensors(guess, o.file);
    write_ensures(guess, o.file);
    write_kernel(guess, o.file);
    const char *copy =
        fclose(o.file) == 0 && o.text ? cupel_arena_text(guess->kernel->file->arena, o.text, o.size) : NULL;
    free(o.text);
    return copy;
}
