/* The entries of a compile request as text: what is appended to the author's source. */
#ifndef CUPEL_EMU_ENTRIES_H
#define CUPEL_EMU_ENTRIES_H

#include "buffer.h"
#include "source.h"

/* The file name that the compiler sees for the appended lines; line k is that of entry k - 1. */
extern const char *const cupel_emu_entries_file;

/* The last name of a name expression: softmax of "ns::softmax<float, 32>"; NULL when out of memory. */
const char *cupel_emu_entries_base(const char *entry, cupel_arena *arena);

/* A string literal. */
CUPEL_MUST_USE cupel_code cupel_emu_entries_string(cupel_buffer *out, const char *text, cupel_error *err);

/* One line an entry: its name, its launch bounds (where bounds is set and they can be told), its kernel. */
CUPEL_MUST_USE cupel_code cupel_emu_entries_write(cupel_buffer *out, const cupel_source *source, int count,
                                                  const char *const *entries, bool bounds, cupel_error *err);

#endif
