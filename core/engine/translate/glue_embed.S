// SPDX-License-Identifier: MIT
// The glue's object (glue_gen.c) as data of the program.
    .section .rodata
    .balign 16
    .globl translate_glue, translate_glue_end
translate_glue:
    .incbin GLUE_OBJECT
translate_glue_end:
    .section .note.GNU-stack, "", @progbits
