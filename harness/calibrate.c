#include "calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate_impl.h"

const char *cupel_calibration_name(cupel_calibration outcome) {
    switch (outcome) {
    case CUPEL_CALIBRATION_SOUND: return "sound";
    case CUPEL_CALIBRATION_ELSEWHERE: return "rejected_by_another_gate";
    case CUPEL_CALIBRATION_EVIDENCE: return "evidence";
    case CUPEL_CALIBRATION_PASSES: return "passes";
    case CUPEL_CALIBRATION_UNSEEN: return "unseen";
    case CUPEL_CALIBRATION_UNCLAIMED: return "unclaimed";
    case CUPEL_CALIBRATION_UNJUDGED: return "unjudged";
    case CUPEL_CALIBRATION_ACCUSED: return "accused";
    }
    return "unknown";
}

int cupel_calibrate_count(const cupel_calibrate_report *report, bool good, cupel_calibration outcome) {
    int count = 0;
    for (int i = 0; i < report->row_count; i++)
        count += report->rows[i].good == good && report->rows[i].outcome == outcome;
    return count;
}

/* None of the gates that the fault belongs to can be exercised by the contract, and it was not caught
 * otherwise: then the contract claims nothing here, and says so. */
static bool is_unclaimed(const cupel_contract *contract, cupel_calibrate_row *row) {
    const char *why = NULL;
    if (row->good || row->rejected || !row->own) return false;
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) {
        const cupel_gate_info *info = cupel_gate_info_of((cupel_gate)g);
        if ((row->own >> g & 1) && (!info->applicable || info->applicable(contract, &why))) return false;
    }
    row->outcome = CUPEL_CALIBRATION_UNCLAIMED;
    snprintf(row->advice, sizeof row->advice, "%s", why ? why : "the contract claims nothing of the kind");
    return true;
}

static bool is_hidden(const cupel_calibrate_row *row) {
    return row->outcome == CUPEL_CALIBRATION_PASSES || row->outcome == CUPEL_CALIBRATION_UNSEEN;
}

/* What the cases do not show may be their luck: it is looked for longer, in other cases, before the contract
 * is said to hide it. */
static cupel_code look_longer(const cupel_contract *contract, const cupel_search *search,
                              const cupel_calibrate_options *options, const cupel_calibrate_shadow *shadow,
                              cupel_calibrate_row *row, cupel_error *err) {
    enum { LONGER = 4 };
    cupel_calibrate_row *again = calloc(1, sizeof *again);
    if (!again) return cupel_fail(err, CUPEL_MEMORY, "no memory for a calibration");
    cupel_search other = *search;
    other.seed++;
    other.count *= LONGER;
    const cupel_code code = cupel_calibrate_try(contract, &other, options, shadow, again, err);
    if (code == CUPEL_OK && !is_hidden(again)) *row = *again;
    free(again);
    return code;
}

static cupel_code calibrate_row(const cupel_contract *contract, const cupel_search *search,
                                const cupel_calibrate_options *options, const cupel_calibrate_shadow *shadow,
                                cupel_calibrate_row *row, cupel_error *err) {
    CUPEL_TRY(cupel_calibrate_try(contract, search, options, shadow, row, err));
    if (is_unclaimed(contract, row)) return CUPEL_OK;
    if (!is_hidden(row)) return CUPEL_OK;
    CUPEL_TRY(look_longer(contract, search, options, shadow, row, err));
    if (!is_hidden(row)) return CUPEL_OK;
    return cupel_calibrate_advise(contract, search, options, shadow, row, err);
}

/* A good shadow that is accused and a fault that passes both say: not fit as it is. Nothing judged at all
 * says nothing. */
static cupel_verdict verdict_of(const cupel_calibrate_report *report) {
    const int accused = cupel_calibrate_count(report, true, CUPEL_CALIBRATION_ACCUSED);
    const int passes = cupel_calibrate_count(report, false, CUPEL_CALIBRATION_PASSES);
    if (accused + passes > 0) return CUPEL_VERDICT_REJECTED;
    const int caught = cupel_calibrate_count(report, false, CUPEL_CALIBRATION_SOUND) +
                       cupel_calibrate_count(report, false, CUPEL_CALIBRATION_ELSEWHERE);
    const bool judged = cupel_calibrate_count(report, true, CUPEL_CALIBRATION_UNJUDGED) == 0;
    return judged && caught > 0 ? CUPEL_VERDICT_ACCEPTED : CUPEL_VERDICT_INCONCLUSIVE;
}

static cupel_code calibrate_all(const cupel_contract *contract, const cupel_calibrate_options *options,
                                const cupel_calibrate_listener *listener, cupel_arena *arena,
                                cupel_arena *scratch, cupel_calibrate_report *report, cupel_error *err) {
    cupel_search search;
    int count;
    cupel_calibrate_shadow *shadows = cupel_arena_alloc(arena, CUPEL_CALIBRATE_ROWS_MAX * sizeof *shadows);
    if (!shadows) return cupel_fail(err, CUPEL_MEMORY, "no memory for a calibration");
    CUPEL_TRY(cupel_calibrate_cases(contract, options, arena, &search, err));
    CUPEL_TRY(cupel_calibrate_shadows(contract, &search, scratch, shadows, &count, err));
    *report = (cupel_calibrate_report){.contract = contract, .cases = search.count, .seed = options->seed};
    for (int i = 0; i < count; i++) {
        cupel_calibrate_row *row = &report->rows[i];
        CUPEL_TRY(calibrate_row(contract, &search, options, &shadows[i], row, err));
        report->row_count++;
        if (listener && listener->row) listener->row(listener->self, row);
    }
    report->verdict = verdict_of(report);
    return CUPEL_OK;
}

cupel_code cupel_calibrate(const cupel_contract *contract, const cupel_calibrate_options *options,
                           const cupel_calibrate_listener *listener, cupel_calibrate_report *report,
                           cupel_error *err) {
    cupel_arena *arena = cupel_arena_create(0), *scratch = cupel_arena_create(0);
    cupel_code code = arena && scratch
                          ? calibrate_all(contract, options, listener, arena, scratch, report, err)
                          : cupel_fail(err, CUPEL_MEMORY, "no memory for a calibration");
    cupel_arena_free(arena);
    cupel_arena_free(scratch);
    return code;
}
