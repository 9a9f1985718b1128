#include "gate.h"

#include <stddef.h>

const char *cupel_gate_status_name(cupel_gate_status status) {
    switch (status) {
    case CUPEL_STATUS_NOT_EXERCISED: return "not_exercised";
    case CUPEL_STATUS_PASS: return "pass";
    case CUPEL_STATUS_FAIL: return "fail";
    case CUPEL_STATUS_NOT_APPLICABLE: return "not_applicable";
    case CUPEL_STATUS_NOT_AVAILABLE: return "not_available";
    }
    return "unknown";
}

const char *cupel_verdict_name(cupel_verdict verdict) {
    switch (verdict) {
    case CUPEL_VERDICT_ACCEPTED: return "accepted";
    case CUPEL_VERDICT_REJECTED: return "rejected";
    case CUPEL_VERDICT_INCONCLUSIVE: return "inconclusive";
    }
    return "unknown";
}

/* PRC-01 passes only when every claimed type was judged: a type that the search never reached is not a pass.
 */
static bool every_type_judged(const cupel_contract *contract, const cupel_scoreboard *scoreboard) {
    for (int v = 0; v < contract->type_count; v++)
        for (int i = 0; i < contract->types[v].count; i++)
            if (!scoreboard->judged_by_type[v][i]) return false;
    return true;
}

static bool exercised(const cupel_contract *contract, const cupel_scoreboard *scoreboard, cupel_gate gate,
                      const char **why) {
    const cupel_gate_tally *tally = &scoreboard->gates[gate];
    if (!tally->cases) {
        *why = cupel_gate_info_of(gate)->not_exercised;
        return false;
    }
    if (!tally->judged) {
        *why = "no element of its cases could be judged";
        return false;
    }
    if (gate == CUPEL_GATE_PRC_01 && !every_type_judged(contract, scoreboard)) {
        *why = "no judged case for some claimed type";
        return false;
    }
    return !cupel_gate_is_vacuous(contract, scoreboard, gate, why);
}

cupel_gate_status cupel_gate_status_of(const cupel_contract *contract, const cupel_scoreboard *scoreboard,
                                       cupel_gate gate, int findings_of_gate, const char **why) {
    const cupel_gate_info *info = cupel_gate_info_of(gate);
    const char *unused, **reason = why ? why : &unused;
    *reason = "";
    if (findings_of_gate > 0) return CUPEL_STATUS_FAIL;
    if (info->applicable && !info->applicable(contract, reason)) return CUPEL_STATUS_NOT_APPLICABLE;
    if (exercised(contract, scoreboard, gate, reason)) return CUPEL_STATUS_PASS;
    if (gate == CUPEL_GATE_ORD_02 && scoreboard->float_atomic_cases) {
        *reason = "float atomics";
        return CUPEL_STATUS_NOT_APPLICABLE;
    }
    return CUPEL_STATUS_NOT_EXERCISED;
}

/* PRC-01 counts every judged element, whatever its case exercises besides. */
static bool anything_judged(const cupel_scoreboard *scoreboard) {
    return scoreboard->gates[CUPEL_GATE_PRC_01].judged > 0;
}

/* A check is a sample. One that lacks a case here and there says as much as another; one that lacks every
 * case of some kind, as a rule, says nothing about that kind. */
enum { UNSUPPORTED_PART = 20 };

bool cupel_verdict_lacks_cases(const cupel_scoreboard *scoreboard) {
    return scoreboard->unsupported > scoreboard->cases / UNSUPPORTED_PART;
}

cupel_verdict cupel_verdict_of(const cupel_scoreboard *scoreboard, int standing_findings, int unconfirmed,
                               bool could_run) {
    if (standing_findings > 0) return CUPEL_VERDICT_REJECTED;
    if (!could_run || unconfirmed > 0 || !anything_judged(scoreboard)) return CUPEL_VERDICT_INCONCLUSIVE;
    if (cupel_verdict_lacks_cases(scoreboard)) return CUPEL_VERDICT_INCONCLUSIVE;
    return CUPEL_VERDICT_ACCEPTED;
}
