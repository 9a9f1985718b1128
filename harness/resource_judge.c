/* Every limit of every launch, asked over the whole claimed range on every device. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resource_use.h"

/* The tensors of a named shape fit a large device; boxes of one question, and of all together, so that a
 * check spends a fraction of a second on contracts that resist. */
enum { BOXES = 3000, BOXES_ALL = 60000, BINDINGS_MAX = 64, ASKED_MAX = 1024 };

static const int64_t memory = INT64_C(80) << 30;

/* Questions that differ in nothing are asked once. */
typedef struct asked {
    int launch;
    cupel_limit limit;
    cupel_limit_question question;
    int types[CUPEL_TYPE_MAX];
    int64_t dims[CUPEL_DIM_MAX]; /* those that are pinned */
} asked;

typedef struct judging {
    const cupel_contract *contract;
    cupel_resources *resources;
    cupel_limit_break *breaks;
    cupel_arena *arena;
    bool types_matter; /* a launch or condition depends on the size of a type */
    uint32_t pinned; /* dims that are claimed as lists and named by an entry: each value is another kernel */
    int break_count, boxes, asked_count;
    asked *asked;
} judging;

void cupel_resources_name(const cupel_contract *contract, cupel_limit limit, int launch, char *text,
                          size_t size) {
    if (contract->launch_count > 1)
        snprintf(text, size, "%s-%d", cupel_limit_name(limit), launch + 1);
    else
        snprintf(text, size, "%s", cupel_limit_name(limit));
}

bool cupel_resources_parse(const cupel_contract *contract, const char *name, cupel_limit *limit,
                           int *launch) {
    char own[64];
    for (*launch = 0; *launch < contract->launch_count; ++*launch)
        for (int i = 0; i < CUPEL_LIMIT_COUNT; i++) {
            *limit = (cupel_limit)i;
            cupel_resources_name(contract, *limit, *launch, own, sizeof own);
            if (strcmp(name, own) == 0) return true;
        }
    return false;
}

static const char signature_prefix[] = "refused-";

bool cupel_resources_is_limit(const char *signature) {
    return strncmp(signature, signature_prefix, sizeof signature_prefix - 1) == 0;
}

bool cupel_resources_replay(const cupel_contract *contract, const cupel_executor_options *options,
                            const cupel_binding *binding, const char *signature, cupel_resources *resources,
                            char *text, size_t size) {
    static const double patience = 120;
    cupel_limit limit;
    int launch;
    bool known = cupel_resources_is_limit(signature) &&
                 cupel_resources_parse(contract, signature + sizeof signature_prefix - 1, &limit, &launch);
    cupel_resources_wait(cupel_resources_start(contract, options), contract, patience, NULL, resources);
    return known && cupel_resources_refuse(contract, resources, binding, launch, limit, text, size);
}

/* ---- needs of a launch's kernel ---- */

static const cupel_compiled *find_compiled(const cupel_resources *r, int architecture, const char *entry) {
    for (int i = 0; i < r->count; i++)
        if ((r->compiled[i].architecture == architecture || r->compiled[i].architecture == 0) &&
            strncmp(r->compiled[i].entry, entry, sizeof r->compiled[i].entry - 1) == 0)
            return &r->compiled[i];
    return NULL;
}

/* The question about a launch at a binding, with what is known of the kernel that it names there. */
static cupel_limit_question question_of(const cupel_contract *contract, const cupel_resources *resources,
                                        const cupel_binding *binding, int launch, int architecture,
                                        cupel_arena *arena) {
    cupel_limit_question q = {
        .contract = contract, .launch = launch, .device = cupel_device_limits_of(architecture)};
    char *entry;
    if (cupel_binding_entry(binding, &contract->launches[launch], arena, &entry, NULL) != CUPEL_OK) return q;
    const cupel_compiled *made = find_compiled(resources, architecture, entry);
    if (made)
        q.needs = (cupel_kernel_needs){
            .registers = made->registers, .max_threads = made->max_threads, .static_shared = made->shared};
    return q;
}

bool cupel_resources_refuse(const cupel_contract *contract, const cupel_resources *resources,
                            const cupel_binding *binding, int launch, cupel_limit limit, char *text,
                            size_t size) {
    cupel_arena *arena = cupel_arena_create(0);
    bool refused = false;
    for (int i = 0; arena && i < resources->architecture_count && !refused; i++) {
        cupel_limit_value value;
        cupel_limit_question q =
            question_of(contract, resources, binding, launch, resources->architectures[i], arena);
        char *entry = NULL;
        refused = cupel_resources_refused(&q, binding, limit, &value);
        if (refused && text &&
            cupel_binding_entry(binding, &contract->launches[launch], arena, &entry, NULL) == CUPEL_OK)
            cupel_resources_describe(&q, entry, limit, &value, text, size);
    }
    cupel_arena_free(arena);
    return refused;
}

/* ---- questions ---- */

static cupel_code note_sizeof(void *self, cupel_scalar_query query, const char *name, cupel_span place,
                              cupel_error *err) {
    (void)name, (void)place, (void)err;
    bool *found = self;
    *found = *found || query == CUPEL_SCALAR_ASKS_SIZEOF;
    return CUPEL_OK;
}

static bool asks_for_size(const cupel_scalar_expr *expr) {
    bool found = false;
    if (expr) (void)!cupel_scalar_queries(expr, note_sizeof, &found, NULL);
    return found;
}

static bool types_matter(const cupel_contract *c) {
    bool found = false;
    for (int i = 0; i < c->let_count; i++) found = found || asks_for_size(c->lets[i].expr);
    for (int i = 0; i < c->require_count; i++) found = found || asks_for_size(c->requires_[i]);
    for (int l = 0; l < c->launch_count; l++) {
        const cupel_launch *launch = &c->launches[l];
        for (int i = 0; i < launch->grid_rank; i++) found = found || asks_for_size(launch->grid[i]);
        for (int i = 0; i < launch->block_rank; i++) found = found || asks_for_size(launch->block[i]);
        found = found || asks_for_size(launch->shared) || asks_for_size(launch->skip_if);
    }
    return found;
}

static bool same_dims(const judging *j, const int64_t *a, const int64_t *b) {
    for (int i = 0; i < j->contract->dim_count; i++)
        if ((j->pinned >> i & 1) && a[i] != b[i]) return false;
    return true;
}

static bool asked_before(judging *j, const cupel_limit_question *q, cupel_limit limit,
                         const cupel_binding *base) {
    for (int i = 0; i < j->asked_count; i++) {
        const asked *a = &j->asked[i];
        if (a->launch == q->launch && a->limit == limit && a->question.device == q->device &&
            a->question.pinned == q->pinned && (!q->pinned || same_dims(j, a->dims, base->dims)) &&
            memcmp(&a->question.needs, &q->needs, sizeof q->needs) == 0 &&
            (!j->types_matter || memcmp(a->types, base->types, sizeof a->types) == 0))
            return true;
    }
    if (j->asked_count == ASKED_MAX) return true;
    asked *a = &j->asked[j->asked_count++];
    *a = (asked){.launch = q->launch, .limit = limit, .question = *q};
    memcpy(a->types, base->types, sizeof a->types);
    memcpy(a->dims, base->dims, sizeof a->dims);
    return false;
}

/* Limits of the block imply one another: the first that is broken is told. */
static bool about_threads(cupel_limit limit) {
    return limit >= CUPEL_LIMIT_BLOCK_X && limit <= CUPEL_LIMIT_REGISTERS;
}

static bool broken_before(const judging *j, int launch, cupel_limit limit) {
    for (int i = 0; i < j->break_count; i++)
        if (j->breaks[i].launch == launch &&
            (j->breaks[i].limit == limit || (about_threads(limit) && about_threads(j->breaks[i].limit))))
            return true;
    return false;
}

static bool needs_matter(cupel_limit limit) {
    return limit == CUPEL_LIMIT_LAUNCH_BOUNDS || limit == CUPEL_LIMIT_REGISTERS ||
           limit == CUPEL_LIMIT_SHARED || limit == CUPEL_LIMIT_RESIDENT;
}

static void add_note(judging *j, const char *what, const cupel_limit_question *q, cupel_limit limit) {
    if (j->resources->note[0]) return;
    snprintf(j->resources->note, sizeof j->resources->note, "%s of launch %d on %s: %s",
             cupel_limit_name(limit), q->launch + 1, q->device->name, what);
}

/* A witness may name another kernel than the one whose needs were asked about. */
static void add_break(judging *j, const cupel_limit_question *q, cupel_limit limit,
                      const cupel_binding *witness) {
    cupel_limit_value value;
    char *entry;
    cupel_limit_question own =
        question_of(j->contract, j->resources, witness, q->launch, q->device->architecture, j->arena);
    if (!cupel_resources_refused(&own, witness, limit, &value) ||
        cupel_binding_entry(witness, &j->contract->launches[q->launch], j->arena, &entry, NULL) != CUPEL_OK) {
        j->resources->unproven++;
        add_note(j, "not proven for every kernel", q, limit);
        return;
    }
    if (j->break_count == CUPEL_BREAKS_MAX) return;
    cupel_limit_break *found = &j->breaks[j->break_count++];
    *found = (cupel_limit_break){
        .limit = limit, .launch = q->launch, .architecture = q->device->architecture, .witness = *witness};
    cupel_resources_describe(&own, entry, limit, &value, found->text, sizeof found->text);
}

static void ask(judging *j, const cupel_limit_question *q, cupel_limit limit, const cupel_binding *base) {
    cupel_binding witness;
    if (asked_before(j, q, limit, base) || broken_before(j, q->launch, limit)) return;
    cupel_resources *r = j->resources;
    int boxes = j->boxes < BOXES ? j->boxes : BOXES, looked = 0;
    r->asked++;
    switch (cupel_resources_ask(q, limit, base, memory, boxes, &witness, &looked)) {
    case CUPEL_LIMIT_HOLDS: r->proven++; break;
    case CUPEL_LIMIT_BROKEN: add_break(j, q, limit, &witness); break;
    case CUPEL_LIMIT_BEYOND:
        r->beyond++;
        add_note(j, "broken only by shapes whose tensors exceed 80 GiB", q, limit);
        break;
    case CUPEL_LIMIT_UNPROVEN:
        r->unproven++;
        add_note(j, "not proven for every shape", q, limit);
        break;
    }
    j->boxes -= looked;
}

static void ask_launch(judging *j, const cupel_binding *base, int launch, int architecture) {
    cupel_limit_question q = question_of(j->contract, j->resources, base, launch, architecture, j->arena);
    for (int limit = 0; limit < CUPEL_LIMIT_COUNT; limit++) {
        cupel_limit_question asked = q;
        bool unknown = (limit == CUPEL_LIMIT_RESIDENT && !j->contract->launches[launch].cooperative) ||
                       (limit == CUPEL_LIMIT_LAUNCH_BOUNDS && !q.needs.max_threads) ||
                       (limit == CUPEL_LIMIT_REGISTERS && !q.needs.registers);
        if (unknown) continue;
        if (needs_matter((cupel_limit)limit))
            asked.pinned = j->pinned;
        else
            asked.needs = (cupel_kernel_needs){0};
        ask(j, &asked, (cupel_limit)limit, base);
    }
}

static bool names_dim(const cupel_contract *c, const char *dim) {
    size_t length = strlen(dim);
    for (int l = 0; l < c->launch_count; l++)
        for (const char *at = c->launches[l].entry; (at = strchr(at, '$')); at++)
            if (strncmp(at + 1, dim, length) == 0 && !isalnum((unsigned char)at[length + 1]) &&
                at[length + 1] != '_')
                return true;
    return false;
}

static uint32_t pinned_dims(const cupel_contract *c) {
    uint32_t pinned = 0;
    for (int i = 0; i < c->dim_count; i++)
        if (c->dims[i].value_count > 1 && names_dim(c, c->dims[i].name)) pinned |= UINT32_C(1) << i;
    return pinned;
}

/* The next combination of types and of pinned dims. */
static bool next_variant(const judging *j, cupel_binding *binding) {
    const cupel_contract *c = j->contract;
    for (int i = 0; i < c->type_count; i++) {
        if (++binding->types[i] < c->types[i].count) return true;
        binding->types[i] = 0;
    }
    for (int i = 0; i < c->dim_count; i++) {
        const cupel_dim *dim = &c->dims[i];
        if (!(j->pinned >> i & 1)) continue;
        int at = 0;
        while (at < dim->value_count && dim->values[at] != binding->dims[i]) at++;
        bool more = at + 1 < dim->value_count;
        binding->dims[i] = dim->values[more ? at + 1 : 0];
        if (more) return true;
    }
    return false;
}

int cupel_resources_judge(const cupel_contract *contract, cupel_resources *resources,
                          cupel_limit_break breaks[CUPEL_BREAKS_MAX]) {
    judging j = {.contract = contract,
                 .resources = resources,
                 .breaks = breaks,
                 .boxes = BOXES_ALL,
                 .types_matter = types_matter(contract),
                 .arena = cupel_arena_create(0),
                 .asked = calloc(ASKED_MAX, sizeof *j.asked)};
    cupel_binding base;
    j.pinned = pinned_dims(contract);
    if (!contract->host && j.arena && j.asked && cupel_binding_ordinary(contract, &base, NULL) == CUPEL_OK)
        for (int n = 0; n < BINDINGS_MAX; n++) {
            for (int d = 0; n == 0 && d < contract->dim_count; d++)
                if (j.pinned >> d & 1) base.dims[d] = contract->dims[d].values[0];
            (void)!cupel_binding_complete(&base, NULL); /* lets that entries name */
            for (int i = 0; i < resources->architecture_count; i++)
                for (int l = 0; l < contract->launch_count; l++)
                    ask_launch(&j, &base, l, resources->architectures[i]);
            if (!next_variant(&j, &base)) break;
        }
    free(j.asked);
    cupel_arena_free(j.arena);
    return j.break_count;
}
