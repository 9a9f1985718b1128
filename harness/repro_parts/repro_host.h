/* Part of a reproduction file (repro.h): a function of the host. */
#include <signal.h>
#include <unistd.h>

#ifdef __cplusplus
struct repro_pointer {
    void *at;
    template <class T> operator T *() const { return (T *)at; }
};
#define REPRO_AT(pointer) (repro_pointer{pointer})
#else
#define REPRO_AT(pointer) (pointer)
#endif

static repro_state repro;

/* The data pointer of a tensor. */
static void *repro_at(int tensor) {
    const repro_tensor *t = &repro.c->tensors[tensor];
    return (unsigned char *)repro.address[t->buffer] + t->offset;
}

static void repro_died(int number) {
    static const char crashed[] = "FAILED: the function crashed\n", hung[] = "FAILED: no end after 10 s\n";
    ssize_t written =
        number == SIGALRM ? write(1, hung, sizeof hung - 1) : write(1, crashed, sizeof crashed - 1);
    _Exit(written > 0 ? REPRO_SHOWS : REPRO_CANNOT);
}

static void repro_watch(void) {
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    static unsigned char other_stack[65536];
    stack_t stack;
    struct sigaction action;
    memset(&stack, 0, sizeof stack);
    memset(&action, 0, sizeof action);
    stack.ss_sp = other_stack;
    stack.ss_size = sizeof other_stack;
    action.sa_handler = repro_died;
    action.sa_flags = SA_ONSTACK;
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) sigaction(fatal[i], &action, NULL);
}

static void *repro_place(const repro_state *s, int b, void **memory) {
    size_t align = s->c->buffers[b].align > 1 ? s->c->buffers[b].align : 1;
    *memory = repro_memory(repro_whole(s, b) + 2 * align);
    return (void *)(((uintptr_t)*memory + s->guard + align - 1) / align * align + s->c->buffers[b].misalign);
}

static int repro_run(const repro_case *c, void (*call)(void), int argc, char **argv) {
    int round = 0;
    (void)argc, (void)argv;
    repro.c = c;
    repro.guard = REPRO_GUARD;
    repro_allocate(&repro, repro_place);
    repro_watch();
    while (round < c->rounds && (!repro.failures || (c->unwritten && round < 2))) {
        for (int k = 0; k < c->call_count; k++) {
            repro_fill(&repro, &c->calls[k], round % 2);
            repro.address = repro.places[c->calls[k].elsewhere];
            for (int b = 0; b < c->buffer_count; b++)
                memcpy((unsigned char *)repro.address[b] - repro.guard, repro.image[b],
                       repro_whole(&repro, b));
            alarm(10);
            call();
            alarm(0);
        }
        for (int b = 0; b < c->buffer_count; b++)
            memcpy(repro.after[b], (unsigned char *)repro.address[b] - repro.guard, repro_whole(&repro, b));
        repro_check(&repro, round++);
    }
    repro_free(&repro, free);
    return repro_verdict(&repro, round);
}
