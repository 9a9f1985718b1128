/* Worker processes that misbehave in every way, played by this program itself: started as a worker, it does
 * what the first command says. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor_impl.h"
#include "worker_process.h"
#include "worker_spawn.h"

/* ---- the worker's side ---- */

static void hang(void) {
    for (;;) pause();
}

static void eat_memory(void) {
    for (;;) {
        char *volatile block = malloc(16 << 20);
        if (block) memset(block, 1, 16 << 20);
    }
}

/* 130 MiB for long enough to be seen. */
static void eat_some(void) {
    enum { SIZE = 130 << 20 };
    char *volatile block = malloc(SIZE);
    if (block) memset(block, 1, SIZE);
    usleep(300000);
    free(block);
}

static void damage_heap(void) {
    char *volatile block = malloc(40);
    memset(block - 8, 0xff, 8); /* the size field of its own chunk */
    free(block);
}

static void send_half_a_message(void) {
    uint8_t header[CUPEL_PROTOCOL_HEADER];
    cupel_protocol_put_header((cupel_header){CUPEL_MESSAGE_OBSERVED, 1 << 30}, header);
    (void)!write(CUPEL_WORKER_SOCKET, header, sizeof header);
    hang();
}

static void send_nonsense(void) {
    (void)!write(CUPEL_WORKER_SOCKET, "this is not a message at all", 28);
    hang();
}

static void leave_a_child(void) {
    if (fork() == 0) {
        setvbuf(stdout, NULL, _IONBF, 0);
        hang();
    }
    _exit(5);
}

static void assert_fails(void) {
    fputs("k.c:3: f: Assertion `n > 0' failed.\n", stderr);
    abort();
}

static void print_much(void) {
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 400; i++)
        if (write(2, block, sizeof block) < 0) _exit(6); /* over the limit: an error, not an end */
    _exit(7);
}

static void overflow_into_nothing(void) {
    raise(SIGSEGV);
}
static void divide(void) {
    raise(SIGFPE);
}
static void end_quietly(void) {
    exit(0);
}
static void end_with_three(void) {
    _exit(3);
}
static void give_up(void) {
    abort();
}
static void close_everything(void) {
    close(CUPEL_WORKER_SOCKET);
    hang();
}

static const struct {
    const char *name;
    void (*act)(void);
} acts[] = {{"hang", hang},
            {"eat", eat_memory},
            {"some", eat_some},
            {"heap", damage_heap},
            {"half", send_half_a_message},
            {"nonsense", send_nonsense},
            {"child", leave_a_child},
            {"assert", assert_fails},
            {"print", print_much},
            {"segv", overflow_into_nothing},
            {"fpe", divide},
            {"exit0", end_quietly},
            {"exit3", end_with_three},
            {"abort", give_up},
            {"close", close_everything}};

static int play_worker(void) {
    static uint8_t bytes[CUPEL_PROTOCOL_COMMAND_MAX];
    cupel_header header;
    cupel_worker_shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, CUPEL_WORKER_BOARD, 0);
    alarm(0);
    while (cupel_protocol_receive(CUPEL_WORKER_SOCKET, &header, bytes)) {
        bytes[header.length] = 0;
        atomic_store(&shared->started, cupel_worker_now());
        atomic_store(&shared->phase,
                     header.type == CUPEL_MESSAGE_SEARCH ? CUPEL_PHASE_AFTER : CUPEL_PHASE_RUNNING);
        for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
            if (!strcmp((char *)bytes, acts[i].name)) acts[i].act();
        atomic_store(&shared->phase, CUPEL_PHASE_IDLE);
        cupel_protocol_send(CUPEL_WORKER_SOCKET, CUPEL_MESSAGE_READY, bytes, header.length);
    }
    return 0;
}

/* ---- the supervisor's side ---- */

static cupel_worker_board board;

static cupel_worker *spawn(double seconds) {
    cupel_worker_limits limits = {.memory = 96 << 20, .seconds = seconds, .prepare_seconds = 30};
    cupel_worker *worker = NULL;
    cupel_error err;
    assert_int_equal(cupel_worker_spawn(&board, &limits, &worker, &err), CUPEL_OK);
    return worker;
}

static cupel_worker_event wait_long(cupel_worker *worker, cupel_header *header, const uint8_t **payload) {
    return cupel_worker_wait(worker, 20000, header, payload);
}

/* Commands one act and returns what the worker's death says. */
static cupel_observation provoke(const char *act, double seconds, cupel_message_type phase) {
    cupel_header header;
    const uint8_t *payload;
    cupel_observation seen;
    cupel_worker *worker = spawn(seconds);
    assert_true(cupel_worker_send(worker, phase, act, strlen(act)));
    assert_int_equal(wait_long(worker, &header, &payload), CUPEL_WORKER_DEATH);
    cupel_worker_death(worker, &seen);
    assert_int_equal(seen.outcome, CUPEL_RUN_FAULT);
    assert_true(strlen(seen.text) > 0);
    assert_false(cupel_worker_send(worker, CUPEL_MESSAGE_RUN, "", 0));
    cupel_worker_free(worker);
    return seen;
}

static void answers_arrive(void **state) {
    (void)state;
    cupel_worker *worker = spawn(5);
    for (int i = 0; i < 50; i++) {
        cupel_header header;
        const uint8_t *payload;
        assert_true(cupel_worker_send(worker, CUPEL_MESSAGE_RUN, "hello", 5));
        assert_int_equal(wait_long(worker, &header, &payload), CUPEL_WORKER_MESSAGE);
        assert_int_equal(header.length, 5);
        assert_memory_equal(payload, "hello", 5);
    }
    cupel_worker_free(worker);
}

static void quiet_workers_are_no_deaths(void **state) {
    (void)state;
    cupel_header header;
    const uint8_t *payload;
    cupel_worker *worker = spawn(0.05); /* the limit is on runs, not on rest */
    assert_true(cupel_worker_send(worker, CUPEL_MESSAGE_RUN, "x", 1));
    assert_int_equal(wait_long(worker, &header, &payload), CUPEL_WORKER_MESSAGE);
    assert_int_equal(cupel_worker_wait(worker, 200, &header, &payload), CUPEL_WORKER_QUIET);
    cupel_worker_free(worker);
}

static void ends_are_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *act;
        cupel_fault fault;
        int signal;
    } rows[] = {{"segv", CUPEL_FAULT_CRASH, SIGSEGV},  {"fpe", CUPEL_FAULT_CRASH, SIGFPE},
                {"abort", CUPEL_FAULT_CRASH, SIGABRT}, {"exit0", CUPEL_FAULT_EXIT, 0},
                {"exit3", CUPEL_FAULT_EXIT, 0},        {"heap", CUPEL_FAULT_HEAP, 0},
                {"assert", CUPEL_FAULT_ASSERT, 0},     {"nonsense", CUPEL_FAULT_HEAP, 0},
                {"close", CUPEL_FAULT_EXIT, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cupel_observation seen = provoke(rows[i].act, 5, CUPEL_MESSAGE_RUN);
        if (seen.fault != rows[i].fault) print_message("%s: %s\n", rows[i].act, seen.text);
        assert_int_equal(seen.fault, rows[i].fault);
        assert_int_equal(seen.signal, rows[i].signal);
    }
    cupel_observation status = provoke("exit3", 5, CUPEL_MESSAGE_RUN);
    assert_non_null(strstr(status.text, "exit status 3"));
}

/* After the candidate has returned, a breakdown of our own code is the trace of damage it left. */
static void breakdown_afterwards_is_damage(void **state) {
    (void)state;
    assert_int_equal(provoke("segv", 5, CUPEL_MESSAGE_SEARCH).fault, CUPEL_FAULT_HEAP);
}

static void hangs_are_killed_in_time(void **state) {
    (void)state;
    uint64_t start = cupel_worker_now();
    assert_int_equal(provoke("hang", 0.3, CUPEL_MESSAGE_RUN).fault, CUPEL_FAULT_HANG);
    double seconds = (double)(cupel_worker_now() - start) * 1e-9;
    assert_true(seconds > 0.29);
    assert_true(seconds < 5);
    /* Half a message, and a length that is a lie, keep nobody waiting. */
    assert_int_equal(provoke("half", 0.3, CUPEL_MESSAGE_RUN).fault, CUPEL_FAULT_HANG);
}

static void memory_is_watched(void **state) {
    (void)state;
    uint64_t start = cupel_worker_now();
    cupel_observation seen = provoke("eat", 30, CUPEL_MESSAGE_RUN);
    assert_int_equal(seen.fault, CUPEL_FAULT_MEMORY);
    assert_non_null(strstr(seen.text, "96 MiB"));
    assert_true((double)(cupel_worker_now() - start) * 1e-9 < 10);
}

/* What the worker itself holds for the case does not count; a lie about it gains no more than the limit. */
static void tensors_of_the_case_are_not_the_candidates(void **state) {
    (void)state;
    cupel_header header;
    const uint8_t *payload;
    cupel_worker *worker = spawn(30);
    atomic_store(&board.shared->own, 80 << 20);
    assert_true(cupel_worker_send(worker, CUPEL_MESSAGE_RUN, "some", 4)); /* 130 MiB, limit 96 */
    assert_int_equal(wait_long(worker, &header, &payload), CUPEL_WORKER_MESSAGE);
    cupel_worker_free(worker);
    atomic_store(&board.shared->own, UINT64_MAX);
    assert_int_equal(provoke("eat", 30, CUPEL_MESSAGE_RUN).fault, CUPEL_FAULT_MEMORY);
    atomic_store(&board.shared->own, 0);
    assert_int_equal(provoke("some", 30, CUPEL_MESSAGE_RUN).fault, CUPEL_FAULT_MEMORY);
}

/* Emulated code holds memory only while it runs: what fills up afterwards is the oracle's. */
static void memory_of_the_judgement_accuses_nobody(void **state) {
    (void)state;
    static const cupel_contract emulated = {0}, host = {.host = true};
    static const cupel_message_type phases[] = {CUPEL_MESSAGE_RUN, CUPEL_MESSAGE_SEARCH};
    for (int p = 0; p < 2; p++) {
        cupel_header header;
        const uint8_t *payload;
        char text[160] = "";
        cupel_desk desk = {.worker = spawn(30)};
        cupel_supervisor s = {.contract = &emulated, .limits = {.memory = 96 << 20}};
        assert_true(cupel_worker_send(desk.worker, phases[p], "eat", 3));
        assert_int_equal(wait_long(desk.worker, &header, &payload), CUPEL_WORKER_DEATH);
        assert_int_equal(cupel_supervisor_overfilled_itself(&s, &desk, text, sizeof text), p == 1);
        assert_int_equal(strstr(text, "96 MiB") != NULL, p == 1);
        s.contract = &host; /* a function may leave behind what it took */
        assert_false(cupel_supervisor_overfilled_itself(&s, &desk, text, sizeof text));
        cupel_worker_free(desk.worker);
    }
}

static void output_is_bounded(void **state) {
    (void)state;
    cupel_observation seen = provoke("print", 20, CUPEL_MESSAGE_RUN);
    assert_int_equal(seen.fault, CUPEL_FAULT_EXIT);
    assert_non_null(strstr(seen.text, "exit status 6"));
}

static void strangers_are_told_from_candidates(void **state) {
    (void)state;
    cupel_header header;
    const uint8_t *payload;
    cupel_worker *worker = spawn(5);
    assert_true(cupel_worker_send(worker, CUPEL_MESSAGE_RUN, "hang", 4));
    assert_int_equal(cupel_worker_wait(worker, 100, &header, &payload), CUPEL_WORKER_QUIET);
    kill(cupel_worker_pid(worker), SIGKILL);
    assert_int_equal(wait_long(worker, &header, &payload), CUPEL_WORKER_DEATH);
    assert_true(cupel_worker_killed_by_stranger(worker));
    assert_false(cupel_worker_overran(worker));
    cupel_worker_free(worker);
    worker = spawn(0.1);
    assert_true(cupel_worker_send(worker, CUPEL_MESSAGE_RUN, "hang", 4));
    assert_int_equal(wait_long(worker, &header, &payload), CUPEL_WORKER_DEATH);
    assert_false(cupel_worker_killed_by_stranger(worker));
    assert_true(cupel_worker_overran(worker));
    cupel_worker_free(worker);
}

/* Live processes of a group; zombies, which whoever adopted them may never collect, do not count. */
static int alive_in_group(int group) {
    int alive = 0;
    DIR *folder = opendir("/proc");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[300], line[512], state = 0;
        int pid = 0, parent = 0, of = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        const char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
        if (end && sscanf(line, "%d", &pid) == 1 && sscanf(end + 1, " %c %d %d", &state, &parent, &of) == 3)
            alive += of == group && state != 'Z' && state != 'X';
        fclose(file);
    }
    closedir(folder);
    return alive;
}

/* What the candidate started ends with it: nobody is left in the worker's process group. */
static void descendants_die_too(void **state) {
    (void)state;
    cupel_header header;
    const uint8_t *payload;
    cupel_worker *worker = spawn(5);
    int pid = cupel_worker_pid(worker);
    assert_int_equal(alive_in_group(pid), 1); /* the count itself works */
    assert_true(cupel_worker_send(worker, CUPEL_MESSAGE_RUN, "child", 5));
    assert_int_equal(wait_long(worker, &header, &payload), CUPEL_WORKER_DEATH);
    cupel_observation seen; /* its end is seen although the child holds the socket open */
    cupel_worker_death(worker, &seen);
    assert_int_equal(seen.fault, CUPEL_FAULT_EXIT);
    cupel_worker_free(worker);
    for (int i = 0; i < 100 && alive_in_group(pid); i++) usleep(10000);
    assert_int_equal(alive_in_group(pid), 0);
}

/* A worker does not outlive its supervisor. */
static void workers_die_with_their_parent(void **state) {
    (void)state;
    int fds[2], pid = 0;
    assert_int_equal(pipe(fds), 0);
    pid_t parent = fork();
    if (parent == 0) {
        cupel_worker *worker = spawn(60);
        int child = cupel_worker_pid(worker);
        cupel_worker_send(worker, CUPEL_MESSAGE_RUN, "hang", 4);
        usleep(100000);
        (void)!write(fds[1], &child, sizeof child);
        raise(SIGKILL);
    }
    assert_int_equal(read(fds[0], &pid, sizeof pid), sizeof pid);
    waitpid(parent, NULL, 0);
    for (int i = 0; i < 100 && alive_in_group(pid); i++) usleep(10000);
    assert_int_equal(alive_in_group(pid), 0);
    close(fds[0]);
    close(fds[1]);
}

static int make_board(void **state) {
    (void)state;
    return cupel_worker_board_create(&board, NULL);
}

static int free_board(void **state) {
    (void)state;
    cupel_worker_board_free(&board);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--worker")) return play_worker();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_arrive),
        cmocka_unit_test(quiet_workers_are_no_deaths),
        cmocka_unit_test(ends_are_told_apart),
        cmocka_unit_test(breakdown_afterwards_is_damage),
        cmocka_unit_test(hangs_are_killed_in_time),
        cmocka_unit_test(memory_is_watched),
        cmocka_unit_test(memory_of_the_judgement_accuses_nobody),
        cmocka_unit_test(tensors_of_the_case_are_not_the_candidates),
        cmocka_unit_test(output_is_bounded),
        cmocka_unit_test(strangers_are_told_from_candidates),
        cmocka_unit_test(descendants_die_too),
        cmocka_unit_test(workers_die_with_their_parent),
    };
    return cmocka_run_group_tests_name("worker process", tests, make_board, free_board);
}
