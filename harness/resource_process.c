/* The compiler that reads untrusted source works in a child process: without network, the file system
 * read-only, for a limited time. Its answer is one struct through a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child_limits.h"
#include "resource_use.h"
#include "shrink.h"
#include "worker_isolation.h"

enum { CPU_SECONDS = 300, FILE_BYTES = 256 << 20, NAP_MILLISECONDS = 1, GRACE_NAPS = 500, LOOK_SECONDS = 1 };

/* Of a compiler that expands templates without end; sanitizers map more than that at once. */
static const rlim_t data_bytes = (rlim_t)8 << 30;

struct cupel_resources_job {
    pid_t pid;
    int pipe;
};

static void prepare_child(const cupel_executor_options *options, pid_t parent, int answer) {
    char ignored[512];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* it died before the line above */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && null >= 0; fd++) (void)dup2(null, fd);
    if (dup2(answer, 3) == 3) (void)close_range(4, ~0u, 0); /* others' ends of others' sockets */
    cupel_child_reset_signals();
    (void)setpgid(0, 0);
    cupel_child_limit(RLIMIT_CORE, 0);
    cupel_child_limit(RLIMIT_CPU, CPU_SECONDS);
    cupel_child_limit(RLIMIT_FSIZE, FILE_BYTES);
    cupel_child_limit_data(data_bytes);
    if (options->cache) setenv("TMPDIR", options->cache, 1);
    cupel_worker_isolate(options->cache, false, ignored, sizeof ignored);
}

static void write_all(int fd, const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t wrote = write(fd, (const char *)bytes + done, size - done);
        if (wrote <= 0 && errno != EINTR) return;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
}

static _Noreturn void be_child(const cupel_contract *contract, const cupel_executor_options *options,
                               pid_t parent, int answer) {
    static cupel_resources found; /* the process has this one job */
    prepare_child(options, parent, answer);
    cupel_resources_architectures(contract, contract->limit_count ? 0 : cupel_resources_device(), &found);
    cupel_resources_compile(contract, options, &found);
    write_all(3, &found, sizeof found);
    _exit(0);
}

cupel_resources_job *cupel_resources_start(const cupel_contract *contract,
                                           const cupel_executor_options *options) {
    int ends[2];
    cupel_resources_job *job = calloc(1, sizeof *job);
    if (!job || pipe2(ends, O_CLOEXEC) != 0) {
        free(job);
        return NULL;
    }
    pid_t parent = getpid();
    job->pid = fork();
    if (job->pid == 0) be_child(contract, options, parent, ends[1]);
    close(ends[1]);
    job->pipe = ends[0];
    if (job->pid > 0) return job;
    close(ends[0]);
    free(job);
    return NULL;
}

static bool is_set(const volatile sig_atomic_t *stop) {
    return stop && *stop;
}

/* False when the time ended first, or stop was set. */
static bool read_all(int fd, void *bytes, size_t size, double until, const volatile sig_atomic_t *stop,
                     size_t *got) {
    for (*got = 0; *got < size;) {
        double left = is_set(stop) ? 0 : until - cupel_shrink_now();
        struct pollfd poller = {.fd = fd, .events = POLLIN};
        int most = left < LOOK_SECONDS ? (int)(left * 1000) + NAP_MILLISECONDS : LOOK_SECONDS * 1000;
        int ready = left > 0 ? poll(&poller, 1, most) : 0;
        if (left > 0 && (ready == 0 || (ready < 0 && errno == EINTR))) continue;
        if (ready <= 0) return false;
        ssize_t part = read(fd, (char *)bytes + *got, size - *got);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) return true;
        *got += (size_t)part;
    }
    return true;
}

/* An end of its own has a status, for which it gets a moment. Whatever it started goes with it. */
static void end_child(pid_t pid, bool may_have_ended, int *status) {
    bool reaped = false;
    for (int i = 0; may_have_ended && !reaped && i < GRACE_NAPS; i++) {
        const struct timespec nap = {.tv_nsec = NAP_MILLISECONDS * 1000000L};
        reaped = waitpid(pid, status, WNOHANG) == pid;
        if (!reaped) nanosleep(&nap, NULL);
    }
    (void)kill(-pid, SIGKILL);
    if (reaped) return;
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
    }
}

/* The process may have been damaged by what it compiled: no count and no text of it is taken on trust. */
static bool make_sound(cupel_resources *r) {
    bool sound = r->count >= 0 && r->count <= CUPEL_COMPILED_MAX && r->dropped >= 0;
    r->compiler[sizeof r->compiler - 1] = r->missing[sizeof r->missing - 1] = r->note[sizeof r->note - 1] =
        '\0';
    for (int i = 0; sound && i < r->count; i++) {
        cupel_compiled *made = &r->compiled[i];
        made->entry[sizeof made->entry - 1] = '\0';
        sound = made->registers >= 0 && made->registers <= 1024 && made->shared >= 0 &&
                made->shared <= INT32_MAX && made->local >= 0 && made->max_threads >= 0;
    }
    return sound;
}

/* Those of the contract; else one, which is that of a GPU at hand. */
static bool names_architectures(const cupel_contract *contract, const cupel_resources *expected,
                                const cupel_resources *answer) {
    if (answer->architecture_count != expected->architecture_count) return false;
    if (!contract->limit_count) return cupel_device_limits_of(answer->architectures[0]) != NULL;
    return memcmp(answer->architectures, expected->architectures, sizeof answer->architectures) == 0;
}

static void tell_end(bool timed_out, bool stopped, int status, cupel_resources *out) {
    if (timed_out && stopped)
        snprintf(out->missing, sizeof out->missing, "interrupted before compiling for a GPU was done");
    else if (timed_out)
        snprintf(out->missing, sizeof out->missing, "compiling for a GPU took too long");
    else if (WIFSIGNALED(status))
        snprintf(out->missing, sizeof out->missing, "the compiler for a GPU ended with signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(out->missing, sizeof out->missing, "the compiler for a GPU gave no answer");
}

void cupel_resources_wait(cupel_resources_job *job, const cupel_contract *contract, double seconds,
                          const volatile sig_atomic_t *stop, cupel_resources *out) {
    cupel_resources answer;
    size_t got = 0;
    int status = 0;
    cupel_resources_architectures(contract, 0, out);
    if (!job) {
        snprintf(out->missing, sizeof out->missing, "no process to compile for a GPU could be started");
        return;
    }
    bool ended = read_all(job->pipe, &answer, sizeof answer, cupel_shrink_now() + seconds, stop, &got);
    bool whole = ended && got == sizeof answer;
    end_child(job->pid, ended && !whole, &status);
    if (whole && names_architectures(contract, out, &answer) && make_sound(&answer))
        *out = answer;
    else
        tell_end(!ended, is_set(stop), status, out);
    close(job->pipe);
    free(job);
}
