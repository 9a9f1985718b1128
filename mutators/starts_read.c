/* The files under seeds/starts: YAML to families, every error with its place. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "starts_family.h"

#define TEXT(name, text) text,

typedef struct reader {
    const char *file;
    yaml_document_t document;
    cupel_arena *arena;
    cupel_error *err;
} reader;

#define FAIL(r, node, code, ...)                                                                             \
    cupel_fail_at((r)->err, code, (r)->file, (int)(node)->start_mark.line + 1,                               \
                  (int)(node)->start_mark.column + 1, __VA_ARGS__)

static yaml_node_t *node_at(reader *r, int index) {
    return yaml_document_get_node(&r->document, index);
}

static cupel_code expect(reader *r, const yaml_node_t *node, yaml_node_type_t type, const char *expected) {
    static const char *const kinds[] = {"nothing", "a single value", "a list", "a map"};
    if (node->type != type)
        return FAIL(r, node, CUPEL_SYNTAX, "expected %s, found %s", expected, kinds[node->type]);
    return CUPEL_OK;
}

static const char *scalar(const yaml_node_t *node) {
    return (const char *)node->data.scalar.value;
}

static cupel_code word(reader *r, const yaml_node_t *node, const char *what, const char *const *names,
                       int count, int *out) {
    CUPEL_TRY(expect(r, node, YAML_SCALAR_NODE, what));
    for (*out = 0; *out < count; ++*out)
        if (strcmp(scalar(node), names[*out]) == 0) return CUPEL_OK;
    const char *near = cupel_text_nearest(scalar(node), names, (size_t)count);
    if (near != NULL)
        return FAIL(r, node, CUPEL_SYNTAX, "unknown %s '%.60s', did you mean '%s'?", what, scalar(node),
                    near);
    return FAIL(r, node, CUPEL_SYNTAX, "unknown %s '%.60s'", what, scalar(node));
}

static cupel_code text_of(reader *r, const yaml_node_t *node, const char *what, const char **out) {
    CUPEL_TRY(expect(r, node, YAML_SCALAR_NODE, what));
    if (*scalar(node) == '\0') return FAIL(r, node, CUPEL_SYNTAX, "expected %s", what);
    *out = cupel_arena_text(r->arena, scalar(node), node->data.scalar.length);
    return *out != NULL ? CUPEL_OK : cupel_fail(r->err, CUPEL_MEMORY, "out of memory");
}

/* finite: no infinities or NaN, which strtod reads too. */
static cupel_code number(reader *r, const yaml_node_t *node, bool finite, double *out) {
    CUPEL_TRY(expect(r, node, YAML_SCALAR_NODE, "a number"));
    char *end;
    *out = strtod(scalar(node), &end);
    if (end == scalar(node) || *end != '\0' || (finite && !isfinite(*out)))
        return FAIL(r, node, CUPEL_SYNTAX, "expected a %snumber, found '%.60s'", finite ? "finite " : "",
                    scalar(node));
    return CUPEL_OK;
}

static cupel_code extent(reader *r, const yaml_node_t *node, cupel_start_extent *out) {
    enum { MOST = 100000 };
    CUPEL_TRY(expect(r, node, YAML_SCALAR_NODE, "an extent"));
    const char *text = scalar(node), *rest = text;
    *out = (cupel_start_extent){0};
    if (strcmp(text, "empty") == 0) return CUPEL_OK;
    long first = 1, second = 0;
    char *stop;
    if (*text >= '0' && *text <= '9') first = strtol(text, &stop, 10), rest = stop;
    bool tile = strncmp(rest, "tile", 4) == 0;
    if (tile) rest += 4;
    if (tile && (*rest == '+' || *rest == '-') && rest[1] >= '0' && rest[1] <= '9')
        second = strtol(rest, &stop, 10), rest = stop;
    if (rest == text || *rest != '\0' || first < 1 || first > MOST || second < -MOST || second > MOST)
        return FAIL(r, node, CUPEL_SYNTAX,
                    "expected an extent (17, tile, tile-1, 3tile+1, empty), found '%.60s'", text);
    *out = tile ? (cupel_start_extent){.times = first, .plus = second} : (cupel_start_extent){.plus = first};
    return CUPEL_OK;
}

static cupel_code extents(reader *r, yaml_node_t *node, cupel_start *out) {
    CUPEL_TRY(expect(r, node, YAML_SEQUENCE_NODE, "a list of extents"));
    yaml_node_item_t *item = node->data.sequence.items.start, *stop = node->data.sequence.items.top;
    if (item == stop || stop - item > CUPEL_START_EXTENTS_MAX)
        return FAIL(r, node, CUPEL_RANGE, "expected 1 to %d extents", CUPEL_START_EXTENTS_MAX);
    for (; item < stop; item++) {
        const yaml_node_t *one = node_at(r, *item);
        cupel_start_extent *to = &out->extents[out->extent_count++];
        if (one->type == YAML_SCALAR_NODE && strcmp(scalar(one), "source") == 0)
            *to = (cupel_start_extent){.source = true};
        else
            CUPEL_TRY(extent(r, one, to));
    }
    return CUPEL_OK;
}

#define START_KEYS(X)                                                                                        \
    X(NAME, "name")                                                                                          \
    X(PATTERN, "pattern")                                                                                    \
    X(AMPLITUDE, "amplitude")                                                                                \
    X(CENTRE, "centre")                                                                                      \
    X(SEED, "seed")                                                                                          \
    X(SPECIAL, "special")                                                                                    \
    X(PLACE, "place")                                                                                        \
    X(SET, "set")                                                                                            \
    X(AT, "at")                                                                                              \
    X(INPUTS, "inputs")                                                                                      \
    X(EXTENTS, "extents")                                                                                    \
    X(OTHERS, "others")                                                                                      \
    X(LAUNCH, "launch")                                                                                      \
    X(TYPES, "types")                                                                                        \
    X(LAYOUT, "layout")                                                                                      \
    X(ALIAS, "alias")
#define KEY(name, text) KEY_##name,
enum { START_KEYS(KEY) KEY_COUNT };

/* The words of a key that takes one. */
static cupel_code named(reader *r, const yaml_node_t *node, int key, int *out) {
    static const char
        *const places[] = {CUPEL_START_PLACES(TEXT)},
               *const inputs[] = {CUPEL_START_INPUTS(TEXT)}, *const types[] = {CUPEL_START_TYPES(TEXT)},
               *const layouts[] = {CUPEL_START_LAYOUTS(TEXT)},
               *const positions[] = {CUPEL_START_POSITIONS(TEXT)}, *const truth[] = {"false", "true"};
    const char *names[CUPEL_PATTERN_COUNT > CUPEL_SPECIAL_COUNT ? CUPEL_PATTERN_COUNT : CUPEL_SPECIAL_COUNT];
    switch (key) {
    case KEY_PATTERN:
        for (int i = 0; i < CUPEL_PATTERN_COUNT; i++) names[i] = cupel_pattern_name((cupel_pattern)i);
        return word(r, node, "pattern", names, CUPEL_PATTERN_COUNT, out);
    case KEY_SPECIAL:
        for (int i = 0; i < CUPEL_SPECIAL_COUNT; i++) names[i] = cupel_special_name((cupel_special)i);
        return word(r, node, "special value", names, CUPEL_SPECIAL_COUNT, out);
    case KEY_PLACE: return word(r, node, "place", places, CUPEL_START_PLACE_COUNT, out);
    case KEY_AT: return word(r, node, "position", positions, CUPEL_START_AT_COUNT, out);
    case KEY_INPUTS: return word(r, node, "choice of inputs", inputs, CUPEL_START_INPUTS_COUNT, out);
    case KEY_TYPES: return word(r, node, "choice of types", types, CUPEL_START_TYPES_COUNT, out);
    case KEY_LAYOUT: return word(r, node, "layout", layouts, CUPEL_START_LAYOUT_COUNT, out);
    default: return word(r, node, "truth value", truth, 2, out);
    }
}

static cupel_code start_value(reader *r, yaml_node_t *node, int key, cupel_start *out) {
    double value;
    int choice = 0;
    switch (key) {
    case KEY_NAME: return text_of(r, node, "a name", &out->name);
    case KEY_AMPLITUDE: return number(r, node, true, &out->amplitude);
    case KEY_CENTRE: return number(r, node, true, &out->centre);
    case KEY_SET: out->has_set = true; return number(r, node, false, &out->set);
    case KEY_SEED:
        CUPEL_TRY(number(r, node, true, &value));
        if (value != floor(value) || value < 1 || value > UINT32_MAX)
            return FAIL(r, node, CUPEL_RANGE, "expected a seed from 1 to 4294967295, found '%.60s'",
                        scalar(node));
        out->seed = (uint32_t)value;
        return CUPEL_OK;
    case KEY_EXTENTS: return extents(r, node, out);
    case KEY_OTHERS: return extent(r, node, &out->others);
    case KEY_LAUNCH: return extent(r, node, &out->launch);
    default: break;
    }
    CUPEL_TRY(named(r, node, key, &choice));
    switch (key) {
    case KEY_PATTERN: out->pattern = (cupel_pattern)choice; break;
    case KEY_SPECIAL: out->special = (cupel_special)choice; break;
    case KEY_PLACE: out->place = (cupel_start_place)choice; break;
    case KEY_AT: out->at = (cupel_start_position)choice; break;
    case KEY_INPUTS: out->inputs = (cupel_start_inputs)choice; break;
    case KEY_TYPES: out->types = (cupel_start_types)choice; break;
    case KEY_LAYOUT: out->layout = (cupel_start_layout)choice; break;
    default: out->alias = choice == 1;
    }
    return CUPEL_OK;
}

static cupel_code read_start(reader *r, yaml_node_t *node, cupel_start *out) {
    static const char *const keys[] = {START_KEYS(TEXT)};
    *out = (cupel_start){.line = (int)node->start_mark.line + 1,
                         .pattern = CUPEL_PATTERN_NORMAL,
                         .amplitude = 1,
                         .seed = 1,
                         .others.plus = 3,
                         .launch.plus = 64};
    CUPEL_TRY(expect(r, node, YAML_MAPPING_NODE, "a map, one for each start"));
    unsigned seen = 0;
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
        int key;
        yaml_node_t *name = node_at(r, p->key);
        CUPEL_TRY(word(r, name, "key of a start", keys, KEY_COUNT, &key));
        if (seen >> key & 1) return FAIL(r, name, CUPEL_SYNTAX, "'%s' stands here twice", keys[key]);
        seen |= 1u << key;
        CUPEL_TRY(start_value(r, node_at(r, p->value), key, out));
    }
    if (!(seen >> KEY_NAME & 1)) return FAIL(r, node, CUPEL_SYNTAX, "a start needs a name");
    if (seen >> KEY_PLACE & 1 && out->special == CUPEL_SPECIAL_NONE)
        return FAIL(r, node, CUPEL_SYNTAX, "'place' needs a 'special'");
    if (seen >> KEY_AT & 1 && !out->has_set) return FAIL(r, node, CUPEL_SYNTAX, "'at' needs a 'set'");
    return CUPEL_OK;
}

static bool known_function(const char *name) {
    static const char *const operators[] = {"+", "-", "*", "/", "%", "**"};
    size_t count;
    const cupel_function_info *functions = cupel_functions(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(functions[i].name, name) == 0) return true;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strcmp(operators[i], name) == 0) return true;
    return false;
}

static cupel_code read_functions(reader *r, yaml_node_t *node, cupel_start_family *out) {
    if (node->type == YAML_SCALAR_NODE && strcmp(scalar(node), "any") == 0) {
        out->general = true;
        return CUPEL_OK;
    }
    CUPEL_TRY(expect(r, node, YAML_SEQUENCE_NODE, "'any' or a list of functions"));
    yaml_node_item_t *item = node->data.sequence.items.start, *stop = node->data.sequence.items.top;
    if (item == stop) return FAIL(r, node, CUPEL_SYNTAX, "expected at least one function");
    out->functions = cupel_arena_alloc(r->arena, (size_t)(stop - item) * sizeof *out->functions);
    if (out->functions == NULL) return cupel_fail(r->err, CUPEL_MEMORY, "out of memory");
    for (; item < stop; item++) {
        yaml_node_t *function = node_at(r, *item);
        CUPEL_TRY(text_of(r, function, "a function", &out->functions[out->function_count]));
        if (!known_function(out->functions[out->function_count++]))
            return FAIL(r, function, CUPEL_SYNTAX, "unknown function '%.60s'", scalar(function));
    }
    return CUPEL_OK;
}

static cupel_code read_starts(reader *r, yaml_node_t *node, cupel_start_family *out) {
    CUPEL_TRY(expect(r, node, YAML_SEQUENCE_NODE, "a list of starts"));
    yaml_node_item_t *item = node->data.sequence.items.start, *stop = node->data.sequence.items.top;
    if (item == stop) return FAIL(r, node, CUPEL_SYNTAX, "expected at least one start");
    out->starts = cupel_arena_alloc(r->arena, (size_t)(stop - item) * sizeof *out->starts);
    if (out->starts == NULL) return cupel_fail(r->err, CUPEL_MEMORY, "out of memory");
    for (; item < stop; item++) CUPEL_TRY(read_start(r, node_at(r, *item), &out->starts[out->start_count++]));
    return CUPEL_OK;
}

static cupel_code read_family(reader *r, cupel_start_family *out) {
    static const char *const keys[] = {"family", "functions", "starts"};
    yaml_node_t *root = yaml_document_get_root_node(&r->document);
    if (root == NULL)
        return cupel_fail_at(r->err, CUPEL_SYNTAX, r->file, 1, 1, "expected a map, found nothing");
    CUPEL_TRY(expect(r, root, YAML_MAPPING_NODE, "a map"));
    unsigned seen = 0;
    for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top; p++) {
        int key;
        yaml_node_t *name = node_at(r, p->key), *value = node_at(r, p->value);
        CUPEL_TRY(word(r, name, "key of a family", keys, 3, &key));
        if (seen >> key & 1) return FAIL(r, name, CUPEL_SYNTAX, "'%s' stands here twice", keys[key]);
        seen |= 1u << key;
        CUPEL_TRY(key == 0   ? text_of(r, value, "a name", &out->name)
                  : key == 1 ? read_functions(r, value, out)
                             : read_starts(r, value, out));
    }
    for (int key = 0; key < 3; key++)
        if (!(seen >> key & 1)) return FAIL(r, root, CUPEL_SYNTAX, "'%s' is missing", keys[key]);
    return CUPEL_OK;
}

cupel_code cupel_starts_read(const char *file, const char *text, size_t length, cupel_arena *arena,
                             cupel_start_family *out, cupel_error *err) {
    yaml_parser_t parser;
    reader r = {.file = file, .arena = arena, .err = err};
    *out = (cupel_start_family){.file = file};
    if (!yaml_parser_initialize(&parser)) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    cupel_code code;
    if (yaml_parser_load(&parser, &r.document)) {
        code = read_family(&r, out);
        yaml_document_delete(&r.document);
    } else {
        code = cupel_fail_at(err, CUPEL_SYNTAX, file, (int)parser.problem_mark.line + 1,
                             (int)parser.problem_mark.column + 1, "not valid YAML: %s",
                             parser.problem != NULL ? parser.problem : "out of memory");
    }
    yaml_parser_delete(&parser);
    return code;
}
