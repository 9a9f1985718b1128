/* The corpus of a contract: recipes that brought a search something new, kept between runs as
 * DIR/corpus/<contract id>/<XXH3-128 of the content>.recipe in the engines' binary form.
 *
 * It holds at most CUPEL_CORPUS_MAX recipes. When it is full, recipes that this run has replayed without
 * learning anything from them make room, in the order of their names; when there are none, new ones are no
 * longer kept. Nothing that it cannot read is ever touched. */
#ifndef CUPEL_CORPUS_H
#define CUPEL_CORPUS_H

#include "recipe.h"

enum { CUPEL_CORPUS_MAX = 2048 };

/* Why a file of the folder is not used. */
#define CUPEL_CORPUS_SKIPS(X)                                                                                \
    X(FOREIGN, "not recipes")    /* another name or another content */                                       \
    X(DAMAGED, "damaged")        /* not what its name says */                                                \
    X(NO_FILE, "no plain files") /* folders, fifos, symbolic links */                                        \
    X(UNREADABLE, "unreadable")                                                                              \
    X(UNFIT, "do not fit the contract") /* and cannot be brought into it */                                  \
    X(BEYOND, "beyond the limit")

typedef enum cupel_corpus_skip {
#define CUPEL_CORPUS_SKIP_NAME(name, text) CUPEL_CORPUS_##name,
    CUPEL_CORPUS_SKIPS(CUPEL_CORPUS_SKIP_NAME)
#undef CUPEL_CORPUS_SKIP_NAME
        CUPEL_CORPUS_SKIP_COUNT
} cupel_corpus_skip;

typedef struct cupel_corpus_counts {
    int loaded; /* recipes found in the folder */
    int stored; /* in the folder now */
    int found;  /* written by this run */
    int dropped, refused;
    int skipped[CUPEL_CORPUS_SKIP_COUNT];
} cupel_corpus_counts;

typedef struct cupel_corpus cupel_corpus;

/* Reads the folder, which need not be there. Whatever is wrong with it is no failure; only MEMORY is.
 * contract is borrowed. */
CUPEL_MUST_USE cupel_code cupel_corpus_open(const cupel_contract *contract, const char *directory,
                                            int64_t max_elements, cupel_corpus **out, cupel_error *err);

/* Accepts NULL. What was not saved is lost. */
void cupel_corpus_close(cupel_corpus *corpus);

/* At most max of the recipes, legal, in the order of their names, into recipes; returns how many: all of
 * them, or an even sample that depends on seed. recipes NULL: only counts. */
int cupel_corpus_starts(cupel_corpus *corpus, int max, uint64_t seed, cupel_recipe *recipes);

/* A recipe that brought something new: kept unless it is there already. Starts are added first, in their
 * order; the first recipe that is none of them shows that their replay is over. */
void cupel_corpus_add(cupel_corpus *corpus, const cupel_recipe *recipe);

/* Writes at most this many of the recipes that wait, up to the first that cannot be written:
 * cupel_corpus_trouble then says why, and the next call tries again. */
void cupel_corpus_save(cupel_corpus *corpus, int at_most);

const cupel_corpus_counts *cupel_corpus_counted(const cupel_corpus *corpus);

/* One sentence on the files that were skipped, by reason; empty when there were none. */
void cupel_corpus_note(const cupel_corpus *corpus, char *text, size_t size);

/* Why the folder cannot be read or recipes cannot be saved; NULL while they can. */
const char *cupel_corpus_trouble(const cupel_corpus *corpus);

#endif
