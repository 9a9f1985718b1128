/* Equal bytes for every variant (`deterministic: across_variants`): the case was run once more with the first
 * variant, under the same schedule and poison. Comparing with the first is enough: equality is transitive. */
#include "judging.h"

#include <stdio.h>
#include <string.h>

/* The output after the run with the first variant; NULL where it cannot be compared: the run did not finish
 * (which is a finding of the cases with that variant), or the output has another size there. */
static const unsigned char *result_of_first(cupel_judging *j, const cupel_output_view *view) {
    const cupel_evidence *e = j->evidence;
    const cupel_case *c = e->first_variant_case;
    const cupel_case_tensor *t = &c->tensors[view->tensor];
    if (e->first_variant->outcome != CUPEL_RUN_FINISHED || t->count != view->count) return NULL;
    unsigned char *bytes = cupel_arena_raw(j->arena, (size_t)t->count + 1, view->size);
    if (bytes) cupel_case_gather(c, view->tensor, e->first_variant->buffers[t->buffer].bytes, bytes);
    return bytes;
}

/* Do the inputs hold the same elements? A range or a shape may hang on a tuning constant. */
static bool same_inputs(const cupel_evidence *e) {
    for (int t = 0; t < e->c->tensor_count; t++) {
        const cupel_case_tensor *a = &e->c->tensors[t], *b = &e->first_variant_case->tensors[t];
        if (!(e->c->contract->tensors[t].roles & CUPEL_ROLE_INPUT)) continue;
        if (a->count != b->count || a->rank != b->rank || memcmp(a->shape, b->shape, sizeof a->shape) != 0 ||
            memcmp(a->values, b->values, (size_t)a->count * cupel_format_of(a->type)->size) != 0)
            return false;
    }
    return true;
}

static int64_t first_difference(const cupel_output_view *view, const unsigned char *first) {
    for (int64_t i = 0; i < view->count; i++) {
        const bool kept = view->allowed && (view->allowed->classes[i] & CUPEL_KEEP);
        if (!kept && !cupel_view_excused(view, i) &&
            !cupel_elements_equal(view->output->type, cupel_view_element(view, 0, i),
                                  first + (size_t)i * view->size))
            return i;
    }
    return -1;
}

/* "BLOCK=128 ROWS=2" */
static void name_variant(const cupel_binding *binding, char *text, size_t size) {
    const cupel_contract *c = binding->contract;
    size_t used = 0;
    for (int d = c->dim_count - c->variant_count; d < c->dim_count && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%lld", used ? " " : "", c->dims[d].name,
                                 (long long)binding->dims[d]);
}

static void add(cupel_judging *j, cupel_output_view *view, int64_t i, const unsigned char *first) {
    cupel_finding *finding = cupel_judging_add(j, CUPEL_FINDING_VARIANTS);
    char where[128], mine[64], theirs[64], variant[160], base[160];
    if (!finding) return;
    const unsigned char *got = cupel_view_element(view, 0, i);
    cupel_judging_element(view, i, got, finding);
    cupel_judging_where(view->output->name, view->output->rank, view->output->shape, i, where, sizeof where);
    cupel_judging_number(view->output->type, cupel_decode(view->output->type, got), mine, sizeof mine);
    cupel_judging_number(view->output->type, cupel_decode(view->output->type, first + (size_t)i * view->size),
                         theirs, sizeof theirs);
    name_variant(&j->evidence->c->binding, variant, sizeof variant);
    name_variant(&j->evidence->first_variant_case->binding, base, sizeof base);
    finding->wrong_elements = 0;
    for (int64_t k = 0; k < view->count; k++)
        finding->wrong_elements += !cupel_elements_equal(view->output->type, cupel_view_element(view, 0, k),
                                                         first + (size_t)k * view->size);
    snprintf(finding->text, sizeof finding->text,
             "%s is %s with %s and %s with %s, other bytes on the same inputs", where, mine, variant, theirs,
             base);
    cupel_judging_keep(j, finding);
}

void cupel_gate_variants(cupel_judging *j) {
    const cupel_evidence *e = j->evidence;
    int64_t compared = 0;
    if (!e->first_variant || !e->first_variant_case || !same_inputs(e)) return;
    for (int v = 0; v < j->view_count; v++) {
        cupel_output_view *view = &j->views[v];
        const unsigned char *first = view->after[0] ? result_of_first(j, view) : NULL;
        if (!first) continue;
        compared += view->count;
        const int64_t i = first_difference(view, first);
        if (i >= 0) add(j, view, i, first);
    }
    if (!compared) return;
    cupel_judging_tally(j, CUPEL_GATE_ORD_02, compared, compared);
    if (j->determinism_counted && j->scoreboard)
        j->scoreboard->gates[CUPEL_GATE_ORD_02].cases--; /* one case */
}
