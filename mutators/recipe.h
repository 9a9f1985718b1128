/* The recipe: one test case as data, a few hundred bytes. Engines mutate its binary form, people edit its
 * YAML form, cupel_case_materialise (materialise.h) turns it into tensors. */
#ifndef CUPEL_RECIPE_H
#define CUPEL_RECIPE_H

#include "contract.h"
#include "philox.h"

enum { CUPEL_EDIT_MAX = 32, CUPEL_RECIPE_VERSION = 1, CUPEL_RECIPE_BYTES_MAX = 10240 };

/* name, text, weight in draws. Simplest first: the order is the order of simplicity. */
#define CUPEL_PATTERNS(X)                                                                                    \
    X(ZERO, "zero", 1)                                                                                       \
    X(ONE, "one", 1)                                                                                         \
    X(CONSTANT, "constant", 3)       /* amplitude everywhere */                                              \
    X(INTEGERS, "integers", 6)       /* exact small integers */                                              \
    X(INDEX, "index", 2)             /* the element's own index, prime period */                             \
    X(NORMAL, "normal", 8)           /* amplitude times a standard normal, plus centre */                    \
    X(UNIFORM, "uniform", 6)         /* uniform between -amplitude and amplitude, plus centre */             \
    X(LOG_UNIFORM, "log_uniform", 4) /* either sign, normal exponents over the whole format, or over the     \
                                        part of it that amplitude in (0, 1] says */                          \
    X(CANCELLATION, "cancellation",                                                                          \
      4)                         /* pairs that cancel but for a small rest; large mean, small spread */      \
    X(ONE_LARGE, "one_large", 3) /* one large element among small ones */                                    \
    X(TIES, "ties", 3)           /* few distinct values; midpoints between two numbers */                    \
    X(SUBNORMALS, "subnormals", 2)                                                                           \
    X(NEAR_OVERFLOW, "near_overflow", 2)                                                                     \
    X(BITS, "bits", 1) /* random finite bit patterns */

typedef enum cupel_pattern {
#define CUPEL_PATTERN_NAME(name, text, weight) CUPEL_PATTERN_##name,
    CUPEL_PATTERNS(CUPEL_PATTERN_NAME)
#undef CUPEL_PATTERN_NAME
        CUPEL_PATTERN_COUNT
} cupel_pattern;

/* Special values are laid over a pattern: which value, and where. */
typedef enum cupel_special {
    CUPEL_SPECIAL_NONE,
    CUPEL_SPECIAL_NEG_ZERO,
    CUPEL_SPECIAL_POS_INF,
    CUPEL_SPECIAL_NEG_INF,
    CUPEL_SPECIAL_NAN,
    CUPEL_SPECIAL_MIXED, /* any of the above, element by element */
    CUPEL_SPECIAL_COUNT
} cupel_special;

typedef enum cupel_placement {
    CUPEL_PLACE_SINGLE, /* one element */
    CUPEL_PLACE_SPARSE, /* one element in 16 */
    CUPEL_PLACE_ROW,    /* a whole row along the last axis */
    CUPEL_PLACE_TILE,   /* a run of 32, 64, 128 or 256 elements, aligned, at the start, middle or end of a row
                         */
    CUPEL_PLACE_ALL,
    CUPEL_PLACE_COUNT
} cupel_placement;

typedef struct cupel_edit {
    int64_t index; /* flat, row major in the tensor's logical shape; edits beyond the tensor have no effect */
    uint64_t bits; /* in the element type */
} cupel_edit;

/* A tensor's layout: a permutation of axes from outermost to innermost in memory, gap elements after each
 * axis's extent, a step between neighbours, a set of reversed and of expanded axes, and an offset of the
 * first element. */
typedef struct cupel_layout {
    uint8_t order[CUPEL_RANK_MAX]; /* identity: row major */
    uint8_t gap[CUPEL_RANK_MAX];   /* extra elements behind each axis in memory */
    uint8_t step;                  /* of the innermost axis: 1 contiguous */
    uint8_t reversed, expanded;    /* bit per axis */
    uint16_t offset;               /* elements before the first */
} cupel_layout;

typedef struct cupel_tensor_recipe {
    cupel_pattern pattern;
    uint32_t seed;
    double amplitude, centre; /* 0 where the pattern has no use for them, as is seed */
    cupel_special special;
    cupel_placement placement;
    uint32_t special_seed;
    cupel_layout layout;
    int edit_count;
    cupel_edit edits[CUPEL_EDIT_MAX];
} cupel_tensor_recipe;

/* What is called before the call that is judged, in the second run: name, text, words for one call and behind
 * the number of several. The order is the order of simplicity; binary recipes hold the number: append within
 * a version. */
#define CUPEL_HISTORIES(X)                                                                                   \
    X(NONE, "none", "no earlier call", "")                                                                   \
    X(REPEAT, "repeat", "the same call, made before", "equal calls")                                         \
    X(OTHER_VALUES, "other_values", "an earlier call with other values in the same buffers",                 \
      "earlier calls with other values in the same buffers")                                                 \
    X(OTHER_BUFFERS, "other_buffers", "an earlier call with other values in other buffers",                  \
      "earlier calls with other values in other buffers")                                                    \
    X(OTHER_SHAPE, "other_shape", "an earlier call of another shape", "earlier calls of other shapes")       \
    X(FIRST_AGAIN, "first_again", "", "earlier calls, the first of them the same")

typedef enum cupel_history {
#define CUPEL_HISTORY_NAME(name, text, one, many) CUPEL_HISTORY_##name,
    CUPEL_HISTORIES(CUPEL_HISTORY_NAME)
#undef CUPEL_HISTORY_NAME
        CUPEL_HISTORY_COUNT
} cupel_history;

enum { CUPEL_CALLS_MAX = 12 };

/* Fields beyond the contract's counts are zero. Plain data: copied by assignment. */
typedef struct cupel_recipe {
    int64_t dims[CUPEL_DIM_MAX];
    uint8_t types[CUPEL_TYPE_MAX];
    double params[CUPEL_PARAM_MAX];
    cupel_tensor_recipe tensors[CUPEL_TENSOR_MAX];
    uint32_t aliases;      /* bit i: the contract's i-th may_alias pair shares a buffer */
    uint64_t schedule;     /* the second run's (schedule.h); 0: canonical as well */
    uint32_t poison;       /* seed of both poisons, which finite one (cupel_poison_of), and which build
                              (cupel_recipe_fuses) */
    cupel_history history; /* the second run's */
    uint32_t permutation;  /* of the inputs' values along wholly reduced axes (reduced_axes.h); 0: none, 1:
                              reversed,  2: rotated by one, 3: halves exchanged, 4: even places first, from 5
                              on  at random */
    uint8_t calls;         /* how many earlier calls history makes; 0 where it is NONE (else read as 1) */
} cupel_recipe;

/* a * b + c rounded once or twice: both are legal builds of a kernel. Is it the former that a case is for, as
 * one in eight is? Not where the contract says which; simplest: 6. */
bool cupel_recipe_fuses(const cupel_contract *contract, const cupel_recipe *recipe);

/* The simplest legal recipe: ordinary shape, base types, integers in every input, contiguous. */
CUPEL_MUST_USE cupel_code cupel_recipe_simple(const cupel_contract *contract, cupel_recipe *out,
                                              cupel_error *err);

/* The recipe's binding, complete. */
CUPEL_MUST_USE cupel_code cupel_recipe_binding(const cupel_contract *contract, const cupel_recipe *recipe,
                                               cupel_binding *out, cupel_error *err);

/* Brings any recipe into the contract: dims into range and requires (nearest legal value), types and layouts
 * to claimed ones, params into range, specials away where inputs are finite. Always yields a legal recipe or
 * fails (UNABLE: requires cannot be met). Total work (elements of all tensors) is kept at most max_elements
 * by shrinking dims. */
CUPEL_MUST_USE cupel_code cupel_recipe_repair(const cupel_contract *contract, cupel_recipe *recipe,
                                              int64_t max_elements, cupel_error *err);

/* The engines' form: versioned, little endian, bound to the contract's counts, at most CUPEL_RECIPE_BYTES_MAX
 * bytes. encode returns the size (0: capacity too small). decode accepts any bytes: what is missing is zero,
 * no field can index outside its array; the result is legal only after cupel_recipe_repair. false only when
 * magic or version differ. Encoding a decoded recipe gives a fixed point. */
size_t cupel_recipe_encode(const cupel_contract *contract, const cupel_recipe *recipe, uint8_t *bytes,
                           size_t capacity);
bool cupel_recipe_decode(const cupel_contract *contract, const uint8_t *bytes, size_t size,
                         cupel_recipe *out);

/* The people's form. write gives text in arena; read reports errors with line and column and is lossless
 * against write (doubles and element bits as hexadecimal beside a readable comment). */
CUPEL_MUST_USE cupel_code cupel_recipe_write(const cupel_contract *contract, const cupel_recipe *recipe,
                                             cupel_arena *arena, char **text, cupel_error *err);
CUPEL_MUST_USE cupel_code cupel_recipe_read(const cupel_contract *contract, const char *file,
                                            const char *text, size_t length, cupel_recipe *out,
                                            cupel_error *err);

bool cupel_recipe_equal(const cupel_contract *contract, const cupel_recipe *a, const cupel_recipe *b);

/* The total order of simplicity: negative when a is simpler than b. Smaller tensors first, then simpler
 * traits (no special values, no subnormals, base type, contiguous, fewer edits), simpler patterns, smaller
 * seeds. 0 only for equals. */
int cupel_recipe_compare(const cupel_contract *contract, const cupel_recipe *a, const cupel_recipe *b);

/* What is special about a recipe (DESIGN section 4, attribution). */
enum {
    CUPEL_TRAIT_SPECIAL = 1,   /* NaN, infinities, negative zeros among the inputs */
    CUPEL_TRAIT_SUBNORMAL = 2, /* subnormal inputs asked for */
    CUPEL_TRAIT_TYPE = 4,      /* not the base type */
    CUPEL_TRAIT_SHAPE = 8,     /* not the ordinary shape */
    CUPEL_TRAIT_LAYOUT = 16,   /* not contiguous, an offset, an alias */
    CUPEL_TRAIT_SCHEDULE = 32,
    CUPEL_TRAIT_HISTORY = 64,   /* an earlier call */
    CUPEL_TRAIT_PERMUTED = 128, /* wholly reduced axes of the inputs are permuted */

    /* Not of a recipe, but of what a failure needs: */
    CUPEL_TRAIT_ORDER = 256,      /* elements along a wholly reduced axis in a certain order */
    CUPEL_TRAIT_SEQUENCE = 512,   /* an order-dependent operation that is done in another order */
    CUPEL_TRAIT_SUMS = 1024,      /* sums that a lower-precision accumulator gets wrong */
    CUPEL_TRAIT_COTANGENT = 2048, /* upstream gradients that differ by element */
    CUPEL_TRAIT_GRADIENT = 4096,  /* the output is a gradient */

    CUPEL_TRAIT_VARIANT = 8192, /* of a recipe again: not the first variant */
    CUPEL_TRAITS_OF_VALUES = CUPEL_TRAIT_ORDER | CUPEL_TRAIT_SEQUENCE | CUPEL_TRAIT_SUMS |
                             CUPEL_TRAIT_COTANGENT | CUPEL_TRAIT_GRADIENT
};
int cupel_recipe_traits(const cupel_contract *contract, const cupel_recipe *recipe);

/* How many earlier calls the recipe's history makes: 0 to CUPEL_CALLS_MAX; FIRST_AGAIN at least two. */
int cupel_recipe_calls(const cupel_recipe *recipe);

/* Earlier call number `call` (from 0 on; the last one comes right before the judged one): the same types,
 * params and layouts, a plain run, and, but for REPEAT, other legal values in every input, no edits. With
 * OTHER_SHAPE smaller and larger legal dims in turn, the last call's smaller; where there are none, or an
 * entry names them, the same dims. With FIRST_AGAIN the first call is the judged one itself, and the others
 * have another shape, other values, and other values in other buffers in turn: what a kernel keeps for each
 * shape or buffer is overwritten and asked for again. A pure function of the recipe. Errors: as repair. */
CUPEL_MUST_USE cupel_code cupel_recipe_earlier(const cupel_contract *contract, const cupel_recipe *recipe,
                                               int call, cupel_recipe *out, cupel_error *err);

/* Does that call find its tensors in buffers at other addresses than the judged one? */
bool cupel_recipe_elsewhere(const cupel_recipe *recipe, int call);

/* The recipe's history as people write it: "none", "other_values", "repeat:3". read takes that form and sets
 * history and calls; false, with *out as it was, for anything else. */
void cupel_history_write(const cupel_recipe *recipe, char *text, size_t size);
bool cupel_history_read(const char *text, cupel_recipe *out);
/* In words: "the same call, made before", "3 earlier calls of other shapes". */
void cupel_history_describe(const cupel_recipe *recipe, char *text, size_t size);

/* One line for people: "M=1 N=33 T=f32, x: normal, one -inf". */
void cupel_recipe_describe(const cupel_contract *contract, const cupel_recipe *recipe, char *text,
                           size_t size);

/* Its dims, types and params alone: where values do not matter. */
void cupel_recipe_describe_shape(const cupel_contract *contract, const cupel_recipe *recipe, char *text,
                                 size_t size);

const char *cupel_pattern_name(cupel_pattern pattern);
const char *cupel_special_name(cupel_special special);
const char *cupel_placement_name(cupel_placement placement);
const char *cupel_history_name(cupel_history history);

#endif
