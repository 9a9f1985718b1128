/* Dynamic shared memory, refusals, and leaving out what nobody needs. */
#include "source_testing.h"

static void dynamic_shared_forms(void **state) {
    (void)state;
    static const char *const forms[][2] = {
        {"extern __shared__ float s[];", "float (&s)[] = cupel_emu_dynamic_array();"},
        {"extern __shared__ __align__(16) T s[];", "T (&s)[] = cupel_emu_dynamic_array();"},
        {"extern __shared__ alignas(sizeof(T) * 2) std::pair<int, T> s[];",
         "std::pair<int, T> (&s)[] = cupel_emu_dynamic_array();"},
        {"__shared__ extern float s[][33];", "float (&s)[][33] = cupel_emu_dynamic_array();"},
        {"extern volatile __shared__ unsigned long long s[];",
         "unsigned long long (&s)[] = cupel_emu_dynamic_array();"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        fixture f = fixture_open();
        char text[512];
        snprintf(text, sizeof text, "template <class T> __global__ void k() {\n  %s\n  s[0] = 1;\n}\n",
                 forms[i][0]);
        cupel_source *s = fixture_load(&f, text);
        if (!holds(s, forms[i][1])) fail_msg("%s became: %s", forms[i][0], s->text);
        assert_false(holds(s, "extern"));
        assert_int_equal(s->dynamic_shared_count, 1);
        fixture_close(&f);
    }
}

static void dynamic_shared_at_namespace_scope(void **state) {
    (void)state;
    fixture f = fixture_open();
    cupel_source *s = fixture_load(&f, "namespace n { extern __shared__ float s[]; }\nusing n::other;\n"
                                       "struct A { int s; };\n__global__ void k(A a) { n::s[0] = a.s; }\n");
    assert_true(holds(s, "float (&cupel_dynamic_s())[] { return cupel_emu_dynamic_array(); }"));
    assert_true(holds(s, "n::cupel_dynamic_s()[0] = a.s;"));
    assert_true(holds(s, "struct A { int s; };"));
    fixture_close(&f);
}

static void static_shared_is_left_alone(void **state) {
    (void)state;
    fixture f = fixture_open();
    const char *text = "extern __device__ int e; __global__ void k() { __shared__ float s[4]; s[0] = 1; }\n";
    cupel_source *s = fixture_load(&f, text);
    assert_string_equal(s->text, text);
    assert_int_equal(s->dynamic_shared_count, 0);
    fixture_close(&f);
}

static const struct {
    const char *body, *what;
} refusal_cases[] = {
    {"asm volatile(\"wgmma.fence.sync.aligned;\");", "the PTX instruction 'wgmma.fence.sync.aligned'"},
    {"asm(\"mov %0, 1;\" : \"=r\"(x));", "the PTX instruction 'mov'"},
    {"cooperative_groups::this_cluster().sync();", "thread block clusters"},
    {"cg::multi_grid_group all = cg::this_multi_grid();", "grids over several devices"},
    {"float v = tex2D<float>(t, 0, 0);", "textures"},
    {"surf2Dwrite(v, s, 0, 0);", "surfaces"},
    {"auto t = cute::make_tensor(a);", "CuTe"},
    {"typedef cub::BlockRadixSort<float, 128, 4> R;", "CUB's BlockRadixSort"},
};

static void refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusal_cases / sizeof *refusal_cases; i++) {
        fixture f = fixture_open();
        char text[512];
        snprintf(
            text, sizeof text,
            "// asm(\"in a comment\")\n__device__ void deep() {\n  int x;\n  %s\n}\n#define CALL deep()\n"
            "namespace n { template <class T> __global__ void reaches() { CALL; } }\n__global__ void "
            "spared() {}\n"
            "void host() { asm(\"\"); cute::print(); }\n",
            refusal_cases[i].body);
        cupel_source *s = fixture_load(&f, text);
        assert_int_equal(s->refusal_count, 1);
        assert_string_equal(s->refusals[0].what, refusal_cases[i].what);
        assert_int_equal(s->refusals[0].line, 4);
        assert_string_equal(s->refusals[0].file, f.path);
        assert_string_equal(s->refusals[0].function, "deep");
        assert_ptr_equal(cupel_source_refused(s, "n::reaches<float>"), &s->refusals[0]);
        assert_null(cupel_source_refused(s, "spared"));
        assert_false(strstr(strchr(s->text, '\n'), "asm") != NULL);
        fixture_close(&f);
    }
}

static void assembly_in_macros(void **state) {
    (void)state;
    fixture f = fixture_open();
    cupel_source *s = fixture_load(&f, "#define WAIT(n) \\\n  asm volatile(\"tcgen05.wait %0;\" \\\n  "
                                       ":: \"n\"(n))\n#define LOW WAIT(0)\n"
                                       "__global__ void k() {\n  LOW;\n}\n__global__ void other() {}\n");
    assert_int_equal(s->refusal_count, 1);
    assert_int_equal(s->refusals[0].line, 6);
    assert_string_equal(s->refusals[0].what, "the PTX instruction 'tcgen05.wait'");
    assert_true(holds(s, "#define WAIT(n) \\\n  cupel_emu_unsupported(\"inline PTX\")\\\n\n"));
    assert_non_null(cupel_source_refused(s, "k"));
    assert_null(cupel_source_refused(s, "other"));
    fixture_close(&f);
}

/* A member that bears the name of a function is another thing. */
static void members_are_told_from_functions(void **state) {
    (void)state;
    fixture f = fixture_open();
    cupel_source *s = fixture_load(
        &f, "__device__ void load() { asm(\"unheard.of;\"); }\nstruct A { int load; };\n"
            "__global__ void k(A a, A *b) { a.load = b->load; }\n__global__ void l() { load(); }\n");
    assert_null(cupel_source_refused(s, "k"));
    assert_non_null(cupel_source_refused(s, "l"));
    fixture_close(&f);
}

static void dead_branches_refuse_nothing(void **state) {
    (void)state;
    fixture f = fixture_open();
    cupel_source *s = fixture_load(
        &f, "__global__ void k() {\n#if 0\n asm(\"no\");\n#endif\n#ifdef USE_ROCM\n asm(\"no\");\n#endif\n"
            "#if __CUDA_ARCH__ < 700\n asm(\"no\");\n#endif\n}\n");
    assert_int_equal(s->refusal_count, 0);
    fixture_close(&f);
}

static void dropping(void **state) {
    (void)state;
    fixture f = fixture_open();
    cupel_source *s = fixture_load(
        &f,
        "struct Needed { int x; };\nstruct Spare {\n  Unknown u;\n};\n__device__ int used() { return 1; }\n"
        "__device__ int spare() { return Spare().u; }\n__global__ void k(Needed n) { used(); }\n");
    const char *entry = "k";
    char *before = cupel_arena_text(f.arena, s->text, s->length);
    bool dropped;
    cupel_error err;
    for (int line = 1; line <= 7; line++) {
        bool needed = line == 1 || line == 5 || line == 7;
        bool gone_with_its_class = line == 4;
        assert_int_equal(cupel_source_drop(s, f.path, line, 1, &entry, &dropped, &err), CUPEL_OK);
        assert_int_equal(dropped, !needed && line != 3 && !gone_with_its_class);
    }
    assert_true(holds(s, "Needed") && holds(s, "used()"));
    assert_false(holds(s, "Spare") || holds(s, "spare"));
    assert_int_equal(cupel_source_restore(s, &err), CUPEL_OK);
    assert_string_equal(s->text, before);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dynamic_shared_forms),
        cmocka_unit_test(dynamic_shared_at_namespace_scope),
        cmocka_unit_test(static_shared_is_left_alone),
        cmocka_unit_test(refusals),
        cmocka_unit_test(assembly_in_macros),
        cmocka_unit_test(dead_branches_refuse_nothing),
        cmocka_unit_test(members_are_told_from_functions),
        cmocka_unit_test(dropping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
