/* How host code launches a kernel: kernel<<<grid, block, shared>>>(arguments), or
 * cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared). */
#include <string.h>

#include "init_kernel.h"

enum { ARG_MAX = CUPEL_INIT_PARAM_MAX, LAUNCH_MAX = 512 /* tokens of a configuration or an argument list */ };

typedef struct range {
    size_t begin, end;
} range;

/* One launch in the text, and the host function around it. */
typedef struct site {
    const cupel_init_kernel *kernel;
    size_t function_begin, at;
    range templates, configuration[4], arguments[ARG_MAX];
    int template_count, configuration_count, argument_count;
    bool cooperative;
    range template_parts[CUPEL_INIT_TEMPLATE_MAX];
} site;

static const cupel_tokens *tokens_of(const site *s) {
    return &s->kernel->file->structure.tokens;
}

/* Parts between commas outside brackets. */
static int split(const cupel_tokens *tokens, size_t begin, size_t end, range *parts, int most) {
    int count = 0, depth = 0;
    size_t first = begin;
    for (size_t i = begin; i <= end && begin < end; i++) {
        static const char *const open[] = {"(", "{", "["}, *const close[] = {")", "}", "]"};
        for (int k = 0; k < 3 && i < end; k++)
            depth += cupel_lexer_is(tokens, i, open[k]) - cupel_lexer_is(tokens, i, close[k]);
        if (i < end && !(depth == 0 && cupel_lexer_is(tokens, i, ","))) continue;
        if (count < most) parts[count++] = (range){first, i};
        first = i + 1;
    }
    return count;
}

static bool three(const cupel_tokens *tokens, size_t i, const char *mark) {
    return cupel_lexer_is(tokens, i, mark) && cupel_lexer_is(tokens, i + 1, mark) &&
           cupel_lexer_is(tokens, i + 2, mark);
}

static size_t closing(const cupel_tokens *tokens, size_t i, size_t limit) {
    int depth = 0;
    if (limit > i + LAUNCH_MAX) limit = i + LAUNCH_MAX;
    for (; i < limit; i++) {
        depth += cupel_lexer_is(tokens, i, "(") || cupel_lexer_is(tokens, i, "{");
        depth -= cupel_lexer_is(tokens, i, ")") || cupel_lexer_is(tokens, i, "}");
        if (depth == 0) return i;
    }
    return limit;
}

/* Reads the launch whose kernel name stands at token i; false when it is none. */
static bool read_site(site *s, size_t i) {
    const cupel_tokens *tokens = tokens_of(s);
    const cupel_structure *structure = &s->kernel->file->structure;
    size_t at = i + 1;
    if (cupel_lexer_is(tokens, at, "<") && !three(tokens, at, "<")) {
        size_t close = cupel_structure_close_angle(structure, at, tokens->count, structure->depth[at]);
        s->templates = (range){at + 1, close - 1};
        s->template_count = split(tokens, at + 1, close - 1, s->template_parts, CUPEL_INIT_TEMPLATE_MAX);
        at = close;
    }
    if (!three(tokens, at, "<")) return false;
    size_t end = at + 3;
    int depth = 0;
    while (end < tokens->count && end < at + LAUNCH_MAX && !(depth == 0 && three(tokens, end, ">")) &&
           !cupel_lexer_is(tokens, end, ";")) {
        depth += cupel_lexer_is(tokens, end, "(") - cupel_lexer_is(tokens, end, ")");
        end++;
    }
    if (!three(tokens, end, ">") || !cupel_lexer_is(tokens, end + 3, "(")) return false;
    s->at = i;
    s->configuration_count = split(tokens, at + 3, end, s->configuration, 4);
    s->argument_count =
        split(tokens, end + 4, closing(tokens, end + 3, tokens->count), s->arguments, ARG_MAX);
    return s->configuration_count >= 2;
}

/* void *args[] = {&x, (void *)&n}: the names behind the ampersands, in the last definition before the launch.
 */
static void read_argument_array(site *s, const char *name) {
    const cupel_tokens *tokens = tokens_of(s);
    for (size_t i = s->at; i-- > s->function_begin;) {
        if (!cupel_lexer_is(tokens, i, name) || !cupel_lexer_is(tokens, i + 1, "[")) continue;
        size_t open = i + 2;
        while (open < s->at && !cupel_lexer_is(tokens, open, "{") && !cupel_lexer_is(tokens, open, ";"))
            open++;
        if (!cupel_lexer_is(tokens, open, "{")) continue;
        s->argument_count =
            split(tokens, open + 1, closing(tokens, open, tokens->count), s->arguments, ARG_MAX);
        for (int k = 0; k < s->argument_count; k++)
            for (size_t at = s->arguments[k].begin; at < s->arguments[k].end; at++)
                if (cupel_lexer_is(tokens, at, "&")) s->arguments[k].begin = at + 1;
        return;
    }
}

/* The same for a kernel that stands at token i in the first argument of a cooperative launch. */
static bool read_cooperative_site(site *s, size_t i) {
    enum { KERNEL, GRID, BLOCK, ARGUMENTS, SHARED, PARTS = 6, CASTS = 12 };
    const cupel_tokens *tokens = tokens_of(s);
    range parts[PARTS];
    size_t call = i;
    while (call > s->function_begin && i - call < CASTS &&
           !cupel_lexer_is(tokens, call, "cudaLaunchCooperativeKernel"))
        call--;
    if (!cupel_lexer_is(tokens, call, "cudaLaunchCooperativeKernel") ||
        !cupel_lexer_is(tokens, call + 1, "("))
        return false;
    int count = split(tokens, call + 2, closing(tokens, call + 1, tokens->count), parts, PARTS);
    if (count <= ARGUMENTS || i >= parts[KERNEL].end) return false;
    if (cupel_lexer_is(tokens, i + 1, "<")) {
        const cupel_structure *structure = &s->kernel->file->structure;
        size_t close = cupel_structure_close_angle(structure, i + 1, tokens->count, structure->depth[i + 1]);
        s->templates = (range){i + 2, close - 1};
        s->template_count = split(tokens, i + 2, close - 1, s->template_parts, CUPEL_INIT_TEMPLATE_MAX);
    }
    s->at = call;
    s->cooperative = true;
    s->configuration[0] = parts[GRID];
    s->configuration[1] = parts[BLOCK];
    s->configuration_count = 2;
    if (count > SHARED) s->configuration[s->configuration_count++] = parts[SHARED];
    const char *array = cupel_lexer_text(tokens, parts[ARGUMENTS].end - 1, s->kernel->file->arena);
    if (array) read_argument_array(s, array);
    return true;
}

/* The trees of a dim3 that begins after its bracket. */
static int read_axes(const site *s, size_t open, const cupel_init_tree *axes[3]) {
    range parts[3];
    const cupel_tokens *tokens = tokens_of(s);
    int count = split(tokens, open + 1, closing(tokens, open, tokens->count), parts, 3);
    for (int i = 0; i < count; i++)
        axes[i] = cupel_init_tree_read(tokens, parts[i].begin, parts[i].end, s->kernel->file->arena);
    return count;
}

/* The last definition of a host variable before the launch: the token of its name, 0 when there is none. */
static size_t definition(const site *s, const char *name) {
    const cupel_tokens *tokens = tokens_of(s);
    for (size_t i = s->at; i-- > s->function_begin + 1;) {
        if (!cupel_lexer_is(tokens, i, name) || i + 1 >= s->at) continue;
        bool made = cupel_lexer_is(tokens, i - 1, "dim3") &&
                    (cupel_lexer_is(tokens, i + 1, "(") || cupel_lexer_is(tokens, i + 1, "{"));
        bool after_dim3 = false; /* dim3 block(16), grid(n); */
        for (size_t b = i;
             !made && b-- > s->function_begin && b + LAUNCH_MAX > i && !cupel_lexer_is(tokens, b, ";");)
            after_dim3 = after_dim3 || cupel_lexer_is(tokens, b, "dim3");
        made =
            made || (after_dim3 && cupel_lexer_is(tokens, i - 1, ",") && cupel_lexer_is(tokens, i + 1, "("));
        if (made || cupel_lexer_is(tokens, i + 1, "=")) return i;
    }
    return 0;
}

/* The axes of a configuration: of a dim3 that is made here or was before, or one number. */
static int configuration_axes(const site *s, range part, const cupel_init_tree *axes[3]) {
    const cupel_tokens *tokens = tokens_of(s);
    if (cupel_lexer_is(tokens, part.begin, "dim3")) return read_axes(s, part.begin + 1, axes);
    if (part.end == part.begin + 1 && tokens->at[part.begin].kind == CUPEL_TOKEN_WORD) {
        const char *name = cupel_lexer_text(tokens, part.begin, s->kernel->file->arena);
        size_t d = name ? definition(s, name) : 0;
        if (d && (cupel_lexer_is(tokens, d + 1, "(") || cupel_lexer_is(tokens, d + 1, "{")))
            return read_axes(s, d + 1, axes);
        if (d && (cupel_lexer_is(tokens, d + 2, "dim3") || cupel_lexer_is(tokens, d + 2, "{")))
            return read_axes(s, d + 2 + cupel_lexer_is(tokens, d + 2, "dim3"), axes);
    }
    axes[0] = cupel_init_tree_read(tokens, part.begin, part.end, s->kernel->file->arena);
    return 1;
}

static const cupel_init_tree *final_name(const site *s, const char *name) {
    cupel_init_tree *tree = cupel_arena_alloc(s->kernel->file->arena, sizeof *tree);
    if (tree) *tree = (cupel_init_tree){.op = 'n', .name = name, .value = 1};
    return tree;
}

/* What a name of the host code means to the kernel. */
static const cupel_init_tree *host_value(const void *self, const char *name) {
    const site *s = self;
    const cupel_tokens *tokens = tokens_of(s);
    for (int i = 0; i < s->argument_count && i < s->kernel->param_count; i++) {
        if (s->kernel->params[i].kind != CUPEL_INIT_CLASS_INTEGER) continue;
        const cupel_init_tree *argument =
            cupel_init_tree_read(tokens, s->arguments[i].begin, s->arguments[i].end, s->kernel->file->arena);
        if (argument->op == 'n' && strcmp(argument->name, name) == 0)
            return final_name(s, s->kernel->params[i].name);
    }
    const char *dot = strchr(name, '.');
    char base[64];
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    if (length >= sizeof base) return NULL;
    memcpy(base, name, length);
    base[length] = '\0';
    size_t d = definition(s, base);
    if (dot && d && dot[1] >= 'x' && dot[1] <= 'z' && !dot[2]) {
        const cupel_init_tree *axes[3] = {NULL};
        int count = configuration_axes(s, (range){d, d + 1}, axes);
        return dot[1] - 'x' < count ? axes[dot[1] - 'x'] : cupel_init_tree_number(1, s->kernel->file->arena);
    }
    if (dot) return NULL;
    if (d && cupel_lexer_is(tokens, d + 1, "=")) {
        size_t end = d + 2;
        int depth = 0;
        while (end < s->at && !cupel_lexer_is(tokens, end, ";") &&
               !(depth == 0 && cupel_lexer_is(tokens, end, ","))) {
            depth += cupel_lexer_is(tokens, end, "(") - cupel_lexer_is(tokens, end, ")");
            end++;
        }
        const cupel_init_tree *value = cupel_init_tree_read(tokens, d + 2, end, s->kernel->file->arena);
        return value->op == '?' ? NULL : value;
    }
    return cupel_init_file_constant(s->kernel->file, name);
}

static void take_templates(cupel_init_kernel *kernel, const site *s) {
    const cupel_tokens *tokens = tokens_of(s);
    for (int i = 0; i < s->template_count && i < kernel->template_count; i++) {
        cupel_init_template *t = &kernel->templates[i];
        range part = s->template_parts[i];
        if (t->is_type && part.end > part.begin) {
            const char *type = cupel_lexer_text(tokens, part.end - 1, kernel->file->arena);
            bool known = !type || t->type_count == 4;
            for (int k = 0; k < t->type_count; k++) known = known || strcmp(t->types[k], type) == 0;
            if (!known) t->types[t->type_count++] = type;
            continue;
        }
        const cupel_init_tree *value =
            cupel_init_tree_resolve(cupel_init_tree_read(tokens, part.begin, part.end, kernel->file->arena),
                                    host_value, s, kernel->file->arena);
        if (value->op == '#') t->value = value;
        bool truth = cupel_lexer_is(tokens, part.begin, "true");
        if (truth || cupel_lexer_is(tokens, part.begin, "false"))
            t->value = cupel_init_tree_number(truth, kernel->file->arena);
    }
}

static bool all_known(const cupel_init_tree *const axes[3], int count) {
    for (int i = 0; i < count; i++)
        if (!cupel_init_tree_known(axes[i])) return false;
    return count > 0;
}

static void take_site(cupel_init_kernel *kernel, const site *s) {
    cupel_arena *arena = kernel->file->arena;
    cupel_init_launch launch = {
        .found = true, .cooperative = s->cooperative, .line = tokens_of(s)->at[s->at].line};
    launch.grid_count = configuration_axes(s, s->configuration[0], launch.grid);
    launch.block_count = configuration_axes(s, s->configuration[1], launch.block);
    for (int i = 0; i < launch.grid_count; i++)
        launch.grid[i] = cupel_init_tree_resolve(launch.grid[i], host_value, s, arena);
    for (int i = 0; i < launch.block_count; i++)
        launch.block[i] = cupel_init_tree_resolve(launch.block[i], host_value, s, arena);
    if (s->configuration_count > 2) {
        const cupel_init_tree *shared =
            cupel_init_tree_read(tokens_of(s), s->configuration[2].begin, s->configuration[2].end, arena);
        launch.shared = cupel_init_tree_resolve(shared, host_value, s, arena);
    }
    bool better = !kernel->launch.found ||
                  (!(all_known(kernel->launch.grid, kernel->launch.grid_count) &&
                     all_known(kernel->launch.block, kernel->launch.block_count)) &&
                   all_known(launch.grid, launch.grid_count) && all_known(launch.block, launch.block_count));
    if (better) kernel->launch = launch;
}

void cupel_init_launch_read(cupel_init_kernel *kernel) {
    const cupel_init_file *file = kernel->file;
    const cupel_tokens *tokens = &file->structure.tokens;
    for (size_t d = 0; d < file->declarations.count; d++) {
        const cupel_declaration *host = &file->declarations.at[d];
        if (host->kind != CUPEL_DECLARATION_HOST_FUNCTION) continue;
        for (size_t i = host->body_begin; i + 4 < host->body_end; i++) {
            if (!cupel_lexer_is(tokens, i, kernel->declaration->name)) continue;
            site s = {.kernel = kernel, .function_begin = host->body_begin};
            if (!read_site(&s, i) && !read_cooperative_site(&s, i)) continue;
            take_templates(kernel, &s);
            take_site(kernel, &s);
        }
    }
}
