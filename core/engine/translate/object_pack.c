// SPDX-License-Identifier: MIT
// Packs the one kind of object that LLVM makes here: ELF32, x86-64 (x32), static, small.
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "object_packed.h"

enum { SECTIONS_MAX = 64 };

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

// ---- packing ----

struct packing {
    struct object o;
    symbol_reader *read;
    void *user;
    uint32_t code_size;
    unsigned char *code;
    // by symbol of the object
    struct use {
        uint32_t place_count, first; // of places, in the end
        struct object_symbol symbol;
        bool is_known;
    } * uses;
    struct place {
        uint32_t symbol, at; // as packed
    } * places;
    uint32_t place_count, use_count;
};

static const char *name_of(const struct object *o, const Elf32_Sym *s)
{
    return s->st_name < o->names_size ? o->names + s->st_name : NULL;
}

// Finds where in the object's code the symbol is; false if it is nowhere in there.
static bool find_own(const struct object *o, const Elf32_Sym *s, uint32_t *offset)
{
    if (s->st_shndx == SHN_UNDEF || s->st_shndx >= o->section_count ||
        !is_allocated(&o->sections[s->st_shndx]) || s->st_value > o->sections[s->st_shndx].sh_size)
        return false;
    *offset = o->placed[s->st_shndx] + s->st_value;
    return true;
}

static bool pack_place(struct packing *p, const Elf32_Rela *r, unsigned section)
{
    const struct object *o = &p->o;
    const Elf32_Shdr *target = &o->sections[section];
    uint32_t index = ELF32_R_SYM(r->r_info), own = 0, at = o->placed[section] + r->r_offset;
    if (target->sh_size < 4 || r->r_offset > target->sh_size - 4 || index >= o->symbol_count)
        return false;
    const Elf32_Sym *s = &o->symbols[index];
    bool is_own = find_own(o, s, &own), is_relative = false;
    switch (ELF32_R_TYPE(r->r_info)) {
    case R_X86_64_32:
    case R_X86_64_32S: break;
    case R_X86_64_PC32:
    case R_X86_64_PLT32: is_relative = true; break;
    default: return false;
    }
    uint32_t word = own + (uint32_t)r->r_addend - (is_relative ? at : 0);
    memcpy(p->code + at, &word, sizeof word);
    if (is_own && is_relative)
        return true;
    struct use *use = &p->uses[is_own ? 0 : index]; // symbol 0 is none: it stands for the object itself
    if (!is_own && !use->is_known) {
        const char *name = name_of(o, s);
        if (s->st_shndx != SHN_UNDEF || !name || !p->read(p->user, name, false, &use->symbol))
            return false;
        use->is_known = true;
    }
    p->use_count += !use->place_count++;
    p->places[p->place_count++] = (struct place){is_own ? 0 : index, at | (is_relative ? 0 : PLACE_ABSOLUTE)};
    return true;
}

// For each section of relocations of what is packed; NULL if its contents are not in the object.
static const Elf32_Rela *relocations_of(const struct object *o, unsigned i, uint32_t *count)
{
    const Elf32_Shdr *s = &o->sections[i];
    *count = 0;
    if (s->sh_type != SHT_RELA || s->sh_info >= o->section_count || !is_allocated(&o->sections[s->sh_info]))
        return NULL;
    const Elf32_Rela *r = part(o, s->sh_offset, s->sh_size);
    *count = r ? s->sh_size / sizeof *r : UINT32_MAX;
    return r;
}

static bool pack_places(struct packing *p)
{
    uint64_t most = 1;
    uint32_t count;
    for (unsigned i = 0; i < p->o.section_count; i++)
        if (relocations_of(&p->o, i, &count) || count)
            most += count;
    p->places = most < UINT32_MAX ? malloc(most * sizeof *p->places) : NULL;
    if (!p->places)
        return false;
    for (unsigned i = 0; i < p->o.section_count; i++) {
        const Elf32_Rela *r = relocations_of(&p->o, i, &count);
        for (uint32_t k = 0; r && k < count; k++)
            if (!pack_place(p, &r[k], p->o.sections[i].sh_info))
                return false;
    }
    return true;
}

// The line table: its bytes, at most one; NULL: there is none.
static const unsigned char *find_lines(const struct object *o, uint32_t *size)
{
    const Elf32_Ehdr *h = (const Elf32_Ehdr *)o->bytes;
    *size = 0;
    if (h->e_shstrndx >= o->section_count)
        return NULL;
    const Elf32_Shdr *names = &o->sections[h->e_shstrndx];
    const char *text = (const char *)o->bytes + names->sh_offset;
    if (names->sh_type != SHT_STRTAB || !names->sh_size || text[names->sh_size - 1] != '\0')
        return NULL;
    for (unsigned i = 0; i < o->section_count; i++) {
        const Elf32_Shdr *s = &o->sections[i];
        if (s->sh_type == SHT_PROGBITS && s->sh_name < names->sh_size &&
            strcmp(text + s->sh_name, ".debug_line") == 0) {
            *size = s->sh_size;
            return o->bytes + s->sh_offset;
        }
    }
    return NULL;
}

// The definitions that read knows, *count of them: malloc'd.
static struct packed_definition *pack_definitions(const struct packing *p, uint32_t *count)
{
    const struct object *o = &p->o;
    struct packed_definition *list = malloc((o->symbol_count + 1) * sizeof *list);
    *count = 0;
    for (unsigned i = 0; list && i < o->symbol_count; i++) {
        const Elf32_Sym *s = &o->symbols[i];
        struct packed_definition d;
        const char *name = name_of(o, s);
        if (ELF32_ST_BIND(s->st_info) != STB_GLOBAL ||
            (ELF32_ST_TYPE(s->st_info) != STT_FUNC && ELF32_ST_TYPE(s->st_info) != STT_OBJECT) || !name ||
            !find_own(o, s, &d.offset) || !p->read(p->user, name, true, &d.symbol))
            continue;
        list[(*count)++] = d;
    }
    return list;
}

// Sorts the places by symbol.
static void lay_out_uses(struct packing *p, struct packed_use *uses, uint32_t *places)
{
    uint32_t used = 0, first = 0;
    for (unsigned i = 0; i < p->o.symbol_count; i++) {
        struct use *use = &p->uses[i];
        if (!use->place_count)
            continue;
        uses[used++] = (struct packed_use){use->symbol, use->place_count};
        use->first = first;
        first += use->place_count;
    }
    for (uint32_t i = 0; i < p->place_count; i++)
        places[p->uses[p->places[i].symbol].first++] = p->places[i].at;
}

static unsigned char *lay_out(struct packing *p, size_t *size)
{
    struct packed_header h = {
        .use_count = p->use_count, .place_count = p->place_count, .code_size = p->code_size};
    struct packed_definition *list = pack_definitions(p, &h.definition_count);
    const unsigned char *lines = find_lines(&p->o, &h.lines_size);
    size_t uses = h.use_count * sizeof(struct packed_use), places = h.place_count * sizeof(uint32_t),
           definitions = h.definition_count * sizeof(struct packed_definition);
    *size = sizeof h + uses + places + definitions + h.code_size + h.lines_size;
    unsigned char *packed = list ? malloc(*size) : NULL, *at = packed;
    if (packed) {
        memcpy(at, &h, sizeof h);
        at += sizeof h;
        lay_out_uses(p, (struct packed_use *)at, (uint32_t *)(at + uses));
        at += uses + places;
        memcpy(at, list, definitions);
        at += definitions;
        memcpy(at, p->code, h.code_size);
        if (lines)
            memcpy(at + h.code_size, lines, h.lines_size);
    }
    free(list);
    return packed;
}

unsigned char *object_pack(const unsigned char *elf, size_t size, symbol_reader *read, void *user,
                           size_t *packed_size)
{
    struct packing p = {.o = {.bytes = elf, .size = size}, .read = read, .user = user};
    unsigned char *packed = NULL;
    if (open_object(&p.o) && (p.code_size = place_sections(&p.o)) && (p.code = calloc(1, p.code_size)) &&
        (p.uses = calloc(p.o.symbol_count + 1, sizeof *p.uses))) {
        for (unsigned i = 0; i < p.o.section_count; i++) {
            const Elf32_Shdr *s = &p.o.sections[i];
            if (is_allocated(s))
                memcpy(p.code + p.o.placed[i], elf + s->sh_offset, s->sh_size);
        }
        if (pack_places(&p))
            packed = lay_out(&p, packed_size);
    }
    free(p.code);
    free(p.uses);
    free(p.places);
    return packed;
}
