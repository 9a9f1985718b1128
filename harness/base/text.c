#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT = 64 * 1024 * 1024, WORD_MAX = 64 };

cupel_span cupel_span_of(const char *text, const char *file, int line, int column) {
    return (cupel_span){text, strlen(text), file, line, column};
}

/* Columns count characters, so the continuation bytes of UTF-8 do not move them. */
cupel_span cupel_span_part(cupel_span span, size_t offset, size_t end) {
    if (end > span.length) end = span.length;
    if (offset > end) offset = end;
    cupel_span part = {span.text + offset, end - offset, span.file, span.line, span.column};
    for (size_t i = 0; i < offset; i++) {
        if (span.text[i] == '\n') {
            part.line++;
            part.column = 1;
        } else if (((unsigned char)span.text[i] & 0xC0) != 0x80) {
            part.column++;
        }
    }
    return part;
}

bool cupel_span_equals(cupel_span span, const char *text) {
    return strlen(text) == span.length && memcmp(span.text, text, span.length) == 0;
}

cupel_code cupel_fail_span(cupel_error *err, cupel_code code, cupel_span place, const char *format, ...) {
    char text[sizeof err->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return cupel_fail_at(err, code, place.file, place.line, place.column, "%s", text);
}

/* Edit distance with transpositions of neighbours (optimal string alignment): three rows of the usual table.
 */
static size_t distance(const char *a, size_t n, const char *b, size_t m) {
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= m; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < best) best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[n % 3][m];
}

const char *cupel_text_nearest(const char *word, const char *const *candidates, size_t count) {
    size_t length = strlen(word);
    if (length == 0 || length > WORD_MAX) return NULL;
    size_t best = length / 3 > 1 ? length / 3 : 1;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        if (other > WORD_MAX) continue;
        size_t d = distance(word, length, candidates[i], other);
        /* a distance of the whole word would make any short name a "near miss" of any other */
        if (d >= length || d > best || (d == best && nearest)) continue;
        best = d;
        nearest = candidates[i];
    }
    return nearest;
}

static cupel_code fail_io(cupel_error *err, const char *path, const char *what) {
    return cupel_fail(err, CUPEL_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

static cupel_code read_open(int fd, const char *path, cupel_arena *arena, char **text, size_t *length,
                            cupel_error *err) {
    struct stat info;
    if (fstat(fd, &info) != 0) return fail_io(err, path, "read");
    if (S_ISDIR(info.st_mode)) return cupel_fail(err, CUPEL_IO, "%s: expected a file, found a folder", path);
    if (info.st_size > FILE_LIMIT)
        return cupel_fail(err, CUPEL_IO, "%s: expected at most 64 MiB, found %lld bytes", path,
                          (long long)info.st_size);
    /* pipes and files under /proc state no size: their content is collected piece by piece */
    size_t capacity = info.st_size > 0 ? (size_t)info.st_size + 1 : 4096, used = 0;
    char *bytes = malloc(capacity);
    cupel_code code = bytes ? CUPEL_OK : cupel_fail(err, CUPEL_MEMORY, "%s: out of memory", path);
    while (code == CUPEL_OK) {
        ssize_t got = read(fd, bytes + used, capacity - used);
        if (got == 0) break;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            code = fail_io(err, path, "read");
            break;
        }
        used += (size_t)got;
        if (used > FILE_LIMIT) code = cupel_fail(err, CUPEL_IO, "%s: expected at most 64 MiB", path);
        if (used < capacity) continue;
        char *more = realloc(bytes, capacity * 2);
        if (!more) {
            code = cupel_fail(err, CUPEL_MEMORY, "%s: out of memory", path);
            break;
        }
        bytes = more;
        capacity *= 2;
    }
    if (code == CUPEL_OK) {
        *text = cupel_arena_text(arena, bytes, used);
        *length = used;
        if (!*text) code = cupel_fail(err, CUPEL_MEMORY, "%s: out of memory", path);
    }
    free(bytes);
    return code;
}

cupel_code cupel_text_read(const char *path, cupel_arena *arena, char **text, size_t *length,
                           cupel_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_io(err, path, "open");
    cupel_code code = read_open(fd, path, arena, text, length, err);
    close(fd);
    return code;
}

static cupel_code write_all(int fd, const unsigned char *bytes, size_t length, const char *path,
                            cupel_error *err) {
    while (length > 0) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_io(err, path, "write");
        bytes += put;
        length -= (size_t)put;
    }
    return fsync(fd) == 0 ? CUPEL_OK : fail_io(err, path, "flush");
}

/* The rename is on disk only when the folder is. */
static void flush_folder(const char *path) {
    char folder[4096];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 1;
    if (length >= (int)sizeof folder) return;
    snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

cupel_code cupel_text_write(const char *path, const void *bytes, size_t length, cupel_error *err) {
    char temporary[4096];
    int fd = -1;
    for (unsigned attempt = 0; fd < 0 && attempt < 100; attempt++) {
        int n = snprintf(temporary, sizeof temporary, "%s.%ld-%u.part", path, (long)getpid(), attempt);
        if (n < 0 || n >= (int)sizeof temporary)
            return cupel_fail(err, CUPEL_IO, "%s: the path is too long", path);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    if (fd < 0) return fail_io(err, path, "create");
    cupel_code code = write_all(fd, bytes, length, path, err);
    if (close(fd) != 0 && code == CUPEL_OK) code = fail_io(err, path, "write");
    if (code == CUPEL_OK && rename(temporary, path) != 0) code = fail_io(err, path, "rename a file to it");
    if (code != CUPEL_OK)
        unlink(temporary);
    else
        flush_folder(path);
    return code;
}
