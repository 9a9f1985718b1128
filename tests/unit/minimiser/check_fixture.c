#include "check_fixture.h"

#include "supervisor_impl.h"

static const char text[] = "cupel: 1\n"
                           "id: checked\n"
                           "source: {file: fake.cu}\n"
                           "dims: {N: 1..1024}\n"
                           "inputs: {x: 'f32[N]'}\n"
                           "outputs: {y: 'f32[N]', z: 'f32[N]'}\n"
                           "ensures: {y: 'x', z: 'x'}\n"
                           "kernel: {entry: fake, args: [x, y, z, N], grid: [1], block: [32]}\n";

fake_supervisor fake;

static cupel_supervisor the_supervisor;

cupel_code cupel_supervisor_open(const cupel_contract *contract, const cupel_supervisor_options *options,
                                 cupel_supervisor **out, cupel_error *err) {
    (void)contract, (void)options;
    *out = &the_supervisor;
    return fake.opens == CUPEL_OK ? CUPEL_OK : cupel_fail(err, fake.opens, "it does not open");
}

/* Of the sanitizer, which no check here turns on. */
cupel_code cupel_supervisor_create(const cupel_contract *contract, const cupel_supervisor_options *options,
                                   cupel_supervisor **out, cupel_error *err) {
    (void)contract, (void)options, (void)out;
    return cupel_fail(err, CUPEL_UNSUPPORTED, "no sanitizer here");
}
void cupel_supervisor_dismiss(cupel_desk *desk) {
    (void)desk;
}
cupel_code cupel_supervisor_send_open(cupel_supervisor *s, cupel_desk *desk, cupel_error *err) {
    (void)s, (void)desk;
    return cupel_fail(err, CUPEL_UNSUPPORTED, "no sanitizer here");
}
cupel_code cupel_supervisor_take_ready(cupel_supervisor *s, cupel_desk *desk, cupel_worker_event event,
                                       const cupel_header *header, const uint8_t *payload, cupel_error *err) {
    (void)s, (void)desk, (void)event, (void)header, (void)payload;
    return cupel_fail(err, CUPEL_UNSUPPORTED, "no sanitizer here");
}
cupel_code cupel_supervisor_send_run(cupel_supervisor *s, const cupel_case *c,
                                     const cupel_run_request *request, cupel_error *err) {
    (void)s, (void)c, (void)request;
    return cupel_fail(err, CUPEL_UNSUPPORTED, "no sanitizer here");
}
cupel_code cupel_supervisor_run(cupel_supervisor *s, const cupel_case *c, const cupel_run_request *request,
                                cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    (void)s, (void)c, (void)request, (void)arena, (void)out;
    return cupel_fail(err, CUPEL_UNSUPPORTED, "no sanitizer here");
}

void cupel_supervisor_close(cupel_supervisor *supervisor) {
    (void)supervisor;
}
uint64_t cupel_supervisor_memory(const cupel_supervisor *supervisor) {
    (void)supervisor;
    return fake.memory;
}
const char *cupel_supervisor_isolation(const cupel_supervisor *supervisor) {
    (void)supervisor;
    return "";
}

static void add_finding(cupel_judged *judged, const char *output) {
    cupel_finding *finding = &judged->findings[judged->finding_count++];
    *finding = (cupel_finding){.gate = CUPEL_GATE_CMP_01,
                               .kind = CUPEL_FINDING_WRONG_VALUE,
                               .standing = CUPEL_STANDING_PROOF,
                               .output = output[0] == 'z',
                               .index = 0,
                               .type = CUPEL_F32,
                               .ratio = NAN,
                               .steps = NAN};
    if (output[0] == 'y' && fake.fault) finding->kind = CUPEL_FINDING_FAULT, finding->fault = fake.fault;
    snprintf(finding->output_name, sizeof finding->output_name, "%s", output);
}

static void judge(const cupel_recipe *recipe, cupel_judged *judged) {
    if (fake.y_fails_from && recipe->dims[0] >= fake.y_fails_from) add_finding(judged, "y");
    if (fake.z_fails_below && recipe->dims[0] < fake.z_fails_below) add_finding(judged, "z");
}

cupel_code cupel_supervisor_try(cupel_supervisor *supervisor, const cupel_recipe *recipe, bool fresh,
                                cupel_arena *arena, cupel_trial *out, cupel_error *err) {
    (void)supervisor, (void)fresh;
    fake.tries++;
    memset(out, 0, sizeof *out);
    CUPEL_TRY(cupel_case_materialise(fake.contract, recipe, arena, &out->c, err));
    if (fake.refuted)
        out->unconfirmed = 1;
    else if (fake.refuse > 0)
        fake.refuse--;
    else if (fake.calls_needed > 0 && cupel_recipe_calls(recipe) < fake.calls_needed)
        return CUPEL_OK;
    else if (fake.calls_needed > 0)
        add_finding(&out->judged, "y"), out->judged.findings[0].kind = CUPEL_FINDING_HISTORY;
    else
        judge(recipe, &out->judged);
    return CUPEL_OK;
}

cupel_code cupel_supervisor_search(cupel_supervisor *supervisor, const cupel_search_options *options,
                                   const cupel_search_callbacks *callbacks, cupel_scoreboard *scoreboard,
                                   cupel_error *err) {
    (void)supervisor;
    cupel_recipe recipe;
    fake.searches++;
    fake.start_count = options->start_count;
    fake.max_elements = options->limits.max_elements;
    for (size_t i = 0; i < options->start_count && i < 8; i++) fake.starts[i] = options->starts[i].dims[0];
    CUPEL_TRY(cupel_recipe_simple(fake.contract, &recipe, err));
    if (fake.breakdowns > 0) {
        fake.breakdowns--;
        return cupel_fail(err, CUPEL_WORKER, "workers die before their first case");
    }
    for (int64_t n = 500; n < 503 && callbacks->interesting; n++) {
        recipe.dims[0] = n;
        callbacks->interesting(callbacks->self, &recipe);
    }
    scoreboard->cases = fake.cases ? fake.cases : 10;
    scoreboard->gates[CUPEL_GATE_CMP_01] =
        (cupel_gate_tally){.cases = fake.ordinary, .judged = fake.ordinary, .considered = fake.ordinary};
    scoreboard->outputs[0].by_reason[CUPEL_REASON_OVERFLOW] = fake.overflowing;
    scoreboard->unsupported = fake.unsupported;
    scoreboard->gates[CUPEL_GATE_PRC_01] =
        (cupel_gate_tally){.cases = 10, .judged = fake.judged, .considered = fake.unfinished ? 0 : 100};
    cupel_progress progress = {.scoreboard = scoreboard, .cases = 10};
    if (fake.unsupported) progress.unsupported = "it is not to be had here";
    if (fake.unsupported) assert_true(callbacks->progress(callbacks->self, &progress));
    if (fake.interrupt) *fake.interrupt = 1;
    if (fake.search_seconds > 0) usleep((useconds_t)(fake.search_seconds * 1e6));
    for (int64_t i = 0; i < fake.suspects; i++) {
        cupel_judged suspicion = {.n = (uint64_t)(4 + i)};
        recipe.dims[0] = 700 + i;
        judge(&recipe, &suspicion);
        if (!callbacks->suspect(callbacks->self, &recipe, &suspicion)) break;
        if (!callbacks->progress(callbacks->self, &progress)) break;
    }
    if (fake.interrupt) (void)callbacks->progress(callbacks->self, &progress);
    if (fake.clear) assert_int_equal(remove(fake.clear), 0);
    return CUPEL_OK;
}

/* ---- the check ---- */

int check_setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->arena = cupel_arena_create(0);
    memset(&fake, 0, sizeof fake);
    fake.contract = fake_contract(f->arena, text);
    fake.judged = 50;
    snprintf(f->folder, sizeof f->folder, "check-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    *state = f;
    return 0;
}

int check_teardown(void **state) {
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    int status = system(command);
    cupel_arena_free(f->arena);
    free(f);
    return status;
}

void check_on_found(void *self, const cupel_check_finding *found) {
    fixture *f = self;
    f->found += !found->minimised;
    f->minimised += found->minimised;
    assert_int_equal(access(found->bundle, R_OK), 0); /* saved before it is told */
}

void check_on_note(void *self, bool warning, const char *note) {
    fixture *f = self;
    f->notes += !warning;
    f->warnings += warning;
    snprintf(f->note, sizeof f->note, "%s", note);
}

cupel_code check(fixture *f) {
    cupel_check_options options = {.kernel = "fake.yaml",
                                   .directory = f->folder,
                                   .supervisor = {.executor = "emu"},
                                   .cases = 10,
                                   .standing = CUPEL_STANDING_PROOF};
    cupel_check_listener listener = {.self = f, .found = check_on_found, .note = check_on_note};
    return cupel_check_run(fake.contract, &options, &listener, &f->report, NULL);
}

cupel_code fuzz(fixture *f, uint64_t cases) {
    cupel_check_options options = {.kernel = "fake.yaml",
                                   .directory = f->folder,
                                   .supervisor = {.executor = "emu"},
                                   .cases = cases,
                                   .endless = true,
                                   .standing = CUPEL_STANDING_PROOF};
    cupel_check_listener listener = {.self = f, .found = check_on_found, .note = check_on_note};
    return cupel_check_run(fake.contract, &options, &listener, &f->report, NULL);
}
