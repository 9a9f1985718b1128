/* What the oracle costs: the bounded evaluator against a plain fp64 loop of the same operator (at most 4
 * times), and against the exact one (at least 25 times cheaper). Median of 5; prints ratios. Build in
 * release. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "oracle.h"
#include "philox.h"

/* The plain loops are compiled for the same instruction sets as the evaluator's own. */
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))

enum { ROUNDS = 5, INPUTS = 3 };

typedef struct bench {
    const char *expression;
    int64_t m, n, k; /* x [m, n]; w [n, k] where k > 0, else [n]; b [n] or [k] */
    bool rows_to_numbers;
    void (*plain)(const struct bench *b, double *y);
    double *x, *w, *b;
    float *fx, *fw, *fb;
} bench;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times) {
    qsort(times, ROUNDS, sizeof *times, by_size);
    return times[ROUNDS / 2];
}

WIDE static void softmax(const bench *b, double *y) {
    for (int64_t i = 0; i < b->m; i++) {
        const double *x = b->x + i * b->n;
        double *row = y + i * b->n, top = x[0], sum = 0;
        for (int64_t j = 1; j < b->n; j++) top = x[j] > top ? x[j] : top;
        for (int64_t j = 0; j < b->n; j++) sum += row[j] = exp(x[j] - top);
        for (int64_t j = 0; j < b->n; j++) row[j] /= sum;
    }
}

WIDE static void layer_norm(const bench *b, double *y) {
    for (int64_t i = 0; i < b->m; i++) {
        const double *x = b->x + i * b->n;
        double *row = y + i * b->n, mean = 0, var = 0;
        for (int64_t j = 0; j < b->n; j++) mean += x[j];
        mean /= (double)b->n;
        for (int64_t j = 0; j < b->n; j++) var += (x[j] - mean) * (x[j] - mean);
        const double scale = 1 / sqrt(var / (double)b->n + 1e-5);
        for (int64_t j = 0; j < b->n; j++) row[j] = (x[j] - mean) * scale * b->w[j] + b->b[j];
    }
}

WIDE static void matmul(const bench *b, double *y) {
    memset(y, 0, (size_t)(b->m * b->k) * sizeof *y);
    for (int64_t i = 0; i < b->m; i++) {
        double *row = y + i * b->k;
        for (int64_t l = 0; l < b->n; l++) {
            const double a = b->x[i * b->n + l], *w = b->w + l * b->k;
            for (int64_t j = 0; j < b->k; j++) row[j] += a * w[j];
        }
    }
}

static cupel_graph *graph_of(const bench *b, cupel_arena *arena, int64_t rows) {
    cupel_error err = {0};
    cupel_symbol_input inputs[INPUTS] = {
        {.name = "x", .type = CUPEL_F32, .rank = 2, .shape = {rows, b->n}},
        {.name = "w", .type = CUPEL_F32, .rank = b->k ? 2 : 1, .shape = {b->n, b->k}},
        {.name = "b", .type = CUPEL_F32, .rank = 1, .shape = {b->k ? b->k : b->n}},
    };
    cupel_expr *expr;
    cupel_symbol_output out = {.name = "y",
                               .type = CUPEL_F32,
                               .rank = b->rows_to_numbers ? 1 : 2,
                               .shape = {rows, b->k ? b->k : b->n}};
    if (b->rows_to_numbers) out.shape[1] = 0;
    cupel_graph *graph = NULL;
    cupel_code code = cupel_expr_parse(cupel_span_of(b->expression, "bench", 1, 1), arena, &expr, &err);
    const cupel_symbols symbols = {
        .input_count = INPUTS, .inputs = inputs, .output_count = 1, .outputs = &out};
    if (code == CUPEL_OK) {
        out.ensures = expr;
        code = cupel_graph_build(&symbols, arena, &graph, &err);
    }
    if (code != CUPEL_OK) {
        fprintf(stderr, "%s: %s\n", b->expression, err.text);
        exit(1);
    }
    return graph;
}

static const cupel_rules rules = {.working = CUPEL_F32, .fast_math = true};

static double bounded_time(const bench *b) {
    double times[ROUNDS];
    cupel_error err = {0};
    const void *data[INPUTS] = {b->fx, b->fw, b->fb};
    const cupel_bindings bindings = {INPUTS, data};
    cupel_arena *graphs = cupel_arena_create(0), *arena = cupel_arena_create(0);
    const cupel_graph *graph = graph_of(b, graphs, b->m);
    for (int r = 0; r < ROUNDS; r++) {
        cupel_allowed allowed;
        double best = INFINITY;
        for (int again = 0; again < 3; again++) { /* warm memory; the least of three */
            cupel_arena_reset(arena);
            const double start = seconds();
            if (cupel_oracle_bounded(graph, &bindings, &rules, arena, &allowed, &err) != CUPEL_OK) exit(1);
            best = fmin(best, seconds() - start);
        }
        times[r] = best;
    }
    cupel_arena_free(arena);
    cupel_arena_free(graphs);
    return median(times);
}

static double plain_time(const bench *b) {
    double times[ROUNDS], *y = malloc((size_t)(b->m * (b->k ? b->k : b->n)) * sizeof *y);
    for (int r = 0; r < ROUNDS; r++) {
        double best = INFINITY;
        for (int again = 0; again < 3; again++) {
            const double start = seconds();
            b->plain(b, y);
            best = fmin(best, seconds() - start);
        }
        times[r] = best;
    }
    free(y);
    return median(times);
}

/* Per output element: the exact evaluator gets the first rows alone. */
static double exact_time(const bench *b, int64_t rows) {
    cupel_error err = {0};
    const void *data[INPUTS] = {b->fx, b->fw, b->fb};
    const cupel_bindings bindings = {INPUTS, data};
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_graph *graph = graph_of(b, arena, rows);
    cupel_exact_session *session;
    cupel_allowed allowed;
    const double start = seconds();
    if (cupel_exact_open(graph, &bindings, &rules, &session, &err) != CUPEL_OK ||
        cupel_exact_output(session, 0, arena, &allowed, &err) != CUPEL_OK) {
        fprintf(stderr, "%s: %s\n", b->expression, err.text);
        exit(1);
    }
    const double time = seconds() - start;
    cupel_exact_close(session);
    cupel_arena_free(arena);
    return time;
}

static void fill(bench *b) {
    const int64_t width = b->k ? b->k : 1, nx = b->m * b->n, nw = b->n * width, nb = b->k ? b->k : b->n;
    cupel_random random = cupel_random_start(1, 3);
    double **to[] = {&b->x, &b->w, &b->b};
    float **single[] = {&b->fx, &b->fw, &b->fb};
    const int64_t counts[] = {nx, nw, nb};
    for (int t = 0; t < INPUTS; t++) {
        *to[t] = malloc((size_t)counts[t] * sizeof(double));
        *single[t] = malloc((size_t)counts[t] * sizeof(float));
        for (int64_t i = 0; i < counts[t]; i++) {
            (*single[t])[i] = (float)(cupel_random_unit(&random) * 4 - (t == 0 ? 2 : 0));
            (*to[t])[i] = (double)(*single[t])[i];
        }
    }
}

static void empty(bench *b) {
    free(b->x), free(b->w), free(b->b), free(b->fx), free(b->fw), free(b->fb);
}

int main(void) {
    bench benches[] = {
        {.expression = "softmax(x, axis=-1)", .m = 64, .n = 512, .plain = softmax},
        {.expression = "layer_norm(x, w, b, 1e-5)", .m = 64, .n = 512, .plain = layer_norm},
        {.expression = "matmul(x, w)", .m = 256, .n = 256, .k = 256, .plain = matmul},
        {.expression = "matmul(x, w) + b", .m = 128, .n = 128, .k = 128},
        {.expression = "rms_norm(x, w, 1e-5)", .m = 64, .n = 512},
        {.expression = "log_softmax(x, axis=-1)", .m = 64, .n = 512},
        {.expression = "logsumexp(x, axis=-1)", .m = 64, .n = 512, .rows_to_numbers = true},
        {.expression = "cumsum(x, axis=-1)", .m = 64, .n = 512},
        {.expression = "sum(x, axis=-1)", .m = 64, .n = 512, .rows_to_numbers = true},
        {.expression = "mean(x, axis=-1)", .m = 64, .n = 512, .rows_to_numbers = true},
        {.expression = "var(x, axis=-1)", .m = 64, .n = 512, .rows_to_numbers = true},
        {.expression = "prod(x, axis=-1)", .m = 512, .n = 64, .rows_to_numbers = true},
        {.expression = "amax(x, axis=-1)", .m = 64, .n = 512, .rows_to_numbers = true},
        {.expression = "argmax(x, axis=-1)", .m = 64, .n = 512, .rows_to_numbers = true},
        {.expression = "x * w + b", .m = 64, .n = 512},
        {.expression = "x / w", .m = 64, .n = 512},
        {.expression = "gelu(x)", .m = 64, .n = 512},
        {.expression = "silu(x)", .m = 64, .n = 512},
        {.expression = "relu(x)", .m = 64, .n = 512},
        {.expression = "tanh(x)", .m = 64, .n = 512},
        {.expression = "sin(x)", .m = 64, .n = 512},
        {.expression = "tan(x)", .m = 64, .n = 512},
        {.expression = "log1p(abs(x))", .m = 64, .n = 512},
        {.expression = "pow(abs(x), 2.5)", .m = 64, .n = 512},
        {.expression = "where(x > 0, x, b)", .m = 64, .n = 512},
        {.expression = "gelu(layer_norm(matmul(x, w), b, b, 1e-5))", .m = 64, .n = 128, .k = 128},
    };
    int slow = 0;
    printf("%-44s %12s %10s %12s\n", "operator", "bounded", "/ plain", "exact /");
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        bench *b = &benches[i];
        fill(b);
        const double bounded = bounded_time(b);
        const int64_t rows = b->k ? 4 : 8;
        const double exact = exact_time(b, rows) / (double)rows * (double)b->m;
        printf("%-44s %9.1f us ", b->expression, bounded * 1e6);
        if (b->plain) {
            const double ratio = bounded / plain_time(b);
            printf("%10.2f", ratio);
            slow += ratio > 4;
        } else {
            printf("%10s", "");
        }
        printf(" %12.1f%s\n", exact / bounded, exact / bounded < 25 ? "  (below 25)" : "");
        slow += exact / bounded < 25;
        empty(b);
    }
    printf("%d figures beyond their limits\n", slow);
    return 0;
}
