#include "source_numbers.h"

#include "mine.h"

/* One list behind the other, in arena; NULL when out of memory. */
static const char **joined(cupel_arena *arena, const char *const *first, int first_count,
                           const char *const *second, int second_count) {
    const char **all = cupel_arena_alloc(arena, (size_t)(first_count + second_count + 1) * sizeof *all);
    for (int i = 0; all && i < first_count; i++) all[i] = first[i];
    for (int i = 0; all && i < second_count; i++) all[first_count + i] = second[i];
    return all;
}

void cupel_source_numbers(const cupel_contract *contract, const cupel_executor_options *options,
                          cupel_dictionary *out) {
    static const cupel_executor_options none = {0};
    const cupel_executor_options *o = options ? options : &none;
    *out = (cupel_dictionary){0};
    cupel_arena *arena = contract->source ? cupel_arena_create(0) : NULL;
    if (!arena) return;
    cupel_source_options source = {
        .include_count = contract->source_include_count + o->include_count,
        .includes = joined(arena, contract->source_includes, contract->source_include_count, o->includes,
                           o->include_count),
        .define_count = contract->source_define_count + o->define_count,
        .defines = joined(arena, contract->source_defines, contract->source_define_count, o->defines,
                          o->define_count)};
    bool read = source.includes && source.defines &&
                cupel_dictionary_mine(contract->source, &source, arena, out, NULL) == CUPEL_OK;
    if (!read) *out = (cupel_dictionary){0};
    cupel_arena_free(arena);
}
