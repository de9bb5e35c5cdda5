// SPDX-License-Identifier: MIT
// The disassembler: fills the text templates of insns.def from decoded ops.
//
// In a template, braces hold what an operand is and, as the last letter, the slot of the op it comes from:
//   {Xd} {Wn} {Bm} {Ha} {Sd} {Dn} {Qm}   a register by class: X W general, B H S D Q SIMD&FP
//   {Td} {Zn} {Em}                       a SIMD operand by size and q: the letters are in simd_operands
//   {Rn}                                 a general register, X or W by size
//   {In}                                 a list of val + 1 vector registers
//   {T4} {E4}                            a list of 1 to 4 vector registers from d, as {Td} or as {Ed}
//   {w4} {l4}                            what post-indexing adds for that many of them, or of their lanes
//   {d} {n} {m} {a}                      a slot as a decimal number
// or a letter alone:
//   {i} imm in hex   {o} imm, signed decimal   {v} val   {t} the target of a direct branch
//   {f} the number that imm8 of an FP immediate is short for
//   {c} the condition in a   {s} the shift type in a   {e} the extension in a
//   {r} immr and imms of a bitfield   {2} a 2 if q is set   {b} the bits of an element
//   {M} destination and immediate of MOVI and its like
#include "isa.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "cpu.h"

static uint8_t slot_of(const op *o, char letter)
{
    switch (letter) {
    case 'd': return o->d;
    case 'n': return o->n;
    case 'm': return o->m;
    default: return o->a;
    }
}

static void add_general(struct text *t, char class, uint8_t index)
{
    char prefix = class == 'X' ? 'x' : 'w';
    if (index == REG_SP)
        text_add(t, class == 'X' ? "sp" : "wsp");
    else if (index == REG_ZERO || index == REG_SINK)
        text_add(t, "%czr", prefix);
    else
        text_add(t, "%c%u", prefix, index);
}

// What of a SIMD register is meant, and by how much its elements are larger than size says.
static const struct simd_operand {
    char letter, size_add;
    enum { ARRANGED, ARRANGED_FULL, ARRANGED_PAIR, SCALAR, ELEMENT, ELEMENT_M } what;
} simd_operands[] = {
    {'T', 0, ARRANGED},      {'P', 1, ARRANGED},      {'F', 2, ARRANGED}, {'L', 1, ARRANGED_FULL},
    {'K', 2, ARRANGED_FULL}, {'J', 2, ARRANGED_PAIR}, {'Z', 0, SCALAR},   {'Y', 1, SCALAR},
    {'G', 2, SCALAR},        {'E', 0, ELEMENT},       {'U', 2, ELEMENT},  {'A', 0, ELEMENT_M},
};

static bool add_simd(struct text *t, char letter, uint8_t index, const op *o)
{
    static const char *const arrangements[] = {"8b", "16b", "4h", "8h", "2s", "4s", "1d", "2d", "?", "1q"};
    for (size_t i = 0; i < sizeof simd_operands / sizeof simd_operands[0]; i++) {
        const struct simd_operand *s = &simd_operands[i];
        if (s->letter != letter)
            continue;
        unsigned size = (o->size + (unsigned)s->size_add) % 5;
        unsigned q = s->what == ARRANGED ? o->q & 1 : s->what == ARRANGED_FULL || size == 3;
        if (s->what == SCALAR)
            text_add(t, "%c%u", "bhsdq"[size], index);
        else if (s->what == ELEMENT)
            text_add(t, "v%u.%c[%u]", index, "bhsdq"[size], (unsigned)o -> val);
        else if (s->what == ELEMENT_M)
            text_add(t, "v%u.%c[%u]", index, "bhsdq"[size], o -> m);
        else
            text_add(t, "v%u.%s", index, arrangements[size * 2 + q]);
        return true;
    }
    return false;
}

static void add_list(struct text *t, uint8_t first, uint32_t last)
{
    if (last == 0)
        text_add(t, "{v%u.16b}", first);
    else
        text_add(t, "{v%u.16b%sv%u.16b}", first, last == 1 ? ", " : "-", (first + last) & 31);
}

// The registers of a structure load or store; lane: only element val of each.
static void add_structures(struct text *t, const op *o, unsigned count, bool lane)
{
    static const char *const arrangements[] = {"8b", "16b", "4h", "8h", "2s", "4s", "1d", "2d"};
    char element[2] = {"bhsd"[o->size], '\0'};
    const char *suffix = lane ? element : arrangements[o->size * 2 + o->q];
    text_add(t, "{v%u.%s", o->d, suffix);
    if (count > 2 && o->d + count <= 32)
        text_add(t, "-v%u.%s", o->d + count - 1, suffix);
    else
        for (unsigned r = 1; r < count; r++)
            text_add(t, ", v%u.%s", (o->d + r) % 32, suffix);
    if (lane)
        text_add(t, "}[%" PRIu32 "]", o->val);
    else
        text_add(t, "}");
}

static void add_post_index(struct text *t, const op *o, unsigned bytes)
{
    if (o->m == REG_ZERO)
        text_add(t, "#%u", bytes);
    else
        text_add(t, "x%u", o->m);
}

// VFPExpandImm, of either format.
static double fp_immediate(uint32_t imm8)
{
    double magnitude = (16 + (imm8 & 15)) / (double)(128 >> ((imm8 >> 4 & 7) ^ 4));
    return imm8 & 0x80 ? -magnitude : magnitude;
}

// Vd and the immediate of AdvSIMDExpandImm, as the word has them.
static void add_modified_immediate(struct text *t, uint32_t word)
{
    unsigned cmode = word >> 12 & 15, op = word >> 29 & 1, q = word >> 30 & 1, d = word & 31;
    unsigned imm8 = (word >> 11 & 0xe0) | (word >> 5 & 31), shift = (cmode >> 1 & (cmode < 8 ? 3 : 1)) * 8;
    if (cmode == 15) {
        text_add(t, op ? "v%u.2d, #%.18e" : q ? "v%u.4s, #%.18e" : "v%u.2s, #%.18e", d, fp_immediate(imm8));
    } else if (cmode == 14 && op) {
        uint64_t bytes = 0;
        for (unsigned i = 0; i < 8; i++)
            bytes |= (imm8 >> i & 1 ? 0xffull : 0) << i * 8;
        text_add(t, q ? "v%u.2d, #0x%" PRIx64 : "d%u, #0x%" PRIx64, d, bytes);
    } else if (cmode == 14) {
        text_add(t, q ? "v%u.16b, #0x%x" : "v%u.8b, #0x%x", d, imm8);
    } else {
        text_add(t, "v%u.%u%c, #0x%x", d, (cmode >> 2 == 2 ? 4 : 2) << q, cmode >> 2 == 2 ? 'h' : 's', imm8);
        if (cmode >= 12)
            text_add(t, ", msl #%u", cmode & 1 ? 16 : 8);
        else if (shift)
            text_add(t, ", lsl #%u", shift);
    }
}

static void add_operand(struct text *t, const char *name, size_t length, uint32_t word, uint32_t pc,
                        const op *o)
{
    static const char *const conditions[] = {"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc",
                                             "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"};
    static const char *const shifts[] = {"lsl", "lsr", "asr", "ror"};
    static const char *const extensions[] = {"uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"};
    if (length == 2 && name[1] >= '1' && name[1] <= '4') {
        unsigned count = (unsigned)(name[1] - '0');
        if (name[0] == 'w' || name[0] == 'l')
            add_post_index(t, o, count << (name[0] == 'l' ? o->size : 3 + o->q));
        else
            add_structures(t, o, count, name[0] == 'E');
        return;
    }
    if (length == 2) {
        uint8_t index = slot_of(o, name[1]);
        if (name[0] == 'X' || name[0] == 'W')
            add_general(t, name[0], index);
        else if (name[0] == 'R')
            add_general(t, o->size == 3 ? 'X' : 'W', index);
        else if (name[0] == 'I')
            add_list(t, index, o->val);
        else if (!add_simd(t, name[0], index, o))
            text_add(t, "%c%u", name[0] - 'A' + 'a', index);
        return;
    }
    switch (name[0]) {
    case '2': text_add(t, "%s", o->q ? "2" : ""); break;
    case 'b': text_add(t, "%u", 8u << o->size); break;
    case 'M': add_modified_immediate(t, word); break;
    case 'i': text_add(t, "0x%" PRIx64, o->imm); break;
    case 'o': text_add(t, "%" PRId64, (int64_t)o->imm); break;
    case 'v': text_add(t, "%" PRIu32, o->val); break;
    case 't': text_add(t, "0x%" PRIx64, (uint64_t)pc + (uint64_t)((int64_t)o->disp * 4)); break;
    case 'f': text_add(t, "%.18e", fp_immediate(word >> 13 & 0xff)); break;
    case 'c': text_add(t, "%s", conditions[o->a & 15]); break;
    case 's': text_add(t, "%s", shifts[o->a & 3]); break;
    case 'e': text_add(t, "%s", extensions[o->a & 7]); break;
    case 'r': text_add(t, "#%u, #%u", word >> 16 & 63, word >> 10 & 63); break;
    default: text_add(t, "%u", slot_of(o, name[0])); break;
    }
}

void isa_disassemble(uint32_t word, uint32_t pc, char *text, size_t size)
{
    struct text t = {text, size};
    op o;
    if (size == 0)
        return;
    text[0] = '\0';
    enum insn id = isa_decode(word, pc, &o);
    if (id == INSN_UNDEFINED) {
        text_add(&t, ".inst 0x%08" PRIx32 " // undefined", word);
        return;
    }
    for (const char *s = isa_texts[id].disassembly; *s;) {
        size_t plain = strcspn(s, "{");
        const char *end = strchr(s + plain, '}');
        if (!s[plain] || !end || end == s + plain + 1 ||
            end - (s + plain) > 3) { // no operand, or a register list
            text_add(&t, "%.*s", (int)(plain + (s[plain] != '\0')), s);
            s += plain + (s[plain] != '\0');
            continue;
        }
        text_add(&t, "%.*s", (int)plain, s);
        add_operand(&t, s + plain + 1, (size_t)(end - (s + plain + 1)), word, pc, &o);
        s = end + 1;
    }
}
