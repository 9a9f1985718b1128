#include "host_crash.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <ucontext.h>

enum { STACK_BYTES = 64 * 1024 };

/* A signal handler has no argument of ours, so the call at work is global; it is set only while a candidate
 * runs. */
static struct {
    sigjmp_buf back;
    volatile sig_atomic_t active;
    const void *object;              /* base address of the candidate's object */
    uintptr_t stack_low, stack_high; /* of the thread that runs it */
    volatile cupel_fault fault;
    volatile int signal;
    const void *volatile address;
} at_work;

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

static uintptr_t instruction(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

static bool on_stack_edge(uintptr_t address) {
    enum { MARGIN = 1 << 20 }; /* a large frame may skip the guard page */
    return address >= at_work.stack_low - MARGIN && address < at_work.stack_low + MARGIN;
}

static bool in_candidate(uintptr_t address) {
    Dl_info info;
    return address && dladdr((const void *)address, &info) &&
           info.dli_fbase == at_work.object; /* NOLINT: address of code */
}

static void on_signal(int number, siginfo_t *info, void *context) {
    uintptr_t address = (uintptr_t)info->si_addr, pc = instruction(context);
    bool overflow = number == SIGSEGV && on_stack_edge(address);
    /* A call through a wild pointer leaves the counter at the bad address itself. */
    bool ours = in_candidate(pc) || pc == address || overflow;
    if (!at_work.active || !ours) {
        signal(number, SIG_DFL);
        return; /* the instruction is run again and ends the process */
    }
    at_work.active = 0;
    at_work.fault = overflow ? CUPEL_FAULT_STACK_OVERFLOW : CUPEL_FAULT_CRASH;
    at_work.signal = number;
    at_work.address = info->si_addr;
    siglongjmp(at_work.back, 1);
}

static void find_stack(void) {
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes)) return;
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    at_work.stack_low = (uintptr_t)low;
    at_work.stack_high = (uintptr_t)low + size;
}

bool cupel_host_crash_install(void) {
    static unsigned char stack[STACK_BYTES];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    if (sigaltstack(&alternate, NULL)) return false;
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        if (sigaction(caught[i], &action, NULL)) return false;
    find_stack();
    return true;
}

bool cupel_host_crash_call(void (*function)(void *self), void *self, const void *inside, cupel_fault *fault,
                           int *signal, const void **address) {
    Dl_info info;
    at_work.object = dladdr(inside, &info) ? info.dli_fbase : NULL;
    if (sigsetjmp(at_work.back, 1)) {
        *fault = at_work.fault;
        *signal = at_work.signal;
        *address = at_work.address;
        return false;
    }
    at_work.active = 1;
    function(self);
    at_work.active = 0;
    return true;
}
