/* What the value patterns and special values are made of, type by type; and that elements keep their values
 * when dims shrink. */
#include <math.h>
#include <string.h>

#include "pattern.h"
#include "recipe_fixtures.h"

static cupel_arena *arena;
static int open_arena(void **state) {
    (void)state;
    arena = cupel_arena_create(0);
    return arena == NULL;
}
static int close_arena(void **state) {
    (void)state;
    cupel_arena_free(arena);
    return 0;
}

/* A case of the strided contract (f32, f64, f16, bf16) with this pattern in x, of shape [A, B, C]. */
static cupel_case *patterned(cupel_pattern pattern, int type, double amplitude, double centre, uint32_t seed,
                             int64_t a, int64_t b, int64_t c) {
    const cupel_contract *contract = fixture(FIXTURE_STRIDED);
    cupel_recipe recipe = simple(contract);
    recipe.types[0] = (uint8_t)type;
    set_dim(contract, &recipe, "A", a), set_dim(contract, &recipe, "B", b),
        set_dim(contract, &recipe, "C", c);
    for (int t = 0; t < 3; t++) {
        recipe.tensors[t].pattern = pattern;
        recipe.tensors[t].amplitude = amplitude, recipe.tensors[t].centre = centre;
        recipe.tensors[t].seed = seed;
    }
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    return materialised(contract, &recipe, arena);
}

static const char *const type_names[4] = {"f32", "f64", "f16", "bf16"};

static void test_normal_quantile(void **state) {
    (void)state;
    for (int i = 1; i < 4000; i++) {
        uint64_t word = (uint64_t)i * (UINT64_MAX / 4000);
        double p = ((double)(word >> 12) + 0.5) * 0x1p-52, x = cupel_normal_from(word);
        double back = 0.5 * erfc(-x / sqrt(2));
        /* a relative error e of x changes p by about e * (1 + x^2) of itself in the tails */
        assert_true(fabs(back - p) <= 1.2e-9 * (2 + x * x) * fmin(p, 1 - p) + 1e-15);
    }
    assert_true(cupel_normal_from(0) < -8 && cupel_normal_from(0) > -8.4);
    assert_true(cupel_normal_from(UINT64_MAX) > 8 && cupel_normal_from(UINT64_MAX) < 8.4);
}

static void test_moments(void **state) {
    (void)state;
    cupel_case *c = patterned(CUPEL_PATTERN_NORMAL, 1, 3, 10, 5, 40, 20, 20);
    double sum = 0, square = 0, n = (double)c->tensors[0].count;
    for (int64_t i = 0; i < c->tensors[0].count; i++)
        sum += value_at(c, 0, i), square += pow(value_at(c, 0, i) - 10, 2);
    assert_true(fabs(sum / n - 10) < 0.1 && fabs(square / n - 9) < 0.5);
    c = patterned(CUPEL_PATTERN_UNIFORM, 1, 3, 10, 5, 40, 20, 20);
    sum = square = 0;
    for (int64_t i = 0; i < c->tensors[0].count; i++) {
        double v = value_at(c, 0, i);
        assert_true(v >= 7 && v < 13);
        sum += v, square += (v - 10) * (v - 10);
    }
    assert_true(fabs(sum / n - 10) < 0.1 && fabs(square / n - 3) < 0.2);
}

static void test_simple_patterns(void **state) {
    (void)state;
    for (int type = 0; type < 4; type++) {
        cupel_case *c = patterned(CUPEL_PATTERN_ZERO, type, 0, 0, 0, 3, 4, 5);
        for (int64_t i = 0; i < 60; i++) assert_true(value_at(c, 0, i) == 0 && !signbit(value_at(c, 0, i)));
        c = patterned(CUPEL_PATTERN_ONE, type, 0, 0, 0, 3, 4, 5);
        for (int64_t i = 0; i < 60; i++) assert_true(value_at(c, 0, i) == 1);
        c = patterned(CUPEL_PATTERN_CONSTANT, type, -2.5, 0, 0, 3, 4, 5);
        for (int64_t i = 0; i < 60; i++) assert_true(value_at(c, 0, i) == -2.5);
        c = patterned(CUPEL_PATTERN_INDEX, type, 0, 0, 0, 3, 4, 5);
        for (int64_t i = 0; i < 60; i++)
            assert_true(value_at(c, 0, i) == (double)((i % 5 + i / 5 % 4 * 53 + i / 20 * 101) % 251));
    }
}

static void test_no_negative_zero_by_underflow(void **state) {
    (void)state;
    cupel_case *c =
        patterned(CUPEL_PATTERN_NORMAL, 2, 1e-7, 0, 8, 10, 10, 10); /* f16: half of them round to 0 */
    int zeros = 0;
    for (int64_t i = 0; i < 1000; i++) {
        double v = value_at(c, 0, i);
        assert_false(v == 0 && signbit(v));
        zeros += v == 0;
    }
    assert_true(zeros > 100);
}

static void test_integers_are_exact_and_small(void **state) {
    (void)state;
    for (int type = 0; type < 4; type++) {
        cupel_case *c = patterned(CUPEL_PATTERN_INTEGERS, type, 4, 0, 8, 10, 10, 10);
        bool seen[9] = {false};
        for (int64_t i = 0; i < 1000; i++) {
            double v = value_at(c, 0, i);
            assert_true(v == rint(v) && fabs(v) <= 4 && !(v == 0 && signbit(v)));
            seen[(int)v + 4] = true;
        }
        for (int i = 0; i < 9; i++) assert_true(seen[i]);
        for (int64_t i = 0; i < c->tensors[2].count; i++) assert_true(fabs(value_at(c, 2, i)) <= 4); /* i32 */
    }
}

/* Exponents of the format: every octile of the range is hit, subnormals and infinities never. */
static void test_log_uniform_covers_the_exponents(void **state) {
    (void)state;
    for (int type = 0; type < 4; type++) {
        cupel_case *c = patterned(CUPEL_PATTERN_LOG_UNIFORM, type, 1, 0, 8, 40, 10, 10);
        const cupel_format *format = cupel_format_of(c->tensors[0].type);
        int bins[8] = {0}, negative = 0;
        for (int64_t i = 0; i < 4000; i++) {
            double v = value_at(c, 0, i);
            int exponent = ilogb(v);
            assert_true(isfinite(v) && exponent >= format->emin && exponent <= format->emax);
            bins[(exponent - format->emin) * 8 / (format->emax - format->emin + 1)]++;
            negative += v < 0;
        }
        for (int i = 0; i < 8; i++)
            if (bins[i] < 200) fail_msg("%s: octile %d has %d", type_names[type], i, bins[i]);
        assert_true(negative > 1800 && negative < 2200);
    }
}

static void test_subnormals_are_subnormal(void **state) {
    (void)state;
    for (int type = 0; type < 4; type++) {
        cupel_case *c = patterned(CUPEL_PATTERN_SUBNORMALS, type, 0, 0, 8, 10, 10, 10);
        double least = cupel_format_normal(c->tensors[0].type),
               smallest = cupel_format_smallest(c->tensors[0].type);
        int below = 0, tiny = 0;
        for (int64_t i = 0; i < 1000; i++) {
            double v = fabs(value_at(c, 0, i));
            assert_true(v > 0 && v < 2 * least);
            below += v < least, tiny += v <= 4 * smallest;
        }
        assert_true(below > 800 && below < 950 && tiny > 20);
    }
}

static void test_near_overflow(void **state) {
    (void)state;
    for (int type = 0; type < 4; type++)
        for (uint32_t seed = 4; seed < 8; seed++) {
            cupel_case *c = patterned(CUPEL_PATTERN_NEAR_OVERFLOW, type, 0, 0, seed, 10, 10, 10);
            double edge = cupel_format_largest(seed & 2 ? CUPEL_F16 : c->tensors[0].type);
            if (seed % 2 == 0) edge = sqrt(edge);
            for (int64_t i = 0; i < 1000; i++) {
                double v = fabs(value_at(c, 0, i));
                assert_true(isfinite(v) && v <= edge * 1.01 && v >= edge * 0.93);
            }
        }
}

static void test_cancellation(void **state) {
    (void)state;
    for (int type = 0; type < 4; type++) {
        cupel_case *c = patterned(CUPEL_PATTERN_CANCELLATION, type, 1, 0, 9, 10, 10, 10);
        double rests = 0, sizes = 0;
        for (int64_t i = 0; i < 1000; i += 2)
            rests += fabs(value_at(c, 0, i) + value_at(c, 0, i + 1)), sizes += fabs(value_at(c, 0, i));
        assert_true(rests > 0 && rests < sizes / 8);
        c = patterned(CUPEL_PATTERN_CANCELLATION, type, 0.25, 1000, 9, 10, 4, 25);
        for (int64_t row = 0; row < 40; row++) {
            double mean = 0, spread = 0;
            for (int64_t j = 0; j < 25; j++) mean += value_at(c, 0, row * 25 + j) / 25;
            for (int64_t j = 0; j < 25; j++) spread = fmax(spread, fabs(value_at(c, 0, row * 25 + j) - mean));
            double step = cupel_format_ulp(c->tensors[0].type, mean);
            assert_true(mean > 990 && mean < 2000 && spread < 1.5 + step);
        }
    }
}

static void test_one_large_per_row(void **state) {
    (void)state;
    for (int type = 0; type < 4; type++) {
        cupel_case *c = patterned(CUPEL_PATTERN_ONE_LARGE, type, 1, 0, 9, 5, 8, 25);
        int64_t places = 0;
        for (int64_t row = 0; row < 40; row++) {
            int large = 0;
            for (int64_t j = 0; j < 25; j++)
                if (fabs(value_at(c, 0, row * 25 + j)) > 1.01) large++, places |= INT64_C(1) << j;
            assert_int_equal(large, 1);
        }
        assert_true(__builtin_popcountll((unsigned long long)places) > 10);
    }
}

static void test_ties(void **state) {
    (void)state;
    for (int type = 0; type < 4; type++) {
        cupel_case *c = patterned(CUPEL_PATTERN_TIES, type, 1, 0, 4, 10, 10, 10);
        for (int64_t i = 0; i < 1000; i++) {
            double v = value_at(c, 0, i);
            assert_true(v == 0 || v == 1 || v == -1 || v == 0.5);
        }
        c = patterned(CUPEL_PATTERN_TIES, type, 1, 0, 5, 10, 10, 10);
        for (int64_t i = 0; i < 1000; i++)
            assert_true(value_at(c, 0, i) == 1 || value_at(c, 0, i) == cupel_next_up(c->tensors[0].type, 1));
    }
    const cupel_dtype targets[2] = {CUPEL_F16, CUPEL_BF16};
    for (int form = 0; form < 2; form++) {
        cupel_case *c = patterned(CUPEL_PATTERN_TIES, 0, 1, 0, 6 + (uint32_t)form, 10, 10, 10);
        int64_t distinct = 0;
        for (int64_t i = 0; i < 1000; i++) {
            double v = value_at(c, 0, i), down = cupel_round_down(targets[form], v),
                   up = cupel_round_up(targets[form], v);
            assert_true(down < v && v < up && v - down == up - v);
            distinct += i > 0 && v != value_at(c, 0, i - 1);
        }
        assert_true(distinct > 900);
    }
    cupel_case *c = patterned(CUPEL_PATTERN_TIES, 2, 1, 0, 6, 10, 10, 10); /* f16: halves */
    for (int64_t i = 0; i < 1000; i++)
        assert_true(fabs(value_at(c, 0, i)) - floor(fabs(value_at(c, 0, i))) == 0.5);
}

static void test_bits_are_finite_and_everywhere(void **state) {
    (void)state;
    for (int type = 0; type < 4; type++) {
        cupel_case *c = patterned(CUPEL_PATTERN_BITS, type, 0, 0, 9, 40, 10, 10);
        double least = INFINITY, most = 0;
        for (int64_t i = 0; i < 4000; i++) {
            double v = fabs(value_at(c, 0, i));
            assert_true(isfinite(v));
            least = fmin(least, v), most = fmax(most, v);
        }
        assert_true(most > cupel_format_largest(c->tensors[0].type) / 8);
        assert_true(least < cupel_format_normal(c->tensors[0].type) * 4);
    }
}

/* Whatever the pattern says, i32 gets varied values inside its range. */
static void test_integer_tensors_get_meaningful_values(void **state) {
    (void)state;
    for (int pattern = CUPEL_PATTERN_INTEGERS; pattern < CUPEL_PATTERN_COUNT; pattern++) {
        cupel_case *c = patterned((cupel_pattern)pattern, 0, 3, 0, 8, 1, 1, 40);
        int changes = 0;
        for (int64_t i = 1; i < 40; i++) changes += value_at(c, 2, i) != value_at(c, 2, i - 1);
        if (changes < 10) fail_msg("%s: %d changes", cupel_pattern_name((cupel_pattern)pattern), changes);
    }
}

/* The heart of minimisation: elements keep their values, coordinates by coordinates. */
static void test_elements_survive_shrinking(void **state) {
    (void)state;
    static double before[40 * 40 * 40];
    cupel_random random = cupel_random_start(21, 0);
    for (int pattern = 0; pattern < CUPEL_PATTERN_COUNT; pattern++)
        for (int n = 0; n < 12; n++) {
            int64_t big[3], small[3];
            for (int axis = 0; axis < 3; axis++) {
                big[axis] = 1 + (int64_t)cupel_random_below(&random, 16);
                small[axis] = 1 + (int64_t)cupel_random_below(&random, (uint64_t)big[axis]);
            }
            uint32_t seed = (uint32_t)cupel_random_u64(&random);
            double centre = n & 1 ? 100 : 0;
            cupel_case *c = patterned((cupel_pattern)pattern, n % 4, 2, centre, seed, big[0], big[1], big[2]);
            for (int64_t i = 0; i < c->tensors[0].count; i++) before[i] = value_at(c, 0, i);
            c = patterned((cupel_pattern)pattern, n % 4, 2, centre, seed, small[0], small[1], small[2]);
            for (int64_t i = 0; i < c->tensors[0].count; i++) {
                int64_t k = i % small[2], j = i / small[2] % small[1], a = i / small[2] / small[1];
                double was = before[(a * big[1] + j) * big[2] + k], is = value_at(c, 0, i);
                /* the one large element moves when its column is cut off */
                if (pattern == CUPEL_PATTERN_ONE_LARGE && fabs(is) > 2.01 && was != is) continue;
                assert_true(was == is);
            }
        }
}

static void test_tensors_and_seeds_differ(void **state) {
    (void)state;
    cupel_case *c = patterned(CUPEL_PATTERN_NORMAL, 0, 1, 0, 8, 4, 4, 4);
    int same = 0;
    double first[64];
    for (int64_t i = 0; i < 64; i++)
        same += value_at(c, 0, i) == value_at(c, 1, i), first[i] = value_at(c, 0, i);
    assert_int_equal(same, 0);
    c = patterned(CUPEL_PATTERN_NORMAL, 0, 1, 0, 9, 4, 4, 4);
    for (int64_t i = 0; i < 64; i++) assert_true(value_at(c, 0, i) != first[i]);
}

/* Values of fixed recipes, noted once: seeds must keep their meaning from version to version. */
static void test_values_are_stable(void **state) {
    (void)state;
    cupel_case *c = patterned(CUPEL_PATTERN_NORMAL, 0, 1, 0, 1, 2, 2, 3);
    uint32_t bits[12];
    memcpy(bits, c->tensors[0].values, sizeof bits);
    uint32_t mixed = 0;
    for (int i = 0; i < 12; i++) mixed = mixed * 31 + bits[i];
    assert_int_equal(mixed, 0xcd85aaba);
}

static void test_positions_are_uniform_and_stable(void **state) {
    (void)state;
    int counts[10] = {0};
    for (uint64_t key = 0; key < 5000; key++) {
        int64_t at = cupel_place_position(key, 1, 10), wide = cupel_place_position(key, 1, 1000);
        assert_true(at >= 0 && at < 10 && wide < 1000);
        counts[at]++;
        if (wide < 10) assert_int_equal(at, wide);
    }
    for (int i = 0; i < 10; i++) assert_true(counts[i] > 400 && counts[i] < 600);
    assert_int_equal(cupel_place_position(3, 1, 1), 0);
}

/* [A, 1, C] of ones with a special value laid over; how many elements became special, and where. */
static int count_special(cupel_special special, cupel_placement placement, uint32_t seed, int type, int64_t a,
                         int64_t c_extent, bool *where) {
    const cupel_contract *contract = fixture(FIXTURE_STRIDED);
    cupel_recipe recipe = simple(contract);
    set_dim(contract, &recipe, "A", a), set_dim(contract, &recipe, "B", 1),
        set_dim(contract, &recipe, "C", c_extent);
    recipe.types[0] = (uint8_t)type;
    recipe.tensors[0].pattern = CUPEL_PATTERN_ONE;
    recipe.tensors[0].special = special, recipe.tensors[0].placement = placement,
    recipe.tensors[0].special_seed = seed;
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    cupel_case *c = materialised(contract, &recipe, arena);
    int count = 0;
    for (int64_t i = 0; i < c->tensors[0].count; i++) {
        double v = value_at(c, 0, i);
        where[i] = v != 1;
        count += where[i];
        if (v == 1) continue;
        if (special == CUPEL_SPECIAL_NAN) assert_true(isnan(v));
        if (special == CUPEL_SPECIAL_POS_INF) assert_true(v == INFINITY);
        if (special == CUPEL_SPECIAL_NEG_INF) assert_true(v == -INFINITY);
        if (special == CUPEL_SPECIAL_NEG_ZERO) assert_true(v == 0 && signbit(v));
        if (special == CUPEL_SPECIAL_MIXED) assert_true(!isfinite(v) || (v == 0 && signbit(v)));
    }
    return count;
}

static void test_special_values_and_places(void **state) {
    (void)state;
    bool where[1600];
    int one_row = 0, all_rows = 0;
    for (int special = CUPEL_SPECIAL_NEG_ZERO; special < CUPEL_SPECIAL_COUNT; special++)
        for (uint32_t seed = 1; seed < 40; seed++) {
            int type = (int)seed % 4;
            assert_int_equal(
                count_special((cupel_special)special, CUPEL_PLACE_SINGLE, seed, type, 7, 40, where), 1);
            assert_int_equal(count_special((cupel_special)special, CUPEL_PLACE_ALL, seed, type, 7, 40, where),
                             280);
            assert_int_equal(count_special((cupel_special)special, CUPEL_PLACE_ROW, seed, type, 7, 40, where),
                             40);
            int first = 0;
            while (!where[first]) first++;
            assert_int_equal(first % 40, 0);
            int sparse = count_special((cupel_special)special, CUPEL_PLACE_SPARSE, seed, type, 40, 40, where);
            assert_true(sparse > 50 && sparse < 160);
            assert_true(count_special((cupel_special)special, CUPEL_PLACE_SPARSE, seed, type, 1, 1, where) ==
                        1);
            int tile = count_special((cupel_special)special, CUPEL_PLACE_TILE, seed, type, 5, 40, where);
            int rows = 0, runs = 0;
            for (int row = 0; row < 5; row++) {
                bool any = false;
                for (int j = 0; j < 40; j++) {
                    any |= where[row * 40 + j];
                    runs += where[row * 40 + j] && (j == 0 || !where[row * 40 + j - 1]);
                }
                rows += any;
            }
            assert_true(rows == 1 || rows == 5);
            one_row += rows == 1, all_rows += rows == 5;
            assert_int_equal(runs, rows);
            int length = tile / rows; /* 40 columns: the first 32, the last 8, or all of them */
            assert_true(length == 32 || length == 8 || length == 40);
        }
    assert_true(one_row > 30 && all_rows > 10);
}

/* A single special element stays where it is as long as its place is there. */
static void test_special_place_survives_shrinking(void **state) {
    (void)state;
    bool big[1600], small[1600];
    for (uint32_t seed = 1; seed < 60; seed++) {
        count_special(CUPEL_SPECIAL_NAN, CUPEL_PLACE_SINGLE, seed, 0, 20, 40, big);
        count_special(CUPEL_SPECIAL_NAN, CUPEL_PLACE_SINGLE, seed, 0, 10, 20, small);
        for (int i = 0; i < 800; i++)
            if (big[i] && i / 40 < 10 && i % 40 < 20) assert_true(small[i / 40 * 20 + i % 40]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_quantile),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_simple_patterns),
        cmocka_unit_test(test_no_negative_zero_by_underflow),
        cmocka_unit_test(test_integers_are_exact_and_small),
        cmocka_unit_test(test_log_uniform_covers_the_exponents),
        cmocka_unit_test(test_subnormals_are_subnormal),
        cmocka_unit_test(test_near_overflow),
        cmocka_unit_test(test_cancellation),
        cmocka_unit_test(test_one_large_per_row),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_bits_are_finite_and_everywhere),
        cmocka_unit_test(test_integer_tensors_get_meaningful_values),
        cmocka_unit_test(test_elements_survive_shrinking),
        cmocka_unit_test(test_tensors_and_seeds_differ),
        cmocka_unit_test(test_values_are_stable),
        cmocka_unit_test(test_positions_are_uniform_and_stable),
        cmocka_unit_test(test_special_values_and_places),
        cmocka_unit_test(test_special_place_survives_shrinking),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
