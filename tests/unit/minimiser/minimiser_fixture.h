/* Planted defects and what the minimiser makes of a heavy recipe that shows one. */
#ifndef MINIMISER_FIXTURE_H
#define MINIMISER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "attribution.h"
#include "fake_kernel.h"
#include "shrink.h"

/* Contracts: y[M, N] and z[M, N] of x[M, N] and w[N], f32 or f16; and one with M == N. */
extern const char rows[], square[];

typedef bool (*defect)(const cupel_contract *contract, const cupel_recipe *recipe);

typedef struct result {
    const cupel_contract *contract;
    cupel_recipe recipe;
    cupel_finding finding;
    cupel_minimise_report report;
    fake_kernel kernel;
    cupel_code code;
    cupel_arena *arena;
} result;

/* A recipe with everything in it that a minimiser should take away. */
void make_heavy(const cupel_contract *contract, cupel_recipe *recipe);

/* Minimises a heavy recipe that prepare (NULL: nothing) has changed, by a kernel with these defects
 * (otherwise: of another signature, or NULL). options NULL: plenty. The caller frees the result's arena. */
result minimise(const char *text, defect fails, defect otherwise, cupel_finding_kind kind,
                void (*prepare)(const cupel_contract *, cupel_recipe *),
                const cupel_minimise_options *options);

/* A defect of the last, incomplete tile of 128. */
bool tail(const cupel_contract *contract, const cupel_recipe *recipe);

#define N_OF(r) fake_dim((r).contract, &(r).recipe, "N")
#define M_OF(r) fake_dim((r).contract, &(r).recipe, "M")

#endif
