/* What `cupel init` makes of its own guess: a few cheap cases, run and judged as a check would. */
#ifndef CUPEL_INIT_TRIAL_H
#define CUPEL_INIT_TRIAL_H

#include "cli.h"

typedef enum cupel_init_outcome {
    CUPEL_INIT_UNTRIED, /* text: why not */
    CUPEL_INIT_BORNE_OUT,
    CUPEL_INIT_CONTRADICTORY, /* text: the contract does not fit together, or not the kernel */
    CUPEL_INIT_DOUBTED        /* text: what one case showed */
} cupel_init_outcome;

typedef struct cupel_init_trial {
    cupel_init_outcome outcome;
    int cases;       /* that were judged */
    bool values;     /* doubted: an element was written and is wrong; else it is about memory or the launch */
    char output[64]; /* doubted: the output's name, may be empty */
    char text[700];  /* one line */
} cupel_init_trial;

/* Tries a contract, given as a text that names its source by an absolute path. Nothing is left behind but the
 * compiled kernel in the user's cache. Never an error: what prevents the trial is its outcome. */
void cupel_init_trial_run(const cupel_cli_settings *settings, const char *contract, cupel_init_trial *out);

#endif
