#include "doctor.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "emu_compiler.h"
#include "engine.h"
#include "store.h"
#include "text.h"

#include <gmp.h>
#include <mpfr.h>

void cupel_doctor_add(cupel_doctor *doctor, const char *name, cupel_doctor_state state, const char *found,
                      const char *purpose, const char *install) {
    if (doctor->count == CUPEL_DOCTOR_MAX) return;
    doctor->items[doctor->count++] = (cupel_doctor_item){name, state, found ? found : "", purpose,
                                                         state == CUPEL_DOCTOR_OK ? "" : install};
}

const char *cupel_doctor_which(cupel_doctor *doctor, const char *program, const char *const *folders) {
    const char *path = getenv("PATH");
    for (; path && *path; path += strcspn(path, ":"), path += *path == ':') {
        char *file = cupel_arena_printf(doctor->arena, "%.*s/%s", (int)strcspn(path, ":"), path, program);
        if (file && access(file, X_OK) == 0) return file;
    }
    for (int i = 0; folders && folders[i]; i++) {
        char *file = cupel_arena_printf(doctor->arena, "%s/%s", folders[i], program);
        if (file && access(file, X_OK) == 0) return file;
    }
    return NULL;
}

const char *cupel_doctor_run(cupel_doctor *doctor, const char *folder, const char *const *argv, int seconds,
                             bool *success) {
    char *text;
    size_t length;
    const char *log = cupel_arena_printf(doctor->arena, "%s/log", folder);
    if (!log || cupel_emu_compiler_run(argv, log, seconds, success, NULL) != CUPEL_OK) return NULL;
    return cupel_text_read(log, doctor->arena, &text, &length, NULL) == CUPEL_OK ? text : NULL;
}

/* A folder of our own for what is tried; removed with all that is in it. Where check works, in the cache;
 * where the cache cannot be written check says so itself, from a folder for temporary files. */
static const char *make_folder(cupel_doctor *doctor) {
    const char *temporary = getenv("TMPDIR");
    const char *const bases[] = {doctor->cache, temporary && *temporary ? temporary : "/tmp", "/tmp"};
    (void)cupel_store_make(doctor->cache, NULL);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        char *folder = cupel_arena_printf(doctor->arena, "%s/doctor-XXXXXX", bases[i]);
        if (folder && mkdtemp(folder)) return folder;
    }
    return NULL;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk) {
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static void remove_folder(const char *folder) {
    if (folder) (void)nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* "Debian clang version 14.0.6" and its like: the first line, from the first digit's word on. */
static const char *version_of(cupel_doctor *doctor, const char *folder, const char *path) {
    bool success = false;
    const char *const argv[] = {path, "--version", NULL};
    const char *text = folder ? cupel_doctor_run(doctor, folder, argv, 10, &success) : NULL;
    if (!text || !success) return "";
    for (const char *at = text; *at && *at != '\n'; at++)
        if (*at >= '0' && *at <= '9')
            return cupel_arena_printf(doctor->arena, "%.*s ", (int)strcspn(at, " \n-+,"), at);
    return "";
}

static void add_program(cupel_doctor *doctor, const char *folder, const char *program,
                        cupel_doctor_state without, const char *purpose, const char *install) {
    const char *path = cupel_doctor_which(doctor, program, NULL);
    cupel_doctor_add(doctor, program, path ? CUPEL_DOCTOR_OK : without,
                     path ? cupel_arena_printf(doctor->arena, "%s%s", version_of(doctor, folder, path), path)
                          : "not found",
                     purpose, install);
}

void cupel_doctor_programs(cupel_doctor *doctor) {
    const char *folder = make_folder(doctor);
    add_program(doctor, folder, "clang", CUPEL_DOCTOR_MISSING,
                "compiles kernels for the emulator, and C functions", "apt-get install clang");
    add_program(doctor, folder, "ld", CUPEL_DOCTOR_MISSING, "links what clang compiles",
                "apt-get install binutils");
    add_program(doctor, folder, "gdb", CUPEL_DOCTOR_ABSENT, "replay --gdb", "apt-get install gdb");
    add_program(doctor, folder, "afl-fuzz", CUPEL_DOCTOR_ABSENT, "an engine that is not there yet",
                "nothing to do yet");
    remove_folder(folder);
    cupel_doctor_add(doctor, "MPFR", CUPEL_DOCTOR_OK,
                     cupel_arena_printf(doctor->arena, "%s with GMP %s", mpfr_get_version(), gmp_version),
                     "the exact oracle", "");
    bool libfuzzer = cupel_engine_find("libfuzzer") != NULL;
    cupel_doctor_add(doctor, "libFuzzer", libfuzzer ? CUPEL_DOCTOR_OK : CUPEL_DOCTOR_ABSENT,
                     libfuzzer ? "built in" : "not in this build: cases are drawn without it",
                     "the directed search", "apt-get install libclang-rt-14-dev, then build anew");
}

static const char kernel_text[] =
    "/* cupel: 1\n"
    "id: doctor\n"
    "dims: {N: 1..64}\n"
    "inputs: {x: {type: f32, shape: [N], finite: true}}\n"
    "outputs: {y: \"f32[N]\"}\n"
    "ensures: {y: \"x + 1\"}\n"
    "kernel: {entry: doctor, args: [x, y, N], grid: [\"ceil_div(N, 32)\"], block: [32]}\n"
    "*/\n"
    "__global__ void doctor(const float *x, float *y, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = x[i] + 1.0f;\n"
    "}\n";

/* The text of a log's first line that begins with a word. */
static const char *line_of(cupel_doctor *doctor, const char *log, const char *word) {
    const char *at = strstr(log, word);
    while (at && at != log && at[-1] != '\n') at = strstr(at + 1, word);
    return at ? cupel_arena_printf(doctor->arena, "%.*s", (int)strcspn(at + strlen(word), "\n"),
                                   at + strlen(word))
              : NULL;
}

/* This very program checks a small kernel: compiler, headers, linker, worker, oracle and judge at once. */
void cupel_doctor_emulator(cupel_doctor *doctor) {
    char self[1024];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *folder = make_folder(doctor);
    const char *kernel = folder ? cupel_arena_printf(doctor->arena, "%s/doctor.cu", folder) : NULL;
    const char *log = NULL;
    bool success = false;
    if (length > 0 && kernel &&
        cupel_text_write(kernel, kernel_text, sizeof kernel_text - 1, NULL) == CUPEL_OK) {
        self[length] = '\0';
        const char *const argv[] = {self,     "check", kernel, "--cases", "16",
                                    "--seed", "1",     "-o",   folder,    NULL};
        log = cupel_doctor_run(doctor, folder, argv, 60, &success);
    }
    const char *why = log ? line_of(doctor, log, "cupel: ") : NULL;
    if (!why && log) why = line_of(doctor, log, "INCONCLUSIVE");
    doctor->works = success;
    cupel_doctor_add(doctor, "emulator", success ? CUPEL_DOCTOR_OK : CUPEL_DOCTOR_MISSING,
                     success  ? "a small kernel was compiled, run and judged"
                     : folder ? (why ? why : "a small kernel could not be checked")
                              : "no folder for temporary files could be made",
                     "runs CUDA kernels without a GPU",
                     "see the message; clang and libc6-dev are what it needs");
    const char *note = log ? line_of(doctor, log, "note: candidates") : NULL;
    if (success)
        cupel_doctor_add(doctor, "isolation", note ? CUPEL_DOCTOR_ABSENT : CUPEL_DOCTOR_OK,
                         note ? cupel_arena_printf(doctor->arena, "candidates%s", note)
                              : "no network, read-only files",
                         "keeps a kernel's code from doing harm",
                         "sysctl kernel.unprivileged_userns_clone=1, or run where name spaces are allowed");
    remove_folder(folder);
}

static void add_folder(cupel_doctor *doctor, const char *name, const char *path, cupel_doctor_state without,
                       const char *purpose) {
    struct statvfs info;
    const char *at = path;
    while (access(at, F_OK) != 0 && strrchr(at, '/') && strrchr(at, '/') != at) /* the first that is there */
        at = cupel_arena_printf(doctor->arena, "%.*s", (int)(strrchr(at, '/') - at), at);
    bool known = statvfs(at, &info) == 0, writable = known && access(at, W_OK) == 0;
    bool runs = known && !(info.f_flag & ST_NOEXEC);
    double free_mib = known ? (double)info.f_bavail * (double)info.f_frsize / 1048576.0 : 0;
    bool good = writable && runs && free_mib >= 64;
    cupel_doctor_add(
        doctor, name, good ? CUPEL_DOCTOR_OK : without,
        known ? cupel_arena_printf(doctor->arena, "%s: %s%s%.1f GiB free", path,
                                   writable ? "" : "not writable, ", runs ? "" : "mounted noexec, ",
                                   free_mib / 1024.0)
              : cupel_arena_printf(doctor->arena, "%s: not there", path),
        purpose,
        "set XDG_CACHE_HOME (or TMPDIR) to a folder that is writable, may hold programs and has room");
}

void cupel_doctor_machine(cupel_doctor *doctor) {
    const char *temporary = getenv("TMPDIR");
    add_folder(doctor, "cache", doctor->cache, CUPEL_DOCTOR_MISSING, "keeps compiled kernels");
    add_folder(doctor, "temporary", temporary && *temporary ? temporary : "/tmp", CUPEL_DOCTOR_ABSENT,
               "files while compiling");
    long processors = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES),
         size = sysconf(_SC_PAGESIZE);
    cupel_doctor_add(doctor, "processors", CUPEL_DOCTOR_OK,
                     cupel_arena_printf(doctor->arena, "%ld", processors), "a check uses one or two", "");
    double memory = (double)pages * (double)size / 1073741824.0;
    cupel_doctor_add(doctor, "memory", memory >= 1 ? CUPEL_DOCTOR_OK : CUPEL_DOCTOR_ABSENT,
                     cupel_arena_printf(doctor->arena, "%.1f GiB", memory), "clang needs about 1 GiB",
                     "more memory");
}

void cupel_doctor_examine(cupel_doctor *doctor) {
    cupel_doctor_programs(doctor);
    cupel_doctor_emulator(doctor);
    cupel_doctor_machine(doctor);
    cupel_doctor_cuda(doctor);
}
