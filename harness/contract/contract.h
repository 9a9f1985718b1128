/* The checked contract: what a kernel claims (format 1, docs/contract.md). Immutable after loading. */
#ifndef CUPEL_CONTRACT_H
#define CUPEL_CONTRACT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "device_limits.h"
#include "expression.h"
#include "formats.h"
#include "graph.h"
#include "oracle.h"
#include "scalar.h"

enum {
    CUPEL_VARIANT_VALUES_MAX = 16,       /* of one tuning constant */
    CUPEL_VARIANT_COMBINATIONS_MAX = 64, /* of all */
    CUPEL_DIM_MAX = 16,                  /* variants included */
    CUPEL_LET_MAX = 32,
    CUPEL_TYPE_MAX = 8,
    CUPEL_PARAM_MAX = 16,
    CUPEL_TENSOR_MAX = 16, /* inputs, outputs and scratch together */
    CUPEL_ALIAS_MAX = 8,
    CUPEL_LAUNCH_MAX = 16,
    CUPEL_ARG_MAX = 48
};

typedef struct cupel_dim {
    const char *name;
    int64_t lo, hi;  /* inclusive; for a list its extremes */
    int value_count; /* > 0: only these values are claimed, ascending */
    const int64_t *values;
    /* A tuning constant (`variants`): a listed dim of which no claim depends on the value. The one that is
     * written first is the simplest. */
    bool variant;
    int64_t first;
} cupel_dim;

typedef struct cupel_let {
    const char *name;
    cupel_scalar_expr *expr;
} cupel_let;

typedef struct cupel_type_variable {
    const char *name;
    int count;
    cupel_dtype claimed[CUPEL_DTYPE_COUNT]; /* the first is the base type */
} cupel_type_variable;

typedef enum cupel_param_kind { CUPEL_PARAM_FIXED, CUPEL_PARAM_RANGE, CUPEL_PARAM_ONE_OF } cupel_param_kind;
typedef struct cupel_param {
    const char *name;
    cupel_param_kind kind;
    double lo, hi; /* RANGE; FIXED: both the value */
    int value_count;
    const double *values; /* ONE_OF */
    bool integral;        /* every value was written as an integer */
} cupel_param;

enum { CUPEL_ROLE_INPUT = 1, CUPEL_ROLE_OUTPUT = 2, CUPEL_ROLE_SCRATCH = 4 };

/* Layouts that a tensor may be given in; CONTIGUOUS is always among them. */
enum {
    CUPEL_LAYOUT_PADDED = 1,     /* gaps between rows */
    CUPEL_LAYOUT_TRANSPOSED = 2, /* axes stored in another order */
    CUPEL_LAYOUT_SLICED = 4,     /* starts inside its allocation, steps over elements */
    CUPEL_LAYOUT_EXPANDED = 8,   /* stride 0 along an axis (inputs only) */
    CUPEL_LAYOUT_REVERSED = 16,  /* negative strides */
    CUPEL_LAYOUT_ANY = 31
};

typedef enum cupel_init_kind { CUPEL_INIT_POISON, CUPEL_INIT_EXPRESSION } cupel_init_kind;

typedef struct cupel_tensor_decl {
    const char *name;
    cupel_span place;
    int roles;
    int type_variable; /* index into types, or -1: */
    cupel_dtype type;  /* a plain type */
    int rank;
    cupel_scalar_expr *shape[CUPEL_RANK_MAX];
    int align;          /* bytes; default 256 */
    bool align_element; /* align: element */
    bool has_range, finite, sorted;
    double range_lo, range_hi;
    cupel_scalar_expr *below; /* integers in 0..below-1, or NULL */
    int layouts;              /* CUPEL_LAYOUT_* that are claimed */
    cupel_init_kind init;
    const cupel_expr *init_expr;
    const cupel_expr *ensures; /* outputs */
    bool has_tolerance;
    double tolerance_abs, tolerance_rel;
} cupel_tensor_decl;

typedef struct cupel_define {
    const char *name;
    const cupel_expr *expr;
} cupel_define;

typedef enum cupel_arg_kind { CUPEL_ARG_TENSOR, CUPEL_ARG_NULL, CUPEL_ARG_SCALAR } cupel_arg_kind;
typedef struct cupel_launch_arg {
    cupel_arg_kind kind;
    cupel_span place;
    int tensor;              /* TENSOR */
    cupel_scalar_expr *expr; /* SCALAR */
    bool typed;              /* a type was stated: */
    int type_variable;       /* a variable, or -1 */
    cupel_dtype type;
} cupel_launch_arg;

/* A __constant__ or device variable that gets its content from a tensor before the launch. */
enum { CUPEL_SYMBOL_MAX = 16 };
typedef struct cupel_launch_symbol {
    cupel_span place;
    const char *name; /* as C++ names it: "coef", "filters::taps" */
    int tensor;       /* contiguous */
} cupel_launch_symbol;

typedef struct cupel_launch {
    cupel_span place;
    const char *entry; /* CUDA: name expression with $NAME holes; host: the symbol */
    int arg_count;
    cupel_launch_arg args[CUPEL_ARG_MAX];
    int grid_rank, block_rank;
    cupel_scalar_expr *grid[3], *block[3];
    cupel_scalar_expr *shared;  /* or NULL: 0 */
    cupel_scalar_expr *skip_if; /* or NULL */
    bool cooperative;           /* all blocks resident together; the grid can be synchronised */
    int symbol_count;
    cupel_launch_symbol symbols[CUPEL_SYMBOL_MAX];
} cupel_launch;

/* Options of CUDA's run-time compiler, and what they mean where something else compiles. */
enum { CUPEL_OPTION_MAX = 8 };
typedef enum cupel_fmad { CUPEL_FMAD_UNSAID, CUPEL_FMAD_OFF, CUPEL_FMAD_ON } cupel_fmad;
typedef struct cupel_compiler_options {
    int count;
    const char *items[CUPEL_OPTION_MAX]; /* as they are written: "-fmad=false" */
    cupel_fmad fmad;                     /* whether a * b + c may be, and is, fused */
    bool flushes;                        /* subnormal operands and results of float arithmetic are zeros */
    bool fast_functions;                 /* expf means __expf, and so on */
} cupel_compiler_options;

typedef enum cupel_deterministic {
    CUPEL_DETERMINISTIC_AUTO,
    CUPEL_DETERMINISTIC_TRUE,
    CUPEL_DETERMINISTIC_FALSE,
    CUPEL_DETERMINISTIC_ACROSS_VARIANTS /* TRUE, and equal bytes for every variant */
} cupel_deterministic;

typedef struct cupel_contract {
    const char *id, *about;
    const char *file; /* that holds the contract text */
    int line;
    const char *text; /* the contract text itself */
    size_t text_length;

    int dim_count, let_count, require_count, type_count, param_count, tensor_count, define_count, alias_count,
        launch_count;
    int variant_count; /* of the dims, the last ones: tuning constants */
    cupel_dim dims[CUPEL_DIM_MAX];
    cupel_let lets[CUPEL_LET_MAX];
    cupel_scalar_expr **requires_;
    cupel_type_variable types[CUPEL_TYPE_MAX];
    cupel_param params[CUPEL_PARAM_MAX];
    /* inputs in order, then outputs that are not inputs, then scratch */
    cupel_tensor_decl tensors[CUPEL_TENSOR_MAX];
    cupel_define *defines;
    int aliases[CUPEL_ALIAS_MAX][2]; /* pairs of tensors that may share a buffer */
    cupel_launch launches[CUPEL_LAUNCH_MAX];
    cupel_compiler_options options; /* of all launches */
    bool host;                      /* kernel is {symbol:, args:} */

    bool has_accumulate;
    cupel_dtype accumulate;
    bool has_products; /* operands of matrix products may be rounded or truncated to this type */
    cupel_dtype products;
    bool kinks_any; /* gradients at non-smooth points: anything between the one-sided derivatives */
    bool math_fast; /* default true */
    cupel_subnormal_rule subnormals;
    bool range_safe;
    bool sequential; /* order: sequential */
    cupel_deterministic deterministic;
    int limit_count;                    /* 0: the device at hand, else CUPEL_ARCHITECTURE_DEFAULT */
    int limits[CUPEL_ARCHITECTURE_MAX]; /* architectures: 90 */

    int64_t ordinary[CUPEL_DIM_MAX]; /* dims of the ordinary shape, found when the contract is loaded */

    /* path of the kernel source or shared library, resolved against the contract's folder */
    const char *source;
    int source_line, source_column; /* where the contract names it; 0: it does not */
    int source_define_count, source_include_count;
    cupel_span source_defines_place;
    const char **source_defines;  /* "FLOAT=1", "BLOCK=$BLOCK" */
    const char **source_includes; /* folders */
} cupel_contract;

/* One binding: values for everything a contract leaves open, enough for shapes, graphs and launches. */
typedef struct cupel_binding {
    const cupel_contract *contract;
    int64_t dims[CUPEL_DIM_MAX];
    int64_t lets[CUPEL_LET_MAX]; /* filled in by cupel_binding_complete */
    int types[CUPEL_TYPE_MAX];   /* index into claimed[] */
    double params[CUPEL_PARAM_MAX];
    bool fused; /* built so that a * b + c is rounded once; of what the contract leaves open */
} cupel_binding;

/* Contracts of one file: a .yaml file, or the comments of a source file that start with "cupel: 1". */
typedef struct cupel_contracts {
    int count;
    cupel_contract **items;
} cupel_contracts;

/* Loads and checks every contract in path (.yaml, .yml, or a source file with contracts in block comments, or
 * a source file beside which a .yaml of the same stem stands). Everything lives in arena. The first error is
 * returned with file, line, column, expected and found. A file without any contract is an error. */
CUPEL_MUST_USE cupel_code cupel_contracts_load(const char *path, cupel_arena *arena, cupel_contracts *out,
                                               cupel_error *err);

/* As above, but of several contracts only the one with this id (NULL: all) need be right, as far as the
 * others are YAML; it is then the only one in out. Where no contract has the id, all are loaded. */
CUPEL_MUST_USE cupel_code cupel_contracts_load_chosen(const char *path, const char *id, cupel_arena *arena,
                                                      cupel_contracts *out, cupel_error *err);

/* As cupel_contracts_load, from text in memory (fuzz targets, init). is_yaml: the whole text is one YAML
 * contract. */
CUPEL_MUST_USE cupel_code cupel_contracts_parse(const char *path, const char *text, size_t length,
                                                bool is_yaml, cupel_arena *arena, cupel_contracts *out,
                                                cupel_error *err);

/* Index of a tensor, dim, param, type variable by name; -1 when there is none. */
int cupel_contract_tensor(const cupel_contract *contract, const char *name);
int cupel_contract_dim(const cupel_contract *contract, const char *name);
int cupel_contract_param(const cupel_contract *contract, const char *name);

/* "softmax.cu:7: ensures: {y: ..}": the line in which the contract has this key of its own, or that a span of
 * the contract's text begins in, with its place; false, with out as it was, where there is none. */
bool cupel_contract_quote_key(const cupel_contract *contract, const char *key, char *out, size_t size);
bool cupel_contract_quote_span(const cupel_contract *contract, cupel_span place, char *out, size_t size);

/* The same as whole lines, as they stand and each behind its place: all that the span covers; the key's and
 * those below it that are indented more. */
bool cupel_contract_write_span(const cupel_contract *contract, cupel_span place, FILE *out);
bool cupel_contract_write_key(const cupel_contract *contract, const char *key, FILE *out);

/* Fills in lets. Errors: overflow, division by zero. */
CUPEL_MUST_USE cupel_code cupel_binding_complete(cupel_binding *binding, cupel_error *err);

/* Do the dims lie in their ranges (or lists) and do all conditions of requires hold? False also when one
 * cannot be evaluated. */
bool cupel_binding_legal(const cupel_binding *binding);

/* The element type and shape of a tensor under a binding. Errors: a negative extent, more than 2^40 elements.
 */
cupel_dtype cupel_binding_type(const cupel_binding *binding, int tensor);
CUPEL_MUST_USE cupel_code cupel_binding_shape(const cupel_binding *binding, int tensor,
                                              int64_t shape[CUPEL_RANK_MAX], int64_t *count,
                                              cupel_error *err);

/* Value of a scalar expression under a binding; tensors' strides are those in strides (per tensor, in
 * elements), which may be NULL where the expression cannot mention them. */
CUPEL_MUST_USE cupel_code cupel_binding_scalar(const cupel_binding *binding, const cupel_scalar_expr *expr,
                                               const int64_t (*strides)[CUPEL_RANK_MAX], cupel_scalar *out,
                                               cupel_error *err);

/* The value of a param as a kernel receives it: rounded to the C type of the argument that passes it (float
 * when only untyped and the parameter is not known to be wider). */
double cupel_binding_param(const cupel_binding *binding, int param);

/* The graph of all outputs under a binding, inputs being the tensors with CUPEL_ROLE_INPUT in order. */
CUPEL_MUST_USE cupel_code cupel_binding_graph(const cupel_binding *binding, cupel_arena *arena,
                                              cupel_graph **out, cupel_error *err);

/* The graph of a tensor's init expression alone, over the inputs and numbers; only for expressions that are
 * no plain number. */
CUPEL_MUST_USE cupel_code cupel_binding_init_graph(const cupel_binding *binding, int tensor,
                                                   cupel_arena *arena, cupel_graph **out, cupel_error *err);

/* The oracle's rules for one output of the graph: accumulate (f64 for f64 outputs by default), math,
 * subnormals, range. */
cupel_rules cupel_binding_rules(const cupel_binding *binding);

/* The base binding: base types, and the ordinary shape: every dim the largest power of two in its range, at
 * most 1,024, the largest halved (never below 64) while all tensors together hold more than 65,536 elements
 * or the dims' product exceeds 2^20; the nearest legal shape where requires forbids that. */
CUPEL_MUST_USE cupel_code cupel_binding_ordinary(const cupel_contract *contract, cupel_binding *out,
                                                 cupel_error *err);

/* Is every dim as in the ordinary binding, variants aside; is every type the base type; is every variant the
 * first?
 */
bool cupel_binding_is_ordinary_shape(const cupel_binding *binding);
bool cupel_binding_is_base_type(const cupel_binding *binding);
bool cupel_binding_is_first_variant(const cupel_binding *binding);

/* Sets the variants among a contract's dims to the values that are written first. */
void cupel_variants_first(const cupel_contract *contract, int64_t *dims);

/* 0 for the value of a variant that is written first, then 1, 2, .. in ascending order. */
int cupel_variant_rank(const cupel_dim *dim, int64_t value);

/* The contract's macro number `define`, "NAME=VALUE", with $NAME in its value replaced as in an entry. */
CUPEL_MUST_USE cupel_code cupel_binding_define(const cupel_binding *binding, int define, cupel_arena *arena,
                                               char **out, cupel_error *err);

/* entry with $NAME replaced under a binding, in arena: "softmax<__half>", "tile<64>". */
CUPEL_MUST_USE cupel_code cupel_binding_entry(const cupel_binding *binding, const cupel_launch *launch,
                                              cupel_arena *arena, char **out, cupel_error *err);

#endif
