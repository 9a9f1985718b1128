#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* The format: NEP 1 (numpy.lib.format). A magic word, a version, the header's length in 16 bits, a Python
 * dictionary padded with blanks to a multiple of 64 bytes, then the elements. */
static const char magic[] = "\x93NUMPY\x01\x00";
enum { MAGIC_SIZE = 8, PREFIX_SIZE = 10, HEADER_MAX = 512, RANK_MAX = 8 };

/* "<f4" -> 4; 0 when the text is no type string that we read. */
static size_t element_size(const char *descr) {
    if (!strchr("<|", descr[0]) || !strchr("fiub", descr[1]) || descr[1] == '\0') return 0;
    char *end;
    unsigned long size = strtoul(descr + 2, &end, 10);
    return *end == '\0' && size >= 1 && size <= 16 ? size : 0;
}

static bool count_elements(int rank, const int64_t *shape, int64_t *count) {
    *count = 1;
    for (int i = 0; i < rank; i++)
        if (shape[i] < 0 || __builtin_mul_overflow(*count, shape[i], count)) return false;
    return true;
}

static size_t header_write(char *header, const char *descr, int rank, const int64_t *shape) {
    char *p = header + PREFIX_SIZE, *stop = header + HEADER_MAX;
    p += snprintf(p, (size_t)(stop - p), "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < rank; i++) p += snprintf(p, (size_t)(stop - p), "%lld, ", (long long)shape[i]);
    p += snprintf(p, (size_t)(stop - p), "), }");
    do *p++ = ' ';
    while ((p + 1 - header) % 64 != 0);
    *p++ = '\n';
    size_t size = (size_t)(p - header);
    memcpy(header, magic, MAGIC_SIZE);
    header[8] = (char)((size - PREFIX_SIZE) & 0xFF);
    header[9] = (char)((size - PREFIX_SIZE) >> 8);
    return size;
}

cupel_code cupel_npy_write(const char *path, const char *descr, int rank, const int64_t *shape,
                           const void *data, cupel_error *err) {
    char header[HEADER_MAX];
    size_t element = element_size(descr), bytes;
    int64_t count;
    if (element == 0 || rank < 0 || rank > RANK_MAX || !count_elements(rank, shape, &count) ||
        __builtin_mul_overflow((size_t)count, element, &bytes) || bytes > SIZE_MAX / 2)
        return cupel_fail(err, CUPEL_RANGE, "%s: no .npy file can hold this array (type %s, rank %d)", path,
                          descr, rank);
    size_t start = header_write(header, descr, rank, shape);
    char *file = malloc(start + bytes);
    if (!file) return cupel_fail(err, CUPEL_MEMORY, "%s: out of memory", path);
    memcpy(file, header, start);
    if (bytes > 0) memcpy(file + start, data, bytes);
    cupel_code code = cupel_text_write(path, file, start + bytes, err);
    free(file);
    return code;
}

/* The text behind 'key': in the header's dictionary, blanks skipped; NULL when it is not there. */
static const char *header_value(const char *header, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *p = strstr(header, quoted);
    return p ? p + strlen(quoted) + strspn(p + strlen(quoted), " ") : NULL;
}

static bool header_shape(const char *p, cupel_npy *out) {
    if (*p++ != '(') return false;
    for (out->rank = 0;;) {
        p += strspn(p, " ,");
        if (*p == ')') return true;
        char *end;
        errno = 0;
        long long extent = strtoll(p, &end, 10);
        if (end == p || errno || extent < 0 || out->rank == RANK_MAX) return false;
        out->shape[out->rank++] = extent;
        p = end;
    }
}

static cupel_code header_parse(const char *path, const char *header, cupel_npy *out, cupel_error *err) {
    const char *descr = header_value(header, "descr"), *order = header_value(header, "fortran_order"),
               *shape = header_value(header, "shape");
    size_t length = descr && *descr == '\'' ? strcspn(descr + 1, "'") : 0;
    if (!order || !shape || length == 0 || length >= sizeof out->descr)
        return cupel_fail(err, CUPEL_SYNTAX, "%s: expected an npy header with descr, fortran_order and shape",
                          path);
    snprintf(out->descr, sizeof out->descr, "%.*s", (int)length, descr + 1);
    if (out->descr[0] == '>')
        return cupel_fail(err, CUPEL_UNSUPPORTED, "%s: expected little endian elements, found '%s'", path,
                          out->descr);
    if (element_size(out->descr) == 0)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "%s: expected a plain number type, found '%s'", path,
                          out->descr);
    if (strncmp(order, "False", 5) != 0)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "%s: expected C order, found Fortran order", path);
    if (!header_shape(shape, out) || !count_elements(out->rank, out->shape, &out->count))
        return cupel_fail(err, CUPEL_SYNTAX, "%s: expected a shape of at most %d extents", path, RANK_MAX);
    return CUPEL_OK;
}

static cupel_code read_open(FILE *file, const char *path, cupel_arena *arena, cupel_npy *out,
                            cupel_error *err) {
    unsigned char prefix[PREFIX_SIZE];
    if (fread(prefix, 1, PREFIX_SIZE, file) != PREFIX_SIZE || memcmp(prefix, magic, MAGIC_SIZE) != 0)
        return cupel_fail(err, CUPEL_SYNTAX, "%s: expected an npy file, version 1.0", path);
    size_t length = prefix[8] | (size_t)prefix[9] << 8;
    char *header = cupel_arena_alloc(arena, length + 1);
    if (!header) return cupel_fail(err, CUPEL_MEMORY, "%s: out of memory", path);
    if (fread(header, 1, length, file) != length)
        return cupel_fail(err, CUPEL_SYNTAX, "%s: the npy header is truncated", path);
    CUPEL_TRY(header_parse(path, header, out, err));
    size_t element = element_size(out->descr), bytes;
    /* a hostile shape must not make us allocate more than the file holds */
    long start = ftell(file);
    if (start < 0 || fseek(file, 0, SEEK_END) != 0)
        return cupel_fail(err, CUPEL_IO, "%s: %s", path, strerror(errno));
    long end = ftell(file);
    if (end < start || fseek(file, start, SEEK_SET) != 0)
        return cupel_fail(err, CUPEL_IO, "%s: %s", path, strerror(errno));
    if (__builtin_mul_overflow((size_t)out->count, element, &bytes) || bytes > (size_t)(end - start))
        return cupel_fail(err, CUPEL_SYNTAX, "%s: expected %lld elements of %zu bytes, found %ld bytes", path,
                          (long long)out->count, element, end - start);
    out->data = cupel_arena_raw(arena, bytes, 1);
    if (!out->data) return cupel_fail(err, CUPEL_MEMORY, "%s: out of memory", path);
    if (fread(out->data, 1, bytes, file) != bytes) return cupel_fail(err, CUPEL_IO, "%s: cannot read", path);
    return CUPEL_OK;
}

cupel_code cupel_npy_read(const char *path, cupel_arena *arena, cupel_npy *out, cupel_error *err) {
    memset(out, 0, sizeof *out);
    FILE *file = fopen(path, "rbe");
    if (!file) return cupel_fail(err, CUPEL_IO, "%s: cannot open: %s", path, strerror(errno));
    cupel_code code = read_open(file, path, arena, out, err);
    fclose(file);
    return code;
}
