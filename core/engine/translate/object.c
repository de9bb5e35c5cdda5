// SPDX-License-Identifier: MIT
#include "object.h"

#include <string.h>

#include "object_packed.h"

// ---- the line table (DWARF 5, 6.2): lines are guest addresses / 4, columns as in object.h ----

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

// What is looked for at an offset; pc is 0 where there is none.
struct line_search {
    uint64_t offset;
    uint32_t access; // pc of the last access at or before it
    struct object_place last, known, next; // of the last line there, be it of none; of the last that is of
                                           // one; of the first one behind that is
};

// Of a line at an offset: pc is 0 where that is of no guest instruction.
typedef void line_receiver(void *user, uint64_t offset, const struct object_place *place, unsigned kind);

static void search_line(void *user, uint64_t offset, const struct object_place *place, unsigned kind)
{
    struct line_search *search = user;
    if (offset > search->offset) {
        search->next = search->next.pc ? search->next : *place;
        return;
    }
    search->last = *place;
    search->known = place->pc ? *place : search->known;
    if (place->pc && kind == COLUMN_ACCESS)
        search->access = place->pc;
}

static void receive_line(line_receiver *receive, void *user, uint64_t offset, uint64_t line, uint64_t column)
{
    const uint64_t calls = column / 2;
    const struct object_place place = {.pc = line > 1 ? (uint32_t)line * 4 : 0, // 1 is the function's own
                                       .call = (uint8_t)(calls % COLUMN_CALLS_MAX),
                                       .outer = (uint8_t)(calls / COLUMN_CALLS_MAX % COLUMN_CALLS_MAX)};
    receive(user, offset, &place, column % 2);
}

static bool read_lines(struct reader r, line_receiver *receive, void *user)
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
            receive_line(receive, user, address, line, column);
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
        case 1: receive_line(receive, user, address, line, column); break; // copy
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

bool object_find_access(const struct linked_object *linked, uint32_t offset, uint32_t *pc)
{
    struct line_search search = {.offset = offset};
    read_lines((struct reader){linked->lines, linked->lines + linked->lines_size, false}, search_line,
               &search);
    *pc = search.access;
    return search.access != 0;
}

bool object_find_nearest(const struct linked_object *linked, uint32_t offset, struct object_place *place)
{
    struct line_search search = {.offset = offset};
    read_lines((struct reader){linked->lines, linked->lines + linked->lines_size, false}, search_line,
               &search);
    *place = search.last.pc ? search.last : search.next.pc ? search.next : search.known;
    return place->pc != 0;
}

struct place_receiver {
    object_place_receiver *tell;
    void *user;
};

static void tell_line(void *user, uint64_t offset, const struct object_place *place, unsigned kind)
{
    (void)offset, (void)kind;
    const struct place_receiver *receiver = user;
    if (place->pc)
        receiver->tell(receiver->user, place);
}

void object_tell_places(const struct linked_object *linked, object_place_receiver *tell, void *user)
{
    struct place_receiver receiver = {tell, user};
    read_lines((struct reader){linked->lines, linked->lines + linked->lines_size, false}, tell_line,
               &receiver);
}

// ---- linking ----

// What comes next in the packed object: count items of that size; NULL if it ends before.
static const void *next_part(const unsigned char **at, const unsigned char *end, uint64_t count, size_t size)
{
    const unsigned char *part = *at;
    if (count > (size_t)(end - part) / size)
        return NULL;
    *at += count * size;
    return part;
}

static bool open_packed(const unsigned char *bytes, size_t size, struct packed_parts *p)
{
    const unsigned char *at = bytes, *end = bytes + size;
    const struct packed_header *h = next_part(&at, end, 1, sizeof *h);
    return (p->header = h) && (p->uses = next_part(&at, end, h->use_count, sizeof *p->uses)) &&
           (p->places = next_part(&at, end, h->place_count, sizeof *p->places)) &&
           (p->definitions = next_part(&at, end, h->definition_count, sizeof *p->definitions)) &&
           (p->code = next_part(&at, end, h->code_size, 1)) &&
           (p->lines = next_part(&at, end, h->lines_size, 1)) && h->code_size;
}

// Adds to what the code has at each place of the use where it runs, or what it refers to.
static bool relocate(const struct packed_parts *p, const struct packed_use *use, const uint32_t *places,
                     uint32_t start, uint32_t symbol, uint8_t *write)
{
    for (uint32_t i = 0; i < use->place_count; i++) {
        uint32_t at = places[i] & ~PLACE_ABSOLUTE, word;
        if (p->header->code_size < sizeof word || at > p->header->code_size - sizeof word)
            return false;
        memcpy(&word, write + at, sizeof word);
        word += places[i] & PLACE_ABSOLUTE ? symbol : symbol - start;
        memcpy(write + at, &word, sizeof word);
    }
    return true;
}

bool object_link(struct code_memory *memory, const unsigned char *bytes, size_t size,
                 symbol_resolver *resolve, symbol_receiver *receive, void *user, struct linked_object *linked)
{
    struct packed_parts p;
    if (!open_packed(bytes, size, &p))
        return false;
    size_t at = code_memory_take(memory, p.header->code_size, CODE_ALIGNMENT);
    if (at == SIZE_MAX)
        return false;
    uint8_t *write = memory->write + at;
    *linked = (struct linked_object){.start = (uint32_t)(uintptr_t)(memory->code + at),
                                     .size = p.header->code_size,
                                     .lines = p.lines,
                                     .lines_size = p.header->lines_size};
    memcpy(write, p.code, p.header->code_size);
    uint32_t places_left = p.header->place_count;
    const uint32_t *places = p.places;
    for (uint32_t i = 0; i < p.header->use_count; i++) {
        const struct packed_use *use = &p.uses[i];
        uint32_t symbol = use->symbol.kind == SYMBOL_SELF ? linked->start : resolve(user, &use->symbol);
        if (!symbol || use->place_count > places_left ||
            !relocate(&p, use, places, linked->start, symbol, write))
            return false;
        places += use->place_count;
        places_left -= use->place_count;
    }
    for (uint32_t i = 0; i < p.header->definition_count; i++) {
        const struct packed_definition *d = &p.definitions[i];
        if (d->offset >= p.header->code_size)
            return false;
        receive(user, &d->symbol, linked->start + d->offset);
    }
    return true;
}
