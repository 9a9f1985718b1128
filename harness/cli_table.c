#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "wording.h"

enum { WRONG_MAX = 16, RIGHT_MAX = 8 };

static const char *judgement_text(cupel_judgement judgement) {
    switch (judgement) {
    case CUPEL_ALLOWED: return "";
    case CUPEL_NOT_JUDGED: return "not judged";
    default: return "WRONG";
    }
}

static void print_row(const cupel_allowed *allowed, cupel_dtype working, int64_t index, const void *element,
                      cupel_judgement judgement, FILE *out) {
    char where[128], got[96], set[192], exact[64];
    uint64_t bits = 0;
    memcpy(&bits, element, cupel_format_of(allowed->type)->size);
    cupel_word_index(allowed->name, allowed->rank, allowed->shape, index, where, sizeof where);
    cupel_word_element(allowed->type, bits, got, sizeof got);
    cupel_word_allowed_at(allowed, index, working, set, sizeof set);
    cupel_word_number(CUPEL_F64, allowed->value[index], exact, sizeof exact);
    fprintf(out, "  %-16s %-28s %-40s %-24s %s\n", where, got, set, exact, judgement_text(judgement));
}

/* Two walks: first the wrong elements, then some of the others. */
static void print_output(const cupel_allowed *allowed, cupel_dtype working, const unsigned char *elements,
                         bool all, FILE *out) {
    size_t size = cupel_format_of(allowed->type)->size;
    int64_t wrong = 0, shown = 0;
    fprintf(out, "  %-16s %-28s %-40s %-24s\n", "element", "got", "allowed", "exact");
    for (int walk = 0; walk < 2; walk++) {
        int64_t rows = 0;
        for (int64_t i = 0; i < allowed->count; i++) {
            cupel_judgement judgement = cupel_judge_element(allowed, i, elements + (size_t)i * size);
            bool right = judgement == CUPEL_ALLOWED || judgement == CUPEL_NOT_JUDGED;
            if (right != (walk == 1)) continue;
            wrong += !right;
            if (!all && rows >= (walk ? RIGHT_MAX : WRONG_MAX)) continue;
            print_row(allowed, working, i, elements + (size_t)i * size, judgement, out);
            rows++, shown++;
        }
    }
    if (shown < allowed->count) fprintf(out, "  .. %" PRId64 " more elements\n", allowed->count - shown);
    fprintf(out, "  %s: %" PRId64 " elements, %" PRId64 " judged, %" PRId64 " wrong\n", allowed->name,
            allowed->count, allowed->judged, wrong);
}

void cupel_cli_table(const cupel_contract *contract, const cupel_trial *trial, bool all, FILE *out) {
    const cupel_observation *run = trial->run_count > 0 ? trial->runs[0].observation : NULL;
    if (!trial->graph || !trial->allowed || !trial->c || !run) return;
    for (int o = 0; o < trial->graph->output_count; o++) {
        int tensor = cupel_contract_tensor(contract, trial->graph->outputs[o].name);
        if (tensor < 0) continue;
        const cupel_case_tensor *t = &trial->c->tensors[tensor];
        if (t->buffer >= run->buffer_count || !run->buffers[t->buffer].bytes) continue;
        unsigned char *elements = malloc((size_t)t->count * cupel_format_of(t->type)->size + 1);
        if (!elements) return;
        cupel_case_gather(trial->c, tensor, run->buffers[t->buffer].bytes, elements);
        cupel_dtype working = cupel_binding_rules(&trial->c->binding).working;
        print_output(&trial->allowed[o], working, elements, all, out);
        free(elements);
    }
}
