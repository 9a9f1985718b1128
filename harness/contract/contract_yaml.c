#include "contract_yaml.h"

#include <string.h>
#include <yaml.h>

enum { LENGTH_MAX = 256 * 1024, DEPTH_MAX = 12, ENTRIES_MAX = 1024 };

/* A position in the text; moves forwards only, so that places cost linear time in all. */
typedef struct cursor {
    size_t byte, character; /* libyaml's marks count characters */
    int line, column;
} cursor;

typedef struct builder {
    const cupel_contract_text *source;
    cupel_arena *arena;
    cupel_error *err;
    yaml_parser_t parser;
    yaml_event_t event;
    cursor at;
} builder;

static bool continues(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

static cursor cursor_start(const cupel_contract_text *source) {
    return (cursor){0, 0, source->text.line, source->text.column + source->first_line_shift};
}

static void cursor_step(cursor *c, const cupel_span *text) {
    if (text->text[c->byte] == '\n') {
        c->line++;
        c->column = 1;
    } else {
        c->column++;
    }
    do c->byte++;
    while (c->byte < text->length && continues(text->text[c->byte]));
    c->character++;
}

static void cursor_advance(cursor *c, const cupel_span *text, size_t character) {
    while (c->character < character && c->byte < text->length) cursor_step(c, text);
}

static void cursor_advance_line(cursor *c, const cupel_span *text) {
    int line = c->line;
    while (c->line == line && c->byte < text->length) cursor_step(c, text);
}

static cupel_span span_at(const builder *b, cursor from, size_t end) {
    const cupel_span *text = &b->source->text;
    return (cupel_span){text->text + from.byte, end - from.byte, text->file, from.line, from.column};
}

/* The place of a byte, for errors found out of order. */
static cupel_span span_of_byte(const cupel_contract_text *source, size_t byte) {
    cursor c = cursor_start(source);
    while (c.byte < byte && c.byte < source->text.length) cursor_step(&c, &source->text);
    size_t end = c.byte;
    if (end < source->text.length) end++;
    while (end < source->text.length && continues(source->text.text[end])) end++;
    return (cupel_span){source->text.text + c.byte, end - c.byte, source->text.file, c.line, c.column};
}

static cupel_code fail_memory(cupel_error *err) {
    return cupel_fail(err, CUPEL_MEMORY, "out of memory");
}

/* libyaml says "did not find expected X": turned into our "expected X, found Y". */
static cupel_code fail_parser(builder *b) {
    const yaml_parser_t *p = &b->parser;
    const char *problem = p->problem ? p->problem : "unreadable text";
    if (p->error == YAML_MEMORY_ERROR) return fail_memory(b->err);
    if (p->error == YAML_READER_ERROR)
        return cupel_fail_span(b->err, CUPEL_SYNTAX, span_of_byte(b->source, p->problem_offset),
                               "expected UTF-8 text, found: %s", problem);
    cursor c = cursor_start(b->source);
    cursor_advance(&c, &b->source->text, p->problem_mark.index);
    size_t end = c.byte;
    while (end < b->source->text.length && b->source->text.text[end] != '\n' && end - c.byte < 20) end++;
    cupel_span found = span_at(b, c, end);
    static const char prefix[] = "did not find expected ";
    bool expected = strncmp(problem, prefix, sizeof prefix - 1) == 0;
    const char *bracket = c.byte < b->source->text.length && strchr("[]{},", b->source->text.text[c.byte])
                              ? "; values that hold brackets or commas are quoted: x: \"T[M, N]\""
                              : "";
    return cupel_fail_span(b->err, CUPEL_SYNTAX, found, "expected %s, found '%.*s'%s%s%s%s",
                           expected ? problem + sizeof prefix - 1 : "YAML", (int)found.length, found.text,
                           expected ? "" : " (", expected ? "" : problem, expected ? "" : ")", bracket);
}

static cupel_code next_event(builder *b) {
    yaml_event_delete(&b->event);
    if (!yaml_parser_parse(&b->parser, &b->event)) {
        memset(&b->event, 0, sizeof b->event);
        return fail_parser(b);
    }
    cursor_advance(&b->at, &b->source->text, b->event.start_mark.index);
    return CUPEL_OK;
}

static cupel_code refuse_properties(builder *b, const yaml_char_t *anchor, const yaml_char_t *tag) {
    if (!anchor && !tag) return CUPEL_OK;
    return cupel_fail_span(b->err, CUPEL_SYNTAX, span_at(b, b->at, b->at.byte),
                           "expected a plain value, found the %s '%s'", anchor ? "anchor" : "tag",
                           (const char *)(anchor ? anchor : tag));
}

/* The raw text stands for the value where it says the same: then places inside it are exact. Line breaks and
 * the blanks around them count as blanks to every reader of ours. */
static cupel_code build_scalar(builder *b, cupel_yaml *node) {
    CUPEL_TRY(refuse_properties(b, b->event.data.scalar.anchor, b->event.data.scalar.tag));
    const char *value = (const char *)b->event.data.scalar.value;
    size_t length = b->event.data.scalar.length;
    yaml_scalar_style_t style = b->event.data.scalar.style;
    cursor end = b->at;
    cursor_advance(&end, &b->source->text, b->event.end_mark.index);
    node->kind = CUPEL_YAML_SCALAR;
    node->plain = style == YAML_PLAIN_SCALAR_STYLE;
    node->value = cupel_arena_text(b->arena, value, length);
    if (!node->value) return fail_memory(b->err);
    node->text = span_at(b, b->at, end.byte);
    if (memchr(value, '\0', length))
        return cupel_fail_span(b->err, CUPEL_SYNTAX, node->text, "expected text, found a zero byte in it");
    bool quoted = style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    bool raw = node->plain && length > 0;
    if (quoted && node->text.length >= 2) {
        node->text = (cupel_span){node->text.text + 1, node->text.length - 2, node->text.file,
                                  node->text.line, node->text.column + 1};
        char escape = style == YAML_SINGLE_QUOTED_SCALAR_STYLE ? '\'' : '\\';
        raw = !memchr(node->text.text, escape, node->text.length);
    }
    if (style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE) {
        cursor body = b->at; /* behind the line with the indicator */
        cursor_advance_line(&body, &b->source->text);
        node->text = span_at(b, body, end.byte > body.byte ? end.byte : body.byte);
        raw = length > 0;
    }
    if (!raw) {
        node->text.text = node->value;
        node->text.length = length;
    }
    return CUPEL_OK;
}

static int balance(const char *text) {
    int depth = 0;
    for (; *text; text++) depth += (*text == '(') - (*text == ')');
    return depth;
}

static bool split(const cupel_yaml *node) {
    return node->kind == CUPEL_YAML_SCALAR && node->plain && balance(node->value) != 0;
}

/* Joins the texts from index on, which commas inside parentheses have split, until the parentheses balance.
 */
static const char *join(cupel_arena *arena, cupel_yaml *const *nodes, int count, int *index) {
    const char *text = nodes[*index]->value;
    while (text && balance(text) > 0 && *index + 1 < count && nodes[*index + 1]->kind == CUPEL_YAML_SCALAR)
        text = cupel_arena_printf(arena, "%s, %s", text, nodes[++*index]->value);
    return text;
}

static cupel_code check_list(builder *b, const cupel_yaml *list) {
    int bad = 0;
    while (bad < list->count && !split(list->items[bad])) bad++;
    if (bad == list->count) return CUPEL_OK;
    const char *form = "[";
    for (int i = 0; i < list->count && form; i++) {
        bool quote = split(list->items[i]);
        const char *text =
            list->items[i]->kind == CUPEL_YAML_SCALAR ? join(b->arena, list->items, list->count, &i) : "..";
        const char *end = i + 1 < list->count ? ", " : "]";
        if (text) form = cupel_arena_printf(b->arena, quote ? "%s\"%s\"%s" : "%s%s%s", form, text, end);
    }
    return cupel_fail_span(b->err, CUPEL_SYNTAX, list->items[bad]->text,
                           "expected balanced parentheses, found '%s'; quote expressions with commas: %s",
                           list->items[bad]->value, form ? form : "");
}

static cupel_code check_map(builder *b, const cupel_yaml *map) {
    for (int i = 0; i < map->count; i++) {
        const cupel_yaml *bad = split(map->keys[i]) ? map->keys[i] : map->items[i];
        if (!split(bad) || strcmp(map->keys[i]->value, "about") == 0) continue;
        int last = i;
        const char *text;
        if (bad == map->keys[i]) {
            text = join(b->arena, map->keys, map->count, &last);
            const cupel_yaml *value = map->items[last];
            const char *tail = value->kind == CUPEL_YAML_SCALAR ? value->value : "..";
            if (text) text = cupel_arena_printf(b->arena, "{\"%s\": %s}", text, tail);
        } else {
            /* G: ceil_div(N, 1024) reads as the keys G and "1024)" */
            text = bad->value;
            while (text && balance(text) > 0 && last + 1 < map->count)
                text = cupel_arena_printf(b->arena, "%s, %s", text, map->keys[++last]->value);
            if (text) text = cupel_arena_printf(b->arena, "%s: \"%s\"", map->keys[i]->value, text);
        }
        return cupel_fail_span(b->err, CUPEL_SYNTAX, bad->text,
                               "expected balanced parentheses, found '%s'; quote expressions with commas: %s",
                               bad->value, text ? text : "");
    }
    return CUPEL_OK;
}

static cupel_code build_node(builder *b, int depth, cupel_yaml **out);

static cupel_code add_entry(builder *b, cupel_yaml *node, int *capacity, cupel_yaml *key, cupel_yaml *item) {
    if (node->count == ENTRIES_MAX)
        return cupel_fail_span(b->err, CUPEL_SYNTAX, item->text, "expected at most %d entries, found more",
                               ENTRIES_MAX);
    if (node->count == *capacity) {
        int more = *capacity ? *capacity * 2 : 8;
        cupel_yaml **items = cupel_arena_alloc(b->arena, sizeof *items * (size_t)more);
        cupel_yaml **keys = cupel_arena_alloc(b->arena, sizeof *keys * (size_t)more);
        if (!items || !keys) return fail_memory(b->err);
        for (int i = 0; i < node->count; i++) items[i] = node->items[i], keys[i] = node->keys[i];
        node->items = items;
        node->keys = keys;
        *capacity = more;
    }
    node->keys[node->count] = key;
    node->items[node->count++] = item;
    return CUPEL_OK;
}

/* A list or map in brackets has its whole text, for messages. */
static void set_flow_text(const builder *b, cupel_yaml *node) {
    cursor end = b->at;
    cursor_advance(&end, &b->source->text, b->event.end_mark.index);
    node->text.length = (size_t)(b->source->text.text + end.byte - node->text.text);
}

static cupel_code build_list(builder *b, int depth, cupel_yaml *node) {
    CUPEL_TRY(refuse_properties(b, b->event.data.sequence_start.anchor, b->event.data.sequence_start.tag));
    bool flow = b->event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    node->kind = CUPEL_YAML_LIST;
    for (int capacity = 0;;) {
        CUPEL_TRY(next_event(b));
        if (b->event.type == YAML_SEQUENCE_END_EVENT) {
            if (!flow) return CUPEL_OK;
            set_flow_text(b, node);
            return check_list(b, node);
        }
        cupel_yaml *item;
        CUPEL_TRY(build_node(b, depth + 1, &item));
        CUPEL_TRY(add_entry(b, node, &capacity, NULL, item));
    }
}

static cupel_code check_key(builder *b, const cupel_yaml *map, const cupel_yaml *key) {
    if (key->kind != CUPEL_YAML_SCALAR)
        return cupel_fail_span(b->err, CUPEL_SYNTAX, key->text, "expected a name as key, found %s",
                               cupel_contract_yaml_found(key, b->arena));
    for (int i = 0; i < map->count; i++)
        if (strcmp(map->keys[i]->value, key->value) == 0)
            return cupel_fail_span(b->err, CUPEL_SYNTAX, key->text,
                                   "expected each key once, found '%s' again (first in line %d)", key->value,
                                   map->keys[i]->text.line);
    return CUPEL_OK;
}

static cupel_code build_map(builder *b, int depth, cupel_yaml *node) {
    CUPEL_TRY(refuse_properties(b, b->event.data.mapping_start.anchor, b->event.data.mapping_start.tag));
    bool flow = b->event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    node->kind = CUPEL_YAML_MAP;
    for (int capacity = 0;;) {
        cupel_yaml *key, *value;
        CUPEL_TRY(next_event(b));
        if (b->event.type == YAML_MAPPING_END_EVENT) {
            if (!flow) return CUPEL_OK;
            set_flow_text(b, node);
            return check_map(b, node);
        }
        CUPEL_TRY(build_node(b, depth + 1, &key));
        CUPEL_TRY(check_key(b, node, key));
        CUPEL_TRY(next_event(b));
        CUPEL_TRY(build_node(b, depth + 1, &value));
        CUPEL_TRY(add_entry(b, node, &capacity, key, value));
    }
}

static cupel_code build_node(builder *b, int depth, cupel_yaml **out) {
    cupel_yaml *node = *out = cupel_arena_alloc(b->arena, sizeof *node);
    if (!node) return fail_memory(b->err);
    node->text = span_at(b, b->at, b->at.byte);
    if (depth > DEPTH_MAX)
        return cupel_fail_span(b->err, CUPEL_SYNTAX, node->text,
                               "expected at most %d levels of nesting, found more", DEPTH_MAX);
    switch (b->event.type) {
    case YAML_SCALAR_EVENT: return build_scalar(b, node);
    case YAML_SEQUENCE_START_EVENT: return build_list(b, depth, node);
    case YAML_MAPPING_START_EVENT: return build_map(b, depth, node);
    case YAML_ALIAS_EVENT:
        return cupel_fail_span(b->err, CUPEL_SYNTAX, node->text,
                               "expected a plain value, found the alias '*%s'",
                               (const char *)b->event.data.alias.anchor);
    default: return cupel_fail_span(b->err, CUPEL_SYNTAX, node->text, "expected a value, found nothing");
    }
}

static cupel_code build_document(builder *b, cupel_yaml **out) {
    CUPEL_TRY(next_event(b)); /* the stream's start */
    CUPEL_TRY(next_event(b));
    if (b->event.type == YAML_STREAM_END_EVENT)
        return cupel_fail_span(b->err, CUPEL_SYNTAX, span_at(b, b->at, b->at.byte),
                               "expected a contract, found nothing");
    CUPEL_TRY(next_event(b));
    CUPEL_TRY(build_node(b, 0, out));
    CUPEL_TRY(next_event(b)); /* the document's end */
    CUPEL_TRY(next_event(b));
    if (b->event.type == YAML_STREAM_END_EVENT) return CUPEL_OK;
    return cupel_fail_span(b->err, CUPEL_SYNTAX, span_at(b, b->at, b->at.byte),
                           "expected the end of the contract, found a second document");
}

cupel_code cupel_contract_yaml(const cupel_contract_text *source, cupel_arena *arena, cupel_yaml **out,
                               cupel_error *err) {
    const cupel_span *text = &source->text;
    if (text->length > LENGTH_MAX)
        return cupel_fail_span(err, CUPEL_SYNTAX, *text,
                               "expected a contract of at most 256 KiB, found %zu bytes", text->length);
    const char *tab = memchr(text->text, '\t', text->length);
    if (tab)
        return cupel_fail_span(err, CUPEL_SYNTAX, span_of_byte(source, (size_t)(tab - text->text)),
                               "expected blanks, found a tab");
    builder b = {.source = source, .arena = arena, .err = err, .at = cursor_start(source)};
    if (!yaml_parser_initialize(&b.parser)) return fail_memory(err);
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)text->text, text->length);
    cupel_code code = build_document(&b, out);
    yaml_event_delete(&b.event);
    yaml_parser_delete(&b.parser);
    return code;
}

const cupel_yaml *cupel_contract_yaml_get(const cupel_yaml *map, const char *key) {
    for (int i = 0; map && map->kind == CUPEL_YAML_MAP && i < map->count; i++)
        if (strcmp(map->keys[i]->value, key) == 0) return map->items[i];
    return NULL;
}

const char *cupel_contract_yaml_found(const cupel_yaml *node, cupel_arena *arena) {
    if (node->kind != CUPEL_YAML_SCALAR) {
        const char *kind = node->kind == CUPEL_YAML_LIST ? "a list" : "a map";
        bool brief = node->text.length > 0 && node->text.length <= 60 &&
                     !memchr(node->text.text, '\n', node->text.length);
        const char *text =
            brief ? cupel_arena_printf(arena, "%.*s", (int)node->text.length, node->text.text) : kind;
        return text ? text : kind;
    }
    if (node->value[0] == '\0') return node->plain ? "nothing" : "an empty text";
    const char *text =
        cupel_arena_printf(arena, "'%.80s%s'", node->value, strlen(node->value) > 80 ? ".." : "");
    return text ? text : "a value";
}
