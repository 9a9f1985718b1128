/* LLVM keeps the variables of one section in the order of its text. Those of templates and inline functions
 * (as kernels are here) lie in a section for each, of the same name, in a group that the linker keeps or
 * drops as a whole; a zone is in the group of the array that it follows. One variable of the author's is one
 * of LLVM's: what is in a section of its own choice and marked as used is neither split nor merged. */
#include "emu_red_zone.h"

#include <stdio.h>
#include <string.h>

static const char section[] = ", section \"cupel_shared\"";

/* The first place of what in the line, which ends at stop; NULL: none. */
static const char *find(const char *line, const char *stop, const char *what) {
    return memmem(line, (size_t)(stop - line), what, strlen(what));
}

/* The zone behind the variable that the line defines. "comdat" alone means the group of the variable's name.
 */
static cupel_code write_zone(const char *line, const char *stop, int number, cupel_buffer *out,
                             cupel_error *err) {
    char head[128], tail[32];
    const int head_length = snprintf(head, sizeof head, "@%s%d = hidden global [%d x i8] undef%s",
                                     CUPEL_EMU_RED_ZONE_NAME, number, CUPEL_EMU_RED_ZONE_BYTES, section),
              tail_length = snprintf(tail, sizeof tail, ", align 1\n");
    CUPEL_TRY(cupel_buffer_add(out, head, (size_t)head_length, err));
    static const char word[] = ", comdat";
    const char *group = find(find(line, stop, section), stop, word);
    if (group != NULL) {
        const char *open = group + sizeof word - 1, *close = *open == '(' ? strchr(open, ')') : NULL;
        CUPEL_TRY(cupel_buffer_add(out, word, sizeof word - 1, err));
        if (close != NULL && close < stop) {
            CUPEL_TRY(cupel_buffer_add(out, open, (size_t)(close + 1 - open), err));
        } else {
            CUPEL_TRY(cupel_buffer_add(out, "($", 2, err));
            CUPEL_TRY(cupel_buffer_add(out, line + 1, (size_t)(strstr(line, " = ") - line - 1), err));
            CUPEL_TRY(cupel_buffer_add(out, ")", 1, err));
        }
    }
    return cupel_buffer_add(out, tail, (size_t)tail_length, err);
}

cupel_code cupel_emu_red_zone_write(const char *text, cupel_buffer *out, cupel_error *err) {
    int count = 0;
    for (const char *line = text, *next; *line != '\0'; line = next) {
        const char *end = strchr(line, '\n');
        next = end != NULL ? end + 1 : line + strlen(line);
        CUPEL_TRY(cupel_buffer_add(out, line, (size_t)(next - line), err));
        if (*line != '@' || end == NULL || find(line, end, " = ") == NULL || find(line, end, section) == NULL)
            continue;
        CUPEL_TRY(write_zone(line, end, count++, out, err));
    }
    return CUPEL_OK;
}
