/* `cupel replay --gdb`: the case in one process under gdb, which stops where the failure comes about. */
#ifndef CUPEL_GDB_H
#define CUPEL_GDB_H

#include "cli.h"

/* Replaces this process by gdb, which runs the command anew, or, within gdb, runs the case. Without a
 * terminal gdb prints where it stopped and ends; CUPEL_GDB_ARGS holds further arguments for it. Returns an
 * exit status. */
int cupel_gdb_replay(const cupel_cli_settings *settings);

/* gdb_inferior.c: what runs within gdb. */
int cupel_gdb_inferior(const cupel_cli_settings *settings);

/* gdb_aim.c: where to stop. */
typedef struct cupel_gdb_aim {
    cupel_watch watch; /* what is watched while the case runs */
    int run;           /* of the trial's runs, the one to make again; -1: none */
    char words[512];   /* what will be stopped at */
    bool kernel_start; /* nothing to watch: stop where the kernel begins */
} cupel_gdb_aim;

/* From a finding (NULL: there is none now) to what is watched. Where stores to an element are, aim->watch has
 * no stop_store yet. */
void cupel_gdb_aim_at(const cupel_contract *contract, const cupel_trial *trial, const cupel_finding *finding,
                      cupel_gdb_aim *aim);

/* Chooses the store to stop at when a run under the watch has ended: the first one after which the element is
 * never right again. */
void cupel_gdb_aim_choose(const cupel_finding *finding, const cupel_observation *seen, const cupel_case *c,
                          cupel_gdb_aim *aim);

#endif
