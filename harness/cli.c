#include "cli.h"

#include <errno.h>
#include <string.h>

#include "check.h"
#include "report.h"
#include "text.h"

#ifndef CUPEL_VERSION
#define CUPEL_VERSION "0.1.0"
#endif

static const struct command {
    const char *name;
    int bit;
    int (*run)(const cupel_cli_settings *settings);
    const char *usage, *about;
} commands[] = {
    {"check", CUPEL_CLI_CHECK, cupel_cli_check, "KERNEL [options]",
     "search for inputs that break the contract; a verdict over twelve gates"},
    {"fuzz", CUPEL_CLI_FUZZ, cupel_cli_fuzz, "KERNEL [options]",
     "an open-ended campaign with a live status screen"},
    {"init", CUPEL_CLI_INIT, cupel_cli_init, "FILE.cu [-o FILE]",
     "write a commented contract for the kernels of a file"},
    {"run", CUPEL_CLI_RUN, cupel_cli_run, "KERNEL [options]",
     "one case, with a table of got, allowed and exact values"},
    {"replay", CUPEL_CLI_REPLAY, cupel_cli_replay, "BUNDLE [KERNEL]", "run a counterexample again"},
    {"minimise", CUPEL_CLI_MINIMISE, cupel_cli_minimise, "BUNDLE [KERNEL]", "make a counterexample simpler"},
    {"explain", CUPEL_CLI_EXPLAIN, cupel_cli_explain, "BUNDLE [KERNEL]",
     "what a counterexample shows, and why"},
    {"diff", CUPEL_CLI_DIFF, cupel_cli_diff, "A [B]",
     "two kernels, or one on two executors: where they differ, and which is right"},
    {"calibrate", CUPEL_CLI_CALIBRATE, cupel_cli_calibrate, "CONTRACT [options]",
     "can the contract tell right from wrong? shadows with one fault each in place of the kernel"},
    {"build", CUPEL_CLI_BUILD, cupel_cli_build, "KERNEL -o DIR",
     "the emulated kernel as objects, for machines without a compiler"},
    {"doctor", CUPEL_CLI_DOCTOR, cupel_cli_doctor, "", "what this machine has, and what to install"},
    {"gates", CUPEL_CLI_GATES, cupel_cli_gates, "[ID]",
     "the twelve gates: what they assert, need and cost, and their names elsewhere"},
    {"ops", CUPEL_CLI_OPS, cupel_cli_ops, "[NAME]",
     "the functions of expressions, what they are in PyTorch, and the sources of their errors"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

/* Named in the design, not there yet: refused by name. */
static const char *const later[] = {"study"};

static void print_help(FILE *out) {
    fprintf(out, "cupel finds inputs for which a GPU kernel breaks what it claims.\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  cupel %-10s%-18s %s\n", commands[i].name, commands[i].usage, commands[i].about);
    fprintf(out, "  cupel %-10s%-18s %s\n", "COMMAND", "--help", "the options of a command");
    fprintf(out, "  cupel %-28s %s\n\n", "--version", "the version");
    fprintf(out, "Exit status: 0 accepted, 1 rejected (replay: still fails), 2 usage or contract error, 3 "
                 "inconclusive.\n");
}

int cupel_cli_complain(const cupel_error *err, bool json) {
    char text[1400];
    int status = cupel_check_error_status(err->code);
    fprintf(stderr, "cupel: %s\n", cupel_error_format(err, text, sizeof text));
    if (json) cupel_report_json_error(err, status, stdout);
    return status;
}

static int unknown_command(const char *name) {
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i].name;
    cupel_error err = {0};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (strcmp(name, later[i]) == 0) {
            (void)cupel_fail(&err, CUPEL_USAGE, "'cupel %s' is not there yet", name);
            return cupel_cli_complain(&err, false);
        }
    const char *near = cupel_text_nearest(name, names, COMMAND_COUNT);
    if (near)
        (void)cupel_fail(&err, CUPEL_USAGE, "unknown command '%s', did you mean '%s'?", name, near);
    else
        (void)cupel_fail(&err, CUPEL_USAGE, "unknown command '%s'; cupel --help lists them", name);
    return cupel_cli_complain(&err, false);
}

/* Was JSON asked for on a command line that could not be parsed? */
static bool wants_json(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--format=json") == 0 ||
            (strcmp(argv[i], "json") == 0 && strcmp(argv[i - 1], "--format") == 0))
            return true;
    return false;
}

static int run_command(const struct command *command, int argc, char **argv) {
    cupel_cli_settings settings;
    cupel_error err = {0};
    if (cupel_cli_parse(command->bit, argc, argv, &settings, &err) != CUPEL_OK)
        return cupel_cli_complain(&err, wants_json(argc, argv));
    if (settings.help) {
        printf("cupel %s %s\n%s.\n\n", command->name, command->usage, command->about);
        cupel_cli_options_help(command->bit, stdout);
        return 0;
    }
    if (!settings.operand && command->usage[0] && command->usage[0] != '[') {
        (void)cupel_fail(&err, CUPEL_USAGE, "expected: cupel %s %s", command->name, command->usage);
        return cupel_cli_complain(&err, settings.json);
    }
    return command->run(&settings);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("cupel %s\n", CUPEL_VERSION);
        return 0;
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0) return run_command(&commands[i], argc - 1, argv + 1);
    return unknown_command(argv[1]);
}

/* What could not be printed was not said: a full disk must not look like an answer. */
int cupel_cli_main(int argc, char **argv) {
    int status = dispatch(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "cupel: standard output could not be written: %s\n", strerror(errno));
    return cupel_check_error_status(CUPEL_IO);
}
