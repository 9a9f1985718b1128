#include "graph_emit.h"

#include <assert.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

#include "philox.h"

/* A thousand operations by hand are many; a gradient of a gradient doubles them each time. */
enum { NODE_LIMIT = 20000 };
static const int64_t ELEMENT_LIMIT = INT64_C(1) << 40;

static const char *const op_names[] = {
#define NAME(name, text, family) [CUPEL_OP_##name] = text,
    CUPEL_PRIMITIVES(NAME)
#undef NAME
};

const char *cupel_op_name(cupel_op op) {
    return op_names[op];
}

uint32_t cupel_philox_word(int64_t seed, int64_t index) {
    const uint64_t position = (uint64_t)index, key = (uint64_t)seed;
    uint32_t words[4];
    cupel_philox4x32((uint32_t[]){(uint32_t)position, (uint32_t)(position >> 32), 0, 0},
                     (uint32_t[]){(uint32_t)key, (uint32_t)(key >> 32)}, words);
    return words[0];
}

int cupel_emit_fail(cupel_builder *b, cupel_code code, cupel_span place, const char *format, ...) {
    if (b->code != CUPEL_OK) return -1;
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    b->code = cupel_fail_span(b->err, code, place, "%s", text);
    return -1;
}

static int out_of_memory(cupel_builder *b) {
    return cupel_emit_fail(b, CUPEL_MEMORY, b->place, "out of memory");
}

const char *cupel_emit_shape_text(cupel_builder *b, int rank, const int64_t *shape) {
    char text[CUPEL_RANK_MAX * 24 + 4] = "[";
    size_t used = 1;
    for (int i = 0; i < rank; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%lld", i ? ", " : "", (long long)shape[i]);
    const char *copy = cupel_arena_printf(b->arena, "%s]", text);
    return copy ? copy : "[...]";
}

/* ---- sharing ---- */

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash ^= value;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t hash_of(const cupel_node *n) {
    uint64_t h = mix((uint64_t)n->op, (uint64_t)n->kind);
    h = mix(h, (uint64_t)n->rank);
    for (int i = 0; i < n->rank; i++) h = mix(mix(h, (uint64_t)n->shape[i]), (uint64_t)n->stride[i]);
    for (int i = 0; i < n->arg_count; i++) h = mix(h, (uint64_t)n->args[i]);
    h = mix(mix(h, (uint64_t)n->input), bits_of(n->number));
    h = mix(mix(h, (uint64_t)n->integer), (uint64_t)n->offset);
    return mix(mix(h, (uint64_t)n->axis), (uint64_t)n->type);
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool equal(const cupel_node *a, const cupel_node *b) {
    size_t axes = (size_t)a->rank * sizeof *a->shape;
    return a->op == b->op && a->kind == b->kind && a->rank == b->rank && a->arg_count == b->arg_count &&
           memcmp(a->shape, b->shape, axes) == 0 && memcmp(a->stride, b->stride, axes) == 0 &&
           memcmp(a->before, b->before, axes) == 0 &&
           (a->arg_count == 0 || memcmp(a->args, b->args, (size_t)a->arg_count * sizeof *a->args) == 0) &&
           a->input == b->input && bits_of(a->number) == bits_of(b->number) &&
           same_text(a->digits, b->digits) && a->integer == b->integer && a->step == b->step &&
           a->offset == b->offset && a->axis == b->axis && a->type == b->type &&
           a->in_statistic == b->in_statistic;
}

/* The slot that holds node's equal, or the free one where it belongs. */
static int *find_slot(cupel_builder *b, const cupel_node *node) {
    size_t at = hash_of(node) & (uint64_t)(b->slot_count - 1);
    while (b->slots[at] >= 0 && !equal(&b->nodes[b->slots[at]], node))
        at = (at + 1) & (size_t)(b->slot_count - 1);
    return &b->slots[at];
}

static bool grow(cupel_builder *b) {
    int capacity = b->capacity ? 2 * b->capacity : 64;
    cupel_node *nodes = cupel_arena_alloc(b->arena, (size_t)capacity * sizeof *nodes);
    int *slots = cupel_arena_raw(b->arena, (size_t)capacity * 4, sizeof *slots);
    if (!nodes || !slots) return false;
    if (b->count) memcpy(nodes, b->nodes, (size_t)b->count * sizeof *nodes);
    for (int i = 0; i < capacity * 4; i++) slots[i] = -1;
    b->nodes = nodes;
    b->capacity = capacity;
    b->slots = slots;
    b->slot_count = capacity * 4;
    for (int i = 0; i < b->count; i++) *find_slot(b, &b->nodes[i]) = i;
    return true;
}

static bool count_elements(cupel_node *node) {
    node->count = 1;
    for (int i = 0; i < node->rank; i++)
        if (__builtin_mul_overflow(node->count, node->shape[i], &node->count)) return false;
    return node->count <= ELEMENT_LIMIT;
}

int cupel_emit_add(cupel_builder *b, cupel_node node, int arg_count, const int *args) {
    if (b->code != CUPEL_OK) return -1;
    for (int i = 0; i < arg_count; i++)
        if (args[i] < 0) return -1;
    if (!count_elements(&node))
        return cupel_emit_fail(b, CUPEL_RANGE, b->place, "expected at most 2^40 elements, found the shape %s",
                               cupel_emit_shape_text(b, node.rank, node.shape));
    if (b->count >= NODE_LIMIT)
        return cupel_emit_fail(b, CUPEL_RANGE, b->place,
                               "expected at most %d operations in a postcondition (each nested vjp "
                               "doubles them)",
                               NODE_LIMIT);
    node.in_statistic = node.op == CUPEL_OP_SUM && b->statistic > 0;
    node.place = b->place;
    node.arg_count = arg_count;
    int local[8], *copy = local;
    if (arg_count > 8) copy = cupel_arena_alloc(b->arena, (size_t)arg_count * sizeof *copy);
    if (!copy) return out_of_memory(b);
    for (int i = 0; i < arg_count; i++) copy[i] = args[i];
    node.args = copy;
    if (b->count == b->capacity && !grow(b)) return out_of_memory(b);
    int *slot = find_slot(b, &node);
    if (*slot >= 0) return *slot;
    node.args = cupel_arena_alloc(b->arena, (size_t)arg_count * sizeof *node.args);
    if (!node.args) return out_of_memory(b);
    for (int i = 0; i < arg_count; i++) node.args[i] = args[i];
    b->nodes[b->count] = node;
    *slot = b->count;
    return b->count++;
}

/* ---- constants ---- */

/* NULL when the double is the exact value of the digits. */
static const char *needed_digits(const char *digits) {
    mpfr_t exact;
    mpfr_init2(exact, 2400);
    char *end;
    int inexact = mpfr_strtofr(exact, digits, &end, 10, MPFR_RNDN);
    bool fits = !inexact && mpfr_cmp_d(exact, mpfr_get_d(exact, MPFR_RNDN)) == 0;
    mpfr_clear(exact);
    return fits ? NULL : digits;
}

int cupel_emit_real(cupel_builder *b, double number, const char *digits) {
    if (digits && strcmp(digits, "pi") != 0 && strcmp(digits, "-pi") != 0)
        digits = isfinite(number) ? needed_digits(digits) : NULL;
    return cupel_emit_add(
        b,
        (cupel_node){.op = CUPEL_OP_CONSTANT, .kind = CUPEL_VALUE_REAL, .number = number, .digits = digits},
        0, NULL);
}

int cupel_emit_literal(cupel_builder *b, const char *digits) {
    mpfr_t value;
    mpfr_init2(value, 53);
    mpfr_strtofr(value, digits, NULL, 10, MPFR_RNDN);
    double number = mpfr_get_d(value, MPFR_RNDN);
    mpfr_clear(value);
    return cupel_emit_real(b, number, digits);
}

int cupel_emit_integer(cupel_builder *b, int64_t integer) {
    return cupel_emit_add(
        b,
        (cupel_node){
            .op = CUPEL_OP_CONSTANT, .kind = CUPEL_VALUE_INT, .integer = integer, .number = (double)integer},
        0, NULL);
}

int cupel_emit_truth(cupel_builder *b, bool truth) {
    return cupel_emit_add(
        b, (cupel_node){.op = CUPEL_OP_CONSTANT, .kind = CUPEL_VALUE_BOOL, .integer = truth, .number = truth},
        0, NULL);
}

int cupel_emit_keep(cupel_builder *b, cupel_value_kind kind) {
    return cupel_emit_add(b, (cupel_node){.op = CUPEL_OP_KEEP, .kind = kind}, 0, NULL);
}

int cupel_emit_iota(cupel_builder *b, int64_t first, int64_t step, int64_t count) {
    return cupel_emit_add(b,
                          (cupel_node){.op = CUPEL_OP_IOTA,
                                       .kind = CUPEL_VALUE_INT,
                                       .rank = 1,
                                       .shape = {count},
                                       .integer = first,
                                       .step = step},
                          0, NULL);
}

/* ---- kinds ---- */

/* A node like x (same shape) with another op and kind. */
static int like(cupel_builder *b, cupel_op op, cupel_value_kind kind, cupel_dtype type, int x, int arg_count,
                const int *args) {
    cupel_node node = {.op = op, .kind = kind, .type = type, .rank = b->nodes[x].rank};
    memcpy(node.shape, b->nodes[x].shape, sizeof node.shape);
    return cupel_emit_add(b, node, arg_count, args);
}

static int constant_as_real(cupel_builder *b, int64_t integer) {
    const double number = (double)integer;
    if (fabs(number) <= 0x1p53) return cupel_emit_real(b, number, NULL);
    const char *digits = cupel_arena_printf(b->arena, "%lld", (long long)integer);
    return digits ? cupel_emit_real(b, number, digits) : out_of_memory(b);
}

int cupel_emit_as(cupel_builder *b, cupel_value_kind kind, int x) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    cupel_node from = b->nodes[x];
    if (from.kind == kind) return x;
    bool constant = from.op == CUPEL_OP_CONSTANT && from.rank == 0;
    switch (kind) {
    case CUPEL_VALUE_REAL:
        if (constant) return constant_as_real(b, from.integer);
        return like(b, CUPEL_OP_TOREAL, kind, CUPEL_F64, x, 1, &x);
    case CUPEL_VALUE_INT:
        if (constant && from.kind == CUPEL_VALUE_BOOL) return cupel_emit_integer(b, from.integer);
        return like(b, CUPEL_OP_CAST, kind, CUPEL_I64, x, 1, &x);
    case CUPEL_VALUE_BOOL: break;
    }
    if (constant)
        return cupel_emit_truth(b, from.kind == CUPEL_VALUE_INT ? from.integer != 0 : from.number != 0.0);
    int zero = from.kind == CUPEL_VALUE_REAL ? cupel_emit_real(b, 0.0, NULL) : cupel_emit_integer(b, 0);
    return cupel_emit_binary(b, CUPEL_OP_NE, x, zero);
}

int cupel_emit_cast(cupel_builder *b, cupel_dtype type, int x) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    switch (cupel_format_of(type)->kind) {
    case CUPEL_KIND_REAL: return like(b, CUPEL_OP_CAST, CUPEL_VALUE_REAL, type, x, 1, &x);
    case CUPEL_KIND_SIGNED:
    case CUPEL_KIND_UNSIGNED: return like(b, CUPEL_OP_CAST, CUPEL_VALUE_INT, type, x, 1, &x);
    case CUPEL_KIND_BOOLEAN: break;
    }
    return cupel_emit_as(b, CUPEL_VALUE_BOOL, x);
}

/* ---- elementwise ---- */

bool cupel_emit_common(int rank_x, const int64_t *x, int rank_y, const int64_t *y, int *rank,
                       int64_t *shape) {
    *rank = rank_x > rank_y ? rank_x : rank_y;
    for (int i = 1; i <= *rank; i++) {
        int64_t p = i <= rank_x ? x[rank_x - i] : 1, q = i <= rank_y ? y[rank_y - i] : 1;
        if (p != q && p != 1 && q != 1) return false;
        shape[*rank - i] = p == 1 ? q : p;
    }
    return true;
}

/* Brings x and y to one shape. */
static bool meet(cupel_builder *b, int *x, int *y) {
    const cupel_node *p = &b->nodes[*x], *q = &b->nodes[*y];
    int rank;
    int64_t shape[CUPEL_RANK_MAX];
    if (!cupel_emit_common(p->rank, p->shape, q->rank, q->shape, &rank, shape)) {
        cupel_emit_fail(
            b, CUPEL_CONTRACT, b->place, "expected shapes that broadcast together, found %s and %s",
            cupel_emit_shape_text(b, p->rank, p->shape), cupel_emit_shape_text(b, q->rank, q->shape));
        return false;
    }
    *x = cupel_emit_broadcast(b, *x, rank, shape);
    *y = cupel_emit_broadcast(b, *y, rank, shape);
    return *x >= 0 && *y >= 0;
}

static int negated_constant(cupel_builder *b, const cupel_node *n) {
    if (n->kind == CUPEL_VALUE_INT) return cupel_emit_integer(b, (int64_t)(0 - (uint64_t)n->integer));
    const char *digits = n->digits;
    if (digits) {
        digits = digits[0] == '-' ? digits + 1 : cupel_arena_printf(b->arena, "-%s", digits);
        if (!digits) return out_of_memory(b);
    }
    return cupel_emit_add(
        b,
        (cupel_node){
            .op = CUPEL_OP_CONSTANT, .kind = CUPEL_VALUE_REAL, .number = -n->number, .digits = digits},
        0, NULL);
}

int cupel_emit_unary(cupel_builder *b, cupel_op op, int x) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    cupel_value_kind kind = b->nodes[x].kind, result = CUPEL_VALUE_REAL;
    switch (op) {
    case CUPEL_OP_NOT:
        x = cupel_emit_as(b, CUPEL_VALUE_BOOL, x);
        result = CUPEL_VALUE_BOOL;
        break;
    case CUPEL_OP_ISNAN:
    case CUPEL_OP_ISINF:
    case CUPEL_OP_ISFINITE:
        if (kind != CUPEL_VALUE_REAL) {
            int answer = cupel_emit_truth(b, op == CUPEL_OP_ISFINITE);
            return cupel_emit_broadcast(b, answer, b->nodes[x].rank, b->nodes[x].shape);
        }
        result = CUPEL_VALUE_BOOL;
        break;
    case CUPEL_OP_BITNOT:
        x = cupel_emit_as(b, CUPEL_VALUE_INT, x);
        result = CUPEL_VALUE_INT;
        break;
    case CUPEL_OP_NEG:
    case CUPEL_OP_ABS:
    case CUPEL_OP_SIGN:
    case CUPEL_OP_FLOOR:
    case CUPEL_OP_CEIL:
    case CUPEL_OP_ROUND:
    case CUPEL_OP_TRUNC:
        if (kind == CUPEL_VALUE_REAL) break;
        result = CUPEL_VALUE_INT;
        x = cupel_emit_as(b, CUPEL_VALUE_INT, x);
        if (op >= CUPEL_OP_FLOOR && op <= CUPEL_OP_TRUNC) return x;
        break;
    default: x = cupel_emit_as(b, CUPEL_VALUE_REAL, x); break;
    }
    if (x < 0) return -1;
    if (op == CUPEL_OP_NEG && b->nodes[x].op == CUPEL_OP_CONSTANT && b->nodes[x].kind != CUPEL_VALUE_BOOL)
        return negated_constant(b, &b->nodes[x]);
    return like(b, op, result, CUPEL_F64, x, 1, &x);
}

/* The kind that both arguments take. */
static cupel_value_kind argument_kind(const cupel_builder *b, cupel_op op, int x, int y) {
    cupel_value_kind p = b->nodes[x].kind, q = b->nodes[y].kind;
    bool real = p == CUPEL_VALUE_REAL || q == CUPEL_VALUE_REAL;
    switch (op) {
    case CUPEL_OP_AND:
    case CUPEL_OP_OR: return CUPEL_VALUE_BOOL;
    case CUPEL_OP_BITAND:
    case CUPEL_OP_BITOR:
    case CUPEL_OP_BITXOR:
    case CUPEL_OP_SHL:
    case CUPEL_OP_SHR: return CUPEL_VALUE_INT;
    case CUPEL_OP_DIV:
    case CUPEL_OP_ATAN2: return CUPEL_VALUE_REAL;
    default: return real ? CUPEL_VALUE_REAL : CUPEL_VALUE_INT;
    }
}

int cupel_emit_binary(cupel_builder *b, cupel_op op, int x, int y) {
    if (b->code != CUPEL_OK || x < 0 || y < 0) return -1;
    cupel_value_kind kind = argument_kind(b, op, x, y);
    x = cupel_emit_as(b, kind, x);
    y = cupel_emit_as(b, kind, y);
    if (x < 0 || y < 0 || !meet(b, &x, &y)) return -1;
    bool compares = op == CUPEL_OP_LT || op == CUPEL_OP_LE || op == CUPEL_OP_EQ || op == CUPEL_OP_NE;
    return like(b, op, compares ? CUPEL_VALUE_BOOL : kind, CUPEL_F64, x, 2, (int[]){x, y});
}

int cupel_emit_where(cupel_builder *b, int condition, int x, int y) {
    condition = cupel_emit_as(b, CUPEL_VALUE_BOOL, condition);
    if (b->code != CUPEL_OK || condition < 0 || x < 0 || y < 0) return -1;
    static_assert(CUPEL_VALUE_REAL < CUPEL_VALUE_INT && CUPEL_VALUE_INT < CUPEL_VALUE_BOOL,
                  "widest kind first");
    cupel_value_kind kind_x = b->nodes[x].kind, kind_y = b->nodes[y].kind;
    bool keep_x = b->nodes[x].op == CUPEL_OP_KEEP, keep_y = b->nodes[y].op == CUPEL_OP_KEEP;
    cupel_value_kind kind = keep_y || (!keep_x && kind_x < kind_y) ? kind_x : kind_y;
    x = keep_x ? cupel_emit_keep(b, kind) : cupel_emit_as(b, kind, x);
    y = keep_y ? cupel_emit_keep(b, kind) : cupel_emit_as(b, kind, y);
    if (x < 0 || y < 0 || !meet(b, &x, &y) || !meet(b, &condition, &x) || !meet(b, &x, &y)) return -1;
    return like(b, CUPEL_OP_WHERE, kind, CUPEL_F64, x, 3, (int[]){condition, x, y});
}

int cupel_emit_exclude(cupel_builder *b, int x, int condition) {
    condition = cupel_emit_as(b, CUPEL_VALUE_BOOL, condition);
    if (b->code != CUPEL_OK || x < 0 || condition < 0 || !meet(b, &x, &condition)) return -1;
    return like(b, CUPEL_OP_EXCLUDE, b->nodes[x].kind, CUPEL_F64, x, 2, (int[]){x, condition});
}

int cupel_emit_between(cupel_builder *b, int x, int y, int condition) {
    condition = cupel_emit_as(b, CUPEL_VALUE_BOOL, condition);
    if (b->code != CUPEL_OK || x < 0 || y < 0 || condition < 0) return -1;
    y = cupel_emit_as(b, b->nodes[x].kind, y);
    if (y < 0 || !meet(b, &x, &y) || !meet(b, &x, &condition) || !meet(b, &x, &y)) return -1;
    return like(b, CUPEL_OP_BETWEEN, b->nodes[x].kind, CUPEL_F64, x, 3, (int[]){x, y, condition});
}

/* ---- composites ---- */

int cupel_emit_composite(cupel_builder *b, cupel_composite composite) {
    if (b->code != CUPEL_OK || composite.node < 0) return -1;
    if (b->composite_count == b->composite_capacity) {
        const int capacity = b->composite_capacity ? 2 * b->composite_capacity : 16;
        cupel_composite *grown = cupel_arena_alloc(b->arena, (size_t)capacity * sizeof *grown);
        if (!grown) return out_of_memory(b);
        if (b->composite_count) memcpy(grown, b->composites, (size_t)b->composite_count * sizeof *grown);
        b->composites = grown;
        b->composite_capacity = capacity;
    }
    b->composites[b->composite_count++] = composite;
    return composite.node;
}
