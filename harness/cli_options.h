/* The command line's options: one table, which says for each option the commands that take it. Parsing fills
 * in a settings struct and reports mistakes as values, with the nearest option that exists. */
#ifndef CUPEL_CLI_OPTIONS_H
#define CUPEL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "check.h"
#include "recipe.h"

/* Commands as bits, for the table. */
enum {
    CUPEL_CLI_CHECK = 1,
    CUPEL_CLI_RUN = 2,
    CUPEL_CLI_REPLAY = 4,
    CUPEL_CLI_MINIMISE = 8,
    CUPEL_CLI_OPS = 16,
    CUPEL_CLI_FUZZ = 32,
    CUPEL_CLI_EXPLAIN = 64,
    CUPEL_CLI_INIT = 128,
    CUPEL_CLI_DOCTOR = 256,
    CUPEL_CLI_DIFF = 512,
    CUPEL_CLI_BUILD = 1024,
    CUPEL_CLI_CALIBRATE = 2048,
    CUPEL_CLI_GATES = 4096
};

enum { CUPEL_CLI_LIST_MAX = 64 };

typedef struct cupel_cli_list {
    int count;
    const char *items[CUPEL_CLI_LIST_MAX];
} cupel_cli_list;

typedef struct cupel_cli_settings {
    const char *operand; /* KERNEL or BUNDLE; NULL when missing */
    const char *second; /* replay, minimise, explain: the kernel, where it is not where the bundle says; diff:
                           the other kernel */
    const char *executor, *contract, *directory, *engine, *objects;
    double seconds;
    uint64_t cases, seed;
    int64_t elements;
    cupel_standing standing;
    cupel_sanitizing sanitizing;
    bool sanitize; /* run */
    bool whole_grids;
    unsigned gates;
    bool seed_given, json, dry_run, quiet, help, all, gdb;
    cupel_cli_list includes, defines, sets, types, params, patterns, specials, placements, amplitudes,
        centres;
    uint64_t schedule;
    cupel_history history;
    uint8_t history_calls;
} cupel_cli_settings;

/* argv[0] is the command's name. Borrows argv. Fails with USAGE. */
CUPEL_MUST_USE cupel_code cupel_cli_parse(int command, int argc, char **argv, cupel_cli_settings *out,
                                          cupel_error *err);

/* One line an option that the command takes. */
void cupel_cli_options_help(int command, FILE *out);

#endif
