#include "emu_compiler.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text.h"

/* In the child: the command, whose end ours brings about; the error that kept it from starting goes to the
 * pipe. */
static _Noreturn void be_command(const char *const *argv, const char *log, pid_t parent, int pipe) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127); /* it died before the line above */
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (in >= 0 && out >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(out, STDERR_FILENO) >= 0)
        /* exec promises to leave the strings alone, though its type does not say so */
        (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
    int error = errno;
    (void)!write(pipe, &error, sizeof error);
    _exit(127);
}

/* 0 once the command runs; else the errno that kept it from it. */
static int start(const char *const *argv, const char *log, pid_t *child) {
    int pipe[2], error = 0;
    pid_t parent = getpid();
    if (pipe2(pipe, O_CLOEXEC) != 0) return errno;
    *child = fork();
    if (*child == 0) be_command(argv, log, parent, pipe[1]);
    int failure = *child < 0 ? errno : 0;
    close(pipe[1]);
    ssize_t got = 0;
    while (!failure && (got = read(pipe[0], &error, sizeof error)) < 0 && errno == EINTR) {
    }
    close(pipe[0]);
    if (failure || got != sizeof error) return failure;
    while (waitpid(*child, NULL, 0) < 0 && errno == EINTR) {
    }
    return error;
}

cupel_code cupel_emu_compiler_run(const char *const *argv, const char *log, int seconds, bool *success,
                                  cupel_error *err) {
    pid_t child;
    int failure = start(argv, log, &child);
    if (failure == ENOSPC || failure == EDQUOT)
        return cupel_fail(err, CUPEL_IO, "cannot write %s: %s", log, strerror(failure));
    if (failure == EMFILE || failure == ENFILE || failure == EAGAIN)
        return cupel_fail(err, CUPEL_UNABLE, "cannot run '%s': %s", argv[0], strerror(failure));
    if (failure)
        return cupel_fail(err, CUPEL_UNSUPPORTED,
                          "cannot run '%s' (%s): the emulator needs clang 14 or newer to compile kernels; "
                          "install the package clang (apt-get install clang)",
                          argv[0], strerror(failure));
    struct rlimit limit = {.rlim_cur = (rlim_t)seconds, .rlim_max = (rlim_t)seconds};
    prlimit(child, RLIMIT_CPU, &limit, NULL);
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return cupel_fail(err, CUPEL_IO, "lost the compiler: %s", strerror(errno));
    *success = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "cannot run '%s': install the package clang (14 or newer)",
                          argv[0]);
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
        return cupel_fail(err, CUPEL_BUILD, "the compiler was stopped after %d seconds", seconds);
    return CUPEL_OK;
}

cupel_code cupel_emu_compiler_room(const char *log, cupel_error *err) {
    static const char probe[1 << 16];
    char path[4096];
    if (snprintf(path, sizeof path, "%s.room", log) >= (int)sizeof path) return CUPEL_OK;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool opened = fd >= 0;
    ssize_t wrote = opened ? write(fd, probe, sizeof probe) : -1;
    int error = wrote < 0 ? errno : wrote < (ssize_t)sizeof probe ? ENOSPC : 0;
    if (opened && close(fd) != 0 && !error) error = errno;
    if (opened) (void)unlink(path);
    return error ? cupel_fail(err, CUPEL_IO, "cannot write %s: %s", log, strerror(error)) : CUPEL_OK;
}

cupel_code cupel_emu_compiler_find(const char *path, const char *log, cupel_arena *arena,
                                   cupel_emu_compiler *out, cupel_error *err) {
    *out = (cupel_emu_compiler){.path = path ? path : "clang"};
    const char *const argv[] = {out->path, "-E", "-v", "-x", "c++", "/dev/null", NULL};
    bool success = false;
    char *text = NULL;
    size_t length;
    CUPEL_TRY(cupel_emu_compiler_run(argv, log, 20, &success, err));
    CUPEL_TRY(cupel_text_read(log, arena, &text, &length, err));
    if (!success || length == 0) CUPEL_TRY(cupel_emu_compiler_room(log, err));
    char *line = success ? strstr(text, "#include <...> search starts here:\n") : NULL;
    if (!line)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "'%s' does not say where its headers are; is it clang?",
                          out->path);
    line = strchr(line, '\n') + 1;
    while (*line == ' ' && out->include_count < 16) {
        char *end = strchr(line, '\n');
        if (!end) break;
        *end = '\0';
        out->includes[out->include_count++] = line + 1;
        line = end + 1;
    }
    return CUPEL_OK;
}

/* Splits "file:line:column: kind: text" at the kind; false when the line has another form. */
static bool split(char *line, const char *kind, cupel_emu_diagnostic *out) {
    char *mark = strstr(line, kind);
    if (!mark) return false;
    *mark = '\0';
    char *column = strrchr(line, ':');
    if (!column || !isdigit((unsigned char)column[1])) return false;
    *column = '\0';
    char *number = strrchr(line, ':');
    if (!number || !isdigit((unsigned char)number[1])) return false;
    *number = '\0';
    *out = (cupel_emu_diagnostic){
        .file = line, .line = atoi(number + 1), .column = atoi(column + 1), .text = mark + strlen(kind)};
    return true;
}

static bool foreign(const char *file, const char *prefix) {
    return strncmp(file, prefix, strlen(prefix)) == 0 || strncmp(file, "/usr/", 5) == 0 || file[0] == '<';
}

cupel_code cupel_emu_compiler_diagnostics(const char *log, const char *prefix, cupel_arena *arena, int *count,
                                          cupel_emu_diagnostic **out, cupel_error *err) {
    char *text, *rest = NULL;
    size_t length, lines = 1;
    CUPEL_TRY(cupel_text_read(log, arena, &text, &length, err));
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    *out = cupel_arena_raw(arena, lines, sizeof **out);
    if (!*out) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    *count = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        cupel_emu_diagnostic found;
        cupel_emu_diagnostic *last = *count ? &(*out)[*count - 1] : NULL;
        char *copy = cupel_arena_text(arena, line, strlen(line));
        if (!copy) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
        if (split(line, ": error: ", &found) || split(copy, ": fatal error: ", &found)) {
            (*out)[(*count)++] = found;
        } else if (last && foreign(last->file, prefix) && split(copy, ": note: ", &found) &&
                   !foreign(found.file, prefix)) {
            last->file = found.file;
            last->line = found.line;
            last->column = found.column;
        }
    }
    return CUPEL_OK;
}
