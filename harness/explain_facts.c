#include "explain_facts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "schedule.h"
#include "wording.h"

/* ---- memory ---- */

static const char *buffer_name(const cupel_case *c, int buffer) {
    for (int t = 0; t < c->tensor_count; t++)
        if (c->tensors[t].buffer == buffer) return c->contract->tensors[t].name;
    return NULL;
}

static bool told_before(const cupel_trial *trial, int run, const cupel_access *access) {
    for (int r = 0; r < run; r++) {
        const cupel_observation *seen = trial->runs[r].observation;
        for (int a = 0; a < seen->access_count && a < CUPEL_ACCESS_MAX; a++)
            if (seen->accesses[a].kind == access->kind && seen->accesses[a].place.line == access->place.line)
                return true;
    }
    return false;
}

static void write_access(const cupel_case *c, const cupel_access *access, FILE *out) {
    static const char *const spaces[] = {"global", "shared", "local"};
    char place[512];
    const char *name = buffer_name(c, access->buffer);
    cupel_word_place(&access->place, place, sizeof place);
    fprintf(out, "  %s of %d bytes, ", cupel_access_name(access->kind), access->size);
    if (name)
        fprintf(out, "at byte %" PRId64 " of %s (%zu bytes)", access->offset, name,
                c->buffers[access->buffer].size);
    else
        fprintf(out, "in %s memory", spaces[access->space <= CUPEL_SPACE_LOCAL ? access->space : 0]);
    fprintf(out, ", %" PRId64 " times; first: %s\n", access->count, place[0] ? place : "place unknown");
}

static bool write_guards(const cupel_trial *trial, const cupel_observation *seen, FILE *out) {
    bool any = false;
    for (int b = 0; b < seen->buffer_count; b++) {
        if (!seen->buffers[b].guard_before_damaged && !seen->buffers[b].guard_after_damaged) continue;
        const char *name = buffer_name(trial->c, b);
        fprintf(out, "  the guard %s %s was written to, at byte %" PRId64 "\n",
                seen->buffers[b].guard_before_damaged ? "before" : "behind", name ? name : "a buffer",
                seen->buffers[b].damage_offset);
        any = true;
    }
    return any;
}

void cupel_explain_memory(const cupel_trial *trial, bool addresses_checked, FILE *out) {
    bool any = false;
    for (int r = 0; r < trial->run_count; r++) {
        const cupel_observation *seen = trial->runs[r].observation;
        for (int a = 0; a < seen->access_count && a < CUPEL_ACCESS_MAX; a++) {
            if (told_before(trial, r, &seen->accesses[a])) continue;
            write_access(trial->c, &seen->accesses[a], out);
            any = true;
        }
        if (r == 0) any = write_guards(trial, seen, out) || any;
    }
    if (!any && addresses_checked)
        fprintf(out,
                "  every access lay inside its buffer, at its alignment, and read what had been written\n");
    else if (!any)
        fprintf(out, "  the guards around the buffers are intact; single accesses were not looked at\n");
}

/* ---- two runs ---- */

static const char *poison_words(const cupel_finding_run *run, const cupel_trial *trial) {
    switch (cupel_poison_of(trial->c ? trial->c->recipe->poison : 0, run->poison)) {
    case CUPEL_POISON_NAN: return "NaNs";
    case CUPEL_POISON_FINITE: return "ordinary numbers";
    case CUPEL_POISON_HIGH: return "very large numbers";
    case CUPEL_POISON_LOW: return "numbers far below zero, or zeros";
    }
    return "";
}

static void write_run(const char *indent, const char *which, const cupel_finding_run *run,
                      const cupel_trial *trial, FILE *out) {
    char schedule[160];
    cupel_schedule_describe(run->schedule, schedule, sizeof schedule);
    fprintf(out, "%s%s: %s; memory that is no input holds %s", indent, which, schedule,
            poison_words(run, trial));
    char history[96];
    if (run->history && trial->c) {
        cupel_history_describe(trial->c->recipe, history, sizeof history);
        fprintf(out, "; before it came %s", history);
    }
    fprintf(out, "\n");
}

/* Lines of shared or uninitialised memory that either run noted. */
static void write_lines(const cupel_finding *finding, const cupel_trial *trial, const char *indent,
                        FILE *out) {
    const int runs[] = {finding->run_a.index, finding->run_b.index};
    for (int i = 0; i < 2; i++) {
        if (runs[i] < 0 || runs[i] >= trial->run_count) continue;
        const cupel_observation *seen = trial->runs[runs[i]].observation;
        for (int a = 0; a < seen->access_count && a < CUPEL_ACCESS_MAX; a++) {
            if (i == 1 && told_before(trial, runs[1], &seen->accesses[a])) continue;
            fprintf(out, "%sconcerned:", indent);
            write_access(trial->c, &seen->accesses[a], out);
        }
    }
}

void cupel_explain_runs(const cupel_finding *finding, const cupel_trial *trial, const char *indent,
                        FILE *out) {
    if (!cupel_word_has_runs(finding)) return;
    write_run(indent, "run A", &finding->run_a, trial, out);
    write_run(indent, "run B", &finding->run_b, trial, out);
    write_lines(finding, trial, indent, out);
}

/* ---- disputes ---- */

static const char *check_of(const cupel_finding *finding) {
    switch (finding->kind) {
    case CUPEL_FINDING_WRONG_VALUE:
        return "the exact value does not depend on any order of evaluation: work it out in any wider "
               "arithmetic, step "
               "by step as cupel explain shows it, and compare";
    case CUPEL_FINDING_WRONG_CLASS:
        return "whether NaN or an infinity may stand there follows from the steps that cupel explain shows; "
               "PyTorch "
               "gives what the contract's expression gives";
    case CUPEL_FINDING_WRONG_ZERO_SIGN:
        return "the sign of an exact zero follows from IEEE 754 and the steps that cupel explain shows";
    case CUPEL_FINDING_UNWRITTEN:
        return "fill the output with two different values before the launch: what stays is not written";
    case CUPEL_FINDING_NOT_KEPT: return "compare the element before and after the launch";
    case CUPEL_FINDING_STRAY_WRITE: return "compare the bytes around the output before and after the launch";
    case CUPEL_FINDING_INPUT_CHANGED: return "compare the input before and after the launch";
    case CUPEL_FINDING_STRAY_READ: return "run it twice with other content in memory that is no input";
    case CUPEL_FINDING_NONDETERMINISM:
        return "run A and run B on the emulator (cupel replay), or many runs on a GPU; compute-sanitizer "
               "--tool "
               "racecheck sees races of shared memory, not of global memory";
    case CUPEL_FINDING_RACE:
        if (finding->race.earlier.use == CUPEL_RACE_BARRIER)
            return "compute-sanitizer --tool synccheck on ./repro bare";
        return "compute-sanitizer --tool racecheck on ./repro bare where it is shared memory; else whatever "
               "is "
               "said to order the two lines";
    case CUPEL_FINDING_VARIANTS:
        return "build both variants, run each once on the same inputs, and compare the bytes";
    case CUPEL_FINDING_HISTORY: return "make both calls in a fresh process, then the second one alone";
    case CUPEL_FINDING_BAD_ACCESS: return "compute-sanitizer on ./repro bare, or the index at that line";
    case CUPEL_FINDING_REFUSED: return "the launch itself: cudaGetLastError() after it";
    case CUPEL_FINDING_FAULT: return "the place of the fault, in gdb: cupel replay --gdb";
    case CUPEL_FINDING_INACCURATE:
        return "nothing does: a kernel may be so far off and conform. Evaluate the expression in the "
               "declared "
               "precision in any usual order, and compare the errors";
    case CUPEL_FINDING_KIND_COUNT: break;
    }
    return "";
}

/* The clauses, of these keys, that the contract has. */
static void quote_clauses(const cupel_contract *contract, const char *const *keys, FILE *out) {
    char line[400];
    for (int i = 0; keys[i]; i++)
        if (cupel_contract_quote_key(contract, keys[i], line, sizeof line))
            fprintf(out, "    now %s\n", line);
}

/* Clauses of the contract by the trait that the failure needs. */
static void write_keys(const cupel_contract *contract, int traits, FILE *out) {
    static const struct {
        int trait;
        const char *advice;
        const char *keys[4];
    } clauses[] = {
        {CUPEL_TRAIT_SHAPE,
         "narrower `dims`, or a condition under `requires`, if this shape was never meant",
         {"dims", "requires"}},
        {CUPEL_TRAIT_SPECIAL,
         "`finite: true` or a `range` for the input, if such values were never meant",
         {"inputs"}},
        {CUPEL_TRAIT_SUBNORMAL, "`subnormals: flush`, if subnormals may become zeros", {"subnormals"}},
        {CUPEL_TRAIT_TYPE, "fewer `types`, if this element type was never meant", {"types"}},
        {CUPEL_TRAIT_VARIANT, "fewer `variants`, if the kernel is never built so", {"variants"}},
        {CUPEL_TRAIT_LAYOUT,
         "fewer `layouts`, `align`, or no `may_alias`, if this layout was never meant",
         {"layouts", "may_alias"}}};
    for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++) {
        if (!(traits & clauses[i].trait)) continue;
        fprintf(out, "  permitted by: %s\n", clauses[i].advice);
        quote_clauses(contract, clauses[i].keys, out);
    }
}

/* What would let this value pass, by figures and by name: a weaker type only where it is known to do so. */
static void write_weaker(const cupel_contract *contract, const cupel_finding *finding, FILE *out) {
    static const char *const tolerance[] = {"tolerance", NULL}, *const accumulate[] = {"accumulate", NULL},
                             *const products[] = {"products", NULL};
    const unsigned cause = 1u << finding->cause.fault;
    const char *name = cupel_shadow_fault_name(finding->cause.fault);
    const int type = (int)strcspn(name, "-"); /* f16-accumulator, tf32-cut */
    const bool real = cupel_format_of(finding->type)->kind == CUPEL_KIND_REAL;
    if (real && finding->certified && isfinite(finding->exact.value) && isfinite(finding->got)) {
        fprintf(out,
                "  permitted by: `tolerance: {%s: {abs: %.3g, rel: 0}}` or more, if no better was promised\n",
                finding->output_name, fabs(finding->got - finding->exact.value) * (1 + 1e-2));
        quote_clauses(contract, tolerance, out);
    }
    if (cause & CUPEL_SHADOW_ACCUMULATOR_FAULTS) {
        fprintf(out, "  permitted by: `accumulate: %.*s`, if no better was promised\n", type, name);
        quote_clauses(contract, accumulate, out);
    }
    if (cause & CUPEL_SHADOW_OPERAND_FAULTS) {
        fprintf(
            out,
            "  permitted by: `products: %.*s`, for matrix products, convolutions and attention, if no better "
            "was promised\n",
            type, name);
        quote_clauses(contract, products, out);
    }
}

/* The same number by another way: whoever doubts it can work it out. */
static void write_computation(const cupel_contract *contract, const cupel_finding *finding, FILE *out) {
    const int tensor = cupel_contract_tensor(contract, finding->output_name);
    if (!finding->certified || finding->index < 0 || tensor < 0 || !contract->tensors[tensor].ensures) return;
    const cupel_span place = contract->tensors[tensor].ensures->place;
    fprintf(out, "  computed as: %.*s on the inputs of the case, in MPFR with %d bits: %s\n",
            (int)place.length, place.text, finding->exact.precision, finding->exact.digits);
}

void cupel_explain_dispute(const cupel_contract *contract, const cupel_finding *finding, int traits,
                           FILE *out) {
    static const char *const bytes[] = {"deterministic", NULL};
    fprintf(out, "  settled by: %s\n", check_of(finding));
    write_computation(contract, finding, out);
    write_keys(contract, traits, out);
    bool order = traits & (CUPEL_TRAIT_SCHEDULE | CUPEL_TRAIT_HISTORY);
    if (finding->kind == CUPEL_FINDING_WRONG_VALUE && !order) write_weaker(contract, finding, out);
    if (finding->kind == CUPEL_FINDING_VARIANTS) {
        fprintf(
            out,
            "  permitted by: `deterministic: true` or `auto`, which leave the variants free of each other\n");
        quote_clauses(contract, bytes, out);
    }
    if (finding->kind == CUPEL_FINDING_NONDETERMINISM) {
        fprintf(out, "  permitted by: `deterministic: false`, as long as every result is allowed\n");
        quote_clauses(contract, bytes, out);
    }
}
