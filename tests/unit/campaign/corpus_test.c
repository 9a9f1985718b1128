/* The corpus: what is kept, what is skipped and left alone, how it is bounded. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "corpus.h"
#include "fake_kernel.h"

static const char text[] = "cupel: 1\n"
                           "id: kept\n"
                           "source: {file: fake.cu}\n"
                           "dims: {N: 1..4096}\n"
                           "inputs: {x: 'f32[N]'}\n"
                           "outputs: {y: 'f32[N]'}\n"
                           "ensures: {y: 'x'}\n"
                           "kernel: {entry: fake, args: [x, y, N], grid: [1], block: [32]}\n";

static const int64_t limit = 1 << 20;

typedef struct fixture {
    cupel_arena *arena;
    const cupel_contract *contract;
    cupel_corpus *corpus;
    char base[64], folder[128];
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->arena = cupel_arena_create(0);
    f->contract = fake_contract(f->arena, text);
    snprintf(f->base, sizeof f->base, "corpus-test-XXXXXX");
    assert_non_null(mkdtemp(f->base));
    snprintf(f->folder, sizeof f->folder, "%s/corpus/kept", f->base);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    char command[128];
    cupel_corpus_close(f->corpus);
    snprintf(command, sizeof command, "rm -rf '%s'", f->base);
    int status = system(command);
    cupel_arena_free(f->arena);
    free(f);
    return status;
}

static void reopen(fixture *f) {
    cupel_corpus_close(f->corpus);
    f->corpus = NULL;
    assert_int_equal(cupel_corpus_open(f->contract, f->base, limit, &f->corpus, NULL), CUPEL_OK);
}

static cupel_recipe recipe_of(const fixture *f, int64_t n) {
    cupel_recipe recipe;
    assert_int_equal(cupel_recipe_simple(f->contract, &recipe, NULL), CUPEL_OK);
    recipe.dims[0] = n;
    assert_int_equal(cupel_recipe_repair(f->contract, &recipe, limit, NULL), CUPEL_OK);
    return recipe;
}

static void add(fixture *f, int64_t n) {
    cupel_recipe recipe = recipe_of(f, n);
    cupel_corpus_add(f->corpus, &recipe);
}

static int starts(fixture *f, int max, uint64_t seed, cupel_recipe **recipes) {
    int count = cupel_corpus_starts(f->corpus, max, seed, NULL);
    *recipes = cupel_arena_raw(f->arena, (size_t)count + 1, sizeof **recipes);
    assert_non_null(*recipes);
    assert_int_equal(cupel_corpus_starts(f->corpus, max, seed, *recipes), count);
    return count;
}

static int files_in(const char *folder) {
    int count = 0;
    DIR *open_folder = opendir(folder);
    if (!open_folder) return 0;
    for (struct dirent *e; (e = readdir(open_folder));)
        count += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(open_folder);
    return count;
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t size) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* The name of any recipe of the folder. */
static void a_name(const fixture *f, char name[256]) {
    DIR *folder = opendir(f->folder);
    assert_non_null(folder);
    name[0] = '\0';
    for (struct dirent *e; (e = readdir(folder));)
        if (strstr(e->d_name, ".recipe")) snprintf(name, 256, "%s", e->d_name);
    closedir(folder);
    assert_int_not_equal(name[0], 0);
}

static void recipes_are_kept_once_and_come_back(void **state) {
    fixture *f = *state;
    cupel_recipe *again = NULL;
    reopen(f);
    assert_int_equal(starts(f, 100, 1, &again), 0);
    for (int round = 0; round < 2; round++)
        for (int64_t n = 1; n <= 5; n++) add(f, n);
    assert_int_equal(files_in(f->folder), 0);
    cupel_corpus_save(f->corpus, 2);
    assert_int_equal(files_in(f->folder), 2);
    cupel_corpus_save(f->corpus, 100);
    assert_int_equal(files_in(f->folder), 5);
    assert_int_equal(cupel_corpus_counted(f->corpus)->found, 5);
    reopen(f);
    assert_int_equal(starts(f, 100, 1, &again), 5);
    int64_t sum = 0;
    for (int i = 0; i < 5; i++) {
        cupel_recipe expected = recipe_of(f, again[i].dims[0]);
        assert_true(cupel_recipe_equal(f->contract, &again[i], &expected));
        sum += again[i].dims[0];
    }
    assert_int_equal(sum, 15);
    add(f, 3);
    cupel_corpus_save(f->corpus, 100);
    assert_int_equal(cupel_corpus_counted(f->corpus)->found, 0);
    assert_int_equal(files_in(f->folder), 5);
}

static void a_sample_is_even_and_depends_on_the_seed(void **state) {
    fixture *f = *state;
    cupel_recipe *first = NULL, *second = NULL;
    reopen(f);
    for (int64_t n = 1; n <= 40; n++) add(f, n);
    cupel_corpus_save(f->corpus, 100);
    reopen(f);
    assert_int_equal(starts(f, 10, 0, &first), 10);
    assert_int_equal(starts(f, 10, 1, &second), 10);
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 10; k++) assert_int_not_equal(first[i].dims[0], second[k].dims[0]);
    assert_int_equal(starts(f, 0, 1, &second), 0);
}

static void what_is_no_recipe_is_counted_and_left_alone(void **state) {
    fixture *f = *state;
    char name[256], path[512], told[512];
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    cupel_recipe *good = NULL, own = recipe_of(f, 77);
    reopen(f);
    add(f, 7);
    cupel_corpus_save(f->corpus, 1);
    size_t size = cupel_recipe_encode(f->contract, &own, bytes, sizeof bytes);
    write_file(f->folder, "mine.recipe", bytes, size); /* a whole recipe under a user's own name */
    write_file(f->folder, "cut.recipe", bytes, size / 2);
    write_file(f->folder, "0123456789abcdef0123456789abcdef.recipe", bytes, size / 2);
    write_file(f->folder, "README", "notes", 5);
    write_file(f->folder, "text.recipe", "not a recipe", 12);
    write_file(f->folder, "empty.recipe", "", 0);
    snprintf(path, sizeof path, "%s/folder.recipe", f->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/pipe.recipe", f->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/loop.recipe", f->folder);
    assert_int_equal(symlink("loop.recipe", path), 0);
    a_name(f, name);
    int before = files_in(f->folder);
    reopen(f);
    const cupel_corpus_counts *counts = cupel_corpus_counted(f->corpus);
    assert_int_equal(counts->loaded, 2);
    assert_int_equal(counts->skipped[CUPEL_CORPUS_DAMAGED], 1);
    assert_int_equal(counts->skipped[CUPEL_CORPUS_FOREIGN], 4);
    assert_int_equal(counts->skipped[CUPEL_CORPUS_NO_FILE], 3);
    assert_int_equal(starts(f, 100, 1, &good), 2);
    cupel_corpus_note(f->corpus, told, sizeof told);
    assert_non_null(strstr(told, "4 not recipes, 1 damaged, 3 no plain files"));
    assert_null(cupel_corpus_trouble(f->corpus));
    assert_int_equal(files_in(f->folder), before);
}

static void a_changed_contract_repairs_its_recipes(void **state) {
    fixture *f = *state;
    cupel_recipe *again = NULL;
    reopen(f);
    add(f, 4000);
    add(f, 3000);
    cupel_corpus_save(f->corpus, 100);
    char narrower[sizeof text];
    memcpy(narrower, text, sizeof text);
    memcpy(strstr(narrower, "1..4096"), "1..100 ", 7);
    f->contract = fake_contract(f->arena, narrower);
    reopen(f);
    assert_int_equal(starts(f, 100, 1, &again), 1); /* both became the same one */
    assert_in_range(again[0].dims[0], 1, 100);
    assert_int_equal(files_in(f->folder), 2);
}

static void a_full_corpus_drops_what_taught_nothing(void **state) {
    fixture *f = *state;
    cupel_recipe *again = NULL;
    reopen(f);
    for (int64_t n = 1; n <= CUPEL_CORPUS_MAX + 3; n++) add(f, n);
    assert_int_equal(cupel_corpus_counted(f->corpus)->refused, 3);
    /* saving thousands would take long: the few that matter here are tried as another run would */
    cupel_corpus_save(f->corpus, 4);
    assert_int_equal(files_in(f->folder), 4);
    reopen(f);
    assert_int_equal(starts(f, 100, 1, &again), 4);
    int64_t needed = again[1].dims[0];
    add(f, needed);
    for (int64_t n = 10; n < CUPEL_CORPUS_MAX + 10; n++) add(f, n);
    const cupel_corpus_counts *counts = cupel_corpus_counted(f->corpus);
    assert_int_equal(counts->dropped, 3);
    assert_int_equal(counts->refused, 1);
    assert_int_equal(files_in(f->folder), 1);
    reopen(f);
    assert_int_equal(starts(f, 100, 1, &again), 1);
    assert_int_equal(again[0].dims[0], needed);
}

static void what_cannot_be_saved_is_tried_again(void **state) {
    fixture *f = *state;
    char path[256];
    snprintf(path, sizeof path, "%s/corpus", f->base);
    write_file(f->base, "corpus", "in the way", 10);
    reopen(f);
    add(f, 1);
    cupel_corpus_save(f->corpus, 100);
    assert_non_null(strstr(cupel_corpus_trouble(f->corpus), "corpus"));
    assert_int_equal(unlink(path), 0);
    cupel_corpus_save(f->corpus, 100);
    assert_null(cupel_corpus_trouble(f->corpus));
    assert_int_equal(files_in(f->folder), 1);
}

static void leftovers_of_the_dead_are_swept(void **state) {
    fixture *f = *state;
    char own[64];
    reopen(f);
    add(f, 1);
    cupel_corpus_save(f->corpus, 1);
    snprintf(own, sizeof own, ".new-%ld", (long)getppid());
    write_file(f->folder, ".new-2147483646", "half", 4); /* above any pid_max */
    write_file(f->folder, own, "half", 4);
    reopen(f);
    assert_int_equal(files_in(f->folder), 2);
    assert_int_equal(cupel_corpus_counted(f->corpus)->skipped[CUPEL_CORPUS_FOREIGN], 0);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(recipes_are_kept_once_and_come_back),
        WITH_FIXTURE(a_sample_is_even_and_depends_on_the_seed),
        WITH_FIXTURE(what_is_no_recipe_is_counted_and_left_alone),
        WITH_FIXTURE(a_changed_contract_repairs_its_recipes),
        WITH_FIXTURE(a_full_corpus_drops_what_taught_nothing),
        WITH_FIXTURE(what_cannot_be_saved_is_tried_again),
        WITH_FIXTURE(leftovers_of_the_dead_are_swept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
