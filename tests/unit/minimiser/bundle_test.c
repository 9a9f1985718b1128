/* Bundles: what is written can be read, a simpler case replaces, and nothing half-written is ever seen. */
#include <dirent.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bundle.h"
#include "fake_kernel.h"
#include "npy.h"
#include "text.h"

static const char text[] = "cupel: 1\n"
                           "id: bundled\n"
                           "source: {file: fake.cu}\n"
                           "dims: {N: 1..4096}\n"
                           "inputs: {x: 'f32[N]'}\n"
                           "outputs: {y: 'f32[N]'}\n"
                           "ensures: {y: 'x * 2'}\n"
                           "kernel: {entry: twice, args: [x, y, N], grid: [1], block: [32]}\n";

typedef struct fixture {
    cupel_arena *arena;
    const cupel_contract *contract;
    cupel_recipe recipe;
    cupel_trial trial;
    cupel_observation observation;
    cupel_finding finding;
    cupel_bundle bundle;
    char folder[64];
} fixture;

/* A run that left the outputs as poison. */
static void make_trial(fixture *f, int64_t n) {
    f->recipe.dims[0] = n;
    memset(&f->trial, 0, sizeof f->trial);
    memset(&f->observation, 0, sizeof f->observation);
    assert_int_equal(cupel_case_materialise(f->contract, &f->recipe, f->arena, &f->trial.c, NULL), CUPEL_OK);
    cupel_case *c = f->trial.c;
    assert_int_equal(cupel_binding_graph(&c->binding, f->arena, &f->trial.graph, NULL), CUPEL_OK);
    f->observation.buffer_count = c->buffer_count;
    for (int b = 0; b < c->buffer_count; b++) {
        f->observation.buffers[b].size = c->buffers[b].size;
        f->observation.buffers[b].bytes = cupel_arena_alloc(f->arena, c->buffers[b].size);
        cupel_case_image(c, b, CUPEL_POISON_FINITE, f->observation.buffers[b].bytes);
    }
    f->trial.run_count = 1;
    f->trial.runs[0] = (cupel_run){.poison = CUPEL_POISON_FINITE, .observation = &f->observation};
}

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->arena = cupel_arena_create(0);
    f->contract = fake_contract(f->arena, text);
    assert_int_equal(cupel_recipe_simple(f->contract, &f->recipe, NULL), CUPEL_OK);
    f->finding = (cupel_finding){.gate = CUPEL_GATE_CMP_03,
                                 .kind = CUPEL_FINDING_WRONG_VALUE,
                                 .standing = CUPEL_STANDING_PROOF,
                                 .index = 0,
                                 .type = CUPEL_F32,
                                 .output_name = "y"};
    f->bundle = (cupel_bundle){.contract = f->contract,
                               .contract_path = "fake.yaml",
                               .executor = "emu",
                               .recipe = &f->recipe,
                               .trial = &f->trial,
                               .finding = &f->finding,
                               .seed = 9};
    snprintf(f->folder, sizeof f->folder, "bundle-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    int status = system(command);
    cupel_arena_free(f->arena);
    free(f);
    return status;
}

static void write_bundle(fixture *f, char *path, size_t size) {
    cupel_error err = {0};
    char message[1400];
    if (cupel_bundle_write(&f->bundle, f->folder, path, size, &err) != CUPEL_OK)
        fail_msg("%s", cupel_error_format(&err, message, sizeof message));
}

static void bundle_comes_back_as_it_was(void **state) {
    fixture *f = *state;
    char path[1024], file[1100];
    static const char *const defines[] = {"A=1", "B"};
    f->bundle.defines = defines;
    f->bundle.define_count = 2;
    make_trial(f, 33);
    write_bundle(f, path, sizeof path);
    cupel_bundle_info info;
    assert_int_equal(cupel_bundle_open(path, &info, NULL), CUPEL_OK);
    assert_string_equal(info.contract_id, "bundled");
    assert_string_equal(info.executor, "emu");
    assert_string_equal(info.gate, "CMP-03");
    assert_int_equal(info.seed, 9);
    assert_int_equal(info.define_count, 2);
    assert_string_equal(info.defines[1], "B");
    assert_int_equal(info.include_count, 0);
    assert_non_null(strstr(path, "crashes/bundled/CMP-03-"));
    assert_non_null(strstr(path, info.signature));
    cupel_recipe recipe;
    assert_int_equal(cupel_bundle_recipe(path, f->contract, &recipe, NULL), CUPEL_OK);
    assert_true(cupel_recipe_equal(f->contract, &recipe, &f->recipe));

    cupel_npy array;
    snprintf(file, sizeof file, "%s/inputs/x.npy", path);
    assert_int_equal(cupel_npy_read(file, f->arena, &array, NULL), CUPEL_OK);
    assert_int_equal(array.count, 33);
    assert_memory_equal(array.data, f->trial.c->tensors[0].values, 33 * sizeof(float));
    snprintf(file, sizeof file, "%s/output.npy", path);
    assert_int_equal(cupel_npy_read(file, f->arena, &array, NULL), CUPEL_OK);
    assert_int_equal(array.count, 33);
    snprintf(file, sizeof file, "%s/explain.md", path);
    assert_int_equal(access(file, R_OK), 0);
}

static void says_where_it_fails(void **state) {
    fixture *f = *state;
    char path[1024];
    cupel_minimise_report report = {.necessary_traits = CUPEL_TRAIT_SHAPE,
                                    .region = "fails only when N == 7"};
    f->bundle.report = &report;
    make_trial(f, 7);
    cupel_finding finding = *f->bundle.finding;
    finding.cause = (cupel_cause){.fault = CUPEL_SHADOW_TF32_CUT, .basis = CUPEL_CAUSE_RESULT};
    f->bundle.finding = &finding;
    write_bundle(f, path, sizeof path);
    cupel_bundle_info info;
    assert_int_equal(cupel_bundle_open(path, &info, NULL), CUPEL_OK);
    assert_int_equal(info.traits, CUPEL_TRAIT_SHAPE);
    assert_string_equal(info.region, "fails only when N == 7");
    assert_string_equal(info.cause, "tf32-cut result");
}

/* The first element of a saved array. */
static float first_of(fixture *f, const char *path, const char *name) {
    char file[1100];
    cupel_npy array;
    snprintf(file, sizeof file, "%s/%s", path, name);
    assert_int_equal(cupel_npy_read(file, f->arena, &array, NULL), CUPEL_OK);
    float first;
    memcpy(&first, array.data, sizeof first);
    return first;
}

static void read_text(const char *path, const char *name, char *content, size_t size) {
    char file[1100];
    snprintf(file, sizeof file, "%s/%s", path, name);
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    size_t length = fread(content, 1, size - 1, in);
    content[length] = '\0';
    fclose(in);
}

static void two_runs_are_both_saved(void **state) {
    fixture *f = *state;
    char path[1024];
    make_trial(f, 3);
    cupel_observation other = f->observation;
    int y = f->trial.c->tensors[cupel_contract_tensor(f->contract, "y")].buffer;
    static const float before[] = {1, 2, 3}, after[] = {4, 5, 6};
    other.buffers[y].bytes = cupel_arena_alloc(f->arena, sizeof after);
    memcpy(f->observation.buffers[y].bytes, before, sizeof before);
    memcpy(other.buffers[y].bytes, after, sizeof after);
    f->trial.runs[1] = (cupel_run){.schedule = 5, .poison = CUPEL_POISON_FINITE, .observation = &other};
    f->trial.run_count = 2;
    f->finding.kind = CUPEL_FINDING_NONDETERMINISM;
    f->finding.run_a = (cupel_finding_run){.index = 0, .poison = CUPEL_POISON_FINITE};
    f->finding.run_b = (cupel_finding_run){.index = 1, .schedule = 5, .poison = CUPEL_POISON_FINITE};
    write_bundle(f, path, sizeof path);
    assert_true(first_of(f, path, "output_a.npy") == 1);
    assert_true(first_of(f, path, "output_b.npy") == 4);
    char content[8192];
    read_text(path, "case.yaml", content, sizeof content);
    assert_non_null(strstr(content, "# run A: schedule canonical, poison finite, history none\n"));
    assert_non_null(strstr(content, "# run B: schedule "));
    read_text(path, "explain.md", content, sizeof content);
    assert_non_null(strstr(content, "run A: threads in order, lanes abreast (canonical)"));
    assert_non_null(strstr(content, "run B: "));
}

static void explanation_says(fixture *f, int64_t n, const char *wanted, bool expected) {
    char path[1024], content[8192];
    make_trial(f, n);
    write_bundle(f, path, sizeof path);
    read_text(path, "explain.md", content, sizeof content);
    assert_int_equal(strstr(content, wanted) != NULL, expected);
}

static void small_inputs_are_printed_in_full(void **state) {
    fixture *f = *state;
    explanation_says(f, 33, "x: f32[33]\n", true);
    explanation_says(f, 3, "x: f32[3] = [", true);
}

static int64_t saved_n(fixture *f, const char *path) {
    cupel_recipe recipe;
    assert_int_equal(cupel_bundle_recipe(path, f->contract, &recipe, NULL), CUPEL_OK);
    return recipe.dims[0];
}

static void simpler_case_replaces_and_larger_does_not(void **state) {
    fixture *f = *state;
    char path[1024];
    make_trial(f, 33);
    write_bundle(f, path, sizeof path);
    make_trial(f, 7);
    write_bundle(f, path, sizeof path);
    assert_int_equal(saved_n(f, path), 7);
    make_trial(f, 100);
    write_bundle(f, path, sizeof path);
    assert_int_equal(saved_n(f, path), 7);
}

static void provisional_bundle_gives_way(void **state) {
    fixture *f = *state;
    char path[1024];
    f->bundle.provisional = true;
    make_trial(f, 7);
    write_bundle(f, path, sizeof path);
    f->bundle.provisional = false;
    make_trial(f, 8);
    write_bundle(f, path, sizeof path);
    assert_int_equal(saved_n(f, path), 8);
    cupel_bundle_remove(path);
    assert_int_equal(access(path, F_OK), -1);
}

/* Every visible folder must be whole; returns how many there are. */
static int count_whole(fixture *f, const char *root) {
    int count = 0;
    DIR *folder = opendir(root);
    if (!folder) return 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char path[1024];
        cupel_bundle_info info;
        cupel_recipe recipe;
        snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        assert_int_equal(cupel_bundle_open(path, &info, NULL), CUPEL_OK);
        assert_int_equal(cupel_bundle_recipe(path, f->contract, &recipe, NULL), CUPEL_OK);
        count++;
    }
    closedir(folder);
    return count;
}

static void killed_writer_leaves_whole_bundles(void **state) {
    fixture *f = *state;
    char root[128], path[1024];
    snprintf(root, sizeof root, "%s/crashes/bundled", f->folder);
    make_trial(f, 4000);
    write_bundle(f, path, sizeof path);
    for (int round = 0; round < 12; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            for (int64_t n = 3999 - round * 200;; n--) {
                char mine[1024];
                make_trial(f, n);
                if (cupel_bundle_write(&f->bundle, f->folder, mine, sizeof mine, NULL) != CUPEL_OK) _exit(1);
            }
        }
        usleep(2000 + (useconds_t)round * 1700);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_int_equal(count_whole(f, root), 1);
    }
    /* leftovers of killed writers are swept by the next one */
    make_trial(f, 1);
    write_bundle(f, path, sizeof path);
    DIR *folder = opendir(root);
    assert_non_null(folder);
    int entries = 0;
    while (readdir(folder)) entries++;
    closedir(folder);
    assert_int_equal(entries, 3); /* . and .. and the bundle */
}

static void folders_are_looked_at_beforehand(void **state) {
    fixture *f = *state;
    char path[256];
    cupel_error err = {0};
    assert_int_equal(cupel_bundle_expect_folder(f->folder, "bundled", &err), CUPEL_OK);
    snprintf(path, sizeof path, "%s/not/there/yet", f->folder);
    assert_int_equal(cupel_bundle_expect_folder(path, "bundled", &err), CUPEL_OK);
    assert_int_equal(access(path, F_OK), -1);
    snprintf(path, sizeof path, "%s/file", f->folder);
    assert_int_equal(cupel_text_write(path, "", 0, &err), CUPEL_OK);
    assert_int_equal(cupel_bundle_expect_folder(path, "bundled", &err), CUPEL_IO);
    assert_non_null(strstr(err.text, "is not a folder"));
    snprintf(path, sizeof path, "%s/file/below", f->folder);
    assert_int_equal(cupel_bundle_expect_folder(path, "bundled", &err), CUPEL_IO);
}

static void bundle_goes_where_it_is_told(void **state) {
    fixture *f = *state;
    char path[1024], place[128];
    snprintf(place, sizeof place, "%s/any name", f->folder);
    f->bundle.place = place;
    make_trial(f, 5);
    write_bundle(f, path, sizeof path);
    assert_string_equal(path, place);
    assert_true(cupel_bundle_exists(place));
    assert_false(cupel_bundle_exists(f->folder));
    make_trial(f, 4); /* simpler: the same folder */
    write_bundle(f, path, sizeof path);
    cupel_recipe recipe;
    assert_int_equal(cupel_bundle_recipe(place, f->contract, &recipe, NULL), CUPEL_OK);
    assert_int_equal(recipe.dims[0], 4);
    f->bundle.place = NULL;
}

static void what_is_no_bundle_of_this_contract_is_not_replaced(void **state) {
    fixture *f = *state;
    char path[1024], place[128], other[128];
    cupel_error err = {0};
    snprintf(place, sizeof place, "%s/here", f->folder);
    snprintf(other, sizeof other, "%s/other", f->folder);
    f->bundle.place = place;
    make_trial(f, 5);
    assert_int_equal(cupel_text_write(place, "mine", 4, &err), CUPEL_OK);
    assert_int_equal(cupel_bundle_write(&f->bundle, f->folder, path, sizeof path, &err), CUPEL_IO);
    assert_non_null(strstr(err.text, "found a file"));
    assert_int_equal(access(place, F_OK), 0);
    assert_int_equal(unlink(place), 0);
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(symlink("other", place), 0);
    assert_int_equal(cupel_bundle_write(&f->bundle, f->folder, path, sizeof path, &err), CUPEL_IO);
    assert_non_null(strstr(err.text, "found a symbolic link"));
    assert_int_equal(unlink(place), 0);
    cupel_contract contract = *f->contract, *const own = &contract;
    contract.id = "another";
    f->bundle.contract = own;
    write_bundle(f, path, sizeof path);
    f->bundle.contract = f->contract;
    make_trial(f, 2);
    assert_int_equal(cupel_bundle_write(&f->bundle, f->folder, path, sizeof path, &err), CUPEL_IO);
    assert_non_null(strstr(err.text, "a bundle of the contract 'another'"));
    f->bundle.place = NULL;
}

/* Nothing of a file that was edited by hand is passed over: under another macro it is another kernel. */
static void fields_of_another_type_are_refused(void **state) {
    static const struct {
        const char *key, *value, *says;
    } wrong[] = {
        {"defines", "\"x\"", "'defines': expected a list of at most 32 texts, found \"x\""},
        {"defines", "[5]", "'defines': expected texts of fewer than 256 bytes, found 5"},
        {"includes", "{}", "'includes': expected a list"},
        {"signature", "\"\"", "'signature': expected a text, found \"\""},
        {"signature", "null", "'signature': expected a text, found null"},
        {"seed", "\"a\"", "'seed': expected a whole number of 0..18446744073709551615, found \"a\""},
        {"seed", "-1", "'seed': expected a whole number"},
        {"seed", "1e300", "'seed': expected a whole number"},
        {"traits", "16384", "'traits': expected a whole number of 0..16383, found 16384"},
        {"traits", "true", "'traits': expected a whole number"},
        {"region", "[]", "'region': expected a text, found []"},
        {"cause", "7", "'cause': expected a text, found 7"},
        {"kind", "7", "'kind': expected a text, found 7"},
        {"provisional", "0", "'provisional': expected true or false, found 0"},
        {"source_hash", "1", "'source_hash': expected a text"},
        {"contract_relative", "1", "'contract_relative': expected a text"},
        {"contract", "1", "'contract': expected a text, found 1"},
    };
    fixture *f = *state;
    char path[1024], file[1100];
    make_trial(f, 5);
    f->bundle.seed = UINT64_MAX;
    write_bundle(f, path, sizeof path);
    cupel_bundle_info info;
    assert_int_equal(cupel_bundle_open(path, &info, NULL), CUPEL_OK);
    assert_true(info.seed == UINT64_MAX);
    snprintf(file, sizeof file, "%s/bundle.json", path);
    json_t *sound = json_load_file(file, 0, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cupel_error err = {0};
        json_t *meta = json_copy(sound);
        json_object_set_new(meta, wrong[i].key, json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
        assert_int_equal(json_dump_file(meta, file, 0), 0);
        json_decref(meta);
        assert_int_equal(cupel_bundle_open(path, &info, &err), CUPEL_SYNTAX);
        assert_non_null(strstr(err.text, wrong[i].says));
        assert_non_null(strstr(err.text, file));
    }
    json_decref(sound);
}

static void folder_that_is_no_bundle_is_refused(void **state) {
    fixture *f = *state;
    cupel_bundle_info info;
    cupel_error err = {0};
    assert_int_not_equal(cupel_bundle_open(f->folder, &info, &err), CUPEL_OK);
    assert_non_null(strstr(err.text, "not a bundle"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bundle_comes_back_as_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(says_where_it_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(two_runs_are_both_saved, setup, teardown),
        cmocka_unit_test_setup_teardown(small_inputs_are_printed_in_full, setup, teardown),
        cmocka_unit_test_setup_teardown(simpler_case_replaces_and_larger_does_not, setup, teardown),
        cmocka_unit_test_setup_teardown(provisional_bundle_gives_way, setup, teardown),
        cmocka_unit_test_setup_teardown(killed_writer_leaves_whole_bundles, setup, teardown),
        cmocka_unit_test_setup_teardown(folders_are_looked_at_beforehand, setup, teardown),
        cmocka_unit_test_setup_teardown(bundle_goes_where_it_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_bundle_of_this_contract_is_not_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(fields_of_another_type_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(folder_that_is_no_bundle_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
