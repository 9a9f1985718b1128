/* A contract's YAML as a small tree in which every node knows its place in the real file. Built on libyaml's
 * events, since those carry marks and keep maps with free keys in order. */
#ifndef CUPEL_CONTRACT_YAML_H
#define CUPEL_CONTRACT_YAML_H

#include "text.h"

typedef enum cupel_yaml_kind { CUPEL_YAML_SCALAR, CUPEL_YAML_LIST, CUPEL_YAML_MAP } cupel_yaml_kind;

typedef struct cupel_yaml {
    cupel_yaml_kind kind;
    bool plain;        /* SCALAR: written without quotes */
    cupel_span text;   /* SCALAR: the text; in brackets: all of it; else an empty span at the start */
    const char *value; /* SCALAR: the text as YAML reads it (lines folded), terminated */
    int count;
    struct cupel_yaml **items; /* LIST: the items, MAP: the values */
    struct cupel_yaml **keys;  /* MAP: scalars */
} cupel_yaml;

/* The text of one contract. Its lines are the lines of the file from text.line on, and its columns the file's
 * columns, except on the first line, where the file's columns are first_line_shift more. */
typedef struct cupel_contract_text {
    cupel_span text;
    int first_line_shift;
} cupel_contract_text;

/* Parses one document. Errors, with places: bad YAML, tabs, anchors, aliases, tags, duplicate keys, a second
 * document, and entries that a comma inside parentheses has split, with the quoted form that is needed. */
CUPEL_MUST_USE cupel_code cupel_contract_yaml(const cupel_contract_text *source, cupel_arena *arena,
                                              cupel_yaml **out, cupel_error *err);

/* The value of a key; NULL when the map has none. */
const cupel_yaml *cupel_contract_yaml_get(const cupel_yaml *map, const char *key);

/* What a node is, for messages: "'text'", "nothing", "[a, b]", "a list", "a map". In arena. */
const char *cupel_contract_yaml_found(const cupel_yaml *node, cupel_arena *arena);

#endif
