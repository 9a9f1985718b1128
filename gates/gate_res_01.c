/* What it asserts is judged in memory.c. */
#include "judging.h"

const cupel_gate_info cupel_gate_res_01 = {
    .gate = CUPEL_GATE_RES_01,
    .asserts = "writes all of the output and nothing else, reads only inputs, leaves inputs unchanged",
    .exercised_by = "guard bands and two poisons around every run",
    .needs = "a run that ends; the emulator also sees every access",
    .not_exercised = "nothing ran",
    .not_applicable = "never",
    .cost = "two runs, which ORD-02 has too",
    .kernel_contracts = "C-EXC-02",
    .lethe = "RES-01",
};
