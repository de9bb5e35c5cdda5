// SPDX-License-Identifier: MIT
// The instruction definitions as bitcode (bitcode.c), one for each level (level.h), as data of the program.
    .macro embed symbol, file
    .balign 16
    .globl \symbol, \symbol\()_end
\symbol:
    .incbin "\file"
\symbol\()_end:
    .endm

    .section .rodata
    embed translate_bitcode_baseline, BITCODE_baseline
    embed translate_bitcode_v3, BITCODE_v3
    .section .note.GNU-stack, "", @progbits
