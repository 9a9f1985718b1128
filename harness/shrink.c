#include "shrink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ERRORS_MAX = 8, SIGNATURE_SIZE = 160 };

double cupel_shrink_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool cupel_shrink_spent(const cupel_shrink *shrink) {
    return shrink->tries >= shrink->max_tries || shrink->errors >= ERRORS_MAX ||
           cupel_shrink_now() >= shrink->deadline;
}

bool cupel_shrink_repair(const cupel_contract *contract, cupel_recipe *candidate) {
    return cupel_recipe_repair(contract, candidate, INT64_C(1) << 40, NULL) == CUPEL_OK;
}

const cupel_finding *cupel_shrink_finding(const cupel_trial *trial, const char *signature) {
    for (int i = 0; i < trial->judged.finding_count; i++) {
        char text[SIGNATURE_SIZE];
        cupel_finding_signature(&trial->judged.findings[i], text, sizeof text);
        if (strcmp(text, signature) == 0) return &trial->judged.findings[i];
    }
    return NULL;
}

/* FNV-1a over the recipe's bytes; 0 marks a free slot. */
uint64_t cupel_shrink_hash(const cupel_contract *contract, const cupel_recipe *recipe) {
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    size_t size = cupel_recipe_encode(contract, recipe, bytes, sizeof bytes);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

static bool seen_slot(uint64_t *table, size_t capacity, uint64_t hash, size_t *slot) {
    size_t at = (size_t)hash & (capacity - 1);
    while (table[at] && table[at] != hash) at = (at + 1) & (capacity - 1);
    *slot = at;
    return table[at] == hash;
}

static bool seen_grow(cupel_shrink *shrink) {
    size_t capacity = shrink->seen_capacity ? shrink->seen_capacity * 2 : 1024;
    uint64_t *table = calloc(capacity, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < shrink->seen_capacity; i++) {
        size_t slot;
        if (shrink->seen[i] && !seen_slot(table, capacity, shrink->seen[i], &slot))
            table[slot] = shrink->seen[i];
    }
    free(shrink->seen);
    shrink->seen = table;
    shrink->seen_capacity = capacity;
    return true;
}

/* Remembers the recipe; true when it was there already. Without memory nothing is remembered: slower, never
 * wrong. */
static bool seen_before(cupel_shrink *shrink, const cupel_recipe *recipe) {
    if (shrink->seen_count * 2 >= shrink->seen_capacity && !seen_grow(shrink)) return false;
    size_t slot;
    uint64_t hash = cupel_shrink_hash(shrink->contract, recipe);
    if (seen_slot(shrink->seen, shrink->seen_capacity, hash, &slot)) return true;
    shrink->seen[slot] = hash;
    shrink->seen_count++;
    return false;
}

static void report_slips(const cupel_shrink *shrink, const cupel_recipe *recipe) {
    if (!shrink->predicate->slipped) return;
    for (int i = 0; i < shrink->trial.judged.finding_count; i++) {
        const cupel_finding *finding = &shrink->trial.judged.findings[i];
        char text[SIGNATURE_SIZE];
        cupel_finding_signature(finding, text, sizeof text);
        if (strcmp(text, shrink->signature) != 0)
            shrink->predicate->slipped(shrink->predicate->self, recipe, finding);
    }
}

static cupel_code run(cupel_shrink *shrink, const cupel_recipe *recipe, cupel_error *err) {
    cupel_arena_reset(shrink->arena);
    memset(&shrink->trial, 0, sizeof shrink->trial);
    shrink->tries++;
    cupel_code code =
        shrink->predicate->try_one(shrink->predicate->self, recipe, shrink->arena, &shrink->trial, err);
    if (code == CUPEL_OK) report_slips(shrink, recipe);
    return code;
}

static void remember_shape(cupel_shrink *shrink) {
    if (shrink->failed_count < CUPEL_SHRINK_FAILED_MAX)
        memcpy(shrink->failed[shrink->failed_count++], shrink->best.dims, sizeof shrink->best.dims);
}

cupel_code cupel_shrink_open(cupel_shrink *shrink, const cupel_contract *contract, const char *signature,
                             const cupel_predicate *predicate, const cupel_recipe *recipe, cupel_error *err) {
    *shrink =
        (cupel_shrink){.contract = contract, .signature = signature, .predicate = predicate, .best = *recipe};
    shrink->arena = cupel_arena_create(0);
    if (!shrink->arena) return cupel_fail(err, CUPEL_MEMORY, "no memory for the minimiser");
    cupel_code code = run(shrink, recipe, err);
    const cupel_finding *finding = code == CUPEL_OK ? cupel_shrink_finding(&shrink->trial, signature) : NULL;
    if (code == CUPEL_OK && !finding)
        code = cupel_fail(err, CUPEL_UNABLE, "the case does not fail with %s", signature);
    if (code != CUPEL_OK) {
        cupel_shrink_close(shrink);
        return code;
    }
    shrink->finding = *finding;
    (void)seen_before(shrink, recipe);
    remember_shape(shrink);
    return CUPEL_OK;
}

void cupel_shrink_close(cupel_shrink *shrink) {
    cupel_arena_free(shrink->arena);
    cupel_arena_free(shrink->best_arena);
    free(shrink->seen);
    shrink->arena = shrink->best_arena = NULL;
    shrink->best_case = NULL;
    shrink->seen = NULL;
}

const cupel_trial *cupel_shrink_try(cupel_shrink *shrink, const cupel_recipe *recipe) {
    if (cupel_shrink_spent(shrink)) return NULL;
    cupel_error err = {0};
    if (run(shrink, recipe, &err) != CUPEL_OK) {
        shrink->errors++;
        return NULL;
    }
    return &shrink->trial;
}

bool cupel_shrink_adopt(cupel_shrink *shrink, const cupel_recipe *recipe, const cupel_trial *trial) {
    const cupel_finding *finding = cupel_shrink_finding(trial, shrink->signature);
    if (!finding || cupel_recipe_compare(shrink->contract, recipe, &shrink->best) >= 0) return false;
    shrink->best = *recipe;
    shrink->finding = *finding;
    shrink->accepted++;
    remember_shape(shrink);
    return true;
}

bool cupel_shrink_consider(cupel_shrink *shrink, const cupel_recipe *candidate) {
    cupel_recipe recipe = *candidate;
    if (cupel_shrink_spent(shrink) || !cupel_shrink_repair(shrink->contract, &recipe)) return false;
    if (cupel_recipe_compare(shrink->contract, &recipe, &shrink->best) >= 0) return false;
    if (seen_before(shrink, &recipe)) return false;
    const cupel_trial *trial = cupel_shrink_try(shrink, &recipe);
    return trial && cupel_shrink_adopt(shrink, &recipe, trial);
}

int64_t cupel_shrink_find_integer(bool (*works)(void *self, int64_t n), void *self, int64_t limit) {
    enum { SMALL_STEPS = 4 };
    int64_t good = 0;
    for (int64_t n = 1; n <= SMALL_STEPS; n++) {
        if (n > limit || !works(self, n)) return good;
        good = n;
    }
    int64_t bad = good * 2;
    while (bad <= limit && works(self, bad)) {
        good = bad;
        bad *= 2;
    }
    if (bad > limit) bad = limit + 1;
    while (bad - good > 1) {
        int64_t middle = good + (bad - good) / 2;
        if (works(self, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

/* ---- values out of the best case ---- */

const double cupel_finite_values[CUPEL_FINITE_COUNT] = {100,  -100,  1e4,      -1e4,
                                                        1e30, -1e30, INFINITY, -INFINITY};

const cupel_case *cupel_shrink_case(cupel_shrink *shrink) {
    if (shrink->best_case_of == shrink->accepted + 1) return shrink->best_case;
    shrink->best_case_of = shrink->accepted + 1;
    shrink->best_case = NULL;
    if (!shrink->best_arena) shrink->best_arena = cupel_arena_create(0);
    if (!shrink->best_arena) return NULL;
    cupel_arena_reset(shrink->best_arena);
    if (cupel_case_materialise(shrink->contract, &shrink->best, shrink->best_arena, &shrink->best_case,
                               NULL) != CUPEL_OK)
        shrink->best_case = NULL;
    return shrink->best_case;
}

static bool is_input(const cupel_shrink *shrink, int tensor) {
    return (shrink->contract->tensors[tensor].roles & CUPEL_ROLE_INPUT) != 0;
}

static double element_of(const cupel_case_tensor *tensor, int64_t i) {
    const unsigned char *values = tensor->values;
    return cupel_decode(tensor->type, values + (size_t)i * cupel_format_of(tensor->type)->size);
}

/* Neither special nor subnormal: a constant of it has no trait. */
static bool is_plain(cupel_dtype type, double value) {
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) return true;
    return isfinite(value) && (value == 0 || fabs(value) >= cupel_format_normal(type));
}

/* The element of an input that the failing one hangs on, as far as sizes tell, and the row around it: of a
 * reduction the elements that are reduced, else along the last axis. */
static void failing_part(const cupel_shrink *shrink, const cupel_case *c, int t, int64_t *at, int64_t *begin,
                         int64_t *end) {
    const cupel_case_tensor *tensor = &c->tensors[t];
    int output = cupel_contract_tensor(shrink->contract, shrink->finding.output_name);
    int64_t outputs = output >= 0 ? c->tensors[output].count : 0;
    int64_t index = shrink->finding.index > 0 && shrink->finding.index < outputs ? shrink->finding.index : 0;
    int64_t last = tensor->rank ? tensor->shape[tensor->rank - 1] : 1;
    bool reduced = outputs > 0 && tensor->count > outputs && tensor->count % outputs == 0;
    int64_t extent = reduced ? tensor->count / outputs : last;
    *at = reduced ? index * extent : index % tensor->count;
    *begin = *at - *at % extent;
    *end = *begin + extent;
}

static bool take_value(const cupel_shrink *shrink, const cupel_case *c, int t, cupel_taken taken,
                       double *value) {
    const cupel_case_tensor *tensor = &c->tensors[t];
    if (tensor->count == 0 || !tensor->values) return false;
    int64_t at, begin = 0, end = tensor->count;
    int64_t row_begin, row_end;
    bool any = false;
    failing_part(shrink, c, t, &at, &row_begin, &row_end);
    if (taken == CUPEL_TAKEN_FAILING) begin = at, end = at + 1;
    if (taken == CUPEL_TAKEN_ROW_SMALLEST || taken == CUPEL_TAKEN_ROW_LARGEST)
        begin = row_begin, end = row_end;
    bool smallest = taken == CUPEL_TAKEN_SMALLEST || taken == CUPEL_TAKEN_ROW_SMALLEST;
    bool largest = taken == CUPEL_TAKEN_LARGEST || taken == CUPEL_TAKEN_ROW_LARGEST;
    for (int64_t i = begin; i < end; i++) {
        double x = element_of(tensor, i);
        if (!is_plain(tensor->type, x)) continue;
        if (!any || (smallest && x < *value) || (largest && x > *value) || taken == CUPEL_TAKEN_LAST)
            *value = x;
        any = true;
    }
    return any;
}

bool cupel_shrink_make_constant(cupel_shrink *shrink, cupel_taken taken, int tensor, cupel_recipe *r) {
    const cupel_case *c = cupel_shrink_case(shrink);
    bool any = false;
    for (int t = 0; c && t < shrink->contract->tensor_count; t++) {
        double value = 0;
        if (!is_input(shrink, t) || (tensor >= 0 && t != tensor) || !take_value(shrink, c, t, taken, &value))
            continue;
        r->tensors[t] = (cupel_tensor_recipe){
            .pattern = CUPEL_PATTERN_CONSTANT, .amplitude = value, .layout = r->tensors[t].layout};
        any = true;
    }
    return any;
}

static bool is_special(cupel_dtype type, double value) {
    return cupel_format_of(type)->kind == CUPEL_KIND_REAL &&
           (!isfinite(value) || (value == 0 && signbit(value)));
}

/* Edits of the tensor that put value where it has special ones; false when there are too many. */
static bool edit_specials(const cupel_case_tensor *from, double value, cupel_tensor_recipe *tensor) {
    int count = 0;
    for (int e = 0; e < tensor->edit_count; e++)
        if (!is_special(from->type, cupel_decode(from->type, &tensor->edits[e].bits)))
            tensor->edits[count++] = tensor->edits[e];
    for (int64_t i = 0; i < from->count; i++) {
        if (!is_special(from->type, element_of(from, i))) continue;
        if (count == CUPEL_EDIT_MAX) return false;
        tensor->edits[count] = (cupel_edit){.index = i};
        cupel_encode(from->type, value, &tensor->edits[count++].bits);
    }
    tensor->edit_count = count;
    tensor->special = CUPEL_SPECIAL_NONE;
    return true;
}

bool cupel_shrink_replace_specials(cupel_shrink *shrink, double value, bool whole, cupel_recipe *r) {
    const cupel_case *c = cupel_shrink_case(shrink);
    bool any = false;
    for (int t = 0; c && t < shrink->contract->tensor_count; t++) {
        const cupel_case_tensor *from = &c->tensors[t];
        bool has = false;
        for (int64_t i = 0; is_input(shrink, t) && from->values && !has && i < from->count; i++)
            has = is_special(from->type, element_of(from, i));
        if (!has) continue;
        any = true;
        double largest = cupel_format_largest(from->type);
        double finite = fmin(fmax(value, -largest), largest);
        if (!whole && edit_specials(from, finite, &r->tensors[t])) continue;
        r->tensors[t] = (cupel_tensor_recipe){
            .pattern = CUPEL_PATTERN_CONSTANT, .amplitude = finite, .layout = r->tensors[t].layout};
    }
    return any;
}
