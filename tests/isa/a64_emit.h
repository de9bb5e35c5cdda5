// SPDX-License-Identifier: MIT
// Writes small static AArch64 programs without an assembler: a growing list of words, the few encodings that
// the test programs are framed with, and an ELF file around them.
#ifndef TESTS_ISA_A64_EMIT_H
#define TESTS_ISA_A64_EMIT_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    CODE_BASE = 0x400000,
    DATA_BASE = 0x10000000,
    PAGE = 4096,
};

struct code {
    uint32_t *words;
    uint32_t count, room;
};

static inline void emit(struct code *code, uint32_t word)
{
    if (code->count == code->room) {
        code->room = code->room ? code->room * 2 : 4096;
        code->words = realloc(code->words, code->room * sizeof code->words[0]);
        if (!code->words)
            abort();
    }
    code->words[code->count++] = word;
}

static inline uint32_t code_address(uint32_t index)
{
    return CODE_BASE + index * 4;
}

// MOVZ and as many MOVK as the value needs; d is X0 to X30.
static inline void emit_mov(struct code *code, unsigned d, uint64_t value)
{
    uint32_t operation = 0xd2800000; // MOVZ
    for (unsigned hw = 0; hw < 4; hw++) {
        uint32_t half = value >> (hw * 16) & 0xffff;
        if (half || (hw == 3 && operation == 0xd2800000)) {
            emit(code, operation | hw << 21 | half << 5 | d);
            operation = 0xf2800000; // MOVK
        }
    }
}

static inline void emit_mov_sp(struct code *code, unsigned n)
{
    emit(code, 0x9100001f | n << 5); // ADD SP, Xn, #0
}

// STR and LDR of 64-bit Xt at [Xn + offset], offset a multiple of 8 below 32768.
static inline void emit_str(struct code *code, unsigned t, unsigned n, unsigned offset)
{
    emit(code, 0xf9000000 | offset / 8 << 10 | n << 5 | t);
}

static inline void emit_ldr(struct code *code, unsigned t, unsigned n, unsigned offset)
{
    emit(code, 0xf9400000 | offset / 8 << 10 | n << 5 | t);
}

// STR Qt, [Xn + offset], offset a multiple of 16 below 65536.
static inline void emit_str_q(struct code *code, unsigned t, unsigned n, unsigned offset)
{
    emit(code, 0x3d800000 | offset / 16 << 10 | n << 5 | t);
}

// LDR (literal) of Xt and of Qt from the code word of that index.
static inline void emit_literal(struct code *code, unsigned t, uint32_t index, bool vector)
{
    uint32_t distance = (index - code->count) & 0x7ffff;
    emit(code, (vector ? 0x9c000000 : 0x58000000) | distance << 5 | t);
}

static inline void emit_svc(struct code *code, unsigned number)
{
    emit_mov(code, 8, number);
    emit(code, 0xd4000001);
}

// write(1, address, size); exit(0). Clobbers X0 to X2 and X8.
static inline void emit_write_and_exit(struct code *code, uint64_t address, uint64_t size)
{
    emit_mov(code, 0, 1);
    emit_mov(code, 1, address);
    emit_mov(code, 2, size);
    emit_svc(code, 64);
    emit_mov(code, 0, 0);
    emit_svc(code, 93);
}

// Writes the program: code at CODE_BASE, entered at the word of index entry; data at DATA_BASE with its first
// data_size bytes given and zeroes up to memory_size. Ends this process with a message if the file cannot be
// written.
static inline void write_elf(const char *path, const struct code *code, uint32_t entry, const void *data,
                             size_t data_size, size_t memory_size)
{
    size_t code_size = code->count * sizeof code->words[0];
    size_t data_offset = (PAGE + code_size + PAGE - 1) / PAGE * PAGE;
    struct {
        Elf64_Ehdr file;
        Elf64_Phdr segment[2];
    } header = {
        .file =
            {
                .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                .e_type = ET_EXEC,
                .e_machine = EM_AARCH64,
                .e_version = EV_CURRENT,
                .e_entry = code_address(entry),
                .e_phoff = sizeof(Elf64_Ehdr),
                .e_ehsize = sizeof(Elf64_Ehdr),
                .e_phentsize = sizeof(Elf64_Phdr),
                .e_phnum = 2,
            },
        .segment =
            {
                {.p_type = PT_LOAD,
                 .p_flags = PF_R | PF_X,
                 .p_offset = PAGE,
                 .p_vaddr = CODE_BASE,
                 .p_paddr = CODE_BASE,
                 .p_filesz = code_size,
                 .p_memsz = code_size,
                 .p_align = PAGE},
                {.p_type = PT_LOAD,
                 .p_flags = PF_R | PF_W,
                 .p_offset = data_offset,
                 .p_vaddr = DATA_BASE,
                 .p_paddr = DATA_BASE,
                 .p_filesz = data_size,
                 .p_memsz = memory_size,
                 .p_align = PAGE},
            },
    };
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(&header, sizeof header, 1, f) == 1 && fseek(f, PAGE, SEEK_SET) == 0 &&
              fwrite(code->words, code_size, 1, f) == 1 && fseek(f, (long)data_offset, SEEK_SET) == 0 &&
              fwrite(data, data_size, 1, f) == 1;
    if (!f || fclose(f) != 0 || !ok || chmod(path, 0755) != 0) {
        perror(path);
        exit(1);
    }
}

#endif
