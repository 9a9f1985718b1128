/* Signals while device code runs. The handler works on its own stack, describes the fault and returns into
 * the launching context. */
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "emu_load.h"
#include "emu_machine.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
enum { CAUGHT = sizeof caught / sizeof caught[0] };
static struct sigaction before[CAUGHT];

/* The first word at or above sp on the running thread's stack; an overflowing stack ends in its guard. */
static uintptr_t first_word(uintptr_t sp) {
    const uintptr_t low = m->registers->stack_low;
    return sp < low ? low : (sp + 7) & ~(uintptr_t)7;
}

/* The author's instruction: where the fault happened, or the nearest return address into the candidate when
 * it happened in a function that the candidate called. */
static const void *candidate_pc(uintptr_t ip, uintptr_t sp) {
    if (cupel_emu_module_is_code(m->module, ip)) return (const void *)(ip + 1);
    uintptr_t top = m->registers->stack_low + CUPEL_EMU_STACK_BYTES;
    for (sp = first_word(sp); sp + sizeof(uintptr_t) <= top; sp += sizeof(uintptr_t)) {
        uintptr_t word;
        memcpy(&word, (const void *)sp, sizeof word);
        if (cupel_emu_module_is_code(m->module, word)) return (const void *)word;
    }
    return NULL;
}

/* Below the running thread's stack: its guard, and more where the stack does not begin with a page. */
static bool is_below(uintptr_t address, size_t bytes) {
    return m->registers->stack_low - 1 - address < bytes + CUPEL_EMU_STACK_SPREAD;
}

/* Whether calls fill the stack that return to one and the same place. A single frame may be too large for it
 * as well, and leaves the words of earlier ones as they were. The stack is read as it lies, with what the
 * address sanitizer keeps around the harness's own frames. */
__attribute__((no_sanitize_address)) static bool is_recursion(uintptr_t sp) {
    enum { RETURNS = 16 };
    const uintptr_t top = m->registers->stack_low + CUPEL_EMU_STACK_BYTES;
    const volatile uintptr_t *stop = (const volatile uintptr_t *)(top & ~(uintptr_t)7);
    for (const volatile uintptr_t *word = (const volatile uintptr_t *)first_word(sp);
         stop - word >= CUPEL_EMU_STACK_BYTES / 2 / (ptrdiff_t)sizeof *word; word++) {
        if (!cupel_emu_module_is_code(m->module, *word)) continue;
        const volatile uintptr_t *last = word;
        int returns = 0;
        for (const volatile uintptr_t *other = word; other < stop; other++)
            if (*other == *word) last = other, returns++;
        if (returns >= RETURNS && last - word >= CUPEL_EMU_STACK_BYTES / 2 / (ptrdiff_t)sizeof *word)
            return true;
    }
    return false;
}

/* So that no later overflow is taken for a recursion by what this one has left. */
static void wipe_stack(void) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = m->registers->stack_low & ~(page - 1),
                    top = m->registers->stack_low + CUPEL_EMU_STACK_BYTES,
                    stop = (top + page - 1) & ~(page - 1);
    madvise((void *)start, stop - start, MADV_DONTNEED);
}

/* The slow way of code in place has no line and starts with pushq %r11, the place to return to (emu_asks.h).
 */
static uintptr_t asking(const greg_t *registers) {
    const uintptr_t ip = (uintptr_t)registers[REG_RIP], back = (uintptr_t)registers[REG_R11];
    if (!cupel_emu_module_is_code(m->module, ip) || !cupel_emu_module_is_code(m->module, back)) return ip;
    return memcmp((const void *)ip, "\x41\x53", 2) == 0 ? back - 1 : ip;
}

/* A misaligned 16-byte access has been reported and the run goes on, but movaps and movdqa insist, and
 * vmovaps and vmovdqa of the fused build: they are rewritten, in place and for good, as the forms that do
 * not. Encodings: Intel's Software Developer's Manual, volume 2, "VEX prefix": C5 [.. pp] and C4 [.. map] [..
 * pp], pp 1 for 66 and 2 for F3. */
static bool relax_alignment(uintptr_t ip) {
    if (!cupel_emu_module_is_code(m->module, ip)) return false;
    unsigned char *at = (unsigned char *)ip, *opcode = at, *vex = NULL;
    bool operand_size = *opcode == 0x66;
    if (*at == 0xc5 || *at == 0xc4) {
        if (*at == 0xc4 && (at[1] & 0x1f) != 1) return false; /* another map than 0F */
        vex = at + (*at == 0xc5 ? 1 : 2);
        operand_size = (*vex & 3) == 1;
        opcode = vex + 1;
    } else {
        if (operand_size) opcode++;
        if ((*opcode & 0xf0) == 0x40) opcode++; /* REX */
        if (*opcode++ != 0x0f) return false;
    }
    bool packed_integer = operand_size && (*opcode == 0x6f || *opcode == 0x7f);
    if (*opcode != 0x28 && *opcode != 0x29 && !packed_integer) return false;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = ip & ~(page - 1),
              stop = (ip + 16 + page - 1) & ~(page - 1);
    if (mprotect((void *)start, stop - start, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
    if (!packed_integer) {
        *opcode -= 0x18; /* 28, 29 -> 10, 11 */
    } else if (vex) {
        *vex = (unsigned char)((*vex & ~3) | 2);
    } else {
        *at = 0xf3;
    }
    return mprotect((void *)start, stop - start, PROT_READ | PROT_EXEC) == 0;
}

static void describe(int signal, const siginfo_t *info, uintptr_t ip, uintptr_t sp) {
    const void *pc = candidate_pc(ip, sp);
    uintptr_t address = (uintptr_t)info->si_addr;
    m->out->signal = signal;
    if (signal == SIGSEGV &&
        (is_below(address, CUPEL_EMU_STACK_GUARD) || is_below(sp, CUPEL_EMU_STACK_GUARD_BELOW))) {
        m->out->signal = 0;
        if (is_recursion(sp)) {
            wipe_stack();
            cupel_emu_report_fill(CUPEL_RUN_FAULT, CUPEL_FAULT_STACK_OVERFLOW, pc,
                                  "a thread's stack of %d KiB overflowed", CUPEL_EMU_STACK_BYTES / 1024);
        } else { /* a device has more */
            cupel_emu_report_fill(CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, pc,
                                  "more than %d KiB of local memory for a thread is not emulated",
                                  CUPEL_EMU_STACK_BYTES / 1024);
        }
    } else if (signal == SIGSEGV || signal == SIGBUS) {
        cupel_emu_report_fill(CUPEL_RUN_FAULT, CUPEL_FAULT_CRASH, pc, "%s at address 0x%llx",
                              strsignal(signal), (unsigned long long)address);
    } else if (signal == SIGFPE && info->si_code == FPE_INTDIV) {
        /* this processor traps; a device goes on with some value, which need not matter */
        m->out->signal = 0;
        cupel_emu_report_fill(CUPEL_RUN_UNSUPPORTED, CUPEL_FAULT_NONE, pc,
                              "an integer division by zero, or of the least integer by -1, has no specified "
                              "result on a device and is not emulated");
    } else {
        cupel_emu_report_fill(CUPEL_RUN_FAULT, CUPEL_FAULT_CRASH, pc, "%s", strsignal(signal));
    }
}

/* Not ours: as if we had never been here. */
static void pass_on(int signal) {
    for (int i = 0; i < CAUGHT; i++)
        if (caught[i] == signal) sigaction(signal, &before[i], NULL);
    if (signal == SIGABRT) raise(signal);
}

static void jump_out(greg_t *registers) {
    /* Return into a jump to the host: the kernel then restores the signal mask. */
    registers[REG_RIP] = (greg_t)(uintptr_t)cupel_emu_fiber_jump;
    registers[REG_RSI] = (greg_t)(uintptr_t)m->host_sp; /* of a continuation, whose result nobody reads */
}

static void handle(int signal, siginfo_t *info, void *context) {
    if (!m->running || m->host_sp == NULL) {
        pass_on(signal);
        return;
    }
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t ip = (uintptr_t)registers[REG_RIP];
    if (signal == SIGSEGV && info->si_code == SI_KERNEL && relax_alignment(ip)) return;
    describe(signal, info, asking(registers), (uintptr_t)registers[REG_RSP]);
    jump_out(registers);
}

/* A loop without a way out needs no edge, and without an access it uses no steps either. While a launch runs,
 * this watches: device code that has gone on for TICKS_IDLE ticks of processor time without one step will
 * never make another, for every loop that has an end counts its turns. A candidate that has been found to do
 * so is not given as long again. */
enum { TICK_MICROSECONDS = 100000, TICK_AGAIN_MICROSECONDS = 20000, TICKS_IDLE = 5 };
static struct {
    uint64_t steps;
    int idle;
    double since;
    const cupel_emu_module *known; /* has had such a loop */
    int period;                    /* microseconds */
} watch;

static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void tick(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    if (!m->running || m->host_sp == NULL) return;
    uint64_t steps = m->steps_left + m->registers->budget + m->access_budget;
    if (steps != watch.steps || watch.since == 0) {
        watch.steps = steps;
        watch.idle = 0;
        watch.since = processor_time();
        return;
    }
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t ip = (uintptr_t)registers[REG_RIP];
    /* ticks may come late and then close together: the clock has to agree */
    double least = 1e-6 * watch.period * TICKS_IDLE;
    if (++watch.idle < TICKS_IDLE || processor_time() - watch.since < least) return;
    if (!cupel_emu_module_is_code(m->module, ip)) return;
    watch.known = m->module;
    cupel_emu_report_fill(CUPEL_RUN_FAULT, CUPEL_FAULT_HANG, (const void *)(ip + 1),
                          "an endless loop that does nothing");
    jump_out(registers);
}

void cupel_emu_fault_watch(bool on) {
    watch.idle = 0;
    watch.since = 0;
    watch.period = watch.known == m->module ? TICK_AGAIN_MICROSECONDS : TICK_MICROSECONDS;
    struct timeval period = {.tv_usec = on ? watch.period : 0};
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){period, period}, NULL);
}

void cupel_emu_fault_install(void) {
    struct sigaction now;
    if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction == handle)
        return; /* nobody has taken our place */
    static unsigned char *stack;
    enum { ALTERNATE_BYTES = 256 * 1024 };
    if (stack == NULL) {
        stack = mmap(NULL, ALTERNATE_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED) {
            stack = NULL;
            return;
        }
    }
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = ALTERNATE_BYTES}, NULL);
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &action, &before[i]);
    action.sa_sigaction = tick;
    action.sa_flags |= SA_RESTART;
    sigaction(SIGVTALRM, &action, NULL);
}
