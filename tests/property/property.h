/* Shared by the property tests: a random problem, the oracle's answer to it, and shadows judged against the
 * answer. */
#ifndef CUPEL_PROPERTY_H
#define CUPEL_PROPERTY_H

#include "oracle.h"
#include "philox.h"

enum { PROPERTY_INPUTS = 4 };

/* The inputs x [m, n], w [n, k] or [n], b [k] or [n], in `type`, as doubles that the type holds. */
typedef struct property_input {
    const char *name;
    int rank;
    int64_t shape[2], count;
    double *values;
} property_input;

typedef struct property_problem {
    const char *expression;
    cupel_dtype type; /* of inputs and output */
    cupel_rules rules;
    int64_t m, n, k;
    int input_count;
    property_input inputs[PROPERTY_INPUTS];
    int rank;
    int64_t shape[2], count; /* of the output */
    cupel_random random;     /* for the shadows' choices */
    cupel_arena *arena;
    cupel_allowed allowed;
    cupel_graph *graph;
    const void *data[PROPERTY_INPUTS];
    cupel_bindings bindings;
} property_problem;

/* Value patterns of random problems. */
enum { PATTERN_COUNT = 12 };
void property_fill(property_problem *p, property_input *input, int pattern);

/* Adds an input; values are zero. */
property_input *property_add(property_problem *p, const char *name, int rank, int64_t rows, int64_t columns);

/* Parses the expression and builds its graph; fails the test on an error. */
void property_build(property_problem *p);
/* property_build, and the bounded oracle. */
void property_answer(property_problem *p);

/* Judges a shadow's results (rounded to the output type here). Returns the number of elements outside the
 * allowed set, and the largest error over radius among the finite ones inside in *worst (raised, never
 * lowered). */
int property_judge(const property_problem *p, const double *results, double *worst, int64_t *judged,
                   int64_t *first);

/* One line that tells element i: got, allowed, value. */
void property_describe(const property_problem *p, const double *results, int64_t i, char *line, size_t size);

/* n single-precision numbers' sum in one of several orders. */
enum { ORDER_COUNT = 8 };
float property_sum(const float *x, int64_t n, int order, cupel_random *random);

/* The hardware's approximations as far off as published, at random; and the plain functions. */
float property_exp(float x, int form, cupel_random *random);
float property_nudge(float x, int steps, cupel_random *random);
float property_divide(float x, float y, int form, cupel_random *random);
float property_rsqrt(float x, int form, cupel_random *random);

/* A good kernel: `form` chooses among its variants. results: the output's elements. */
typedef void property_shadow(property_problem *p, int form, double *results);

typedef struct property_operator {
    const char *name, *expression;
    int inputs; /* 1: x; 2: x, w; 3: x, w, b */
    int kind;   /* shapes: 0 pointwise, 1 rows to rows, 2 rows to numbers, 3 matrix product */
    int forms;
    property_shadow *shadow;
} property_operator;

extern const property_operator property_operators[];
extern const int property_operator_count;

/* Runs the operator's shadow; under the flush rule mostly on hardware that flushes. */
void property_run(property_problem *p, const property_operator *op, int form, double *results);

/* A random problem for an operator; everything follows from the seed. */
void property_draw(property_problem *p, const property_operator *op, uint64_t seed, cupel_arena *arena);

#endif
