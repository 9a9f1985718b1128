#include "cli_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"
#include "text.h"

/* What an option does with its value. */
typedef cupel_code (*setter)(cupel_cli_settings *settings, const char *value, cupel_error *err);

static cupel_code append(cupel_cli_list *list, const char *value, cupel_error *err) {
    if (list->count == CUPEL_CLI_LIST_MAX)
        return cupel_fail(err, CUPEL_USAGE, "an option was given more than %d times", CUPEL_CLI_LIST_MAX);
    list->items[list->count++] = value;
    return CUPEL_OK;
}

static cupel_code parse_u64(const char *name, const char *value, uint64_t *out, cupel_error *err) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 0);
    if (end != value && !*end && errno == ERANGE && !strchr(value, '-'))
        return cupel_fail(err, CUPEL_USAGE, "%s: '%s' is too large; at most %llu", name, value, ULLONG_MAX);
    if (value[0] == '-' || end == value || *end || errno)
        return cupel_fail(err, CUPEL_USAGE, "%s: expected a whole number, found '%s'", name, value);
    *out = number;
    return CUPEL_OK;
}

/* "10", "10s", "500ms", "2m", "1h". */
static cupel_code parse_seconds(const char *value, double *out, cupel_error *err) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}};
    char *end;
    double number = strtod(value, &end);
    if (end != value && isfinite(number) && number > 0)
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (strcmp(end, units[i].unit) == 0) {
                *out = number * units[i].seconds;
                return CUPEL_OK;
            }
    return cupel_fail(err, CUPEL_USAGE, "--for: expected a time such as 10s or 2m, found '%s'", value);
}

static cupel_code set_gates(cupel_cli_settings *s, const char *value, cupel_error *err) {
    char id[16];
    if (!value[0])
        return cupel_fail(err, CUPEL_USAGE, "--gates: expected ids such as CMP-01,EXC-01, found nothing");
    for (const char *at = value; *at;) {
        size_t length = strcspn(at, ",");
        cupel_gate gate;
        snprintf(id, sizeof id, "%.*s", (int)length, at);
        if (length >= sizeof id || !cupel_gate_parse(id, &gate))
            return cupel_fail(err, CUPEL_USAGE, "--gates: expected ids such as CMP-01,EXC-01, found '%s'",
                              value);
        s->gates |= 1u << gate;
        at += length + (at[length] == ',');
    }
    return CUPEL_OK;
}

static cupel_code set_standing(cupel_cli_settings *s, const char *value, cupel_error *err) {
    if (strcmp(value, "proof") == 0)
        s->standing = CUPEL_STANDING_PROOF;
    else if (strcmp(value, "evidence") == 0)
        s->standing = CUPEL_STANDING_EVIDENCE;
    else
        return cupel_fail(err, CUPEL_USAGE, "--standing: expected proof or evidence, found '%s'", value);
    return CUPEL_OK;
}

static bool read_sanitizing(const char *value, cupel_sanitizing *out) {
    static const char *const names[] = {"off", "on", "all"};
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            *out = (cupel_sanitizing)i;
            return true;
        }
    return false;
}

static cupel_code set_sanitizing(cupel_cli_settings *s, const char *value, cupel_error *err) {
    if (read_sanitizing(value, &s->sanitizing)) return CUPEL_OK;
    return cupel_fail(err, CUPEL_USAGE, "--sanitizer: expected on, off or all, found '%s'", value);
}

static cupel_code set_sample_blocks(cupel_cli_settings *s, const char *value, cupel_error *err) {
    s->whole_grids = strcmp(value, "off") == 0;
    if (s->whole_grids || strcmp(value, "on") == 0) return CUPEL_OK;
    return cupel_fail(err, CUPEL_USAGE, "--sample-blocks: expected on or off, found '%s'", value);
}

/* The environment may say otherwise, for machines that check much and often. */
static cupel_sanitizing default_sanitizing(void) {
    cupel_sanitizing sanitizing = CUPEL_SANITIZER_ON;
    const char *wanted = getenv("CUPEL_SANITIZER");
    if (wanted) (void)read_sanitizing(wanted, &sanitizing);
    return sanitizing;
}

static cupel_code set_format(cupel_cli_settings *s, const char *value, cupel_error *err) {
    if (strcmp(value, "json") == 0)
        s->json = true;
    else if (strcmp(value, "text") == 0)
        s->json = false;
    else if (strcmp(value, "junit") == 0 || strcmp(value, "sarif") == 0)
        return cupel_fail(err, CUPEL_USAGE, "--format %s is not there yet; text and json are", value);
    else
        return cupel_fail(err, CUPEL_USAGE, "--format: expected text or json, found '%s'", value);
    return CUPEL_OK;
}

static cupel_code set_executor(cupel_cli_settings *s, const char *value, cupel_error *err) {
    if (strcmp(value, "python") == 0)
        return cupel_fail(err, CUPEL_USAGE, "--on python is not there yet; emu, host and cuda are");
    if (strcmp(value, "emu") != 0 && strcmp(value, "host") != 0 && strcmp(value, "cuda") != 0)
        return cupel_fail(err, CUPEL_USAGE, "--on: expected emu, host or cuda, found '%s'", value);
    s->executor = value;
    return CUPEL_OK;
}

/* "emu,cuda": one for each side. */
static cupel_code set_executors(cupel_cli_settings *s, const char *value, cupel_error *err) {
    const char *comma = strchr(value, ',');
    char first[16];
    snprintf(first, sizeof first, "%.*s", comma ? (int)(comma - value) : 15, value);
    CUPEL_TRY(set_executor(s, comma ? first : value, err));
    if (comma) CUPEL_TRY(set_executor(s, comma + 1, err));
    s->executor = value;
    return CUPEL_OK;
}

static cupel_code set_engine(cupel_cli_settings *s, const char *value, cupel_error *err) {
    if (strcmp(value, "afl") == 0)
        return cupel_fail(err, CUPEL_USAGE, "--engine afl is not there yet; libfuzzer and draw are");
    if (strcmp(value, "libfuzzer") != 0 && strcmp(value, "draw") != 0)
        return cupel_fail(err, CUPEL_USAGE, "--engine: expected libfuzzer or draw, found '%s'", value);
    s->engine = value;
    return CUPEL_OK;
}

static cupel_code set_elements(cupel_cli_settings *s, const char *value, cupel_error *err) {
    uint64_t number = 0;
    CUPEL_TRY(parse_u64("--elements", value, &number, err));
    if (number == 0 || number > UINT64_C(1) << 32)
        return cupel_fail(err, CUPEL_USAGE, "--elements: expected 1 to 4294967296, found '%s'", value);
    s->elements = (int64_t)number;
    return CUPEL_OK;
}

static cupel_code set_seed(cupel_cli_settings *s, const char *value, cupel_error *err) {
    s->seed_given = true;
    return parse_u64("--seed", value, &s->seed, err);
}

#define TEXT_SETTER(name, field, option)                                                                     \
    static cupel_code name(cupel_cli_settings *s, const char *value, cupel_error *err) {                     \
        if (!value[0]) return cupel_fail(err, CUPEL_USAGE, option " needs a value, found an empty one");     \
        s->field = value;                                                                                    \
        return CUPEL_OK;                                                                                     \
    }
#define FLAG_SETTER(name, field)                                                                             \
    static cupel_code name(cupel_cli_settings *s, const char *value, cupel_error *err) {                     \
        (void)value, (void)err;                                                                              \
        s->field = true;                                                                                     \
        return CUPEL_OK;                                                                                     \
    }
#define LIST_SETTER(name, field)                                                                             \
    static cupel_code name(cupel_cli_settings *s, const char *value, cupel_error *err) {                     \
        return append(&s->field, value, err);                                                                \
    }
TEXT_SETTER(set_contract, contract, "--contract")
TEXT_SETTER(set_directory, directory, "-o")
TEXT_SETTER(set_objects, objects, "--objects")
FLAG_SETTER(set_dry_run, dry_run)
FLAG_SETTER(set_quiet, quiet)
FLAG_SETTER(set_help, help)
FLAG_SETTER(set_all, all)
FLAG_SETTER(set_gdb, gdb)
FLAG_SETTER(set_sanitize, sanitize)
LIST_SETTER(add_include, includes)
LIST_SETTER(add_define, defines)
LIST_SETTER(add_set, sets)
LIST_SETTER(add_type, types)
LIST_SETTER(add_param, params)
LIST_SETTER(add_pattern, patterns)
LIST_SETTER(add_special, specials)
LIST_SETTER(add_placement, placements)
LIST_SETTER(add_amplitude, amplitudes)
LIST_SETTER(add_centre, centres)

static cupel_code set_seconds(cupel_cli_settings *s, const char *value, cupel_error *err) {
    return parse_seconds(value, &s->seconds, err);
}
static cupel_code set_cases(cupel_cli_settings *s, const char *value, cupel_error *err) {
    CUPEL_TRY(parse_u64("--cases", value, &s->cases, err));
    return s->cases ? CUPEL_OK : cupel_fail(err, CUPEL_USAGE, "--cases: expected at least 1");
}
static cupel_code set_schedule(cupel_cli_settings *s, const char *value, cupel_error *err) {
    return cupel_schedule_read(value, &s->schedule, err);
}

static cupel_code set_history(cupel_cli_settings *s, const char *value, cupel_error *err) {
    const char *names[CUPEL_HISTORY_COUNT];
    cupel_recipe read = {0};
    if (cupel_history_read(value, &read)) {
        s->history = read.history;
        s->history_calls = read.calls;
        return CUPEL_OK;
    }
    if (strchr(value, ':'))
        return cupel_fail(err, CUPEL_USAGE,
                          "--history: expected NAME or NAME:CALLS with 1 to %d calls, found '%s'",
                          CUPEL_CALLS_MAX, value);
    for (int h = 0; h < CUPEL_HISTORY_COUNT; h++) names[h] = cupel_history_name((cupel_history)h);
    const char *near = cupel_text_nearest(value, names, CUPEL_HISTORY_COUNT);
    return cupel_fail(err, CUPEL_USAGE, "--history: unknown '%s', did you mean '%s'?", value,
                      near ? near : names[CUPEL_HISTORY_REPEAT]);
}

enum {
    SEARCH = CUPEL_CLI_CHECK | CUPEL_CLI_FUZZ,
    OF_BUNDLE = CUPEL_CLI_REPLAY | CUPEL_CLI_MINIMISE | CUPEL_CLI_EXPLAIN,
    ANY_RUN = SEARCH | CUPEL_CLI_RUN | CUPEL_CLI_DIFF | OF_BUNDLE,
    OF_SOURCE = ANY_RUN | CUPEL_CLI_BUILD, /* compiles the kernel */
    ALL =
        OF_SOURCE | CUPEL_CLI_OPS | CUPEL_CLI_GATES | CUPEL_CLI_INIT | CUPEL_CLI_DOCTOR | CUPEL_CLI_CALIBRATE
};

static const struct option_entry {
    const char *name;
    char letter; /* 0: none */
    const char *argument;
    int commands;
    setter set;
    const char *help;
} entries[] = {
    {"on", 0, "EXECUTOR", ANY_RUN & ~CUPEL_CLI_DIFF, set_executor,
     "emu (emulated CUDA), cuda (a GPU) or host (a C function); default: what the contract asks for"},
    {"on", 0, "A[,B]", CUPEL_CLI_DIFF, set_executors, "executors of the two sides: emu,cuda"},
    {"contract", 0, "ID", SEARCH | CUPEL_CLI_RUN | CUPEL_CLI_DIFF | CUPEL_CLI_BUILD | CUPEL_CLI_CALIBRATE,
     set_contract, "which contract of a file with several"},
    {"contract", 0, "KERNEL", CUPEL_CLI_INIT, set_contract, "which kernel of a file with several"},
    {"for", 0, "TIME", SEARCH | CUPEL_CLI_DIFF | CUPEL_CLI_MINIMISE, set_seconds, "time budget: 10s, 2m, 1h"},
    {"cases", 0, "N", SEARCH | CUPEL_CLI_DIFF | CUPEL_CLI_MINIMISE, set_cases,
     "number of cases; with --seed everything is repeatable"},
    {"cases", 0, "N", CUPEL_CLI_CALIBRATE, set_cases, "number of cases for each shadow; default 400"},
    {"seed", 0, "S", SEARCH | CUPEL_CLI_DIFF | CUPEL_CLI_RUN | CUPEL_CLI_CALIBRATE, set_seed,
     "seed of the search (run: of the values)"},
    {"elements", 0, "N", SEARCH | CUPEL_CLI_DIFF | CUPEL_CLI_CALIBRATE, set_elements,
     "largest case, in elements of all tensors; default 65536"},
    {"engine", 0, "NAME", SEARCH, set_engine, "where cases come from: libfuzzer (default) or draw"},
    {"standing", 0, "LEAST", SEARCH, set_standing, "proof (default) or evidence: what rejects"},
    {"sanitizer", 0, "WHAT", SEARCH, set_sanitizing,
     "races and more, beside the search (emu): on (default: up to 64 inputs), off, all"},
    {"sanitizer", 0, NULL, CUPEL_CLI_RUN, set_sanitize,
     "run it in front of the sanitizer too: races and more"},
    {"sample-blocks", 0, "WHAT", SEARCH, set_sample_blocks,
     "on (default): most searched cases run a part of a large grid; off: all of it"},
    {"gates", 0, "LIST", SEARCH, set_gates, "only these gates: CMP-01,EXC-01"},
    {"set", 0, "DIM=N", CUPEL_CLI_RUN, add_set, "value of a dim"},
    {"type", 0, "T=TYPE", CUPEL_CLI_RUN, add_type, "element type of a type variable"},
    {"param", 0, "NAME=X", CUPEL_CLI_RUN, add_param, "value of a param"},
    {"pattern", 0, "[X=]NAME", CUPEL_CLI_RUN, add_pattern,
     "values of all inputs, or of one: normal, ties, x=cancellation"},
    {"amplitude", 0, "[X=]A", CUPEL_CLI_RUN, add_amplitude, "size of the values"},
    {"centre", 0, "[X=]C", CUPEL_CLI_RUN, add_centre, "what the values lie around"},
    {"special", 0, "[X=]NAME", CUPEL_CLI_RUN, add_special,
     "special values: neg_zero, pos_inf, neg_inf, nan, mixed"},
    {"placement", 0, "[X=]NAME", CUPEL_CLI_RUN, add_placement,
     "where special values stand: single, sparse, row, tile, all"},
    {"schedule", 0, "WAY", CUPEL_CLI_RUN, set_schedule,
     "second run's: canonical, reverse, last_warp, random:7.."},
    {"history", 0, "NAME", CUPEL_CLI_RUN, set_history,
     "calls before the second run's: repeat, repeat:3, other_values, other_buffers, other_shape, "
     "first_again:2"},
    {"all", 'a', NULL, CUPEL_CLI_RUN | CUPEL_CLI_REPLAY, set_all, "show every element of the output"},
    {"format", 0, "FORMAT",
     SEARCH | CUPEL_CLI_DIFF | CUPEL_CLI_DOCTOR | CUPEL_CLI_OPS | CUPEL_CLI_CALIBRATE | CUPEL_CLI_GATES,
     set_format, "text (default) or json"},
    {"output", 'o', "DIR", SEARCH | CUPEL_CLI_MINIMISE, set_directory,
     "folder that gets crashes/ and corpus/; default: the current one"},
    {"output", 'o', "FILE", CUPEL_CLI_INIT, set_directory, "the file to write"},
    {"output", 'o', "DIR", CUPEL_CLI_BUILD, set_directory, "folder that gets the objects"},
    {"objects", 0, "DIR", ANY_RUN, set_objects, "what cupel build made: emulated kernels without a compiler"},
    {"include", 'I', "DIR", OF_SOURCE | CUPEL_CLI_INIT, add_include, "folder of the kernel's own headers"},
    {"define", 'D', "NAME[=V]", OF_SOURCE, add_define, "macro for the kernel"},
    {"dry-run", 0, NULL, CUPEL_CLI_CHECK, set_dry_run,
     "read the contract, say what would be checked, run nothing"},
    {"quiet", 'q', NULL, ANY_RUN | CUPEL_CLI_CALIBRATE, set_quiet, "no progress"},
    {"gdb", 0, NULL, CUPEL_CLI_REPLAY, set_gdb, "stop inside the emulated kernel, in gdb"},
    {"help", 'h', NULL, ALL, set_help, "this text"},
};
enum { ENTRY_COUNT = sizeof entries / sizeof *entries, LONG_BASE = 1000 };

static cupel_code unknown_option(int command, const char *command_name, const char *found, cupel_error *err) {
    const char *names[ENTRY_COUNT];
    size_t count = 0;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(found, "="), found);
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (entries[i].commands & command) names[count++] = entries[i].name;
    const char *name = word + strspn(word, "-"), *near = cupel_text_nearest(name, names, count);
    if (near) return cupel_fail(err, CUPEL_USAGE, "unknown option %s, did you mean --%s?", word, near);
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (strcmp(entries[i].name, name) == 0)
            return cupel_fail(err, CUPEL_USAGE, "this command does not take --%s", name);
    return cupel_fail(err, CUPEL_USAGE, "unknown option %s; cupel %s --help lists them", word, command_name);
}

/* getopt's tables out of ours, for one command. */
static void fill_tables(int command, struct option *longs, char *letters) {
    *letters++ = ':'; /* a missing argument is told from an unknown option */
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (!(entries[i].commands & command)) continue;
        *longs++ = (struct option){entries[i].name, entries[i].argument ? required_argument : no_argument,
                                   NULL, LONG_BASE + i};
        if (!entries[i].letter) continue;
        *letters++ = entries[i].letter;
        if (entries[i].argument) *letters++ = ':';
    }
    *longs = (struct option){0};
    *letters = '\0';
}

static int entry_of(int option) {
    if (option >= LONG_BASE) return option - LONG_BASE;
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (entries[i].letter && entries[i].letter == option) return i;
    return -1;
}

cupel_code cupel_cli_parse(int command, int argc, char **argv, cupel_cli_settings *out, cupel_error *err) {
    struct option longs[ENTRY_COUNT + 1];
    char letters[2 * ENTRY_COUNT + 2];
    *out =
        (cupel_cli_settings){.standing = CUPEL_STANDING_PROOF, .seed = 1, .sanitizing = default_sanitizing()};
    fill_tables(command, longs, letters);
    opterr = 0;
    optind = 0; /* getopt starts anew */
    for (;;) {
        int before = optind ? optind : 1;
        int option = getopt_long(argc, argv, letters, longs, NULL);
        if (option == -1) break;
        const char *word = optind > before ? argv[optind - 1] : argv[before];
        if (option == '?') return unknown_option(command, argv[0], word, err);
        if (option == ':') return cupel_fail(err, CUPEL_USAGE, "option %s needs a value", word);
        int entry = entry_of(option);
        if (entry < 0) return unknown_option(command, argv[0], word, err);
        CUPEL_TRY(entries[entry].set(out, optarg, err));
    }
    int operands = command & CUPEL_CLI_DOCTOR ? 0 : command & (OF_BUNDLE | CUPEL_CLI_DIFF) ? 2 : 1;
    if (argc - optind > operands)
        return cupel_fail(err, CUPEL_USAGE, "unexpected operand '%s'", argv[optind + operands]);
    if (optind < argc) out->operand = argv[optind];
    if (optind + 1 < argc) out->second = argv[optind + 1];
    return CUPEL_OK;
}

void cupel_cli_options_help(int command, FILE *out) {
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (!(entries[i].commands & command)) continue;
        char left[48];
        const char *argument = entries[i].argument ? entries[i].argument : "";
        if (entries[i].letter)
            snprintf(left, sizeof left, "-%c, --%s %s", entries[i].letter, entries[i].name, argument);
        else
            snprintf(left, sizeof left, "    --%s %s", entries[i].name, argument);
        fprintf(out, "  %-26s %s\n", left, entries[i].help);
    }
}
