#include "corpus.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "store.h"

enum { NAME_SIZE = 96, HASH_DIGITS = 32 };

static const char suffix[] = ".recipe";

typedef struct entry {
    char name[NAME_SIZE];
    XXH128_hash_t hash; /* of bytes */
    uint8_t *bytes;     /* the legal recipe, encoded */
    size_t size;
    bool saved;  /* lies in the folder */
    bool tried;  /* handed out as a start */
    bool needed; /* brought this run something new */
} entry;

struct cupel_corpus {
    const cupel_contract *contract;
    int64_t max_elements;
    char folder[CUPEL_STORE_PATH];
    cupel_corpus_counts counts;
    int entry_count;
    int saved_upto; /* entries before this one need no saving */
    bool folder_made;
    char trouble[512];
    entry entries[CUPEL_CORPUS_MAX];
};

static void hash_name(XXH128_hash_t hash, char name[NAME_SIZE]) {
    snprintf(name, NAME_SIZE, "%016llx%016llx%s", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64, suffix);
}

/* Is the name one that we give: a hash and the suffix? */
static bool names_a_hash(const char *name) {
    return strspn(name, "0123456789abcdef") == HASH_DIGITS && strcmp(name + HASH_DIGITS, suffix) == 0;
}

static bool has_suffix(const char *name) {
    size_t length = strlen(name);
    return length > sizeof suffix - 1 && length < NAME_SIZE &&
           strcmp(name + length - (sizeof suffix - 1), suffix) == 0;
}

static entry *find(cupel_corpus *corpus, XXH128_hash_t hash) {
    for (int i = 0; i < corpus->entry_count; i++)
        if (XXH128_isEqual(corpus->entries[i].hash, hash)) return &corpus->entries[i];
    return NULL;
}

/* ---- reading ---- */

/* The content of a plain file, at most CUPEL_RECIPE_BYTES_MAX + 1 bytes; else the reason. */
static bool read_file(int folder, const char *name, uint8_t *bytes, size_t *size, cupel_corpus_skip *why) {
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    if (fd < 0) {
        *why = errno == ELOOP || errno == ENXIO ? CUPEL_CORPUS_NO_FILE : CUPEL_CORPUS_UNREADABLE;
        return false;
    }
    bool good = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    *why = good ? CUPEL_CORPUS_UNREADABLE : CUPEL_CORPUS_NO_FILE;
    for (*size = 0; good;) {
        ssize_t got = read(fd, bytes + *size, CUPEL_RECIPE_BYTES_MAX + 1 - *size);
        if (got < 0 && errno == EINTR) continue;
        good = got >= 0;
        if (got <= 0) break;
        *size += (size_t)got;
    }
    close(fd);
    return good;
}

/* A hash as name vouches for the content; under any other name the content must be a whole recipe. */
static bool is_whole(const cupel_corpus *corpus, const char *name, const uint8_t *bytes, size_t size,
                     const cupel_recipe *recipe) {
    if (names_a_hash(name)) {
        char own[NAME_SIZE];
        hash_name(XXH3_128bits(bytes, size), own);
        return strcmp(own, name) == 0;
    }
    uint8_t again[CUPEL_RECIPE_BYTES_MAX];
    return cupel_recipe_encode(corpus->contract, recipe, again, sizeof again) == size &&
           memcmp(again, bytes, size) == 0;
}

static bool append(cupel_corpus *corpus, const uint8_t *bytes, size_t size) {
    entry *e = &corpus->entries[corpus->entry_count];
    *e = (entry){.hash = XXH3_128bits(bytes, size), .bytes = malloc(size), .size = size};
    if (!e->bytes) return false;
    memcpy(e->bytes, bytes, size);
    corpus->entry_count++;
    return true;
}

static void skip(cupel_corpus *corpus, cupel_corpus_skip why) {
    corpus->counts.skipped[why]++;
}

static cupel_code load(cupel_corpus *corpus, int folder, const char *name, cupel_error *err) {
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX + 1];
    size_t size = 0;
    cupel_corpus_skip why = CUPEL_CORPUS_FOREIGN;
    cupel_recipe recipe;
    struct stat info;
    bool named = has_suffix(name);
    bool is_file = fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(info.st_mode);
    if (!is_file) why = CUPEL_CORPUS_NO_FILE;
    bool usable = named && is_file && read_file(folder, name, bytes, &size, &why);
    if (usable) {
        bool decoded =
            size <= CUPEL_RECIPE_BYTES_MAX && cupel_recipe_decode(corpus->contract, bytes, size, &recipe);
        bool whole = decoded && is_whole(corpus, name, bytes, size, &recipe);
        why = names_a_hash(name) && !whole ? CUPEL_CORPUS_DAMAGED : CUPEL_CORPUS_FOREIGN;
        usable = whole;
    }
    if (usable && cupel_recipe_repair(corpus->contract, &recipe, corpus->max_elements, NULL) != CUPEL_OK)
        usable = false, why = CUPEL_CORPUS_UNFIT;
    if (!usable) {
        skip(corpus, why);
        return CUPEL_OK;
    }
    corpus->counts.stored++;
    size = cupel_recipe_encode(corpus->contract, &recipe, bytes, sizeof bytes);
    if (find(corpus, XXH3_128bits(bytes, size))) return CUPEL_OK; /* repaired into one that is there */
    if (!append(corpus, bytes, size)) return cupel_fail(err, CUPEL_MEMORY, "no memory for the corpus");
    entry *e = &corpus->entries[corpus->entry_count - 1];
    snprintf(e->name, sizeof e->name, "%s", name);
    e->saved = true;
    corpus->counts.loaded++;
    return CUPEL_OK;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static cupel_code load_all(cupel_corpus *corpus, cupel_error *err) {
    struct dirent **names = NULL;
    int folder = open(corpus->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int count = folder < 0 ? -1 : scandirat(folder, ".", &names, is_visible, by_name);
    if (count < 0 && errno != ENOENT)
        snprintf(corpus->trouble, sizeof corpus->trouble, "%s: %s", corpus->folder, strerror(errno));
    cupel_code code = CUPEL_OK;
    for (int i = 0; i < count; i++) {
        if (corpus->entry_count == CUPEL_CORPUS_MAX)
            skip(corpus, CUPEL_CORPUS_BEYOND);
        else if (code == CUPEL_OK)
            code = load(corpus, folder, names[i]->d_name, err);
        free(names[i]);
    }
    free(names);
    if (folder >= 0) close(folder);
    corpus->saved_upto = corpus->entry_count;
    return code;
}

cupel_code cupel_corpus_open(const cupel_contract *contract, const char *directory, int64_t max_elements,
                             cupel_corpus **out, cupel_error *err) {
    cupel_corpus *corpus = calloc(1, sizeof *corpus);
    if (!corpus) return cupel_fail(err, CUPEL_MEMORY, "no memory for the corpus");
    corpus->contract = contract;
    corpus->max_elements = max_elements;
    cupel_code code = CUPEL_OK;
    if (!cupel_store_folder(directory, "corpus", contract->id, corpus->folder, sizeof corpus->folder)) {
        snprintf(corpus->trouble, sizeof corpus->trouble, "the path of its folder is too long");
    } else {
        cupel_store_sweep(corpus->folder);
        code = load_all(corpus, err);
    }
    if (code == CUPEL_OK)
        *out = corpus;
    else
        cupel_corpus_close(corpus);
    return code;
}

void cupel_corpus_close(cupel_corpus *corpus) {
    if (!corpus) return;
    for (int i = 0; i < corpus->entry_count; i++) free(corpus->entries[i].bytes);
    free(corpus);
}

int cupel_corpus_starts(cupel_corpus *corpus, int max, uint64_t seed, cupel_recipe *recipes) {
    int loaded = corpus->entry_count, wanted = loaded < max ? loaded : max;
    for (int i = 0; i < wanted && recipes; i++) {
        /* an even sample: one of each run of loaded / wanted, the same one in each */
        int64_t run = loaded / wanted, at = (int64_t)i * loaded / wanted + (int64_t)(seed % (uint64_t)run);
        entry *e = &corpus->entries[at];
        (void)cupel_recipe_decode(corpus->contract, e->bytes, e->size, &recipes[i]); /* we encoded it */
        e->tried = true;
    }
    return wanted;
}

/* ---- keeping ---- */

/* Makes room by dropping a recipe that was replayed for nothing. */
static bool drop_one(cupel_corpus *corpus) {
    for (int i = 0; i < corpus->entry_count; i++) {
        entry *e = &corpus->entries[i];
        char path[CUPEL_STORE_PATH + NAME_SIZE];
        if (!e->saved || !e->tried || e->needed) continue;
        snprintf(path, sizeof path, "%s/%s", corpus->folder, e->name);
        if (unlink(path) != 0 && errno != ENOENT) continue;
        free(e->bytes);
        corpus->entry_count--;
        memmove(e, e + 1, (size_t)(corpus->entry_count - i) * sizeof *e);
        if (i < corpus->saved_upto) corpus->saved_upto--;
        corpus->counts.stored--;
        corpus->counts.dropped++;
        return true;
    }
    return false;
}

void cupel_corpus_add(cupel_corpus *corpus, const cupel_recipe *recipe) {
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    size_t size = cupel_recipe_encode(corpus->contract, recipe, bytes, sizeof bytes);
    if (!size) return;
    entry *known = find(corpus, XXH3_128bits(bytes, size));
    if (known) {
        known->needed = true;
        return;
    }
    if ((corpus->entry_count == CUPEL_CORPUS_MAX && !drop_one(corpus)) || !append(corpus, bytes, size)) {
        corpus->counts.refused++;
        return;
    }
    entry *e = &corpus->entries[corpus->entry_count - 1];
    hash_name(e->hash, e->name);
    e->needed = true;
}

static cupel_code save_one(cupel_corpus *corpus, entry *e, cupel_error *err) {
    if (!corpus->folder_made) CUPEL_TRY(cupel_store_make(corpus->folder, err));
    corpus->folder_made = true;
    CUPEL_TRY(cupel_store_write(corpus->folder, e->name, e->bytes, e->size, true, err));
    e->saved = true;
    corpus->counts.found++;
    corpus->counts.stored++;
    return CUPEL_OK;
}

void cupel_corpus_save(cupel_corpus *corpus, int at_most) {
    cupel_error err = {0};
    int written = 0;
    while (corpus->saved_upto < corpus->entry_count && written < at_most) {
        entry *e = &corpus->entries[corpus->saved_upto];
        if (!e->saved && save_one(corpus, e, &err) != CUPEL_OK) {
            cupel_error_format(&err, corpus->trouble, sizeof corpus->trouble);
            break;
        }
        corpus->saved_upto++;
        written++;
        corpus->trouble[0] = '\0';
    }
    if (written) cupel_store_flush(corpus->folder);
}

/* ---- telling ---- */

const cupel_corpus_counts *cupel_corpus_counted(const cupel_corpus *corpus) {
    return &corpus->counts;
}

const char *cupel_corpus_trouble(const cupel_corpus *corpus) {
    return corpus->trouble[0] ? corpus->trouble : NULL;
}

void cupel_corpus_note(const cupel_corpus *corpus, char *text, size_t size) {
    static const char *const texts[] = {
#define CUPEL_CORPUS_SKIP_TEXT(name, words) words,
        CUPEL_CORPUS_SKIPS(CUPEL_CORPUS_SKIP_TEXT)
#undef CUPEL_CORPUS_SKIP_TEXT
    };
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < CUPEL_CORPUS_SKIP_COUNT && used < size; i++) {
        if (!corpus->counts.skipped[i]) continue;
        if (!used) used += (size_t)snprintf(text, size, "skipped in %s:", corpus->folder);
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s %d %s", text[used - 1] == ':' ? "" : ",",
                                     corpus->counts.skipped[i], texts[i]);
    }
}
