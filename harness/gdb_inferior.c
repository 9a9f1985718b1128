#include <string.h>

#include "check.h"
#include "cli_bundle.h"
#include "gdb.h"
#include "shrink.h"
#include "wording.h"

/* Where gdb sets a breakpoint when cupel_gdb_start is called: a function's name. */
extern char cupel_gdb_place[256];
char cupel_gdb_place[256];

void cupel_gdb_start(void);
__attribute__((noinline)) void cupel_gdb_start(void) {
    __asm__ volatile("");
}

typedef struct inferior {
    cupel_cli_bundle opened;
    cupel_executor *executor;
    cupel_gdb_aim aim;
    cupel_watch watch; /* the executor's */
} inferior;

static cupel_code run_case(void *self, const cupel_case *c, const cupel_run_request *request,
                           cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    inferior *i = self;
    CUPEL_TRY(cupel_executor_prepare(i->executor, &c->binding, err));
    return cupel_executor_run(i->executor, c, request, arena, out, err);
}

static cupel_code open_executor(inferior *i, cupel_error *err) {
    cupel_executor_options options = i->opened.session.supervisor.exec;
    const cupel_executor_backend *backend = cupel_executor_find(i->opened.session.supervisor.executor);
    if (!backend)
        return cupel_fail(err, CUPEL_USAGE, "there is no executor '%s'",
                          i->opened.session.supervisor.executor);
    i->watch.tensor = -1;
    options.debug = true;
    options.watch = &i->watch;
    return cupel_executor_open(backend, i->opened.session.contract, &options, &i->executor, err);
}

static cupel_code try_case(inferior *i, cupel_trial *trial, cupel_error *err) {
    const cupel_executor_backend *backend = cupel_executor_backend_of(i->executor);
    cupel_runner runner = {.self = i,
                           .checks_addresses = backend->checks_addresses,
                           .sees_atomics = backend->sees_atomics,
                           .permutes_schedules = backend->permutes_schedules,
                           .varies_schedules = backend->permutes_schedules,
                           .run = run_case};
    CUPEL_TRY(cupel_trial_run(i->opened.session.contract, &i->opened.recipe, &runner, CUPEL_CERTIFY,
                              i->opened.session.arena, NULL, trial, err));
    return trial->unsupported ? cupel_fail(err, CUPEL_UNSUPPORTED, "%s", trial->text) : CUPEL_OK;
}

static cupel_code run_again(inferior *i, const cupel_trial *trial, cupel_observation *seen,
                            cupel_error *err) {
    const cupel_run *run = &trial->runs[i->aim.run];
    cupel_run_request request = {.schedule = run->schedule, .poison = run->poison, .history = run->history};
    i->watch = i->aim.watch;
    CUPEL_TRY(run_case(i, trial->c, &request, i->opened.session.arena, seen, err));
    i->aim.watch.stores = i->watch.stores;
    memcpy(i->aim.watch.values, i->watch.values, sizeof i->watch.values);
    return CUPEL_OK;
}

/* The kernel's own name: softmax of "ns::softmax<float>". */
static void name_kernel(const cupel_contract *contract) {
    const char *entry = contract->launches[0].entry;
    size_t end = strcspn(entry, "<");
    while (end > 0 && entry[end - 1] == ' ') end--;
    snprintf(cupel_gdb_place, sizeof cupel_gdb_place, "%.*s", (int)end, entry);
}

static cupel_code stop_there(inferior *i, const cupel_trial *trial, const cupel_finding *finding,
                             cupel_error *err) {
    cupel_observation *seen = cupel_arena_alloc(i->opened.session.arena, sizeof *seen);
    if (!seen) return cupel_fail(err, CUPEL_MEMORY, "no memory for a run");
    if (i->aim.watch.tensor >= 0 && finding) {
        cupel_gdb_aim wanted = i->aim;
        i->aim.watch.stop_accesses = 0;
        CUPEL_TRY(run_again(i, trial, seen, err));
        i->aim.watch.stop_accesses = wanted.watch.stop_accesses;
        cupel_gdb_aim_choose(finding, seen, trial->c, &i->aim);
    }
    printf("\ncupel: %s\n", i->aim.words);
    if (i->aim.kernel_start) {
        name_kernel(i->opened.session.contract);
        printf("cupel: there is no store to stop at; this stops where the kernel begins\n");
        fflush(stdout);
        cupel_gdb_start();
    }
    fflush(stdout);
    return run_again(i, trial, seen, err);
}

static cupel_code debug(inferior *i, int *status, cupel_error *err) {
    cupel_trial trial = {0};
    CUPEL_TRY(open_executor(i, err));
    CUPEL_TRY(try_case(i, &trial, err));
    const cupel_finding *finding = cupel_shrink_finding(&trial, i->opened.info.signature);
    if (!finding && trial.judged.finding_count) finding = &trial.judged.findings[0];
    *status = finding ? 1 : 0;
    cupel_gdb_aim_at(i->opened.session.contract, &trial, finding, &i->aim);
    if (i->aim.run < 0) return cupel_fail(err, CUPEL_UNABLE, "the case was not run");
    return stop_there(i, &trial, finding, err);
}

int cupel_gdb_inferior(const cupel_cli_settings *settings) {
    static inferior i; /* large */
    char bundle[1024];
    cupel_error err = {0};
    int status = 3;
    cupel_cli_bundle_name(settings->operand, bundle, sizeof bundle);
    if (cupel_cli_bundle_open("replay", settings, bundle, false, &i.opened, &err) != CUPEL_OK)
        return cupel_cli_complain(&err, false);
    if (debug(&i, &status, &err) != CUPEL_OK) status = cupel_cli_complain(&err, false);
    cupel_executor_close(i.executor);
    cupel_cli_bundle_close(&i.opened);
    return status;
}
