/* The checks of a contract that need values: they are made under a handful of legal bindings. */
#ifndef CUPEL_CONTRACT_CHECK_H
#define CUPEL_CONTRACT_CHECK_H

#include "contract.h"

/* Fills in contract->ordinary, then checks, under the ordinary binding, every claimed type, the smallest
 * legal shape and some others, that shapes and launches have values, that pairs that may alias are of equal
 * shape, and that the postcondition fits its outputs. Messages name the binding where it is not the ordinary
 * one. */
CUPEL_MUST_USE cupel_code cupel_contract_check(cupel_contract *contract, cupel_error *err);

#endif
