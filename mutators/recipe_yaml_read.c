/* YAML to recipe: libyaml's events, a small recursive reader, every error with its place. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "recipe_yaml.h"
#include "schedule.h"

static const char *const tensor_keys[] = {CUPEL_TENSOR_KEYS(CUPEL_YAML_TEXT)};
static const char *const case_keys[] = {CUPEL_CASE_KEYS(CUPEL_YAML_TEXT)};

typedef struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the one at hand */
    bool holds;
    const char *file;
    const cupel_contract *contract;
    cupel_recipe *recipe;
    cupel_error *err;
} reader;

#define FAIL(r, code, ...)                                                                                   \
    cupel_fail_at((r)->err, code, (r)->file, (int)(r)->event.start_mark.line + 1,                            \
                  (int)(r)->event.start_mark.column + 1, __VA_ARGS__)

static cupel_code next(reader *r) {
    if (r->holds) yaml_event_delete(&r->event);
    r->holds = false;
    if (!yaml_parser_parse(&r->parser, &r->event)) {
        memset(&r->event, 0, sizeof r->event);
        return cupel_fail_at(r->err, CUPEL_SYNTAX, r->file, (int)r->parser.problem_mark.line + 1,
                             (int)r->parser.problem_mark.column + 1, "not valid YAML: %s",
                             r->parser.problem != NULL ? r->parser.problem : "out of memory");
    }
    r->holds = true;
    if (r->event.type == YAML_ALIAS_EVENT) return FAIL(r, CUPEL_SYNTAX, "aliases are not used in a case");
    return CUPEL_OK;
}

static const char *kind_of(const reader *r) {
    switch (r->event.type) {
    case YAML_SCALAR_EVENT: return "a single value";
    case YAML_MAPPING_START_EVENT: return "a map";
    case YAML_SEQUENCE_START_EVENT: return "a list";
    default: return "the end";
    }
}

static cupel_code expect(reader *r, yaml_event_type_t type, const char *expected) {
    if (r->event.type != type) return FAIL(r, CUPEL_SYNTAX, "expected %s, found %s", expected, kind_of(r));
    return CUPEL_OK;
}

static const char *scalar(const reader *r) {
    return (const char *)r->event.data.scalar.value;
}

/* The index of the word at hand in a list of names, with a suggestion when it is not there. */
static cupel_code word(reader *r, const char *what, const char *const *names, int count, int *out) {
    CUPEL_TRY(expect(r, YAML_SCALAR_EVENT, what));
    for (int i = 0; i < count; i++)
        if (strcmp(scalar(r), names[i]) == 0) {
            *out = i;
            return CUPEL_OK;
        }
    const char *near = cupel_text_nearest(scalar(r), names, (size_t)count);
    if (near != NULL)
        return FAIL(r, CUPEL_SYNTAX, "unknown %s '%.60s', did you mean '%s'?", what, scalar(r), near);
    return FAIL(r, CUPEL_SYNTAX, "unknown %s '%.60s'", what, scalar(r));
}

static cupel_code read_u64(reader *r, uint64_t most, uint64_t *out) {
    CUPEL_TRY(expect(r, YAML_SCALAR_EVENT, "a whole number"));
    const char *start = scalar(r);
    char *end;
    errno = 0;
    *out = strtoull(start, &end, 0);
    if (*start < '0' || *start > '9' || *end != 0)
        return FAIL(r, CUPEL_SYNTAX, "expected a whole number, found '%.60s'", start);
    if (errno == ERANGE || *out > most)
        return FAIL(r, CUPEL_RANGE, "expected a number up to %" PRIu64 ", found %.60s", most, start);
    return next(r);
}

static cupel_code read_i64(reader *r, int64_t *out) {
    CUPEL_TRY(expect(r, YAML_SCALAR_EVENT, "an integer"));
    const char *start = scalar(r), *digits = *start == '-' ? start + 1 : start;
    char *end;
    errno = 0;
    *out = strtoll(start, &end, 0);
    if (*digits < '0' || *digits > '9' || *end != 0 || errno == ERANGE)
        return FAIL(r, CUPEL_SYNTAX, "expected an integer, found '%.60s'", start);
    return next(r);
}

static cupel_code read_number(reader *r, bool finite, double *out) {
    CUPEL_TRY(expect(r, YAML_SCALAR_EVENT, "a number"));
    const char *start = scalar(r);
    char *end;
    *out = strtod(start, &end);
    if (end == start || *end != 0 || (finite && !isfinite(*out)))
        return FAIL(r, CUPEL_SYNTAX, "expected a %snumber, found '%.60s'", finite ? "finite " : "", start);
    return next(r);
}

static cupel_code read_double(reader *r, double *out) {
    return read_number(r, true, out);
}

/* Calls entry for every key of the map at hand, the value being the next event. Keys come at most once. */
static cupel_code read_map(reader *r, const char *what, const char *const *names, int count,
                           cupel_code (*entry)(reader *r, int key, void *self), void *self, uint64_t *seen) {
    uint64_t found = 0;
    CUPEL_TRY(expect(r, YAML_MAPPING_START_EVENT, "a map"));
    CUPEL_TRY(next(r));
    while (r->event.type != YAML_MAPPING_END_EVENT) {
        int key;
        CUPEL_TRY(word(r, what, names, count, &key));
        if (found >> key & 1) return FAIL(r, CUPEL_SYNTAX, "%s '%s' stands here twice", what, names[key]);
        found |= UINT64_C(1) << key;
        CUPEL_TRY(next(r));
        CUPEL_TRY(entry(r, key, self));
    }
    if (seen != NULL) *seen = found;
    return next(r);
}

/* A list of small numbers; *count gets how many. */
static cupel_code read_bytes(reader *r, uint64_t most, uint8_t *values, int capacity, int *count) {
    CUPEL_TRY(expect(r, YAML_SEQUENCE_START_EVENT, "a list"));
    CUPEL_TRY(next(r));
    *count = 0;
    while (r->event.type != YAML_SEQUENCE_END_EVENT) {
        uint64_t value;
        if (*count == capacity) return FAIL(r, CUPEL_RANGE, "expected at most %d numbers", capacity);
        CUPEL_TRY(read_u64(r, most, &value));
        values[(*count)++] = (uint8_t)value;
    }
    return next(r);
}

static cupel_code read_axes(reader *r, int rank, uint8_t *axes) {
    uint8_t values[CUPEL_RANK_MAX];
    int count;
    if (rank == 0) return FAIL(r, CUPEL_RANGE, "a scalar has no axes");
    CUPEL_TRY(read_bytes(r, (uint64_t)rank - 1, values, rank, &count));
    for (int i = 0; i < count; i++) *axes |= (uint8_t)(1u << values[i]);
    return CUPEL_OK;
}

static cupel_code read_per_axis(reader *r, int rank, uint64_t most, uint8_t *out) {
    int count;
    CUPEL_TRY(read_bytes(r, most, out, rank, &count));
    if (count != rank) return FAIL(r, CUPEL_RANGE, "expected %d numbers, found %d", rank, count);
    return CUPEL_OK;
}

static cupel_code read_order(reader *r, int rank, uint8_t *order) {
    CUPEL_TRY(read_per_axis(r, rank, (uint64_t)(rank > 0 ? rank - 1 : 0), order));
    unsigned seen = 0;
    for (int k = 0; k < rank; k++) seen |= 1u << order[k];
    if (seen != (1u << rank) - 1) return FAIL(r, CUPEL_RANGE, "expected every axis once in 'order'");
    return CUPEL_OK;
}

static cupel_code read_edits(reader *r, cupel_tensor_recipe *tensor) {
    CUPEL_TRY(expect(r, YAML_SEQUENCE_START_EVENT, "a list of [index, bits]"));
    CUPEL_TRY(next(r));
    while (r->event.type != YAML_SEQUENCE_END_EVENT) {
        if (tensor->edit_count == CUPEL_EDIT_MAX)
            return FAIL(r, CUPEL_RANGE, "expected at most %d edits", CUPEL_EDIT_MAX);
        cupel_edit *edit = &tensor->edits[tensor->edit_count++];
        CUPEL_TRY(expect(r, YAML_SEQUENCE_START_EVENT, "[index, bits]"));
        CUPEL_TRY(next(r));
        CUPEL_TRY(read_i64(r, &edit->index));
        CUPEL_TRY(read_u64(r, UINT64_MAX, &edit->bits));
        CUPEL_TRY(expect(r, YAML_SEQUENCE_END_EVENT, "']' after index and bits"));
        CUPEL_TRY(next(r));
    }
    return next(r);
}

static cupel_code read_enum(reader *r, const char *what, const char *(*name)(int), int count, int *out) {
    const char *names[32];
    for (int i = 0; i < count; i++) names[i] = name(i);
    CUPEL_TRY(word(r, what, names, count, out));
    return next(r);
}
static const char *pattern_name(int i) {
    return cupel_pattern_name((cupel_pattern)i);
}
static const char *special_name(int i) {
    return cupel_special_name((cupel_special)i);
}
static const char *placement_name(int i) {
    return cupel_placement_name((cupel_placement)i);
}

/* "repeat", "repeat:3" */
static cupel_code read_history(reader *r) {
    const char *names[CUPEL_HISTORY_COUNT];
    int choice;
    CUPEL_TRY(expect(r, YAML_SCALAR_EVENT, "a history"));
    if (cupel_history_read(scalar(r), r->recipe)) return next(r);
    if (strchr(scalar(r), ':') != NULL)
        return FAIL(r, CUPEL_SYNTAX, "expected a history and 1 to %d calls, as in repeat:3, found '%.60s'",
                    CUPEL_CALLS_MAX, scalar(r));
    for (int h = 0; h < CUPEL_HISTORY_COUNT; h++) names[h] = cupel_history_name((cupel_history)h);
    return word(r, "history", names, CUPEL_HISTORY_COUNT, &choice);
}

/* 0 is how the canonical schedule was written before schedules had names. */
static cupel_code read_schedule(reader *r) {
    cupel_error err = {0};
    CUPEL_TRY(expect(r, YAML_SCALAR_EVENT, "a schedule"));
    const char *text = strcmp(scalar(r), "0") ? scalar(r) : "canonical";
    if (cupel_schedule_read(text, &r->recipe->schedule, &err) != CUPEL_OK)
        return FAIL(r, CUPEL_SYNTAX, "%s", err.text);
    return next(r);
}

static cupel_code read_small(reader *r, uint64_t most, uint64_t *out) {
    return read_u64(r, most, out);
}

static cupel_code tensor_entry(reader *r, int key, void *self) {
    int t = *(const int *)self, choice = 0, rank = r->contract->tensors[t].rank;
    cupel_tensor_recipe *tensor = &r->recipe->tensors[t];
    uint64_t number = 0;
    switch ((cupel_tensor_key)key) {
    case CUPEL_KEY_PATTERN:
        CUPEL_TRY(read_enum(r, "pattern", pattern_name, CUPEL_PATTERN_COUNT, &choice));
        tensor->pattern = (cupel_pattern)choice;
        return CUPEL_OK;
    case CUPEL_KEY_SPECIAL:
        CUPEL_TRY(read_enum(r, "special value", special_name, CUPEL_SPECIAL_COUNT, &choice));
        tensor->special = (cupel_special)choice;
        return CUPEL_OK;
    case CUPEL_KEY_PLACE:
        CUPEL_TRY(read_enum(r, "place", placement_name, CUPEL_PLACE_COUNT, &choice));
        tensor->placement = (cupel_placement)choice;
        return CUPEL_OK;
    case CUPEL_KEY_SEED:
        CUPEL_TRY(read_small(r, UINT32_MAX, &number));
        tensor->seed = (uint32_t)number;
        return CUPEL_OK;
    case CUPEL_KEY_SPECIAL_SEED:
        CUPEL_TRY(read_small(r, UINT32_MAX, &number));
        tensor->special_seed = (uint32_t)number;
        return CUPEL_OK;
    case CUPEL_KEY_AMPLITUDE: return read_double(r, &tensor->amplitude);
    case CUPEL_KEY_CENTRE: return read_double(r, &tensor->centre);
    case CUPEL_KEY_ORDER: return read_order(r, rank, tensor->layout.order);
    case CUPEL_KEY_GAP: return read_per_axis(r, rank, UINT8_MAX, tensor->layout.gap);
    case CUPEL_KEY_STEP:
        CUPEL_TRY(read_small(r, UINT8_MAX, &number));
        tensor->layout.step = (uint8_t)number;
        return CUPEL_OK;
    case CUPEL_KEY_REVERSED: return read_axes(r, rank, &tensor->layout.reversed);
    case CUPEL_KEY_EXPANDED: return read_axes(r, rank, &tensor->layout.expanded);
    case CUPEL_KEY_OFFSET:
        CUPEL_TRY(read_small(r, UINT16_MAX, &number));
        tensor->layout.offset = (uint16_t)number;
        return CUPEL_OK;
    case CUPEL_KEY_EDITS: return read_edits(r, tensor);
    case CUPEL_TENSOR_KEY_COUNT: break;
    }
    return CUPEL_OK;
}

static cupel_code tensors_entry(reader *r, int key, void *self) {
    (void)self;
    return read_map(r, "key", tensor_keys, CUPEL_TENSOR_KEY_COUNT, tensor_entry, &key, NULL);
}

static cupel_code dims_entry(reader *r, int key, void *self) {
    (void)self;
    return read_i64(r, &r->recipe->dims[key]);
}

static cupel_code types_entry(reader *r, int key, void *self) {
    (void)self;
    const char *names[CUPEL_DTYPE_COUNT];
    const cupel_type_variable *variable = &r->contract->types[key];
    for (int i = 0; i < variable->count; i++) names[i] = cupel_format_of(variable->claimed[i])->name;
    int choice;
    CUPEL_TRY(word(r, "claimed type", names, variable->count, &choice));
    r->recipe->types[key] = (uint8_t)choice;
    return next(r);
}

static cupel_code params_entry(reader *r, int key, void *self) {
    (void)self;
    return read_number(r, false,
                       &r->recipe->params[key]); /* of the contract's choices, which repair sees to */
}

static int tensor_names(const cupel_contract *contract, const char **names) {
    for (int i = 0; i < contract->tensor_count; i++) names[i] = contract->tensors[i].name;
    return contract->tensor_count;
}

static cupel_code read_aliases(reader *r) {
    const char *names[CUPEL_TENSOR_MAX];
    int count = tensor_names(r->contract, names);
    CUPEL_TRY(expect(r, YAML_SEQUENCE_START_EVENT, "a list of pairs"));
    CUPEL_TRY(next(r));
    while (r->event.type != YAML_SEQUENCE_END_EVENT) {
        int pair[2];
        CUPEL_TRY(expect(r, YAML_SEQUENCE_START_EVENT, "a pair of tensors"));
        for (int i = 0; i < 2; i++) {
            CUPEL_TRY(next(r));
            CUPEL_TRY(word(r, "tensor", names, count, &pair[i]));
        }
        int match = -1;
        for (int i = 0; i < r->contract->alias_count; i++)
            if (r->contract->aliases[i][0] == pair[0] && r->contract->aliases[i][1] == pair[1]) match = i;
        if (match < 0)
            return FAIL(r, CUPEL_RANGE, "the contract does not list [%s, %s] under 'may_alias'",
                        names[pair[0]], names[pair[1]]);
        r->recipe->aliases |= 1u << match;
        CUPEL_TRY(next(r));
        CUPEL_TRY(expect(r, YAML_SEQUENCE_END_EVENT, "']' after two tensors"));
        CUPEL_TRY(next(r));
    }
    return next(r);
}

static cupel_code read_dims(reader *r) {
    const char *names[CUPEL_DIM_MAX];
    for (int i = 0; i < r->contract->dim_count; i++) names[i] = r->contract->dims[i].name;
    uint64_t seen;
    CUPEL_TRY(read_map(r, "dim", names, r->contract->dim_count, dims_entry, NULL, &seen));
    for (int i = 0; i < r->contract->dim_count; i++)
        if (!(seen >> i & 1))
            return FAIL(r, CUPEL_SYNTAX, "expected a value for dim %s before this", names[i]);
    return CUPEL_OK;
}

static cupel_code case_entry(reader *r, int key, void *self) {
    (void)self;
    const char *names[CUPEL_TENSOR_MAX + CUPEL_TYPE_MAX + CUPEL_PARAM_MAX];
    uint64_t number;
    int choice;
    switch ((cupel_case_key)key) {
    case CUPEL_KEY_VERSION:
        CUPEL_TRY(expect(r, YAML_SCALAR_EVENT, "a version"));
        if (strcmp(scalar(r), "1") != 0)
            return FAIL(r, CUPEL_UNSUPPORTED, "expected version 1, found %.60s", scalar(r));
        return next(r);
    case CUPEL_KEY_CONTRACT: {
        const char *id = r->contract->id;
        CUPEL_TRY(expect(r, YAML_SCALAR_EVENT, "the id of a contract"));
        if (strcmp(scalar(r), id) != 0)
            return FAIL(r, CUPEL_MISMATCH, "expected a case of contract '%s', found '%.60s'", id, scalar(r));
        return next(r);
    }
    case CUPEL_KEY_DIMS: return read_dims(r);
    case CUPEL_KEY_TYPES:
        for (int i = 0; i < r->contract->type_count; i++) names[i] = r->contract->types[i].name;
        return read_map(r, "type", names, r->contract->type_count, types_entry, NULL, NULL);
    case CUPEL_KEY_PARAMS:
        for (int i = 0; i < r->contract->param_count; i++) names[i] = r->contract->params[i].name;
        return read_map(r, "param", names, r->contract->param_count, params_entry, NULL, NULL);
    case CUPEL_KEY_TENSORS:
        choice = tensor_names(r->contract, names);
        return read_map(r, "tensor", names, choice, tensors_entry, NULL, NULL);
    case CUPEL_KEY_ALIASES: return read_aliases(r);
    case CUPEL_KEY_SCHEDULE: return read_schedule(r);
    case CUPEL_KEY_HISTORY: return read_history(r);
    case CUPEL_KEY_PERMUTATION:
        CUPEL_TRY(read_u64(r, UINT32_MAX, &number));
        r->recipe->permutation = (uint32_t)number;
        return CUPEL_OK;
    case CUPEL_KEY_POISON:
        CUPEL_TRY(read_u64(r, UINT32_MAX, &number));
        r->recipe->poison = (uint32_t)number;
        return CUPEL_OK;
    case CUPEL_CASE_KEY_COUNT: break;
    }
    return CUPEL_OK;
}

static cupel_code read_document(reader *r) {
    uint64_t seen = 0;
    CUPEL_TRY(next(r));
    CUPEL_TRY(expect(r, YAML_STREAM_START_EVENT, "YAML text"));
    CUPEL_TRY(next(r));
    if (r->event.type == YAML_STREAM_END_EVENT)
        return FAIL(r, CUPEL_SYNTAX, "expected a case, found nothing");
    CUPEL_TRY(next(r));
    CUPEL_TRY(read_map(r, "key", case_keys, CUPEL_CASE_KEY_COUNT, case_entry, NULL, &seen));
    if (!(seen >> CUPEL_KEY_VERSION & 1)) return FAIL(r, CUPEL_SYNTAX, "expected 'cupel-case: 1'");
    if (!(seen >> CUPEL_KEY_DIMS & 1)) return FAIL(r, CUPEL_SYNTAX, "expected 'dims'");
    CUPEL_TRY(expect(r, YAML_DOCUMENT_END_EVENT, "the end of the case"));
    CUPEL_TRY(next(r));
    return expect(r, YAML_STREAM_END_EVENT, "one case");
}

/* What a case says nothing about: base types, each param's simplest value, zero everywhere, contiguous. */
static void set_defaults(const cupel_contract *contract, cupel_recipe *recipe) {
    memset(recipe, 0, sizeof *recipe);
    for (int i = 0; i < contract->param_count; i++)
        recipe->params[i] = contract->params[i].kind == CUPEL_PARAM_ONE_OF
                                ? contract->params[i].values[0]
                                : cupel_param_nearest(&contract->params[i], 1);
    for (int t = 0; t < contract->tensor_count; t++) cupel_layout_reset(&recipe->tensors[t].layout);
}

cupel_code cupel_recipe_read(const cupel_contract *contract, const char *file, const char *text,
                             size_t length, cupel_recipe *out, cupel_error *err) {
    set_defaults(contract, out);
    reader r = {.file = file, .contract = contract, .recipe = out, .err = err};
    if (!yaml_parser_initialize(&r.parser)) return cupel_fail(err, CUPEL_MEMORY, "no memory to read a case");
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, length);
    cupel_code code = read_document(&r);
    if (r.holds) yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return code;
}
