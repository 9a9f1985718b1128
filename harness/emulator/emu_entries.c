#include "emu_entries.h"

#include <ctype.h>
#include <string.h>

const char *const cupel_emu_entries_file = "cupel-entries";

const char *cupel_emu_entries_base(const char *entry, cupel_arena *arena) {
    size_t end = strcspn(entry, "<");
    while (end && entry[end - 1] == ' ') end--;
    size_t begin = end;
    while (begin && entry[begin - 1] != ':' && entry[begin - 1] != ' ' && entry[begin - 1] != '&') begin--;
    return cupel_arena_text(arena, entry + begin, end - begin);
}

cupel_code cupel_emu_entries_string(cupel_buffer *out, const char *text, cupel_error *err) {
    CUPEL_TRY(cupel_buffer_add(out, "\"", 1, err));
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') CUPEL_TRY(cupel_buffer_add(out, "\\", 1, err));
        CUPEL_TRY(cupel_buffer_add(out, text, 1, err));
    }
    return cupel_buffer_add(out, "\"", 1, err);
}

typedef struct piece {
    const char *text;
    size_t length;
} piece;

static bool word_part(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static piece trim(const char *text, size_t length) {
    while (length && isspace((unsigned char)*text)) text++, length--;
    while (length && isspace((unsigned char)text[length - 1])) length--;
    return (piece){text, length};
}

/* The k-th of a list that is separated by commas outside of brackets; an empty piece when there is none. */
static piece nth(const char *list, size_t length, int k) {
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i <= length; i++) {
        char c = i < length ? list[i] : ',';
        depth += c == '<' || c == '(' || c == '{' || c == '[';
        depth -= c == '>' || c == ')' || c == '}' || c == ']';
        if ((c != ',' || depth > 0) && i < length) continue;
        if (k-- == 0) return trim(list + begin, i - begin);
        begin = i + 1;
    }
    return (piece){"", 0};
}

/* Splits "int B = 256" into its name and its default (empty when it has none). */
static void split_parameter(piece parameter, piece *name, piece *fallback) {
    const char *equals = memchr(parameter.text, '=', parameter.length);
    size_t head = equals ? (size_t)(equals - parameter.text) : parameter.length;
    *fallback = equals ? trim(equals + 1, parameter.length - head - 1) : (piece){"", 0};
    piece declared = trim(parameter.text, head);
    size_t begin = declared.length;
    while (begin && word_part(declared.text[begin - 1])) begin--;
    *name = (piece){declared.text + begin, declared.length - begin};
}

/* What a template parameter of that name stands for in entry: 1 found, 0 no such parameter, -1 not known. */
static int argument_for(const cupel_source_kernel *kernel, const char *entry, piece word, piece *value) {
    const char *open = strchr(entry, '<'), *close = strrchr(entry, '>');
    for (int k = 0;; k++) {
        piece name, fallback,
            parameter = nth(kernel->template_parameters, strlen(kernel->template_parameters), k);
        if (!parameter.length) return 0;
        split_parameter(parameter, &name, &fallback);
        if (name.length != word.length || memcmp(name.text, word.text, word.length) != 0) continue;
        *value =
            open && close && close > open ? nth(open + 1, (size_t)(close - open - 1), k) : (piece){"", 0};
        if (!value->length) *value = fallback;
        return value->length ? 1 : -1;
    }
}

static const cupel_source_kernel *kernel_of(const cupel_source *source, const char *entry,
                                            cupel_arena *arena) {
    const char *base = cupel_emu_entries_base(entry, arena);
    const cupel_source_kernel *found = NULL;
    for (int i = 0; base && i < source->kernel_count; i++) {
        const char *colon = strrchr(source->kernels[i].name, ':');
        if (strcmp(colon ? colon + 1 : source->kernels[i].name, base) != 0) continue;
        if (found) return NULL; /* overloads: which one is meant is for the compiler to say */
        found = &source->kernels[i];
    }
    return found;
}

/* The bound with template parameters replaced by the entry's arguments; 0 where it cannot be told. */
static cupel_code write_bound(cupel_buffer *out, const cupel_source *source, const char *entry,
                              cupel_error *err) {
    const cupel_source_kernel *kernel = kernel_of(source, entry, out->arena);
    cupel_buffer bound = {.arena = out->arena};
    for (const char *p = kernel ? kernel->launch_bounds : ""; *p;) {
        size_t n = 0;
        while (word_part(p[n])) n++;
        piece word = {p, n ? n : 1}, value = word;
        int known = n && !isdigit((unsigned char)*p) ? argument_for(kernel, entry, word, &value) : 0;
        if (known < 0) return cupel_buffer_add(out, "0", 1, err);
        if (known)
            CUPEL_TRY(cupel_buffer_printf(&bound, err, "(%.*s)", (int)value.length, value.text));
        else
            CUPEL_TRY(cupel_buffer_add(&bound, word.text, word.length, err));
        p += word.length;
    }
    return cupel_buffer_add(out, bound.length ? bound.bytes : "0", bound.length ? bound.length : 1, err);
}

cupel_code cupel_emu_entries_write(cupel_buffer *out, const cupel_source *source, int count,
                                   const char *const *entries, bool bounds, cupel_error *err) {
    CUPEL_TRY(
        cupel_buffer_printf(out, err, "\nCUPEL_EXPORT const uint32_t cupel_emu_kernel_count = %d;\n", count));
    CUPEL_TRY(cupel_buffer_printf(
        out, err, "CUPEL_EXPORT const cupel_emu_kernel cupel_emu_kernels[] = {\n#line 1 \"%s\"\n",
        cupel_emu_entries_file));
    for (int i = 0; i < count; i++) {
        CUPEL_TRY(cupel_buffer_printf(out, err, "CUPEL_ENTRY("));
        CUPEL_TRY(cupel_emu_entries_string(out, entries[i], err));
        CUPEL_TRY(cupel_buffer_printf(out, err, ", ("));
        if (bounds)
            CUPEL_TRY(write_bound(out, source, entries[i], err));
        else
            CUPEL_TRY(cupel_buffer_add(out, "0", 1, err));
        CUPEL_TRY(cupel_buffer_printf(out, err, "), %s)\n", entries[i]));
    }
    return cupel_buffer_printf(out, err, "};\n");
}
