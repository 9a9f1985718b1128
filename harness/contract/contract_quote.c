/* Where a contract says something, for messages that quote it. */
#include <stdio.h>
#include <string.h>

#include "contract.h"

/* The line that begins at text, without what surrounds it. */
static cupel_span trimmed(const char *text, const char *end) {
    while (text < end && (*text == ' ' || *text == '\t')) text++;
    while (end > text && strchr(" \t\r", end[-1])) end--;
    return (cupel_span){.text = text, .length = (size_t)(end - text)};
}

static bool starts_with_key(cupel_span line, const char *key) {
    const size_t length = strlen(key);
    if (line.length <= length || strncmp(line.text, key, length) != 0) return false;
    const char *rest = line.text + length;
    while (rest < line.text + line.length && *rest == ' ') rest++;
    return rest < line.text + line.length && *rest == ':';
}

static void quote(const cupel_contract *contract, int line, cupel_span text, char *out, size_t size) {
    const char *slash = strrchr(contract->file, '/');
    snprintf(out, size, "%s:%d: %.*s", slash ? slash + 1 : contract->file, line, (int)text.length, text.text);
}

/* Of several lines that begin with the key the one that is indented least: the contract's own, not one inside
 * another key's value. */
bool cupel_contract_quote_key(const cupel_contract *contract, const char *key, char *out, size_t size) {
    const char *at = contract->text, *end = at + contract->text_length;
    size_t least = SIZE_MAX;
    for (int line = contract->line; at && at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        const cupel_span text = trimmed(at, stop);
        const size_t indent = (size_t)(text.text - at);
        if (starts_with_key(text, key) && indent < least) {
            quote(contract, line, text, out, size);
            least = indent;
        }
        at = stop < end ? stop + 1 : end;
    }
    return least != SIZE_MAX;
}

bool cupel_contract_quote_span(const cupel_contract *contract, cupel_span place, char *out, size_t size) {
    const char *begin = contract->text, *end = begin + contract->text_length;
    if (!place.text || place.text < begin || place.text >= end) return false;
    const char *at = place.text, *stop = place.text;
    while (at > begin && at[-1] != '\n') at--;
    while (stop < end && *stop != '\n') stop++;
    quote(contract, place.line, trimmed(at, stop), out, size);
    return true;
}

/* ---- whole lines, as they stand ---- */

enum { LINES_MAX = 24 };

static const char *end_of_line(const char *at, const char *end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return stop ? stop : end;
}

static void write_line(const cupel_contract *contract, int line, const char *at, const char *stop,
                       FILE *out) {
    const char *slash = strrchr(contract->file, '/');
    while (stop > at && strchr(" \t\r", stop[-1])) stop--;
    fprintf(out, "    %s:%d: %.*s\n", slash ? slash + 1 : contract->file, line, (int)(stop - at), at);
}

bool cupel_contract_write_span(const cupel_contract *contract, cupel_span place, FILE *out) {
    const char *begin = contract->text, *end = begin + contract->text_length;
    if (!place.text || place.text < begin || place.text >= end) return false;
    const char *at = place.text, *last = at + (place.length ? place.length - 1 : 0);
    while (at > begin && at[-1] != '\n') at--;
    for (int line = place.line; at < end && at <= last && line < place.line + LINES_MAX; line++) {
        const char *stop = end_of_line(at, end);
        write_line(contract, line, at, stop, out);
        at = stop + 1;
    }
    return true;
}

static size_t indent_of(const char *at, const char *stop) {
    size_t n = 0;
    while (at + n < stop && (at[n] == ' ' || at[n] == '\t')) n++;
    return n;
}

bool cupel_contract_write_key(const cupel_contract *contract, const char *key, FILE *out) {
    const char *end = contract->text + contract->text_length, *found = NULL;
    int found_line = 0, line = contract->line;
    size_t least = SIZE_MAX;
    for (const char *at = contract->text; at && at < end; at = end_of_line(at, end) + 1, line++) {
        const cupel_span text = trimmed(at, end_of_line(at, end));
        const size_t indent = (size_t)(text.text - at);
        if (!starts_with_key(text, key) || indent >= least) continue;
        least = indent, found = at, found_line = line;
    }
    for (int i = 0; found && found < end && i < LINES_MAX; i++) {
        const char *stop = end_of_line(found, end);
        const size_t indent = indent_of(found, stop);
        if (i > 0 && (indent <= least || found + indent == stop)) break; /* the next key, or an empty line */
        write_line(contract, found_line + i, found, stop, out);
        found = stop + 1;
    }
    return least != SIZE_MAX;
}
