#include <stdlib.h>
#include <string.h>

#include "repro_impl.h"
#include "wording.h"

static void write_values(FILE *out, const cupel_finding *finding, const cupel_trial *trial) {
    char where[128], got[96], allowed[192];
    if (!cupel_word_has_values(finding)) return;
    cupel_word_where(finding, trial, where, sizeof where);
    cupel_word_element(finding->type, finding->got_bits, got, sizeof got);
    cupel_word_allowed(finding->type, &finding->exact, allowed, sizeof allowed);
    fprintf(out, "Element %s: got %s", where, got);
    if (finding->certified) fprintf(out, ", allowed %s,\nexact %s", allowed, finding->exact.digits);
    fprintf(out, ".\n");
}

static void write_use(FILE *out, const cupel_repro_job *job) {
    char place[512];
    const cupel_finding *finding = job->bundle->finding;
    cupel_word_place(finding->has_access ? &finding->access.place : &finding->place, place, sizeof place);
    if (place[0]) fprintf(out, "Place: %s.\n", place);
    if (job->host)
        fprintf(out, "\nCompile and run:\n    %s -O2 -g -o repro %s -lm && ./repro\n",
                strcmp(job->name, "repro.c") == 0 ? "cc" : "c++", job->name);
    else
        fprintf(out,
                "\nCompile and run:\n    nvcc -arch=sm_90 -o repro repro.cu && ./repro\n"
                "`./repro bare` leaves out the guard bands around the buffers, for compute-sanitizer.\n");
    fprintf(out,
            "It says what it found; its exit status is 1 when the failure shows, 0 when it does not, and 2 "
            "when it\ncannot run.\n\n");
    fprintf(
        out,
        "Written by cupel. First come the means, then the case, then the candidate's own code (from\n%s), "
        "then the call.\n",
        job->bundle->contract->source ? job->bundle->contract->source : job->bundle->contract->file);
}

/* How much of a line fits: up to its last blank within the width, or all that has none. */
static size_t fitting(const char *line, size_t length) {
    enum { WIDTH = 105 };
    if (length <= WIDTH) return length;
    for (size_t i = WIDTH; i > WIDTH / 2; i--)
        if (line[i] == ' ') return i;
    return length;
}

/* One line of the comment, without anything that ends it early. */
static void write_line(FILE *out, const char *line, size_t length, bool first) {
    fputs(first ? "/*" : " *", out);
    if (length > 0) fputc(' ', out);
    for (size_t i = 0; i < length; i++) {
        bool ends =
            i > 0 && ((line[i] == '/' && line[i - 1] == '*') || (line[i] == '*' && line[i - 1] == '/'));
        if (ends) fputc(' ', out);
        fputc(line[i], out);
    }
}

static void write_comment(FILE *out, const char *text) {
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), part = fitting(line, length);
        write_line(out, line, part, line == text);
        line += part;
        line += part < length ? 1 : *line == '\n';
        fputs(*line ? "\n" : " */\n", out);
    }
}

void cupel_repro_heading(const cupel_repro_job *job) {
    char *text = NULL, described[512];
    size_t length = 0;
    const cupel_finding *finding = job->bundle->finding;
    FILE *out = open_memstream(&text, &length);
    if (!out) return;
    cupel_recipe_describe(job->bundle->contract, job->bundle->recipe, described, sizeof described);
    fprintf(out, "%s %s: %s.\n%s\n\n", cupel_gate_id(finding->gate), cupel_gate_title(finding->gate),
            cupel_finding_title(finding), finding->text);
    fprintf(out, "Claimed:\n");
    cupel_word_claims(job->bundle->contract, finding, out);
    fprintf(out, "The case: %s\n", described);
    cupel_word_inputs(job->bundle->contract, job->c, out);
    write_values(out, finding, job->bundle->trial);
    write_use(out, job);
    if (fclose(out) == 0) write_comment(job->out, text);
    free(text);
}
