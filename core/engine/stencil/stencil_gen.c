// SPDX-License-Identifier: MIT
// Run when the project is built: takes stencils out of what clang has made of interp_stencils.c for a level,
// and writes them as tables (stencil.h).
//
//   stencil_gen OBJECT LEVEL FILE.c
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stencil.h"

#include "core/isa/isa.h"

enum {
    LONGEST = 256, // bytes: longer ones are left to the interpreter's handlers
    HOLES_MAX = 64, // at most UINT8_MAX
    HOSTS_MAX = 128,
    CONSTANTS_MAX = 4096,
    JUMP_BYTES = 5,
    JUMP = 0xe9,
    CALL = 0xe8,
    NOP = 0x90,
};

static struct {
    unsigned char *bytes;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    const Elf64_Sym *symbols;
    const char *names;
    const Elf64_Sym **stencils; // the symbols that are functions, by name
    size_t stencil_count;
    const Elf64_Shdr **relocations; // the section that has those of a section, or NULL
} object;

static const char *hosts[HOSTS_MAX];
static unsigned host_count;
static uint8_t constants[CONSTANTS_MAX];
static size_t constants_size;

static _Noreturn void fail(const char *what, const char *which)
{
    fprintf(stderr, "stencil_gen: %s: %s\n", what, which);
    exit(1);
}

static const char *symbol_name(const Elf64_Sym *symbol)
{
    return object.names + symbol->st_name;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(symbol_name(*(const Elf64_Sym *const *)a), symbol_name(*(const Elf64_Sym *const *)b));
}

static int compare_to_name(const void *name, const void *symbol)
{
    return strcmp(name, symbol_name(*(const Elf64_Sym *const *)symbol));
}

// There are tens of thousands of symbols, and sections.
static void index_object(const Elf64_Sym *symbols, size_t count)
{
    object.stencils = calloc(count, sizeof *object.stencils);
    object.relocations = calloc(object.header->e_shnum, sizeof *object.relocations);
    if (!object.stencils || !object.relocations)
        fail("no memory", "");
    for (size_t i = 0; i < count; i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC)
            object.stencils[object.stencil_count++] = &symbols[i];
    qsort(object.stencils, object.stencil_count, sizeof *object.stencils, compare_names);
    for (unsigned i = 0; i < object.header->e_shnum; i++)
        if (object.sections[i].sh_type == SHT_RELA)
            object.relocations[object.sections[i].sh_info] = &object.sections[i];
}

static void read_object(const char *path)
{
    FILE *f = fopen(path, "rb");
    long end = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (end < 0 || fseek(f, 0, SEEK_SET) != 0)
        fail("cannot be read", path);
    size_t size = (size_t)end;
    object.bytes = malloc(size);
    if (!object.bytes || fread(object.bytes, 1, size, f) != size)
        fail("cannot be read", path);
    fclose(f);
    object.header = (const Elf64_Ehdr *)object.bytes;
    object.sections = (const Elf64_Shdr *)(object.bytes + object.header->e_shoff);
    size_t symbol_count = 0;
    for (unsigned i = 0; i < object.header->e_shnum; i++) {
        const Elf64_Shdr *s = &object.sections[i];
        if (s->sh_type == SHT_SYMTAB) {
            object.symbols = (const Elf64_Sym *)(object.bytes + s->sh_offset);
            symbol_count = s->sh_size / sizeof(Elf64_Sym);
            object.names = (const char *)object.bytes + object.sections[s->sh_link].sh_offset;
        }
    }
    if (!object.symbols)
        fail("has no symbols", path);
    index_object(object.symbols, symbol_count);
}

static const Elf64_Sym *find_stencil(const char *name, unsigned variant, unsigned form)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, "stencil__%s__%u__%u", name, variant, form);
    const Elf64_Sym **found =
        bsearch(wanted, object.stencils, object.stencil_count, sizeof *found, compare_to_name);
    return found ? *found : NULL;
}

// The relocations of a section; *count of them.
static Elf64_Rela *relocations_of(unsigned section, size_t *count)
{
    const Elf64_Shdr *s = object.relocations[section];
    *count = s ? s->sh_size / sizeof(Elf64_Rela) : 0;
    return s ? (Elf64_Rela *)(object.bytes + s->sh_offset) : NULL;
}

// The hole that a symbol stands for; -1 if it is none.
static int hole_of(const char *name)
{
#define HOLE_NAME(hole) "hole_" #hole,
    static const char *const names[] = {HOLES(HOLE_NAME)};
#undef HOLE_NAME
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return (int)i;
    return strcmp(name, "stencil_handler") == 0    ? HOLE_handler
           : strcmp(name, "stencil_start") == 0    ? HOLE_start
           : strcmp(name, "stencil_exit") == 0     ? HOLE_exit
           : strcmp(name, "stencil_dispatch") == 0 ? HOLE_dispatch
           : strcmp(name, "stencil_aside") == 0    ? HOLE_aside
                                                   : -1;
}

// The function of ours that a symbol is, by its number; -1 if it is none.
static int host_of(const char *name)
{
    static const char *const prefixes[] = {"interp_", "fault_", "memory_", "devices_", "fp_", "core_"};
    bool is_ours = false;
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        is_ours |= strncmp(name, prefixes[i], strlen(prefixes[i])) == 0;
    if (!is_ours)
        return -1;
    for (unsigned i = 0; i < host_count; i++)
        if (strcmp(hosts[i], name) == 0)
            return (int)i;
    if (host_count == HOSTS_MAX)
        fail("there are more functions than fit", name);
    hosts[host_count] = name;
    return (int)host_count++;
}

// Where a constant of the stencil is to be found among all; -1 if it is none.
static int constant_of(const Elf64_Sym *symbol)
{
    const Elf64_Shdr *s = &object.sections[symbol->st_shndx];
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= object.header->e_shnum ||
        s->sh_type != SHT_PROGBITS || s->sh_flags & (SHF_EXECINSTR | SHF_WRITE) || !s->sh_entsize)
        return -1;
    const uint8_t *value = object.bytes + s->sh_offset + symbol->st_value;
    for (size_t at = 0; at < constants_size; at += s->sh_entsize)
        if (at % s->sh_entsize == 0 && at + s->sh_entsize <= constants_size &&
            memcmp(constants + at, value, s->sh_entsize) == 0)
            return (int)at;
    size_t at = (constants_size + s->sh_entsize - 1) / s->sh_entsize * s->sh_entsize;
    if (at + s->sh_entsize > CONSTANTS_MAX)
        fail("there are more constants than fit", symbol_name(symbol));
    memcpy(constants + at, value, s->sh_entsize);
    constants_size = at + s->sh_entsize;
    return (int)at;
}

// Whether code that begins so has moved the stack pointer: shrink-wrapping is off.
static bool has_frame(const uint8_t *code)
{
    const uint8_t *push = code + (code[0] == 0x41);
    return *push >> 3 == 0x50 >> 3 ||
           (code[0] == 0x48 && (code[1] == 0x81 || code[1] == 0x83) && code[2] == 0xec);
}

static const char *name_of(const Elf64_Rela *r)
{
    return symbol_name(&object.symbols[ELF64_R_SYM(r->r_info)]);
}

// The relocation at that place of a jump to the symbol, or to any if that is NULL; NULL if there is none.
static Elf64_Rela *jump_to(Elf64_Rela *relocations, size_t count, const char *symbol, size_t at)
{
    for (size_t i = 0; i < count; i++)
        if (relocations[i].r_offset == at && (!symbol || strcmp(name_of(&relocations[i]), symbol) == 0))
            return &relocations[i];
    return NULL;
}

// Where the code ends in a conditional jump to what follows and a jump elsewhere, has it be the other way
// round.
static void turn_round(uint8_t *code, size_t size, Elf64_Rela *relocations, size_t count)
{
    const size_t jump = size - JUMP_BYTES, condition = jump - 6;
    Elf64_Rela *to_next =
        size < JUMP_BYTES + 6 ? NULL : jump_to(relocations, count, "stencil_next", jump - 4);
    Elf64_Rela *elsewhere = jump_to(relocations, count, NULL, jump + 1);
    if (!to_next || !elsewhere || code[condition] != 0x0f || code[condition + 1] >> 4 != 8 ||
        code[jump] != JUMP)
        return;
    code[condition + 1] ^= 1; // jcc
    to_next->r_offset = jump + 1;
    elsewhere->r_offset = jump - 4;
}

// Its code, without the jump to the next one at the end, and its holes; false if there is something in it
// that cannot be copied.
static bool take(const Elf64_Sym *symbol, uint8_t *code, size_t *size, struct hole *holes,
                 unsigned *hole_count)
{
    const Elf64_Shdr *s = &object.sections[symbol->st_shndx];
    size_t count;
    Elf64_Rela *relocations = relocations_of(symbol->st_shndx, &count);
    *size = symbol->st_size;
    *hole_count = 0;
    if (*size > LONGEST)
        return false;
    memcpy(code, object.bytes + s->sh_offset + symbol->st_value, *size);
    turn_round(code, *size, relocations, count);
    bool ends_in_jump =
        jump_to(relocations, count, "stencil_next", *size - 4) && code[*size - JUMP_BYTES] == JUMP;
    const size_t end = ends_in_jump ? *size - JUMP_BYTES : *size;
    for (size_t i = 0; i < count; i++) {
        const Elf64_Rela *r = &relocations[i];
        const Elf64_Sym *to = &object.symbols[ELF64_R_SYM(r->r_info)];
        const char *name = name_of(r);
        uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
        int hole = hole_of(name), found = 0;
        if (strcmp(name, "stencil_next") == 0) {
            int32_t distance = (int32_t)(end - r->r_offset - 4);
            if (r->r_offset > end)
                continue;
            if (type != R_X86_64_PLT32 || code[r->r_offset - 1] == CALL)
                return false;
            memcpy(code + r->r_offset, &distance, sizeof distance);
            continue;
        }
        bool is_jump = hole == HOLE_handler || hole == HOLE_start || hole == HOLE_exit ||
                       hole == HOLE_dispatch || hole == HOLE_aside;
        if (hole == HOLE_aside && has_frame(code))
            return false;
        if (hole >= 0 && type == (is_jump ? R_X86_64_PLT32 : R_X86_64_32S))
            ;
        else if (hole < 0 && type == R_X86_64_PLT32 && (found = host_of(name)) >= 0)
            hole = HOLE_host + found;
        else if (hole < 0 && type == R_X86_64_PC32 && (found = constant_of(to)) >= 0)
            hole = HOLE_constant;
        else
            return false;
        if (*hole_count == HOLES_MAX)
            return false;
        holes[(*hole_count)++] =
            (struct hole){.at = (uint16_t)r->r_offset,
                          .kind = (uint16_t)hole,
                          .addend = (int32_t)r->r_addend + (hole == HOLE_constant ? found : 0)};
    }
    *size = end ? end : 1; // of size 0 is what cannot be copied
    if (!end)
        code[0] = NOP;
    return true;
}

// All that there are, the first of which stands for none; and the number of each form's.
static struct stencil *stencils;
static uint16_t *numbers;
static size_t stencil_count, number_count;
static uint8_t *all_code;
static struct hole *all_holes;
static size_t code_size, hole_total;

static void *more(void *p, size_t count, size_t size)
{
    p = realloc(p, count * size);
    if (!p)
        fail("no memory", "");
    return p;
}

// Whether the stencil is just that.
static bool is_like(const struct stencil *s, const uint8_t *code, size_t size, const struct hole *holes,
                    unsigned count)
{
    return s->size == size && s->hole_count == count && memcmp(all_code + s->code, code, size) == 0 &&
           memcmp(all_holes + s->holes, holes, count * sizeof *holes) == 0;
}

// Adds a form of an instruction; one that is like the plain one shares its stencil.
static void add_form(const Elf64_Sym *symbol, unsigned plain)
{
    uint8_t code[LONGEST];
    struct hole holes[HOLES_MAX] = {0};
    size_t size;
    unsigned count;
    numbers = more(numbers, number_count + 1, sizeof *numbers);
    numbers[number_count++] = 0;
    if (!symbol || !take(symbol, code, &size, holes, &count))
        return;
    if (plain && is_like(&stencils[plain], code, size, holes, count)) {
        numbers[number_count - 1] = (uint16_t)plain;
        return;
    }
    if (stencil_count > UINT16_MAX || number_count > UINT16_MAX)
        fail("there are more stencils than fit", "");
    numbers[number_count - 1] = (uint16_t)stencil_count;
    stencils = more(stencils, stencil_count + 1, sizeof *stencils);
    bool has_aside = false;
    for (unsigned i = 0; i < count; i++)
        has_aside |= holes[i].kind == HOLE_aside;
    stencils[stencil_count++] = (struct stencil){.code = (uint32_t)code_size,
                                                 .holes = (uint32_t)hole_total,
                                                 .size = (uint16_t)size,
                                                 .hole_count = (uint8_t)count,
                                                 .has_aside = has_aside};
    all_code = more(all_code, code_size + size, 1);
    memcpy(all_code + code_size, code, size);
    code_size += size;
    all_holes = more(all_holes, hole_total + count + 1, sizeof *all_holes);
    memcpy(all_holes + hole_total, holes, count * sizeof *holes);
    hole_total += count;
}

// Adds the variants of a name; returns where the first one's forms begin, 0 if there are none.
static size_t add(const char *name)
{
    size_t first = number_count;
    for (unsigned variant = 0;
         find_stencil(name, variant, FORM_PLAIN) || find_stencil(name, variant, FORM_WIDE); variant++) {
        size_t plain = number_count;
        for (unsigned form = 0; form < FORM_COUNT; form++)
            add_form(find_stencil(name, variant, form), form ? numbers[plain] : 0);
    }
    return number_count > first ? first : 0;
}

static void write_bytes(FILE *f, const char *name, const uint8_t *bytes, size_t size)
{
    fprintf(f, "static const _Alignas(64) uint8_t %s[] = {", name);
    for (size_t i = 0; i < size; i++)
        fprintf(f, "%s%u,", i % 32 ? "" : "\n", bytes[i]);
    fprintf(f, "\n};\n");
}

int main(int argc, char **argv)
{
    static const char *const names[INSN_COUNT] = {
#define INSN(name, ...) [INSN_##name] = #name,
#include "core/isa/insns.def"
#undef INSN
    };
    FILE *f = argc == 4 ? fopen(argv[3], "w") : NULL;
    if (!f) {
        perror(argc == 4 ? argv[3] : "usage: stencil_gen OBJECT LEVEL FILE.c");
        return 1;
    }
    read_object(argv[1]);
    size_t first[INSN_COUNT] = {0};
    uint16_t of_none[10];
    stencils = more(stencils, 1, sizeof *stencils);
    stencils[stencil_count++] = (struct stencil){0};
    add_form(NULL, 0);
    unsigned none_count = 0;
    static const char *const no_instructions[] = {"end",      "not_taken", "call", "leave",
                                                  "dispatch", "door",      "keep", "taken"};
    for (unsigned i = 0; i < sizeof no_instructions / sizeof *no_instructions; i++)
        for (size_t at = add(no_instructions[i]); at < number_count; at += FORM_COUNT) {
            if (!at || !numbers[at + FORM_WIDE] || none_count == sizeof of_none / sizeof *of_none)
                fail("a stencil of no instruction cannot be copied", no_instructions[i]);
            of_none[none_count++] = numbers[at + FORM_WIDE];
        }
    for (unsigned id = 1; id < INSN_COUNT; id++)
        first[id] = add(names[id]);
    fprintf(f, "// Made by stencil_gen.c.\n#include \"core/engine/stencil/stencil.h\"\n\n");
    write_bytes(f, "code", all_code, code_size);
    write_bytes(f, "constants", constants, constants_size + 1);
    fprintf(f, "static const struct hole holes[] = {\n");
    for (size_t i = 0; i < hole_total; i++)
        fprintf(f, "{%u,%u,%d},\n", all_holes[i].at, all_holes[i].kind, all_holes[i].addend);
    fprintf(f, "};\nstatic const struct stencil all[] = {\n");
    for (size_t i = 0; i < stencil_count; i++)
        fprintf(f, "{%u,%u,%u,%u,%d},\n", stencils[i].code, stencils[i].holes, stencils[i].size,
                stencils[i].hole_count, stencils[i].has_aside);
    fprintf(f, "};\nstatic const uint16_t numbers[] = {");
    for (size_t i = 0; i < number_count; i++)
        fprintf(f, "%s%u,", i % FORM_COUNT ? "" : "\n", numbers[i]);
    fprintf(f, "\n};\nstatic const uint16_t first[] = {\n");
    for (unsigned id = 0; id < INSN_COUNT; id++)
        fprintf(f, "%zu,\n", first[id]);
    fprintf(f, "};\n");
    for (unsigned i = 0; i < host_count; i++)
        fprintf(f, "extern char %s[];\n", hosts[i]);
    fprintf(f, "static const void *const hosts[] = {");
    for (unsigned i = 0; i < host_count; i++)
        fprintf(f, "%s, ", hosts[i]);
    fprintf(f,
            "};\nconst struct stencils stencils_%s = {code, constants, holes, all, numbers, first, hosts, "
            "%u, %u, %u, %u, %u, %u, %u, {%u, %u, %u}};\n",
            argv[2], of_none[0], of_none[1], of_none[2], of_none[3], of_none[4], of_none[5], of_none[6],
            of_none[7], of_none[8], of_none[9]);
    return fclose(f) != 0;
}
