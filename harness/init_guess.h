/* The guesses of `cupel init`: a contract in parts, each with the reason for it. */
#ifndef CUPEL_INIT_GUESS_H
#define CUPEL_INIT_GUESS_H

#include "init_kernel.h"

enum {
    CUPEL_GUESS_DIM_MAX = 16,
    CUPEL_GUESS_RANK_MAX = 4,
    CUPEL_GUESS_CANDIDATE_MAX = 12,
    CUPEL_GUESS_REQUIRE_MAX = 8,
    CUPEL_GUESS_LET_MAX = 8,
    CUPEL_GUESS_ELEMENTS_MAX = 65536 /* that a case holds by default */
};

/* A name that stands where nothing could be guessed: no contract knows it, so that a check stops there. */
#define CUPEL_GUESS_PLACEHOLDER "EDIT_ME"

typedef struct cupel_guess_dim {
    const char *name;
    int64_t lo, hi;
    const char *why;
} cupel_guess_dim;

typedef enum cupel_guess_role {
    CUPEL_GUESS_INPUT = 1,
    CUPEL_GUESS_OUTPUT = 2,
    CUPEL_GUESS_BOTH = 3
} cupel_guess_role;

typedef struct cupel_guess_tensor {
    const char *name;
    int param;
    cupel_guess_role role;
    const char *type; /* "f32", "T" */
    int rank;
    const cupel_init_tree *shape[CUPEL_GUESS_RANK_MAX];
    const char *conditions; /* ", finite: true" or "" */
    const char *why;
    bool open;                         /* no index told of the shape: it is to be filled in */
    const char *ensures, *ensures_why; /* outputs; ensures NULL: unknown */
} cupel_guess_tensor;

typedef struct cupel_guess_scalar {
    const char *name, *value, *why;
} cupel_guess_scalar;

/* A derived integer. */
typedef struct cupel_guess_let {
    const char *name, *value, *why;
} cupel_guess_let;

/* A condition on the dims. */
typedef struct cupel_guess_require {
    const char *text, *why;
} cupel_guess_require;

typedef struct cupel_guess {
    const cupel_init_kernel *kernel;
    const char *id;
    int dim_count, tensor_count, scalar_count, require_count, let_count, grid_count, block_count,
        candidate_count;
    cupel_guess_dim dims[CUPEL_GUESS_DIM_MAX];
    cupel_guess_tensor tensors[CUPEL_INIT_PARAM_MAX];
    cupel_guess_scalar scalars[CUPEL_INIT_PARAM_MAX];
    cupel_guess_require requires_[CUPEL_GUESS_REQUIRE_MAX];
    const char *type_variable, *types, *types_why; /* NULL: none */
    const char *accumulate, *accumulate_why;       /* NULL: the default */
    const char *entry, *entry_why;                 /* why: "" where there is nothing to say */
    const cupel_init_tree *grid[3], *block[3];
    const char *grid_why, *block_why;
    const char *shared, *shared_why; /* NULL: none */
    const char *cooperative_why;     /* NULL: an ordinary launch */
    cupel_guess_let lets[CUPEL_GUESS_LET_MAX];
    const char *candidates[CUPEL_GUESS_CANDIDATE_MAX];
    uint64_t null_params;       /* a bit for each output that may be null: null is passed */
    const char *note;           /* why nothing is known, or NULL */
    const char *doubt;          /* what a trial run showed, or NULL */
    const char *doubted_output; /* the doubt is about its values; NULL: about the launch */
} cupel_guess;

/* Everything that can be guessed of a kernel. Errors: MEMORY; UNSUPPORTED when it has no pointer. */
CUPEL_MUST_USE cupel_code cupel_guess_make(const cupel_init_kernel *kernel, cupel_guess *out,
                                           cupel_error *err);

/* The parts. */
int cupel_guess_shape(const cupel_guess *guess, int param,
                      const cupel_init_tree *shape[CUPEL_GUESS_RANK_MAX]);
void cupel_guess_block(cupel_guess *guess);
void cupel_guess_launch(cupel_guess *guess); /* grid and shared memory; after the block and the shapes */
void cupel_guess_dims(cupel_guess *guess);
void cupel_guess_postcondition(cupel_guess *guess);

/* How many blocks along an axis cover what the body bounds by a size; NULL when it bounds nothing so. */
const cupel_init_tree *cupel_guess_blocks(const cupel_guess *guess, int axis);

/* What the code itself says where a function of the language has a default, as the expression writes it;
 * CUPEL_GUESS_PLACEHOLDER where it could not be read. Of a norm: the number that is added under every root.
 */
const char *cupel_guess_eps(const cupel_init_kernel *kernel);
/* The only real number beside 0 and 1; none where there is not any. */
const char *cupel_guess_factor(const cupel_init_kernel *kernel, const char *none);
/* What fminf (upper) or fmaxf compares with. */
const char *cupel_guess_bound(const cupel_init_kernel *kernel, bool upper);
/* The real numbers beside 0 and 1, each once, into values; how many there are, which may be more than most.
 */
int cupel_guess_reals(const cupel_init_kernel *kernel, double *values, int most);

/* The dim of that name, or -1; and one more dim (only once). */
int cupel_guess_dim_find(const cupel_guess *guess, const char *name);
void cupel_guess_dim_add(cupel_guess *guess, const char *name, int64_t lo, int64_t hi, const char *why);

/* One more let, of a name that cupel_init_kernel_derived knows. */
void cupel_guess_let_add(cupel_guess *guess, const char *name);

/* The tensor that is the first output; NULL when there is none. */
cupel_guess_tensor *cupel_guess_output(cupel_guess *guess);

/* The contract as text, in the kernel's arena; NULL when out of memory. source: the kernel's file as the
 * contract shall name it, NULL when it lies beside under the same name. */
const char *cupel_guess_write(const cupel_guess *guess, const char *source);

#endif
