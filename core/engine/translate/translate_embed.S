// SPDX-License-Identifier: MIT
// The translator's bitcode (bitcode.c) as data of the program.
    .section .rodata
    .balign 16
    .globl translate_bitcode, translate_bitcode_end
translate_bitcode:
    .incbin TRANSLATE_BITCODE
translate_bitcode_end:
    .section .note.GNU-stack, "", @progbits
