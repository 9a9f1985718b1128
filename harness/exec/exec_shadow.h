/* A candidate without code: a shadow (shadow.h) that stands in for the kernel of a contract, good or with one
 * fault. Calibration asks with it whether a contract tells right from wrong. */
#ifndef CUPEL_EXEC_SHADOW_H
#define CUPEL_EXEC_SHADOW_H

#include "executor.h"
#include "shadow.h"

/* What a kernel can do wrong beside the arithmetic of its expression: enumerator, name, how it is said ("a
 * kernel with .."). */
#define CUPEL_MISDEEDS(X)                                                                                    \
    X(NO_MISDEED, "none", "nothing wrong")                                                                   \
    X(SCALED, "scaled", "every result 1.5 times as large")                                                   \
    X(TAIL_CLEARED, "tail-cleared", "the last n % 32 elements of an output of more than 32 left at 0")       \
    X(NAN_CLEARED, "nan-cleared", "0 stored for a NaN")                                                      \
    X(COARSE_TYPE, "coarse-type", "half the digits lost in every element type but the first")                \
    X(UNIFORM_COTANGENT, "uniform-cotangent", "every upstream gradient taken as the first one")              \
    X(BY_SCHEDULE, "schedule-dependent", "a last bit that hangs on which thread comes first")                \
    X(FIRST_CALL, "first-call", "the result of the first call given again in later ones")                    \
    X(PAST_END, "past-end", "a store behind the end of an output")                                           \
    X(INPUT_CHANGED, "input-changed", "a store into an input")                                               \
    X(LAST_UNWRITTEN, "last-unwritten", "the last element of every output never stored")

typedef enum cupel_misdeed {
#define CUPEL_MISDEED_NAME(name, text, sentence) CUPEL_MISDEED_##name,
    CUPEL_MISDEEDS(CUPEL_MISDEED_NAME)
#undef CUPEL_MISDEED_NAME
        CUPEL_MISDEED_COUNT
} cupel_misdeed;

const char *cupel_misdeed_name(cupel_misdeed misdeed);
const char *cupel_misdeed_sentence(cupel_misdeed misdeed);

/* Which shadow stands in for the kernel. At most one of plan.fault and misdeed is a fault. */
typedef struct cupel_stand_in {
    cupel_shadow_plan plan;
    cupel_misdeed misdeed;
} cupel_stand_in;

/* Needs options->stand_in, which it borrows. It launches nothing: what the kernel entry says of
 * launches is not asked. Earlier calls are made as far as the misdeed looks back at them. */
const cupel_executor_backend *cupel_executor_shadow(void);

#endif
