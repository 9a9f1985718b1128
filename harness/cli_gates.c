/* cupel gates [ID]: what the twelve gates assert, need and cost, and what they are called elsewhere. */
#include <string.h>

#include "check.h"
#include "cli.h"

#include <jansson.h>

typedef struct row {
    const char *key, *text;
} row;

enum { ROWS = 8 };

static void rows_of(const cupel_gate_info *info, row rows[ROWS]) {
    const row all[ROWS] = {{"asserts", info->asserts},
                           {"exercised by", info->exercised_by},
                           {"needs", info->needs},
                           {"not exercised when", info->not_exercised},
                           {"not applicable when", info->not_applicable},
                           {"cost", info->cost},
                           {"in Kernel Contracts", info->kernel_contracts},
                           {"in Lethe", info->lethe}};
    memcpy(rows, all, sizeof all);
}

static void print_gate(cupel_gate gate) {
    row rows[ROWS];
    rows_of(cupel_gate_info_of(gate), rows);
    printf("%s %s\n", cupel_gate_id(gate), cupel_gate_title(gate));
    for (int i = 0; i < ROWS; i++) printf("  %-20s %s\n", rows[i].key, rows[i].text);
}

static json_t *gate_object(cupel_gate gate) {
    row rows[ROWS];
    rows_of(cupel_gate_info_of(gate), rows);
    json_t *object = json_pack("{s:s, s:s}", "id", cupel_gate_id(gate), "title", cupel_gate_title(gate));
    for (int i = 0; i < ROWS; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s", rows[i].key);
        for (char *c = key; *c; c++)
            if (*c == ' ') *c = '_';
        json_object_set_new(object, key, json_string(rows[i].text));
    }
    return object;
}

int cupel_cli_gates(const cupel_cli_settings *settings) {
    cupel_error err = {0};
    cupel_gate first = 0, last = CUPEL_GATE_COUNT - 1;
    if (settings->operand) {
        if (!cupel_gate_parse(settings->operand, &first)) {
            const char *ids[CUPEL_GATE_COUNT];
            for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++) ids[gate] = cupel_gate_id((cupel_gate)gate);
            (void)cupel_cli_unknown("gates", settings->operand, ids, CUPEL_GATE_COUNT, &err);
            return cupel_cli_complain(&err, settings->json);
        }
        last = first;
    }
    json_t *all = settings->json ? json_array() : NULL;
    for (cupel_gate gate = first; gate <= last; gate++)
        if (all)
            json_array_append_new(all, gate_object(gate));
        else
            print_gate(gate);
    bool printed = true;
    if (settings->json) printed = json_dumpf(all, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF;
    json_decref(all);
    return printed ? 0 : cupel_check_error_status(CUPEL_IO);
}
