/* Every operator of the language as an expression over x, w and b, for the tests and the experiment of the
 * shadows: which need no kernel written by hand. */
#ifndef CUPEL_SHADOW_CASES_H
#define CUPEL_SHADOW_CASES_H

#include "property.h"
#include "shadow.h"

typedef enum shadow_shape {
    SHADOW_POINTWISE, /* x, w, b and the result [m, n] */
    SHADOW_ROWS,      /* x and the result [m, n]; w, b [n] */
    SHADOW_NUMBERS,   /* x, w, b [m, n]; the result [m] */
    SHADOW_SCALAR,    /* x, w, b [m, n]; one number */
    SHADOW_MATRIX,    /* x [m, n], w [n, k], b [k]; the result [m, k] */
    SHADOW_ATTENTION  /* x, w, b and the result [m, n]: queries, keys and values */
} shadow_shape;

typedef struct shadow_case {
    const char *name, *expression;
    int inputs;
    shadow_shape shape;
} shadow_case;

extern const shadow_case shadow_cases[];
extern const int shadow_case_count;

/* Gives p (type, m, n, k, rules, arena and random set) the case's inputs, filled with the pattern, builds the
 * graph and answers. */
void shadow_case_answer(property_problem *p, const shadow_case *c, int pattern);

/* Elements of the run outside the allowed set; the largest error over radius of those inside is raised in
 * *worst. *first: the first one outside. */
int shadow_case_judge(const property_problem *p, const cupel_shadow_output *run, double *worst,
                      int64_t *first);

/* One run; fails the test on an error. */
cupel_shadow_output shadow_case_run(const property_problem *p, const cupel_shadow_plan *plan);

/* Plans that the evidence family lacks. */
enum { SHADOW_BEYOND = 6 };
extern const cupel_shadow_plan shadow_beyond[SHADOW_BEYOND];

/* Has the problem values of ordinary size, where an evidence radius applies? The radius of each element. */
bool shadow_case_evidence(const property_problem *p, double **radius);
/* The largest error over evidence radius of results; *worst: where. */
double shadow_case_evidence_ratio(const property_problem *p, const double *radius, const double *results,
                                  int64_t *worst);

#endif
