// SPDX-License-Identifier: MIT
// The glue (glue_gen.c), one for each level (level.h), as data of the program.
    .macro embed symbol, file
    .balign 16
    .globl \symbol, \symbol\()_end
\symbol:
    .incbin "\file"
\symbol\()_end:
    .endm

    .section .rodata
    embed translate_glue_baseline, GLUE_baseline
    embed translate_glue_v3, GLUE_v3
    .section .note.GNU-stack, "", @progbits
