#include "cuda_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the log ---- */

typedef struct line {
    const char *text;
    size_t length;
} line;

static line next_line(const char **at) {
    line l = {*at, strcspn(*at, "\n")};
    *at += l.length + ((*at)[l.length] == '\n');
    return l;
}

/* "file(12): error: text" and "file(12): catastrophic error: text". */
static bool parse_error(line l, cupel_arena *arena, cupel_cuda_diagnostic *out) {
    static const char *const marks[] = {"): error: ", "): catastrophic error: "};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *mark = memmem(l.text, l.length, marks[i], strlen(marks[i]));
        if (mark == NULL) continue;
        const char *open = mark;
        while (open > l.text && isdigit((unsigned char)open[-1])) open--;
        if (open == mark || open == l.text || open[-1] != '(') continue;
        const char *text = mark + strlen(marks[i]);
        out->file = cupel_arena_text(arena, l.text, (size_t)(open - 1 - l.text));
        out->line = atoi(open);
        out->text = cupel_arena_text(arena, text, (size_t)(l.text + l.length - text));
        return out->file != NULL && out->text != NULL;
    }
    return false;
}

static bool is_authors(const char *file, const char *foreign) {
    if (strcmp(file, CUPEL_CUDA_PRELUDE_FILE) == 0 || strcmp(file, CUPEL_CUDA_ENTRIES_FILE) == 0 ||
        strstr(file, "nvrtc") != NULL)
        return false;
    return foreign[0] == '\0' || strncmp(file, foreign, strlen(foreign)) != 0;
}

/* "... at line 7 of kernel.cu" */
static bool parse_origin(line l, const char *foreign, cupel_arena *arena, cupel_cuda_diagnostic *out) {
    static const char at_line[] = "at line ";
    const char *at = memmem(l.text, l.length, at_line, sizeof at_line - 1);
    if (at == NULL) return false;
    char *end;
    long number = strtol(at + sizeof at_line - 1, &end, 10);
    size_t left = (size_t)(l.text + l.length - end);
    if (left < 5 || strncmp(end, " of ", 4) != 0) return false;
    const char *file = end + 4;
    left -= 4;
    if (file[0] == '"') file++, left--;
    const char *stop = memchr(file, '"', left);
    char *name = cupel_arena_text(arena, file, stop != NULL ? (size_t)(stop - file) : left);
    if (name == NULL || !is_authors(name, foreign)) return false;
    out->file = name;
    out->line = (int)number;
    return true;
}

cupel_code cupel_cuda_text_errors(const char *log, const char *foreign, cupel_arena *arena, int *count,
                                  cupel_cuda_diagnostic **out, cupel_error *err) {
    size_t capacity = 1;
    for (const char *p = log; (p = strstr(p, "error: ")) != NULL; p++) capacity++;
    cupel_cuda_diagnostic *list = cupel_arena_alloc(arena, capacity * sizeof *list);
    if (list == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    int n = 0;
    bool authors = true; /* the error read last has its place already */
    for (const char *at = log; *at != '\0';) {
        line l = next_line(&at);
        if ((size_t)n < capacity && parse_error(l, arena, &list[n]))
            authors = is_authors(list[n++].file, foreign);
        else if (!authors)
            authors = parse_origin(l, foreign, arena, &list[n - 1]);
    }
    *count = n;
    *out = list;
    return CUPEL_OK;
}

/* ---- the parameters ---- */

/* cupel_signature::parameter, as the compiler lays it out. */
typedef struct parameter {
    uint32_t size, kind, pointee, pointee_kind, is_const;
    char type[108];
} parameter;
_Static_assert(sizeof(parameter) == 128, "no padding, here or on the device");

/* The bytes of a variable; those that the text leaves out are 0. NULL when there is none of that name. */
static unsigned char *variable_bytes(const char *ptx, const char *name, cupel_arena *arena, size_t *size) {
    char declared[64];
    snprintf(declared, sizeof declared, ".b8 %s[", name);
    const char *at = strstr(ptx, declared);
    if (at == NULL) return NULL;
    char *end;
    *size = strtoul(at + strlen(declared), &end, 10);
    if (*size == 0 || *size > (1u << 20)) return NULL;
    unsigned char *bytes = cupel_arena_alloc(arena, *size);
    const char *open = strpbrk(end, "{;");
    if (bytes == NULL || open == NULL || *open == ';') return bytes;
    at = open + 1;
    for (size_t i = 0; i < *size; i++) {
        bytes[i] = (unsigned char)strtoul(at, &end, 0);
        at = end + strspn(end, ", ");
        if (end == open || *at == '}') break;
    }
    return bytes;
}

cupel_code cupel_cuda_text_signature(const char *ptx, int k, cupel_arena *arena, cupel_emu_kernel *out,
                                     cupel_error *err) {
    char name[32];
    size_t size = 0;
    uint32_t count = 0;
    snprintf(name, sizeof name, "cupel_signature_%d", k);
    unsigned char *bytes = variable_bytes(ptx, name, arena, &size);
    if (bytes != NULL && size >= sizeof count) memcpy(&count, bytes, sizeof count);
    if (bytes == NULL || size != sizeof count + ((size_t)count + 1) * sizeof(parameter))
        return cupel_fail(err, CUPEL_UNSUPPORTED,
                          "this version of NVRTC does not tell the parameters of '%s' in its PTX",
                          out->entry);
    cupel_emu_param *params = cupel_arena_alloc(arena, ((size_t)count + 1) * sizeof *params);
    if (params == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (uint32_t i = 0; i < count; i++) {
        parameter p;
        memcpy(&p, bytes + sizeof count + i * sizeof p, sizeof p);
        if (strcmp(p.type, "__nv_bool") == 0) strcpy(p.type, "bool");
        params[i] = (cupel_emu_param){
            p.size,         p.kind,     p.pointee,
            p.pointee_kind, p.is_const, cupel_arena_text(arena, p.type, strnlen(p.type, sizeof p.type))};
    }
    out->params = params;
    out->param_count = count;
    return CUPEL_OK;
}

/* ---- atomics ---- */

static bool holds(line l, const char *part) {
    return memmem(l.text, l.length, part, strlen(part)) != NULL;
}

static bool begins(line l, const char *with) {
    return l.length >= strlen(with) && memcmp(l.text, with, strlen(with)) == 0;
}

static bool name_part(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

/* An instruction that begins with stem, anywhere in the line: inline PTX may have several on one. */
static void note_stem(line l, const char *stem, bool *adds_floats, bool *swaps) {
    const char *stop = l.text + l.length;
    for (const char *at = l.text; (at = memmem(at, (size_t)(stop - at), stem, strlen(stem))) != NULL;) {
        line op = {at, 0};
        while (at + op.length < stop && (name_part(at[op.length]) || at[op.length] == ':')) op.length++;
        bool whole = at == l.text || !name_part(at[-1]);
        bool real = holds(op, ".f16") || holds(op, ".f32") || holds(op, ".f64") || holds(op, ".bf16");
        if (whole && real && holds(op, ".add")) *adds_floats = true;
        if (whole && (holds(op, ".cas") || holds(op, ".exch"))) *swaps = true;
        at += op.length;
    }
}

static void note_atomics(line l, bool *adds_floats, bool *swaps) {
    static const char *const stems[] = {"atom.", "red.", "cp.reduce.", "multimem."};
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) note_stem(l, stems[i], adds_floats, swaps);
}

/* Does the line begin the definition of an entry (that of name: *mine) or of another function? */
static bool begins_function(line l, const char *name, bool *mine) {
    const char *entry = memmem(l.text, l.length, ".entry ", 7);
    if (entry != NULL) {
        const char *found = entry + 7;
        size_t length = strlen(name), left = (size_t)(l.text + l.length - found);
        *mine = left >= length && memcmp(found, name, length) == 0 &&
                (left == length ||
                 !(isalnum((unsigned char)found[length]) || found[length] == '_' || found[length] == '$'));
        return true;
    }
    *mine = true;
    return memmem(l.text, l.length, ".func", 5) != NULL;
}

void cupel_cuda_text_atomics(const char *ptx, const char *lowered, bool *adds_floats, bool *swaps) {
    bool mine = false;
    *adds_floats = *swaps = false;
    for (const char *at = ptx; *at != '\0';) {
        line l = next_line(&at);
        bool starts_mine;
        if (l.length > 0 && l.text[0] == '.' && begins_function(l, lowered, &starts_mine)) mine = starts_mine;
        if (mine) note_atomics(l, adds_floats, swaps);
    }
}

/* The name that a line declares: the last word before its size, value or end. */
static line declared_name(line l) {
    size_t end = 0;
    while (end < l.length && strchr("=[;", l.text[end]) == NULL) end++;
    while (end > 0 && isspace((unsigned char)l.text[end - 1])) end--;
    size_t begin = end;
    while (begin > 0 && !isspace((unsigned char)l.text[begin - 1])) begin--;
    return (line){l.text + begin, end - begin};
}

static bool is_used(const char *ptx, line name) {
    int count = 0;
    size_t length = strlen(ptx);
    for (const char *at = ptx; (at = memmem(at, length - (size_t)(at - ptx), name.text, name.length)) != NULL;
         at += name.length)
        if (!name_part(at[-1]) && !name_part(at[name.length]) && ++count > 1) return true;
    return false;
}

/* A constant, or text, is a variable to PTX too, but one that no instruction names or that is only read: the
 * first are told apart, the second cost a reload. */
bool cupel_cuda_text_state(const char *ptx) {
    for (const char *at = ptx; *at != '\0';) {
        line l = next_line(&at);
        if (l.length == 0 || l.text[0] != '.' || !holds(l, ".global ") || !holds(l, ".align ")) continue;
        line name = declared_name(l);
        if (name.length == 0 || begins(name, "$str") || begins(name, "__unnamed_")) continue;
        if (is_used(ptx, name)) return true;
    }
    return false;
}
