#include "emu_compiler.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text.h"

extern char **environ;

cupel_code cupel_emu_compiler_run(const char *const *argv, const char *log, int seconds, bool *success,
                                  cupel_error *err) {
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child;
    /* posix_spawn promises to leave the strings alone, though its type does not say so */
    int failure = posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
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

cupel_code cupel_emu_compiler_find(const char *path, const char *log, cupel_arena *arena,
                                   cupel_emu_compiler *out, cupel_error *err) {
    *out = (cupel_emu_compiler){.path = path ? path : "clang"};
    const char *const argv[] = {out->path, "-E", "-v", "-x", "c++", "/dev/null", NULL};
    bool success = false;
    char *text = NULL;
    size_t length;
    CUPEL_TRY(cupel_emu_compiler_run(argv, log, 20, &success, err));
    CUPEL_TRY(cupel_text_read(log, arena, &text, &length, err));
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
