#include "calibrate_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static const char *cell(const cupel_calibrate_row *row, int gate) {
    if (row->rejected >> gate & 1) return row->own >> gate & 1 || row->good ? "FAIL" : "fail";
    switch (row->gates[gate]) {
    case CUPEL_STATUS_PASS: return row->good ? "pass" : row->own >> gate & 1 ? "miss" : ".";
    case CUPEL_STATUS_FAIL: return "FAIL";
    case CUPEL_STATUS_NOT_EXERCISED: return row->own >> gate & 1 ? "miss" : "-";
    case CUPEL_STATUS_NOT_APPLICABLE:
    case CUPEL_STATUS_NOT_AVAILABLE: return "";
    }
    return "?";
}

static void print_matrix(const cupel_calibrate_report *report, FILE *out) {
    fprintf(out, "%-24s", "");
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) fprintf(out, " %6s", cupel_gate_id((cupel_gate)g));
    fputc('\n', out);
    for (int i = 0; i < report->row_count; i++) {
        const cupel_calibrate_row *row = &report->rows[i];
        char line[24 + 7 * CUPEL_GATE_COUNT + 1];
        int used = snprintf(line, sizeof line, "%-5s %-18.18s", row->good ? "good" : "fault", row->name);
        for (int g = 0; g < CUPEL_GATE_COUNT; g++)
            used += snprintf(line + used, sizeof line - (size_t)used, " %6s", cell(row, g));
        while (used > 0 && line[used - 1] == ' ') line[--used] = '\0';
        fprintf(out, "%s\n", line);
    }
    fprintf(out,
            "(FAIL: rejected by the gate it belongs to; fail: by another; miss: not by the gate it belongs "
            "to; .: passes;\n -: not exercised. A faulty shadow's cases end with its answer.)\n");
}

static void list_gates(unsigned gates, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int g = 0; g < CUPEL_GATE_COUNT && used < size; g++)
        if (gates >> g & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     cupel_gate_id((cupel_gate)g));
}

/* The rows that ended so, a line or two each. */
static void print_rows(const cupel_calibrate_report *report, bool good, cupel_calibration outcome,
                       const char *heading, FILE *out) {
    if (cupel_calibrate_count(report, good, outcome) == 0) return;
    fprintf(out, "\n%s\n", heading);
    for (int i = 0; i < report->row_count; i++) {
        const cupel_calibrate_row *row = &report->rows[i];
        char gates[128];
        if (row->good != good || row->outcome != outcome) continue;
        list_gates(row->rejected ? row->rejected : row->own, gates, sizeof gates);
        fprintf(out, "  %s (%s): %s\n", row->name, gates, row->sentence);
        if (row->described[0]) fprintf(out, "    %s: %s\n", row->signature, row->described);
        if (row->advice[0]) fprintf(out, "    %s\n", row->advice);
    }
}

static void print_summary(const cupel_calibrate_report *report, FILE *out) {
    int good = 0, faulty = 0;
    for (int i = 0; i < report->row_count; i++) *(report->rows[i].good ? &good : &faulty) += 1;
    const int own = cupel_calibrate_count(report, false, CUPEL_CALIBRATION_SOUND);
    const int other = cupel_calibrate_count(report, false, CUPEL_CALIBRATION_ELSEWHERE);
    fprintf(out, "\ngood      %d of %d pass every gate\n",
            cupel_calibrate_count(report, true, CUPEL_CALIBRATION_SOUND), good);
    fprintf(out, "faulty    %d of %d rejected, %d by their own gate\n", own + other, faulty, own);
}

void cupel_calibrate_report_text(const cupel_calibrate_report *report, FILE *out) {
    static const char *const words[] = {[CUPEL_VERDICT_ACCEPTED] = "CALIBRATED",
                                        [CUPEL_VERDICT_REJECTED] = "NOT CALIBRATED",
                                        [CUPEL_VERDICT_INCONCLUSIVE] = "INCONCLUSIVE"};
    fprintf(out, "%s: shadows in place of the kernel, %" PRIu64 " cases each, seed %" PRIu64 "\n\n",
            report->contract->id, report->cases, report->seed);
    print_matrix(report, out);
    print_summary(report, out);
    print_rows(report, true, CUPEL_CALIBRATION_ACCUSED,
               "Good shadows that are rejected: a defect of cupel, please report it", out);
    print_rows(report, false, CUPEL_CALIBRATION_PASSES, "Under-specified: these faults pass", out);
    print_rows(report, false, CUPEL_CALIBRATION_EVIDENCE,
               "Told as evidence only: a check rejects these with --standing evidence", out);
    print_rows(report, false, CUPEL_CALIBRATION_ELSEWHERE, "Rejected, though by another gate than their own",
               out);
    print_rows(report, false, CUPEL_CALIBRATION_UNSEEN,
               "Cannot be seen under this contract: on the inputs that it claims these are no faults", out);
    print_rows(report, false, CUPEL_CALIBRATION_UNCLAIMED, "Not claimed by the contract", out);
    print_rows(report, false, CUPEL_CALIBRATION_UNJUDGED, "Nothing could be judged", out);
    fprintf(out, "\n%s\n", words[report->verdict]);
}

/* ---- JSON ---- */

static json_t *gates_array(unsigned gates) {
    json_t *array = json_array();
    for (int g = 0; g < CUPEL_GATE_COUNT; g++)
        if (gates >> g & 1) json_array_append_new(array, json_string(cupel_gate_id((cupel_gate)g)));
    return array;
}

static json_t *row_object(const cupel_calibrate_row *row) {
    json_t *statuses = json_object();
    for (int g = 0; g < CUPEL_GATE_COUNT; g++)
        json_object_set_new(statuses, cupel_gate_id((cupel_gate)g),
                            json_string(cupel_gate_status_name(row->gates[g])));
    json_t *object =
        json_pack("{s:s, s:s, s:b, s:s, s:o, s:o, s:o, s:I, s:b}", "name", row->name, "sentence",
                  row->sentence, "good", row->good, "outcome", cupel_calibration_name(row->outcome),
                  "own_gates", gates_array(row->own), "rejected_by", gates_array(row->rejected), "gates",
                  statuses, "cases", (json_int_t)row->cases, "evidence", row->evidence);
    if (row->signature[0]) json_object_set_new(object, "signature", json_string(row->signature));
    if (row->described[0]) json_object_set_new(object, "case", json_string(row->described));
    if (row->advice[0]) json_object_set_new(object, "advice", json_string(row->advice));
    return object;
}

bool cupel_calibrate_report_json(const cupel_calibrate_report *report, FILE *out) {
    json_t *rows = json_array();
    for (int i = 0; i < report->row_count; i++) json_array_append_new(rows, row_object(&report->rows[i]));
    json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:o}", "contract", report->contract->id, "verdict",
                               cupel_verdict_name(report->verdict), "cases", (json_int_t)report->cases,
                               "seed", (json_int_t)report->seed, "shadows", rows);
    const bool written = object && json_dumpf(object, out, JSON_INDENT(2)) == 0 && fputc('\n', out) != EOF;
    json_decref(object);
    return written;
}
