#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli_bundle.h"
#include "emu_abi.h"
#include "gdb.h"

/* Set for the process that runs within gdb. */
static const char debugged[] = "CUPEL_DEBUGGED";

/* The fixed commands. gdb's own Python walks the frames, for how many lie between the hook and the kernel
 * depends on how this program was compiled. cache, block_word and thread_word are set before. */
static const char commands[] =
    "set pagination off\n"
    "set confirm off\n"
    "set breakpoint pending on\n"
    "set startup-with-shell off\n"
    "handle SIGVTALRM nostop noprint pass\n"
    "break cupel_emu_watch_hit\n"
    "break cupel_gdb_start\n"
    "python\n"
    "import gdb, os\n"
    "try:\n"
    "    gdb.execute('set debuginfod enabled off')\n"
    "except gdb.error:\n"
    "    pass\n"
    "def frames():\n"
    "    frame = gdb.newest_frame()\n"
    "    while frame is not None:\n"
    "        yield frame\n"
    "        try:\n"
    "            frame = frame.older()\n"
    "        except gdb.error:\n"
    "            return\n"
    "def of_the_author(frame):\n"
    "    table = frame.find_sal().symtab\n"
    "    return table and table.objfile.filename.startswith(cache) and not "
    "os.path.basename(table.filename).startswith('cupel_')\n"
    "def show():\n"
    "    try:\n"
    "        frame = next((f for f in frames() if of_the_author(f)), None)\n"
    "    except gdb.error:\n"
    "        return\n"
    "    if frame is None:\n"
    "        return\n"
    "    frame.select()\n"
    "    try:\n"
    "        at = '((unsigned int *)&cupel_emu_registers)[%d]'\n"
    "        words = [block_word + i for i in range(3)] + [thread_word + i for i in range(3)]\n"
    "        numbers = tuple(int(gdb.parse_and_eval(at % i)) for i in words)\n"
    "        print('blockIdx (%d, %d, %d), threadIdx (%d, %d, %d)' % numbers)\n"
    "    except gdb.error:\n"
    "        pass\n"
    "    gdb.execute('frame')\n"
    "gdb.execute('run')\n"
    "try:\n"
    "    if gdb.newest_frame().name() == 'cupel_gdb_start':\n"
    "        gdb.execute('tbreak ' + gdb.parse_and_eval('(char *)&cupel_gdb_place').string())\n"
    "        gdb.execute('continue')\n"
    "    show()\n"
    "except gdb.error as problem:\n"
    "    print(problem)\n"
    "end\n";

static cupel_code write_all(int fd, const char *text, size_t length, cupel_error *err) {
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0)
            return cupel_fail(err, CUPEL_IO, "gdb's commands cannot be written: %s", strerror(errno));
        text += written;
        length -= (size_t)written;
    }
    return CUPEL_OK;
}

/* A file without a name, for `gdb -x`. batch: it ends with a backtrace. */
static cupel_code write_commands(const char *cache, bool batch, int *fd, cupel_error *err) {
    char first[PATH_MAX * 2], real[PATH_MAX];
    const char *folder = realpath(cache, real) ? real : cache;
    size_t used = (size_t)snprintf(first, sizeof first, "python cache = '");
    for (const char *p = folder; *p && used + 80 < sizeof first; p++) {
        if (*p == '\'' || *p == '\\') first[used++] = '\\';
        first[used++] = *p;
    }
    used += (size_t)snprintf(first + used, sizeof first - used,
                             "'\npython block_word = %zu\npython thread_word = %zu\n",
                             offsetof(cupel_emu_registers_t, block) / sizeof(uint32_t),
                             offsetof(cupel_emu_registers_t, thread) / sizeof(uint32_t));
    *fd = memfd_create("cupel-gdb", 0);
    if (*fd < 0) return cupel_fail(err, CUPEL_IO, "no file for gdb's commands: %s", strerror(errno));
    CUPEL_TRY(write_all(*fd, first, used, err));
    CUPEL_TRY(write_all(*fd, commands, sizeof commands - 1, err));
    return batch ? write_all(*fd, "backtrace\n", 10, err) : CUPEL_OK;
}

typedef struct command_line {
    const char *argv[256];
    int count;
} command_line;

static void add(command_line *line, const char *argument) {
    if (line->count < (int)(sizeof line->argv / sizeof *line->argv) - 1) line->argv[line->count++] = argument;
}

/* The words of CUPEL_GDB_ARGS. */
static void add_own_arguments(command_line *line) {
    const char *own = getenv("CUPEL_GDB_ARGS");
    char *copy = own ? strdup(own) : NULL; /* lives until this process is replaced */
    for (char *word = copy ? strtok(copy, " ") : NULL; word; word = strtok(NULL, " ")) add(line, word);
}

static void add_list(command_line *line, const char *option, const cupel_cli_list *list) {
    for (int i = 0; i < list->count; i++) {
        add(line, option);
        add(line, list->items[i]);
    }
}

/* This very command, once more. */
static void add_command(command_line *line, const char *self, const cupel_cli_settings *settings) {
    add(line, "--args");
    add(line, self);
    add(line, "replay");
    add(line, "--gdb");
    if (settings->executor) {
        add(line, "--on");
        add(line, settings->executor);
    }
    add_list(line, "-D", &settings->defines);
    add_list(line, "-I", &settings->includes);
    add(line, settings->operand);
    if (settings->second) add(line, settings->second);
}

static cupel_code start(const cupel_cli_settings *settings, const char *cache, cupel_error *err) {
    char self[PATH_MAX], script[64];
    int fd = -1;
    bool batch = !isatty(STDIN_FILENO);
    command_line line = {0};
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) return cupel_fail(err, CUPEL_IO, "this program cannot be found: %s", strerror(errno));
    self[length] = '\0';
    CUPEL_TRY(write_commands(cache, batch, &fd, err));
    snprintf(script, sizeof script, "/proc/%ld/fd/%d", (long)getpid(),
             fd); /* gdb takes this process's place */
    add(&line, "gdb");
    add(&line, "-q");
    if (batch) add(&line, "-nx");
    if (batch) add(&line, "-batch");
    add(&line, "-x");
    add(&line, script);
    add_own_arguments(&line);
    add_command(&line, self, settings);
    fflush(stdout);
    union {
        const char *const *words;
        char *const *argv; /* exec changes nothing */
    } as_exec_wants = {line.argv};
    setenv(debugged, "1", 1);
    execvp("gdb", as_exec_wants.argv);
    int problem = errno;
    close(fd);
    if (problem == ENOENT)
        return cupel_fail(err, CUPEL_UNSUPPORTED,
                          "--gdb needs gdb, which is not installed (Debian: apt install gdb)");
    return cupel_fail(err, CUPEL_IO, "gdb cannot be started: %s", strerror(problem));
}

static cupel_code expect_cpu(const char *executor, cupel_error *err) {
    if (strcmp(executor, "emu") == 0 || strcmp(executor, "host") == 0) return CUPEL_OK;
    return cupel_fail(err, CUPEL_UNSUPPORTED, "gdb sees what runs on this CPU; use --on emu, not --on %s",
                      executor);
}

/* Opens the bundle first: its mistakes are told here, not within gdb. */
static cupel_code launch(const cupel_cli_settings *settings, cupel_error *err) {
    char bundle[1024];
    cupel_cli_bundle *opened = calloc(1, sizeof *opened);
    if (!opened) return cupel_fail(err, CUPEL_MEMORY, "no memory for the bundle");
    cupel_cli_bundle_name(settings->operand, bundle, sizeof bundle);
    cupel_code code = cupel_cli_bundle_open("replay", settings, bundle, false, opened, err);
    if (code == CUPEL_OK) {
        code = expect_cpu(opened->session.supervisor.executor, err);
        if (code == CUPEL_OK) code = start(settings, opened->session.cache, err);
        cupel_cli_bundle_close(opened);
    }
    free(opened);
    return code;
}

int cupel_gdb_replay(const cupel_cli_settings *settings) {
    cupel_error err = {0};
    if (getenv(debugged)) return cupel_gdb_inferior(settings);
    if (launch(settings, &err) == CUPEL_OK) return 0;
    return cupel_cli_complain(&err, false);
}
