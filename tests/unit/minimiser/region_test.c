/* The words for where a defect shows: laws of one dim, and sentences that no shape tried contradicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "region.h"
#include "region_law.h"

static const char text[] = "cupel: 1\n"
                           "id: fake\n"
                           "source: {file: fake.cu}\n"
                           "dims: {M: 1..512, N: 1..65536}\n"
                           "inputs: {x: 'f32[M, N]'}\n"
                           "outputs: {y: 'f32[M, N]', z: 'f32[M, N]'}\n"
                           "ensures: {y: 'x', z: 'x'}\n"
                           "kernel: {entry: fake, args: [x, y, z, M, N], grid: [M], block: [32]}\n";

/* ---- laws ---- */

static void check_law(int64_t first, int count, int claimed, bool (*fails)(int64_t n), const char *expected) {
    cupel_region_outcome table[400];
    cupel_law law;
    char words[256];
    for (int i = 0; i < count; i++)
        table[i] = (first + i) % claimed ? CUPEL_REGION_UNKNOWN
                   : fails(first + i)    ? CUPEL_REGION_FAILS
                                         : CUPEL_REGION_HOLDS;
    cupel_law_fit(1, first, table, count, &law);
    cupel_law_write(&law, "N", words, sizeof words);
    assert_string_equal(words, expected);
    for (int i = 0; i < count; i++) {
        cupel_region_outcome said = cupel_law_predict(&law, first + i);
        assert_true(said == table[i] || said == CUPEL_REGION_UNKNOWN || table[i] == CUPEL_REGION_UNKNOWN);
    }
}

static bool n_any(int64_t n) {
    return n > 0;
}
static bool n_odd_tail(int64_t n) {
    return n % 4 != 0;
}
static bool n_rare(int64_t n) {
    return n % 97 == 7;
}
static bool n_eight(int64_t n) {
    return n % 8 == 0;
}
static bool n_single(int64_t n) {
    return n == 33;
}
static bool n_two(int64_t n) {
    return n % 8 == 3 || n % 8 == 5;
}
static bool n_most(int64_t n) {
    return n % 16 != 3 && n % 16 != 5;
}
static bool n_scattered(int64_t n) {
    return n == 5 || n == 6 || n == 19;
}
static bool n_up_to(int64_t n) {
    return n <= 31;
}

static void laws_are_put_into_words(void **state) {
    (void)state;
    check_law(1, 40, 1, n_any, "");
    check_law(7, 40, 1, n_any, "N >= 7");
    check_law(1, 40, 1, n_odd_tail, "N % 4 != 0"); /* and not "N >= 1" */
    check_law(5, 40, 1, n_odd_tail, "N % 4 != 0 and N >= 5");
    check_law(7, 244, 1, n_rare, "N % 97 == 7");
    check_law(201, 244, 1, n_rare, "N % 97 == 7 and N >= 201");
    check_law(33, 320, 1, n_single, "N == 33");
    check_law(3, 40, 1, n_two, "N % 8 in {3, 5}");
    check_law(1, 40, 1, n_most, "N % 16 not in {3, 5}");
    check_law(8, 40, 4, n_any, "N >= 8");
    check_law(8, 80, 4, n_eight, "N % 8 == 0");
    check_law(5, 40, 1, n_scattered, "N = 5, 6, 19");
    check_law(1, 66, 1, n_up_to, "N <= 31");
    check_law(4, 66, 1, n_up_to, "4 <= N <= 31");
}

/* ---- sentences against every shape that was tried ---- */

enum { SEEN_MAX = 4000 };

typedef struct seen {
    int64_t m, n;
    cupel_pattern pattern;
    bool fails;
} seen;

static struct {
    bool (*fails)(int64_t m, int64_t n, const cupel_recipe *r);
    int64_t m, n; /* the minimal shape */
    cupel_pattern pattern;
    int count;
    seen all[SEEN_MAX];
} world;

static bool fails_here(const cupel_contract *contract, const cupel_recipe *r) {
    int64_t m = fake_dim(contract, r, "M"), n = fake_dim(contract, r, "N");
    bool fails = world.fails(m, n, r);
    assert_true(world.count < SEEN_MAX);
    world.all[world.count++] = (seen){m, n, r->tensors[0].pattern, fails};
    return fails;
}

static void sweep(bool (*fails)(int64_t m, int64_t n, const cupel_recipe *r), int64_t m, int64_t n,
                  cupel_pattern pattern, bool smaller_tried, int tries, char *out, size_t size) {
    cupel_arena *arena = cupel_arena_create(0);
    fake_kernel kernel = {
        .contract = fake_contract(arena, text), .fails = fails_here, .kind = CUPEL_FINDING_WRONG_VALUE};
    cupel_predicate predicate = fake_predicate(&kernel);
    char signature[160];
    cupel_recipe recipe;
    cupel_shrink shrink;
    world.fails = fails;
    world.m = m;
    world.n = n;
    world.pattern = pattern;
    world.count = 0;
    assert_int_equal(cupel_recipe_simple(kernel.contract, &recipe, NULL), CUPEL_OK);
    recipe.dims[cupel_contract_dim(kernel.contract, "M")] = m;
    recipe.dims[cupel_contract_dim(kernel.contract, "N")] = n;
    recipe.tensors[0].pattern = pattern;
    recipe.tensors[0].seed = 1;
    assert_int_equal(cupel_recipe_repair(kernel.contract, &recipe, INT64_C(1) << 40, NULL), CUPEL_OK);
    fake_signature(&kernel, signature, sizeof signature);
    assert_int_equal(cupel_shrink_open(&shrink, kernel.contract, signature, &predicate, &recipe, NULL),
                     CUPEL_OK);
    shrink.max_tries = tries;
    shrink.deadline = cupel_shrink_now() + 60;
    cupel_region_sweep(&shrink, smaller_tried, out, size);
    assert_true(shrink.tries <= tries);
    cupel_shrink_close(&shrink);
    cupel_arena_free(arena);
}

/* One condition: "N % 97 == 7", "N <= 31", "4 <= N <= 31", "N % 8 in {3, 5}". */
static bool condition_holds(const char *c, int64_t m, int64_t n) {
    long long a, b;
    char dim;
    int end = 0;
    if (sscanf(c, "%lld <= %c <= %lld%n", &a, &dim, &b, &end) == 3 && end)
        return (dim == 'M' ? m : n) >= a && (dim == 'M' ? m : n) <= b;
    int64_t v = c[0] == 'M' ? m : n;
    if (sscanf(c, "%c %% %lld == %lld", &dim, &a, &b) == 3) return v % a == b;
    if (sscanf(c, "%c %% %lld != %lld", &dim, &a, &b) == 3) return v % a != b;
    if (sscanf(c, "%c >= %lld", &dim, &a) == 2) return v >= a;
    if (sscanf(c, "%c <= %lld", &dim, &a) == 2) return v <= a;
    if (sscanf(c, "%c == %lld", &dim, &a) == 2) return v == a;
    bool in = false;
    assert_int_equal(sscanf(c, "%c %% %lld", &dim, &a), 2);
    const char *set = strchr(c, '{');
    assert_non_null(set);
    for (; set && *set != '}'; set = strpbrk(set + 1, ",}")) in = in || v % a == strtoll(set + 1, NULL, 10);
    return strstr(c, "not in") ? !in : in;
}

static bool conditions_hold(const char *from, const char *to, int64_t m, int64_t n) {
    char copy[512];
    bool all = true;
    snprintf(copy, sizeof copy, "%.*s", (int)(to - from), from);
    const char *but = strstr(copy, ", but not ");
    long long except;
    if (but && sscanf(but, ", but not N = %lld", &except) == 1 && n == except) return false;
    if (but) copy[but - copy] = '\0';
    for (char *c = copy, *next; c; c = next) {
        next = strstr(c, " and ");
        if (next) *next = '\0', next += 5;
        all = all && condition_holds(c, m, n);
    }
    return all;
}

/* Is the shape one of which the sentence speaks? */
static bool is_meant(const char *words, const seen *s) {
    long long value;
    const char *at = strstr(words, "at M = ");
    if (at && at < strstr(words, "fails") && sscanf(at, "at M = %lld", &value) == 1 && s->m != value)
        return false;
    at = strstr(words, "at N = ");
    if (at && at < strstr(words, "fails") && sscanf(at, "at N = %lld", &value) == 1 && s->n != value)
        return false;
    at = strstr(words, "N <= ");
    if (at && at < strstr(words, "fails") && sscanf(at, "N <= %lld", &value) == 1 && s->n > value)
        return false;
    if (strstr(words, "with values drawn at random")) return s->pattern == CUPEL_PATTERN_NORMAL;
    return !strstr(words, "with values like these") || s->pattern == world.pattern;
}

static bool shape_fails(const char *words, const seen *s) {
    for (int i = 0; i < world.count; i++)
        if (world.all[i].m == s->m && world.all[i].n == s->n && world.all[i].fails &&
            is_meant(words, &world.all[i]))
            return true;
    return false;
}

static void is_never_false(const char *words) {
    const char *when = strstr(words, " when "), *end = strpbrk(words, ";(");
    bool everywhere = strstr(words, "fails at every shape tried"), any = strstr(words, "any values");
    if (!everywhere && (!when || strstr(words, ", .."))) return; /* claims no rule */
    assert_false(any && !strstr(words, "only") && !everywhere);
    for (int i = 0; i < world.count; i++) {
        const seen *s = &world.all[i];
        if (!is_meant(words, s)) continue;
        bool said = everywhere || conditions_hold(when + 6, end, s->m, s->n);
        bool fails = any ? s->fails : shape_fails(words, s);
        if (said != fails)
            fail_msg("\"%s\" is false at M = %lld N = %lld", words, (long long)s->m, (long long)s->n);
    }
}

static bool rare(int64_t m, int64_t n, const cupel_recipe *r) {
    (void)m, (void)r;
    return n % 97 == 7 && n > 200;
}
static bool two_dims(int64_t m, int64_t n, const cupel_recipe *r) {
    (void)r;
    return n % 61 == 5 && m > 3;
}
static bool short_rows(int64_t m, int64_t n, const cupel_recipe *r) {
    (void)m, (void)r;
    return n <= 31;
}
static bool corner(int64_t m, int64_t n, const cupel_recipe *r) {
    (void)r;
    return m % 32 == 31 && n % 32 == 31;
}
static bool long_rows(int64_t m, int64_t n, const cupel_recipe *r) {
    (void)m, (void)r;
    return n >= 50001;
}
static bool product(int64_t m, int64_t n, const cupel_recipe *r) {
    (void)r;
    return m * n % 64 == 7;
}
static bool everywhere(int64_t m, int64_t n, const cupel_recipe *r) {
    (void)m, (void)n, (void)r;
    return true;
}
static bool tile(int64_t m, int64_t n, const cupel_recipe *r) {
    (void)m, (void)r;
    return n % 128 != 0;
}
/* the defect shows where neighbours differ: not for zeros and constants, and one draw in nine hides it */
static bool corner_of_differing(int64_t m, int64_t n, const cupel_recipe *r) {
    cupel_pattern p = r->tensors[0].pattern;
    uint32_t seed = r->tensors[0].seed;
    if (p <= CUPEL_PATTERN_CONSTANT) return false;
    return corner(m, n, r) && (p != CUPEL_PATTERN_INTEGERS || (seed * 7 + (uint32_t)(m + n)) % 9 != 0);
}
static bool constants_only(int64_t m, int64_t n, const cupel_recipe *r) {
    (void)m, (void)n;
    return r->tensors[0].pattern <= CUPEL_PATTERN_CONSTANT;
}
static bool not_zeros(int64_t m, int64_t n, const cupel_recipe *r) {
    (void)m;
    return n >= 9 && r->tensors[0].pattern != CUPEL_PATTERN_ZERO;
}
/* as in a long sum, where one term more makes too little difference */
static bool tile_of_short_rows(int64_t m, int64_t n, const cupel_recipe *r) {
    return tile(m, n, r) && n < 700;
}
static bool one_in_512(int64_t m, int64_t n, const cupel_recipe *r) {
    uint64_t h = cupel_philox((uint64_t)(m * 70000 + n), r->tensors[0].seed, (uint64_t)r->tensors[0].pattern);
    return h % 512 == 0 || (m == 3 && n == 40 && r->tensors[0].seed <= 1);
}

static void sentences_are_true(void **state) {
    (void)state;
    static const struct {
        bool (*fails)(int64_t m, int64_t n, const cupel_recipe *r);
        int64_t m, n;
        cupel_pattern pattern;
        const char *words; /* part of the sentence */
    } table[] = {
        {rare, 1, 201, CUPEL_PATTERN_ZERO, "fails only when N % 97 == 7 and N >= 201; any values"},
        {two_dims, 4, 5, CUPEL_PATTERN_ZERO, "fails only when N % 61 == 5 and M >= 4; any values"},
        {short_rows, 1, 1, CUPEL_PATTERN_ZERO, "fails only when N <= 31; any values"},
        {corner, 31, 31, CUPEL_PATTERN_ZERO, "fails only when M % 32 == 31 and N % 32 == 31; any values"},
        {long_rows, 1, 50001, CUPEL_PATTERN_ZERO, "fails only when N >= 50001; any values"},
        {product, 1, 7, CUPEL_PATTERN_ZERO, ""},
        {everywhere, 1, 1, CUPEL_PATTERN_ZERO, "fails at every shape tried; any values"},
        {tile, 1, 1, CUPEL_PATTERN_ZERO, "fails only when N % 128 != 0; any values"},
        {corner_of_differing, 31, 31, CUPEL_PATTERN_INTEGERS, "fails when M % 32 == 31 and N % 32 == 31 ("},
        {corner_of_differing, 31, 31, CUPEL_PATTERN_NORMAL,
         "with values like these fails when M % 32 == 31 and N % 32 == 31 ("},
        {constants_only, 1, 1, CUPEL_PATTERN_ONE, "with values like these fails at every shape tried"},
        {not_zeros, 1, 9, CUPEL_PATTERN_ONE, "with values like these fails when N >= 9 ("},
        {tile_of_short_rows, 1, 1, CUPEL_PATTERN_ZERO,
         "at N <= 258 fails only when N % 128 != 0; any values ("},
        {one_in_512, 3, 40, CUPEL_PATTERN_NORMAL, "depends on the values"},
        {one_in_512, 3, 40, CUPEL_PATTERN_ONE, ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        for (int tries = 1600; tries > 30; tries /= 2) {
            char words[512];
            sweep(table[i].fails, table[i].m, table[i].n, table[i].pattern, false, tries, words,
                  sizeof words);
            is_never_false(words);
            if (tries == 1600 && !strstr(words, table[i].words))
                fail_msg("\"%s\", expected \"%s\"", words, table[i].words);
        }
    }
}

/* ---- what the claim rests on is told ---- */

static void passing_values_are_among_the_tried_ones(void **state) {
    (void)state;
    char words[512];
    sweep(long_rows, 1, 50001, CUPEL_PATTERN_ZERO, false, 1600, words, sizeof words);
    bool lower = false;
    for (int i = 0; i < world.count; i++) lower = lower || world.all[i].n == 50000;
    assert_true(lower);
    if (!strstr(words, "N = 50001 .. 50040, 11 smaller and 8 larger ones")) fail_msg("%s", words);
}

static void a_smaller_value_that_fails_ends_the_rule(void **state) {
    (void)state;
    char words[512];
    sweep(rare, 1, 298, CUPEL_PATTERN_ZERO, false, 1600, words, sizeof words); /* 201 fails too */
    is_never_false(words);
    assert_null(strstr(words, "only"));
    if (!strstr(words, "at M = 1 fails at N = 298, 395, 492, ..")) fail_msg("%s", words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_are_put_into_words),
        cmocka_unit_test(sentences_are_true),
        cmocka_unit_test(passing_values_are_among_the_tried_ones),
        cmocka_unit_test(a_smaller_value_that_fails_ends_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
