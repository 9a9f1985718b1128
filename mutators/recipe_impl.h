/* Shared inside this folder: what a tensor's declaration and binding permit, and the parts that make tensors
 * out of recipes. */
#ifndef CUPEL_RECIPE_IMPL_H
#define CUPEL_RECIPE_IMPL_H

#include "materialise.h"
#include "mutate.h"
#include "recipe.h"

enum { CUPEL_DEFAULT_MAX_ELEMENTS = 65536, CUPEL_ALLOCATOR_ALIGN = 256, CUPEL_STEP_MAX = 8 };

/* Uses of random numbers, kept apart: add new uses at the end, so that old seeds keep their meaning. */
enum {
    CUPEL_STREAM_DRAW = 1,       /* one seed for each draw of a campaign */
    CUPEL_STREAM_CHOICE = 2,     /* the choices inside one draw */
    CUPEL_STREAM_TENSOR = 0x100, /* + tensor: the key of a tensor's values */
    CUPEL_STREAM_SPECIAL = 0x200,
    CUPEL_STREAM_AXIS = 0x300,  /* + axis: from the key of a prefix of coordinates to that of a longer one */
    CUPEL_STREAM_PLACE = 0x400, /* + axis: positions along an axis */
    CUPEL_STREAM_PERMUTATION = 0x500 /* + group of axes */
};

/* A tensor under a binding: what its elements may be. */
typedef struct cupel_tensor_facts {
    const cupel_tensor_decl *decl;
    cupel_dtype type;
    const cupel_format *format;
    int64_t shape[CUPEL_RANK_MAX];
    int64_t count;
    bool bounded; /* lo and hi hold for every value (range or below), rounded to the type */
    double lo, hi;
    int64_t below; /* integers in 0..below-1; 0: no such condition */
    int specials;  /* bit (1 << cupel_special) for every special value that is legal here */
} cupel_tensor_facts;

/* Errors: a shape that cannot be evaluated; a `below` that leaves no value for a tensor with elements. */
CUPEL_MUST_USE cupel_code cupel_facts_of(const cupel_binding *binding, int tensor, cupel_tensor_facts *out,
                                         cupel_error *err);

/* May an element with these bits stand in the tensor? (finite, range, below, no NaN where sorted) */
bool cupel_facts_permit(const cupel_tensor_facts *facts, uint64_t bits);

/* layout.c */

/* The layouts that a recipe may give a tensor, alias partner included; demand gets the byte alignment that
 * its data pointer must keep (at least the element size). */
int cupel_layout_claims(const cupel_contract *contract, const cupel_recipe *recipe,
                        const cupel_binding *binding, int tensor, int64_t *demand);
void cupel_layout_reset(cupel_layout *layout);
bool cupel_layout_is_contiguous(const cupel_layout *layout, int rank);
/* Strides in elements, and the lowest and highest element reached relative to element [0, 0, ..]. */
void cupel_layout_strides(const cupel_layout *layout, int rank, const int64_t *shape, int64_t *stride,
                          int64_t *lowest, int64_t *highest);
/* Brings a layout into the claims (CUPEL_LAYOUT_*), canonical where fields have no effect. */
void cupel_layout_repair(cupel_layout *layout, int rank, const int64_t *shape, int claims, int64_t demand,
                         int64_t element_size);
/* The active alias partner of a tensor, or -1. */
int cupel_alias_partner(const cupel_contract *contract, const cupel_recipe *recipe, int tensor);
/* May the i-th may_alias pair share a buffer under this binding? */
bool cupel_alias_possible(const cupel_binding *binding, int pair);

/* dimensions.c */

/* Elements of all tensors of a complete binding (saturated at 2^60), or -1 when some tensor cannot be made.
 */
int64_t cupel_dimensions_total(const cupel_binding *binding);
/* In range, requires hold, every tensor can be made. */
bool cupel_dimensions_legal(const cupel_binding *binding);
/* The claimed value nearest to value. */
int64_t cupel_dimension_nearest(const cupel_dim *dim, int64_t value);
/* Nearest legal dims, at most max_elements in all where the contract permits that. */
CUPEL_MUST_USE cupel_code cupel_dimensions_repair(cupel_binding *binding, int64_t max_elements,
                                                  cupel_error *err);

/* pattern.c: values of a row along the last axis */
typedef struct cupel_pattern_flags {
    bool seed, amplitude, centre; /* which fields of a tensor's recipe a pattern uses */
} cupel_pattern_flags;
cupel_pattern_flags cupel_pattern_uses(cupel_pattern pattern);

typedef struct cupel_values {
    const cupel_tensor_facts *facts;
    const cupel_tensor_recipe *recipe;
    int tensor;
} cupel_values;

/* The values of the row whose key is row_key (from the tensor's key and the leading coordinates) and whose
 * leading coordinates weigh index_base in the pattern INDEX. Finite, inside the tensor's bounds. */
void cupel_pattern_row(const cupel_values *values, uint64_t row_key, int64_t index_base, int64_t n,
                       double *out);

/* A position in 0..n-1, uniform for every n, that stays the same for another n as long as it lies inside. */
int64_t cupel_place_position(uint64_t key, uint32_t stream, int64_t n);

/* special.c */
typedef struct cupel_special_plan {
    cupel_special special;
    cupel_placement placement;
    int allowed; /* bits of special values that are legal */
    uint64_t key;
    int rank;
    int64_t shape[CUPEL_RANK_MAX];
    int64_t at[CUPEL_RANK_MAX]; /* the chosen position */
    int64_t first, last;        /* ROW, TILE: along the last axis, last exclusive */
    bool all_rows;
} cupel_special_plan;
void cupel_special_open(const cupel_values *values, const int64_t *shape, cupel_special_plan *plan);
/* Lays special values over a row with these leading coordinates. */
void cupel_special_row(const cupel_special_plan *plan, const int64_t *lead, uint64_t row_key, int64_t n,
                       double *row);

/* values.c: the logical content of an input, contiguous and row major; memory has count * size bytes. */
CUPEL_MUST_USE cupel_code cupel_values_fill(const cupel_values *values, cupel_arena *arena, void *memory,
                                            cupel_error *err);

/* permute.c: clears a permutation where there is nothing to permute; moves the inputs' values of a case that
 * has one. values: per tensor, NULL where it has none of its own. */
void cupel_permutation_repair(const cupel_binding *binding, cupel_recipe *recipe);
CUPEL_MUST_USE cupel_code cupel_permute_inputs(const cupel_case *c, void *const values[CUPEL_TENSOR_MAX],
                                               cupel_arena *arena, cupel_error *err);

/* init_value.c: the content that `init` gives, in arena. */
CUPEL_MUST_USE cupel_code cupel_init_fill(const cupel_case *c, int tensor, cupel_arena *arena, void **memory,
                                          cupel_error *err);

/* shape_draw.c */
typedef struct cupel_landmarks {
    int count;
    int64_t values[48]; /* literals of grid, block, shared, requires and let: tile sizes, mostly */
} cupel_landmarks;
void cupel_landmarks_mine(const cupel_contract *contract, cupel_landmarks *out);
/* Adds a dictionary's compared constants, moduli and sizes, as far as there is room. */
void cupel_landmarks_add(const cupel_dictionary *dictionary, cupel_landmarks *landmarks);
/* A claimed value of the dim, at most cap, from boundary classes and at random. */
int64_t cupel_dimension_draw(const cupel_binding *binding, int dim, int64_t cap,
                             const cupel_landmarks *landmarks, cupel_random *random);
/* Which dims the tensors' shapes speak of, be it through a let; others serve the launch only. */
void cupel_dims_in_shapes(const cupel_contract *contract, bool dims[CUPEL_DIM_MAX]);
/* A rough measure of the work of a complete binding: the product of the dims that shapes speak of (what a
 * matrix product does, and more than most kernels do) or the number of threads, whichever is larger. */
double cupel_shape_work(const cupel_binding *binding);
/* All dims, at most about `budget` elements in all; fill: most of it is used. */
void cupel_shape_draw(cupel_binding *binding, int64_t budget, bool fill, const cupel_landmarks *landmarks,
                      cupel_random *random);

/* tensor_draw.c: parts of a tensor's recipe, and a param. Legal only after repair. */
void cupel_draw_pattern(const cupel_tensor_facts *facts, cupel_random *random, cupel_tensor_recipe *tensor);
void cupel_draw_scale(const cupel_tensor_facts *facts, cupel_random *random, cupel_tensor_recipe *tensor);
void cupel_draw_special(const cupel_tensor_facts *facts, cupel_random *random, cupel_tensor_recipe *tensor);
void cupel_draw_layout(const cupel_tensor_facts *facts, int claims, int64_t demand, cupel_random *random,
                       cupel_layout *layout);
uint64_t cupel_draw_bits(const cupel_tensor_facts *facts, cupel_random *random);
void cupel_draw_edit(const cupel_tensor_facts *facts, cupel_random *random, cupel_tensor_recipe *tensor);
/* An edit at a drawn place, its bits still to be set; NULL when the tensor is empty. */
cupel_edit *cupel_draw_edit_place(const cupel_tensor_facts *facts, cupel_random *random,
                                  cupel_tensor_recipe *tensor);
double cupel_draw_param(const cupel_param *param, cupel_random *random);
uint64_t cupel_draw_schedule(cupel_random *random); /* every way comes */

/* One of the named permutations, or one at random. */
uint32_t cupel_draw_permutation(cupel_random *random);

/* history.c: sets history and calls. */
void cupel_draw_history(cupel_random *random, cupel_recipe *recipe); /* every kind and count, never NONE */
void cupel_history_nth(uint64_t n, cupel_recipe *recipe);            /* in turn, from the likely ones on */
/* Counts in range; other values or shapes only where there are any. */
void cupel_history_repair(const cupel_contract *contract, cupel_recipe *recipe);

/* dictionary_draw.c: dims, params and values out of a dictionary, which has words (for dims) or words or
 * numbers. */

/* What a dim may reach under a limit of elements. */
int64_t cupel_dictionary_cap(const cupel_dim *dim, int64_t limit);
/* About a word up to cap: itself, one beside it, a multiple, a sum or difference of two; may pass cap. */
int64_t cupel_dictionary_word(const cupel_dictionary *d, int64_t cap, cupel_random *random);
/* A multiple of a modulus plus the residue that the source compares with, another word, or any; <= cap. */
int64_t cupel_dictionary_residue(const cupel_dictionary *d, int64_t cap, cupel_random *random);
/* The same on or beside a multiple of another word; <= cap. */
int64_t cupel_dictionary_combine(const cupel_dictionary *d, int64_t cap, cupel_random *random);
/* Any of these. */
int64_t cupel_dictionary_dim(const cupel_dictionary *d, int64_t cap, cupel_random *random);
/* Halves dims other than the kept ones (bit per dim) until all tensors hold at most limit elements, so that
 * repair leaves the kept ones alone. */
void cupel_dictionary_make_room(const cupel_contract *contract, cupel_recipe *recipe, uint32_t kept,
                                int64_t limit);
/* A number or word, or just beside it in the type, either sign; whole for integer types. */
double cupel_dictionary_value(const cupel_dictionary *d, cupel_dtype type, cupel_random *random);
double cupel_dictionary_param(const cupel_dictionary *d, const cupel_param *param, cupel_random *random);
/* Sets one element, or the pattern's amplitude or centre. */
void cupel_dictionary_edit(const cupel_dictionary *d, const cupel_tensor_facts *facts, cupel_random *random,
                           cupel_tensor_recipe *tensor);
void cupel_dictionary_scale(const cupel_dictionary *d, const cupel_tensor_facts *facts, cupel_random *random,
                            cupel_tensor_recipe *tensor);

/* The claimed value nearest to value (which may be a NaN). */
double cupel_param_nearest(const cupel_param *param, double value);

/* limits may be NULL. */
static inline int64_t cupel_limits_elements(const cupel_limits *limits) {
    return limits != NULL && limits->max_elements > 0 ? limits->max_elements : CUPEL_DEFAULT_MAX_ELEMENTS;
}

static inline bool cupel_chance(cupel_random *random, unsigned one_in) {
    return cupel_random_below(random, one_in) == 0;
}

#endif
