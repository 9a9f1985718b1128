/* Suspicions that a fresh worker does not show: did the calls of earlier cases make the difference? */
#include <stdio.h>
#include <string.h>

#include "check_impl.h"

/* Does what a case leaves behind reach the next one of a search? */
static bool keeps_state(const cupel_check *c) {
    const cupel_executor_backend *backend = cupel_executor_find(c->report->executor);
    return backend && !backend->forgets;
}

/* Is one of these findings' outputs known to hang on earlier calls? */
static bool is_known(const cupel_check *c, const cupel_judged *suspicion) {
    for (int i = 0; i < c->report->finding_count; i++) {
        const cupel_finding *known = &c->report->findings[i].finding;
        for (int f = 0; known->kind == CUPEL_FINDING_HISTORY && f < suspicion->finding_count; f++)
            if (strcmp(known->output_name, suspicion->findings[f].output_name) == 0) return true;
    }
    return false;
}

bool cupel_check_blame_calls(cupel_check *c, const cupel_recipe *recipe, const cupel_judged *suspicion) {
    static const struct {
        cupel_history history;
        uint8_t calls;
    } tries[] = {{CUPEL_HISTORY_OTHER_VALUES, 5},
                 {CUPEL_HISTORY_OTHER_SHAPE, 1},
                 {CUPEL_HISTORY_OTHER_SHAPE, 2},
                 {CUPEL_HISTORY_REPEAT, CUPEL_CALLS_MAX},
                 {CUPEL_HISTORY_OTHER_BUFFERS, 2},
                 {CUPEL_HISTORY_FIRST_AGAIN, 4},
                 {CUPEL_HISTORY_OTHER_VALUES, CUPEL_CALLS_MAX}};
    if (!keeps_state(c)) return false;
    if (is_known(c, suspicion)) return true;
    int findings = c->report->finding_count;
    for (size_t i = 0; i < sizeof tries / sizeof *tries && c->code == CUPEL_OK; i++) {
        if (cupel_check_stopped(c) || cupel_check_out_of_time(c)) return false;
        cupel_recipe r = *recipe;
        r.history = tries[i].history;
        r.calls = tries[i].calls;
        if (cupel_recipe_repair(c->contract, &r, INT64_C(1) << 40, NULL) != CUPEL_OK) continue;
        (void)cupel_check_confirm(c, &r);
        if (c->report->finding_count > findings) return true;
    }
    return false;
}

void cupel_check_tell_unconfirmed(cupel_check *c, const cupel_recipe *recipe, const cupel_judged *suspicion) {
    char described[256];
    const cupel_finding *finding = &suspicion->findings[0];
    c->report->unconfirmed++;
    if (c->report->unconfirmed_text[0] || suspicion->finding_count == 0) return;
    cupel_recipe_describe(c->contract, recipe, described, sizeof described);
    snprintf(c->report->unconfirmed_text, sizeof c->report->unconfirmed_text,
             keeps_state(c) ? "%s: %.200s after other cases, which a fresh process does not show (%s): the "
                              "function seems to keep state"
                            : "%s: %.200s (%s)",
             cupel_gate_id(finding->gate), finding->text[0] ? finding->text : cupel_finding_title(finding),
             described);
}
