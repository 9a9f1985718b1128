/* A family of operators and the starts that break its kernels: one file under seeds/starts, read. */
#ifndef CUPEL_STARTS_FAMILY_H
#define CUPEL_STARTS_FAMILY_H

#include "mutate.h"

enum { CUPEL_START_EXTENTS_MAX = 12 };

/* times tiles plus a number: `17`, `tile`, `tile-1`, `3tile+1`; `empty` is 0, of dims that claim it.
 * `source`: some extents that the kernel's source asks for, by its dictionary. */
typedef struct cupel_start_extent {
    int64_t times, plus;
    bool source; /* in lists of extents only */
} cupel_start_extent;

/* name, text. The first few are cupel_placement; LEADING and TRAILING are the longest aligned run at a row's
 * start or end that does not fill the row, in every row. */
#define CUPEL_START_PLACES(X)                                                                                \
    X(SINGLE, "single")                                                                                      \
    X(SPARSE, "sparse")                                                                                      \
    X(ROW, "row")                                                                                            \
    X(TILE, "tile")                                                                                          \
    X(ALL, "all")                                                                                            \
    X(LEADING, "leading")                                                                                    \
    X(TRAILING, "trailing")
#define CUPEL_START_INPUTS(X)                                                                                \
    X(ALL, "all")                                                                                            \
    X(FIRST, "first")                                                                                        \
    X(LAST, "last")                                                                                          \
    X(REAL, "floating")                                                                                      \
    X(INTEGER, "integer")
#define CUPEL_START_TYPES(X)                                                                                 \
    X(BASE, "base")                                                                                          \
    X(EACH, "each")                                                                                          \
    X(NARROW, "narrow") /* the smallest that is claimed */
#define CUPEL_START_LAYOUTS(X)                                                                               \
    X(CONTIGUOUS, "contiguous")                                                                              \
    X(PADDED, "padded")                                                                                      \
    X(TRANSPOSED, "transposed")                                                                              \
    X(SLICED, "sliced")                                                                                      \
    X(EXPANDED, "expanded")                                                                                  \
    X(REVERSED, "reversed")                                                                                  \
    X(OFFSET, "offset") /* the least that align permits */
#define CUPEL_START_POSITIONS(X)                                                                             \
    X(FIRST, "first")                                                                                        \
    X(MIDDLE, "middle")                                                                                      \
    X(LAST, "last")

#define CUPEL_START_PLACE_NAME(name, text) CUPEL_START_PLACE_##name,
#define CUPEL_START_INPUTS_NAME(name, text) CUPEL_START_INPUTS_##name,
#define CUPEL_START_TYPES_NAME(name, text) CUPEL_START_TYPES_##name,
#define CUPEL_START_LAYOUT_NAME(name, text) CUPEL_START_LAYOUT_##name,
#define CUPEL_START_AT_NAME(name, text) CUPEL_START_AT_##name,
typedef enum cupel_start_place {
    CUPEL_START_PLACES(CUPEL_START_PLACE_NAME) CUPEL_START_PLACE_COUNT
} cupel_start_place;
typedef enum cupel_start_inputs {
    CUPEL_START_INPUTS(CUPEL_START_INPUTS_NAME) CUPEL_START_INPUTS_COUNT
} cupel_start_inputs;
typedef enum cupel_start_types {
    CUPEL_START_TYPES(CUPEL_START_TYPES_NAME) CUPEL_START_TYPES_COUNT
} cupel_start_types;
typedef enum cupel_start_layout {
    CUPEL_START_LAYOUTS(CUPEL_START_LAYOUT_NAME) CUPEL_START_LAYOUT_COUNT
} cupel_start_layout;
typedef enum cupel_start_position {
    CUPEL_START_POSITIONS(CUPEL_START_AT_NAME) CUPEL_START_AT_COUNT
} cupel_start_position;

typedef struct cupel_start {
    const char *name; /* for people */
    int line;
    cupel_pattern pattern;
    double amplitude, centre;
    uint32_t seed; /* of the pattern; chooses its form where it has several (pattern.c) */
    cupel_special special;
    cupel_start_place place;
    bool has_set; /* one element of every row is set to: */
    double set;
    cupel_start_position at;
    cupel_start_inputs inputs; /* which inputs get this; the others get standard normal values */
    int extent_count;          /* one start for each; 0: the last extent is as the others */
    cupel_start_extent extents[CUPEL_START_EXTENTS_MAX]; /* of the last axis of the first of the inputs */
    cupel_start_extent others;                           /* dims that shapes speak of, but for that one */
    cupel_start_extent launch;                           /* dims that only the launch speaks of */
    cupel_start_types types;
    cupel_start_layout layout;
    bool alias; /* every pair that may share a buffer */
} cupel_start;

typedef struct cupel_start_family {
    const char *file, *name;
    bool general; /* functions: any */
    int function_count, start_count;
    const char **functions; /* as in expressions; operators as they are written */
    cupel_start *starts;
} cupel_start_family;

/* Reads a family out of a file's text; it lives in arena and borrows file. Errors with line and column. */
CUPEL_MUST_USE cupel_code cupel_starts_read(const char *file, const char *text, size_t length,
                                            cupel_arena *arena, cupel_start_family *out, cupel_error *err);

/* All recipes of a family for a contract, in arena, duplicates and other families' included; for tests and
 * cupel_starts_for. */
CUPEL_MUST_USE cupel_code cupel_starts_expand(const cupel_contract *contract, const cupel_limits *limits,
                                              const cupel_start_family *family, cupel_arena *arena,
                                              int *count, cupel_recipe **recipes, cupel_error *err);

/* Do the contract's expressions call one of the family's functions? */
bool cupel_starts_apply(const cupel_contract *contract, const cupel_start_family *family);

typedef struct cupel_starts_embedded_file {
    const char *name; /* "softmax.yaml" */
    const unsigned char *start, *stop;
} cupel_starts_embedded_file;

/* Generated: the files under seeds/starts, ended by a NULL name. */
extern const cupel_starts_embedded_file cupel_starts_embedded_files[];

#endif
