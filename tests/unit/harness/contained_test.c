/* Where an executor catches all that a candidate does (the emulator), the death of the process is a defect of
 * ours: an error, never a finding. The host executor stands in, said to be such a one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "host_fixture.h"

static const cupel_executor_backend *contained(const cupel_executor_backend *backend) {
    static cupel_executor_backend copy;
    copy = *backend;
    copy.contains_faults = true;
    return &copy;
}

const cupel_executor_backend *__wrap_cupel_executor_find(const char *name);
const cupel_executor_backend *__wrap_cupel_executor_default(const cupel_contract *contract);

const cupel_executor_backend *__wrap_cupel_executor_find(const char *name) {
    (void)name;
    return contained(cupel_executor_host());
}

const cupel_executor_backend *__wrap_cupel_executor_default(const cupel_contract *contract) {
    (void)contract;
    return contained(cupel_executor_host());
}

static void deaths_accuse_nobody(void **state) {
    (void)state;
    static const char *const deaths[] = {"leaves_at_once", "kills_itself", "eats"};
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        host_fixture f;
        host_fixture_start(&f, deaths[i], "");
        host_fixture_open(&f, 20, 200 << 20);
        static cupel_trial trial;
        cupel_error err = {0};
        cupel_recipe recipe = host_fixture_recipe(&f, 33);
        assert_int_equal(cupel_supervisor_try(f.supervisor, &recipe, true, f.arena, &trial, &err),
                         CUPEL_WORKER);
        assert_non_null(strstr(err.text, "says nothing of the kernel"));
        host_fixture_stop(&f);
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--worker")) return cupel_worker_main(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(deaths_accuse_nobody)};
    return cmocka_run_group_tests_name("contained", tests, NULL, NULL);
}
