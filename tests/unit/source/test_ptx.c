/* Inline PTX: that the documentation lists what the table knows, that every form has its function, what is
 * read and what is refused. */
#include "emu_compile.h"
#include "ptx_table.h"
#include "source_testing.h"

/* Every line of the lists in docs/ptx.md is a row of the table, in its order, and every row is there. */
static void the_documentation_lists_all(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    char *text;
    size_t length;
    assert_int_equal(cupel_text_read(CUPEL_TEST_ROOT "/docs/ptx.md", arena, &text, &length, NULL), CUPEL_OK);
    const char *p = strstr(text, "## Instructions\n\n```\n");
    assert_non_null(p);
    p = strstr(p, "```\n") + 4;
    for (int i = 0; i < cupel_ptx_form_count; i++) {
        const cupel_ptx_form *f = &cupel_ptx_forms[i];
        char *line = cupel_arena_printf(arena, "%s:%s%s\n", f->name, *f->operands ? " " : "", f->operands);
        if (strncmp(p, line, strlen(line)) != 0) fail_msg("expected: %s found: %.60s", line, p);
        p += strlen(line);
    }
    assert_true(strncmp(p, "```\n", 4) == 0);
    p = strstr(p, "## Classes\n\n```\n");
    assert_non_null(p);
    p = strstr(p, "```\n") + 4;
    for (int i = 0; i < cupel_ptx_class_count; i++) {
        char *line =
            cupel_arena_printf(arena, "@%s: %s\n", cupel_ptx_classes[i].name, cupel_ptx_classes[i].parts);
        if (strncmp(p, line, strlen(line)) != 0) fail_msg("expected: %s found: %.60s", line, p);
        p += strlen(line);
    }
    for (int i = 0; i < cupel_ptx_special_count; i++) {
        char *name = cupel_arena_printf(arena, "`%%%s`", cupel_ptx_specials[i]);
        if (!strstr(p, name)) fail_msg("%s is not listed", name);
    }
    cupel_arena_free(arena);
}

/* ---- every form compiles ---- */

typedef struct writer {
    char text[1 << 19];
    size_t used;
    int instructions;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    w->used += (size_t)vsnprintf(w->text + w->used, sizeof w->text - w->used, format, arguments);
    va_end(arguments);
    assert_true(w->used < sizeof w->text - 1);
}

/* Choice number n of an element, classes resolved; the last one where there are fewer. False when there are
 * fewer. */
static bool choice(const char *choices, size_t length, int *n, char *out, size_t size) {
    for (const char *p = choices, *end = choices + length; p < end;) {
        size_t part = 0;
        while (p + part < end && p[part] != '|') part++;
        if (*p == '@') {
            for (int c = 0; c < cupel_ptx_class_count; c++)
                if (strlen(cupel_ptx_classes[c].name) == part - 1 &&
                    memcmp(cupel_ptx_classes[c].name, p + 1, part - 1) == 0 &&
                    choice(cupel_ptx_classes[c].parts, strlen(cupel_ptx_classes[c].parts), n, out, size))
                    return true;
        } else {
            snprintf(out, size, "%.*s", (int)part, p);
            if ((*n)-- == 0) return true;
        }
        p += part + 1;
    }
    return false;
}

/* The name of form with element `varied` at its n-th choice (n < 0: missing) and the others at their first,
 * optional ones missing. False when there is no such choice. */
static bool name_of(const cupel_ptx_form *form, int varied, int n, char *name, size_t size) {
    size_t used = 0;
    int element = 0;
    for (const char *p = form->name; *p; element++) {
        size_t length = strcspn(p, " ");
        const char last = p[length - 1];
        const bool optional = last == '?' || last == '*';
        char part[64];
        int wanted = element == varied ? n : 0;
        if (element != varied ? !optional : n >= 0) {
            if (!choice(p, length - optional, &wanted, part, sizeof part)) return false;
            used += (size_t)snprintf(name + used, size - used, "%s%s", used ? "." : "", part);
        }
        p += length + (p[length] == ' ');
    }
    return used > 0 && varied < element;
}

/* A register of the type, declared at the head of the function: names are those of the types. */
static void put_operand(writer *w, const cupel_ptx_slot *slot, int vector) {
    const char *of = slot->address ? (*slot->type == 's' ? "b32" : "b64") : slot->type;
    int length = slot->address ? 3 : (int)slot->type_length;
    if (slot->address) {
        put(w, "[r_%.*s]", length, of);
    } else if (slot->pair) {
        put(w, "r_%.*s|r_%.*s", length, of, (int)slot->type2_length, slot->type2);
    } else if (vector == 0) {
        put(w, "r_%.*s", length, of);
    } else {
        put(w, "{");
        for (int i = 0; i < vector; i++) put(w, "%sr_%.*s", i ? ", " : "", length, of);
        put(w, "}");
    }
}

static int vector_of(const char *name, const cupel_ptx_slot *slot) {
    if (slot->vector) return slot->vector;
    if (!slot->flexible) return 0;
    if (strstr(name, ".v4") || strstr(name, ".x4")) return 4;
    if (strstr(name, ".v2") || strstr(name, ".x2")) return 2;
    return 0;
}

static void put_instruction(writer *w, const cupel_ptx_form *form, const char *name) {
    char copy[128], *rest = copy;
    cupel_ptx_statement s = {.name = name};
    snprintf(copy, sizeof copy, "%s", name);
    for (char *part; (part = strsep(&rest, ".")) != NULL;) s.parts[s.part_count++] = part;
    cupel_ptx_match match;
    cupel_ptx_slot slots[CUPEL_PTX_OPERANDS_MAX];
    assert_true(cupel_ptx_match_name(form, &s, &match));
    const int count = cupel_ptx_slots(&match, slots);
    put(w, "%s", name);
    for (int i = 0; i < count; i++) {
        put(w, i ? ", " : " ");
        put_operand(w, &slots[i], vector_of(name, &slots[i]));
    }
    put(w, ";\\n");
    w->instructions++;
}

/* Each choice of each part once, beside the first ones of the others. */
static void put_variants(writer *w, const cupel_ptx_form *form) {
    for (int varied = 0; varied < CUPEL_PTX_ELEMENTS_MAX; varied++) {
        char name[128];
        for (int n = 0; name_of(form, varied, n, name, sizeof name); n++) {
            put(w, "\"");
            put_instruction(w, form, name);
            put(w, "\"\n");
        }
    }
}

static void every_form_has_its_function(void **state) {
    (void)state;
    static const char *const types[] = {"pred", "b8",    "u8",     "s8",   "b16",    "u16",   "s16",  "b32",
                                        "u32",  "s32",   "b64",    "u64",  "s64",    "f16",   "bf16", "f32",
                                        "f64",  "f16x2", "bf16x2", "tf32", "e4m3x2", "e5m2x2"};
    writer *w = calloc(1, sizeof *w);
    assert_non_null(w);
    put(w, "__global__ void all() {\n");
    for (int f = 0; f < cupel_ptx_form_count; f++) {
        put(w, "asm volatile(\"{\\n\"\n");
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            put(w, "\".reg .%s r_%s;\\n\"\n", types[i], types[i]);
        put_variants(w, &cupel_ptx_forms[f]);
        put(w, "\"}\\n\");\n");
    }
    put(w, "}\n");
    assert_true(w->instructions > 700);
    fixture f = fixture_open();
    const char *path, *entry = "all";
    char cache[96];
    cupel_error err;
    snprintf(cache, sizeof cache, "%s/cache", f.folder);
    cupel_emu_compile_request request = {
        .source = fixture_load(&f, w->text), .entry_count = 1, .entries = &entry, .cache = cache};
    if (request.source->refusal_count) fail_msg("%s", request.source->refusals[0].what);
    if (cupel_emu_compile(&request, f.arena, &path, &err) != CUPEL_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    fixture_close(&f);
    free(w);
}

/* ---- what is refused, and why ---- */

static const struct {
    const char *assembly, *what;
} refused[] = {
    {"asm(\"wgmma.fence.sync.aligned;\")", "the PTX instruction 'wgmma.fence.sync.aligned'"},
    {"asm(\"mov.u32 %0, 1\" : \"=r\"(x)); asm(\"unheard.u32 %0, 1;\" : \"=r\"(x))", "'unheard.u32'"},
    {"asm(\"add.u32 %0, %0;\" : \"+r\"(x))", "the operand list of the PTX instruction 'add.u32'"},
    {"asm(\"mov.u32 1, %0;\" :: \"r\"(x))", "the operand list of the PTX instruction 'mov.u32'"},
    {"asm(\"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0}, {%0}, {%0}, {%0};\" : \"+r\"(x))",
     "m8n8k4"},
    {"asm(\"LOOP: bra LOOP;\")", "the label in inline PTX 'LOOP'"},
    {"asm(\"mov.u32 %0, %%pm0;\" : \"=r\"(x))", "the special register 'pm0'"},
    {"asm(\"mov.u32 %0, %3;\" : \"=r\"(x))", "operand"},
    {"asm(\"mov.u32 %0, [;\" : \"=r\"(x))", "cannot be read"},
    {"asm(\"{ mov.u32 %0, 1;\" : \"=r\"(x))", "a } is missing"},
    {"asm(\".shared .b32 s;\")", "a directive other than .reg"},
    {"asm(\"mov.u32 %0, 0f3F80;\" : \"=r\"(x))", "a floating-point number of the wrong length"},
    {"asm(\"mov.u32 %0, 1;\" : \"=q\"(x))", "an operand of an unknown kind"},
    {"asm(text())", "not a string literal"},
    {"asm goto(\"bra %l0;\" :::: out)", "that jumps"},
};

static void unknown_ptx_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        fixture f = fixture_open();
        char text[512];
        snprintf(text, sizeof text, "__global__ void k(int x) {\n  int y;\n  %s;\n}\n", refused[i].assembly);
        cupel_source *s = fixture_load(&f, text);
        if (s->refusal_count != 1) fail_msg("not refused: %s", refused[i].assembly);
        if (!strstr(s->refusals[0].what, refused[i].what))
            fail_msg("%s: %s", refused[i].assembly, s->refusals[0].what);
        assert_int_equal(s->refusals[0].line, 3);
        assert_true(holds(s, "cupel_emu_unsupported(\"inline PTX\");"));
        fixture_close(&f);
    }
}

/* Lines stay where they are, whatever the statement looks like. */
static void statements_keep_their_lines(void **state) {
    (void)state;
    fixture f = fixture_open();
    cupel_source *s = fixture_load(
        &f,
        "#define HINT \".L1::no_allocate\"\n#define WAIT(n) asm volatile(\"cp.async.wait_group \" #n "
        "\";\" ::: \"memory\")\n__global__ void k(int *x) {\n  int v;\n  asm volatile(\n    \"ld.global\" "
        "HINT /* a hint */\n    \".s32 %0, [%1];\\n\"\n    : \"=r\"(v) // out\n    : \"l\"(x + "
        "1));\n  WAIT(2);\n  __asm__ __volatile__(\"membar.gl;\");\n  here(__LINE__);\n}\n");
    assert_int_equal(s->refusal_count, 0);
    assert_false(holds(s, "asm"));
    int line = 1;
    for (const char *p = s->text, *at = strstr(s->text, "here("); p < at; p++) line += *p == '\n';
    assert_int_equal(line, 12);
    assert_true(holds(s, "cupel_ptx_cp_async_wait(cupel_ptx_get<cupel_ptx_u32>((long long)(n)))"));
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documentation_lists_all),
        cmocka_unit_test(every_form_has_its_function),
        cmocka_unit_test(unknown_ptx_is_refused),
        cmocka_unit_test(statements_keep_their_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
