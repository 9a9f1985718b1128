/* Faults and launches that a device refuses. */
#include "judging.h"

#include <stdio.h>
#include <string.h>

static void add_fault(cupel_judging *j, const cupel_run *run) {
    const cupel_observation *seen = run->observation;
    cupel_finding *finding = cupel_judging_add(j, CUPEL_FINDING_FAULT);
    if (!finding) return;
    finding->fault = seen->fault;
    finding->signal = seen->signal;
    finding->place = seen->place;
    snprintf(finding->text, sizeof finding->text, "%s",
             seen->text[0] ? seen->text : cupel_fault_name(seen->fault));
    cupel_judging_keep(j, finding);
}

/* Every kind of fault is told once a case, whatever run it came from. A fault is no tally of any gate: the
 * case judged nothing there. */
void cupel_gate_faults(cupel_judging *j) {
    for (int r = 0; r < j->evidence->run_count; r++)
        if (j->evidence->runs[r].observation->outcome == CUPEL_RUN_FAULT) add_fault(j, &j->evidence->runs[r]);
}

/* RES-02, as far as a launch shows it. */
void cupel_gate_launch(cupel_judging *j) {
    const cupel_evidence *e = j->evidence;
    if (e->c->contract->host) return;
    bool launched = false;
    for (int r = 0; r < e->run_count; r++) {
        const cupel_observation *seen = e->runs[r].observation;
        launched = launched || seen->outcome != CUPEL_RUN_SKIPPED;
        if (seen->outcome != CUPEL_RUN_REFUSED) continue;
        cupel_finding *finding = cupel_judging_add(j, CUPEL_FINDING_REFUSED);
        if (!finding) return;
        snprintf(finding->text, sizeof finding->text, "%s", seen->text);
        cupel_judging_keep(j, finding);
    }
    if (launched)
        cupel_judging_tally(j, CUPEL_GATE_RES_02, e->c->contract->launch_count, e->c->contract->launch_count);
}
