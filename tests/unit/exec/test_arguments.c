/* Element types against what the kernel's parameter points to: the type itself, its vectors, a neighbour of
 * its size or name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "recipe.h"

enum { OTHER, POINTER, SIGNED, UNSIGNED, REAL, BOOLEAN }; /* as the compiler's table has them */

typedef struct pointee {
    const char *name;
    uint32_t kind, size;
} pointee;

static void element_types_meet_their_parameters(void **state) {
    (void)state;
    static const struct {
        const char *type;
        pointee fits, misfits;
    } rows[] = {
        {"e4m3", {"__nv_fp8_e4m3 *", OTHER, 1}, {"__nv_fp8_e5m2 *", OTHER, 1}},
        {"e5m2", {"__nv_fp8x4_e5m2 *", OTHER, 4}, {"__nv_fp8x4_e4m3 *", OTHER, 4}},
        {"e4m3", {"const __nv_fp8x2_e4m3 *", OTHER, 2}, {"unsigned char *", UNSIGNED, 1}},
        {"i8", {"signed char *", SIGNED, 1}, {"unsigned char *", UNSIGNED, 1}},
        {"i8", {"char4 *", OTHER, 4}, {"uchar4 *", OTHER, 4}},
        {"u8", {"unsigned char *", UNSIGNED, 1}, {"bool *", BOOLEAN, 1}},
        {"bool", {"bool *", BOOLEAN, 1}, {"unsigned char *", UNSIGNED, 1}},
        {"i16", {"short *", SIGNED, 2}, {"unsigned short *", UNSIGNED, 2}},
        {"u16", {"ushort2 *", OTHER, 4}, {"__half *", OTHER, 2}},
        {"u32", {"unsigned int *", UNSIGNED, 4}, {"int *", SIGNED, 4}},
        {"i64", {"long long *", SIGNED, 8}, {"unsigned long long *", UNSIGNED, 8}},
        {"u64", {"unsigned long *", UNSIGNED, 8}, {"double *", REAL, 8}},
        {"tf32", {"float *", REAL, 4}, {"int *", SIGNED, 4}},
    };
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t r = 0; r < 2 * sizeof rows / sizeof *rows; r++) {
        const pointee *p = r % 2 ? &rows[r / 2].misfits : &rows[r / 2].fits;
        char text[512];
        snprintf(text, sizeof text,
                 "cupel: 1\nsource: {file: k.cu}\nid: types\ndims: {N: 16}\ninputs: {x: '%s[N]'}\n"
                 "outputs: {y: 'f32[N]'}\nensures: {y: 'full([N], 0)'}\nkernel: {entry: k, args: [x, y], "
                 "grid: [1], "
                 "block: [32]}\n",
                 rows[r / 2].type);
        cupel_contracts contracts;
        cupel_error err = {0};
        char *kept = cupel_arena_text(arena, text, strlen(text));
        if (cupel_contracts_parse("k.yaml", kept, strlen(kept), true, arena, &contracts, &err) != CUPEL_OK)
            fail_msg("%s", err.text);
        const cupel_contract *contract = contracts.items[0];
        cupel_recipe recipe;
        cupel_binding binding;
        assert_int_equal(cupel_recipe_simple(contract, &recipe, &err), CUPEL_OK);
        assert_int_equal(cupel_recipe_binding(contract, &recipe, &binding, &err), CUPEL_OK);
        const cupel_emu_param params[] = {
            {.kind = POINTER, .size = 8, .pointee = p->size, .pointee_kind = p->kind, .type = p->name},
            {.kind = POINTER, .size = 8, .pointee = 4, .pointee_kind = REAL, .type = "float *"}};
        cupel_emu_kernel kernel = {.entry = "k", .param_count = 2, .params = params};
        const cupel_code code = cupel_arguments_check(&binding, &contract->launches[0], &kernel, &err);
        if (code != (r % 2 ? CUPEL_MISMATCH : CUPEL_OK) || (r % 2 && !strstr(err.text, "holds")))
            fail_msg("%s as %s: code %d %s", rows[r / 2].type, p->name, code, err.text);
    }
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(element_types_meet_their_parameters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
