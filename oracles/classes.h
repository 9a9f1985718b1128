/* Which of finite, +inf, -inf and NaN a conforming kernel may reach. Pure functions of enclosures, the single
 * statement of these rules: the bounded and the exact evaluator both call them. An operand is described by
 * the interval of its finite values and by its classes; the interval's ends are doubles rounded outward. */
#ifndef CUPEL_CLASSES_H
#define CUPEL_CLASSES_H

#include "oracle.h"

typedef struct cupel_reach {
    double lo, hi;   /* the finite values, when classes has FINITE */
    uint8_t classes; /* CUPEL_CLASS_*; ZERO_SIGN_* tells the sign of an exact zero where it is known */
} cupel_reach;

/* The class bit of a value. */
uint8_t cupel_class_of(double value);

/* + - * / of every combination of classes. A zero whose sign is not fixed counts with both, so that division
 * by it reaches both infinities. Overflow is not a class: it makes an element not judged (DESIGN 3.1). */
uint8_t cupel_classes_binary(cupel_op op, cupel_reach a, cupel_reach b);

/* The functions of one argument, by their limits at the infinities, their poles and the edges of their
 * domains. */
uint8_t cupel_classes_unary(cupel_op op, cupel_reach a);

/* pow, atan2, fmod, remainder. Conservative where an operand is neither exact nor plainly inside the domain.
 */
uint8_t cupel_classes_function2(cupel_op op, cupel_reach a, cupel_reach b);

/* A sum of any number of terms in any order: show each term's classes to the tally. */
typedef struct cupel_sum_classes {
    int64_t may_pos, may_neg, must_pos, must_neg; /* terms that may (must) be an infinity */
    int64_t may_both;                             /* among them, terms that may be either */
    bool may_nan, must_nan, all_may_be_finite;
} cupel_sum_classes;

cupel_sum_classes cupel_sum_classes_start(void);
void cupel_sum_classes_add(cupel_sum_classes *tally, uint8_t term);
/* may_overflow: a partial sum of the finite terms may exceed the working precision. */
uint8_t cupel_sum_classes_end(const cupel_sum_classes *tally, bool may_overflow);

/* The largest (or smallest) of two under PyTorch's rule that NaN wins (maximum, amax) or under fmax's that it
 * loses. */
uint8_t cupel_classes_extremum(cupel_op op, cupel_reach a, cupel_reach b);

/* The sign of a zero that comes by product or quotient of values of known sign: the flags to add to the
 * result's classes, 0 when the sign is open. */
uint8_t cupel_zero_sign_product(cupel_reach a, cupel_reach b);
/* The flags of an exact zero itself, and of its negative. */
uint8_t cupel_zero_sign_of(double zero);
uint8_t cupel_zero_sign_negate(uint8_t classes);

#endif
