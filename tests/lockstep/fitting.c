// SPDX-License-Identifier: MIT
// fitting: how many of the interpreter's sequences fit code of a program.
//
//   fitting PROGRAM
//
// All were chosen from code that the game ran. Where most of a later game's code was compiled otherwise, they
// fit less of it: then nothing is wrong, but slow. Exit status 5 if one in ten fits nothing any more.
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stepper.h"

static struct {
    enum insn id;
    op o;
} * code;
static size_t code_count;

static void decode(const unsigned char *bytes, size_t size, uint32_t pc)
{
    code = realloc(code, (code_count + size / 4) * sizeof *code);
    if (!code)
        exit(1);
    for (size_t at = 0; at + 4 <= size; at += 4) {
        uint32_t word;
        memcpy(&word, bytes + at, sizeof word);
        code[code_count].id = isa_decode(word, pc + (uint32_t)at, &code[code_count].o);
        code_count++;
    }
}

static void read_program(const char *path)
{
    FILE *f = fopen(path, "rb");
    static unsigned char bytes[16 << 20];
    size_t size = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)bytes;
    if (size < sizeof *h || size == sizeof bytes || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0) {
        fprintf(stderr, "fitting: %s is no program\n", path);
        exit(1);
    }
    fclose(f);
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes + h->e_shoff);
    for (unsigned i = 0; i < h->e_shnum; i++)
        if (sections[i].sh_type == SHT_PROGBITS && sections[i].sh_flags & SHF_EXECINSTR)
            decode(bytes + sections[i].sh_offset, sections[i].sh_size, (uint32_t)sections[i].sh_addr);
}

// Marks the sequences that begin at the instruction, as the interpreter finds them (find_sequence).
static void mark(bool *fits, size_t at)
{
    struct lines l = {.low = sequences, .high = sequences + SEQUENCE_COUNT};
    for (unsigned n = 0; at + n < code_count && compare_step(&l, code[at + n].id, &code[at + n].o); n++)
        for (; l.low < l.high && !l.low->steps[n + 1]; l.low++)
            if (l.low->direction == sequence_direction(code[at + n].id, &code[at + n].o, n))
                fits[l.low - sequences] = true;
}

int main(int argc, char **argv)
{
    static bool fits[SEQUENCE_COUNT];
    unsigned count = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: fitting PROGRAM\n");
        return 2;
    }
    read_program(argv[1]);
    for (size_t at = 0; at < code_count; at++)
        mark(fits, at);
    for (unsigned i = 0; i < SEQUENCE_COUNT; i++)
        count += fits[i];
    printf("%u of %u sequences fit its code\n", count, SEQUENCE_COUNT);
    return count < SEQUENCE_COUNT - SEQUENCE_COUNT / 10 ? 5 : 0;
}
