#include "fake_kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

const cupel_contract *fake_contract(cupel_arena *arena, const char *text) {
    cupel_contracts contracts = {0};
    cupel_error err = {0};
    char message[1400];
    cupel_code code = cupel_contracts_parse("fake.yaml", text, strlen(text), true, arena, &contracts, &err);
    if (code != CUPEL_OK) fail_msg("%s", cupel_error_format(&err, message, sizeof message));
    assert_int_equal(contracts.count, 1);
    return contracts.items[0];
}

static cupel_finding finding_of(const fake_kernel *kernel, const char *output) {
    cupel_finding finding = {.kind = kernel->kind,
                             .standing = kernel->evidence ? CUPEL_STANDING_EVIDENCE : CUPEL_STANDING_PROOF,
                             .output = output[0] == 'z',
                             .gradient = kernel->gradient,
                             .type = CUPEL_F32,
                             .ratio = NAN,
                             .steps = NAN};
    snprintf(finding.output_name, sizeof finding.output_name, "%s", output);
    return finding;
}

void fake_signature(const fake_kernel *kernel, char *text, size_t size) {
    cupel_finding finding = finding_of(kernel, "y");
    cupel_finding_signature(&finding, text, size);
}

static cupel_code try_one(void *self, const cupel_recipe *recipe, cupel_arena *arena, cupel_trial *out,
                          cupel_error *err) {
    fake_kernel *kernel = self;
    (void)arena, (void)err;
    cupel_binding binding;
    assert_int_equal(cupel_recipe_binding(kernel->contract, recipe, &binding, NULL), CUPEL_OK);
    assert_true(
        cupel_binding_legal(&binding)); /* the minimiser never offers what the contract does not claim */
    kernel->calls++;
    if (kernel->fails(kernel->contract, recipe))
        out->judged.findings[out->judged.finding_count++] = finding_of(kernel, "y");
    if (kernel->fails_otherwise && kernel->fails_otherwise(kernel->contract, recipe))
        out->judged.findings[out->judged.finding_count++] = finding_of(kernel, "z");
    return CUPEL_OK;
}

static void slipped(void *self, const cupel_recipe *recipe, const cupel_finding *finding) {
    fake_kernel *kernel = self;
    (void)recipe;
    assert_string_equal(finding->output_name, "z");
    kernel->slips++;
}

cupel_predicate fake_predicate(fake_kernel *kernel) {
    return (cupel_predicate){kernel, try_one, slipped};
}

int64_t fake_dim(const cupel_contract *contract, const cupel_recipe *recipe, const char *name) {
    int dim = cupel_contract_dim(contract, name);
    assert_true(dim >= 0);
    return recipe->dims[dim];
}
