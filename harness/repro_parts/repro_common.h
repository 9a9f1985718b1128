/* Part of a reproduction file (repro.h): element types, memory with guard bands, and what is judged. C and
 * C++; everything is static, because the file stands alone. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the case consists of ---- */

enum { REPRO_REAL, REPRO_SIGNED, REPRO_UNSIGNED, REPRO_BOOLEAN };

typedef struct repro_type {
    const char *name;
    int size, kind, precision, emin; /* significand bits with the hidden one; smallest normal exponent */
} repro_type;

enum { REPRO_INPUT = 1, REPRO_OUTPUT = 2, REPRO_SCRATCH = 4 };

/* count values, repeated to the tensor's length; with runs, value i stands runs[i] times. No values: the
 * memory is poisoned. */
typedef struct repro_values {
    const void *bits;
    const uint32_t *runs;
    int64_t count;
    const char *file; /* the .npy file that holds them, where there are too many for this file */
} repro_values;

/* Element [i, j, ..] lies at byte offset + size * (i * stride[0] + j * stride[1] + ..) of its buffer. */
typedef struct repro_tensor {
    const char *name;
    const repro_type *type;
    int roles, rank;
    int64_t shape[8], stride[8], count;
    int buffer;
    int64_t offset;
} repro_tensor;

typedef struct repro_buffer {
    size_t size, align, misalign; /* the first byte lies misalign bytes past a multiple of align */
    int written;                  /* by the launches: else every byte must stay */
    const repro_type *type;
    uint32_t poison; /* seed */
} repro_buffer;

enum {
    REPRO_FINITE = 1,
    REPRO_POS_INF = 2,
    REPRO_NEG_INF = 4,
    REPRO_NAN = 8,
    REPRO_ZERO_SIGN = 16,
    REPRO_ZERO_NEGATIVE = 32,
    REPRO_KEEP = 64
};

/* What may stand at an element of an output: a number from lo to hi, and what classes name besides. */
typedef struct repro_allowed {
    int tensor;
    int64_t index;
    double lo, hi, exact;
    unsigned classes;
    uint64_t least, most; /* of 64-bit integers: lo and hi, which doubles may lack */
} repro_allowed;

/* One call of the kernel: the content of all tensors before it. */
typedef struct repro_call {
    const repro_values *values; /* a tensor */
    int elsewhere;              /* in buffers of its own */
} repro_call;

typedef struct repro_case {
    int tensor_count, buffer_count, call_count, allowed_count;
    const repro_tensor *tensors;
    const repro_buffer *buffers;
    const repro_call *calls; /* the last one is judged */
    const repro_allowed *allowed;
    uint32_t guard_poison;
    int rounds;     /* how often it is tried */
    int same_bytes; /* 0, or which runs must leave the same */
    int unwritten;  /* elements that keep their poison are failures */
    const char *need_not, *where;
} repro_case;

enum { REPRO_GUARD = 4096, REPRO_BUFFERS = 16, REPRO_SHOWN = 10 };

enum { REPRO_ONE_POISON = 1, REPRO_ANY_POISON = 2 }; /* same_bytes */
enum { REPRO_SHOWS = 1, REPRO_CANNOT = 2 };          /* exit statuses */

typedef struct repro_state {
    const repro_case *c;
    unsigned char *image[REPRO_BUFFERS];    /* before the launches, guards around */
    unsigned char *after[REPRO_BUFFERS];    /* as image */
    unsigned char *first[2][REPRO_BUFFERS]; /* after the first run with either poison */
    unsigned char *before[2][REPRO_BUFFERS];
    void *places[2][REPRO_BUFFERS]; /* of the buffers' first bytes where the kernel sees them; those of calls
                                       elsewhere */
    void *memory[2][REPRO_BUFFERS]; /* that holds them */
    void **address;                 /* those of the call at hand */
    size_t guard;                   /* bytes of a guard band */
    int poison;                     /* 0: NaN; 1: finite */
    int64_t failures;
} repro_state;

static void repro_stop(int status, const char *what, const char *detail) {
    printf("%s%s%s%s\n", status == REPRO_SHOWS ? "FAILED: " : "cannot run: ", what, *detail ? ": " : "",
           detail);
    fflush(stdout);
    _Exit(status);
}

static unsigned char *repro_memory(size_t size) {
    unsigned char *memory = (unsigned char *)calloc(size + 1, 1);
    if (!memory) repro_stop(REPRO_CANNOT, "no memory", "");
    return memory;
}

/* ---- elements ---- */

static int repro_fraction(const repro_type *type) {
    return strcmp(type->name, "tf32") == 0 ? 23 : type->precision - 1;
}

static double repro_number(const repro_type *type, uint64_t bits) {
    int total = type->size * 8;
    if (type->kind == REPRO_SIGNED) return (double)((int64_t)(bits << (64 - total)) >> (64 - total));
    if (type->kind != REPRO_REAL) return (double)bits;
    int fraction = repro_fraction(type);
    uint64_t largest = (UINT64_C(1) << (total - 1 - fraction)) - 1, e = bits >> fraction & largest;
    uint64_t f = bits & ((UINT64_C(1) << fraction) - 1);
    int negative = (int)(bits >> (total - 1) & 1), narrow = strcmp(type->name, "e4m3") == 0;
    double value;
    if (narrow && (bits & 0x7F) == 0x7F)
        value = NAN;
    else if (!narrow && e == largest)
        value = f ? NAN : INFINITY;
    else
        value = ldexp((double)(e ? f | UINT64_C(1) << fraction : f),
                      type->emin - fraction + (e ? (int)e - 1 : 0));
    return negative ? -value : value;
}

static void repro_print(const repro_type *type, double value) {
    if (isnan(value))
        printf("nan");
    else
        printf("%.*g",
               type->kind != REPRO_REAL ? 17
               : type->precision > 24   ? 17
               : type->precision > 11   ? 9
                                        : 6,
               value);
}

static uint64_t repro_bits(const repro_type *type, const void *at) {
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)type->size);
    return bits;
}

static int64_t repro_position(const repro_tensor *t, int64_t index) {
    int64_t at = 0;
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        at += index % t->shape[axis] * t->stride[axis];
        index /= t->shape[axis];
    }
    return t->offset + at * t->type->size;
}

static void repro_print_name(const repro_tensor *t, int64_t index) {
    int64_t block = t->count;
    printf("%s[", t->name);
    for (int axis = 0; axis < t->rank; axis++) {
        block /= t->shape[axis];
        printf("%s%" PRId64, axis ? ", " : "", index / block % t->shape[axis]);
    }
    printf("]");
}

/* ---- memory before the launches ---- */

static uint64_t repro_hash(uint32_t seed, uint64_t index) {
    uint64_t x = ((uint64_t)seed << 32 ^ index) + 0x9E3779B97F4A7C15u * (index + 1);
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* poison 0: NaNs, integers far out of range. */
static uint64_t repro_loud(const repro_type *type, uint64_t h) {
    int total = type->size * 8;
    if (type->kind != REPRO_REAL)
        return UINT64_C(3) << (total - 2) | (h & ((UINT64_C(1) << (total - 2)) - 1)) | 1;
    if (strcmp(type->name, "e4m3") == 0) return 0x7F | (h & 0x80);
    int fraction = repro_fraction(type);
    uint64_t quiet = (((UINT64_C(1) << (total - fraction)) - 1) >> 1) << fraction | UINT64_C(1)
                                                                                        << (fraction - 1);
    return (h >> 63) << (total - 1) | quiet | (h & ((UINT64_C(1) << (fraction - 1)) - 1)) | 1;
}

/* poison 1: numbers of ordinary size. */
static uint64_t repro_quiet(const repro_type *type, uint64_t h) {
    int total = type->size * 8;
    if (type->kind == REPRO_BOOLEAN) return h >> 63;
    if (type->kind != REPRO_REAL) {
        int64_t low = total == 8 ? 64 : 1000, span = total == 8 ? 63 : 30000;
        int64_t magnitude = low + (int64_t)(h % (uint64_t)span);
        return (uint64_t)(type->kind == REPRO_SIGNED && h >> 63 ? -magnitude : magnitude);
    }
    int fraction = repro_fraction(type);
    uint64_t exponent = (uint64_t)(1 - type->emin + 3 + (int)(h >> 40 & 3));
    uint64_t bits =
        (h >> 63) << (total - 1) | exponent << fraction | (h & ((UINT64_C(1) << fraction) - 1)) | 1;
    return strcmp(type->name, "tf32") == 0 ? bits & ~UINT64_C(0x1FFF) : bits;
}

/* poison 1 too, in a quarter of the seeds: numbers that no maximum loses, or no minimum. */
static uint64_t repro_extreme(const repro_type *type, int low, uint64_t h) {
    int total = type->size * 8;
    if (type->kind == REPRO_BOOLEAN) return low ? 0 : 1;
    if (type->kind != REPRO_REAL) {
        uint64_t half = UINT64_C(1) << (total - 2), magnitude = half | (h & (half - 1));
        if (type->kind == REPRO_SIGNED) return low ? (uint64_t) - (int64_t)magnitude : magnitude;
        return low ? h & 3 : magnitude;
    }
    int fraction = repro_fraction(type), bias = 1 - type->emin;
    uint64_t exponent = (uint64_t)(2 * bias - (bias / 16 > 1 ? bias / 16 : 1));
    uint64_t bits =
        (uint64_t)low << (total - 1) | exponent << fraction | (h & ((UINT64_C(1) << fraction) - 1)) | 1;
    return strcmp(type->name, "tf32") == 0 ? bits & ~UINT64_C(0x1FFF) : bits;
}

static uint64_t repro_poison_bits(int poison, uint32_t form, const repro_type *type, uint64_t h) {
    if (poison == 0) return repro_loud(type, h);
    return form % 4 != 3 ? repro_quiet(type, h) : repro_extreme(type, form % 8 != 3, h);
}

/* form: the seed of the case, which says what poison 1 is. */
static void repro_poison(int poison, uint32_t form, uint32_t seed, const repro_type *type, unsigned char *out,
                         size_t bytes) {
    for (size_t done = 0; done < bytes; done += (size_t)type->size) {
        uint64_t h = repro_hash(seed, done / (size_t)type->size);
        uint64_t bits = repro_poison_bits(poison, form, type, h);
        memcpy(out + done, &bits, bytes - done < (size_t)type->size ? bytes - done : (size_t)type->size);
    }
}

/* The elements of a .npy file, which are its last bytes. */
static void repro_read(const repro_tensor *t, const char *path, unsigned char *elements) {
    size_t size = (size_t)t->count * (size_t)t->type->size;
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, -(long)size, SEEK_END) != 0 || fread(elements, 1, size, file) != size)
        repro_stop(REPRO_CANNOT, "this file has to be run in the folder that holds", path);
    fclose(file);
}

static void repro_fill_tensor(const repro_tensor *t, const repro_values *v, unsigned char *buffer) {
    size_t size = (size_t)t->type->size;
    const unsigned char *from = (const unsigned char *)v->bits;
    unsigned char *loaded = NULL;
    int64_t at = 0;
    uint32_t left = v->runs && v->count ? v->runs[0] : 0;
    if (v->file) {
        loaded = repro_memory((size_t)t->count * size);
        repro_read(t, v->file, loaded);
        from = loaded;
    }
    for (int64_t i = 0; i < t->count; i++) {
        if (v->runs) {
            while (left == 0 && at + 1 < v->count) left = v->runs[++at];
            left--;
        } else {
            at = v->file ? i : i % v->count;
        }
        memcpy(buffer + repro_position(t, i), from + (size_t)at * size, size);
    }
    free(loaded);
}

static void repro_fill(repro_state *s, const repro_call *call, int poison) {
    const repro_case *c = s->c;
    const uint32_t form = c->guard_poison;
    s->poison = poison;
    for (int b = 0; b < c->buffer_count; b++) {
        const repro_buffer *buffer = &c->buffers[b];
        unsigned char *image = s->image[b];
        repro_poison(poison, form, form, buffer->type, image, s->guard);
        repro_poison(poison, form, buffer->poison, buffer->type, image + s->guard, buffer->size);
        repro_poison(poison, form, form ^ 1, buffer->type, image + s->guard + buffer->size, s->guard);
    }
    for (int t = 0; t < c->tensor_count; t++)
        if (call->values[t].bits || call->values[t].file)
            repro_fill_tensor(&c->tensors[t], &call->values[t], s->image[c->tensors[t].buffer] + s->guard);
}

static size_t repro_whole(const repro_state *s, int b) {
    return s->c->buffers[b].size + 2 * s->guard;
}

/* place gives the address of a buffer's first byte and, in *memory, what is to be freed. */
static void repro_allocate(repro_state *s, void *(*place)(const repro_state *s, int buffer, void **memory)) {
    for (int b = 0; b < s->c->buffer_count; b++) {
        for (int k = 0; k < (s->c->call_count > 1 ? 2 : 1); k++)
            s->places[k][b] = place(s, b, &s->memory[k][b]);
        s->image[b] = repro_memory(repro_whole(s, b));
        s->after[b] = repro_memory(repro_whole(s, b));
        for (int p = 0; p < 2; p++) {
            s->first[p][b] = repro_memory(repro_whole(s, b));
            s->before[p][b] = repro_memory(repro_whole(s, b));
        }
    }
}

static void repro_free(repro_state *s, void (*release)(void *memory)) {
    for (int b = 0; b < s->c->buffer_count; b++) {
        free(s->image[b]);
        free(s->after[b]);
        for (int p = 0; p < 2; p++) {
            if (s->memory[p][b]) release(s->memory[p][b]);
            free(s->first[p][b]);
            free(s->before[p][b]);
        }
    }
}

/* ---- memory after the launches ---- */

static void repro_wrong(repro_state *s, const char *what, const char *name, int64_t byte) {
    if (s->failures++ < REPRO_SHOWN) printf("%s %s: byte %" PRId64 " has changed\n", what, name, byte);
}

static const char *repro_buffer_name(const repro_case *c, int b) {
    const char *name = "?";
    for (int t = 0; t < c->tensor_count; t++)
        if (c->tensors[t].buffer == b && (name[0] == '?' || (c->tensors[t].roles & REPRO_OUTPUT)))
            name = c->tensors[t].name;
    return name;
}

static void repro_check_buffer(repro_state *s, int b) {
    const repro_case *c = s->c;
    size_t size = repro_whole(s, b), content = c->buffers[b].size;
    unsigned char *own = repro_memory(size); /* bytes that may change */
    for (int t = 0; t < c->tensor_count; t++) {
        if (c->tensors[t].buffer != b || !(c->tensors[t].roles & (REPRO_OUTPUT | REPRO_SCRATCH))) continue;
        for (int64_t i = 0; i < c->tensors[t].count; i++)
            memset(own + s->guard + repro_position(&c->tensors[t], i), 1, (size_t)c->tensors[t].type->size);
    }
    for (size_t i = 0; i < size; i++) {
        if (own[i] || s->after[b][i] == s->image[b][i]) continue;
        int outside = i < s->guard || i >= s->guard + content;
        repro_wrong(s,
                    outside                 ? "written outside"
                    : c->buffers[b].written ? "written in a gap of"
                                            : "input",
                    repro_buffer_name(c, b), (int64_t)i - (int64_t)s->guard);
        break;
    }
    free(own);
}

static int repro_is_wide(const repro_type *type) {
    return type->size == 8 && type->kind != REPRO_REAL;
}

static int repro_fits(const repro_type *type, uint64_t bits, const repro_allowed *a) {
    if (repro_is_wide(type) && type->kind == REPRO_SIGNED)
        return (int64_t)a->least <= (int64_t)bits && (int64_t)bits <= (int64_t)a->most;
    if (repro_is_wide(type)) return a->least <= bits && bits <= a->most;
    double x = repro_number(type, bits);
    if (isnan(x)) return (a->classes & REPRO_NAN) != 0;
    if (isinf(x)) return (a->classes & (x > 0 ? REPRO_POS_INF : REPRO_NEG_INF)) != 0;
    if (!(a->classes & REPRO_FINITE) || !(a->lo <= x && x <= a->hi)) return 0;
    return !(x == 0 && (a->classes & REPRO_ZERO_SIGN) && !signbit(x) != !(a->classes & REPRO_ZERO_NEGATIVE));
}

static void repro_print_integer(const repro_type *type, uint64_t bits) {
    if (type->kind == REPRO_SIGNED)
        printf("%" PRId64, (int64_t)bits);
    else
        printf("%" PRIu64, bits);
}

static void repro_print_allowed(const repro_type *type, const repro_allowed *a) {
    const char *between = "";
    if (a->classes & REPRO_FINITE) {
        if (a->classes & REPRO_ZERO_SIGN) {
            printf("%s", a->classes & REPRO_ZERO_NEGATIVE ? "-0" : "+0");
        } else if (repro_is_wide(type)) {
            repro_print_integer(type, a->least);
            if (a->least != a->most) printf(" to "), repro_print_integer(type, a->most);
        } else if (a->lo == a->hi) {
            repro_print(type, a->lo);
        } else {
            printf("[");
            repro_print(type, a->lo);
            printf(", ");
            repro_print(type, a->hi);
            printf("]");
        }
        between = " or ";
    }
    if (a->classes & REPRO_NAN) printf("%snan", between), between = " or ";
    if (a->classes & REPRO_POS_INF) printf("%sinf", between), between = " or ";
    if (a->classes & REPRO_NEG_INF) printf("%s-inf", between);
}

static void repro_check_element(repro_state *s, const repro_allowed *a) {
    const repro_tensor *t = &s->c->tensors[a->tensor];
    int64_t at = (int64_t)s->guard + repro_position(t, a->index);
    uint64_t bits = repro_bits(t->type, s->after[t->buffer] + at);
    uint64_t before = repro_bits(t->type, s->image[t->buffer] + at);
    int keep = (a->classes & REPRO_KEEP) != 0;
    if (keep ? bits == before : repro_fits(t->type, bits, a)) return;
    if (s->failures++ >= REPRO_SHOWN) return;
    repro_print_name(t, a->index);
    printf(": got ");
    if (repro_is_wide(t->type))
        repro_print_integer(t->type, bits);
    else
        repro_print(t->type, repro_number(t->type, bits));
    printf(" (0x%0*" PRIx64 "), ", t->type->size * 2, bits);
    if (keep) {
        printf("expected what was there before, 0x%0*" PRIx64 "\n", t->type->size * 2, before);
        return;
    }
    printf("allowed ");
    repro_print_allowed(t->type, a);
    printf(", exact ");
    repro_print(t->type, a->exact);
    printf("%s\n", bits == before ? "; the launch has not written it" : "");
}

/* Did neither of the two first runs write these bytes? */
static int repro_untouched(const repro_state *s, int buffer, size_t at, size_t size) {
    return memcmp(s->first[0][buffer] + at, s->before[0][buffer] + at, size) == 0 &&
           memcmp(s->first[1][buffer] + at, s->before[1][buffer] + at, size) == 0;
}

/* Elements that kept both poisons. */
static void repro_check_unwritten(repro_state *s) {
    for (int i = 0; i < s->c->allowed_count; i++) {
        const repro_allowed *a = &s->c->allowed[i];
        const repro_tensor *t = &s->c->tensors[a->tensor];
        size_t at = s->guard + (size_t)repro_position(t, a->index), size = (size_t)t->type->size;
        if (a->classes & REPRO_KEEP || t->roles & REPRO_INPUT) continue;
        if (!repro_untouched(s, t->buffer, at, size)) continue;
        if (s->failures++ >= REPRO_SHOWN) continue;
        repro_print_name(t, a->index);
        printf(": never written\n");
    }
}

static int repro_is_nan(const repro_type *type, const unsigned char *at) {
    return type->kind == REPRO_REAL && isnan(repro_number(type, repro_bits(type, at)));
}

/* Do two runs of outputs agree? NaNs are equal whatever their payload. */
static void repro_check_same(repro_state *s, unsigned char **one, unsigned char **other, const char *why) {
    const repro_case *c = s->c;
    for (int t = 0; t < c->tensor_count; t++) {
        const repro_tensor *tensor = &c->tensors[t];
        size_t size = (size_t)tensor->type->size;
        if (!(tensor->roles & REPRO_OUTPUT)) continue;
        for (int64_t i = 0; i < tensor->count; i++) {
            size_t at = s->guard + (size_t)repro_position(tensor, i);
            const unsigned char *a = one[tensor->buffer] + at, *b = other[tensor->buffer] + at;
            if (memcmp(a, b, size) == 0 || (repro_is_nan(tensor->type, a) && repro_is_nan(tensor->type, b)))
                continue;
            if (one == s->first[0] && other == s->first[1] && repro_untouched(s, tensor->buffer, at, size))
                continue;
            if (s->failures++ >= REPRO_SHOWN) continue;
            repro_print_name(tensor, i);
            printf(": 0x%0*" PRIx64 " in one run, 0x%0*" PRIx64 " in another %s\n", tensor->type->size * 2,
                   repro_bits(tensor->type, a), tensor->type->size * 2, repro_bits(tensor->type, b), why);
        }
    }
}

static void repro_check(repro_state *s, int round) {
    for (int b = 0; b < s->c->buffer_count; b++) repro_check_buffer(s, b);
    for (int i = 0; i < s->c->allowed_count; i++) repro_check_element(s, &s->c->allowed[i]);
    if (round < 2)
        for (int b = 0; b < s->c->buffer_count; b++) {
            memcpy(s->first[s->poison][b], s->after[b], repro_whole(s, b));
            memcpy(s->before[s->poison][b], s->image[b], repro_whole(s, b));
        }
    if (round == 1 && s->c->unwritten) repro_check_unwritten(s);
    if (!s->c->same_bytes) return;
    if (round >= 2) repro_check_same(s, s->first[s->poison], s->after, "from the same memory");
    if (round == 1 && s->c->same_bytes == REPRO_ANY_POISON)
        repro_check_same(s, s->first[0], s->first[1], "whose memory that is no input differs");
}

static int repro_verdict(const repro_state *s, int round) {
    if (s->failures) {
        printf("FAILED: %" PRId64 " failed checks in %d runs\n", s->failures, round);
        return REPRO_SHOWS;
    }
    if (s->c->where[0]) printf("cupel's emulator names %s\n", s->c->where);
    printf("this device did not show the failure%s%s in %d runs\n",
           s->c->need_not[0] ? ", and need not: " : "", s->c->need_not, round);
    return 0;
}
