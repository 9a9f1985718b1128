/* The compile step from a .cu file to an object. Needs clang. */
#include "source_testing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "emu_abi.h"
#include "emu_compile.h"
#include "emu_compiler.h"
#include "emu_runtime.h"
#include "emu_sweep.h"

/* The short tier takes the first few; with the argument "all", each. */
static const char *const file_names[] = {
    "torch_extension", "odd_corners",  "warp_primitives", "inline_ptx", "whole_program", "dynamic_shared",
    "vectorised",      "matmul_tiled", "math_and_bits",   "llm_style",  "cooperative",   "qualifier_macros"};
enum { FEW = 4 };
static bool all_files;

typedef struct compiled {
    cupel_source *source;
    const char *path;
    cupel_error err;
} compiled;

static cupel_code compile(fixture *f, cupel_source *source, int count, const char *const *entries,
                          compiled *out) {
    char cache[96];
    snprintf(cache, sizeof cache, "%s/cache/deep", f->folder);
    cupel_emu_compile_request request = {
        .source = source, .entry_count = count, .entries = entries, .cache = cache};
    out->source = source;
    return cupel_emu_compile(&request, f->arena, &out->path, &out->err);
}

static cupel_code compile_text(fixture *f, const char *text, const char *entry, compiled *out) {
    return compile(f, fixture_load(f, text), 1, &entry, out);
}

/* The entries after "// entries:" on the first line of a trial file. */
static int entries_of(fixture *f, const char *text, const char **entries, int max) {
    const char *p = strstr(text, "entries:");
    assert_non_null(p);
    int count = 0;
    for (p += 8; *p && *p != '\n' && count < max;) {
        while (*p == ' ' || *p == ';') p++;
        size_t length = strcspn(p, ";\n");
        entries[count++] = cupel_arena_text(f->arena, p, length);
        p += length;
    }
    return count;
}

static void trial_files_compile(void **state) {
    (void)state;
    const size_t files = all_files ? sizeof file_names / sizeof *file_names : FEW;
    for (size_t i = 0; i < files; i++) {
        fixture f = fixture_open();
        char path[256], *text;
        const char *entries[32];
        size_t length;
        cupel_source *source;
        compiled c;
        snprintf(path, sizeof path, "%s/%s.cu", CUPEL_TEST_FILES, file_names[i]);
        assert_int_equal(cupel_text_read(path, f.arena, &text, &length, &c.err), CUPEL_OK);
        assert_int_equal(cupel_source_load(path, NULL, f.arena, &source, &c.err), CUPEL_OK);
        int count = entries_of(&f, text, entries, 32);
        if (compile(&f, source, count, entries, &c) != CUPEL_OK)
            fail_msg("%s:%d: %s", c.err.file, c.err.line, c.err.text);
        assert_int_equal(access(c.path, R_OK), 0);
        for (const char *p = text; (p = strstr(p, "// refused: ")) != NULL; p++) { /* "entry: line: what" */
            char entry[64], what[64];
            const char *one = entry;
            int line;
            assert_int_equal(sscanf(p, "// refused: %63[^:]: %d: %63[^\n]", entry, &line, what), 3);
            assert_int_equal(compile(&f, source, 1, &one, &c), CUPEL_UNSUPPORTED);
            assert_int_equal(c.err.line, line);
            assert_string_equal(c.err.file, path);
            assert_non_null(strstr(c.err.text, what));
        }
        fixture_close(&f);
    }
}

static void a_wrong_entry_is_a_mismatch(void **state) {
    (void)state;
    fixture f = fixture_open();
    compiled c;
    const char *text =
        "template <class T> __global__ void softmax(T *x) {}\n__global__ void other_kernel() {}\n";
    assert_int_equal(compile_text(&f, text, "softmx<float>", &c), CUPEL_MISMATCH);
    assert_non_null(strstr(c.err.text, "did you mean 'softmax'"));
    assert_int_equal(compile_text(&f, text, "softmax<float, 3>", &c), CUPEL_MISMATCH);
    assert_non_null(strstr(c.err.text, "softmax(T *x)"));
    assert_int_equal(c.err.line, 1);
    assert_int_equal(compile_text(&f, text, "softmax", &c), CUPEL_MISMATCH);
    fixture_close(&f);
}

static void an_error_has_the_authors_line(void **state) {
    (void)state;
    fixture f = fixture_open();
    compiled c;
    assert_int_equal(
        compile_text(&f,
                     "int main() {\n  gone();\n}\n__global__ void k(float *x) {\n\n  x[0] = undeclared;\n}\n",
                     "k", &c),
        CUPEL_BUILD);
    assert_int_equal(c.err.line, 6);
    assert_string_equal(c.err.file, f.path);
    assert_non_null(strstr(c.err.text, "undeclared"));
    /* inside a template of ours, the line that asked for it */
    assert_int_equal(compile_text(&f,
                                  "struct big { double a, b; };\n__global__ void k(big *x) {\n  x[0] = "
                                  "__shfl_sync(~0u, x[0], 1);\n}\n",
                                  "k", &c),
                     CUPEL_BUILD);
    assert_int_equal(c.err.line, 3);
    assert_string_equal(c.err.file, f.path);
    fixture_close(&f);
}

static void broken_neighbours_are_left_out(void **state) {
    (void)state;
    fixture f = fixture_open();
    compiled c;
    const char *text =
        "struct Holder { std::vector<float> v; Missing m; };\nusing Alias = missing::type;\n"
        "Missing make(int x);\nclass Q : public Missing {};\n__device__ int broken() { return missing; }\n"
        "__global__ void other(Missing m) { broken(); }\n__global__ void k(int *x) { x[0] = 1; }\n";
    if (compile_text(&f, text, "k", &c) != CUPEL_OK) fail_msg("%d: %s", c.err.line, c.err.text);
    assert_int_equal(compile(&f, c.source, 1, (const char *const[]){"other"}, &c), CUPEL_BUILD);
    assert_true(c.err.line == 5 || c.err.line == 6);
    fixture_close(&f);
}

static void a_declaration_alone_is_not_enough(void **state) {
    (void)state;
    fixture f = fixture_open();
    compiled c;
    assert_int_equal(
        compile_text(&f,
                     "__device__ int elsewhere(int);\n__global__ void k(int *x) { x[0] = elsewhere(1); }\n",
                     "k", &c),
        CUPEL_BUILD);
    assert_non_null(strstr(c.err.text, "elsewhere"));
    assert_int_equal(compile_text(&f, "__global__ void later(int *x);\n", "later", &c), CUPEL_BUILD);
    assert_non_null(strstr(c.err.text, "later"));
    fixture_close(&f);
}

/* Kernels that no entry names are not compiled; explicit instantiations do not stand in the way. */
static void only_entries_are_compiled(void **state) {
    (void)state;
    fixture f = fixture_open();
    compiled c;
    const char *text = "void host();\nextern \"C\" __global__ void k(int *x) { x[0] = 1; }\n__global__ void "
                       "other() { host(); }\n"
                       "template <class T> __global__ void t(T *x);\ntemplate <class T> __global__ void t(T "
                       "*x) { x[0] = T(2); }\n"
                       "template __global__ void t<float>(float *);\ntemplate <> __global__ void t<int>(int "
                       "*x) { x[0] = 3; }\n";
    assert_int_equal(compile_text(&f, text, "k", &c), CUPEL_OK);
    char command[200];
    snprintf(command, sizeof command, "nm '%s' | grep -q other", c.path);
    assert_int_not_equal(system(command), 0);
    assert_int_equal(compile(&f, c.source, 2, (const char *const[]){"t<float>", "t<int>"}, &c), CUPEL_OK);
    fixture_close(&f);
}

static void defines_reach_the_kernel(void **state) {
    (void)state;
    fixture f = fixture_open();
    char cache[96];
    const char *entry = "k", *defines[] = {"FLOAT=float", "WANTED"}, *path;
    cupel_error err;
    snprintf(cache, sizeof cache, "%s/cache", f.folder);
    cupel_source *source = fixture_load(&f, "#ifdef WANTED\n__global__ void k(FLOAT *x) {}\n#endif\n");
    cupel_emu_compile_request request = {
        .source = source, .entry_count = 1, .entries = &entry, .cache = cache};
    assert_int_not_equal(cupel_emu_compile(&request, f.arena, &path, &err), CUPEL_OK);
    request.define_count = 2;
    request.defines = defines;
    assert_int_equal(cupel_emu_compile(&request, f.arena, &path, &err), CUPEL_OK);
    fixture_close(&f);
}

static void no_compiler(void **state) {
    (void)state;
    fixture f = fixture_open();
    char cache[96];
    const char *entry = "k", *path;
    cupel_error err;
    snprintf(cache, sizeof cache, "%s/cache", f.folder);
    cupel_emu_compile_request request = {.source = fixture_load(&f, "__global__ void k() {}\n"),
                                         .entry_count = 1,
                                         .entries = &entry,
                                         .cache = cache,
                                         .compiler = "/nowhere/clang"};
    assert_int_equal(cupel_emu_compile(&request, f.arena, &path, &err), CUPEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "install the package clang"));
    assert_null(strstr(err.text, "cupel build"));
    fixture_close(&f);
}

static void equal_requests_share_an_object(void **state) {
    (void)state;
    fixture f = fixture_open();
    compiled first, again, other;
    const char *text = "__global__ void k() {}\n__global__ void l() {}\n";
    assert_int_equal(compile_text(&f, text, "k", &first), CUPEL_OK);
    struct stat before, after;
    assert_int_equal(stat(first.path, &before), 0);
    assert_int_equal(compile_text(&f, text, "k", &again), CUPEL_OK);
    assert_string_equal(first.path, again.path);
    assert_int_equal(stat(again.path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(compile_text(&f, text, "l", &other), CUPEL_OK);
    assert_string_not_equal(first.path, other.path);
    assert_int_equal(compile_text(&f, "__global__ void k() { }\n__global__ void l() {}\n", "k", &other),
                     CUPEL_OK);
    assert_string_not_equal(first.path, other.path);
    fixture_close(&f);
}

/* What was compiled once is found again by its content; another content has another object. */
static void objects_are_kept(void **state) {
    (void)state;
    fixture f = fixture_open();
    char cache[96];
    const char *entry = "k", *define = "VALUE=2", *paths[3];
    struct stat info[3];
    cupel_error err;
    snprintf(cache, sizeof cache, "%s/cache", f.folder);
    for (int i = 0; i < 3; i++) {
        cupel_source *source = fixture_load(&f, "__global__ void k(float *x) { x[0] = 1; }\n");
        cupel_emu_compile_request request = {.source = source,
                                             .entry_count = 1,
                                             .entries = &entry,
                                             .cache = cache,
                                             .define_count = i == 2,
                                             .defines = &define};
        assert_int_equal(cupel_emu_compile(&request, f.arena, &paths[i], &err), CUPEL_OK);
        assert_int_equal(stat(paths[i], &info[i]), 0);
    }
    assert_string_equal(paths[0], paths[1]);
    assert_int_equal(info[0].st_ino, info[1].st_ino); /* a new one would have been renamed to this name */
    assert_int_equal(info[0].st_mtim.tv_nsec, info[1].st_mtim.tv_nsec);
    assert_string_not_equal(paths[0], paths[2]);
    fixture_close(&f);
}

/* Processes that compile the same at once all succeed, and nothing but the object and the headers is left. */
static void processes_compile_at_once(void **state) {
    (void)state;
    fixture f = fixture_open();
    cupel_source *source = fixture_load(&f, "__global__ void k(float *x) { x[0] = 1; }\n");
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            compiled c;
            _exit(compile(&f, source, 1, (const char *const[]){"k"}, &c) == CUPEL_OK ? 0 : 1);
        }
    }
    for (int i = 0; i < 3; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    char command[160];
    snprintf(command, sizeof command, "test $(ls '%s/cache/deep' | wc -l) = 2", f.folder);
    assert_int_equal(system(command), 0);
    fixture_close(&f);
}

static void host_functions_in_device_code(void **state) {
    (void)state;
    static const struct {
        const char *call, *name;
    } calls[] = {{"exit(3)", "exit"},   {"std::exit(1)", "exit"},
                 {"abort()", "abort"},  {"std::abort()", "abort"},
                 {"_exit(1)", "_exit"}, {"system(\"ls\")", "system"},
                 {"fork()", "fork"},    {"::quick_exit(1)", "quick_exit"}};
    fixture f = fixture_open();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        compiled c;
        char text[400], want[64];
        snprintf(text, sizeof text,
                 "#include <cstdlib>\n__device__ void give_up() {\n  %s;\n}\n"
                 "__global__ void k(float *x) { if (x[0] > 1) give_up(); x[0] = 1; }\n"
                 "__global__ void l(float *x) { x[0] = 1; }\nint main() { exit(0); }\n",
                 calls[i].call);
        snprintf(want, sizeof want, "%s is not a device function", calls[i].name);
        cupel_code code = compile_text(&f, text, "k", &c);
        if (code != CUPEL_BUILD || c.err.line != 3 || !strstr(c.err.text, want))
            fail_msg("%s: %d: %s", calls[i].call, c.err.line, code == CUPEL_OK ? "compiles" : c.err.text);
        if (!all_files && i > 0) continue; /* what does not call it is compiled */
        if (compile_text(&f, text, "l", &c) != CUPEL_OK) fail_msg("%s: %s", calls[i].call, c.err.text);
    }
    compiled c; /* names of the author's own */
    const char *text =
        "struct gate { int exit, system; __device__ int abort() const { return exit + system; } };\n"
        "__device__ int fork(int way) { return way; }\n"
        "namespace mine { __device__ void exit(int *x) { x[0] = 1; } }\n"
        "__global__ void k(int *x) { gate g{1, 2}; int system = fork(g.abort()); "
        "mine::exit(x + system); }\n";
    if (compile_text(&f, text, "k", &c) != CUPEL_OK) fail_msg("%d: %s", c.err.line, c.err.text);
    fixture_close(&f);
}

static void headers_that_were_left_out_are_named(void **state) {
    (void)state;
    fixture f = fixture_open();
    compiled c;
    const char *text = "#include \"h.cuh\"\n#include \"cuda_fp16.h\"\n#include <torch/extension.h>\n"
                       "__global__ void k(float *x) { x[0] = from_header(1); }\n"
                       "__global__ void l(float *x) { x[0] = 1; }\n";
    assert_int_equal(compile_text(&f, text, "k", &c), CUPEL_BUILD);
    assert_int_equal(c.err.line, 4);
    assert_non_null(strstr(c.err.text, "from_header"));
    assert_non_null(
        strstr(c.err.text, "the header 'h.cuh' was not found and was left out: use -I or source.include"));
    assert_int_equal(compile_text(&f, text, "inside", &c), CUPEL_MISMATCH);
    assert_non_null(strstr(c.err.text, "'h.cuh' was not found"));
    assert_int_equal(compile_text(&f, text, "l", &c), CUPEL_OK);
    text = "#include \"a.h\"\n#include \"b.h\"\n#include \"a.h\"\n__global__ void k(int *x) { gone(); }\n";
    assert_int_equal(compile_text(&f, text, "k", &c), CUPEL_BUILD);
    assert_non_null(strstr(c.err.text, "the headers 'a.h', 'b.h' were not found and were left out"));
    fixture_close(&f);
}

static void an_include_folder_must_exist(void **state) {
    (void)state;
    fixture f = fixture_open();
    cupel_source *source;
    cupel_error err;
    const char *folder = "/nowhere/include";
    const char *text = "__global__ void k() {}\n";
    write_file(f.path, text, strlen(text));
    cupel_source_options options = {.include_count = 1, .includes = &folder};
    assert_int_equal(cupel_source_load(f.path, &options, f.arena, &source, &err), CUPEL_USAGE);
    assert_non_null(strstr(err.text, "'/nowhere/include' does not exist"));
    fixture_close(&f);
}

static void refusals_are_sentences(void **state) {
    (void)state;
    fixture f = fixture_open();
    compiled c;
    assert_int_equal(
        compile_text(&f, "__global__ void k(float *x, cudaTextureObject_t t) { x[0] = 1; }\n", "k", &c),
        CUPEL_UNSUPPORTED);
    assert_non_null(strstr(c.err.text, "textures in 'k' are not emulated"));
    assert_int_equal(
        compile_text(&f, "__global__ void k(float *x) { asm(\"discard.L2 [%0], 128;\"); }\n", "k", &c),
        CUPEL_UNSUPPORTED);
    assert_non_null(strstr(c.err.text, "the PTX instruction 'discard.L2' in 'k' is not emulated"));
    assert_int_equal(compile_text(&f, "__global__ void k(float *x) { cutlass::fill(x); }\n", "k", &c),
                     CUPEL_UNSUPPORTED);
    assert_non_null(strstr(c.err.text, "CUTLASS in 'k' is not emulated"));
    fixture_close(&f);
}

/* From the source to the refusal of a launch. */
static void launch_bounds_refuse_a_launch(void **state) {
    (void)state;
    fixture f = fixture_open();
    compiled c;
    cupel_emu_module *module;
    static cupel_observation seen;
    static float x[64];
    static uint8_t valid[sizeof x / 8 + 8], readable[sizeof x / 8 + 8];
    memset(valid, 0xff, sizeof valid);
    const char *entry = "k<float, 64>";
    assert_int_equal(compile_text(&f,
                                  "template <class T, int B> __global__ void __launch_bounds__(B) k(T *x) {\n"
                                  "  x[threadIdx.x % 64] = 1;\n}\n",
                                  entry, &c),
                     CUPEL_OK);
    assert_int_equal(cupel_emu_module_load(c.path, &module, &c.err), CUPEL_OK);
    float *px = x;
    void *arguments[] = {&px};
    cupel_emu_memory memory = {(unsigned char *)x, sizeof x, valid, NULL, readable, NULL, NULL};
    for (int threads = 64; threads <= 65; threads++) {
        cupel_emu_launch launch = {.kernel = cupel_emu_module_kernel(module, entry),
                                   .args = arguments,
                                   .grid = {1, 1, 1},
                                   .block = {threads, 1, 1}};
        cupel_emu_run_begin(module, &memory, 0, 0, 0xff, 1000000, &seen);
        assert_int_equal(cupel_emu_run_launch(&launch), threads == 64);
        cupel_emu_run_end(false);
    }
    assert_int_equal(seen.outcome, CUPEL_RUN_REFUSED);
    assert_non_null(strstr(seen.text, "65 threads a block, __launch_bounds__ allows 64"));
    cupel_emu_module_close(module);
    fixture_close(&f);
}

/* ---- the compiler as a process ---- */

static void a_command_dies_with_us(void **state) {
    (void)state;
    fixture f = fixture_open();
    int ends[2];
    char log[96], byte;
    snprintf(log, sizeof log, "%s/log", f.folder);
    assert_int_equal(pipe(ends), 0); /* whoever lives holds its end open */
    pid_t child = fork();
    if (child == 0) {
        static const char *const argv[] = {"sh", "-c", "echo x >&$0; exec sleep 600", NULL, NULL};
        char number[16];
        const char *command[5];
        bool success;
        memcpy(command, argv, sizeof argv);
        snprintf(number, sizeof number, "%d", ends[1]);
        command[3] = number;
        close(ends[0]);
        (void)!cupel_emu_compiler_run(command, log, 10, &success, NULL);
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1); /* it runs */
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* and has ended */
    close(ends[0]);
    fixture_close(&f);
}

static void a_disk_without_room_is_told(void **state) {
    (void)state;
    fixture f = fixture_open();
    char log[96];
    cupel_error err = {0};
    snprintf(log, sizeof log, "%s/log", f.folder);
    assert_int_equal(cupel_emu_compiler_room(log, &err), CUPEL_OK);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 100, .rlim_max = 100};
        (void)signal(SIGXFSZ, SIG_IGN);
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        _exit(cupel_emu_compiler_room(log, &err) == CUPEL_IO && strstr(err.text, "cannot write") ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    fixture_close(&f);
}

static void make_old(const char *path) {
    const struct timespec then[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
}

static void what_killed_compilers_left_is_swept(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool old, stays;
    } folders[] = {{"compile-aB3dEf", true, false},
                   {"unpack-aB3dEf", true, false},
                   {"compile-aB3dEg", false, true},
                   {"compile-else-where", true, true},
                   {"headers-aB3dEf", true, true}};
    fixture f = fixture_open();
    char path[160], file[200];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", f.folder, folders[i].name);
        assert_int_equal(mkdir(path, 0700), 0);
        snprintf(file, sizeof file, "%s/log", path);
        assert_int_equal(cupel_text_write(file, "x", 1, NULL), CUPEL_OK);
        if (folders[i].old) make_old(path);
    }
    cupel_emu_sweep(f.folder, 2000);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(file, sizeof file, "%s/%s/log", f.folder, folders[i].name);
        assert_int_equal(access(file, F_OK) == 0, folders[i].stays);
    }
    fixture_close(&f);
}

int main(int argc, char **argv) {
    all_files = argc > 1 && strcmp(argv[1], "all") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trial_files_compile),
        cmocka_unit_test(a_wrong_entry_is_a_mismatch),
        cmocka_unit_test(an_error_has_the_authors_line),
        cmocka_unit_test(broken_neighbours_are_left_out),
        cmocka_unit_test(a_declaration_alone_is_not_enough),
        cmocka_unit_test(only_entries_are_compiled),
        cmocka_unit_test(defines_reach_the_kernel),
        cmocka_unit_test(no_compiler),
        cmocka_unit_test(equal_requests_share_an_object),
        cmocka_unit_test(objects_are_kept),
        cmocka_unit_test(processes_compile_at_once),
        cmocka_unit_test(host_functions_in_device_code),
        cmocka_unit_test(headers_that_were_left_out_are_named),
        cmocka_unit_test(an_include_folder_must_exist),
        cmocka_unit_test(refusals_are_sentences),
        cmocka_unit_test(launch_bounds_refuse_a_launch),
        cmocka_unit_test(a_command_dies_with_us),
        cmocka_unit_test(a_disk_without_room_is_told),
        cmocka_unit_test(what_killed_compilers_left_is_swept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
