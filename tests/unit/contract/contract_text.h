/* Small contracts for tests: a text with the keys that the test is about, completed to a legal contract. */
#ifndef CUPEL_TEST_CONTRACT_TEXT_H
#define CUPEL_TEST_CONTRACT_TEXT_H

#include "contract.h"

/* The contract of a YAML text; fails the test when it has an error. */
static inline const cupel_contract *contract_of(cupel_arena *arena, const char *text) {
    cupel_contracts contracts;
    cupel_error err = {0};
    if (cupel_contracts_parse("t.yaml", text, strlen(text), true, arena, &contracts, &err) != CUPEL_OK)
        fail_msg("%d:%d: %s\n%s", err.line, err.column, err.text, text);
    return contracts.items[0];
}

static inline cupel_binding ordinary_of(const cupel_contract *contract) {
    cupel_binding binding;
    cupel_error err = {0};
    if (cupel_binding_ordinary(contract, &binding, &err) != CUPEL_OK) fail_msg("%s", err.text);
    return binding;
}

#endif
