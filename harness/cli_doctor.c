#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli.h"
#include "doctor.h"

#include <jansson.h>

static const char *const states[] = {"ok", "MISSING", "absent"};

static void print_items(const cupel_doctor *doctor) {
    printf("%-8s %-11s %-52s %s\n", "", "what", "found", "for");
    for (int i = 0; i < doctor->count; i++) {
        const cupel_doctor_item *item = &doctor->items[i];
        printf("%-8s %-11s %-52s %s\n", states[item->state], item->name, item->found, item->purpose);
    }
    bool advice = false;
    for (int i = 0; i < doctor->count; i++) {
        const cupel_doctor_item *item = &doctor->items[i];
        if (item->state == CUPEL_DOCTOR_OK || !item->install[0]) continue;
        if (!advice) printf("\nto install\n");
        advice = true;
        printf("  %-11s %s%s\n", item->name, item->install,
               item->state == CUPEL_DOCTOR_MISSING ? "" : " (if you want it)");
    }
    printf("\n%s\n", doctor->works ? "cupel check works on the emulator."
                                   : "cupel check does not work on the emulator: see MISSING above.");
}

static json_t *text(const char *value) {
    json_t *string = json_string(value);
    return string ? string : json_string("?");
}

static bool print_json(const cupel_doctor *doctor) {
    json_t *items = json_array(), *root = json_object();
    for (int i = 0; i < doctor->count; i++) {
        const cupel_doctor_item *item = &doctor->items[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", text(item->name));
        json_object_set_new(object, "state",
                            text(item->state == CUPEL_DOCTOR_MISSING ? "missing" : states[item->state]));
        json_object_set_new(object, "found", text(item->found));
        json_object_set_new(object, "purpose", text(item->purpose));
        json_object_set_new(object, "install", text(item->install));
        json_array_append_new(items, object);
    }
    json_object_set_new(root, "works", json_boolean(doctor->works));
    json_object_set_new(root, "items", items);
    bool good = root && json_dumpf(root, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF;
    json_decref(root);
    return good;
}

/* 0 when a kernel can be checked on the emulator, 3 when not. */
int cupel_cli_doctor(const cupel_cli_settings *settings) {
    char cache[1024];
    cupel_doctor doctor = {.arena = cupel_arena_create(0), .cache = cache};
    cupel_error err = {0};
    if (!doctor.arena) {
        (void)cupel_fail(&err, CUPEL_MEMORY, "out of memory");
        return cupel_cli_complain(&err, settings->json);
    }
    cupel_cli_cache_folder(cache, sizeof cache);
    cupel_doctor_examine(&doctor);
    bool printed = true;
    if (settings->json)
        printed = print_json(&doctor);
    else
        print_items(&doctor);
    cupel_arena_free(doctor.arena);
    return !printed ? cupel_check_error_status(CUPEL_IO) : doctor.works ? 0 : 3;
}
