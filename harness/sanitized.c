#include "sanitized.h"

#include <string.h>

#include "case_size.h"
#include "races.h"

bool cupel_sanitized_available(const char *executor) {
    return strcmp(executor, "emu") == 0;
}

cupel_supervisor_options cupel_sanitized_options(const cupel_supervisor_options *options) {
    cupel_supervisor_options sanitizer = *options;
    sanitizer.exec.sanitize = true;
    return sanitizer;
}

bool cupel_sanitized_request(const cupel_recipe *recipe, int n, cupel_run_request *out) {
    *out = (cupel_run_request){.schedule = n == 0 ? 0 : recipe->schedule,
                               .poison = n == 0 ? CUPEL_POISON_NAN : CUPEL_POISON_FINITE};
    return n == 0 || (n == 1 && recipe->schedule != 0);
}

cupel_code cupel_sanitized_add(cupel_supervisor *sanitizer, cupel_trial *trial, cupel_arena *arena,
                               cupel_sanitized_counts *counts, cupel_error *err) {
    cupel_run_request request;
    *counts = (cupel_sanitized_counts){0};
    if (cupel_case_size_tensors(&trial->c->binding) > CUPEL_SANITIZED_BYTES_MAX)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "the case is too large for the sanitizer (%d MiB at most)",
                          CUPEL_SANITIZED_BYTES_MAX >> 20);
    for (int n = 0; cupel_sanitized_request(trial->c->recipe, n, &request); n++) {
        cupel_observation *seen = cupel_arena_alloc(arena, sizeof *seen);
        if (!seen) return cupel_fail(err, CUPEL_MEMORY, "no memory for a sanitized run");
        CUPEL_TRY(cupel_supervisor_run(sanitizer, trial->c, &request, arena, seen, err));
        counts->runs += seen->sanitized;
        counts->reports += cupel_gate_sanitized(trial->c, seen, request.schedule, &trial->judged);
    }
    return CUPEL_OK;
}

cupel_code cupel_sanitized_try(cupel_supervisor *supervisor, const cupel_contract *contract,
                               const cupel_supervisor_options *options, const cupel_recipe *recipe,
                               cupel_arena *arena, cupel_trial *out, cupel_sanitized_counts *counts,
                               cupel_error *err) {
    const cupel_supervisor_options strict = cupel_sanitized_options(options);
    cupel_supervisor *sanitizer;
    CUPEL_TRY(cupel_supervisor_try(supervisor, recipe, true, arena, out, err));
    if (out->unsupported) return CUPEL_OK;
    CUPEL_TRY(cupel_supervisor_open(contract, &strict, &sanitizer, err));
    cupel_code code = cupel_sanitized_add(sanitizer, out, arena, counts, err);
    cupel_supervisor_close(sanitizer);
    return code;
}

bool cupel_sanitized_is_race(const char *signature) {
    return strncmp(signature, "race-", 5) == 0;
}

bool cupel_sanitized_may_show(const char *signature) {
    return cupel_sanitized_is_race(signature) || strncmp(signature, "bad-access-", 11) == 0 ||
           strncmp(signature, "uninitialised-read-", 19) == 0;
}
