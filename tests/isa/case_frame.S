// SPDX-License-Identifier: MIT
// What surrounds each case of cases/*.txt: registers set from *before, and stored to `after` (struct state of
// case_runner.c). The cases themselves, made by assemble_cases.awk, come behind this file.

    .set STATE_SP, 31 * 8
    .set STATE_NZCV, 32 * 8
    .set STATE_FPCR, 33 * 8
    .set STATE_FPSR, 34 * 8
    .set STATE_V, 36 * 8

    .macro EACH_V operation, base
    .irp n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
    PAIR_V \operation, \base, \n
    .endr
    .endm

    .macro PAIR_V operation, base, n
    .altmacro
    PAIR_V_NUMBERED \operation, \base, \n, %(\n + 1), %(STATE_V + \n * 16 - 512)
    .noaltmacro
    .endm

    .macro PAIR_V_NUMBERED operation, base, n, next, offset
    \operation q\n, q\next, [\base, #\offset]
    .endm

    .macro EACH_X operation, base
    \operation x0, x1, [\base]
    \operation x2, x3, [\base, #16]
    \operation x4, x5, [\base, #32]
    \operation x6, x7, [\base, #48]
    \operation x8, x9, [\base, #64]
    \operation x10, x11, [\base, #80]
    \operation x12, x13, [\base, #96]
    \operation x14, x15, [\base, #112]
    \operation x16, x17, [\base, #128]
    \operation x18, x19, [\base, #144]
    \operation x20, x21, [\base, #160]
    \operation x22, x23, [\base, #176]
    \operation x24, x25, [\base, #192]
    \operation x26, x27, [\base, #208]
    .endm

    // Everything, X30 last; a case begins here.
    .macro LOAD_STATE
    adrp x30, before
    ldr x30, [x30, :lo12:before]
    add x0, x30, #512
    EACH_V ldp, x0
    ldr x0, [x30, #STATE_SP]
    mov sp, x0
    ldr x0, [x30, #STATE_NZCV]
    msr nzcv, x0
    ldr x0, [x30, #STATE_FPCR]
    msr fpcr, x0
    ldr x0, [x30, #STATE_FPSR]
    msr fpsr, x0
    EACH_X ldp, x30
    ldp x28, x29, [x30, #224]
    ldr x30, [x30, #240]
    .endm

    .text
    .global _start
_start:
    mov x0, sp
    bl run_cases

// void run_case(void (*code)(void)): returns through case_end, or out of the signal handler.
    .global run_case
run_case:
    stp x29, x30, [sp, #-96]!
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    adrp x1, runner_sp
    mov x2, sp
    str x2, [x1, :lo12:runner_sp]
    br x0

    .balign 16
    .global case_end
case_end:
    msr tpidr_el0, x30
    adrp x30, after
    add x30, x30, :lo12:after
    EACH_X stp, x30
    stp x28, x29, [x30, #224]
    mrs x0, tpidr_el0
    str x0, [x30, #240]
    mov x0, sp
    str x0, [x30, #STATE_SP]
    mrs x0, nzcv
    str x0, [x30, #STATE_NZCV]
    mrs x0, fpcr
    str x0, [x30, #STATE_FPCR]
    mrs x0, fpsr
    str x0, [x30, #STATE_FPSR]
// The signal handler comes here with what the context does not hold still to be stored.
    .global store_vectors
store_vectors:
    adrp x0, after + 512
    add x0, x0, :lo12:after + 512
    EACH_V stp, x0
    msr fpcr, xzr
    adrp x1, runner_sp
    ldr x2, [x1, :lo12:runner_sp]
    mov sp, x2
    ldp x27, x28, [sp, #80]
    ldp x25, x26, [sp, #64]
    ldp x23, x24, [sp, #48]
    ldp x21, x22, [sp, #32]
    ldp x19, x20, [sp, #16]
    ldp x29, x30, [sp], #96
    ret

    .bss
    .balign 16
    .global runner_sp
runner_sp: .skip 8

// Three pages: `data` lies around the boundary of the first two, the third, `wall`, is inaccessible.
    .balign 4096
    .global first_page, data, wall, stack
first_page: .skip 4096 - 128
data: .skip 256
    .skip 4096 - 128
wall: .skip 4096
    .skip 16384 // signal frames need most of it
stack: .skip 2048

    .section .tests, "aw"
    .balign 8
    .global tests
tests:
