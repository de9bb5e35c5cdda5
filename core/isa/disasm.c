// SPDX-License-Identifier: MIT
// The disassembler: fills the text templates of insns.def from decoded ops.
//
// In a template, braces hold what an operand is and, as the last letter, the slot of the op it comes from:
//   {Xd} {Wn} {Bm} {Ha} {Sd} {Dn} {Qm}   a register by class: X W general, B H S D Q SIMD&FP
//   {Td} {Tn} {Tm}                       a vector register with the arrangement that q and size give
//   {d} {n} {m} {a}                      a slot as a decimal number
//   {i} imm in hex   {o} imm, signed decimal   {v} val   {t} the target of a direct branch
//   {f} the number that imm8 of an FP immediate is short for
//   {c} the condition in a   {s} the shift type in a   {e} the extension in a   {r} immr and imms of a
//   bitfield
#include "isa.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"

struct text {
    char *at;
    size_t left;
};

static __attribute__((format(printf, 2, 3))) void add(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->at, t->left, format, arguments);
    va_end(arguments);
    size_t written = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left - 1;
    t->at += written;
    t->left -= written;
}

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
        add(t, class == 'X' ? "sp" : "wsp");
    else if (index == REG_ZERO || index == REG_SINK)
        add(t, "%czr", prefix);
    else
        add(t, "%c%u", prefix, index);
}

// VFPExpandImm, of either format.
static double fp_immediate(uint32_t imm8)
{
    double magnitude = (16 + (imm8 & 15)) / (double)(128 >> ((imm8 >> 4 & 7) ^ 4));
    return imm8 & 0x80 ? -magnitude : magnitude;
}

static void add_operand(struct text *t, const char *name, size_t length, uint32_t word, uint32_t pc,
                        const op *o)
{
    static const char *const conditions[] = {"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc",
                                             "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"};
    static const char *const shifts[] = {"lsl", "lsr", "asr", "ror"};
    static const char *const extensions[] = {"uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"};
    static const char *const arrangements[] = {"8b", "16b", "4h", "8h", "2s", "4s", "1d", "2d"};
    if (length == 2) {
        uint8_t index = slot_of(o, name[1]);
        if (name[0] == 'X' || name[0] == 'W')
            add_general(t, name[0], index);
        else if (name[0] == 'T')
            add(t, "v%u.%s", index & 31, arrangements[(o->size & 3) * 2 + (o->q & 1)]);
        else
            add(t, "%c%u", name[0] - 'A' + 'a', index);
        return;
    }
    switch (name[0]) {
    case 'i': add(t, "0x%" PRIx64, o->imm); break;
    case 'o': add(t, "%" PRId64, (int64_t)o->imm); break;
    case 'v': add(t, "%" PRIu32, o->val); break;
    case 't': add(t, "0x%" PRIx64, (uint64_t)pc + (uint64_t)((int64_t)o->disp * 4)); break;
    case 'f': add(t, "%.18e", fp_immediate(word >> 13 & 0xff)); break;
    case 'c': add(t, "%s", conditions[o->a & 15]); break;
    case 's': add(t, "%s", shifts[o->a & 3]); break;
    case 'e': add(t, "%s", extensions[o->a & 7]); break;
    case 'r': add(t, "#%u, #%u", word >> 16 & 63, word >> 10 & 63); break;
    default: add(t, "%u", slot_of(o, name[0])); break;
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
        add(&t, ".inst 0x%08" PRIx32 " // undefined", word);
        return;
    }
    for (const char *s = isa_info[id].text; *s;) {
        size_t plain = strcspn(s, "{");
        const char *end = strchr(s + plain, '}');
        if (!s[plain] || !end || end == s + plain + 1 ||
            end - (s + plain) > 3) { // no operand, or a register list
            add(&t, "%.*s", (int)(plain + (s[plain] != '\0')), s);
            s += plain + (s[plain] != '\0');
            continue;
        }
        add(&t, "%.*s", (int)plain, s);
        add_operand(&t, s + plain + 1, (size_t)(end - (s + plain + 1)), word, pc, &o);
        s = end + 1;
    }
}
