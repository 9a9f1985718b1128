#include "minimiser_fixture.h"

#include "schedule.h"

const char rows[] = "cupel: 1\n"
                    "id: fake\n"
                    "source: {file: fake.cu}\n"
                    "dims: {M: 1..512, N: 1..4096}\n"
                    "types: {T: [f32, f16]}\n"
                    "inputs: {x: 'T[M, N]', w: 'T[N]'}\n"
                    "outputs: {y: 'T[M, N]', z: 'T[M, N]'}\n"
                    "ensures: {y: 'x * w', z: 'x'}\n"
                    "kernel: {entry: 'fake<$T>', args: [x, w, y, z, M, N], grid: [M], block: [32]}\n";

const char square[] = "cupel: 1\n"
                      "id: square\n"
                      "source: {file: fake.cu}\n"
                      "dims: {M: 1..512, N: 1..512}\n"
                      "requires: ['M == N']\n"
                      "inputs: {x: 'f32[M, N]'}\n"
                      "outputs: {y: 'f32[M, N]'}\n"
                      "ensures: {y: 'x'}\n"
                      "kernel: {entry: fake, args: [x, y, M, N], grid: [M], block: [32]}\n";

void make_heavy(const cupel_contract *contract, cupel_recipe *recipe) {
    assert_int_equal(cupel_recipe_simple(contract, recipe, NULL), CUPEL_OK);
    recipe->dims[0] = 37;
    recipe->dims[1] = 686;
    recipe->schedule = cupel_schedule_pack((cupel_schedule){CUPEL_SCHEDULE_RANDOM, 99, 0});
    recipe->history = CUPEL_HISTORY_OTHER_BUFFERS;
    recipe->calls = 7;
    recipe->poison = 5;
    for (int t = 0; t < contract->tensor_count; t++) {
        if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT)) continue;
        cupel_tensor_recipe *tensor = &recipe->tensors[t];
        tensor->pattern = CUPEL_PATTERN_CANCELLATION;
        tensor->seed = 12345;
        tensor->amplitude = 812.5;
        tensor->centre = 3.25;
        tensor->special = CUPEL_SPECIAL_MIXED;
        tensor->placement = CUPEL_PLACE_TILE;
        tensor->special_seed = 77;
        tensor->edit_count = 2;
        tensor->edits[0] = (cupel_edit){5, 0x3f800000};
        tensor->edits[1] = (cupel_edit){3, 0x3c00};
    }
    assert_int_equal(cupel_recipe_repair(contract, recipe, INT64_C(1) << 30, NULL), CUPEL_OK);
}

result minimise(const char *text, defect fails, defect otherwise, cupel_finding_kind kind,
                void (*prepare)(const cupel_contract *, cupel_recipe *),
                const cupel_minimise_options *options) {
    result r = {.arena = cupel_arena_create(0)};
    r.contract = fake_contract(r.arena, text);
    make_heavy(r.contract, &r.recipe);
    if (prepare) prepare(r.contract, &r.recipe);
    r.kernel =
        (fake_kernel){.contract = r.contract, .fails = fails, .fails_otherwise = otherwise, .kind = kind};
    cupel_predicate predicate = fake_predicate(&r.kernel);
    char signature[160];
    fake_signature(&r.kernel, signature, sizeof signature);
    static const cupel_minimise_options plenty = {.max_tries = 2000, .seconds = 20};
    r.code = cupel_minimise(r.contract, signature, &predicate, options ? options : &plenty, &r.recipe,
                            &r.finding, &r.report, NULL);
    if (r.code == CUPEL_OK) assert_true(fails(r.contract, &r.recipe));
    return r;
}

bool tail(const cupel_contract *contract, const cupel_recipe *recipe) {
    return fake_dim(contract, recipe, "N") % 128 != 0;
}
