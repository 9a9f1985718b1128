/* Good and faulty kernels of the linear recurrences, in single precision, in many forms. */
#ifndef CUPEL_RECURRENCE_KERNELS_H
#define CUPEL_RECURRENCE_KERNELS_H

#include "property.h"

enum { RECURRENCE_LONGEST = 600, RECURRENCE_WIDEST = 16 };

/* One problem's operands as the kernels want them. g [l, k] is 0 and decay 1 where there is none; beta [l] is
 * negative where there is no delta rule: then it is NULL. */
typedef struct recurrence_case {
    int64_t l, k, v;
    float q[RECURRENCE_LONGEST][RECURRENCE_WIDEST], key[RECURRENCE_LONGEST][RECURRENCE_WIDEST],
        g[RECURRENCE_LONGEST][RECURRENCE_WIDEST], value[RECURRENCE_LONGEST][RECURRENCE_WIDEST],
        beta[RECURRENCE_LONGEST];
    bool gated, delta;
    float scale;
} recurrence_case;

/* What is wrong with a kernel. */
typedef enum recurrence_fault {
    FAULT_NONE,
    FAULT_CHUNK_DECAY,  /* the carried state misses the chunk's decay */
    FAULT_BETA,         /* v - S'k without beta in front of S'k */
    FAULT_EARLY_READ,   /* o_t from S_{t-1} */
    FAULT_LATE_DECAY,   /* the decay after the update instead of before */
    FAULT_HALF_STATE,   /* the state is kept in f16, */
    FAULT_BFLOAT_STATE, /* in bf16 */
    FAULT_COUNT
} recurrence_fault;

/* The recurrent form: step by step; order: of the dots. */
void recurrence_stepwise(property_problem *p, const recurrence_case *c, int form, recurrence_fault fault,
                         double *results);
/* Chunks of this length: WY for the delta rule, masked products otherwise. */
void recurrence_chunked(property_problem *p, const recurrence_case *c, int64_t chunk, int form,
                        recurrence_fault fault, double *results);

/* h_t = a_t h_{t-1} + b_t of one row; form: in order, fused, Kogge-Stone, a random tree, chunks with carry;
 * with logs also masked products of exp(G_t - G_s). */
enum { SCAN_FORMS = 6 };
void recurrence_scan(property_problem *p, const float *a, const float *b, const float *g, int64_t n, int form,
                     float *h);

#endif
