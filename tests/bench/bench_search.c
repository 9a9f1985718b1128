/* The directed search against undirected draws, in executions until a defect is found and confirmed in a
 * fresh worker: a defect behind three independent rare conditions must be found at least 5 times sooner,
 * every other defect under seeds/ with at most 1.3 times the executions (medians over seeds). Then executions
 * a second of both, side by side, on kernels that are right.
 *
 * bench_search KERNELS MANIFEST RARE [--only TEXT] [--seeds N] [--limit CASES] [--speed-cases N]
 * KERNELS: folder of the manifest's files; RARE: folder of the kernels with three conditions. Exit status 1
 * when a bound is broken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "supervisor.h"

enum { SEEDS_MAX = 64 };
static const double sooner = 5, dearer = 1.3;

typedef struct bench {
    const char *kernels, *manifest, *rare, *only;
    int seeds;
    uint64_t limit, speed_cases;
    int broken;
} bench;

typedef struct hunt {
    cupel_supervisor *supervisor;
    cupel_arena *arena;
    uint64_t found_at, cases; /* found_at 0: not found */
    double seconds;
} hunt;

typedef struct subject {
    cupel_arena *arena;
    cupel_contract *contract;
    cupel_supervisor *supervisor;
} subject;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static _Noreturn void die(const cupel_error *err) {
    char text[1024];
    cupel_error_format(err, text, sizeof text);
    fprintf(stderr, "bench_search: %s\n", text);
    exit(2);
}

static subject open_subject(const char *path, const char *id) {
    subject s = {.arena = cupel_arena_create(0)};
    cupel_error err = {0};
    cupel_contracts contracts;
    if (cupel_contracts_load(path, s.arena, &contracts, &err) != CUPEL_OK) die(&err);
    for (int i = 0; i < contracts.count; i++)
        if (!id || !strcmp(contracts.items[i]->id, id)) s.contract = contracts.items[i];
    cupel_supervisor_options options = {.contract_path = path};
    if (!s.contract || cupel_supervisor_open(s.contract, &options, &s.supervisor, &err) != CUPEL_OK)
        die(&err);
    return s;
}

static void close_subject(subject *s) {
    cupel_supervisor_close(s->supervisor);
    cupel_arena_free(s->arena);
}

static bool on_suspect(void *self, const cupel_recipe *recipe, const cupel_judged *suspicion) {
    hunt *h = self;
    static cupel_trial trial;
    cupel_arena_reset(h->arena);
    if (cupel_supervisor_try(h->supervisor, recipe, true, h->arena, &trial, NULL) != CUPEL_OK) return true;
    if (trial.judged.finding_count) h->found_at = suspicion->n + 1;
    return !h->found_at;
}

static bool on_progress(void *self, const cupel_progress *progress) {
    hunt *h = self;
    h->cases = progress->cases;
    h->seconds = progress->seconds;
    return true;
}

static hunt search(subject *s, const char *engine, uint64_t seed, uint64_t cases) {
    static cupel_scoreboard board;
    hunt h = {.supervisor = s->supervisor, .arena = cupel_arena_create(0)};
    cupel_search_options options = {.engine = engine, .seed = seed, .cases = cases};
    cupel_search_callbacks callbacks = {.self = &h, .suspect = on_suspect, .progress = on_progress};
    cupel_error err = {0};
    if (cupel_supervisor_search(s->supervisor, &options, &callbacks, &board, &err) != CUPEL_OK) die(&err);
    cupel_arena_free(h.arena);
    return h;
}

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Executions until the find, limit where there is none; the lower middle of an even number, so that it is a
 * run's own figure. */
static uint64_t median(subject *s, const char *engine, int seeds, uint64_t limit) {
    double found[SEEDS_MAX];
    for (int i = 0; i < seeds; i++) {
        hunt h = search(s, engine, (uint64_t)i + 1, limit);
        found[i] = h.found_at ? (double)h.found_at : (double)limit;
    }
    qsort(found, (size_t)seeds, sizeof *found, by_size);
    return (uint64_t)found[(seeds - 1) / 2];
}

static void print_row(const char *name, uint64_t directed, uint64_t undirected, bool cut_off,
                      const char *verdict) {
    printf("%-28s %10llu %s%9llu %9s%.2f  %s\n", name, (unsigned long long)directed, cut_off ? ">=" : "  ",
           (unsigned long long)undirected, cut_off ? ">= " : "", (double)undirected / (double)directed,
           verdict);
    fflush(stdout);
}

/* `draw` is cut off where the bound is reached. */
static void compare_rare(bench *b, const char *path) {
    subject s = open_subject(path, NULL);
    uint64_t directed = median(&s, "libfuzzer", b->seeds, b->limit);
    bool found = directed < b->limit;
    uint64_t cut = (uint64_t)((double)directed * sooner);
    uint64_t undirected = found ? median(&s, "draw", b->seeds, cut) : 0;
    bool holds = found && undirected >= cut;
    b->broken += !holds;
    print_row(s.contract->id, directed, undirected, undirected >= cut,
              !found  ? "NOT FOUND"
              : holds ? ""
                      : "NOT 5 TIMES SOONER");
    close_subject(&s);
}

static void compare_common(bench *b, const char *path, const char *id) {
    subject s = open_subject(path, id);
    uint64_t undirected = median(&s, "draw", b->seeds, b->limit);
    uint64_t directed = median(&s, "libfuzzer", b->seeds, b->limit);
    bool holds = (double)directed <= dearer * (double)undirected;
    b->broken += !holds;
    print_row(id, directed, undirected, undirected == b->limit, holds ? "" : "MORE THAN 1.3 TIMES AS DEAR");
    close_subject(&s);
}

static void compare_speed(bench *b, const char *file, const char *id) {
    char path[1024];
    if (b->only && !strstr(id, b->only)) return;
    snprintf(path, sizeof path, "%s/%s", b->kernels, file);
    subject s = open_subject(path, id);
    double rate[2] = {0};
    static const char *engines[] = {"draw", "libfuzzer"};
    for (int round = 0; round < 4; round++) { /* in turn, the best of each: others use the machine too */
        double before = now();
        hunt h = search(&s, engines[round % 2], 1, b->speed_cases);
        double cases = (double)h.cases / (now() - before);
        if (cases > rate[round % 2]) rate[round % 2] = cases;
    }
    printf("%-28s %10.0f %11.0f %9.2f  executions a second\n", id, rate[1], rate[0], rate[0] / rate[1]);
    close_subject(&s);
}

static void compare_manifest(bench *b) {
    FILE *file = fopen(b->manifest, "r");
    char line[512], name[128], id[128], verdict[32], path[1024];
    if (!file) {
        perror(b->manifest);
        exit(2);
    }
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%127s %127s %31s", name, id, verdict) != 3) continue;
        if (strcmp(verdict, "rejected") != 0 || (b->only && !strstr(id, b->only))) continue;
        snprintf(path, sizeof path, "%s/%s", b->kernels, name);
        compare_common(b, path, id);
    }
    fclose(file);
}

static bench read_options(int argc, char **argv) {
    bench b = {.seeds = 10, .limit = 100000, .speed_cases = 10000};
    if (argc < 4) {
        fprintf(stderr, "usage: bench_search KERNELS MANIFEST RARE [--only TEXT] [--seeds N] [--limit CASES] "
                        "[--speed-cases N]\n");
        exit(2);
    }
    b.kernels = argv[1], b.manifest = argv[2], b.rare = argv[3];
    for (int i = 4; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--only")) b.only = argv[i + 1];
        if (!strcmp(argv[i], "--seeds")) b.seeds = atoi(argv[i + 1]);
        if (!strcmp(argv[i], "--limit")) b.limit = strtoull(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--speed-cases")) b.speed_cases = strtoull(argv[i + 1], NULL, 10);
    }
    if (b.seeds < 1 || b.seeds > SEEDS_MAX) b.seeds = 10;
    return b;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--worker")) return cupel_worker_main(argc, argv);
    static const char *rare[] = {"rare_three", "rare_nested"};
    bench b = read_options(argc, argv);
    if (cupel_engine_missing("libfuzzer")) {
        printf("%s\n", cupel_engine_missing("libfuzzer"));
        return 2;
    }
    printf("%-28s %10s %11s %9s  (medians of %d seeds, executions until the find)\n", "defect", "directed",
           "undirected", "sooner", b.seeds);
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.cu", b.rare, rare[i]);
        if (!b.only || strstr(rare[i], b.only)) compare_rare(&b, path);
    }
    compare_manifest(&b);
    if (b.speed_cases) {
        printf("%-28s %10s %11s %9s\n", "speed", "directed", "undirected", "dearer");
        compare_speed(&b, "relu_float4.cu", "relu-float4");
        compare_speed(&b, "softmax.cu", "row-softmax");
    }
    printf("%d bounds broken\n", b.broken);
    return b.broken ? 1 : 0;
}
