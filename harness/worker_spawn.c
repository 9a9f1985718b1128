#include "worker_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_limits.h"

extern char **environ;

/* File size: what a candidate may write, and what it may print, at most. Data: the backstop behind the watch
 * over resident memory. */
enum { FILE_BYTES_MAX = 256 << 20, DATA_FACTOR = 4, EXEC_SECONDS = 10, FILES_LEAST = 32, PARKED = 10 };

static void set_limits(uint64_t memory_limit) {
    cupel_child_limit(RLIMIT_CORE, 0);
    cupel_child_limit(RLIMIT_FSIZE, FILE_BYTES_MAX);
    cupel_child_limit_data(memory_limit * DATA_FACTOR);
}

static void reset_signals(void) {
    cupel_child_reset_signals();
    signal(SIGXFSZ, SIG_IGN); /* a write over the limit fails instead */
    signal(SIGPIPE, SIG_IGN);
}

static void place(int from, int to) {
    if (from == to)
        fcntl(from, F_SETFD, 0);
    else
        dup2(from, to);
}

/* In the child, between fork and exec: only what is safe there. The exec error goes to the pipe. */
static _Noreturn void become_worker(int socket, int board, int output, int pipe, uint64_t memory_limit,
                                    pid_t parent, char *const *environment) {
    static char name[] = "cupel", flag[] = "--worker", number[] = "3";
    char *const arguments[] = {name, flag, number, NULL};
    alarm(
        EXEC_SECONDS); /* cleared by the worker: exec on a dead network file system must not hang for ever */
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* the supervisor died before the line above */
    reset_signals();
    set_limits(memory_limit);
    int null = open("/dev/null", O_RDWR);
    /* Out of the way of the numbers that follow. */
    socket = fcntl(socket, F_DUPFD, PARKED);
    board = fcntl(board, F_DUPFD, PARKED);
    output = fcntl(output, F_DUPFD, PARKED);
    pipe = fcntl(pipe, F_DUPFD_CLOEXEC, PARKED);
    place(null, 0);
    place(null, 1);
    place(output, 2);
    place(socket, CUPEL_WORKER_SOCKET);
    place(board, CUPEL_WORKER_BOARD);
    close_range(CUPEL_WORKER_BOARD + 1, (unsigned)pipe - 1, 0);
    close_range((unsigned)pipe + 1, ~0u, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve("/proc/self/exe", arguments, environment);
    int error = errno;
    (void)!write(pipe, &error, sizeof error);
    _exit(127);
}

/* Sanitizers must leave signals to the worker: how it dies is what we want to know. */
static char **worker_environment(void) {
    static char options[] =
        "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:"
        "handle_abort=0:abort_on_error=1:allocator_may_return_null=1:detect_stack_use_after_return=0";
    size_t count = 0;
    while (environ[count]) count++;
    char **copy = calloc(count + 2, sizeof *copy);
    if (!copy) return NULL;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!CUPEL_SANITIZED || strncmp(environ[i], "ASAN_OPTIONS=", 13) != 0) copy[kept++] = environ[i];
    if (CUPEL_SANITIZED) copy[kept] = options;
    return copy;
}

/* The errno of a failed exec; 0 when exec closed the pipe. */
static int exec_error(int pipe) {
    int error = 0;
    ssize_t got;
    do got = read(pipe, &error, sizeof error);
    while (got < 0 && errno == EINTR);
    return got == sizeof error ? error : 0;
}

static void close_all(const int *fds, int count) {
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0) close(fds[i]);
}

/* Forks with all signals blocked, so that no handler of ours runs in the child. */
static pid_t fork_worker(const int sockets[2], int board, int output, const int pipes[2],
                         uint64_t memory_limit, char *const *environment) {
    sigset_t all, old;
    pid_t parent = getpid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    pid_t pid = fork();
    if (pid == 0) become_worker(sockets[1], board, output, pipes[1], memory_limit, parent, environment);
    sigprocmask(SIG_SETMASK, &old, NULL);
    return pid;
}

/* A child's descriptors are parked from PARKED on before they get their places, and the compiler needs some.
 */
static cupel_code expect_files(cupel_error *err) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= FILES_LEAST) return CUPEL_OK;
    return cupel_fail(err, CUPEL_WORKER,
                      "this process may open %llu files, workers need %d: raise the limit (ulimit -n)",
                      (unsigned long long)files.rlim_cur, FILES_LEAST);
}

cupel_code cupel_worker_spawn_child(int board, uint64_t memory_limit, cupel_worker_child *out,
                                    cupel_error *err) {
    int fds[5] = {-1, -1, -1, -1, -1}; /* socket pair, pipe, output */
    CUPEL_TRY(expect_files(err));
    char **environment = worker_environment();
    if (!environment || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) ||
        pipe2(fds + 2, O_CLOEXEC) || (fds[4] = memfd_create("cupel-worker-output", MFD_CLOEXEC)) < 0) {
        free(environment);
        close_all(fds, 5);
        return cupel_fail(err, CUPEL_WORKER, "no descriptors for a worker: %s", strerror(errno));
    }
    (void)fcntl(fds[4], F_SETFL, O_APPEND);
    pid_t pid = fork_worker(fds, board, fds[4], fds + 2, memory_limit, environment);
    free(environment);
    close(fds[1]);
    close(fds[3]);
    fds[1] = fds[3] = -1;
    int error = pid < 0 ? errno : exec_error(fds[2]);
    close(fds[2]);
    fds[2] = -1;
    if (pid < 0 || error) {
        if (pid > 0) waitpid(pid, NULL, 0);
        close_all(fds, 5);
        return cupel_fail(err, CUPEL_WORKER, "a worker cannot be started: %s", strerror(error));
    }
    *out = (cupel_worker_child){pid, fds[0], fds[4]};
    return CUPEL_OK;
}
