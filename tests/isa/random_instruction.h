// SPDX-License-Identifier: MIT
// Draws random instruction words from the patterns of insns.def.
#ifndef TESTS_ISA_RANDOM_INSTRUCTION_H
#define TESTS_ISA_RANDOM_INSTRUCTION_H

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../core/isa/isa.h"
#include "random_values.h"

enum {
    SCRATCH_REGISTER = 27, // never an operand: for setting SP
    LOOP_REGISTER = 28, // never an operand: counts a loop
};

enum field {
#define FIELD(name, width, place) F_##name,
#include "../../core/isa/fields.def"
#undef FIELD
    FIELD_COUNT,
};

static const struct {
    const char *name;
    unsigned width;
} fields[FIELD_COUNT] = {
#define FIELD(name, width, place) {#name, width},
#include "../../core/isa/fields.def"
#undef FIELD
};

typedef unsigned __int128 field_set;

#define BIT(field) ((field_set)1 << (field))

_Static_assert(FIELD_COUNT <= 128, "a field_set holds a bit each");

static const field_set general_destinations = BIT(F_Rd) | BIT(F_Rd_sp) | BIT(F_Rt) | BIT(F_Rt2) | BIT(F_Rs);
static const field_set general_sources =
    BIT(F_Rts) | BIT(F_Rn) | BIT(F_Rn_sp) | BIT(F_Rm) | BIT(F_Ra) | BIT(F_Rt2s);
static const field_set vectors =
    BIT(F_Vd) | BIT(F_Vt) | BIT(F_Vn) | BIT(F_Vm) | BIT(F_Vt2) | BIT(F_Va) | BIT(F_Vm_lo);

// An instruction word and the fields it was made of.
struct instruction {
    enum insn id;
    uint32_t word;
    field_set present; // BIT of each field
    uint8_t value[FIELD_COUNT]; // of fields up to 8 bits
    op op;
};

static inline bool has(const struct instruction *i, enum field field)
{
    return i->present & BIT(field);
}

static inline bool name_has(const struct instruction *i, const char *part)
{
    return strstr(isa_texts[i->id].name, part) != NULL;
}

static inline bool name_starts(const struct instruction *i, const char *part)
{
    return strncmp(isa_texts[i->id].name, part, strlen(part)) == 0;
}

// ---- which instructions ----

static enum insn selected[GROUP_SYSTEM + 1][INSN_COUNT];
static unsigned selected_count[GROUP_SYSTEM + 1];

static inline field_set pattern_fields(enum insn id)
{
    field_set present = 0;
    char text[256], *rest = text;
    snprintf(text, sizeof text, "%s", isa_texts[id].pattern);
    for (char *token; (token = strtok_r(rest, " ", &rest)) != NULL;) {
        size_t length = strcspn(token, ":!*");
        for (unsigned f = 0; f < FIELD_COUNT; f++)
            if (strlen(fields[f].name) == length && memcmp(fields[f].name, token, length) == 0)
                present |= BIT(f);
    }
    return present;
}

static inline bool token_selects(const char *token, enum insn id)
{
    static const char *const groups[] = {"arith", "logic", "ldst", "branch", "muldiv", "shift", "system"};
    for (unsigned g = 0; g < sizeof groups / sizeof groups[0]; g++)
        if (strcmp(token, groups[g]) == 0)
            return isa_info[id].group == g;
    bool vector = pattern_fields(id) & vectors;
    if (strcmp(token, "all") == 0)
        return true;
    if (strcmp(token, "general") == 0)
        return !vector;
    if (strcmp(token, "vector") == 0)
        return vector;
    return fnmatch(token, isa_texts[id].name, 0) == 0;
}

static inline bool is_exception(FILE *exceptions, enum insn id)
{
    char line[256], name[64];
    if (!exceptions)
        return false;
    rewind(exceptions);
    while (fgets(line, sizeof line, exceptions))
        if (sscanf(line, "%63s", name) == 1 && name[0] != '#' && fnmatch(name, isa_texts[id].name, 0) == 0)
            return true;
    return false;
}

static inline void select_instructions(const char *selection, FILE *exceptions)
{
    unsigned total = 0;
    for (unsigned id = 1; id < INSN_COUNT; id++) {
        char text[1024], *rest = text;
        bool chosen = false;
        snprintf(text, sizeof text, "%s", selection);
        for (char *token; (token = strtok_r(rest, ",", &rest)) != NULL;)
            chosen |= token_selects(token, id);
        if (!chosen || isa_info[id].kind == KIND_STOP || is_exception(exceptions, id))
            continue;
        enum insn_group g = isa_info[id].group;
        selected[g][selected_count[g]++] = id;
        total++;
    }
    if (total == 0) {
        fprintf(stderr, "random_program: no instruction is called %s\n", selection);
        exit(2);
    }
}

// A group first, so that the many forms of loads do not crowd out the rest.
static inline enum insn draw_id(void)
{
    static const uint8_t weight[] = {
        [GROUP_ARITH] = 8,  [GROUP_LOGIC] = 4, [GROUP_LDST] = 5,  [GROUP_BRANCH] = 1,
        [GROUP_MULDIV] = 3, [GROUP_SHIFT] = 4, [GROUP_SYSTEM] = 1};
    for (;;) {
        unsigned g = random_below(GROUP_SYSTEM + 1);
        if (selected_count[g] && random_below(8) < weight[g])
            return selected[g][random_below(selected_count[g])];
    }
}

// ---- one random word ----

static inline uint32_t draw_field(enum field field, unsigned width)
{
    uint32_t ones = width >= 32 ? ~0u : (1u << width) - 1, value = (uint32_t)random64() & ones;
    if (!(BIT(field) & (general_sources | general_destinations | vectors)))
        return one_in(8) ? 0 : one_in(8) ? ones : value;
    return value;
}

static inline void draw_word(struct instruction *i, enum insn id)
{
    char text[256], *rest = text;
    unsigned bit = 32;
    *i = (struct instruction){.id = id};
    snprintf(text, sizeof text, "%s", isa_texts[id].pattern);
    for (char *token; bit > 0 && (token = strtok_r(rest, " ", &rest)) != NULL;) {
        if (token[strspn(token, "01x")] == '\0') {
            for (; *token; token++)
                i->word |= (uint32_t)(*token == 'x' ? one_in(2) : *token == '1') << --bit;
            continue;
        }
        size_t length = strcspn(token, ":!*");
        enum field f = 0;
        while (strlen(fields[f].name) != length || memcmp(fields[f].name, token, length) != 0)
            f++;
        unsigned width = token[length] == ':' ? (unsigned)atoi(token + length + 1) : fields[f].width;
        uint32_t value = draw_field(f, width);
        bit -= width;
        i->word |= value << bit;
        i->present |= BIT(f);
        i->value[f] = (uint8_t)value;
    }
}

static inline bool is_pair_of_registers(const struct instruction *i)
{
    return name_starts(i, "casp");
}

static inline bool is_exclusive(const struct instruction *i)
{
    return (i->word & 0x3f800000) == 0x08000000 && !is_pair_of_registers(i);
}

// Accesses that have to be aligned: exclusives, ordered ones, atomics.
static inline bool is_aligned_access(const struct instruction *i)
{
    return (i->word & 0x3f000000) == 0x08000000 || (i->word & 0x3b200c00) == 0x38200000;
}

static inline bool is_reserved(unsigned x)
{
    return x == SCRATCH_REGISTER || x == LOOP_REGISTER;
}

static inline bool names_reserved_register(const struct instruction *i)
{
    for (unsigned f = 0; f < FIELD_COUNT; f++)
        if (i->present & BIT(f) & (general_sources | general_destinations) && is_reserved(i->value[f]))
            return true;
    if (!is_pair_of_registers(i))
        return false;
    unsigned s = i->value[F_a] * 2, t = i->value[F_Vt] * 2;
    return is_reserved(s) || is_reserved(s + 1) || is_reserved(t) || is_reserved(t + 1);
}

// Whether the manual calls the result CONSTRAINED UNPREDICTABLE: a base that is also transferred, a
// destination named twice, the status of a store-exclusive in one of its operands.
static inline bool is_unpredictable(const struct instruction *i)
{
    bool load_pair = name_starts(i, "ldp") || name_starts(i, "ldxp") || name_starts(i, "ldaxp");
    if (load_pair && (has(i, F_Vt2) ? i->value[F_Vt] == i->value[F_Vt2] : i->value[F_Rt] == i->value[F_Rt2]))
        return true;
    unsigned n = i->value[F_Rn_sp];
    if ((name_has(i, "_pre") || name_has(i, "_post")) && n != 31 &&
        ((has(i, F_Rt) && i->value[F_Rt] == n) || (has(i, F_Rts) && i->value[F_Rts] == n) ||
         (has(i, F_Rt2) && i->value[F_Rt2] == n) || (has(i, F_Rt2s) && i->value[F_Rt2s] == n)))
        return true;
    unsigned s = i->value[F_Rs];
    return is_exclusive(i) && has(i, F_Rs) &&
           (s == i->value[F_Rts] || (has(i, F_Rt2s) && s == i->value[F_Rt2s]) || (s == n && n != 31));
}

// An allocated word of one of the selected instructions with a predictable result.
static inline struct instruction draw_instruction(void)
{
    struct instruction i;
    do
        draw_word(&i, draw_id());
    while (isa_decode(i.word, 0, &i.op) != i.id || names_reserved_register(&i) || is_unpredictable(&i));
    return i;
}

#endif
