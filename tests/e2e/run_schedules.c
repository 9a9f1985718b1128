/* Runs a contract under many schedules and says what it found, for schedules.py:
 *
 *   run_schedules FILE CONTRACT FIRST COUNT CACHE
 *
 * Number n is the n-th draw of a fixed campaign with the n-th schedule of cupel_schedule_nth as its second
 * run. Prints one line of JSON: schedules, how many of them judged something, and each finding's signature
 * with its first number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "schedule.h"
#include "trial.h"

enum { MAX_ELEMENTS = 3000, SIGNATURES_MAX = 32 };

typedef struct tally {
    uint64_t schedules, judged, unsupported, signature_count;
    char signatures[SIGNATURES_MAX][160];
    uint64_t first[SIGNATURES_MAX], count[SIGNATURES_MAX];
} tally;

static cupel_code run_case(void *self, const cupel_case *c, const cupel_run_request *request,
                           cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    CUPEL_TRY(cupel_executor_prepare(self, &c->binding, err));
    return cupel_executor_run(self, c, request, arena, out, err);
}

static void count_finding(tally *t, uint64_t n, const cupel_finding *finding) {
    char signature[160];
    uint64_t i = 0;
    if (finding->standing != CUPEL_STANDING_PROOF) return;
    cupel_finding_signature(finding, signature, sizeof signature);
    while (i < t->signature_count && strcmp(t->signatures[i], signature) != 0) i++;
    if (i == SIGNATURES_MAX) return;
    if (i == t->signature_count) {
        memcpy(t->signatures[i], signature, sizeof signature);
        t->first[i] = n;
        t->signature_count++;
    }
    t->count[i]++;
}

static cupel_code try_number(const cupel_contract *contract, const cupel_runner *runner, uint64_t n,
                             cupel_arena *arena, cupel_trial *trial, tally *t, cupel_error *err) {
    const cupel_limits limits = {.max_elements = MAX_ELEMENTS};
    cupel_recipe recipe;
    cupel_arena_reset(arena);
    CUPEL_TRY(cupel_recipe_draw(contract, &limits, 1, n, &recipe, err));
    recipe.schedule = cupel_schedule_nth(n);
    CUPEL_TRY(cupel_trial_run(contract, &recipe, runner, CUPEL_FILTER, arena, NULL, trial, err));
    t->schedules++;
    t->unsupported += trial->unsupported;
    int64_t judged = 0;
    for (int o = 0; trial->allowed != NULL && o < trial->graph->output_count; o++)
        judged += trial->allowed[o].judged;
    t->judged += judged > 0;
    for (int f = 0; f < trial->judged.finding_count; f++) count_finding(t, n, &trial->judged.findings[f]);
    return CUPEL_OK;
}

static const cupel_contract *find(const cupel_contracts *contracts, const char *id) {
    for (int i = 0; i < contracts->count; i++)
        if (strcmp(contracts->items[i]->id, id) == 0) return contracts->items[i];
    return NULL;
}

static cupel_code run(char **argv, cupel_arena *arena, cupel_arena *of_case, tally *t, cupel_error *err) {
    static cupel_trial trial; /* large */
    cupel_contracts contracts;
    cupel_executor *executor;
    CUPEL_TRY(cupel_contracts_load(argv[1], arena, &contracts, err));
    const cupel_contract *contract = find(&contracts, argv[2]);
    if (contract == NULL) return cupel_fail(err, CUPEL_USAGE, "%s has no contract %s", argv[1], argv[2]);
    const cupel_executor_options options = {.cache = argv[5]};
    const cupel_executor_backend *backend = cupel_executor_emu();
    CUPEL_TRY(cupel_executor_open(backend, contract, &options, &executor, err));
    const cupel_runner runner = {.self = executor,
                                 .checks_addresses = backend->checks_addresses,
                                 .sees_atomics = backend->sees_atomics,
                                 .permutes_schedules = backend->permutes_schedules,
                                 .run = run_case};
    uint64_t first = strtoull(argv[3], NULL, 10), count = strtoull(argv[4], NULL, 10);
    cupel_code code = CUPEL_OK;
    for (uint64_t n = first; n < first + count && code == CUPEL_OK; n++)
        code = try_number(contract, &runner, n, of_case, &trial, t, err);
    cupel_executor_close(executor);
    return code;
}

int main(int argc, char **argv) {
    static tally t;
    cupel_error err = {0};
    char message[1400];
    if (argc != 6) {
        fprintf(stderr, "usage: run_schedules FILE CONTRACT FIRST COUNT CACHE\n");
        return 2;
    }
    cupel_arena *arena = cupel_arena_create(0), *of_case = cupel_arena_create(0);
    cupel_code code = run(argv, arena, of_case, &t, &err);
    if (code != CUPEL_OK) fprintf(stderr, "%s\n", cupel_error_format(&err, message, sizeof message));
    printf("{\"schedules\": %llu, \"judged\": %llu, \"unsupported\": %llu, \"findings\": {",
           (unsigned long long)t.schedules, (unsigned long long)t.judged, (unsigned long long)t.unsupported);
    for (uint64_t i = 0; i < t.signature_count; i++)
        printf("%s\"%s\": [%llu, %llu]", i ? ", " : "", t.signatures[i], (unsigned long long)t.first[i],
               (unsigned long long)t.count[i]);
    printf("}}\n");
    cupel_arena_free(of_case);
    cupel_arena_free(arena);
    return code == CUPEL_OK ? 0 : 2;
}
