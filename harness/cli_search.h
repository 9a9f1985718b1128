/* What check and fuzz share: signals, options, what is told on the way, the report. */
#ifndef CUPEL_CLI_SEARCH_H
#define CUPEL_CLI_SEARCH_H

#include "check.h"
#include "cli.h"

/* From now on the first SIGINT or SIGTERM sets the flag that is returned, and a second one ends the program.
 */
const volatile sig_atomic_t *cupel_cli_watch_signals(void);

/* Standard error, on which a display may stand that has to make room for other lines. */
typedef struct cupel_cli_teller {
    bool quiet;
    void *display;
    void (*clear)(void *display);
} cupel_cli_teller;

/* Findings are told as they are saved: a search that is killed afterwards has lost none of them. */
void cupel_cli_tell_found(const cupel_cli_teller *teller, const cupel_check_finding *found);
void cupel_cli_tell_note(const cupel_cli_teller *teller, bool warning, const char *text);

/* "not applicable" or "not available", with the reason, for a gate that no case of this contract can
 * exercise; else NULL. As the report says it. */
const char *cupel_cli_gate_missing(const cupel_contract *contract, cupel_gate gate, const char **why);

/* Runs the search and prints its report; returns the exit status. stop: of cupel_cli_watch_signals. */
int cupel_cli_search(const cupel_cli_settings *settings, const cupel_cli_session *session, bool endless,
                     const volatile sig_atomic_t *stop, const cupel_check_listener *listener,
                     const cupel_cli_teller *teller, cupel_check_report *report);

#endif
