/* What the readers of a contract's parts share: names and who bears them, messages of one form, simple
 * values. */
#ifndef CUPEL_CONTRACT_READER_H
#define CUPEL_CONTRACT_READER_H

#include "contract.h"
#include "contract_yaml.h"

/* What a name stands for; a set of them says which names an expression may use. */
enum {
    CUPEL_NAME_DIM = 1,
    CUPEL_NAME_LET = 2,
    CUPEL_NAME_TYPE = 4,
    CUPEL_NAME_PARAM = 8,
    CUPEL_NAME_TENSOR = 16,
    CUPEL_NAME_DEFINE = 32
};

enum { CUPEL_READER_NAMES_MAX = 160, CUPEL_DEFINE_MAX = 64, CUPEL_REQUIRE_MAX = 64 };

typedef struct cupel_reader_name {
    const char *name;
    int kind, index;
    cupel_span place;
} cupel_reader_name;

typedef struct cupel_reader {
    cupel_arena *arena;
    cupel_error *err;
    cupel_contract *contract;
    const char *default_source; /* NULL: a contract must name its source */
    int name_count;
    cupel_reader_name names[CUPEL_READER_NAMES_MAX];
} cupel_reader;

/* Fails with CUPEL_CONTRACT at the node: "expected FORMAT, found <the node>". */
cupel_code cupel_reader_expected(cupel_reader *r, const cupel_yaml *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "; did you mean 'NEAREST'?", or "" when no candidate is near. In arena. */
const char *cupel_reader_hint(cupel_reader *r, const char *word, const char *const *candidates, size_t count);

cupel_code cupel_reader_at_most(cupel_reader *r, const cupel_yaml *node, int count, int most,
                                const char *what);
cupel_code cupel_reader_memory(cupel_reader *r);
cupel_code cupel_reader_map(cupel_reader *r, const cupel_yaml *node, const char *what);
cupel_code cupel_reader_list(cupel_reader *r, const cupel_yaml *node, const char *what);
cupel_code cupel_reader_text(cupel_reader *r, const cupel_yaml *node, const char *what);

/* A key of a map that has fixed keys. later: why this version refuses the key, or NULL. */
typedef struct cupel_reader_key {
    const char *name, *later;
} cupel_reader_key;
/* Every key of the map is one of those listed, and none that a later version brings. */
cupel_code cupel_reader_keys(cupel_reader *r, const cupel_yaml *map, const char *of,
                             const cupel_reader_key *keys, size_t count);

/* One of the words; *out gets its index. */
cupel_code cupel_reader_choice(cupel_reader *r, const cupel_yaml *node, const char *const *words,
                               size_t count, int *out);
cupel_code cupel_reader_flag(cupel_reader *r, const cupel_yaml *node, bool *out);
/* A finite number, written as in C. *integral (may be NULL): written as an integer. */
cupel_code cupel_reader_number(cupel_reader *r, const cupel_yaml *node, const char *what, double *out,
                               bool *integral);
/* inf, -inf and nan as well. */
cupel_code cupel_reader_value(cupel_reader *r, const cupel_yaml *node, const char *what, double *out,
                              bool *integral);
/* An integer in lo..hi, from a part of a node's text. */
cupel_code cupel_reader_integer(cupel_reader *r, cupel_span text, const char *what, int64_t lo, int64_t hi,
                                int64_t *out);

/* Gives a name its meaning. Errors: no identifier, reserved, already borne by something else. */
cupel_code cupel_reader_declare(cupel_reader *r, const cupel_yaml *key, int kind, int index);
const cupel_reader_name *cupel_reader_find(const cupel_reader *r, const char *name);
/* Fails because a name is unknown or stands for something that may not be used here. */
cupel_code cupel_reader_unknown(cupel_reader *r, cupel_span place, const char *name, int allowed);

/* An element type of the language. */
cupel_code cupel_reader_dtype(cupel_reader *r, cupel_span place, const char *name, cupel_dtype *out);

/* A scalar expression whose names are among the allowed kinds; stride() and size() need CUPEL_NAME_TENSOR. */
cupel_code cupel_reader_scalar(cupel_reader *r, cupel_span text, int allowed, cupel_scalar_expr **out);
cupel_code cupel_reader_scalar_node(cupel_reader *r, const cupel_yaml *node, const char *what, int allowed,
                                    cupel_scalar_expr **out);

/* A tensor expression whose names are inputs, numbers, defines, element types, and `keep` if allowed. */
cupel_code cupel_reader_tensor_expr(cupel_reader *r, const cupel_yaml *node, const char *what, bool keep,
                                    const cupel_expr **out);

/* The parts, in the order in which they must be read. */
cupel_code cupel_contract_read_scope(cupel_reader *r, const cupel_yaml *root);
cupel_code cupel_contract_read_tensors(cupel_reader *r, const cupel_yaml *root);
cupel_code cupel_contract_read_claims(cupel_reader *r, const cupel_yaml *root);
/* Of one launch; all must have the same. */
cupel_code cupel_contract_read_options(cupel_reader *r, const cupel_yaml *launch, bool first);
cupel_code cupel_contract_read_launches(cupel_reader *r, const cupel_yaml *kernel);

/* Keys to struct: the whole of one contract, all but the checks that need a binding. */
cupel_code cupel_contract_read(cupel_reader *r, const cupel_yaml *root);

#endif
