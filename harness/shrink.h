/* The one object that calls a minimiser's predicate: it remembers the simplest failing recipe so far and
 * every candidate that was seen, counts calls, reports slips to other findings and stops when the budget is
 * used up. Passes, attribution and the region sweep all go through it. */
#ifndef CUPEL_SHRINK_H
#define CUPEL_SHRINK_H

#include "minimiser.h"

enum { CUPEL_SHRINK_FAILED_MAX = 64 };

typedef struct cupel_shrink {
    const cupel_contract *contract;
    const char *signature;
    const cupel_predicate *predicate;
    cupel_recipe best;     /* fails with signature */
    cupel_finding finding; /* of best */
    int failed_count;      /* shapes that were the best one's, the first ones found */
    int64_t failed[CUPEL_SHRINK_FAILED_MAX][CUPEL_DIM_MAX];
    int tries, accepted, errors;
    int max_tries;   /* of the phase at work */
    double deadline; /* of the phase at work, on the clock of cupel_shrink_now */

    cupel_arena *arena; /* of the trial at hand */
    cupel_trial trial;
    cupel_arena *best_arena; /* of best_case */
    cupel_case *best_case;   /* NULL: not made since the best recipe changed, or it cannot be made */
    int best_case_of;        /* accepted + 1 for which best_case holds */
    uint64_t *seen;          /* hashes of candidates that were tried, open addressing; 0: free */
    size_t seen_capacity, seen_count;
} cupel_shrink;

/* Runs recipe once to see that it fails with signature: UNABLE when it does not. signature and predicate are
 * borrowed. */
CUPEL_MUST_USE cupel_code cupel_shrink_open(cupel_shrink *shrink, const cupel_contract *contract,
                                            const char *signature, const cupel_predicate *predicate,
                                            const cupel_recipe *recipe, cupel_error *err);
void cupel_shrink_close(cupel_shrink *shrink);

/* Monotonic seconds. */
double cupel_shrink_now(void);

/* No tries or no time left in this phase. */
bool cupel_shrink_spent(const cupel_shrink *shrink);

/* Runs a legal recipe whatever is known of it. The trial stays valid until the next call; NULL when the
 * budget is used up or the predicate failed. */
const cupel_trial *cupel_shrink_try(cupel_shrink *shrink, const cupel_recipe *recipe);

/* The heart: makes the candidate legal and, if it is strictly simpler than the best, new, and fails with the
 * same signature, takes it as the best. */
bool cupel_shrink_consider(cupel_shrink *shrink, const cupel_recipe *candidate);

/* Takes a recipe as the best that the trial shows to fail with the signature, if it is simpler. */
bool cupel_shrink_adopt(cupel_shrink *shrink, const cupel_recipe *recipe, const cupel_trial *trial);

/* Equal for equal recipes; never 0. */
uint64_t cupel_shrink_hash(const cupel_contract *contract, const cupel_recipe *recipe);

/* The tensors of the best recipe, until the best changes; NULL when they cannot be made. */
const cupel_case *cupel_shrink_case(cupel_shrink *shrink);

/* Which value of a tensor of the best case stands for all of it. Row: of the element that failed. */
typedef enum cupel_taken {
    CUPEL_TAKEN_FAILING,
    CUPEL_TAKEN_ROW_SMALLEST,
    CUPEL_TAKEN_ROW_LARGEST,
    CUPEL_TAKEN_SMALLEST,
    CUPEL_TAKEN_LARGEST,
    CUPEL_TAKEN_FIRST,
    CUPEL_TAKEN_LAST,
    CUPEL_TAKEN_COUNT
} cupel_taken;

/* Makes one input of r, or all of them where tensor is negative, constant with a value out of the best case.
 * Only finite, not subnormal values are taken; false when there is none. */
bool cupel_shrink_make_constant(cupel_shrink *shrink, cupel_taken taken, int tensor, cupel_recipe *r);

/* Puts a finite value (or the largest of the type, with its sign) where r, which has the shape of the best
 * case, has special ones; whole: over all of such a tensor. False when r has none. */
bool cupel_shrink_replace_specials(cupel_shrink *shrink, double value, bool whole, cupel_recipe *r);

/* What cupel_shrink_replace_specials is worth trying with. */
enum { CUPEL_FINITE_COUNT = 8 };
extern const double cupel_finite_values[CUPEL_FINITE_COUNT];

/* The candidate brought into the contract without a limit on its size. */
bool cupel_shrink_repair(const cupel_contract *contract, cupel_recipe *candidate);

/* The finding of a trial with this signature, or NULL. */
const cupel_finding *cupel_shrink_finding(const cupel_trial *trial, const char *signature);

/* The largest n for which works(self, n) is true, if works is true up to some point and false behind it;
 * works(self, 0) is taken as true. Small steps first, then doubling, then bisection, so that both short and
 * long ways cost little. limit bounds n. */
int64_t cupel_shrink_find_integer(bool (*works)(void *self, int64_t n), void *self, int64_t limit);

#endif
