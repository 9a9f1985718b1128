/* What `cupel init` reads off a file: a kernel's parameters, its body's variables, bounds and accesses, and
 * how host code launches it. Facts only; guesses are made of them in init_guess.c. */
#ifndef CUPEL_INIT_KERNEL_H
#define CUPEL_INIT_KERNEL_H

#include "declarations.h"
#include "init_expression.h"
#include "source.h"

enum {
    CUPEL_INIT_PARAM_MAX = 32,
    CUPEL_INIT_VARIABLE_MAX = 128,
    CUPEL_INIT_ACCESS_MAX = 160,
    CUPEL_INIT_TEMPLATE_MAX = 8
};

/* A file, scanned. */
typedef struct cupel_init_file {
    cupel_arena *arena;
    const char *path;
    cupel_source *source; /* kernels, refusals */
    cupel_structure structure;
    cupel_macros macros;
    cupel_declarations declarations;
} cupel_init_file;

/* Errors: as cupel_source_load. */
CUPEL_MUST_USE cupel_code cupel_init_file_load(const char *path, const cupel_source_options *options,
                                               cupel_arena *arena, cupel_init_file *out, cupel_error *err);

/* The value of a #define or a constant at the top of the file; NULL when name is neither. */
const cupel_init_tree *cupel_init_file_constant(const cupel_init_file *file, const char *name);

typedef enum cupel_init_class {
    CUPEL_INIT_CLASS_POINTER,
    CUPEL_INIT_CLASS_INTEGER,
    CUPEL_INIT_CLASS_REAL,
    CUPEL_INIT_CLASS_BOOL,
    CUPEL_INIT_CLASS_OTHER /* a struct, a pointer to a pointer, a reference */
} cupel_init_class;

typedef struct cupel_init_param {
    const char *name;
    cupel_init_class kind;
    const char *type;    /* as written, without const, * and __restrict__: "float", "T", "unsigned int" */
    const char *written; /* all of it but the name */
    bool is_const;
    bool optional; /* a pointer that is compared with null */
    int vector;    /* 4 for float4 *, 2 for half2 *, else 1 */
} cupel_init_param;

typedef struct cupel_init_template {
    const char *name;
    bool is_type;
    bool is_bool;
    const cupel_init_tree *value; /* the default, or what a launch says; NULL: neither */
    int type_count;               /* types that it is launched with */
    const char *types[4];
} cupel_init_template;

/* A local variable: what it was first given, and what it is compared to be less than. Without a name: an
 * expression that is compared. */
typedef struct cupel_init_variable {
    const char *name;
    const cupel_init_tree *value; /* or NULL */
    const cupel_init_tree *bound; /* or NULL */
    int pointer;                  /* it points into this parameter; -1: it does not */
    const cupel_init_tree *offset;
    int scale;    /* elements that one step of the pointer passes: 4 for float4 */
    int guard;    /* 3 where it is compared as i + 3 < n */
    int compared; /* how often it or another is compared with the same bound as it is */
} cupel_init_variable;

typedef enum cupel_init_use {
    CUPEL_INIT_READ = 1,
    CUPEL_INIT_WRITE = 2,
    CUPEL_INIT_ATOMIC = 4 /* adds to it, or takes a maximum */
} cupel_init_use;

typedef struct cupel_init_access {
    int param;
    const cupel_init_tree *index; /* '?' when it could not be read */
    int use;
    size_t order; /* when it happens, as the text runs */
} cupel_init_access;

typedef struct cupel_init_launch {
    bool found, cooperative;
    int line;
    const cupel_init_tree *grid[3], *block[3]; /* NULL: not said */
    const cupel_init_tree *shared;             /* NULL: none */
    int grid_count, block_count;
} cupel_init_launch;

typedef struct cupel_init_kernel {
    const cupel_init_file *file;
    const cupel_declaration *declaration;
    const cupel_source_kernel *facts;
    int param_count, template_count, variable_count, access_count;
    cupel_init_param params[CUPEL_INIT_PARAM_MAX];
    cupel_init_template templates[CUPEL_INIT_TEMPLATE_MAX];
    cupel_init_variable variables[CUPEL_INIT_VARIABLE_MAX];
    cupel_init_access accesses[CUPEL_INIT_ACCESS_MAX];
    cupel_init_launch launch;
    const char *dynamic_type;                                 /* of an extern __shared__ array, or NULL */
    int block_axes, grid_axes;                                /* of threadIdx and blockIdx, 1 to 3 */
    bool uses_grid_dim, half_arithmetic, template_arithmetic; /* sums in half; sums in T */
} cupel_init_kernel;

/* The kernel number index of file->source. Errors: MEMORY, UNSUPPORTED when it has too many parameters. */
CUPEL_MUST_USE cupel_code cupel_init_kernel_read(const cupel_init_file *file, int index,
                                                 cupel_init_kernel **out, cupel_error *err);

/* Parts of the above, in the order in which they are read. */
CUPEL_MUST_USE cupel_code cupel_init_params_read(cupel_init_kernel *kernel, cupel_error *err);
void cupel_init_body_read(cupel_init_kernel *kernel);
void cupel_init_accesses_read(cupel_init_kernel *kernel);
void cupel_init_launch_read(cupel_init_kernel *kernel);

/* Indices by name; -1: none. */
int cupel_init_kernel_param(const cupel_init_kernel *kernel, const char *name);
int cupel_init_kernel_template(const cupel_init_kernel *kernel, const char *name);
int cupel_init_kernel_variable(const cupel_init_kernel *kernel, const char *name);

/* What a name of the body means by itself: a variable's value, a template argument, a constant of the file.
 * A variable that is compared to a size keeps its name. For cupel_init_tree_resolve; self is the kernel. */
const cupel_init_tree *cupel_init_kernel_value(const void *self, const char *name);

/* A local variable that is an output size of a window, (H + 2 * pad - K) / stride + 1, in terms of integer
 * parameters: its value so resolved; NULL for other names. */
const cupel_init_tree *cupel_init_kernel_derived(const cupel_init_kernel *kernel, const char *name);

/* Does the body mention a word (whole, or one that starts with it)? */
bool cupel_init_kernel_mentions(const cupel_init_kernel *kernel, const char *word, bool prefix);

/* An integer macro of the kernel that stands between #ifndef and #endif of its name. */
typedef struct cupel_init_tunable {
    const char *name;
    int64_t value; /* at least 1 */
    int line;      /* of its #define */
} cupel_init_tunable;
/* The first one from the file's macro *from on, which moves past it; false: there is none. */
bool cupel_init_tunable_next(const cupel_init_kernel *kernel, size_t *from, cupel_init_tunable *out);

/* As above for words that start with one of these, in the device functions and macros too that the body
 * mentions, and in those that they mention; 32 of them at most. */
bool cupel_init_kernel_reaches(const cupel_init_kernel *kernel, const char *const *words, size_t count);

#endif
