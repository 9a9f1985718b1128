/* Kernels as a check compiles them, for sm_80, sm_90 and sm_100: what our reader says of the binaries is what
 * NVIDIA's own tools say of them: cuobjdump where there is one, else ptxas of the same PTX. Skipped where
 * neither the compiler nor a tool is installed. Arguments: contract files, or folders of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cubin.h"
#include "nvrtc.h"
#include "resource_use.h"
#include "text.h"

enum { PARTS = 3 };

static char folder[64] = "/tmp/cupel-tools-XXXXXX", tool[512];
static bool is_cuobjdump;
static int compared;

static bool find_tool(const char *name) {
    const char *path = getenv("PATH");
    for (const char *at = path; at && *at;) {
        size_t length = strcspn(at, ":");
        snprintf(tool, sizeof tool, "%.*s/%s", (int)length, at, name);
        if (access(tool, X_OK) == 0) return true;
        at += length + (at[length] == ':');
    }
    snprintf(tool, sizeof tool, "/usr/local/cuda/bin/%s", name);
    return access(tool, X_OK) == 0;
}

static char *read_whole(cupel_arena *arena, const char *path, size_t *size) {
    char *bytes;
    cupel_error err = {0};
    if (cupel_text_read(path, arena, &bytes, size, &err) != CUPEL_OK) fail_msg("%s", err.text);
    return bytes;
}

static void write_whole(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static const cupel_cubin_kernel *expect_kernel(const cupel_cubin *cubin, const char *name) {
    const cupel_cubin_kernel *kernel = cupel_cubin_find(cubin, name);
    if (!kernel) fail_msg("our reader knows no kernel %s", name);
    compared++;
    return kernel;
}

/* " Function NAME:", then "REG:n STACK:n SHARED:n LOCAL:n". */
static void compare_dump(FILE *said, const cupel_cubin *cubin) {
    char line[4096], name[2048] = "";
    long long registers, stack, shared;
    while (fgets(line, sizeof line, said)) {
        if (sscanf(line, " Function %2047[^:]:", name) == 1) continue;
        if (sscanf(line, " REG:%lld STACK:%lld SHARED:%lld", &registers, &stack, &shared) != 3) continue;
        const cupel_cubin_kernel *kernel = expect_kernel(cubin, name);
        assert_int_equal(kernel->registers, registers);
        assert_int_equal(kernel->stack, stack);
        assert_int_equal(kernel->shared + kernel->reserved, shared);
    }
}

/* "Compiling entry function 'NAME'", "n bytes stack frame", "Used n registers, .., n bytes smem". */
static void compare_verbose(FILE *said, const cupel_cubin *cubin) {
    char line[4096], name[2048] = "";
    bool own = false; /* properties of the entry, not of a function that it calls */
    long long stack = 0, registers, shared;
    while (fgets(line, sizeof line, said)) {
        const char *at;
        if ((at = strstr(line, "entry function '"))) sscanf(at, "entry function '%2047[^']'", name);
        if ((at = strstr(line, "Function properties for "))) own = strstr(at, name) != NULL;
        if (own && strstr(line, "bytes stack frame")) sscanf(line, " %lld bytes stack frame", &stack);
        if (!(at = strstr(line, "Used ")) || sscanf(at, "Used %lld registers", &registers) != 1) continue;
        shared = 0;
        if ((at = strstr(line, " bytes smem"))) {
            while (at > line && at[-1] >= '0' && at[-1] <= '9') at--;
            shared = strtoll(at, NULL, 10);
        }
        const cupel_cubin_kernel *kernel = expect_kernel(cubin, name);
        assert_int_equal(kernel->registers, registers);
        assert_int_equal(kernel->stack, stack);
        assert_int_equal(kernel->shared, shared);
    }
}

static FILE *run_tool(const char *input, const char *output, int architecture) {
    char command[2048];
    if (is_cuobjdump)
        snprintf(command, sizeof command, "'%s' --dump-resource-usage '%s' 2>&1", tool, input);
    else
        snprintf(command, sizeof command, "'%s' -v -arch=sm_%d '%s' -o '%s' 2>&1", tool, architecture, input,
                 output);
    FILE *said = popen(command, "r");
    assert_non_null(said);
    return said;
}

/* A file of the cache: magic, sizes of its parts, the binary, the PTX, names. */
static void compare_binary(const char *path) {
    cupel_arena *arena = cupel_arena_create(0);
    size_t size, header = 8 + PARTS * sizeof(uint64_t);
    uint64_t sizes[PARTS];
    char given[256], made[256];
    const char *bytes = read_whole(arena, path, &size);
    assert_true(size > header);
    memcpy(sizes, bytes + 8, sizeof sizes);
    cupel_cubin cubin;
    cupel_error err = {0};
    if (cupel_cubin_read(bytes + header, sizes[0], arena, &cubin, &err) != CUPEL_OK) fail_msg("%s", err.text);
    snprintf(given, sizeof given, "%s/given", folder);
    snprintf(made, sizeof made, "%s/made", folder);
    int before = compared, architecture = cubin.architecture;
    write_whole(given, bytes + header + (is_cuobjdump ? 0 : sizes[0]), is_cuobjdump ? sizes[0] : sizes[1]);
    FILE *said = run_tool(given, made, architecture);
    if (!is_cuobjdump) {
        char *text = cupel_arena_alloc(arena, 1 << 20); /* the binary is there when the tool has ended */
        size_t used = fread(text, 1, (1 << 20) - 1, said);
        assert_int_equal(pclose(said), 0);
        said = fmemopen(text, used ? used : 1, "r");
        const char *binary = read_whole(arena, made, &size);
        assert_int_equal(cupel_cubin_read(binary, size, arena, &cubin, &err), CUPEL_OK);
        assert_int_equal(cubin.architecture, architecture);
        compare_verbose(said, &cubin);
        fclose(said);
    } else {
        compare_dump(said, &cubin);
        assert_int_equal(pclose(said), 0);
    }
    assert_int_equal(compared - before, cubin.count);
    cupel_arena_free(arena);
}

static void empty_folder(void) {
    char pattern[128];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/*", folder);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) unlink(found.gl_pathv[i]);
    globfree(&found);
}

static void compare_contract(const cupel_contract *contract) {
    static const int architectures[] = {80, 90, 100};
    const cupel_executor_options options = {.cache = folder};
    static cupel_resources resources;
    char pattern[128];
    glob_t found = {0};
    if (contract->host) return;
    cupel_resources_architectures(contract, 0, &resources);
    resources.architecture_count = 3;
    memcpy(resources.architectures, architectures, sizeof architectures);
    empty_folder();
    cupel_resources_compile(contract, &options, &resources);
    if (resources.missing[0]) fail_msg("%s: %s", contract->id, resources.missing);
    assert_true(resources.count >= 3 && resources.count % 3 == 0);
    snprintf(pattern, sizeof pattern, "%s/*.gpu", folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 3);
    for (size_t i = 0; i < found.gl_pathc; i++) compare_binary(found.gl_pathv[i]);
    globfree(&found);
}

static void compare_file(const char *path) {
    cupel_arena *arena = cupel_arena_create(0);
    cupel_contracts contracts;
    cupel_error err = {0};
    if (cupel_contracts_load(path, arena, &contracts, &err) != CUPEL_OK) fail_msg("%s: %s", path, err.text);
    for (int i = 0; i < contracts.count; i++) compare_contract(contracts.items[i]);
    cupel_arena_free(arena);
}

static char **arguments;

static void test_agrees_with_tools(void **state) {
    (void)state;
    for (char **at = arguments; *at; at++) {
        struct stat info;
        char pattern[1024];
        glob_t found = {0};
        assert_int_equal(stat(*at, &info), 0);
        snprintf(pattern, sizeof pattern, "%s%s", *at, S_ISDIR(info.st_mode) ? "/*.cu" : "");
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t i = 0; i < found.gl_pathc; i++) compare_file(found.gl_pathv[i]);
        globfree(&found);
    }
    printf("%d kernels compared with %s\n", compared, tool);
    assert_true(compared > 0);
}

int main(int argc, char **argv) {
    const cupel_nvrtc *nvrtc;
    cupel_error err = {0};
    (void)argc;
    arguments = argv + 1;
    if (cupel_nvrtc_find(&nvrtc, &err) != CUPEL_OK) {
        printf("skipped: %s\n", err.text);
        return 0;
    }
    is_cuobjdump = find_tool("cuobjdump");
    if (!is_cuobjdump && !find_tool("ptxas")) {
        printf("skipped: neither cuobjdump nor ptxas is installed\n");
        return 0;
    }
    if (!mkdtemp(folder)) return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees_with_tools)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    empty_folder();
    rmdir(folder);
    return failed;
}
