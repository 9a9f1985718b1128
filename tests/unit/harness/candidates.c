/* Host candidates for y = x + 1, right and wrong in every way that the supervisor must survive. Built as a
 * shared object. */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

void right(const float *x, float *y, int n);
void right(const float *x, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = x[i] + 1;
}

#define CANDIDATE(name, ...)                                                                                 \
    void name(const float *x, float *y, int n);                                                              \
    void name(const float *x, float *y, int n) {                                                             \
        right(x, y, n);                                                                                      \
        __VA_ARGS__                                                                                          \
    }

CANDIDATE(null_store, *(volatile float *)(uintptr_t)8 = 1;)
CANDIDATE(wild_store, *(volatile float *)(uintptr_t)0x123456789000 = 1;)
CANDIDATE(hang, for (volatile int run = 1; run;) continue;)
CANDIDATE(leaves, exit(0);)
CANDIDATE(leaves_at_once, _exit(7);)
CANDIDATE(gives_up, abort();)
CANDIDATE(kills_itself, raise(SIGKILL);)
CANDIDATE(divides, volatile int zero = 0; volatile int rest = 7 / zero; (void)rest;)
CANDIDATE(calls_nothing, void (*volatile nothing)(void) = NULL; nothing();)
CANDIDATE(wrong_value, y[n / 2] += 1;)
CANDIDATE(swallows_nan, for (int i = 0; i < n; i++) if (isnan(y[i])) y[i] = 0;)
CANDIDATE(past_the_end, y[n] = 5;)
CANDIDATE(before_the_start, y[-1] = 5;)
CANDIDATE(
    changes_input,
    union {
        const float *in;
        float *out;
    } both = {x};
    both.out[0] += 1;)
CANDIDATE(rare, if (n % 97 == 7 && n > 200) y[n - 1] = -y[n - 1] - 3;)
CANDIDATE(remembers_the_first, static float first; static int called; if (!called++) first = x[0];
          y[0] += x[0] - first;)
CANDIDATE(slow, usleep(500000);)
CANDIDATE(prints, for (int i = 0; i < 1000; i++)(void) !write(1, "noise\n", 6);)

void eats(const float *x, float *y, int n);
void eats(const float *x, float *y, int n) {
    right(x, y, n);
    for (;;) {
        char *volatile block = malloc(8 << 20);
        if (block) memset(block, 1, 8 << 20);
    }
}

void damages_heap(const float *x, float *y, int n);
void damages_heap(const float *x, float *y, int n) {
    right(x, y, n);
    char *volatile block = malloc(56);
    memset(block - 16, 0xee, 16);
    free(block);
}

/* Overflows a block, frees nothing: only a look at the allocator's books shows it. */
void overruns_block(const float *x, float *y, int n);
void overruns_block(const float *x, float *y, int n) {
    right(x, y, n);
    volatile size_t size = 1100;
    char *volatile block = malloc(1000);
    memset(block, 0xee, size);
}

static int depth(volatile char *above, int n) {
    volatile char frame[4096];
    frame[0] = above ? above[0] : 1;
    return n < 0 ? 0 : depth(frame, n + frame[0]) + frame[1];
}

void overflows_stack(const float *x, float *y, int n);
void overflows_stack(const float *x, float *y, int n) {
    right(x, y, n);
    y[0] += (float)depth(NULL, 1) * 0;
}

void flushes(const float *x, float *y, int n);
void flushes(const float *x, float *y, int n) {
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
    right(x, y, n);
}

/* Depends on how often it was called, by less than the radius: only bytes tell. */
void moody(const float *x, float *y, int n);
void moody(const float *x, float *y, int n) {
    static int calls;
    right(x, y, n);
    if (calls++ % 2 == 1 && n > 0) y[0] = nextafterf(y[0], 1e9f);
}

void forgets_last(const float *x, float *y, int n);
void forgets_last(const float *x, float *y, int n) {
    right(x, y, n - 1);
}

void leaves_rarely(const float *x, float *y, int n);
void leaves_rarely(const float *x, float *y, int n) {
    right(x, y, n);
    if (n % 31 == 30) exit(1);
}

/* Tries to get out: a file where anyone may write one (+1), the network of the machine (+2). */
void escapes(const float *x, float *y, int n);
void escapes(const float *x, float *y, int n) {
    right(x, y, n);
    char path[] = "/tmp/cupel-escaped-XXXXXX";
    int file = mkstemp(path);
    if (file >= 0) y[0] += 1, unlink(path), close(file);
    struct sockaddr_in here = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s >= 0 && (connect(s, (struct sockaddr *)&here, sizeof here) == 0 || errno == ECONNREFUSED))
        y[0] += 2;
    if (s >= 0) close(s);
}

/* One argument of every C type; a value that arrives as another spoils the result. */
void takes_all(const float *x, float *y, int n, int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e,
               uint32_t f, int64_t g, uint64_t h, float s, double t, const float *nothing);
void takes_all(const float *x, float *y, int n, int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e,
               uint32_t f, int64_t g, uint64_t h, float s, double t, const float *nothing) {
    int right_values = a == -5 && b == 250 && c == -300 && d == 65000 && e == -70000 && f == 4000000000u &&
                       g == -5000000000ll && h == 5000000000ull && s == 0.1f && t == 0.1 && !nothing;
    right(x, y, n);
    if (!right_values) y[0] += 1;
}

/* Two launches in order: the second builds on the first. */
void first_half(const float *x, float *y, int n);
void first_half(const float *x, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = x[i];
}
void second_half(float *y, int n);
void second_half(float *y, int n) {
    for (int i = 0; i < n; i++) y[i] += 1;
}
