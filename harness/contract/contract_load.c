/* From a path or a text to checked contracts. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract_check.h"
#include "contract_comment.h"
#include "contract_reader.h"
#include "contract_yaml.h"

/* What this version cannot do is as much an error of the contract as a slip: nothing runs, whichever part has
 * noticed it. */
static cupel_code as_contract_error(cupel_code code, cupel_error *err) {
    if (code != CUPEL_UNSUPPORTED) return code;
    if (err) err->code = CUPEL_CONTRACT;
    return CUPEL_CONTRACT;
}

/* What is being loaded. */
typedef struct load {
    const char *only; /* the contract with this id; NULL: all */
    cupel_arena *arena;
    cupel_error *err;
} load;

/* Is it another than the one that is asked for? Its mistakes are then nobody's business. */
static bool is_another(const load *l, const cupel_yaml *root) {
    if (!l->only || root->kind != CUPEL_YAML_MAP) return l->only != NULL;
    const cupel_yaml *id = cupel_contract_yaml_get(root, "id");
    return !id || id->kind != CUPEL_YAML_SCALAR || strcmp(id->value, l->only) != 0;
}

/* *out is NULL where it is another contract. */
static cupel_code read_one(const load *l, const cupel_contract_text *text, const char *path,
                           const char *default_source, cupel_contract **out) {
    cupel_arena *arena = l->arena;
    cupel_error *err = l->err;
    cupel_reader *r = cupel_arena_alloc(arena, sizeof *r);
    cupel_contract *c = *out = cupel_arena_alloc(arena, sizeof *c);
    cupel_yaml *root;
    if (!r || !c) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    *r = (cupel_reader){.arena = arena, .err = err, .contract = c, .default_source = default_source};
    c->file = path;
    c->line = text->text.line;
    c->text = text->text.text;
    c->text_length = text->text.length;
    CUPEL_TRY(cupel_contract_yaml(text, arena, &root, err));
    if (is_another(l, root)) {
        *out = NULL;
        return CUPEL_OK;
    }
    CUPEL_TRY(as_contract_error(cupel_contract_read(r, root), err));
    return as_contract_error(cupel_contract_check(c, err), err);
}

static cupel_code check_ids(const cupel_contracts *contracts, cupel_error *err) {
    for (int i = 0; i < contracts->count; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(contracts->items[i]->id, contracts->items[k]->id) == 0)
                return cupel_fail_at(err, CUPEL_CONTRACT, contracts->items[i]->file,
                                     contracts->items[i]->line, 1,
                                     "expected each id once in a file, found '%s' again (first in line %d)",
                                     contracts->items[i]->id, contracts->items[k]->line);
    return CUPEL_OK;
}

static cupel_code read_all(const load *l, const cupel_contract_text *texts, int count, const char *path,
                           const char *default_source, cupel_contracts *out) {
    out->count = 0;
    out->items = cupel_arena_alloc(l->arena, sizeof *out->items * (size_t)(count + 1));
    if (!out->items) return cupel_fail(l->err, CUPEL_MEMORY, "out of memory");
    for (int i = 0; i < count; i++) {
        CUPEL_TRY(read_one(l, &texts[i], path, default_source, &out->items[out->count]));
        out->count += out->items[out->count] != NULL;
    }
    return check_ids(out, l->err);
}

/* The contracts of a text; none is no error here. */
static cupel_code parse(const load *l, const char *path, const char *text, size_t length, bool is_yaml,
                        const char *default_source, cupel_contracts *out) {
    cupel_arena *arena = l->arena;
    cupel_error *err = l->err;
    const char *file = cupel_arena_text(arena, path, strlen(path));
    if (!file) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    if (!is_yaml) {
        cupel_contract_text *texts;
        int count;
        CUPEL_TRY(cupel_contract_comments(file, text, length, arena, &texts, &count, err));
        return read_all(l, texts, count, file, file, out);
    }
    bool mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    const char *copy = cupel_arena_text(arena, text + (mark ? 3 : 0), length - (mark ? 3 : 0));
    if (!copy) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    cupel_contract_text whole = {{copy, length - (mark ? 3 : 0), file, 1, 1}, 0};
    return read_all(l, &whole, 1, file, default_source, out);
}

static const char *extension(const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot : path + strlen(path);
}

/* The names of contracts of single kernels beside STEM.cu, STEM_*.yaml, separated by commas. */
static void contracts_of_kernels(const char *path, char *text, size_t size) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t stem = (size_t)(extension(path) - base), used = 0;
    char folder[4096];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(base - path) : 1, slash ? path : ".");
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (strncmp(name, base, stem) == 0 && name[stem] == '_' && strcmp(extension(name), ".yaml") == 0 &&
            used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

static cupel_code fail_none(const char *path, cupel_error *err) {
    char files[400];
    contracts_of_kernels(path, files, sizeof files);
    if (files[0])
        return cupel_fail_at(err, CUPEL_CONTRACT, path, 1, 1,
                             "expected a contract (a block comment that starts with 'cupel: 1', or a .yaml "
                             "of the same name beside the source), found none; beside it lie contracts of "
                             "single kernels: %s",
                             files);
    return cupel_fail_at(err, CUPEL_CONTRACT, path, 1, 1,
                         "expected a contract (a block comment that starts with 'cupel: 1', or a .yaml of "
                         "the same name beside the source), found none");
}

cupel_code cupel_contracts_parse(const char *path, const char *text, size_t length, bool is_yaml,
                                 cupel_arena *arena, cupel_contracts *out, cupel_error *err) {
    const load all = {NULL, arena, err};
    CUPEL_TRY(parse(&all, path, text, length, is_yaml, NULL, out));
    return out->count > 0 ? CUPEL_OK : fail_none(path, err);
}

/* The file with the same stem and one of the extensions that exists; NULL when there is none. */
static const char *beside(const char *path, const char *const *extensions, size_t count, cupel_arena *arena) {
    int stem = (int)(extension(path) - path);
    for (size_t i = 0; i < count; i++) {
        const char *other = cupel_arena_printf(arena, "%.*s%s", stem, path, extensions[i]);
        if (other && access(other, R_OK) == 0) return other;
    }
    return NULL;
}

static cupel_code load_yaml(const load *l, const char *path, const char *default_source,
                            cupel_contracts *out) {
    char *text;
    size_t length;
    CUPEL_TRY(cupel_text_read(path, l->arena, &text, &length, l->err));
    return parse(l, path, text, length, true, default_source, out);
}

static cupel_code check_sources(const cupel_contracts *contracts, cupel_error *err) {
    for (int i = 0; i < contracts->count; i++) {
        const cupel_contract *c = contracts->items[i];
        if (access(c->source, R_OK) != 0)
            return cupel_fail_at(err, CUPEL_CONTRACT, c->file, c->source_line ? c->source_line : c->line,
                                 c->source_line ? c->source_column : 1,
                                 "expected a readable file as source, found none at '%s'", c->source);
    }
    return CUPEL_OK;
}

static cupel_code load_file(const load *l, const char *path, cupel_contracts *out) {
    static const char *const yaml_extensions[] = {".yaml", ".yml"}, *const source_extensions[] = {".cu", ".c",
                                                                                                  ".so"};
    const char *end = extension(path);
    *out = (cupel_contracts){0};
    if (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0) {
        CUPEL_TRY(load_yaml(l, path, beside(path, source_extensions, 3, l->arena), out));
    } else {
        char *text;
        size_t length;
        CUPEL_TRY(cupel_text_read(path, l->arena, &text, &length, l->err));
        bool object = length >= 4 && memcmp(text,
                                            "\x7f"
                                            "ELF",
                                            4) == 0;
        if (!object) CUPEL_TRY(parse(l, path, text, length, false, NULL, out));
        const char *yaml = out->count ? NULL : beside(path, yaml_extensions, 2, l->arena);
        if (yaml) CUPEL_TRY(load_yaml(l, yaml, path, out));
    }
    return CUPEL_OK;
}

cupel_code cupel_contracts_load(const char *path, cupel_arena *arena, cupel_contracts *out,
                                cupel_error *err) {
    const load all = {NULL, arena, err};
    CUPEL_TRY(load_file(&all, path, out));
    if (out->count == 0) return fail_none(path, err);
    return check_sources(out, err);
}

cupel_code cupel_contracts_load_chosen(const char *path, const char *id, cupel_arena *arena,
                                       cupel_contracts *out, cupel_error *err) {
    const load chosen = {id, arena, err};
    CUPEL_TRY(load_file(&chosen, path, out));
    if (out->count == 0) return cupel_contracts_load(path, arena, out, err);
    return check_sources(out, err);
}
