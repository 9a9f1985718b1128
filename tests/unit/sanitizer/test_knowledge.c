#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu_knowledge.h"

static const cupel_emu_knowledge *of(int count, const cupel_emu_fact *facts) {
    cupel_emu_fact copy[64];
    memcpy(copy, facts, (size_t)count * sizeof *facts);
    const cupel_emu_knowledge *k = cupel_emu_knowledge_of(copy, (uint32_t)count);
    assert_non_null(k);
    return k;
}

static void test_facts(void **state) {
    (void)state;
    const cupel_emu_knowledge *k =
        of(3, (const cupel_emu_fact[]){{7, 3, 2, 9}, {7, CUPEL_EMU_WHOLE, 2, 0}, {4, 1, 0, 5}});
    assert_true(cupel_emu_knowledge_has(k, 7, 20, 1, 1000)); /* an earlier phase of the block */
    assert_false(cupel_emu_knowledge_has(k, 7, 20, 2, 1));
    assert_true(cupel_emu_knowledge_has(k, 7, 3, 2, 9));
    assert_false(cupel_emu_knowledge_has(k, 7, 3, 2, 10));
    assert_true(cupel_emu_knowledge_has(k, 4, 1, 0, 4));
    assert_false(cupel_emu_knowledge_has(k, 4, 2, 0, 4));
    assert_false(cupel_emu_knowledge_has(k, 5, 1, 0, 1));
    assert_false(cupel_emu_knowledge_has(NULL, 5, 1, 0, 1));
    cupel_emu_knowledge_forget();
}

/* A join knows what either knows, and nothing else; nothing is made where one suffices. Clocks go on from
 * phase to phase, here by two. */
static void test_joins(void **state) {
    (void)state;
    uint32_t random = 1;
    for (int turn = 0; turn < 2000; turn++) {
        cupel_emu_fact facts[2][8];
        const cupel_emu_knowledge *k[2];
        for (int s = 0; s < 2; s++) {
            uint32_t count = 0;
            for (uint32_t block = 1; block <= 2; block++)
                for (uint32_t thread = 0; thread <= 3; thread++) {
                    random = random * 1664525u + 1013904223u;
                    if (random >> 30 != 0)
                        facts[s][count++] =
                            (cupel_emu_fact){block, thread, random >> 20 & 3,
                                             thread ? 2 * (random >> 20 & 3) + (random >> 10 & 1) : 0};
                }
            k[s] = cupel_emu_knowledge_of(facts[s], count);
        }
        const cupel_emu_knowledge *both = cupel_emu_knowledge_join(k[0], k[1]);
        for (uint32_t block = 1; block <= 2; block++)
            for (uint32_t thread = 1; thread <= 3; thread++)
                for (uint32_t phase = 0; phase < 4; phase++)
                    for (uint32_t clock = 2 * phase; clock < 2 * phase + 2; clock++) {
                        const bool either = cupel_emu_knowledge_has(k[0], block, thread, phase, clock) ||
                                            cupel_emu_knowledge_has(k[1], block, thread, phase, clock);
                        const bool has = cupel_emu_knowledge_has(both, block, thread, phase, clock);
                        assert_int_equal(has, either);
                    }
        assert_ptr_equal(cupel_emu_knowledge_join(both, k[0]), both);
        assert_ptr_equal(cupel_emu_knowledge_join(k[1], both), both);
    }
    assert_false(cupel_emu_knowledge_lost());
    cupel_emu_knowledge_forget();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_facts), cmocka_unit_test(test_joins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
