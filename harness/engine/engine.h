/* The search engine seam: where recipes come from. The engine runs inside the worker; an engine sees
 * bytes-sized recipes and feedback, never tensors. `draw` is the undirected baseline, `libfuzzer` the
 * directed search; AFL++ comes later behind the same seam. */
#ifndef CUPEL_ENGINE_H
#define CUPEL_ENGINE_H

#include "mutate.h"

enum {
    CUPEL_CLOSENESS_ROWS = 64,  /* places for pairs of output and gate; more of them share */
    CUPEL_CLOSENESS_STEPS = 40, /* half octaves below 1 */
    CUPEL_COUNT_CLASSES = 8
};

/* How far a pair of output and gate has come: at least this many steps. */
typedef struct cupel_climb {
    uint8_t row, steps;
} cupel_climb;

/* What a recipe brought that nothing before it in the campaign had, as bits. */
enum {
    CUPEL_NEWS_EDGE = 1,  /* an edge of the candidate */
    CUPEL_NEWS_CLIMB = 2, /* a step of closeness */
    CUPEL_NEWS_CELL = 4,  /* a cell of traits */
    CUPEL_NEWS_COUNT = 8  /* another class of a known edge's count */
};

/* What trying one recipe taught. */
typedef struct cupel_feedback {
    const uint8_t *coverage; /* counts, one an edge, or NULL; the giver's, until the next recipe is tried */
    size_t coverage_count;
    int cell_count, climb_count;
    uint32_t cells[CUPEL_TENSOR_MAX]; /* hashes of the traits of each input (pattern x type x shape class) */
    cupel_climb climbs[CUPEL_TENSOR_MAX];
    unsigned news; /* CUPEL_NEWS_... */
    bool finding;
} cupel_feedback;

/* Steps that a ratio of error over radius is worth: one for each half octave from 2^-20 up, all of them at
 * 1; 0 for ratios that say nothing (0, NaN, infinities). */
int cupel_closeness_steps(double ratio);

/* The class of an edge's count: 0 for 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, and 7 for more: as
 * libFuzzer and AFL divide them. count >= 1. */
int cupel_count_class(uint8_t count);

/* A recipe in its binary form (cupel_recipe_encode), and the news that it brought when it was tried. */
typedef struct cupel_encoded {
    const uint8_t *bytes;
    size_t size;
    unsigned news;
} cupel_encoded;

/* A campaign numbers its cases: first the starts, one each, then whatever the engine makes up; an undirected
 * draw for case n is draw n - start_count of the seed. */
typedef struct cupel_search {
    const cupel_contract *contract;
    cupel_limits limits;
    uint64_t seed;
    uint64_t first, count; /* cases first .. first+count-1 of the campaign; count 0: until stop says so */
    uint64_t start_count;
    const cupel_encoded *starts; /* start_count legal recipes; NULL when first is behind them */
    size_t corpus_count;
    const cupel_encoded *corpus; /* recipes that an earlier part of the campaign found interesting: not tried
                                    again, but worth changing */
    void *self;
    /* Tries one recipe. Returns false to stop. */
    bool (*try_one)(void *self, uint64_t n, const cupel_recipe *recipe, cupel_feedback *feedback);
} cupel_search;

typedef struct cupel_engine {
    const char *name;
    /* The same search with the same answers tries the same recipes. One search at a time in a process. */
    cupel_code (*run)(const cupel_search *search, cupel_error *err);
} cupel_engine;

const cupel_engine *cupel_engine_find(const char *name); /* NULL when there is none */
/* The name of the best there is in this build. */
const char *cupel_engine_default(void);
/* What to do about an engine that this build lacks; NULL for one that it has or that nobody knows. */
const char *cupel_engine_missing(const char *name);

/* The recipe of case n where that is a start or an undirected draw. */
CUPEL_MUST_USE cupel_code cupel_engine_start(const cupel_search *search, uint64_t n, cupel_recipe *out,
                                             cupel_error *err);
CUPEL_MUST_USE cupel_code cupel_engine_draw(const cupel_search *search, uint64_t n, cupel_recipe *out,
                                            cupel_error *err);

#endif
