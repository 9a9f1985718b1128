/* Enclosures of scalar expressions: on random trees and random intervals no value that evaluation gives lies
 * outside; on plain expressions the ends are the true ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "philox.h"
#include "scalar_range.h"

enum { NAMES = 3, TREES = 6000, POINTS = 40 };

static const char *const names[NAMES] = {"a", "b", "c"};

typedef struct place {
    int64_t lo[NAMES], hi[NAMES], at[NAMES];
} place;

static int index_of(const char *name) {
    for (int i = 0; i < NAMES; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static bool value_of(const void *self, const char *name, cupel_scalar *out) {
    int i = index_of(name);
    if (i >= 0) *out = (cupel_scalar){.i = ((const place *)self)->at[i]};
    return i >= 0;
}

static bool range_of(const void *self, const char *name, cupel_scalar_range *out) {
    int i = index_of(name);
    if (i >= 0)
        *out = (cupel_scalar_range){.lo = ((const place *)self)->lo[i], .hi = ((const place *)self)->hi[i]};
    return i >= 0;
}

static cupel_scalar_expr *parse(cupel_arena *arena, const char *text) {
    cupel_scalar_expr *expr;
    cupel_error err = {0};
    cupel_span span = {.text = text, .length = strlen(text), .file = "t", .line = 1, .column = 1};
    if (cupel_scalar_parse(span, arena, &expr, &err) != CUPEL_OK) fail_msg("%s: %s", text, err.text);
    return expr;
}

/* ---- random trees ---- */

static int64_t draw_value(cupel_random *random) {
    static const int64_t special[] = {0,  1,  -1,      2,         3,         31,
                                      32, 64, 1 << 16, INT64_MAX, INT64_MIN, INT64_C(1) << 40};
    uint64_t kind = cupel_random_below(random, 4);
    if (kind == 0) return special[cupel_random_below(random, sizeof special / sizeof *special)];
    if (kind == 1) return (int64_t)cupel_random_u64(random);
    return (int64_t)cupel_random_below(random, 300) - 20;
}

static void draw_tree(cupel_random *random, int depth, char *text, size_t size) {
    static const char *const binary[] = {"+",  "-", "*",  "/", "%",  "&",  "|",  "^",   "<<", ">>",
                                         "**", "<", "<=", ">", ">=", "==", "!=", "and", "or"};
    static const char *const functions[] = {"ceil_div", "floor_div", "min", "max"};
    char left[900], right[900];
    uint64_t kind = cupel_random_below(random, depth <= 0 ? 2 : 8);
    if (kind == 0) {
        snprintf(text, size, "%s", names[cupel_random_below(random, NAMES)]);
    } else if (kind == 1) {
        snprintf(text, size, "%d", (int)cupel_random_below(random, 70));
    } else {
        draw_tree(random, depth - 1, left, sizeof left);
        draw_tree(random, depth - 1, right, sizeof right);
        if (kind == 2)
            snprintf(text, size, "(%s %s)", cupel_random_below(random, 3) ? "-" : "not", left);
        else if (kind == 3)
            snprintf(text, size, "next_pow2(%s)", left);
        else if (kind == 4)
            snprintf(text, size, "%s(%s, %s)", functions[cupel_random_below(random, 4)], left, right);
        else
            snprintf(text, size, "(%s %s %s)", left,
                     binary[cupel_random_below(random, sizeof binary / sizeof *binary)], right);
    }
}

static void draw_place(cupel_random *random, place *p) {
    for (int i = 0; i < NAMES; i++) {
        int64_t x = draw_value(random), y = draw_value(random);
        p->lo[i] = x < y ? x : y;
        p->hi[i] = cupel_random_below(random, 5) ? (x < y ? y : x) : p->lo[i];
    }
}

static void draw_point(cupel_random *random, place *p) {
    for (int i = 0; i < NAMES; i++) {
        uint64_t span = (uint64_t)p->hi[i] - (uint64_t)p->lo[i], kind = cupel_random_below(random, 4);
        uint64_t offset = kind == 0   ? 0
                          : kind == 1 ? span
                          : span + 1  ? cupel_random_below(random, span + 1)
                                      : 7;
        p->at[i] = (int64_t)((uint64_t)p->lo[i] + offset);
    }
}

static void test_encloses_every_value(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(7, 1);
    cupel_arena *arena = cupel_arena_create(0);
    int values = 0, bounded = 0;
    for (int tree = 0; tree < TREES; tree++) {
        char text[2000];
        place p;
        cupel_arena_reset(arena);
        draw_tree(&random, (int)cupel_random_below(&random, 4), text, sizeof text);
        cupel_scalar_expr *expr = parse(arena, text);
        draw_place(&random, &p);
        cupel_scalar_range_env ranges = {.self = &p, .name = range_of};
        cupel_scalar_env env = {.self = &p, .name = value_of};
        cupel_scalar_range range = cupel_scalar_range_of(expr, &ranges);
        bounded += !range.none && !range.real && (range.lo > INT64_MIN || range.hi < INT64_MAX);
        for (int i = 0; i < POINTS; i++) {
            cupel_scalar value;
            draw_point(&random, &p);
            if (cupel_scalar_eval(expr, &env, &value, NULL) != CUPEL_OK) continue;
            values++;
            if (range.none || (value.real && !range.real) ||
                (!range.real && (value.i < range.lo || value.i > range.hi)))
                fail_msg("%s at %lld %lld %lld is %lld, outside %lld..%lld", text, (long long)p.at[0],
                         (long long)p.at[1], (long long)p.at[2], (long long)value.i, (long long)range.lo,
                         (long long)range.hi);
            if (value.i != 0 || value.real) assert_true(cupel_scalar_range_may_hold(range));
            if (value.i == 0 && !value.real) assert_true(cupel_scalar_range_may_fail(range));
        }
    }
    assert_true(values > TREES * POINTS / 3);
    assert_true(bounded > TREES / 2);
    cupel_arena_free(arena);
}

/* ---- exact ends ---- */

static void expect(const char *text, const place *p, int64_t lo, int64_t hi) {
    cupel_arena *arena = cupel_arena_create(0);
    cupel_scalar_range_env env = {.self = p, .name = range_of};
    cupel_scalar_range range = cupel_scalar_range_of(parse(arena, text), &env);
    if (range.none || range.real || range.lo != lo || range.hi != hi)
        fail_msg("%s: %lld..%lld, expected %lld..%lld", text, (long long)range.lo, (long long)range.hi,
                 (long long)lo, (long long)hi);
    cupel_arena_free(arena);
}

static void test_ends(void **state) {
    (void)state;
    place p = {.lo = {1, 0, 64}, .hi = {100000, 4096, 64}};
    expect("ceil_div(a, 256)", &p, 1, 391);
    expect("min(a, 65535)", &p, 1, 65535);
    expect("max(b, 1)", &p, 1, 4096);
    expect("a * b", &p, 0, 409600000);
    expect("next_pow2(a)", &p, 1, 131072);
    expect("a / 32 - b", &p, -4096, 3125);
    expect("c % 48", &p, 16, 16);
    expect("a % 48", &p, 0, 47);
    expect("1 << b / 512", &p, 1, 256);
    expect("b == 0 or a / b > 2", &p, 0, 1);
    expect("not b < 5000", &p, 0, 0);
}

static void test_hints(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    place p = {.lo = {1, 1, 0}, .hi = {65535, 65535, 0}};
    cupel_scalar_hint hint = {parse(arena, "(a*b)"), INT64_MIN, 65535};
    cupel_scalar_range_env env = {.self = &p, .name = range_of, .hint_count = 1, .hints = &hint};
    cupel_scalar_range range = cupel_scalar_range_of(parse(arena, "a * b + 1"), &env);
    assert_int_equal(range.hi, 65536);
    range = cupel_scalar_range_of(parse(arena, "b * a"), &env);
    assert_int_equal(range.hi, INT64_C(65535) * 65535); /* another expression */
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_encloses_every_value),
                                       cmocka_unit_test(test_ends), cmocka_unit_test(test_hints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
