/* The top level of a contract: its keys, who it is, and where its kernel's source lies. */
#include <ctype.h>
#include <string.h>

#include "contract_reader.h"

/* Every key of format 1. */
static const cupel_reader_key keys[] = {
    {"cupel", NULL},         {"id", NULL},      {"about", NULL},  {"dims", NULL},       {"let", NULL},
    {"requires", NULL},      {"types", NULL},   {"params", NULL}, {"variants", NULL},   {"inputs", NULL},
    {"outputs", NULL},       {"scratch", NULL}, {"define", NULL}, {"ensures", NULL},    {"accumulate", NULL},
    {"products", NULL},      {"order", NULL},   {"math", NULL},   {"subnormals", NULL}, {"range", NULL},
    {"deterministic", NULL}, {"layouts", NULL}, {"kinks", NULL},  {"may_alias", NULL},  {"tolerance", NULL},
    {"source", NULL},        {"kernel", NULL},  {"limits", NULL}};

static cupel_code read_version(cupel_reader *r, const cupel_yaml *root) {
    const cupel_yaml *version = cupel_contract_yaml_get(root, "cupel");
    if (!version)
        return cupel_fail_span(r->err, CUPEL_CONTRACT, root->text,
                               "expected the key 'cupel' with the format's version, 1, found none");
    if (version->kind == CUPEL_YAML_SCALAR && strcmp(version->value, "1") == 0) return CUPEL_OK;
    return cupel_reader_expected(r, version, "format version 1");
}

static cupel_code read_identity(cupel_reader *r, const cupel_yaml *root) {
    const cupel_yaml *id = cupel_contract_yaml_get(root, "id"),
                     *about = cupel_contract_yaml_get(root, "about");
    static const char form[] = "a short name (letters, digits, '-', '_' and '.', at most 64)";
    CUPEL_TRY(cupel_reader_text(r, id, form));
    size_t n = 0;
    /* the id names a folder */
    while (isalnum((unsigned char)id->value[n]) || (id->value[n] && strchr("-_.", id->value[n]))) n++;
    if (id->value[n] || n > 64 || id->value[0] == '.' || id->value[0] == '-')
        return cupel_reader_expected(r, id, form);
    r->contract->id = id->value;
    if (!about) return CUPEL_OK;
    CUPEL_TRY(cupel_reader_text(r, about, "a sentence"));
    r->contract->about = about->value;
    return CUPEL_OK;
}

/* path as seen from the folder of the contract. */
static const char *resolve(cupel_reader *r, const char *path) {
    const char *file = r->contract->file, *slash = strrchr(file, '/');
    if (path[0] == '/' || !slash) return path;
    return cupel_arena_printf(r->arena, "%.*s/%s", (int)(slash - file), file, path);
}

static cupel_code read_source_defines(cupel_reader *r, const cupel_yaml *map) {
    cupel_contract *c = r->contract;
    CUPEL_TRY(cupel_reader_map(r, map, "a map of macros, e.g. {FLOAT: 1}"));
    c->source_defines_place = map->text;
    c->source_defines = cupel_arena_alloc(r->arena, sizeof *c->source_defines * (size_t)(map->count + 1));
    if (!c->source_defines) return cupel_reader_memory(r);
    for (int i = 0; i < map->count; i++) {
        const cupel_yaml *key = map->keys[i], *value = map->items[i];
        size_t n = 0;
        while (isalnum((unsigned char)key->value[n]) || key->value[n] == '_') n++;
        if (key->value[n] || n == 0 || isdigit((unsigned char)key->value[0]))
            return cupel_reader_expected(r, key, "the name of a macro");
        if (value->kind != CUPEL_YAML_SCALAR) return cupel_reader_expected(r, value, "the value of a macro");
        const char *define = cupel_arena_printf(r->arena, "%s=%s", key->value, value->value);
        if (!define) return cupel_reader_memory(r);
        c->source_defines[c->source_define_count++] = define;
    }
    return CUPEL_OK;
}

static cupel_code read_source_includes(cupel_reader *r, const cupel_yaml *list) {
    cupel_contract *c = r->contract;
    CUPEL_TRY(cupel_reader_list(r, list, "a list of folders, e.g. [include]"));
    c->source_includes = cupel_arena_alloc(r->arena, sizeof *c->source_includes * (size_t)(list->count + 1));
    if (!c->source_includes) return cupel_reader_memory(r);
    for (int i = 0; i < list->count; i++) {
        CUPEL_TRY(cupel_reader_text(r, list->items[i], "a folder"));
        const char *folder = resolve(r, list->items[i]->value);
        if (!folder) return cupel_reader_memory(r);
        c->source_includes[c->source_include_count++] = folder;
    }
    return CUPEL_OK;
}

static cupel_code read_source(cupel_reader *r, const cupel_yaml *root) {
    static const cupel_reader_key source_keys[] = {{"file", NULL}, {"defines", NULL}, {"include", NULL}};
    cupel_contract *c = r->contract;
    const cupel_yaml *source = cupel_contract_yaml_get(root, "source");
    c->source = r->default_source;
    if (source) {
        CUPEL_TRY(cupel_reader_map(r, source, "a map, e.g. {file: softmax.cu}"));
        CUPEL_TRY(cupel_reader_keys(r, source, "a source", source_keys, 3));
        const cupel_yaml *file = cupel_contract_yaml_get(source, "file"),
                         *defines = cupel_contract_yaml_get(source, "defines"),
                         *include = cupel_contract_yaml_get(source, "include");
        if (file) {
            CUPEL_TRY(cupel_reader_text(r, file, "the path of the kernel's source"));
            if (!(c->source = resolve(r, file->value))) return cupel_reader_memory(r);
            c->source_line = file->text.line;
            c->source_column = file->text.column;
        }
        if (defines) CUPEL_TRY(read_source_defines(r, defines));
        if (include) CUPEL_TRY(read_source_includes(r, include));
    }
    if (c->source) return CUPEL_OK;
    return cupel_fail_span(r->err, CUPEL_CONTRACT, root->text,
                           "expected the kernel's source, e.g. source: {file: softmax.cu}, found none");
}

/* limits: the architectures whose limits the kernel claims to keep, in order, each once. */
static cupel_code read_limits(cupel_reader *r, const cupel_yaml *list) {
    cupel_contract *c = r->contract;
    CUPEL_TRY(cupel_reader_list(r, list, "a list of architectures, e.g. [sm_80, sm_90]"));
    CUPEL_TRY(cupel_reader_at_most(r, list, list->count, CUPEL_ARCHITECTURE_MAX, "architectures"));
    if (list->count == 0) return cupel_reader_expected(r, list, "at least one architecture, e.g. [sm_90]");
    for (int i = 0; i < list->count; i++) {
        const char *names[CUPEL_ARCHITECTURE_MAX * 2];
        size_t known = 0;
        while (known < sizeof names / sizeof *names && (names[known] = cupel_device_limits_name((int)known)))
            known++;
        CUPEL_TRY(cupel_reader_text(r, list->items[i], "an architecture, e.g. sm_90"));
        int architecture = cupel_device_limits_parse(list->items[i]->value);
        if (architecture == 0)
            return cupel_fail_span(r->err, CUPEL_CONTRACT, list->items[i]->text,
                                   "expected an architecture whose limits are known, found '%s'%s",
                                   list->items[i]->value,
                                   cupel_reader_hint(r, list->items[i]->value, names, known));
        for (int k = 0; k < c->limit_count; k++)
            if (c->limits[k] == architecture)
                return cupel_reader_expected(r, list->items[i], "each architecture once");
        c->limits[c->limit_count++] = architecture;
    }
    return CUPEL_OK;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static cupel_code check_candidate(cupel_reader *r, const cupel_yaml *kernel) {
    const cupel_contract *c = r->contract;
    bool cuda = ends_with(c->source, ".cu") || ends_with(c->source, ".cuh");
    bool host = ends_with(c->source, ".c") || ends_with(c->source, ".so");
    if (c->host && cuda)
        return cupel_fail_span(r->err, CUPEL_CONTRACT, kernel->text,
                               "expected 'entry', 'grid' and 'block' for CUDA source, found 'symbol'");
    if (!c->host && host)
        return cupel_fail_span(r->err, CUPEL_CONTRACT, kernel->text,
                               "expected {symbol: name, args: [..]} for a C function, found 'entry'");
    return CUPEL_OK;
}

cupel_code cupel_contract_read(cupel_reader *r, const cupel_yaml *root) {
    static const char *const required[] = {"id", "dims", "inputs", "outputs", "ensures", "kernel"};
    CUPEL_TRY(cupel_reader_map(r, root, "a contract, which is a map"));
    CUPEL_TRY(read_version(r, root));
    CUPEL_TRY(cupel_reader_keys(r, root, "a contract", keys, sizeof keys / sizeof *keys));
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (!cupel_contract_yaml_get(root, required[i]))
            return cupel_fail_span(r->err, CUPEL_CONTRACT, root->text, "expected the key '%s', found none",
                                   required[i]);
    CUPEL_TRY(read_identity(r, root));
    CUPEL_TRY(read_source(r, root));
    CUPEL_TRY(cupel_contract_read_scope(r, root));
    CUPEL_TRY(cupel_contract_read_tensors(r, root));
    CUPEL_TRY(cupel_contract_read_claims(r, root));
    CUPEL_TRY(cupel_contract_read_launches(r, cupel_contract_yaml_get(root, "kernel")));
    const cupel_yaml *limits = cupel_contract_yaml_get(root, "limits");
    if (limits) CUPEL_TRY(read_limits(r, limits));
    return check_candidate(r, cupel_contract_yaml_get(root, "kernel"));
}
