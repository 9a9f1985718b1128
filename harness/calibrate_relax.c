/* What hides a fault: the contract with one clause less is calibrated with the same shadow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate_impl.h"

/* Takes the clause out of c and writes where it stood (contract: the original, which the text is in); false
 * where it has no such clause. */
typedef bool (*relaxation)(const cupel_contract *contract, cupel_contract *c, char *where, size_t size);

static bool drop_tolerance(const cupel_contract *contract, cupel_contract *c, char *where, size_t size) {
    bool any = false;
    for (int t = 0; t < c->tensor_count; t++) {
        any = any || c->tensors[t].has_tolerance;
        c->tensors[t].has_tolerance = false;
    }
    return any && cupel_contract_quote_key(contract, "tolerance", where, size);
}

/* The first tensor of which the clause says something is quoted. */
static void quote_tensor(const cupel_contract *contract, int tensor, char *where, size_t size) {
    if (!where[0] && !cupel_contract_quote_span(contract, contract->tensors[tensor].place, where, size))
        snprintf(where, size, "%s", contract->tensors[tensor].name);
}

static bool drop_range(const cupel_contract *contract, cupel_contract *c, char *where, size_t size) {
    for (int t = 0; t < c->tensor_count; t++) {
        if (!c->tensors[t].has_range) continue;
        quote_tensor(contract, t, where, size);
        c->tensors[t].has_range = false;
    }
    return where[0] != '\0';
}

static bool drop_finite(const cupel_contract *contract, cupel_contract *c, char *where, size_t size) {
    for (int t = 0; t < c->tensor_count; t++) {
        if (!c->tensors[t].finite && !c->tensors[t].has_range) continue;
        quote_tensor(contract, t, where, size);
        c->tensors[t].finite = c->tensors[t].has_range = false;
    }
    return where[0] != '\0';
}

static bool claim_determinism(const cupel_contract *contract, cupel_contract *c, char *where, size_t size) {
    if (c->deterministic != CUPEL_DETERMINISTIC_FALSE) return false;
    c->deterministic = CUPEL_DETERMINISTIC_TRUE;
    return cupel_contract_quote_key(contract, "deterministic", where, size);
}

static bool claim_range(const cupel_contract *contract, cupel_contract *c, char *where, size_t size) {
    if (c->range_safe) return false;
    c->range_safe = true;
    if (!cupel_contract_quote_key(contract, "range", where, size))
        snprintf(where, size, "range: working (the default)");
    return true;
}

static bool claim_precise(const cupel_contract *contract, cupel_contract *c, char *where, size_t size) {
    if (!c->math_fast) return false;
    c->math_fast = false;
    if (!cupel_contract_quote_key(contract, "math", where, size))
        snprintf(where, size, "math: fast (the default)");
    return true;
}

static bool drop_requires(const cupel_contract *contract, cupel_contract *c, char *where, size_t size) {
    if (c->require_count == 0) return false;
    c->require_count = 0;
    return cupel_contract_quote_key(contract, "requires", where, size);
}

/* Every dim up to some thousands. */
static bool widen_dims(const cupel_contract *contract, cupel_contract *c, char *where, size_t size) {
    enum { WIDE = 4096 };
    bool any = false;
    for (int d = 0; d < c->dim_count; d++) {
        if (c->dims[d].value_count == 0 && c->dims[d].hi >= WIDE) continue;
        c->dims[d].value_count = 0;
        if (c->dims[d].lo > 1) c->dims[d].lo = 1;
        if (c->dims[d].hi < WIDE) c->dims[d].hi = WIDE;
        any = true;
    }
    return any && cupel_contract_quote_key(contract, "dims", where, size);
}

/* What a contract asks for is too little where such a clause hides a fault. Which inputs it claims is for its
 * author to say: a kernel with a fault that none of them shows keeps the contract. */
typedef enum clause { DEMAND, SCOPE } clause;

static const struct {
    relaxation relax;
    clause clause;
    const char *advice;
} relaxations[] = {
    {drop_tolerance, DEMAND,
     "this tolerance is wide enough to hide it: leave it out, and the derived bounds judge"},
    {claim_determinism, DEMAND, "this leaves it open: `deterministic: true` claims it"},
    {drop_range, SCOPE, "this range is too narrow to show it: widen it as far as the kernel is to be used"},
    {drop_finite, SCOPE,
     "this keeps NaN and infinities out, which would show it: leave it out if they may come"},
    {claim_range, DEMAND,
     "this leaves elements open on which the working precision may overflow: `range: safe` judges "
     "them"},
    {claim_precise, DEMAND, "this admits the hardware's approximations: `math: precise` does not"},
    {drop_requires, SCOPE,
     "these conditions keep the shapes out that would show it: weaken them if the kernel takes "
     "such shapes"},
    {widen_dims, SCOPE,
     "these ranges hold no size that would show it: widen them as far as the kernel is to be used"},
};

/* A contract that nobody wrote may make no sense (shapes that do not fit): then it shows nothing. */
static bool is_rejected(const cupel_contract *contract, const cupel_search *search,
                        const cupel_calibrate_options *options, const cupel_calibrate_shadow *shadow) {
    cupel_calibrate_row *row = calloc(1, sizeof *row);
    cupel_error ignored = {0};
    const bool rejected = row &&
                          cupel_calibrate_try(contract, search, options, shadow, row, &ignored) == CUPEL_OK &&
                          row->rejected != 0;
    free(row);
    return rejected;
}

cupel_code cupel_calibrate_advise(const cupel_contract *contract, const cupel_search *search,
                                  const cupel_calibrate_options *options,
                                  const cupel_calibrate_shadow *shadow, cupel_calibrate_row *row,
                                  cupel_error *err) {
    cupel_contract *without = calloc(1, sizeof *without);
    if (!without) return cupel_fail(err, CUPEL_MEMORY, "no memory for a calibration");
    bool found = false;
    clause reason = SCOPE;
    for (size_t i = 0; i < sizeof relaxations / sizeof *relaxations && !found; i++) {
        char where[320] = "";
        *without = *contract;
        if (!relaxations[i].relax(contract, without, where, sizeof where)) continue;
        found = is_rejected(without, search, options, shadow);
        if (!found) continue;
        reason = relaxations[i].clause;
        snprintf(row->advice, sizeof row->advice, "%s: %s", where, relaxations[i].advice);
    }
    free(without);
    if (!found)
        snprintf(
            row->advice, sizeof row->advice, "%s",
            row->outcome == CUPEL_CALIBRATION_UNSEEN
                ? "no judged element of any case changes, and no clause of the contract alone is the reason"
                : "every element that it changed is one that a conforming kernel may return, and no clause "
                  "of the contract alone is the reason");
    if (reason == SCOPE) row->outcome = CUPEL_CALIBRATION_UNSEEN;
    return CUPEL_OK;
}
