/* A call makes its caller give up every register that the callee might use: in a loop around one load that
 * cost more than the check itself. What stands here in place of a call touches one register and the flags.
 * Measured on the softmax in tests/bench: 1.4 times the rate of the calls (tests/records/emulator.txt).
 *
 * A load asks whether its address lies in the span of memory that this very place in the code was last told
 * about (cupel_emu_site: mostly one buffer, all of it); only if not, it asks the runtime. An edge counts
 * itself and takes a step off the budget. Code that is rarely run lies elsewhere, and addresses that it
 * reports are those of the place itself, so that lines and the order of places stay as they were. */
#include "emu_inline.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "emu_abi.h"

/* LLVM's text: $0 is the operand, $$ a dollar sign, \0A a new line, \22 a quotation mark. r11 is the one
 * scratch register; rbp-relative or rsp-relative operands are out of the question: an operand is in a
 * register. There is no red zone (emu_flags.h), which what is rarely run would write over. */
#define LINE "\\0A"
#define RARELY ".pushsection .text.unlikely.cupel,\\22ax?\\22,@progbits" LINE
#define EFFECTS "~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"

/* %s: rotates the distance from the span's start right by the logarithm of the size, so that what is not a
 * multiple of the size is very far. The instructions come first: data would take the line number for itself.
 */
static const char load_form[] =
    "asm sideeffect \"movq $0,%%r11" LINE "subq 3f(%%rip),%%r11" LINE "%scmpq 3f+8(%%rip),%%r11" LINE
    "jae 2f" LINE "1:" LINE RARELY "2: movq $0,cupel_emu_asks(%%rip)" LINE "leaq 3f(%%rip),%%r11" LINE
    "movq %%r11,cupel_emu_asks+8(%%rip)" LINE "leaq 1b(%%rip),%%r11" LINE "jmp cupel_emu_ask_load%d" LINE
    ".popsection" LINE ".pushsection cupel_sites,\\22aw\\22,@progbits" LINE ".balign 16" LINE
    "3: .zero 16" LINE ".popsection\", \"r," EFFECTS "\"";

static const char edge_form[] =
    "asm sideeffect \"incl ${0:P}(%%rip)" LINE "subl $$1,cupel_emu_registers+%zu(%%rip)" LINE "je 2f" LINE
    "1:" LINE RARELY "2: leaq 1b(%%rip),%%r11" LINE "jmp cupel_emu_ask_budget" LINE
    ".popsection\", \"i," EFFECTS "\"";

/* fmaxf and the like as emu_candidate.c has them: the suffixes of the type, and the operations of the one
 * that is wanted. maxss gives its second operand when both are zeros: both orders together decide about the
 * sign, without a branch, for equal values are common where lanes are reduced. Unordered: a NaN, which gives
 * way. */
static const char extreme_form[] =
    "asm \"movap%c $1,$0" LINE "movap%c $2,%%xmm15" LINE "ucomis%c $2,$0" LINE "jp 2f" LINE "%ss%c $2,$0" LINE
    "%ss%c $1,%%xmm15" LINE "%sp%c %%xmm15,$0" LINE "1:" LINE RARELY "2: ucomis%c $1,$1" LINE "jnp 1b" LINE
    "movap%c $2,$0" LINE "jmp 1b" LINE ".popsection\", \"=&x,x,x,~{xmm15},~{dirflag},~{fpsr},~{flags}\"";

/* A meeting: a call in which the thread waits for others, its arguments in rdx, rcx, r8 and r9. It gives up
 * all registers but the two that may point to the frame: the compiler keeps what it wants afterwards, which
 * is less than a callee has to save without knowing. A jump, for no ret answers the call (emu_fiber.c).
 * Measured on the softmax in tests/bench: 1.06 times the rate of the calls. */
static const char meeting_form[] =
    "asm sideeffect \"pushq %%rbx" LINE "pushq %%rbp" LINE "leaq 1f(%%rip),%%r11" LINE
    "jmp cupel_emu_ask_%s" LINE "1: popq %%rbp" LINE "popq %%rbx\", \"={rax}";
static const char meeting_clobbers[] =
    ",~{rdi},~{rsi},~{r10},~{r12},~{r13},~{r14},~{r15},~{xmm0},~{xmm1},~{xmm2},~{xmm3},~{xmm4},~{xmm5},"
    "~{xmm6},~{xmm7},~{xmm8},~{xmm9},~{xmm10},~{xmm11},~{xmm12},~{xmm13},~{xmm14},~{xmm15}," EFFECTS "\"";

enum { CHECKS = 6, EXTREMES = 4, MEETINGS = 4, FORM_BYTES = 1024 };
enum { KINDS = CHECKS + EXTREMES + MEETINGS, ARGUMENTS_MAX = 4 };

typedef struct kind {
    const char *type; /* of the result */
    char callee[48];
    char form[FORM_BYTES];
    char all[64]; /* the type of what a meeting's form gives, its result first; else empty */
} kind;

static const struct {
    const char *name, *type;
    int count;
    const char *arguments[ARGUMENTS_MAX]; /* as numbers */
} meetings[MEETINGS] = {{"shuffle", "i64", 3, {"i64", "i32", "i64"}},
                        {"vote", "i32", 4, {"i32", "i32", "i64", "i64"}},
                        {"warp", "void", 1, {"i32"}},
                        {"barrier", "i32", 2, {"i32", "i32"}}};

static void make_extreme(kind *k, bool is_double, bool min) {
    const char t = is_double ? 'd' : 's';
    k->type = is_double ? "double" : "float";
    snprintf(k->callee, sizeof k->callee, "@%s%s(", min ? "fmin" : "fmax", is_double ? "" : "f");
    const char *better = min ? "min" : "max", *sign = min ? "or" : "and";
    snprintf(k->form, sizeof k->form, extreme_form, t, t, t, better, t, better, t, sign, t, t, t);
}

static void append(char *text, size_t size, const char *more) {
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

/* The form uses up its arguments' registers, which an operand shows only by being a result as well: results,
 * operands, and what else is lost, in this order. */
static void make_meeting(kind *k, int i) {
    static const char *const registers[ARGUMENTS_MAX] = {"{rdx}", "{rcx}", "{r8}", "{r9}"};
    static const char *const operands[ARGUMENTS_MAX] = {",1", ",2", ",3", ",4"};
    const int count = meetings[i].count;
    k->type = meetings[i].type;
    snprintf(k->callee, sizeof k->callee, "@cupel_emu_%s_sync(", meetings[i].name);
    snprintf(k->form, sizeof k->form, meeting_form, meetings[i].name);
    snprintf(k->all, sizeof k->all, "{ %s", strcmp(k->type, "void") == 0 ? "i64" : k->type);
    for (int a = 0; a < count; a++) {
        append(k->form, sizeof k->form, ",=");
        append(k->form, sizeof k->form, registers[a]);
        append(k->all, sizeof k->all, ", ");
        append(k->all, sizeof k->all, meetings[i].arguments[a]);
    }
    append(k->all, sizeof k->all, " }");
    for (int a = 0; a < count; a++) append(k->form, sizeof k->form, operands[a]);
    for (int a = count; a < ARGUMENTS_MAX; a++) {
        append(k->form, sizeof k->form, ",~");
        append(k->form, sizeof k->form, registers[a]);
    }
    append(k->form, sizeof k->form, meeting_clobbers);
}

static const char names[] =
    "\nmodule asm \".hidden cupel_emu_asks\"\nmodule asm \".hidden cupel_emu_registers\"\n"
    "module asm \".hidden cupel_emu_ask_budget\"\nmodule asm \".hidden cupel_emu_ask_load1\"\n"
    "module asm \".hidden cupel_emu_ask_load2\"\nmodule asm \".hidden cupel_emu_ask_load4\"\n"
    "module asm \".hidden cupel_emu_ask_load8\"\nmodule asm \".hidden cupel_emu_ask_load16\"\n"
    "module asm \".hidden cupel_emu_ask_shuffle\"\nmodule asm \".hidden cupel_emu_ask_vote\"\n"
    "module asm \".hidden cupel_emu_ask_warp\"\nmodule asm \".hidden cupel_emu_ask_barrier\"\n";

static void make_kinds(kind kinds[KINDS]) {
    memset(kinds, 0, KINDS * sizeof *kinds);
    for (int log = 0; log < CHECKS - 1; log++) {
        char rotate[32] = "";
        if (log != 0) snprintf(rotate, sizeof rotate, "rorq $$%d,%%r11" LINE, log);
        snprintf(kinds[log].callee, sizeof kinds[log].callee, "@cupel_emu_load%d_noabort(", 1 << log);
        snprintf(kinds[log].form, sizeof kinds[log].form, load_form, rotate, 1 << log);
    }
    kind *edge = &kinds[CHECKS - 1];
    snprintf(edge->callee, sizeof edge->callee, "@__sanitizer_cov_trace_pc_guard(");
    snprintf(edge->form, sizeof edge->form, edge_form, offsetof(cupel_emu_registers_t, budget));
    for (int i = 0; i < CHECKS; i++) kinds[i].type = "void";
    for (int i = 0; i < EXTREMES; i++) make_extreme(&kinds[CHECKS + i], i % 2 != 0, i / 2 != 0);
    for (int i = 0; i < MEETINGS; i++) make_meeting(&kinds[CHECKS + EXTREMES + i], i);
}

/* The kind of call whose callee's @ is at; NULL: it stays a call. */
static const kind *kind_of(const kind kinds[KINDS], const char *text, const char *at) {
    for (int k = 0; k < KINDS; k++) {
        const size_t type = strlen(kinds[k].type) + 1; /* and a space */
        if (strncmp(at, kinds[k].callee, strlen(kinds[k].callee)) == 0 && (size_t)(at - text) > type + 5 &&
            strncmp(at - type, kinds[k].type, type - 1) == 0 && strncmp(at - type - 5, "call ", 5) == 0)
            return &kinds[k];
    }
    return NULL;
}

/* In place of one call. Of the text up to *done all has been written; *done is set behind what is. */
static cupel_code replace(const kind *k, const char *at, const char **done, cupel_buffer *out,
                          cupel_error *err) {
    CUPEL_TRY(cupel_buffer_add(out, *done, (size_t)(at - *done), err));
    *done = at + strlen(k->callee) - 1; /* at the arguments */
    return cupel_buffer_add(out, k->form, strlen(k->form), err);
}

/* The same for a meeting, the number-th of the text: the result is taken out of all that its form gives. */
static cupel_code replace_meeting(const kind *k, int number, const char *at, const char **done,
                                  cupel_buffer *out, cupel_error *err) {
    char text[FORM_BYTES + 160];
    const char *line = at, *stop = at + strcspn(at, "\n"), *arguments = at + strlen(k->callee) - 1;
    while (line > *done && line[-1] != '\n') line--;
    CUPEL_TRY(cupel_buffer_add(out, *done, (size_t)(line - *done), err));
    snprintf(text, sizeof text, "  %%cupel.%d = call %s %s", number, k->all, k->form);
    CUPEL_TRY(cupel_buffer_add(out, text, strlen(text), err));
    CUPEL_TRY(cupel_buffer_add(out, arguments, (size_t)(stop - arguments), err));
    *done = stop;
    const char *equals = strstr(line, " = ");
    if (equals == NULL || equals > at) return CUPEL_OK; /* no result */
    CUPEL_TRY(cupel_buffer_add(out, "\n", 1, err));
    CUPEL_TRY(cupel_buffer_add(out, line, (size_t)(equals - line), err));
    snprintf(text, sizeof text, " = extractvalue %s %%cupel.%d, 0", k->all, number);
    return cupel_buffer_add(out, text, strlen(text), err);
}

cupel_code cupel_emu_inline_write(const char *text, cupel_buffer *out, cupel_error *err) {
    kind kinds[KINDS];
    make_kinds(kinds);
    const char *done = text;
    int meeting_count = 0;
    for (const char *at = text; (at = strchr(at, '@')) != NULL; at++) {
        const kind *k = kind_of(kinds, text, at);
        if (k == NULL) continue;
        if (k->all[0] == '\0')
            CUPEL_TRY(replace(k, at, &done, out, err));
        else
            CUPEL_TRY(replace_meeting(k, meeting_count++, at, &done, out, err));
    }
    CUPEL_TRY(cupel_buffer_add(out, done, strlen(done), err));
    return cupel_buffer_add(out, names, sizeof names - 1, err);
}
