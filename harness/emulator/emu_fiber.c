#include "emu_fiber.h"

#include <string.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define CUPEL_EMU_CLEAN(start, size) ASAN_UNPOISON_MEMORY_REGION(start, size)
#endif
#endif
#ifndef CUPEL_EMU_CLEAN
#define CUPEL_EMU_CLEAN(start, size) ((void)0)
#endif

/* CUPEL_EMU_IN_FLIGHT_THREADS, and one more. */
enum { STACKS_MAX = 8192 + 1 };

static cupel_emu_stack stacks[STACKS_MAX];
static uint32_t stack_count;
cupel_emu_stack *cupel_emu_stack_free;

/* The way to another fiber is a jump and not a ret: the processor predicts a ret by the call that it saw
 * last, which was another thread's, but a jump by the path that led to it, which threads share (measured: 1.2
 * times the rate of the softmax in tests/bench).
 *
 * A fiber whose function has returned leaves by the call instruction that had called it: so the last call
 * that the processor saw is the one from which the next fiber's function returns, which most often comes to
 * its end as well (measured: 1.1 times the rate). */
__asm__(".text\n"
        ".macro cupel_function name\n"
        "  .balign 16\n  .globl \\name\n  .hidden \\name\n  .type \\name,@function\n  \\name:\n"
        ".endm\n"
        /* the registers that a call preserves, and where they are taken back */
        ".macro cupel_keep_context\n"
        "  .irp r,rbp,rbx,r12,r13,r14,r15\n  pushq %\\r\n  .endr\n"
        "  leaq 1f(%rip),%rax\n  pushq %rax\n"
        ".endm\n"
        ".macro cupel_go_on\n"
        "1:\n  .irp r,r15,r14,r13,r12,rbx,rbp\n  popq %\\r\n  .endr\n"
        "  popq %rcx\n  jmpq *%rcx\n"
        ".endm\n"

        "cupel_function cupel_emu_fiber_switch\n"
        "  cupel_keep_context\n  movq %rsp,(%rdi)\n"
        "  movq %rsi,%rax\n  movq %rdx,%rsp\n  popq %rcx\n  jmpq *%rcx\n"
        "  cupel_go_on\n"
        "cupel_function cupel_emu_fiber_jump\n"
        "  movq %rdi,%rax\n  movq %rsi,%rsp\n  popq %rcx\n  jmpq *%rcx\n"

        /* rax: the function; on the stack: its argument, and the cupel_emu_stack */
        "cupel_function cupel_emu_fiber_main\n"
        "  movq 8(%rsp),%rbx\n"
        "0: movq (%rsp),%rdi\n  movq %rax,%r11\n"
        "1: call *%r11\n"
        "  movq %rbx,%rdi\n  call cupel_emu_fiber_ended\n"
        "  testq %rdx,%rdx\n  jz 0b\n"
        "  leaq 2f(%rip),%r11\n  jmp 1b\n"
        "2: movq %rdx,%rsp\n  popq %rcx\n  jmpq *%rcx\n"

        /* a meeting (emu_abi.h) where its call has stayed one */
        ".macro cupel_meeting name\n"
        "  .balign 16\n  .globl \\name\\()_sync\n  .type \\name\\()_sync,@function\n  \\name\\()_sync:\n"
        "  movq %rcx,%r9\n  movq %rdx,%r8\n  movq %rsi,%rcx\n  movq %rdi,%rdx\n  movq (%rsp),%rsi\n"
        "  cupel_keep_context\n  movq %rsp,%rdi\n"
        "  call \\name\\()_here\n"
        "  movq %rdx,%rsp\n  popq %rcx\n  jmpq *%rcx\n"
        "  cupel_go_on\n"
        ".endm\n"
        "cupel_meeting cupel_emu_shuffle\ncupel_meeting cupel_emu_vote\ncupel_meeting cupel_emu_warp\n"
        "cupel_meeting cupel_emu_barrier\ncupel_meeting cupel_emu_matrix\n");

void cupel_emu_fiber_main(void) __attribute__((visibility("hidden")));

cupel_emu_stack *cupel_emu_stack_map(void) {
    if (stack_count == STACKS_MAX) return NULL;
    const size_t room = CUPEL_EMU_STACK_BYTES + CUPEL_EMU_STACK_SPREAD,
                 bytes = CUPEL_EMU_STACK_GUARD_BELOW + room + CUPEL_EMU_STACK_GUARD;
    unsigned char *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    if (mprotect(memory + CUPEL_EMU_STACK_GUARD_BELOW, room, PROT_READ | PROT_WRITE) != 0) {
        munmap(memory, bytes);
        return NULL;
    }
    cupel_emu_stack *stack = &stacks[stack_count];
    /* Stacks begin at different offsets in a page, else the hot ends of all of them fall into the same few
     * cache sets. */
    stack->top = (uintptr_t)memory + CUPEL_EMU_STACK_GUARD_BELOW + room -
                 (stack_count * 320u) % CUPEL_EMU_STACK_SPREAD / 64 * 64;
    stack->low = stack->top - CUPEL_EMU_STACK_BYTES;
    stack_count++;
    return stack;
}

cupel_emu_continuation cupel_emu_fiber_new(cupel_emu_stack *stack, void (*function)(void *const *argument),
                                           void **argument) {
    void (*const main)(void) = cupel_emu_fiber_main;
    void **sp = (void **)stack->top;
    *--sp = stack;
    *--sp = (void *)argument;
    memcpy(--sp, &main, sizeof main);
    return (cupel_emu_continuation){(uintptr_t)function, sp};
}

void cupel_emu_stack_abandon_all(void) {
    cupel_emu_stack_free = NULL;
    for (uint32_t i = stack_count; i-- > 0;) {
        /* Frames that were left by a jump have not taken down their red zones. */
        CUPEL_EMU_CLEAN((void *)stacks[i].low, CUPEL_EMU_STACK_BYTES);
        stacks[i].next_free = cupel_emu_stack_free;
        cupel_emu_stack_free = &stacks[i];
    }
}
