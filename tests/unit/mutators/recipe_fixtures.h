/* Contracts that between them use every key that recipes obey, and small helpers. */
#ifndef CUPEL_TEST_RECIPE_FIXTURES_H
#define CUPEL_TEST_RECIPE_FIXTURES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mutate.h"
#include "recipe_impl.h"

enum fixture {
    FIXTURE_SOFTMAX,
    FIXTURE_STRIDED,
    FIXTURE_BOUNDED,
    FIXTURE_CONDITIONS,
    FIXTURE_INIT,
    FIXTURE_COUNT
};

/* Parsed once; lives for the whole program. */
const cupel_contract *fixture(enum fixture which);

/* The text of a random contract that the reader accepts, in arena: some dims, conditions, types,
 * preconditions, layouts, aliases. */
char *random_contract_text(cupel_random *random, cupel_arena *arena);
const cupel_contract *parsed(const char *text, cupel_arena *arena);

/* n-th draw of a fixed campaign, and its case in arena (reset first). */
cupel_recipe drawn(const cupel_contract *contract, uint64_t n);
cupel_case *materialised(const cupel_contract *contract, const cupel_recipe *recipe, cupel_arena *arena);

/* The simplest recipe of a contract, with a dim set by name. */
cupel_recipe simple(const cupel_contract *contract);
void set_dim(const cupel_contract *contract, cupel_recipe *recipe, const char *name, int64_t value);

/* Element i of a tensor's logical content as a double. */
double value_at(const cupel_case *c, int tensor, int64_t i);

#endif
