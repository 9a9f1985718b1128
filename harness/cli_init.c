#include <errno.h>
#include <limits.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "contract_comment.h"
#include "init_guess.h"
#include "init_trial.h"

/* Where a contract goes. */
typedef struct target {
    const char *path;   /* NULL: standard output */
    const char *source; /* how the contract names the kernel's file; NULL: it is found by its name */
} target;

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* path without its ending, ".cu" or another. */
static size_t stem_length(const char *path) {
    const char *dot = strrchr(file_name(path), '.');
    return dot && dot != file_name(path) ? (size_t)(dot - path) : strlen(path);
}

static bool is_cu(const char *path) {
    const char *dot = strrchr(file_name(path), '.');
    return dot && strcmp(dot, ".cu") == 0;
}

/* Will the reader find source from a contract in path by its name alone? */
static bool lies_beside(const char *path, const char *source) {
    size_t length = stem_length(source);
    return is_cu(source) && stem_length(path) == length && strncmp(path, source, length) == 0;
}

/* A path as a shell takes it: in quotes where it holds more than plain characters. */
static const char *quoted(const char *path, cupel_arena *arena) {
    size_t plain = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:=@%");
    char *text = path[0] && !path[plain] ? NULL : cupel_arena_alloc(arena, 4 * strlen(path) + 3), *at = text;
    if (!text) return path;
    *at++ = '\'';
    for (; *path; path++)
        if (*path == '\'')
            memcpy(at, "'\\''", 4), at += 4;
        else
            *at++ = *path;
    *at++ = '\'';
    return text;
}

/* USAGE for a file that -o would destroy: the kernel's own, and any that is no contract. */
static cupel_code expect_replaceable(const char *path, const char *source, cupel_arena *arena,
                                     cupel_error *err) {
    struct stat there, kernel;
    if (stat(path, &there) != 0) return CUPEL_OK;
    if (stat(source, &kernel) == 0 && there.st_dev == kernel.st_dev && there.st_ino == kernel.st_ino)
        return cupel_fail(err, CUPEL_USAGE, "-o: %s is the kernel's own file; nothing was written", path);
    CUPEL_TRY(cupel_cli_expect_file(path, err));
    char *text;
    size_t length;
    CUPEL_TRY(cupel_text_read(path, arena, &text, &length, err));
    bool is_yaml = !is_cu(path) && (strncmp(text, "cupel:", 6) == 0 || strstr(text, "\ncupel:"));
    if (length == 0 || is_yaml) return CUPEL_OK;
    return cupel_fail(err, CUPEL_USAGE, "-o: %s exists and is no contract; nothing was written", path);
}

static cupel_code choose_target(const cupel_cli_settings *settings, const cupel_init_kernel *kernel,
                                bool several, target *out, cupel_error *err) {
    cupel_arena *arena = kernel->file->arena;
    const char *source = settings->operand, *given = settings->directory;
    int length = (int)stem_length(source);
    *out = (target){.path = given};
    if (given && strcmp(given, "-") == 0)
        out->path = NULL;
    else if (!given && several)
        out->path = cupel_arena_printf(arena, "%.*s_%s.yaml", length, source, kernel->declaration->name);
    else if (!given)
        out->path = cupel_arena_printf(arena, "%.*s.yaml", length, source);
    if (!out->path && !(given && strcmp(given, "-") == 0))
        return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    if (!given && access(out->path, F_OK) == 0)
        return cupel_fail(err, CUPEL_USAGE,
                          "%s exists already and is left alone; 'cupel init %s -o FILE' writes another "
                          "file, '-o -' prints it",
                          out->path, quoted(source, arena));
    if (given && out->path) CUPEL_TRY(expect_replaceable(out->path, source, arena, err));
    if (!out->path) {
        out->source = file_name(source);
    } else if (!lies_beside(out->path, source)) {
        size_t folder = (size_t)(file_name(out->path) - out->path);
        bool same = folder == (size_t)(file_name(source) - source) && strncmp(out->path, source, folder) == 0;
        char absolute[PATH_MAX];
        out->source = same                         ? file_name(source)
                      : realpath(source, absolute) ? cupel_arena_text(arena, absolute, strlen(absolute))
                                                   : source;
    }
    return CUPEL_OK;
}

static void tell_trial(const cupel_init_trial *trial, const char *hint, FILE *out) {
    if (trial->outcome == CUPEL_INIT_BORNE_OUT)
        fprintf(
            out,
            "  loads, and a trial run of %d small cases bears it out; look at the guesses, then: cupel check "
            "%s\n",
            trial->cases, hint);
    else if (trial->outcome == CUPEL_INIT_CONTRADICTORY)
        fprintf(out, "  not finished: a guess is wrong: %s\n  mend it, then: cupel check %s\n", trial->text,
                hint);
    else if (trial->outcome == CUPEL_INIT_UNTRIED)
        fprintf(out,
                "  loads, but no trial run was possible: %s\n  look at the guesses, then: cupel check %s\n",
                trial->text[0] ? trial->text : "no case could be run", hint);
    else
        fprintf(out,
                "  not finished: a trial run does not bear it out: %s\n"
                "  either the kernel or the guess is wrong: decide what says " CUPEL_GUESS_PLACEHOLDER
                ", then: cupel check %s\n",
                trial->text, hint);
}

/* Says what was written and what is left to do. */
static bool report(const cupel_guess *guess, const target *to, const cupel_init_trial *trial,
                   cupel_error *err, const cupel_cli_settings *settings, bool several) {
    char message[1400];
    FILE *out = to->path ? stdout : stderr;
    const char *path = to->path ? to->path : "-";
    cupel_arena *arena = guess->kernel->file->arena;
    if (to->path)
        fprintf(out, "%s: the contract %s for the kernel %s\n", path, guess->id, guess->kernel->facts->name);
    if (err->code != CUPEL_OK) {
        fprintf(out, "  %s: %s\n",
                strstr(err->text, CUPEL_GUESS_PLACEHOLDER)
                    ? "not finished: fill in what says " CUPEL_GUESS_PLACEHOLDER
                    : "does not load yet",
                cupel_error_format(err, message, sizeof message));
        return false;
    }
    const char *hint = !to->path                                          ? "FILE"
                       : several || !lies_beside(path, settings->operand) ? path
                                                                          : settings->operand;
    tell_trial(trial, quoted(hint, arena), out);
    return trial->outcome == CUPEL_INIT_BORNE_OUT || trial->outcome == CUPEL_INIT_UNTRIED;
}

/* Tries the guess and, where a case fails, marks what the failure is about. */
static void try_guess(const cupel_cli_settings *settings, cupel_guess *guess, cupel_init_trial *trial) {
    cupel_arena *arena = guess->kernel->file->arena;
    char absolute[PATH_MAX];
    const char *text = realpath(settings->operand, absolute) ? cupel_guess_write(guess, absolute) : NULL;
    *trial = (cupel_init_trial){.outcome = CUPEL_INIT_UNTRIED, .text = "the file was not found again"};
    if (text) cupel_init_trial_run(settings, text, trial);
    if (trial->outcome != CUPEL_INIT_DOUBTED) return;
    const char *doubt = cupel_arena_text(arena, trial->text, strlen(trial->text));
    guess->doubted_output =
        trial->values ? cupel_arena_text(arena, trial->output, strlen(trial->output)) : NULL;
    guess->doubt = doubt ? doubt : "";
}

static cupel_code write_text(const target *to, const char *text, cupel_error *err) {
    if (!text) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    if (to->path) return cupel_text_write(to->path, text, strlen(text), err);
    if (fputs(text, stdout) != EOF && fflush(stdout) == 0) return CUPEL_OK;
    cupel_code code = cupel_fail(err, CUPEL_IO, "standard output could not be written: %s", strerror(errno));
    __fpurge(stdout); /* it is said: the end of the program need not say it again */
    clearerr(stdout);
    return code;
}

static cupel_code write_one(const cupel_cli_settings *settings, const cupel_init_file *file, int index,
                            bool several, bool *loads, cupel_error *err) {
    cupel_init_kernel *kernel;
    target to;
    CUPEL_TRY(cupel_init_kernel_read(file, index, &kernel, err));
    CUPEL_TRY(choose_target(settings, kernel, several, &to, err));
    cupel_guess *guess = cupel_arena_alloc(file->arena, sizeof *guess);
    if (!guess) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(cupel_guess_make(kernel, guess, err));
    const char *text = cupel_guess_write(guess, to.source);
    if (!text) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    /* written first: what was guessed is there whatever the trial does */
    if (to.path) CUPEL_TRY(write_text(&to, text, err));
    cupel_contracts contracts = {0};
    cupel_error open = {0};
    cupel_init_trial trial = {0};
    const char *path = to.path ? to.path : "-";
    cupel_code code =
        to.path ? cupel_contracts_load(path, file->arena, &contracts, &open)
                : cupel_contracts_parse(path, text, strlen(text), true, file->arena, &contracts, &open);
    if (code == CUPEL_OK) try_guess(settings, guess, &trial);
    if (guess->doubt) text = cupel_guess_write(guess, to.source);
    if (!to.path || guess->doubt) CUPEL_TRY(write_text(&to, text, err));
    if (!report(guess, &to, &trial, &open, settings, several)) *loads = false;
    return CUPEL_OK;
}

/* USAGE where the file speaks for itself already. */
static cupel_code expect_no_contract(const cupel_cli_settings *settings, cupel_arena *arena,
                                     cupel_error *err) {
    char *text;
    size_t length;
    cupel_contract_text *texts;
    int count;
    if (settings->directory) return CUPEL_OK;
    CUPEL_TRY(cupel_text_read(settings->operand, arena, &text, &length, err));
    CUPEL_TRY(cupel_contract_comments(settings->operand, text, length, arena, &texts, &count, err));
    return count == 0 ? CUPEL_OK
                      : cupel_fail(err, CUPEL_USAGE,
                                   "%s holds a contract already: 'cupel check %s' checks it; -o FILE writes "
                                   "a guessed one beside it",
                                   settings->operand, settings->operand);
}

static cupel_code choose_kernels(const cupel_cli_settings *settings, const cupel_source *source, int *first,
                                 int *last, cupel_error *err) {
    const char *names[64];
    size_t count = 0;
    *first = 0, *last = source->kernel_count;
    if (source->kernel_count == 0)
        return cupel_fail(err, CUPEL_USAGE, "%s has no kernel: no __global__ function with a body",
                          settings->operand);
    for (int i = 0; i < source->kernel_count && count < sizeof names / sizeof *names; i++) {
        names[count++] = source->kernels[i].name;
        if (!settings->contract || strcmp(settings->contract, source->kernels[i].name) != 0) continue;
        *first = i, *last = i + 1;
        return CUPEL_OK;
    }
    if (settings->contract) return cupel_cli_unknown("--contract", settings->contract, names, count, err);
    if (source->kernel_count > 1 && settings->directory) {
        char list[700] = "";
        size_t used = 0;
        for (size_t i = 0; i < count && used < sizeof list; i++)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
        return cupel_fail(err, CUPEL_USAGE,
                          "a contract file speaks of one kernel and %s has several; choose one with "
                          "--contract: %s",
                          settings->operand, list);
    }
    return CUPEL_OK;
}

static cupel_code write_all(const cupel_cli_settings *settings, cupel_arena *arena, bool *loads,
                            cupel_error *err) {
    cupel_source_options options = {.include_count = settings->includes.count,
                                    .includes = settings->includes.items};
    cupel_init_file file;
    int first, last;
    CUPEL_TRY(cupel_cli_expect_file(settings->operand, err));
    CUPEL_TRY(expect_no_contract(settings, arena, err));
    CUPEL_TRY(cupel_init_file_load(settings->operand, &options, arena, &file, err));
    CUPEL_TRY(choose_kernels(settings, file.source, &first, &last, err));
    bool several = file.source->kernel_count > 1;
    cupel_code worst = CUPEL_OK;
    for (int i = first; i < last; i++) {
        cupel_error one = {0};
        cupel_code code = write_one(settings, &file, i, several, loads, &one);
        if (code == CUPEL_OK) continue;
        if (last - first == 1) {
            *err = one;
            return code;
        }
        worst = code; /* the other kernels are not to blame */
        (void)cupel_cli_complain(&one, false);
        *err = one;
    }
    return last - first > 1 && worst == CUPEL_MEMORY ? worst
           : worst != CUPEL_OK                       ? (*loads = false, CUPEL_OK)
                                                     : CUPEL_OK;
}

/* 0: every contract was written and loads; 3: one is left to be finished. */
int cupel_cli_init(const cupel_cli_settings *settings) {
    cupel_error err = {0};
    bool loads = true;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_code code =
        arena ? write_all(settings, arena, &loads, &err) : cupel_fail(&err, CUPEL_MEMORY, "out of memory");
    cupel_arena_free(arena);
    if (code != CUPEL_OK) return cupel_cli_complain(&err, settings->json);
    return loads ? 0 : cupel_check_error_status(CUPEL_UNABLE);
}
