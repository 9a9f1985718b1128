/* What the values of one dim at which a defect shows have in common, and in words: "N % 97 == 7 and N >=
 * 201".
 */
#ifndef CUPEL_REGION_LAW_H
#define CUPEL_REGION_LAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CUPEL_REGION_ROOM = 1280, CUPEL_REGION_LISTED = 6 };

/* What trying one value showed. */
typedef enum cupel_region_outcome {
    CUPEL_REGION_UNKNOWN, /* not tried, or not claimed: fits anything */
    CUPEL_REGION_HOLDS,
    CUPEL_REGION_FAILS
} cupel_region_outcome;

typedef enum cupel_law_kind {
    CUPEL_LAW_ALWAYS,
    CUPEL_LAW_EQUAL,    /* at from */
    CUPEL_LAW_FROM,     /* from from on */
    CUPEL_LAW_BETWEEN,  /* from .. to */
    CUPEL_LAW_RESIDUES, /* where pattern fails, from from on */
    CUPEL_LAW_LISTED    /* nothing simpler fits than the list of values seen to fail */
} cupel_law_kind;

typedef struct cupel_law {
    cupel_law_kind kind;
    int64_t lo; /* the dim's least value */
    int64_t from, to;
    int period;
    cupel_region_outcome pattern[CUPEL_REGION_ROOM / 2]; /* of from + i, i < period */
    int listed;
    bool more; /* values that failed beyond the listed ones */
    int64_t list[CUPEL_REGION_LISTED];
} cupel_law;

/* The simplest law that all of first + i, i < count, keep; outcomes[0] is FAILS, and no value less than first
 * is known to fail. */
void cupel_law_fit(int64_t lo, int64_t first, const cupel_region_outcome *outcomes, int count,
                   cupel_law *law);

/* What the law says of a value; UNKNOWN where it says nothing. */
cupel_region_outcome cupel_law_predict(const cupel_law *law, int64_t value);

/* The law as a condition on the dim of that name: empty for ALWAYS, "N = 5, 6, 19" for LISTED, which is no
 * condition but what was seen. */
void cupel_law_write(const cupel_law *law, const char *name, char *text, size_t size);

#endif
