/* What the oracle costs: the bounded evaluator against a plain fp64 loop of the same operator (at most 3
 * times; rows of gradients have no such limit and tell their ratio alone), and against the exact one (at
 * least 30 times cheaper). Median of 5; prints ratios. Build in release. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "oracle.h"
#include "philox.h"

/* The plain loops are compiled for the same instruction sets as the evaluator's own. */
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))

enum { ROUNDS = 5, INPUTS = 3, RANK = 4 };

enum { MOST_PLAIN = 3, LEAST_EXACT = 30 };

/* Shapes end at their first 0. The first axis of x is that of the output as well. */
typedef struct bench {
    const char *expression;
    int64_t x_shape[RANK + 1], w_shape[RANK + 1], b_shape[RANK + 1], y_shape[RANK + 1];
    void (*plain)(const struct bench *b, double *y);
    bool informative; /* its ratio to the plain loop has no limit */
    double *x, *w, *b;
    float *fx, *fw, *fb;
} bench;

static int rank_of(const int64_t *shape) {
    int rank = 0;
    while (shape[rank]) rank++;
    return rank;
}

static int64_t count_of(const int64_t *shape) {
    int64_t count = 1;
    for (int d = 0; shape[d]; d++) count *= shape[d];
    return count;
}

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

static void softmax_row(const double *x, double *row, int64_t n) {
    double top = x[0], sum = 0;
    for (int64_t j = 1; j < n; j++) top = x[j] > top ? x[j] : top;
    for (int64_t j = 0; j < n; j++) sum += row[j] = exp(x[j] - top);
    for (int64_t j = 0; j < n; j++) row[j] /= sum;
}

WIDE static void softmax(const bench *b, double *y) {
    const int64_t m = b->x_shape[0], n = b->x_shape[1];
    for (int64_t i = 0; i < m; i++) softmax_row(b->x + i * n, y + i * n, n);
}

WIDE static void layer_norm(const bench *b, double *y) {
    const int64_t m = b->x_shape[0], n = b->x_shape[1];
    for (int64_t i = 0; i < m; i++) {
        const double *x = b->x + i * n;
        double *row = y + i * n, mean = 0, var = 0;
        for (int64_t j = 0; j < n; j++) mean += x[j];
        mean /= (double)n;
        for (int64_t j = 0; j < n; j++) var += (x[j] - mean) * (x[j] - mean);
        const double scale = 1 / sqrt(var / (double)n + 1e-5);
        for (int64_t j = 0; j < n; j++) row[j] = (x[j] - mean) * scale * b->w[j] + b->b[j];
    }
}

WIDE static void cumsum(const bench *b, double *y) {
    const int64_t m = b->x_shape[0], n = b->x_shape[1];
    for (int64_t i = 0; i < m; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) y[i * n + j] = sum += b->x[i * n + j];
    }
}

/* y += a row's sum of x[l] times row l of w. */
static inline __attribute__((always_inline)) void add_rows(const double *x, const double *w, int64_t inner,
                                                           int64_t columns, double *restrict y) {
    for (int64_t l = 0; l < inner; l++) {
        const double a = x[l];
        for (int64_t j = 0; j < columns; j++) y[j] += a * w[l * columns + j];
    }
}

WIDE static void matmul(const bench *b, double *y) {
    const int64_t m = b->x_shape[0], inner = b->x_shape[1], n = b->w_shape[1];
    memset(y, 0, (size_t)(m * n) * sizeof *y);
    for (int64_t i = 0; i < m; i++) add_rows(b->x + i * inner, b->w, inner, n, y + i * n);
}

enum { KEYS_MAX = 256, DEPTH_MAX = 64 };

/* Queries x, keys by columns, values b; causal: a query sees the keys up to its own place from the end. */
static inline __attribute__((always_inline)) void attend(const bench *b, const double *keys_t, int64_t keys,
                                                         bool causal, double *y) {
    const int64_t m = b->x_shape[0], depth = b->x_shape[1];
    double scores[KEYS_MAX];
    memset(y, 0, (size_t)(m * depth) * sizeof *y);
    for (int64_t i = 0; i < m; i++) {
        const int64_t seen = causal ? keys - m + i + 1 : keys;
        memset(scores, 0, sizeof scores);
        for (int64_t l = 0; l < depth; l++) {
            const double a = b->x[i * depth + l];
            for (int64_t j = 0; j < seen; j++) scores[j] += a * keys_t[l * keys + j];
        }
        for (int64_t j = 0; j < seen; j++) scores[j] *= 0.125;
        softmax_row(scores, scores, seen);
        add_rows(scores, b->b, seen, depth, y + i * depth);
    }
}

static inline __attribute__((always_inline)) void attend_rows(const bench *b, bool causal, double *y) {
    const int64_t keys = b->w_shape[0], depth = b->w_shape[1];
    double by_column[KEYS_MAX * DEPTH_MAX];
    for (int64_t j = 0; j < keys; j++)
        for (int64_t l = 0; l < depth; l++) by_column[l * keys + j] = b->w[j * depth + l];
    attend(b, by_column, keys, causal, y);
}

WIDE static void attention_of_columns(const bench *b, double *y) {
    attend(b, b->w, b->w_shape[1], false, y);
}
WIDE static void attention(const bench *b, double *y) {
    attend_rows(b, false, y);
}
WIDE static void attention_causal(const bench *b, double *y) {
    attend_rows(b, true, y);
}

/* y (dy - sum(y dy)), where dy is x itself. */
WIDE static void softmax_gradient(const bench *b, double *y) {
    const int64_t m = b->x_shape[0], n = b->x_shape[1];
    softmax(b, y);
    for (int64_t i = 0; i < m; i++) {
        const double *dy = b->x + i * n;
        double *row = y + i * n, sum = 0;
        for (int64_t j = 0; j < n; j++) sum += row[j] * dy[j];
        for (int64_t j = 0; j < n; j++) row[j] *= dy[j] - sum;
    }
}

/* (n g - sum(g) - z sum(g z)) / (n s), where z is x less its mean and over s, and g is w x. */
WIDE static void layer_norm_gradient(const bench *b, double *y) {
    const int64_t m = b->x_shape[0], n = b->x_shape[1];
    for (int64_t i = 0; i < m; i++) {
        const double *x = b->x + i * n;
        double *row = y + i * n, mean = 0, var = 0, sum = 0, sum_z = 0;
        for (int64_t j = 0; j < n; j++) mean += x[j];
        mean /= (double)n;
        for (int64_t j = 0; j < n; j++) var += (x[j] - mean) * (x[j] - mean);
        const double scale = 1 / sqrt(var / (double)n + 1e-5);
        for (int64_t j = 0; j < n; j++) {
            sum += b->w[j] * x[j];
            sum_z += b->w[j] * x[j] * ((x[j] - mean) * scale);
        }
        for (int64_t j = 0; j < n; j++)
            row[j] = (b->w[j] * x[j] * (double)n - sum - (x[j] - mean) * scale * sum_z) * (scale / (double)n);
    }
}

/* 3 x 3 windows without padding; each output row is a sum of shifted input rows. */
WIDE static void conv2d(const bench *b, double *y) {
    const int64_t *x = b->x_shape, *w = b->w_shape, *out = b->y_shape;
    memset(y, 0, (size_t)count_of(out) * sizeof *y);
    for (int64_t image = 0; image < x[0]; image++)
        for (int64_t o = 0; o < w[0]; o++)
            for (int64_t c = 0; c < x[1]; c++)
                for (int64_t r = 0; r < 3; r++)
                    for (int64_t i = 0; i < out[2]; i++) {
                        const double *from = b->x + ((image * x[1] + c) * x[2] + i + r) * x[3];
                        const double *weight = b->w + ((o * x[1] + c) * 3 + r) * 3;
                        double *restrict row = y + ((image * w[0] + o) * out[2] + i) * out[3];
                        for (int64_t j = 0; j < out[3]; j++)
                            row[j] += weight[0] * from[j] + weight[1] * from[j + 1] + weight[2] * from[j + 2];
                    }
}

static cupel_graph *graph_of(const bench *b, cupel_arena *arena, int64_t rows) {
    cupel_error err = {0};
    const int64_t *const shapes[INPUTS] = {b->x_shape, b->w_shape, b->b_shape};
    static const char *const names[INPUTS] = {"x", "w", "b"};
    cupel_symbol_input inputs[INPUTS] = {{0}};
    for (int i = 0; i < INPUTS; i++) {
        inputs[i] = (cupel_symbol_input){.name = names[i], .type = CUPEL_F32, .rank = rank_of(shapes[i])};
        memcpy(inputs[i].shape, shapes[i], RANK * sizeof(int64_t));
    }
    cupel_symbol_output out = {.name = "y", .type = CUPEL_F32, .rank = rank_of(b->y_shape)};
    memcpy(out.shape, b->y_shape, RANK * sizeof(int64_t));
    inputs[0].shape[0] = out.shape[0] = rows;
    cupel_expr *expr;
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
    const cupel_graph *graph = graph_of(b, graphs, b->x_shape[0]);
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
    double times[ROUNDS], *y = malloc((size_t)count_of(b->y_shape) * sizeof *y);
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

/* The exact evaluator gets the first rows alone. */
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
    cupel_random random = cupel_random_start(1, 3);
    double **to[] = {&b->x, &b->w, &b->b};
    float **single[] = {&b->fx, &b->fw, &b->fb};
    const int64_t counts[] = {count_of(b->x_shape), count_of(b->w_shape), count_of(b->b_shape)};
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

/* Rows of 512 to rows, rows to numbers, matrix products of [m, k] and [k, n], and attention of one head. */
#define ROWS(text) .expression = text, .x_shape = {64, 512}, .w_shape = {512}, .b_shape = {512}
#define TO_ROWS(text) ROWS(text), .y_shape = {64, 512}
#define TO_NUMBERS(text) ROWS(text), .y_shape = {64}
#define PRODUCT(text, m, k, n)                                                                               \
    .expression = text, .x_shape = {m, k}, .w_shape = {k, n}, .b_shape = {n}, .y_shape = {m, n}

#define QUERIES(text)                                                                                        \
    .expression = text, .x_shape = {128, 64}, .w_shape = {256, 64}, .b_shape = {256, 64}, .y_shape = {128, 64}

static bench benches[] = {
    {PRODUCT("matmul(x, w)", 256, 256, 256), .plain = matmul},
    {.expression = "matmul(softmax(matmul(x, w) * 0.125, axis=-1), b)",
     .x_shape = {128, 64},
     .w_shape = {64, 256},
     .b_shape = {256, 64},
     .y_shape = {128, 64},
     .plain = attention_of_columns},
    {QUERIES("attention(x, w, b)"), .plain = attention},
    {QUERIES("attention(x, w, b, causal=true)"), .plain = attention_causal},
    {.expression = "conv2d(x, w)",
     .x_shape = {4, 8, 34, 34},
     .w_shape = {16, 8, 3, 3},
     .b_shape = {16},
     .y_shape = {4, 16, 32, 32},
     .plain = conv2d},
    {TO_ROWS("softmax(x, axis=-1)"), .plain = softmax},
    {TO_ROWS("layer_norm(x, w, b, 1e-5)"), .plain = layer_norm},
    {TO_ROWS("cumsum(x, axis=-1)"), .plain = cumsum},
    {TO_ROWS("vjp(softmax(x, axis=-1), x, x)"), .plain = softmax_gradient, .informative = true},
    {TO_ROWS("vjp(layer_norm(x, w, b, 1e-5), x, x)"), .plain = layer_norm_gradient, .informative = true},
    {TO_ROWS("rms_norm(x, w, 1e-5)")},
    {TO_ROWS("log_softmax(x, axis=-1)")},
    {TO_ROWS("x * w + b")},
    {TO_ROWS("x / w")},
    {TO_ROWS("gelu(x)")},
    {TO_ROWS("silu(x)")},
    {TO_ROWS("relu(x)")},
    {TO_ROWS("tanh(x)")},
    {TO_ROWS("sin(x)")},
    {TO_ROWS("tan(x)")},
    {TO_ROWS("log1p(abs(x))")},
    {TO_ROWS("pow(abs(x), 2.5)")},
    {TO_ROWS("where(x > 0, x, b)")},
    {TO_NUMBERS("logsumexp(x, axis=-1)")},
    {TO_NUMBERS("sum(x, axis=-1)")},
    {TO_NUMBERS("mean(x, axis=-1)")},
    {TO_NUMBERS("var(x, axis=-1)")},
    {TO_NUMBERS("amax(x, axis=-1)")},
    {TO_NUMBERS("argmax(x, axis=-1)")},
    {.expression = "prod(x, axis=-1)",
     .x_shape = {512, 64},
     .w_shape = {64},
     .b_shape = {64},
     .y_shape = {512}},
    {PRODUCT("matmul(x, w) + b", 128, 128, 128)},
    {PRODUCT("gelu(layer_norm(matmul(x, w), b, b, 1e-5))", 64, 128, 128)},
};

/* Prints one line; returns the number of figures beyond their limits. */
static int measure(bench *b) {
    fill(b);
    const double bounded = bounded_time(b);
    const int64_t rows = rank_of(b->x_shape) > 2 ? 1 : 4; /* an image is work enough */
    const double exact = exact_time(b, rows) / (double)rows * (double)b->x_shape[0];
    int beyond = 0;
    printf("%-50s %9.1f us ", b->expression, bounded * 1e6);
    if (b->plain) {
        const double ratio = bounded / plain_time(b);
        printf("%10.2f", ratio);
        beyond += !b->informative && ratio > MOST_PLAIN;
    } else {
        printf("%10s", "");
    }
    const bool cheap = exact / bounded >= LEAST_EXACT;
    printf(" %12.1f%s%s\n", exact / bounded, cheap ? "" : "  (too little)",
           b->informative ? "  (without a limit to the plain loop)" : "");
    empty(b);
    return beyond + !cheap;
}

int main(void) {
    int beyond = 0;
    printf("%-50s %12s %10s %12s\n", "operator", "bounded", "/ plain", "exact /");
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) beyond += measure(&benches[i]);
    printf("%d figures beyond their limits\n", beyond);
    return 0;
}
