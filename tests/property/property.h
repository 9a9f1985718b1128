/* Shared by the property tests: a random problem, the oracle's answer to it, and shadows judged against the
 * answer. */
#ifndef CUPEL_PROPERTY_H
#define CUPEL_PROPERTY_H

#include "oracle.h"
#include "philox.h"
#include "property_arithmetic.h"

enum { PROPERTY_INPUTS = 8, PROPERTY_LONGEST = 128 };

/* An input's elements, as doubles that its type holds. */
typedef struct property_input {
    const char *name;
    cupel_dtype type;
    int rank;
    int64_t shape[CUPEL_RANK_MAX], count;
    double *values;
} property_input;

typedef struct property_operator property_operator;

typedef struct property_problem {
    const property_operator *op; /* whose problem it is, or NULL */
    const char *expression;
    cupel_dtype type; /* of the output, and of inputs added from now on */
    cupel_rules rules;
    bool products_given; /* the contract's `products` */
    cupel_dtype products;
    int64_t m, n, k; /* what the operator's own shapes are made of */
    void *own;       /* what `prepare` leaves for the shadow */
    int pattern;
    int input_count;
    property_input inputs[PROPERTY_INPUTS];
    int rank;
    int64_t shape[CUPEL_RANK_MAX], count; /* of the output */
    cupel_random random;                  /* for the shadows' choices */
    cupel_arena *arena;
    cupel_allowed allowed;
    cupel_graph *graph;
    const void *data[PROPERTY_INPUTS];
    cupel_bindings bindings;
} property_problem;

/* Value patterns of random problems. */
enum { PATTERN_COUNT = 12 };
void property_fill(property_problem *p, property_input *input, int pattern);
/* The problem's pattern, or now and then another one. */
void property_fill_any(property_problem *p, property_input *input);
/* Whole numbers from low to high. */
void property_fill_integers(property_problem *p, property_input *input, int64_t low, int64_t high);

/* Adds an input of p->type, of rank 0, 1 or 2, or of any shape and type; values are zero. */
property_input *property_add(property_problem *p, const char *name, int rank, int64_t rows, int64_t columns);
property_input *property_add_shaped(property_problem *p, const char *name, cupel_dtype type, int rank,
                                    const int64_t *shape);
/* States the output's shape. */
void property_expect(property_problem *p, int rank, const int64_t *shape);

/* Parses the expression and builds its graph; fails the test on an error. */
void property_build(property_problem *p);
/* The same for an expression that may be none of the language. */
CUPEL_MUST_USE int property_try_build(property_problem *p, cupel_error *err);
/* property_build, and the bounded oracle. */
void property_answer(property_problem *p);
void property_answer_built(property_problem *p);

/* Judges a shadow's results (rounded to the output type here). Returns the number of elements outside the
 * allowed set, and the largest error over radius among the finite ones inside in *worst (raised, never
 * lowered). */
int property_judge(const property_problem *p, const double *results, double *worst, int64_t *judged,
                   int64_t *first);

/* The judged element whose error is the largest multiple of its radius, before any rounding to the output
 * type (which hides much where it is coarse); -1 when all are within. A good kernel has none. */
int64_t property_excess(const property_problem *p, const double *results);

/* One line that tells element i: got, allowed, value. */
void property_describe(const property_problem *p, const double *results, int64_t i, char *line, size_t size);

/* A good kernel: `form` chooses among its variants. results: the output's elements. */
typedef void property_shadow(property_problem *p, int form, double *results);
/* The same for one element of up to three arguments. */
typedef float property_scalar(property_problem *p, int form, float x, float w, float b);
/* Adds the inputs and states the output's shape (and expression or type where they vary). */
typedef void property_inputs(property_problem *p);

/* Shapes: x [m, n] and w, b of the same; rows to rows and rows to numbers with w, b [n]; products x [m, n], w
 * [n, k], b [k]; and whatever `prepare` makes. */
enum { PROPERTY_POINTWISE, PROPERTY_ROWS, PROPERTY_NUMBERS, PROPERTY_PRODUCT, PROPERTY_OWN };

/* One row of a family's table. The function that the row is about is the first that the expression calls. */
struct property_operator {
    const char *name, *expression;
    int inputs; /* 1: x; 2: x, w; 3: x, w, b */
    int kind;
    int forms;
    property_shadow *shadow;
    property_scalar *scalar;  /* POINTWISE: instead of the shadow */
    property_inputs *prepare; /* OWN: makes inputs and shape */
    cupel_dtype output;       /* of the output; F64 (0) stands for that of the inputs */
};

typedef struct property_family {
    const char *name;
    const property_operator *operators;
    int count;
} property_family;

/* All good kernels (property_families.c); each family stands in a file good_NAME.c. */
extern const property_family *const property_families[];
extern const int property_family_count;
int property_operator_count(void);
const property_operator *property_operator_at(int index);

/* Runs the operator's shadow; under the flush rule mostly on hardware that flushes. */
void property_run(property_problem *p, const property_operator *op, int form, double *results);

/* A random problem for an operator; everything follows from the seed. */
void property_draw(property_problem *p, const property_operator *op, uint64_t seed, cupel_arena *arena);

#endif
