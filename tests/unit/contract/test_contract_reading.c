/* What the keys of a contract become, where its parts come from, and which files are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contract.h"

static int set_up(void **state) {
    return (*state = cupel_arena_create(0)) ? 0 : -1;
}
static int tear_down(void **state) {
    cupel_arena_free(*state);
    return 0;
}

static cupel_contracts parse_golden(cupel_arena *arena, const char *name) {
    char path[1000];
    snprintf(path, sizeof path, "%s/valid/%s", CUPEL_GOLDEN, name);
    char *text;
    size_t length;
    cupel_error err = {0};
    cupel_contracts contracts;
    if (cupel_text_read(path, arena, &text, &length, &err) != CUPEL_OK) fail_msg("%s", err.text);
    const char *dot = strrchr(name, '.');
    char shown[1000];
    snprintf(shown, sizeof shown, "some/folder/%s", name);
    if (cupel_contracts_parse(shown, text, length, strcmp(dot, ".yaml") == 0, arena, &contracts, &err) !=
        CUPEL_OK)
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    return contracts;
}

static void assert_span(cupel_span span, const char *text) {
    if (!cupel_span_equals(span, text)) fail_msg("'%.*s' instead of '%s'", (int)span.length, span.text, text);
}

static void scope(void **state) {
    const cupel_contract *c = parse_golden(*state, "every_key.yaml").items[0];
    assert_string_equal(c->id, "every.key_1-a");
    assert_non_null(strstr(c->about, "unbalanced"));
    assert_int_equal(c->dim_count, 4);
    assert_true(c->dims[0].lo == 0 && c->dims[0].hi == 512 && c->dims[0].value_count == 0);
    assert_true(c->dims[2].value_count == 3 && c->dims[2].values[0] == 64 && c->dims[2].values[2] == 256);
    assert_true(c->dims[2].lo == 64 && c->dims[2].hi == 256);
    assert_true(c->dims[3].lo == 64 && c->dims[3].hi == 64);
    /* H needs G, so G comes first */
    assert_int_equal(c->let_count, 2);
    assert_string_equal(c->lets[0].name, "G");
    assert_string_equal(c->lets[1].name, "H");
    assert_int_equal(c->require_count, 2);
    assert_span(cupel_scalar_text(c->requires_[1]), "M <= N");
    assert_int_equal(c->type_count, 2);
    assert_true(c->types[0].count == 3 && c->types[0].claimed[0] == CUPEL_F32 &&
                c->types[0].claimed[2] == CUPEL_BF16);
    assert_int_equal(c->param_count, 3);
    assert_true(c->params[0].kind == CUPEL_PARAM_FIXED && c->params[0].lo == 1e-5 && !c->params[0].integral);
    assert_true(c->params[1].kind == CUPEL_PARAM_RANGE && c->params[1].lo == 0.01 && c->params[1].hi == 10 &&
                !c->params[1].integral);
    assert_true(c->params[2].kind == CUPEL_PARAM_ONE_OF && c->params[2].value_count == 2 &&
                c->params[2].integral);
}

static void tensors(void **state) {
    const cupel_contract *c = parse_golden(*state, "every_key.yaml").items[0];
    static const char *const order[] = {"x", "w", "i", "s", "y", "z", "v2", "part"};
    static const int roles[] = {CUPEL_ROLE_INPUT | CUPEL_ROLE_OUTPUT,
                                CUPEL_ROLE_INPUT,
                                CUPEL_ROLE_INPUT,
                                CUPEL_ROLE_INPUT,
                                CUPEL_ROLE_OUTPUT,
                                CUPEL_ROLE_OUTPUT,
                                CUPEL_ROLE_OUTPUT,
                                CUPEL_ROLE_SCRATCH};
    assert_int_equal(c->tensor_count, 8);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(c->tensors[i].name, order[i]);
        assert_int_equal(c->tensors[i].roles, roles[i]);
        assert_int_equal(cupel_contract_tensor(c, order[i]), i);
        assert_int_equal(c->tensors[i].ensures != NULL, (roles[i] & CUPEL_ROLE_OUTPUT) != 0);
    }
    const cupel_tensor_decl *x = &c->tensors[0], *w = &c->tensors[1], *i = &c->tensors[2],
                            *s = &c->tensors[3], *y = &c->tensors[4], *z = &c->tensors[5],
                            *part = &c->tensors[7];
    assert_true(x->align == 16 && x->has_range && x->finite && x->range_lo == -10 && x->range_hi == 10 &&
                x->type_variable == 0);
    assert_int_equal(x->layouts,
                     CUPEL_LAYOUT_ANY & ~CUPEL_LAYOUT_EXPANDED); /* an output's elements may not overlap */
    assert_true(w->align_element && w->align == 4 && w->finite && !w->has_range);
    assert_int_equal(w->layouts, CUPEL_LAYOUT_PADDED | CUPEL_LAYOUT_SLICED);
    assert_true(i->below && i->sorted && i->align == 256);
    assert_int_equal(i->layouts, CUPEL_LAYOUT_TRANSPOSED | CUPEL_LAYOUT_EXPANDED | CUPEL_LAYOUT_REVERSED);
    assert_true(s->rank == 0 && s->type_variable == -1 && s->type == CUPEL_F32);
    assert_int_equal(y->layouts, CUPEL_LAYOUT_TRANSPOSED | CUPEL_LAYOUT_REVERSED);
    assert_true(y->init == CUPEL_INIT_POISON && z->init == CUPEL_INIT_EXPRESSION &&
                z->init_expr->number == 0.5);
    assert_true(part->layouts == 0 && part->rank == 2);
    assert_span(cupel_scalar_text(part->shape[1]), "G");
    assert_true(y->has_tolerance && y->tolerance_abs == 1e-2 && y->tolerance_rel == 0);
    assert_true(z->has_tolerance && z->tolerance_abs == 0 && z->tolerance_rel == 0x1p-10 &&
                !x->has_tolerance);
}

static void claims_and_source(void **state) {
    const cupel_contract *c = parse_golden(*state, "every_key.yaml").items[0];
    assert_true(c->has_accumulate && c->accumulate == CUPEL_F32 && !c->math_fast &&
                c->subnormals == CUPEL_SUBNORMALS_FLUSH);
    assert_true(c->range_safe && c->deterministic == CUPEL_DETERMINISTIC_TRUE);
    assert_true(c->alias_count == 1 && c->aliases[0][0] == 0 && c->aliases[0][1] == 4);
    assert_int_equal(c->define_count, 2);
    assert_string_equal(c->defines[1].name, "v");
    assert_string_equal(c->source, "some/folder/sub/kernel.cu");
    assert_int_equal(c->source_define_count, 3);
    assert_string_equal(c->source_defines[0], "FLOAT=1");
    assert_string_equal(c->source_defines[1], "NAME=a b");
    assert_string_equal(c->source_defines[2], "EMPTY=");
    assert_int_equal(c->source_include_count, 2);
    assert_string_equal(c->source_includes[0], "some/folder/include");
    assert_string_equal(c->source_includes[1], "/opt/include");
    /* what is not said has its default */
    const cupel_contract *d = parse_golden(*state, "example.cu").items[0];
    assert_true(!d->has_accumulate && d->math_fast && d->subnormals == CUPEL_SUBNORMALS_KEEP &&
                !d->range_safe);
    assert_true(d->deterministic == CUPEL_DETERMINISTIC_AUTO && d->tensors[0].layouts == 0 &&
                d->tensors[0].align == 256);
    assert_string_equal(d->source, "some/folder/example.cu");
}

static void launches(void **state) {
    const cupel_contract *c = parse_golden(*state, "every_key.yaml").items[0];
    assert_true(c->launch_count == 2 && !c->host);
    const cupel_launch *l = &c->launches[0];
    assert_string_equal(l->entry, "ns::stage_one<$T, $B, $G>");
    assert_int_equal(l->arg_count, 11);
    assert_true(l->args[0].kind == CUPEL_ARG_TENSOR && l->args[0].tensor == 0);
    assert_true(l->args[3].kind == CUPEL_ARG_NULL);
    assert_true(l->args[5].kind == CUPEL_ARG_SCALAR && l->args[5].typed && l->args[5].type == CUPEL_I64);
    assert_span(cupel_scalar_text(l->args[5].expr), "M*N");
    assert_true(l->args[6].typed && l->args[6].type == CUPEL_F32 && l->args[7].type == CUPEL_BOOL &&
                !l->args[8].typed);
    assert_true(l->grid_rank == 3 && l->block_rank == 1 && l->shared && l->skip_if);
    assert_true(c->launches[1].arg_count == 5 && !c->launches[1].shared && !c->launches[1].skip_if);
    const cupel_contract *h = parse_golden(*state, "host.yaml").items[0];
    assert_true(h->host && h->launch_count == 1 && h->launches[0].grid_rank == 0 && h->launches[0].skip_if);
    assert_string_equal(h->launches[0].entry, "twice");
}

static void contracts_of_one_source(void **state) {
    cupel_contracts contracts = parse_golden(*state, "two.cu");
    assert_int_equal(contracts.count, 2);
    const cupel_contract *first = contracts.items[0], *second = contracts.items[1];
    assert_string_equal(first->id, "first");
    assert_string_equal(second->id, "second");
    assert_int_equal(second->line, 21);
    assert_int_equal(first->tensors[0].place.line, 14);
    assert_int_equal(first->tensors[0].place.column, 14);
    assert_int_equal(second->tensors[0].place.line, 24);
    assert_int_equal(second->tensors[0].place.column, 15);
    assert_int_equal(second->dim_count, 0);
    /* the text of a contract is a contract again */
    cupel_contracts again;
    cupel_error err = {0};
    const char *text = cupel_arena_printf(*state, "/*%.*s*/", (int)second->text_length, second->text);
    assert_int_equal(cupel_contracts_parse("a.cu", text, strlen(text), false, *state, &again, &err),
                     CUPEL_OK);
    assert_string_equal(again.items[0]->id, "second");
}

static const char yaml_text[] =
    "cupel: 1\nid: copy\ndims: {N: 1..10}\ninputs: {x: \"f32[N]\"}\noutputs: {y: \"f32[N]\"}\n"
    "ensures: {y: x}\nkernel: {entry: copy, args: [x, y, N], grid: [1], block: [N]}\n";

static void write_file(const char *folder, const char *name, const char *text) {
    char path[400];
    cupel_error err;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(cupel_text_write(path, text, strlen(text), &err), CUPEL_OK);
}

static void load(cupel_arena *arena, const char *folder, const char *name, cupel_code code,
                 const char *expected) {
    char path[400], source[400];
    cupel_error err = {0};
    cupel_contracts contracts;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    cupel_code got = cupel_contracts_load(path, arena, &contracts, &err);
    if (got != code) fail_msg("%s: %s", name, err.text);
    if (code != CUPEL_OK) {
        if (!strstr(err.text, expected)) fail_msg("%s: %s", name, err.text);
        return;
    }
    snprintf(source, sizeof source, "%s/%s", folder, expected);
    assert_string_equal(contracts.items[0]->source, source);
}

/* Of several contracts the chosen one alone need be right; which others there are does not matter, unless
 * their YAML cannot be read. */
static void others_may_be_wrong(void **state) {
    char folder[] = "/tmp/cupel-load-XXXXXX", path[400];
    static const char second[] =
        "/* cupel: 1\nid: other\ndims: {N: 1..10}\ninputs: {x: \"f32[N]\"}\noutputs: {y: \"f32[N]\"}\n"
        "ensures: {y: \"unknown(x)\"}\nkernel: {entry: f, args: [x, y, N], grid: [1], block: [N]} */\n"
        "/* cupel: 1\nabout: no id */\n";
    assert_non_null(mkdtemp(folder));
    write_file(folder, "both.cu", cupel_arena_printf(*state, "/* %s*/\n%s", yaml_text, second));
    write_file(folder, "unread.cu", cupel_arena_printf(*state, "/* %s*/\n/* cupel: 1\nid: [ */", yaml_text));
    const struct {
        const char *file, *id, *message; /* NULL: it loads */
    } rows[] = {
        {"both.cu", "copy", NULL},
        {"both.cu", "other", "unknown function 'unknown'"},
        {"both.cu", "none", "unknown function 'unknown'"}, /* none has the id: all are looked at */
        {"both.cu", NULL, "unknown function 'unknown'"},
        {"unread.cu", "copy", "unread.cu:"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cupel_error err = {0};
        cupel_contracts contracts;
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].file);
        cupel_code code = cupel_contracts_load_chosen(path, rows[i].id, *state, &contracts, &err);
        if ((code == CUPEL_OK) != !rows[i].message) fail_msg("%s %s: %s", rows[i].file, rows[i].id, err.text);
        if (code == CUPEL_OK) {
            assert_int_equal(contracts.count, 1);
            assert_string_equal(contracts.items[0]->id, rows[i].id);
        } else {
            char text[1400];
            cupel_error_format(&err, text, sizeof text);
            if (!strstr(text, rows[i].message)) fail_msg("%s %s: %s", rows[i].file, rows[i].id, text);
        }
    }
    (void)!system(cupel_arena_printf(*state, "rm -r %s", folder));
}

static void files(void **state) {
    char folder[] = "/tmp/cupel-load-XXXXXX", command[100];
    assert_non_null(mkdtemp(folder));
    const char *embedded = cupel_arena_printf(*state, "/* %s*/\n", yaml_text);
    const char *named = cupel_arena_printf(*state, "%ssource: {file: copy.cu}\n", yaml_text);
    write_file(folder, "inside.cu", embedded);
    write_file(folder, "copy.cu", "int x;\n");
    write_file(folder, "copy.yaml", yaml_text);
    write_file(folder, "lone.yaml", yaml_text);
    write_file(folder, "named.yml", named);
    write_file(folder, "object.so",
               "\x7f"
               "ELF /* cupel: 2 */");
    write_file(folder, "bare.cu", "int x;\n");
    write_file(folder, "missing.yaml", cupel_arena_printf(*state, "%ssource: {file: none.cu}\n", yaml_text));
    load(*state, folder, "inside.cu", CUPEL_OK, "inside.cu");
    load(*state, folder, "copy.cu", CUPEL_OK, "copy.cu");   /* copy.yaml stands beside it */
    load(*state, folder, "copy.yaml", CUPEL_OK, "copy.cu"); /* copy.cu stands beside it */
    load(*state, folder, "named.yml", CUPEL_OK, "copy.cu");
    load(*state, folder, "lone.yaml", CUPEL_CONTRACT, "expected the kernel's source");
    load(*state, folder, "bare.cu", CUPEL_CONTRACT, "expected a contract (");
    load(*state, folder, "object.so", CUPEL_CONTRACT, "expected a contract (");
    load(*state, folder, "missing.yaml", CUPEL_CONTRACT, "none.cu");
    load(*state, folder, "nowhere.cu", CUPEL_IO, "cannot open");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scope, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tensors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(claims_and_source, set_up, tear_down),
        cmocka_unit_test_setup_teardown(launches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(contracts_of_one_source, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_may_be_wrong, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
