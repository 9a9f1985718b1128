/* The emulator against its prototype (baseline/emulator, verbatim) on the prototype's kernel, a softmax over
 * M rows of N with 256 threads. Both run in turn and are measured in processor time (the machine may be
 * busy), the median of five is printed. Ours runs as in a check: buffers between guard bands filled and
 * compared, output and shared memory poisoned, bit maps reset, every access checked, edges counted.
 *
 *   bench_emulator BASELINE KERNEL CACHE [M N THREADS]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emu_compile.h"
#include "emu_runtime.h"
#include "schedule.h"

enum { TURNS = 5, GUARD = 4096 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, TURNS, sizeof *values, by_value);
    return values[TURNS / 2];
}

/* Cases a second of processor time, the program's start included. */
static double baseline_rate(char *program, int m, int n, int threads, int cases) {
    char text[4][16];
    int values[4] = {m, n, threads, cases}, status;
    char *arguments[6] = {program};
    for (int i = 0; i < 4; i++) {
        snprintf(text[i], sizeof text[i], "%d", values[i]);
        arguments[i + 1] = text[i];
    }
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL) execv(program, arguments);
        _exit(127);
    }
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) exit(2);
    return cases / ((double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
                    1e-6 * ((double)used.ru_utime.tv_usec + (double)used.ru_stime.tv_usec));
}

typedef struct memory {
    size_t bytes, x, y;
    unsigned char *now, *before;
    uint8_t *valid, *writable, *readable, *readable_before;
} memory;

static void mark(uint8_t *map, size_t start, size_t size) {
    for (size_t i = start; i < start + size; i++) map[i / 8] |= (uint8_t)(1 << i % 8);
}

static void *must(void *memory) {
    if (memory == NULL) exit(2);
    return memory;
}

static memory make_memory(size_t elements) {
    memory f = {.x = GUARD, .y = 2 * GUARD + 4 * elements, .bytes = 3 * GUARD + 8 * elements};
    f.now = must(aligned_alloc(4096, (f.bytes + 4095) / 4096 * 4096));
    f.before = must(malloc(f.bytes));
    f.valid = must(calloc(1, f.bytes / 8 + 16));
    f.writable = must(calloc(1, f.bytes / 8 + 16));
    f.readable = must(calloc(1, f.bytes / 8 + 16));
    f.readable_before = must(calloc(1, f.bytes / 8 + 16));
    memset(f.before, 0xff, f.bytes);
    for (size_t i = 0; i < elements; i++) {
        float value = sinf((float)i) * 5;
        memcpy(f.before + f.x + 4 * i, &value, 4);
    }
    mark(f.valid, f.x, 4 * elements);
    mark(f.valid, f.y, 4 * elements);
    mark(f.writable, f.y, 4 * elements);
    mark(f.readable_before, f.x, 4 * elements);
    return f;
}

static int locate(const void *self, const void *address, int64_t *offset) {
    (void)self, (void)address, (void)offset;
    return -1;
}

static bool run_case(memory *f, cupel_emu_module *module, const cupel_emu_launch *launch, uint64_t schedule,
                     size_t elements, uint64_t *steps) {
    cupel_emu_memory global = {f->now, f->bytes, f->valid, f->writable, f->readable, locate, NULL};
    cupel_observation seen;
    memcpy(f->now, f->before, f->bytes);
    memcpy(f->readable, f->readable_before, f->bytes / 8 + 16);
    cupel_emu_run_begin(module, &global, cupel_schedule_nth(schedule), 0, 0xff, 100000000, &seen);
    cupel_emu_run_launch(launch);
    bool again = cupel_emu_run_end(false);
    *steps = seen.steps;
    return !again && seen.outcome == CUPEL_RUN_FINISHED && seen.access_total == 0 &&
           memcmp(f->now, f->before, f->y) == 0 &&
           memcmp(f->now + f->y + 4 * elements, f->before + f->y + 4 * elements, GUARD) == 0;
}

static double error_of(const memory *f, int m, int n) {
    const float *x = (const float *)(const void *)(f->now + f->x),
                *y = (const float *)(const void *)(f->now + f->y);
    double worst = 0;
    for (int i = 0; i < m; i++) {
        double largest = -INFINITY, sum = 0;
        for (int j = 0; j < n; j++) largest = fmax(largest, x[i * n + j]);
        for (int j = 0; j < n; j++) sum += exp(x[i * n + j] - largest);
        for (int j = 0; j < n; j++)
            worst = fmax(worst, fabs(exp(x[i * n + j] - largest) / sum - y[i * n + j]));
    }
    return worst;
}

static cupel_emu_module *load(const char *kernel, const char *cache) {
    static const char *const entries[] = {"softmax"};
    cupel_error err;
    cupel_arena *arena = must(cupel_arena_create(0));
    cupel_source_options options = {0};
    cupel_source *source;
    const char *path;
    cupel_emu_module *module = NULL;
    cupel_code code = cupel_source_load(kernel, &options, arena, &source, &err);
    cupel_emu_compile_request request = {
        .source = source, .entry_count = 1, .entries = entries, .cache = cache};
    if (code == CUPEL_OK) code = cupel_emu_compile(&request, arena, &path, &err);
    if (code == CUPEL_OK) code = cupel_emu_module_load(path, &module, &err);
    if (code != CUPEL_OK) {
        char text[2048];
        fprintf(stderr, "%s\n", cupel_error_format(&err, text, sizeof text));
        exit(2);
    }
    cupel_arena_free(arena);
    return module;
}

int main(int argc, char **argv) {
    if (argc != 4 && argc != 7) {
        fprintf(stderr, "usage: %s BASELINE KERNEL CACHE [M N THREADS]\n", argv[0]);
        return 2;
    }
    int m = argc == 7 ? atoi(argv[4]) : 4, n = argc == 7 ? atoi(argv[5]) : 64,
        threads = argc == 7 ? atoi(argv[6]) : 256;
    size_t elements = (size_t)m * (size_t)n;
    cupel_emu_module *module = load(argv[2], argv[3]);
    memory f = make_memory(elements);
    void *x = f.now + f.x, *y = f.now + f.y, *args[] = {&x, &y, &m, &n};
    cupel_emu_launch launch = {.kernel = cupel_emu_module_kernel(module, "softmax"),
                               .args = args,
                               .grid = {m, 1, 1},
                               .block = {threads, 1, 1}};

    double theirs[TURNS], ours[2][TURNS];
    uint64_t steps = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        theirs[turn] = baseline_rate(argv[1], m, n, threads, 400);
        for (int way = 0; way < 2; way++) {
            enum { CASES = 800 };
            double start = now();
            for (int i = 0; i < CASES; i++) {
                if (run_case(&f, module, &launch, way == 0 ? 0 : (uint64_t)(turn * CASES + i + 1), elements,
                             &steps))
                    continue;
                fprintf(stderr, "the kernel did not run well\n");
                return 1;
            }
            ours[way][turn] = CASES / (now() - start);
        }
    }
    double error = error_of(&f, m, n), before = median(theirs), canonical = median(ours[0]),
           seeded = median(ours[1]);
    printf("M=%d N=%d threads=%d, cases/s: prototype %.0f, emulator %.0f (%.2f times), seeded schedules %.0f "
           "(%.2f times); "
           "%llu steps a case, error %.2g\n",
           m, n, threads, before, canonical, canonical / before, seeded, seeded / before,
           (unsigned long long)steps, error);
    cupel_emu_module_close(module);
    return error < 1e-6 ? 0 : 1;
}
