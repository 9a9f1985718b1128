/* Dims, grid, block and shared memory: as host code launches the kernel where that is understood, else as its
 * body makes use of them. */
#include <ctype.h>
#include <string.h>

#include "init_guess.h"

int cupel_guess_dim_find(const cupel_guess *guess, const char *name) {
    for (int i = 0; i < guess->dim_count; i++)
        if (strcmp(guess->dims[i].name, name) == 0) return i;
    return -1;
}

void cupel_guess_dim_add(cupel_guess *guess, const char *name, int64_t lo, int64_t hi, const char *why) {
    if (cupel_guess_dim_find(guess, name) >= 0 || guess->dim_count == CUPEL_GUESS_DIM_MAX) return;
    guess->dims[guess->dim_count++] = (cupel_guess_dim){name, lo, hi, why};
}

static cupel_arena *arena_of(const cupel_guess *guess) {
    return guess->kernel->file->arena;
}

static const cupel_init_tree *number(const cupel_guess *guess, int64_t value) {
    return cupel_init_tree_number(value, arena_of(guess));
}

/* --- dims --- */

typedef struct collector {
    cupel_guess *guess;
    const char *why;
} collector;

static bool collect(void *self, const char *name) {
    collector *c = self;
    if (strcmp(name, CUPEL_GUESS_PLACEHOLDER) == 0) return true;
    if (cupel_init_kernel_template(c->guess->kernel, name) >= 0) return true;
    if (cupel_init_kernel_derived(c->guess->kernel, name)) { /* a let, of dims */
        cupel_guess_let_add(c->guess, name);
        return cupel_init_tree_names(cupel_init_kernel_derived(c->guess->kernel, name), collect, c);
    }
    bool param = cupel_init_kernel_param(c->guess->kernel, name) >= 0;
    cupel_guess_dim_add(c->guess, name, 1, 1024,
                        param ? c->why : "no parameter of the kernel: it is in the launch only");
    return true;
}

void cupel_guess_let_add(cupel_guess *guess, const char *name) {
    for (int l = 0; l < guess->let_count; l++)
        if (strcmp(guess->lets[l].name, name) == 0) return;
    const cupel_init_tree *value = cupel_init_kernel_derived(guess->kernel, name);
    if (!value || guess->let_count == CUPEL_GUESS_LET_MAX) return;
    guess->lets[guess->let_count++] = (cupel_guess_let){name, cupel_init_tree_text(value, arena_of(guess)),
                                                        "a size that the body works out"};
}

/* An integer parameter by whose name one knows that it is a size. */
static bool sounds_like_size(const char *name) {
    static const char *const words[] = {
        "n",     "m",     "k",        "size", "len",    "length", "rows",     "cols",  "width",    "height",
        "count", "total", "batch",    "seq",  "hidden", "dim",    "channels", "numel", "elements", "heads",
        "nx",    "ny",    "features", "c",    "h",      "w",      "b",        "t"};
    char lower[64];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof lower; n++) lower[n] = (char)tolower((unsigned char)name[n]);
    lower[n] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(lower, words[i]) == 0 || (strlen(words[i]) > 2 && strstr(lower, words[i]))) return true;
    return false;
}

/* Paddings, strides and window sizes of convolutions and pools are small, and a padding may be none. */
static void window_range(const cupel_guess *guess, cupel_guess_dim *dim) {
    char lower[64];
    size_t n = 0;
    for (; dim->name[n] && n + 1 < sizeof lower; n++) lower[n] = (char)tolower((unsigned char)dim->name[n]);
    lower[n] = '\0';
    if (guess->let_count == 0) return;
    if (strstr(lower, "pad"))
        dim->lo = 0, dim->hi = 2, dim->why = "a padding, by its name";
    else if (strstr(lower, "stride") || strstr(lower, "dilation"))
        dim->hi = 3, dim->why = "a step, by its name";
    else if (strstr(lower, "kernel") || strcmp(lower, "k") == 0 || strcmp(lower, "kh") == 0 ||
             strcmp(lower, "kw") == 0 || strcmp(lower, "r") == 0 || strcmp(lower, "s") == 0)
        dim->hi = 5, dim->why = "a window, by its name";
    else if (dim->hi > 32)
        dim->hi = 32, dim->why = "a size; small, since many of them multiply";
}

/* The variable or dim that a static shared array is indexed with must stay below its extent. */
static void shared_range(cupel_guess *guess, const char *array, int64_t extent) {
    const cupel_init_kernel *kernel = guess->kernel;
    const cupel_tokens *tokens = &kernel->file->structure.tokens;
    for (size_t i = kernel->declaration->body_begin; i + 3 < kernel->declaration->body_end; i++) {
        if (!cupel_lexer_is(tokens, i, array) || !cupel_lexer_is(tokens, i + 1, "[") ||
            !cupel_lexer_is(tokens, i + 3, "]") || cupel_lexer_is(tokens, i + 4, ";"))
            continue;
        const char *index = cupel_lexer_text(tokens, i + 2, arena_of(guess));
        int v = index ? cupel_init_kernel_variable(kernel, index) : -1;
        const cupel_init_tree *bound = v >= 0 ? kernel->variables[v].bound : NULL;
        int d = bound && bound->op == 'n' ? cupel_guess_dim_find(guess, bound->name) : -1;
        if (d < 0 || guess->dims[d].hi <= extent) continue;
        guess->dims[d].hi = extent;
        guess->dims[d].why =
            cupel_arena_printf(arena_of(guess), "the shared array %s has room for so many", array);
    }
}

static void shared_ranges(cupel_guess *guess) {
    const cupel_init_kernel *kernel = guess->kernel;
    const cupel_tokens *tokens = &kernel->file->structure.tokens;
    for (size_t i = kernel->declaration->body_begin + 1; i + 4 < kernel->declaration->body_end; i++) {
        if (!cupel_lexer_is(tokens, i, "__shared__") || cupel_lexer_is(tokens, i - 1, "extern")) continue;
        size_t open = i + 1, limit = i + 8;
        while (open < limit && !cupel_lexer_is(tokens, open, "[") && !cupel_lexer_is(tokens, open, ";"))
            open++;
        size_t close = open + 1;
        while (close < open + 12 && close < kernel->declaration->body_end &&
               !cupel_lexer_is(tokens, close, "]"))
            close++;
        if (!cupel_lexer_is(tokens, open, "[") || !cupel_lexer_is(tokens, close + 1, ";")) continue;
        const cupel_init_tree *extent =
            cupel_init_tree_resolve(cupel_init_tree_read(tokens, open + 1, close, arena_of(guess)),
                                    cupel_init_kernel_value, kernel, arena_of(guess));
        const char *array = cupel_lexer_text(tokens, open - 1, arena_of(guess));
        if (array && extent->op == '#' && extent->value > 0) shared_range(guess, array, extent->value);
    }
}

static void guess_ranges(cupel_guess *guess) {
    for (int b = 0; b < guess->block_count; b++) /* a block holds 1,024 threads */
        if (guess->block[b]->op == 'n') {
            int d = cupel_guess_dim_find(guess, guess->block[b]->name);
            if (d >= 0) guess->dims[d].hi = guess->block_count > 1 ? 32 : 1024;
        }
    int most = 0;
    for (int t = 0; t < guess->tensor_count; t++)
        if (guess->tensors[t].rank > most) most = guess->tensors[t].rank;
    for (int d = 0; d < guess->dim_count; d++) {
        if (most >= 2 && guess->dims[d].hi > 512) guess->dims[d].hi = 512;
        if (most >= 3 && guess->dims[d].hi > 64) guess->dims[d].hi = 64;
        if (most == 1 && guess->dims[d].hi == 1024) guess->dims[d].hi = 8192;
    }
    for (int d = 0; d < guess->dim_count; d++) window_range(guess, &guess->dims[d]);
    shared_ranges(guess);
}

static void add_require(cupel_guess *guess, const char *text, const char *why) {
    for (int r = 0; r < guess->require_count; r++)
        if (text && strcmp(guess->requires_[r].text, text) == 0) return;
    if (text && guess->require_count < CUPEL_GUESS_REQUIRE_MAX)
        guess->requires_[guess->require_count++] = (cupel_guess_require){text, why};
}

/* What a shape needs: rows / 4 comes out even, end - start is not negative. */
static void require_shape(cupel_guess *guess, const cupel_init_tree *tree) {
    if (tree->count != 2) return;
    const char *left = cupel_init_tree_text(tree->child[0], arena_of(guess)),
               *right = cupel_init_tree_text(tree->child[1], arena_of(guess));
    if (tree->op == '-')
        add_require(guess, cupel_arena_printf(arena_of(guess), "%s > %s", left, right), "an extent");
    if (tree->op == '/' && tree->child[1]->op == '#')
        add_require(guess, cupel_arena_printf(arena_of(guess), "%s %% %s == 0", left, right),
                    "it goes in steps of so many");
    for (int i = 0; i < 2; i++) require_shape(guess, tree->child[i]);
}

/* A guard such as i + 3 < n leaves the rest out; where nothing else is compared with n, n has none. */
static void require_steps(cupel_guess *guess) {
    const cupel_init_kernel *kernel = guess->kernel;
    for (int v = 0; v < kernel->variable_count; v++) {
        const cupel_init_variable *variable = &kernel->variables[v];
        if (variable->guard < 1 || variable->compared > 0 || !variable->bound) continue;
        add_require(guess,
                    cupel_arena_printf(arena_of(guess), "%s %% %d == 0",
                                       cupel_init_tree_text(variable->bound, arena_of(guess)),
                                       variable->guard + 1),
                    "it goes in steps of so many and has no code for a rest");
    }
}

/* K / TILE steps over whole tiles: nothing is done about a rest. */
/* An output size ((H + 2 * pad - K) / stride + 1) needs a window that fits. */
static void require_lets(cupel_guess *guess) {
    for (int l = 0; l < guess->let_count; l++) {
        const cupel_init_tree *value = cupel_init_kernel_derived(guess->kernel, guess->lets[l].name);
        if (!value) continue;
        const cupel_init_tree *top = value->child[0]->child[0];
        if (top->op == '-')
            add_require(guess,
                        cupel_arena_printf(arena_of(guess), "%s >= %s",
                                           cupel_init_tree_text(top->child[0], arena_of(guess)),
                                           cupel_init_tree_text(top->child[1], arena_of(guess))),
                        "the window must fit");
    }
}

static void guess_requires(cupel_guess *guess) {
    const cupel_init_kernel *kernel = guess->kernel;
    const cupel_tokens *tokens = &kernel->file->structure.tokens;
    for (size_t i = kernel->declaration->body_begin + 1; i + 2 < kernel->declaration->body_end; i++) {
        if (!cupel_lexer_is(tokens, i + 1, "/") || tokens->at[i].kind != CUPEL_TOKEN_WORD) continue;
        if (!cupel_lexer_is(tokens, i - 1, "<") && !cupel_lexer_is(tokens, i - 1, "=")) continue;
        if (!cupel_lexer_is(tokens, i + 3, ";") && !cupel_lexer_is(tokens, i + 3, ")")) continue;
        const char *name = cupel_lexer_text(tokens, i, arena_of(guess));
        int d = name ? cupel_guess_dim_find(guess, name) : -1;
        const cupel_init_tree *by =
            cupel_init_tree_resolve(cupel_init_tree_read(tokens, i + 2, i + 3, arena_of(guess)),
                                    cupel_init_kernel_value, kernel, arena_of(guess));
        if (d < 0 || by->op != '#' || by->value < 3 || guess->require_count == CUPEL_GUESS_REQUIRE_MAX)
            continue;
        const char *text = cupel_arena_printf(arena_of(guess), "%s %% %s == 0", name,
                                              cupel_init_tree_text(by, arena_of(guess)));
        add_require(guess, text, "the loop runs over whole tiles only");
    }
}

void cupel_guess_dims(cupel_guess *guess) {
    const cupel_init_kernel *kernel = guess->kernel;
    collector c = {guess, "a size: it bounds an index or is a stride"};
    for (int p = 0; p < kernel->param_count; p++) { /* in the order of the parameters */
        if (kernel->params[p].kind != CUPEL_INIT_CLASS_INTEGER) continue;
        const char *name = kernel->params[p].name;
        bool used = sounds_like_size(name);
        for (int v = 0; v < kernel->variable_count && !used; v++)
            used = kernel->variables[v].bound &&
                   strstr(cupel_init_tree_text(kernel->variables[v].bound, arena_of(guess)), name);
        for (int t = 0; t < guess->tensor_count && !used; t++)
            for (int a = 0; a < guess->tensors[t].rank; a++)
                used =
                    used || strstr(cupel_init_tree_text(guess->tensors[t].shape[a], arena_of(guess)), name);
        if (used) collect(&c, name);
    }
    for (int t = 0; t < guess->tensor_count; t++)
        for (int a = 0; a < guess->tensors[t].rank; a++)
            (void)cupel_init_tree_names(guess->tensors[t].shape[a], collect, &c);
    for (int g = 0; g < guess->grid_count; g++) (void)cupel_init_tree_names(guess->grid[g], collect, &c);
    if (guess->dim_count == 0)
        cupel_guess_dim_add(guess, "one", 1, 1, "a contract needs a dim; this kernel has no size");
    guess_ranges(guess);
    require_steps(guess);
    require_lets(guess);
    for (int t = 0; t < guess->tensor_count; t++)
        for (int a = 0; a < guess->tensors[t].rank; a++) require_shape(guess, guess->tensors[t].shape[a]);
    guess_requires(guess);
}

/* --- block --- */

/* The extents of the first static shared array: __shared__ float tile[16][17]. */
static int shared_extents(const cupel_guess *guess, int64_t extents[2]) {
    const cupel_init_kernel *kernel = guess->kernel;
    const cupel_tokens *tokens = &kernel->file->structure.tokens;
    int count = 0;
    for (size_t i = kernel->declaration->body_begin; i + 4 < kernel->declaration->body_end && count == 0;
         i++) {
        if (!cupel_lexer_is(tokens, i, "__shared__") || cupel_lexer_is(tokens, i - 1, "extern")) continue;
        for (size_t k = i; !cupel_lexer_is(tokens, k, ";") && k < kernel->declaration->body_end && count < 2;
             k++) {
            if (!cupel_lexer_is(tokens, k, "[")) continue;
            size_t close = k;
            while (!cupel_lexer_is(tokens, close, "]") && close < kernel->declaration->body_end) close++;
            const cupel_init_tree *extent =
                cupel_init_tree_resolve(cupel_init_tree_read(tokens, k + 1, close, arena_of(guess)),
                                        cupel_init_kernel_value, kernel, arena_of(guess));
            if (extent->op == '#') extents[count++] = extent->value;
        }
    }
    return count;
}

/* Threads of a block whose warps or lanes have each a place in a shared array; 0: it does not tell. */
static int64_t shared_block(const int64_t extents[2], int count) {
    if (count == 2 && extents[1] == 32 && extents[0] <= 32) return 32 * extents[0];
    if (count == 2 && extents[0] <= 4 && extents[1] >= 64 && extents[1] <= 1024) return extents[1];
    if (count == 1 && (extents[0] == 2 || extents[0] == 4 || extents[0] == 8 || extents[0] == 16))
        return 32 * extents[0];
    return count == 1 && extents[0] == 32 ? 256 : 0; /* room for every warp that there may be */
}

static bool is_common_word(const cupel_tokens *tokens, size_t i) {
    const cupel_token *t = &tokens->at[i];
    static const char *const words[] = {"__shared__", "__shfl", "__sync"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (t->kind == CUPEL_TOKEN_WORD && t->length >= strlen(words[k]) &&
            memcmp(tokens->text + t->offset, words[k], strlen(words[k])) == 0)
            return true;
    return false;
}

static bool works_together(const cupel_init_file *file, const cupel_declaration *d) {
    for (size_t i = d->body_begin; i < d->body_end; i++)
        if (is_common_word(&file->structure.tokens, i)) return true;
    return false;
}

/* Does its result depend on how many threads a block has, beyond blockDim and a dynamic array? */
static bool threads_work_together(const cupel_init_kernel *kernel) {
    const cupel_init_file *file = kernel->file;
    if (kernel->dynamic_type && cupel_init_kernel_mentions(kernel, "blockDim", false)) return false;
    if (works_together(file, kernel->declaration)) return true;
    for (size_t i = 0; i < file->declarations.count; i++) { /* through a function that it calls */
        const cupel_declaration *d = &file->declarations.at[i];
        if (d->kind == CUPEL_DECLARATION_DEVICE_FUNCTION && *d->name && works_together(file, d) &&
            cupel_init_kernel_mentions(kernel, d->name, false))
            return true;
    }
    return false;
}

static const cupel_init_tree *bounds_tree(const cupel_guess *guess) {
    const char *text = guess->kernel->facts->launch_bounds;
    cupel_tokens tokens;
    if (!*text || cupel_lexer_run(text, strlen(text), "", arena_of(guess), &tokens, NULL) != CUPEL_OK)
        return NULL;
    const cupel_init_tree *tree =
        cupel_init_tree_resolve(cupel_init_tree_read(&tokens, 0, tokens.count, arena_of(guess)),
                                cupel_init_kernel_value, guess->kernel, arena_of(guess));
    return tree->op == '#' ? tree : NULL;
}

static bool is_parameter(void *self, const char *name) {
    return cupel_init_kernel_param(((const cupel_guess *)self)->kernel, name) >= 0;
}

void cupel_guess_block(cupel_guess *guess) {
    const cupel_init_kernel *kernel = guess->kernel;
    const cupel_init_launch *launch = &kernel->launch;
    bool known = launch->found && launch->block_count >= kernel->block_axes;
    for (int i = 0; i < launch->block_count && known; i++)
        known = cupel_init_tree_known(launch->block[i]) &&
                cupel_init_tree_names(launch->block[i], is_parameter, guess);
    if (known) {
        guess->block_count = launch->block_count;
        memcpy(guess->block, launch->block, sizeof guess->block);
        guess->block_why = cupel_arena_printf(arena_of(guess), "the launch in line %d", launch->line);
        return;
    }
    int64_t extents[2];
    int count = shared_extents(guess, extents);
    const cupel_init_tree *bounds = bounds_tree(guess);
    guess->block_count = kernel->block_axes;
    guess->block_why = "the usual size; no launch was understood";
    for (int i = 0; i < guess->block_count; i++) guess->block[i] = number(guess, i == 2 ? 1 : 16);
    if (guess->block_count == 1) guess->block[0] = number(guess, 256);
    if (guess->block_count == 1 && bounds)
        guess->block[0] = bounds, guess->block_why = "__launch_bounds__";
    else if (guess->block_count == 1 && count == 1 && extents[0] >= 64 && extents[0] <= 1024)
        guess->block[0] = number(guess, extents[0]), guess->block_why = "the shared array's size";
    else if (guess->block_count == 2 && count == 2 && extents[0] <= 32)
        guess->block[0] = guess->block[1] = number(guess, extents[0]),
        guess->block_why = "the shared tile's size";
    else if (guess->block_count == 1 && shared_block(extents, count))
        guess->block[0] = number(guess, shared_block(extents, count)),
        guess->block_why = "as many threads as the shared array has room for";
    else if (guess->block_count == 1 && kernel->grid_axes == 1 &&
             !cupel_init_kernel_mentions(kernel, "blockDim", false) &&
             cupel_init_kernel_mentions(kernel, "__shfl", true) &&
             !cupel_init_kernel_mentions(kernel, "__shared__", false))
        guess->block[0] = number(guess, 32), guess->block_why = "one warp: it only shuffles";
    else if (threads_work_together(kernel)) {
        for (int i = 0; i < guess->block_count; i++)
            guess->block[i] = cupel_init_tree_name(CUPEL_GUESS_PLACEHOLDER, arena_of(guess));
        guess->block_why = "its threads work together, and no launch says how many there are";
    }
}

/* --- grid --- */

/* blockDim.x and its like are what the block was guessed to be. */
static const cupel_init_tree *block_value(const void *self, const char *name) {
    const cupel_guess *guess = self;
    if (strncmp(name, "blockDim.", 9) != 0) return NULL;
    int axis = name[9] - 'x';
    return axis >= 0 && axis < guess->block_count ? guess->block[axis] : number(guess, 1);
}

/* Does the tree hold blockIdx.AXIS, and by how much does a block step over elements? */
static const cupel_init_tree *step_of(const cupel_guess *guess, const cupel_init_tree *tree,
                                      const char *name) {
    if (tree->op == 'n') return strcmp(tree->name, name) == 0 ? number(guess, 1) : NULL;
    for (int i = 0; i < tree->count; i++) {
        const cupel_init_tree *inner = step_of(guess, tree->child[i], name);
        if (!inner) continue;
        if (tree->op != '*') return tree->op == '+' || tree->op == '-' ? inner : NULL;
        const cupel_init_tree *other = tree->child[1 - i];
        other = cupel_init_tree_resolve(other, block_value, guess, arena_of(guess));
        return cupel_init_tree_resolve(cupel_init_tree_pair('*', inner, other, arena_of(guess)), NULL, NULL,
                                       arena_of(guess));
    }
    return NULL;
}

static const cupel_init_tree *blocks_for(const cupel_guess *guess, const cupel_init_tree *bound,
                                         const cupel_init_tree *step) {
    if (step->op == '#' && step->value == 1) return bound;
    cupel_init_tree tree = {.op = 'c', .name = "ceil_div", .count = 2, .child = {bound, step}};
    cupel_init_tree *copy = cupel_arena_alloc(arena_of(guess), sizeof *copy);
    if (copy) *copy = tree;
    return copy ? copy : bound;
}

const cupel_init_tree *cupel_guess_blocks(const cupel_guess *guess, int axis) {
    static const char *const names[] = {"blockIdx.x", "blockIdx.y", "blockIdx.z"};
    const cupel_init_kernel *kernel = guess->kernel;
    for (int pass = 0; pass < 2; pass++) /* sizes before numbers */
        for (int v = 0; v < kernel->variable_count; v++) {
            const cupel_init_variable *variable = &kernel->variables[v];
            if (!variable->value || !variable->bound || (variable->bound->op == '#') != (pass == 1)) continue;
            const cupel_init_tree *value =
                cupel_init_tree_resolve(variable->value, cupel_init_kernel_value, kernel, arena_of(guess));
            const cupel_init_tree *step = step_of(guess, value, names[axis]);
            if (step && cupel_init_tree_known(step)) return blocks_for(guess, variable->bound, step);
        }
    return NULL;
}

static const cupel_init_tree *grid_axis(const cupel_guess *guess, int axis) {
    static const char *const invented[] = {"rows", "batch", "outer"};
    const cupel_init_tree *blocks = cupel_guess_blocks(guess, axis);
    if (blocks) return blocks;
    return axis < guess->kernel->grid_axes ? cupel_init_tree_name(invented[axis], arena_of(guess))
                                           : number(guess, 1);
}

/* Is there a tensor along whose axis the blocks go? Then a grid of our own needs no dim of its own. */
static bool shapes_name(const cupel_guess *guess, const char *name) {
    for (int t = 0; t < guess->tensor_count; t++)
        for (int a = 0; a < guess->tensors[t].rank; a++)
            if (guess->tensors[t].shape[a]->op == 'n' && strcmp(guess->tensors[t].shape[a]->name, name) == 0)
                return true;
    return false;
}

static bool is_size(void *self, const char *name) {
    return is_parameter(self, name) || shapes_name(self, name);
}

static void guess_grid(cupel_guess *guess) {
    const cupel_init_kernel *kernel = guess->kernel;
    const cupel_init_launch *launch = &kernel->launch;
    bool uses_block = cupel_init_kernel_mentions(kernel, "blockIdx", false);
    bool known = launch->found && launch->grid_count > 0, numbers = true;
    for (int i = 0; i < launch->grid_count && known; i++) {
        known =
            cupel_init_tree_known(launch->grid[i]) && cupel_init_tree_names(launch->grid[i], is_size, guess);
        numbers = numbers && launch->grid[i]->op == '#';
    }
    if (known && (!numbers || !uses_block || kernel->uses_grid_dim)) {
        guess->grid_count = launch->grid_count;
        memcpy(guess->grid, launch->grid, sizeof guess->grid);
        guess->grid_why = cupel_arena_printf(arena_of(guess), "the launch in line %d", launch->line);
        return;
    }
    guess->grid_count = uses_block ? kernel->grid_axes : 1;
    guess->grid_why =
        uses_block ? "so many blocks as cover what blockIdx runs over" : "the body has no blockIdx";
    for (int i = 0; i < guess->grid_count; i++)
        guess->grid[i] = uses_block ? grid_axis(guess, i) : number(guess, 1);
    for (int i = 0; i < guess->grid_count; i++)
        if (guess->grid[i]->op == 'n' && cupel_init_kernel_param(kernel, guess->grid[i]->name) < 0 &&
            !shapes_name(guess, guess->grid[i]->name))
            guess->grid[i] = cupel_init_tree_name(CUPEL_GUESS_PLACEHOLDER, arena_of(guess)),
            guess->grid_why = "nothing says how many blocks there are";
}

static void guess_shared(cupel_guess *guess) {
    const cupel_init_kernel *kernel = guess->kernel;
    const cupel_init_tree *said = kernel->launch.shared;
    if (said && cupel_init_tree_known(said) && cupel_init_tree_names(said, is_parameter, guess) &&
        !(said->op == '#' && said->value == 0)) {
        guess->shared = cupel_init_tree_text(said, arena_of(guess));
        guess->shared_why = cupel_arena_printf(arena_of(guess), "the launch in line %d", kernel->launch.line);
        return;
    }
    if (!kernel->dynamic_type) return;
    const cupel_init_tree *threads = guess->block[0];
    for (int i = 1; i < guess->block_count; i++)
        threads =
            cupel_init_tree_resolve(cupel_init_tree_pair('*', threads, guess->block[i], arena_of(guess)),
                                    NULL, NULL, arena_of(guess));
    guess->shared =
        cupel_arena_printf(arena_of(guess), "%s * %d", cupel_init_tree_text(threads, arena_of(guess)),
                           strcmp(kernel->dynamic_type, "double") == 0 ? 8 : 4);
    guess->shared_why = "one element for each thread; no launch says how much";
}

static void guess_cooperative(cupel_guess *guess) {
    const cupel_init_kernel *kernel = guess->kernel;
    if (kernel->launch.cooperative)
        guess->cooperative_why =
            cupel_arena_printf(arena_of(guess), "the launch in line %d", kernel->launch.line);
    else if (cupel_init_kernel_mentions(kernel, "this_grid", false) ||
             cupel_init_kernel_mentions(kernel, "grid_group", false))
        guess->cooperative_why = "the kernel synchronises the grid";
}

void cupel_guess_launch(cupel_guess *guess) {
    guess_grid(guess);
    guess_shared(guess);
    guess_cooperative(guess);
    if (!guess->grid_why) guess->grid_why = "";
    if (!guess->block_why) guess->block_why = "";
}
