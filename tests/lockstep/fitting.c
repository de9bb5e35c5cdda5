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

#include "lines.h"

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

// Whether byte, of an op, is what the line asks for: *registers has those that its slots stand for, as far as
// they are known.
static bool is_alike(unsigned wanted, uint8_t byte, uint8_t registers[REG_ZERO], unsigned *slots)
{
    if (wanted == _)
        return true;
    if (wanted >= SEQUENCE_FIELD)
        return byte == wanted - SEQUENCE_FIELD;
    if (wanted >= REG_ZERO || wanted < *slots)
        return byte == (wanted >= REG_ZERO ? wanted : registers[wanted]);
    if (byte >= REG_ZERO || memchr(registers, byte, *slots))
        return false;
    registers[(*slots)++] = byte;
    return true;
}

static bool fits_at(const struct line *l, size_t at)
{
    uint8_t registers[REG_ZERO];
    const unsigned length = length_of(l);
    unsigned slots = 0;
    if (length > code_count - at)
        return false;
    for (unsigned k = 0; k < length; k++) {
        if (code[at + k].id != (enum insn)l->steps[k].insn)
            return false;
        const op *o = &code[at + k].o;
        const uint8_t bytes[] = {o->d, o->n, o->m, o->a};
        for (unsigned i = 0; i < 4; i++)
            if (!is_alike(l->steps[k].bytes[i], bytes[i], registers, &slots))
                return false;
    }
    return sequence_direction(code[at + length - 1].id, &code[at + length - 1].o, length - 1) == l->direction;
}

static bool fits(const struct line *l)
{
    for (size_t at = 0; at < code_count; at++)
        if (fits_at(l, at))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: fitting PROGRAM\n");
        return 2;
    }
    read_program(argv[1]);
    for (unsigned i = 0; i < LINES; i++)
        count += fits(&lines[i]);
    printf("%u of %u sequences fit its code\n", count, LINES);
    return count < LINES - LINES / 10 ? 5 : 0;
}
