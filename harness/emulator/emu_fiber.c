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
static cupel_emu_stack *free_stacks;

/* The registers that a call preserves lie on the stack. The way back is a jump and not a ret: the processor
 * predicts a ret by the call that it saw last, which was another thread's, but a jump by the path that led to
 * it, which threads share (measured: 1.2 times the rate of the softmax in tests/bench). */
__asm__(".text\n"
        ".globl cupel_emu_fiber_switch\n"
        ".hidden cupel_emu_fiber_switch\n"
        ".type cupel_emu_fiber_switch,@function\n"
        "cupel_emu_fiber_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp,(%rdi)\n"
        "  movq %rsi,%rsp\n"
        "  movq (%rdx),%rax\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  popq %rcx\n  jmpq *%rcx\n"
        ".size cupel_emu_fiber_switch,.-cupel_emu_fiber_switch\n"
        ".globl cupel_emu_fiber_jump\n"
        ".hidden cupel_emu_fiber_jump\n"
        ".type cupel_emu_fiber_jump,@function\n"
        "cupel_emu_fiber_jump:\n"
        "  movq %rdi,%rsp\n"
        "  movq (%rsi),%rax\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  popq %rcx\n  jmpq *%rcx\n"
        ".size cupel_emu_fiber_jump,.-cupel_emu_fiber_jump\n");

static cupel_emu_stack *map_stack(void) {
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

cupel_emu_stack *cupel_emu_stack_take(void (*entry)(void)) {
    cupel_emu_stack *stack = free_stacks;
    if (stack != NULL) {
        free_stacks = stack->next_free;
    } else if ((stack = map_stack()) == NULL) {
        return NULL;
    }
    void **sp = (void **)stack->top;
    *--sp = NULL; /* entry finds itself called from nowhere, its stack aligned as the ABI wants it */
    void *start;
    memcpy(&start, &entry, sizeof start);
    *--sp = start;
    for (int i = 0; i < 6; i++) *--sp = NULL;
    stack->sp = sp;
    return stack;
}

void cupel_emu_stack_release(cupel_emu_stack *stack) {
    stack->next_free = free_stacks;
    free_stacks = stack;
}

void cupel_emu_stack_abandon_all(void) {
    free_stacks = NULL;
    for (uint32_t i = stack_count; i-- > 0;) {
        /* Frames that were left by a jump have not taken down their red zones. */
        CUPEL_EMU_CLEAN((void *)stacks[i].low, CUPEL_EMU_STACK_BYTES);
        stacks[i].next_free = free_stacks;
        free_stacks = &stacks[i];
    }
}
