/* Compiled into every candidate once, beside its hidden runtime: the way from code in place to the runtime.
 */
#ifndef CUPEL_EMU_ASKS_H
#define CUPEL_EMU_ASKS_H

#include "emu_abi.h"

/* The slow way of code in place (emu_inline.c), which comes with the place to return to in r11, no red zone,
 * a stack of any alignment, and keeps every register but r11. A load has left its address and its site in
 * cupel_emu_asks; it may be of the thread's own stack, which needs no question. */
__attribute__((visibility("hidden"))) struct {
    uintptr_t address;
    cupel_emu_site *site;
} cupel_emu_asks;

#define STRING(x) #x
#define STRING_OF(x) STRING(x)
_Static_assert(offsetof(cupel_emu_registers_t, stack_low) == 24, "as the assembly has it");

__asm__(
    ".text\n"
    /* registers that calls use; pc lies at 8(%rbp) */
    ".macro cupel_keep\n"
    "  pushq %r11\n  pushq %rbp\n  movq %rsp,%rbp\n  andq $-16,%rsp\n"
    "  .irp r,rax,rcx,rdx,rsi,rdi,r8,r9,r10\n  pushq %\\r\n  .endr\n"
    ".endm\n"
    ".macro cupel_go_back\n"
    "  .irp r,r10,r9,r8,rdi,rsi,rdx,rcx,rax\n  popq %\\r\n  .endr\n"
    "  movq %rbp,%rsp\n  popq %rbp\n  popq %r11\n  jmpq *%r11\n"
    ".endm\n"
    ".macro cupel_keep_floats\n"
    "  subq $256,%rsp\n"
    "  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n  movups %xmm\\n,\\n*16(%rsp)\n  .endr\n"
    ".endm\n"
    ".macro cupel_take_floats\n"
    "  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n  movups \\n*16(%rsp),%xmm\\n\n  .endr\n"
    "  addq $256,%rsp\n"
    ".endm\n"
    ".macro cupel_function name\n"
    "  .globl \\name\n  .hidden \\name\n  .type \\name,@function\n  \\name:\n"
    ".endm\n"

    /* the word that aligning may leave out is no secret of the thread's: it is part of its stack */
    "cupel_function cupel_emu_ask_budget\n"
    "  movq $0,-24(%rsp)\n"
    "  cupel_keep\n  cupel_keep_floats\n"
    "  movq 8(%rbp),%rdi\n  call *cupel_emu_budget_spent@GOTPCREL(%rip)\n"
    "  cupel_take_floats\n  cupel_go_back\n"

    /* r11: where the thread goes on; there are no registers to keep */
    ".macro cupel_ask_to_meet name\n"
    "  cupel_function cupel_emu_ask_\\name\n"
    "  pushq %r11\n  movq %rsp,%rdi\n  movq %r11,%rsi\n  andq $-16,%rsp\n"
    "  call *cupel_emu_\\name\\()_here@GOTPCREL(%rip)\n"
    "  movq %rdx,%rsp\n  popq %rcx\n  jmpq *%rcx\n"
    ".endm\n"
    "cupel_ask_to_meet shuffle\ncupel_ask_to_meet vote\ncupel_ask_to_meet warp\ncupel_ask_to_meet barrier\n"

    ".macro cupel_ask_load size\n"
    "  cupel_function cupel_emu_ask_load\\size\n"
    "  pushq %r11\n"
    "  movq cupel_emu_asks(%rip),%r11\n  testl $\\size-1,%r11d\n  jnz 1f\n"
    "  subq cupel_emu_registers+24(%rip),%r11\n  cmpq $" STRING_OF(
        CUPEL_EMU_STACK_SIZE) "-16,%r11\n"
                              "  jae 1f\n  popq %r11\n  jmpq *%r11\n"
                              "1: popq %r11\n  cupel_keep\n"
                              "  movq cupel_emu_asks(%rip),%rdi\n  movl $\\size,%esi\n"
                              "  call *cupel_emu_load_quickly@GOTPCREL(%rip)\n  testl %eax,%eax\n  jnz 2f\n"
                              "  cupel_keep_floats\n"
                              "  movq cupel_emu_asks(%rip),%rdi\n  movl $\\size,%esi\n  movq "
                              "cupel_emu_asks+8(%rip),%rdx\n"
                              "  movq 8(%rbp),%rcx\n  call *cupel_emu_load_at@GOTPCREL(%rip)\n"
                              "  cupel_take_floats\n"
                              "2: cupel_go_back\n"
                              ".endm\n"
                              "cupel_ask_load 1\ncupel_ask_load 2\ncupel_ask_load 4\ncupel_ask_load "
                              "8\ncupel_ask_load 16\n");

#endif
