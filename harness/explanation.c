#include "explanation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution.h"
#include "explain_facts.h"
#include "likely_cause.h"
#include "races.h"
#include "region.h"
#include "wording.h"

static void write_claim(FILE *out, const cupel_bundle *bundle) {
    const cupel_contract *contract = bundle->contract;
    const cupel_finding *finding = bundle->finding;
    fprintf(out, "## What was claimed\n\n");
    if (contract->about && contract->about[0]) fprintf(out, "%s\n\n", contract->about);
    cupel_word_claims(contract, finding, out);
}

/* What NumPy has no type for lies in the .npy files as its bits. */
static void write_stored_types(FILE *out, const cupel_bundle *bundle) {
    const cupel_case *c = bundle->trial ? bundle->trial->c : NULL;
    bool told[CUPEL_DTYPE_COUNT] = {false};
    for (int t = 0; c && t < c->tensor_count; t++) {
        const cupel_format *format = cupel_format_of(c->tensors[t].type);
        if (format->kind != CUPEL_KIND_REAL || format->npy[1] != 'u' || told[c->tensors[t].type]) continue;
        told[c->tensors[t].type] = true;
        fprintf(out, "NumPy has no %s: in the `.npy` files a `uint%zu` element holds the bits of one.\n\n",
                format->name, format->size * 8);
    }
}

static void write_values(FILE *out, const cupel_finding *finding, const cupel_trial *trial) {
    char where[128], got[96], allowed[192], distance[192];
    cupel_word_where(finding, trial, where, sizeof where);
    cupel_word_element(finding->type, finding->got_bits, got, sizeof got);
    cupel_word_allowed(finding->type, &finding->exact, allowed, sizeof allowed);
    cupel_word_distance(finding, distance, sizeof distance);
    fprintf(out, "| | |\n|---|---|\n| element | `%s` |\n| got | `%s` |\n", where, got);
    if (finding->certified)
        fprintf(out, "| allowed | `%s` |\n| exact | `%s` |\n| radius | `%.6g` |\n", allowed,
                finding->exact.digits, finding->exact.radius);
    if (distance[0]) fprintf(out, "| distance | %s |\n", distance);
    fprintf(out, "| wrong elements | %" PRId64 " of %" PRId64 " judged |\n\n", finding->wrong_elements,
            finding->judged_elements);
    if (finding->certified)
        fprintf(out,
                "*Exact* is the claimed expression on these very inputs, computed in MPFR with %d bits; "
                "*allowed* is every result "
                "that some conforming order of evaluation in the declared precision can give.\n\n",
                finding->exact.precision);
}

static void write_place(FILE *out, const cupel_finding *finding) {
    char place[512];
    cupel_word_place(cupel_word_place_of(finding), place, sizeof place);
    if (place[0]) fprintf(out, "Place: `%s`\n\n", place);
    if (finding->has_access)
        fprintf(out,
                "Access: %s of %d bytes, %" PRId64 " times; %" PRId64
                " bytes from the start of the nearest buffer%s%s.\n\n",
                cupel_access_name(finding->access.kind), finding->access.size, finding->access.count,
                finding->access.offset, finding->output_name[0] ? ", " : "", finding->output_name);
    if (finding->has_race) {
        char lines[256];
        cupel_race_describe(&finding->race, lines, sizeof lines);
        if (finding->race.earlier.use == CUPEL_RACE_BARRIER)
            fprintf(out, "Barriers: %s (docs/sanitizer.md).\n\n", lines);
        else
            fprintf(out, "Race: %s; nothing orders the two (docs/sanitizer.md).\n\n", lines);
    }
    if (finding->kind == CUPEL_FINDING_FAULT)
        fprintf(out, "Fault: %s%s.\n\n", cupel_fault_name(finding->fault),
                finding->signal ? " (by a signal)" : "");
}

/* A shadow with one fault that gives the kernel's bits. */
static void write_likely_cause(FILE *out, const cupel_finding *finding) {
    char cause[CUPEL_LIKELY_CAUSE_TEXT];
    cupel_likely_cause_describe(finding, cause, sizeof cause);
    if (cause[0])
        fprintf(out, "Likely cause: %s.%s\n\n", cause,
                finding->cause.race ? "" : " The claimed expression was evaluated with this one fault.");
}

/* Would what the failure needs name the gate by itself? Else the kind of failure, or its likely cause, does.
 */
static void write_gate(FILE *out, const cupel_finding *finding, int traits, const char *region) {
    const char *id = cupel_gate_id(finding->gate), *title = cupel_gate_title(finding->gate);
    const cupel_gate by_need = cupel_gate_by_necessity(CUPEL_FINDING_WRONG_VALUE, CUPEL_FAULT_NONE, traits);
    char needs[256];
    cupel_traits_describe(traits, region, needs, sizeof needs);
    if (traits)
        fprintf(out, "Cannot be removed without removing the failure: %s.", needs);
    else
        fprintf(
            out,
            "It needs %s: no special or subnormal value, no certain type, %slayout or schedule, no earlier "
            "call.",
            needs, cupel_region_is_bounded(region) ? "" : "shape, ");
    if (traits & CUPEL_TRAIT_ORDER)
        fprintf(out, " The same elements in another order along that axis, or equal ones, give an allowed "
                     "result.");
    const unsigned cause = 1u << finding->cause.fault;
    const bool of_cause = (finding->gate == CUPEL_GATE_PRC_02 && (cause & CUPEL_SHADOW_SUM_FAULTS)) ||
                          (finding->gate == CUPEL_GATE_ORD_03 && (cause & CUPEL_SHADOW_ORDER_FAULTS));
    if (of_cause)
        fprintf(out, " It belongs to %s (%s) by its likely cause.\n\n", id, title);
    else if (finding->gate == by_need)
        fprintf(out, " So it belongs to %s (%s).\n\n", id, title);
    else if (finding->gate == CUPEL_GATE_CMP_02)
        fprintf(out, " The output is a gradient, so it belongs to %s (%s).\n\n", id, title);
    else if (finding->gate == CUPEL_GATE_EXC_02)
        fprintf(out, " A zero stands where the exact result is subnormal, so it belongs to %s (%s).\n\n", id,
                title);
    else
        fprintf(out, " A failure of this kind belongs to %s (%s), whatever it needs.\n\n", id, title);
}

static void write_conditions(FILE *out, const cupel_bundle *bundle) {
    const cupel_finding *finding = bundle->finding;
    fprintf(out, "## When it fails\n\n");
    if (finding->kind == CUPEL_FINDING_REFUSED && finding->output_name[0]) {
        fprintf(out,
                "Whatever the values are. The dims are as small as a search among the claimed shapes that "
                "break the limit made them.\n\n");
        return;
    }
    if (!bundle->report) {
        fprintf(out, "Not minimised yet: this is the case as the search found it.\n\n");
        return;
    }
    /* of evidence it was not asked what it needs */
    if (finding->standing == CUPEL_STANDING_PROOF)
        write_gate(out, finding, bundle->report->necessary_traits, bundle->report->region);
    if (bundle->report->region[0]) fprintf(out, "Region: %s.\n\n", bundle->report->region);
    fprintf(out, "%s (%d cases tried, %d steps).\n\n",
            bundle->report->smallest_proved
                ? "No simpler step of the minimiser fails; with these values every smaller value of each "
                  "dim was tried"
                : "The budget ended before every smaller value of each dim was tried with these values",
            bundle->report->tries, bundle->report->accepted);
}

static void write_text(FILE *out, const cupel_bundle *bundle, const char *path, const char *repro) {
    const cupel_finding *finding = bundle->finding;
    char described[512];
    const bool has_case = bundle->trial && bundle->trial->c;
    if (has_case)
        cupel_recipe_describe(bundle->contract, bundle->recipe, described, sizeof described);
    else
        cupel_recipe_describe_shape(bundle->contract, bundle->recipe, described, sizeof described);
    fprintf(out, "# %s %s: %s\n\n%s\n\nStanding: %s.\n\n", cupel_gate_id(finding->gate),
            cupel_gate_title(finding->gate), cupel_finding_title(finding), finding->text,
            finding->standing == CUPEL_STANDING_PROOF ? "proof (no conforming kernel does this)"
                                                      : "evidence");
    write_claim(out, bundle);
    fprintf(out, "## The case\n\n    %s\n\nThe whole recipe is in `case.yaml`%s.\n\n", described,
            has_case ? ", the input tensors are in `inputs/`" : "; no values of the inputs matter");
    if (has_case) {
        cupel_word_inputs(bundle->contract, bundle->trial->c, out);
        fprintf(out, "\n");
    }
    write_stored_types(out, bundle);
    fprintf(out, "## What happened\n\n");
    if (!has_case)
        fprintf(out,
                "Nothing ran. The contract's launch was computed at these sizes, and a device refuses it: "
                "%s.\n\n",
                finding->text);
    if (cupel_word_has_values(finding)) write_values(out, finding, bundle->trial);
    write_place(out, finding);
    if (cupel_word_has_runs(finding) && bundle->trial) {
        fprintf(out, "Two runs differ; `output_a.npy` and `output_b.npy` are what they left.\n\n");
        cupel_explain_runs(finding, bundle->trial, "    ", out);
        fprintf(out, "\n");
    }
    write_likely_cause(out, finding);
    write_conditions(out, bundle);
    fprintf(out, "## If this is disputed\n\n```\n");
    cupel_explain_dispute(bundle->contract, finding, has_case ? finding->necessary_traits : CUPEL_TRAIT_SHAPE,
                          out);
    fprintf(out, "```\n\n");
    fprintf(out, "## Again\n\n    cupel replay %s\n    cupel explain %s\n", path, path);
    if (has_case) fprintf(out, "    cupel replay --gdb %s\n", path);
    fprintf(out, "\nExecutor %s, seed %" PRIu64 ".\n", bundle->executor, bundle->seed);
    if (repro) fprintf(out, "\n%s\n", repro);
}

char *cupel_explanation_write(const cupel_bundle *bundle, const char *path, const char *repro,
                              cupel_arena *arena) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) return NULL;
    write_text(out, bundle, path, repro);
    char *copy = fclose(out) == 0 ? cupel_arena_text(arena, text, length) : NULL;
    free(text);
    return copy;
}
