/* The command line: one function a command, and what they share. */
#ifndef CUPEL_CLI_H
#define CUPEL_CLI_H

#include "cli_options.h"
#include "supervisor.h"

/* Runs `cupel argv[1] ..`; returns the exit status. */
int cupel_cli_main(int argc, char **argv);

/* The commands. Each returns an exit status. */
int cupel_cli_check(const cupel_cli_settings *settings);
int cupel_cli_run(const cupel_cli_settings *settings);
int cupel_cli_replay(const cupel_cli_settings *settings);
int cupel_cli_minimise(const cupel_cli_settings *settings);
int cupel_cli_gates(const cupel_cli_settings *settings);
int cupel_cli_ops(const cupel_cli_settings *settings);
int cupel_cli_fuzz(const cupel_cli_settings *settings);
int cupel_cli_explain(const cupel_cli_settings *settings);
int cupel_cli_init(const cupel_cli_settings *settings);
int cupel_cli_doctor(const cupel_cli_settings *settings);
int cupel_cli_diff(const cupel_cli_settings *settings);
int cupel_cli_build(const cupel_cli_settings *settings);
int cupel_cli_calibrate(const cupel_cli_settings *settings);

/* Prints "cupel: message" to standard error and, where JSON was asked for, {"error": ..} to standard output;
 * returns the exit status of the error. */
int cupel_cli_complain(const cupel_error *err, bool json);

/* USAGE for a name that is none of names: the nearest one, and all of them. */
cupel_code cupel_cli_unknown(const char *option, const char *name, const char *const *names, size_t count,
                             cupel_error *err);

/* Fails with IO where path is there but is no regular file: a fifo would be waited for. A path that is not
 * there is left to whoever opens it. */
CUPEL_MUST_USE cupel_code cupel_cli_expect_file(const char *path, cupel_error *err);

/* A contract that is loaded, and the folders that its executor uses. */
typedef struct cupel_cli_session {
    cupel_arena *arena;
    const cupel_contract *contract;
    cupel_supervisor_options supervisor;
    char cache[1024];
} cupel_cli_session;

/* Loads the contract `id` (NULL: the only one) of path. The session is filled in place: supervisor.exec
 * points into it. */
CUPEL_MUST_USE cupel_code cupel_cli_session_open(const cupel_cli_settings *settings, const char *path,
                                                 const char *id, cupel_cli_session *session,
                                                 cupel_error *err);
/* The user's folder of compiled candidates. */
void cupel_cli_cache_folder(char *path, size_t size);
void cupel_cli_session_close(cupel_cli_session *session);

/* Got / allowed / exact for a trial's outputs: every wrong element first, a few others behind (all: every
 * element). */
void cupel_cli_table(const cupel_contract *contract, const cupel_trial *trial, bool all, FILE *out);

#endif
