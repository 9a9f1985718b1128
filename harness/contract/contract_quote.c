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
