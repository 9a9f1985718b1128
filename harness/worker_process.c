#include "worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker_spawn.h"

/* How often a worker's limits are looked at, and how long one may take to die. */
enum {
    WATCH_MILLISECONDS = 20,
    DEATH_MILLISECONDS = 5000,
    STDERR_KEPT = 4096,
    GROWTH_BYTES = 64 << 20,
    GROWTH_PATIENCE = 10
};

typedef enum reason { ALIVE, ENDED, OVER_TIME, OVER_MEMORY, NONSENSE } reason;

struct cupel_worker {
    pid_t pid;
    int socket, output, statm; /* output: what it wrote to stderr */
    cupel_worker_shared *shared;
    cupel_worker_limits limits;
    reason reason;
    int status;          /* of waitpid, once it has ended */
    bool reaped, closed; /* closed: it let go of the socket and lived on */
    cupel_phase phase;   /* at its death */
    uint8_t *inbox;
    size_t used, capacity, taken;                /* taken: bytes of the message handed out last */
    uint64_t watched, run_started, run_resident; /* of the run at work: when it began, and the memory then */
};

uint64_t cupel_worker_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the board ---- */

cupel_code cupel_worker_board_create(cupel_worker_board *out, cupel_error *err) {
    out->shared = NULL;
    out->fd = memfd_create("cupel-board", MFD_CLOEXEC);
    if (out->fd < 0) return cupel_fail(err, CUPEL_IO, "no shared memory: %s", strerror(errno));
    if (ftruncate(out->fd, sizeof *out->shared) == 0) {
        void *memory = mmap(NULL, sizeof *out->shared, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, 0);
        if (memory != MAP_FAILED) out->shared = memory;
    }
    if (out->shared) return CUPEL_OK;
    cupel_code code = cupel_fail(err, CUPEL_IO, "no shared memory: %s", strerror(errno));
    cupel_worker_board_free(out);
    return code;
}

void cupel_worker_board_free(cupel_worker_board *board) {
    if (board->shared) munmap(board->shared, sizeof *board->shared);
    if (board->fd >= 0) close(board->fd);
    *board = (cupel_worker_board){.fd = -1};
}

/* ---- birth and death ---- */

cupel_code cupel_worker_spawn(const cupel_worker_board *board, const cupel_worker_limits *limits,
                              cupel_worker **out, cupel_error *err) {
    cupel_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return cupel_fail(err, CUPEL_MEMORY, "no memory for a worker");
    worker->statm = -1;
    worker->shared = board->shared;
    worker->limits = *limits;
    atomic_store(&board->shared->stop, 0);
    atomic_store(&board->shared->spent, 0);
    atomic_store(&board->shared->started, cupel_worker_now());
    atomic_store(&board->shared->phase, CUPEL_PHASE_PREPARING);
    cupel_worker_child child;
    cupel_code code = cupel_worker_spawn_child(board->fd, limits->memory, &child, err);
    if (code != CUPEL_OK) {
        free(worker);
        return code;
    }
    worker->pid = child.pid;
    worker->socket = child.socket;
    worker->output = child.output;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)child.pid);
    worker->statm = open(path, O_RDONLY | O_CLOEXEC);
    *out = worker;
    return CUPEL_OK;
}

static void nap(int milliseconds) {
    struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&rest, NULL);
}

/* Waits for the end of our own child only; gives up after a while on one that the kernel cannot end. */
static void reap(cupel_worker *worker, int milliseconds) {
    for (int waited = 0; !worker->reaped; waited++) {
        pid_t got = waitpid(worker->pid, &worker->status, WNOHANG);
        worker->reaped = got == worker->pid || (got < 0 && errno != EINTR);
        if (worker->reaped || waited >= milliseconds) return;
        nap(1);
    }
}

static void kill_group(const cupel_worker *worker) {
    kill(-worker->pid, SIGKILL);
    if (!worker->reaped) kill(worker->pid, SIGKILL);
}

/* The worker is to be no more, for this reason. Children that the candidate left behind go with it. */
static void finish(cupel_worker *worker, reason why) {
    if (worker->reason != ALIVE) return;
    worker->reason = why;
    worker->phase = (cupel_phase)atomic_load(&worker->shared->phase);
    if (why == ENDED) reap(worker, 500); /* an end of its own has a status, which a kill would hide */
    worker->closed = why == ENDED && !worker->reaped;
    kill_group(worker);
    reap(worker, DEATH_MILLISECONDS);
}

void cupel_worker_free(cupel_worker *worker) {
    if (!worker) return;
    finish(worker, NONSENSE);
    close(worker->socket);
    close(worker->output);
    if (worker->statm >= 0) close(worker->statm);
    free(worker->inbox);
    free(worker);
}

int cupel_worker_pid(const cupel_worker *worker) {
    return (int)worker->pid;
}

void cupel_worker_set_seconds(cupel_worker *worker, double seconds) {
    worker->limits.seconds = seconds;
}

/* ---- limits ---- */

static uint64_t resident_bytes(const cupel_worker *worker) {
    char text[128];
    ssize_t got = worker->statm >= 0 ? pread(worker->statm, text, sizeof text - 1, 0) : -1;
    if (got <= 0) return 0;
    text[got] = 0;
    unsigned long long total = 0, resident = 0;
    if (sscanf(text, "%llu %llu", &total, &resident) != 2) return 0;
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The limit is the candidate's; what the case's tensors take, as far as the worker is to be believed, is
 * ours.
 */
static uint64_t memory_limit(const cupel_worker *worker) {
    const uint64_t own = atomic_load(&worker->shared->own), most = worker->limits.memory;
    return most + (own < most ? own : most);
}

/* A run that eats memory is given the time to reach the other limit: it is no hang. */
static bool is_growing(cupel_worker *worker, uint64_t started, uint64_t resident) {
    if (started != worker->run_started) {
        worker->run_started = started;
        worker->run_resident = resident;
    }
    return resident > worker->run_resident + GROWTH_BYTES;
}

static bool over_time(cupel_worker *worker, uint64_t resident) {
    unsigned phase = atomic_load(&worker->shared->phase);
    uint64_t now = cupel_worker_now(), started = atomic_load(&worker->shared->started);
    double limit = phase == CUPEL_PHASE_RUNNING     ? worker->limits.seconds
                   : phase == CUPEL_PHASE_PREPARING ? worker->limits.prepare_seconds
                                                    : 0;
    if (phase == CUPEL_PHASE_RUNNING && is_growing(worker, started, resident)) limit *= GROWTH_PATIENCE;
    return limit > 0 && now > started && (double)(now - started) * 1e-9 > limit;
}

/* ---- messages ---- */

bool cupel_worker_send(cupel_worker *worker, cupel_message_type type, const void *payload, size_t size) {
    return worker->reason == ALIVE && cupel_protocol_send(worker->socket, type, payload, size);
}

/* Room for more bytes. The inbox grows as they arrive: a length alone, which may be a lie, allocates nothing.
 */
static bool make_room(cupel_worker *worker) {
    if (worker->capacity - worker->used >= 64 * 1024) return true;
    size_t capacity = worker->capacity ? 2 * worker->capacity : 256 * 1024;
    if (capacity > CUPEL_PROTOCOL_PAYLOAD_MAX + (1u << 20)) return false;
    uint8_t *inbox = realloc(worker->inbox, capacity);
    if (!inbox) return false;
    worker->inbox = inbox;
    worker->capacity = capacity;
    return true;
}

/* Reads what is there; false at the end of the stream. */
static bool fill_inbox(cupel_worker *worker) {
    if (!make_room(worker)) return false;
    ssize_t got =
        recv(worker->socket, worker->inbox + worker->used, worker->capacity - worker->used, MSG_DONTWAIT);
    if (got > 0) worker->used += (size_t)got;
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* The socket alone does not tell: a process that the candidate started may hold it open. */
static bool has_ended(cupel_worker *worker) {
    if (waitpid(worker->pid, &worker->status, WNOHANG) == worker->pid) worker->reaped = true;
    return worker->reaped;
}

/* What it said last is still in the socket. */
static void read_rest(cupel_worker *worker) {
    size_t before;
    do before = worker->used;
    while (fill_inbox(worker) && worker->used != before);
}

void cupel_worker_watch(cupel_worker *worker) {
    if (!worker || worker->reason != ALIVE) return;
    uint64_t now = cupel_worker_now();
    if (now - worker->watched < WATCH_MILLISECONDS * 1000000u / 2) return;
    worker->watched = now;
    uint64_t resident = resident_bytes(worker);
    if (has_ended(worker)) {
        read_rest(worker);
        finish(worker, ENDED);
    } else if (resident > memory_limit(worker))
        finish(worker, OVER_MEMORY);
    else if (over_time(worker, resident))
        finish(worker, OVER_TIME);
}

typedef enum parcel { INCOMPLETE, COMPLETE, BROKEN } parcel;

static parcel next_message(cupel_worker *worker, cupel_header *header, const uint8_t **payload) {
    if (worker->used < CUPEL_PROTOCOL_HEADER) return INCOMPLETE;
    if (!cupel_protocol_get_header(worker->inbox, header)) return BROKEN;
    if (worker->used - CUPEL_PROTOCOL_HEADER < header->length) return INCOMPLETE;
    *payload = worker->inbox + CUPEL_PROTOCOL_HEADER;
    worker->taken = CUPEL_PROTOCOL_HEADER + (size_t)header->length;
    return COMPLETE;
}

static void forget_taken(cupel_worker *worker) {
    memmove(worker->inbox, worker->inbox + worker->taken, worker->used - worker->taken);
    worker->used -= worker->taken;
    worker->taken = 0;
}

cupel_worker_event cupel_worker_wait(cupel_worker *worker, int milliseconds, cupel_header *header,
                                     const uint8_t **payload) {
    if (worker->taken) forget_taken(worker);
    uint64_t until = cupel_worker_now() + (uint64_t)milliseconds * 1000000u;
    for (;;) {
        parcel parcel = next_message(worker, header, payload);
        if (parcel == COMPLETE) return CUPEL_WORKER_MESSAGE;
        if (parcel == BROKEN) finish(worker, NONSENSE);
        if (worker->reason != ALIVE) return CUPEL_WORKER_DEATH;
        uint64_t now = cupel_worker_now();
        if (now >= until) return CUPEL_WORKER_QUIET;
        int left = (int)((until - now) / 1000000u) + 1;
        struct pollfd poller = {.fd = worker->socket, .events = POLLIN};
        int ready = poll(&poller, 1, left < WATCH_MILLISECONDS ? left : WATCH_MILLISECONDS);
        if (ready > 0 && !fill_inbox(worker)) finish(worker, ENDED);
        cupel_worker_watch(worker);
    }
}

/* ---- what a death means ---- */

bool cupel_worker_overran(const cupel_worker *worker) {
    return worker->reason == OVER_TIME;
}

bool cupel_worker_overfilled(const cupel_worker *worker) {
    return worker->reason == OVER_MEMORY;
}

cupel_phase cupel_worker_last_phase(const cupel_worker *worker) {
    return worker->phase;
}

/* Its status is its own, not the mark of our kill. */
static bool ended_by_itself(const cupel_worker *worker) {
    return worker->reason == ENDED && worker->reaped && !worker->closed;
}

bool cupel_worker_killed_by_stranger(const cupel_worker *worker) {
    return ended_by_itself(worker) && WIFSIGNALED(worker->status) && WTERMSIG(worker->status) == SIGKILL;
}

static void read_output(const cupel_worker *worker, char text[STDERR_KEPT]) {
    off_t size = lseek(worker->output, 0, SEEK_END);
    off_t from = size > STDERR_KEPT - 1 ? size - (STDERR_KEPT - 1) : 0;
    ssize_t got = pread(worker->output, text, STDERR_KEPT - 1, from);
    text[got > 0 ? got : 0] = 0;
    for (char *c = text; c < text + (got > 0 ? got : 0); c++)
        if (!*c) *c = ' ';
}

/* What glibc's allocator (or the sanitizers') says before it gives up. */
static bool tells_of_heap(const char *output) {
    static const char *const signs[] = {
        "malloc():",           "malloc_consolidate():", "free():",
        "realloc():",          "corrupted size",        "corrupted double-linked",
        "double free",         "munmap_chunk():",       "heap-buffer-overflow",
        "heap-use-after-free", "attempting free",       "mallopt():",
        "corrupted top size",  "invalid next size"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(output, signs[i])) return true;
    return false;
}

static void last_line(const char *output, char *line, size_t size) {
    size_t length = strlen(output);
    while (length && (output[length - 1] == '\n' || output[length - 1] == ' ')) length--;
    size_t start = length;
    while (start && output[start - 1] != '\n') start--;
    snprintf(line, size, "%.*s", (int)(length - start < 300 ? length - start : 300), output + start);
}

static void explain_signal(const cupel_worker *worker, const char *output, cupel_observation *out) {
    char line[320];
    int number = WTERMSIG(worker->status);
    last_line(output, line, sizeof line);
    if (number == SIGABRT && tells_of_heap(output)) {
        out->fault = CUPEL_FAULT_HEAP;
        snprintf(out->text, sizeof out->text, "the candidate damaged the heap: %s", line);
    } else if (number == SIGABRT && strstr(output, "Assertion `")) {
        out->fault = CUPEL_FAULT_ASSERT;
        snprintf(out->text, sizeof out->text, "%s", line);
    } else if (worker->phase == CUPEL_PHASE_AFTER && number != SIGKILL) {
        out->fault = CUPEL_FAULT_HEAP;
        snprintf(out->text, sizeof out->text, "the process broke down (%s) after the candidate had returned",
                 strsignal(number));
    } else {
        out->fault = CUPEL_FAULT_CRASH;
        out->signal = number;
        snprintf(out->text, sizeof out->text, "the candidate ended with signal %d (%s)", number,
                 strsignal(number));
    }
}

void cupel_worker_death(const cupel_worker *worker, cupel_observation *out) {
    memset(out, 0, sizeof *out);
    out->outcome = CUPEL_RUN_FAULT;
    char output[STDERR_KEPT];
    read_output(worker, output);
    if (worker->reason == OVER_TIME) {
        out->fault = CUPEL_FAULT_HANG;
        snprintf(out->text, sizeof out->text, "no end after %g seconds", worker->limits.seconds);
    } else if (worker->reason == OVER_MEMORY) {
        out->fault = CUPEL_FAULT_MEMORY;
        snprintf(out->text, sizeof out->text, "the candidate used more than %llu MiB of memory",
                 (unsigned long long)(worker->limits.memory >> 20));
    } else if (ended_by_itself(worker) && WIFSIGNALED(worker->status)) {
        explain_signal(worker, output, out);
    } else if (ended_by_itself(worker) && WIFEXITED(worker->status) && tells_of_heap(output)) {
        out->fault = CUPEL_FAULT_HEAP; /* a sanitizer ends by exit */
        snprintf(out->text, sizeof out->text, "the candidate damaged the heap");
    } else if (ended_by_itself(worker) && WIFEXITED(worker->status)) {
        out->fault = CUPEL_FAULT_EXIT;
        snprintf(out->text, sizeof out->text, "the candidate ended the process with exit status %d",
                 WEXITSTATUS(worker->status));
    } else {
        out->fault = worker->reason == NONSENSE ? CUPEL_FAULT_HEAP : CUPEL_FAULT_EXIT;
        snprintf(out->text, sizeof out->text, "%s",
                 worker->reason == NONSENSE
                     ? "the candidate damaged the memory of the process that ran it"
                     : "the candidate closed the descriptors of the process that ran it");
    }
}
