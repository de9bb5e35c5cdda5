// SPDX-License-Identifier: MIT
// A linker for the one kind of object that the translator makes: ELF32, x86-64 (x32), static, small.
#include "object.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECTIONS_MAX = 64 };

int code_memory_create(struct code_memory *m, size_t size)
{
    *m = (struct code_memory){.size = size};
    int fd = memfd_create("translated", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    void *code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_32BIT, fd, 0);
    void *write = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    m->code = code == MAP_FAILED ? NULL : code;
    m->write = write == MAP_FAILED ? NULL : write;
    if (m->code && m->write)
        return 0;
    code_memory_destroy(m);
    return -1;
}

void code_memory_destroy(struct code_memory *m)
{
    if (m->code)
        munmap(m->code, m->size);
    if (m->write)
        munmap(m->write, m->size);
    *m = (struct code_memory){0};
}

size_t code_memory_take(struct code_memory *m, size_t size)
{
    size = (size + 63) & ~(size_t)63;
    if (size > m->size - m->used)
        return SIZE_MAX;
    size_t at = m->used;
    m->used += size;
    return at;
}

// ---- the object ----

struct object {
    const unsigned char *bytes;
    size_t size;
    const Elf32_Shdr *sections;
    unsigned section_count;
    const Elf32_Sym *symbols;
    unsigned symbol_count;
    const char *names;
    size_t names_size;
    uint32_t placed[SECTIONS_MAX]; // offset of the section from the start of the code, for allocated ones
};

static const void *part(const struct object *o, uint64_t offset, uint64_t size)
{
    return offset <= o->size && size <= o->size - offset && offset % 4 == 0 ? o->bytes + offset : NULL;
}

static bool is_allocated(const Elf32_Shdr *s)
{
    return s->sh_flags & SHF_ALLOC && s->sh_type == SHT_PROGBITS;
}

static bool open_object(struct object *o)
{
    const Elf32_Ehdr *h = part(o, 0, sizeof *h);
    if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS32 ||
        h->e_machine != EM_X86_64 || h->e_type != ET_REL || h->e_shentsize != sizeof(Elf32_Shdr) ||
        h->e_shnum > SECTIONS_MAX)
        return false;
    o->section_count = h->e_shnum;
    o->sections = part(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf32_Shdr));
    if (!o->sections)
        return false;
    for (unsigned i = 0; i < o->section_count; i++) {
        const Elf32_Shdr *s = &o->sections[i];
        if (s->sh_type == SHT_NULL || s->sh_type == SHT_NOBITS)
            continue;
        if (s->sh_offset > o->size || s->sh_size > o->size - s->sh_offset)
            return false;
        if (s->sh_type != SHT_SYMTAB)
            continue;
        o->symbols = part(o, s->sh_offset, s->sh_size);
        o->symbol_count = s->sh_size / sizeof(Elf32_Sym);
        if (!o->symbols || s->sh_link >= o->section_count)
            return false;
        const Elf32_Shdr *names = &o->sections[s->sh_link];
        o->names = (const char *)o->bytes + names->sh_offset;
        o->names_size = names->sh_size;
        if (names->sh_type != SHT_STRTAB || !o->names_size || o->names[o->names_size - 1] != '\0')
            return false;
    }
    return o->symbols != NULL;
}

// Lays out the allocated sections; returns their size together, 0 if there is none or too much.
static uint32_t place_sections(struct object *o)
{
    uint64_t end = 0;
    for (unsigned i = 0; i < o->section_count; i++) {
        const Elf32_Shdr *s = &o->sections[i];
        if (!is_allocated(s))
            continue;
        uint64_t alignment = s->sh_addralign > 16 ? 64 : 16;
        end = (end + alignment - 1) & ~(alignment - 1);
        o->placed[i] = (uint32_t)end;
        end += s->sh_size;
    }
    return end > UINT32_MAX / 4 ? 0 : (uint32_t)end;
}

struct link {
    struct object o;
    uint8_t *write; // where the code can be written
    uint32_t start; // where it will run
    uint32_t *resolved; // of each symbol, 0 = not asked for yet
    symbol_resolver *resolve;
    void *user;
};

static bool symbol_address(const struct link *l, uint32_t index, uint32_t *address)
{
    const struct object *o = &l->o;
    if (index >= o->symbol_count)
        return false;
    const Elf32_Sym *s = &o->symbols[index];
    if (s->st_shndx == SHN_UNDEF) {
        if (s->st_name >= o->names_size)
            return false;
        if (!l->resolved[index])
            l->resolved[index] = l->resolve(l->user, o->names + s->st_name);
        *address = l->resolved[index];
        return *address != 0;
    }
    if (s->st_shndx >= o->section_count || !is_allocated(&o->sections[s->st_shndx]))
        return false;
    *address = l->start + o->placed[s->st_shndx] + s->st_value;
    return true;
}

static bool relocate(const struct link *l, const Elf32_Rela *r, unsigned section)
{
    const Elf32_Shdr *target = &l->o.sections[section];
    uint32_t symbol, place = l->start + l->o.placed[section] + r->r_offset;
    if (target->sh_size < 4 || r->r_offset > target->sh_size - 4 ||
        !symbol_address(l, ELF32_R_SYM(r->r_info), &symbol))
        return false;
    int64_t value = (int64_t)symbol + r->r_addend;
    switch (ELF32_R_TYPE(r->r_info)) {
    case R_X86_64_32:
        if (value < 0 || value > UINT32_MAX)
            return false;
        break;
    case R_X86_64_32S: break;
    case R_X86_64_PC32:
    case R_X86_64_PLT32: value -= place; break;
    default: return false;
    }
    if (ELF32_R_TYPE(r->r_info) != R_X86_64_32 && value != (int32_t)value)
        return false;
    uint32_t word = (uint32_t)value;
    memcpy(l->write + l->o.placed[section] + r->r_offset, &word, sizeof word);
    return true;
}

static bool relocate_all(const struct link *l)
{
    for (unsigned i = 0; i < l->o.section_count; i++) {
        const Elf32_Shdr *s = &l->o.sections[i];
        if (s->sh_type != SHT_RELA || s->sh_info >= l->o.section_count ||
            !is_allocated(&l->o.sections[s->sh_info]))
            continue;
        const Elf32_Rela *r = part(&l->o, s->sh_offset, s->sh_size);
        if (!r)
            return false;
        for (unsigned k = 0; k < s->sh_size / sizeof *r; k++)
            if (!relocate(l, &r[k], s->sh_info))
                return false;
    }
    return true;
}

// ---- the line table (DWARF 5, 6.2): lines are guest addresses / 4, columns code_line.left ----

struct reader {
    const unsigned char *at, *end;
    bool failed;
};

static uint64_t read_bytes(struct reader *r, unsigned count)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < count) {
        r->failed = true;
        return 0;
    }
    memcpy(&value, r->at, count);
    r->at += count;
    return value;
}

static uint64_t read_leb128(struct reader *r, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)read_bytes(r, 1);
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
    } while (byte & 0x80 && !r->failed);
    if (is_signed && byte & 0x40 && shift < 64)
        value |= ~0ull << shift;
    return value;
}

// What is looked for at an offset, all 0 where there is none.
struct line_search {
    uint64_t offset;
    struct code_line line; // the last one of an access at or before it
    uint32_t last, known, next; // pc of the last line there, 0 if that is of none; of the last that is of
                                // one; of the first one behind that is
};

static void meet_line(struct line_search *search, uint64_t offset, uint64_t line, uint64_t column)
{
    const uint32_t pc = line > 1 ? (uint32_t)line * 4 : 0; // 1 is the function's, where it begins
    if (offset > search->offset) {
        search->next = search->next ? search->next : pc;
        return;
    }
    search->last = pc;
    search->known = pc ? pc : search->known;
    if (pc && column != LINE_OF_BLOCK)
        search->line = (struct code_line){pc, (uint16_t)column};
}

static bool read_lines(struct reader r, struct line_search *search)
{
    read_bytes(&r, 4); // length of the unit: there is one
    uint64_t version = read_bytes(&r, 2);
    if (version >= 5)
        read_bytes(&r, 2); // sizes of addresses and segments
    uint64_t header = read_bytes(&r, 4);
    if (r.failed || header > (size_t)(r.end - r.at) || header < 6)
        return false;
    struct reader h = {r.at, r.at + header, false};
    r.at += header;
    uint64_t step = read_bytes(&h, 1);
    read_bytes(&h, 2); // operations an instruction, default of is_stmt
    int64_t line_base = (int8_t)read_bytes(&h, 1);
    uint64_t line_range = read_bytes(&h, 1), opcode_base = read_bytes(&h, 1);
    unsigned char operands[256] = {0};
    for (unsigned i = 1; i < opcode_base; i++)
        operands[i] = (unsigned char)read_bytes(&h, 1);
    if (h.failed || !line_range)
        return false;
    uint64_t address = 0, line = 1, column = 0;
    while (r.at < r.end && !r.failed) {
        uint64_t opcode = read_bytes(&r, 1);
        if (opcode >= opcode_base) {
            address += (opcode - opcode_base) / line_range * step;
            line += (uint64_t)(line_base + (int64_t)((opcode - opcode_base) % line_range));
            meet_line(search, address, line, column);
            continue;
        }
        switch (opcode) {
        case 0: { // extended: all are skipped but the addresses, which are 0 before relocation
            uint64_t length = read_leb128(&r, false);
            if (length > (size_t)(r.end - r.at))
                return false;
            r.at += length;
            break;
        }
        case 1: meet_line(search, address, line, column); break; // copy
        case 2: address += read_leb128(&r, false) * step; break;
        case 3: line += read_leb128(&r, true); break;
        case 5: column = read_leb128(&r, false); break;
        case 8: address += (255 - opcode_base) / line_range * step; break;
        case 9: address += read_bytes(&r, 2); break;
        default:
            for (unsigned i = 0; i < operands[opcode]; i++)
                read_leb128(&r, false);
        }
    }
    return !r.failed;
}

// Where the line table is, which has to be well formed.
static bool find_lines(const struct object *o, struct linked_object *linked)
{
    const Elf32_Ehdr *h = (const Elf32_Ehdr *)o->bytes;
    if (h->e_shstrndx >= o->section_count)
        return false;
    const Elf32_Shdr *names = &o->sections[h->e_shstrndx];
    const char *text = (const char *)o->bytes + names->sh_offset;
    if (names->sh_type != SHT_STRTAB || !names->sh_size || text[names->sh_size - 1] != '\0')
        return false;
    for (unsigned i = 0; i < o->section_count; i++) {
        const Elf32_Shdr *s = &o->sections[i];
        if (s->sh_type == SHT_PROGBITS && s->sh_name < names->sh_size &&
            strcmp(text + s->sh_name, ".debug_line") == 0) {
            struct line_search nothing = {0};
            linked->lines = o->bytes + s->sh_offset;
            linked->lines_size = s->sh_size;
            return read_lines((struct reader){linked->lines, linked->lines + s->sh_size, false}, &nothing);
        }
    }
    return true;
}

bool object_find_line(const struct linked_object *linked, uint32_t offset, struct code_line *line)
{
    struct line_search search = {.offset = offset};
    read_lines((struct reader){linked->lines, linked->lines + linked->lines_size, false}, &search);
    *line = search.line;
    return search.line.pc != 0;
}

bool object_find_nearest(const struct linked_object *linked, uint32_t offset, uint32_t *pc)
{
    struct line_search search = {.offset = offset};
    read_lines((struct reader){linked->lines, linked->lines + linked->lines_size, false}, &search);
    *pc = search.last ? search.last : search.next ? search.next : search.known;
    return *pc != 0;
}

// ---- linking ----

bool object_link(struct code_memory *memory, const unsigned char *bytes, size_t size,
                 symbol_resolver *resolve, symbol_receiver *receive, void *user, struct linked_object *linked)
{
    struct link l = {.o = {.bytes = bytes, .size = size}, .resolve = resolve, .user = user};
    *linked = (struct linked_object){0};
    if (!open_object(&l.o) || !(linked->size = place_sections(&l.o)))
        return false;
    size_t at = code_memory_take(memory, linked->size);
    if (at == SIZE_MAX)
        return false;
    l.write = memory->write + at;
    l.start = linked->start = (uint32_t)(uintptr_t)(memory->code + at);
    for (unsigned i = 0; i < l.o.section_count; i++) {
        const Elf32_Shdr *s = &l.o.sections[i];
        if (is_allocated(s))
            memcpy(l.write + l.o.placed[i], bytes + s->sh_offset, s->sh_size);
    }
    l.resolved = calloc(l.o.symbol_count, sizeof *l.resolved);
    bool linked_well = l.resolved && relocate_all(&l) && find_lines(&l.o, linked);
    free(l.resolved);
    if (!linked_well)
        return false;
    for (unsigned i = 0; i < l.o.symbol_count; i++) {
        const Elf32_Sym *s = &l.o.symbols[i];
        uint32_t address;
        if (ELF32_ST_BIND(s->st_info) == STB_GLOBAL &&
            (ELF32_ST_TYPE(s->st_info) == STT_FUNC || ELF32_ST_TYPE(s->st_info) == STT_OBJECT) &&
            s->st_shndx != SHN_UNDEF && s->st_name < l.o.names_size && symbol_address(&l, i, &address))
            receive(user, l.o.names + s->st_name, address);
    }
    return true;
}
