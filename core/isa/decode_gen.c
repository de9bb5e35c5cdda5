// SPDX-License-Identifier: MIT
// Makes the decoder's tables from the patterns of insns.def: decode_gen FILE.c. Part of the build.
//
// A pattern lists the word from bit 31 down to bit 0, its parts separated by spaces:
//   0110x      literal bits; x matches both (a "should be" bit of the manual)
//   Rd         a field, by a name of fields.def
//   val:3      a field of another width than the table's
//   size!11    a field that must not have this value (several: size!11!10)
//   imm12*8    a field whose value is multiplied by a constant
// After the 32 bits may follow the names of finishing steps (decode_steps.h).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode_steps.h"
#include "patterns.h"

static const struct {
    const char *name, *pattern;
} insns[INSN_COUNT] = {
#define INSN(name, kind, group, reads, writes, pattern, text) [INSN_##name] = {#name, pattern},
#include "insns.def"
#undef INSN
};

static const struct field_info {
    const char *name;
    uint8_t width;
    uint8_t place;
} field_info[FIELD_COUNT] = {
#define FIELD(name, width, place) {#name, width, place},
#include "fields.def"
#undef FIELD
};

static struct pattern patterns[INSN_COUNT];

static _Noreturn void malformed(enum insn id, const char *why, const char *where)
{
    fprintf(stderr, "insns.def: %s: %s at '%s'\n", insns[id].name, why, where);
    exit(1);
}

// One field token: name[:width][!bits]...[*scale]
static void compile_field(enum insn id, struct pattern *p, const char *token, unsigned *bit)
{
    size_t length = strcspn(token, ":!*");
    unsigned field = 0;
    while (field < FIELD_COUNT &&
           (strlen(field_info[field].name) != length || memcmp(field_info[field].name, token, length) != 0))
        field++;
    if (field == FIELD_COUNT || p->extract_count == MAX_FIELDS)
        malformed(id, "unknown field or too many", token);
    struct extract *x = &p->extract[p->extract_count++];
    *x = (struct extract){(uint8_t)field, field_info[field].place, 0, field_info[field].width, 1};
    const char *rest = token + length;
    if (*rest == ':')
        x->width = (uint8_t)strtoul(rest + 1, (char **)&rest, 10);
    if (x->width == 0 || x->width > *bit)
        malformed(id, "more than 32 bits", token);
    *bit -= x->width;
    x->lsb = (uint8_t)*bit;
    while (*rest == '!') {
        uint32_t value = (uint32_t)strtoul(rest + 1, (char **)&rest, 2);
        if (p->exclusion_count == MAX_EXCLUSIONS)
            malformed(id, "too many exclusions", token);
        p->exclusion[p->exclusion_count].mask = low_mask(x->width) << x->lsb;
        p->exclusion[p->exclusion_count++].match = value << x->lsb;
    }
    if (*rest == '*')
        x->scale = (uint8_t)strtoul(rest + 1, (char **)&rest, 10);
    if (*rest)
        malformed(id, "trailing characters", token);
}

static void compile_step(enum insn id, struct pattern *p, const char *token)
{
    static const char *const names[] = {
#define NAME(name) #name,
        DECODE_STEPS(NAME)
#undef NAME
    };
    unsigned step = 0;
    while (step < sizeof names / sizeof names[0] && strcmp(names[step], token) != 0)
        step++;
    if (step == sizeof names / sizeof names[0] || p->step_count == MAX_STEPS)
        malformed(id, "unknown step or too many", token);
    p->step[p->step_count++] = (uint8_t)step;
}

static void compile_pattern(enum insn id)
{
    struct pattern *p = &patterns[id];
    char text[256];
    if (strlen(insns[id].pattern) >= sizeof text)
        malformed(id, "pattern too long", insns[id].pattern);
    strcpy(text, insns[id].pattern);
    unsigned bit = 32;
    char *rest = text;
    for (char *token; (token = strtok_r(rest, " ", &rest)) != NULL;) {
        if (bit == 0) {
            compile_step(id, p, token);
        } else if (token[strspn(token, "01x")] == '\0') {
            for (; *token; token++) {
                if (bit == 0)
                    malformed(id, "more than 32 bits", token);
                bit--;
                if (*token != 'x') {
                    p->mask |= 1u << bit;
                    p->match |= (uint32_t)(*token - '0') << bit;
                }
            }
        } else {
            compile_field(id, p, token, &bit);
        }
    }
    if (bit != 0)
        malformed(id, "fewer than 32 bits", insns[id].pattern);
}

// ---- what is written ----

static void write_pattern(FILE *f, const struct pattern *p)
{
    fprintf(f, "    {%#x, %#x, %d, %d, %d, {", p->mask, p->match, p->extract_count, p->step_count,
            p->exclusion_count);
    for (unsigned i = 0; i < MAX_FIELDS; i++) {
        const struct extract *x = &p->extract[i];
        fprintf(f, "{%d, %d, %d, %d, %d}, ", x->field, x->place, x->lsb, x->width, x->scale);
    }
    fprintf(f, "}, {%d, %d}, {", p->step[0], p->step[1]);
    for (unsigned i = 0; i < MAX_EXCLUSIONS; i++)
        fprintf(f, "{%#x, %#x}, ", p->exclusion[i].mask, p->exclusion[i].match);
    fprintf(f, "}},\n");
}

static void write_buckets(FILE *f)
{
    unsigned start[BUCKET_COUNT + 1] = {0};
    fprintf(f, "const uint16_t isa_bucket_items[] = {\n");
    for (uint32_t bucket = 0; bucket < BUCKET_COUNT; bucket++) {
        start[bucket + 1] = start[bucket];
        for (unsigned id = 1; id < INSN_COUNT; id++) {
            if ((bucket << (32 - BUCKET_BITS) ^ patterns[id].match) & patterns[id].mask &
                ~low_mask(32 - BUCKET_BITS))
                continue;
            fprintf(f, "%u,\n", id);
            start[bucket + 1]++;
        }
    }
    if (start[BUCKET_COUNT] > UINT16_MAX)
        malformed(INSN_UNDEFINED, "patterns too wide for the decoder's buckets", "");
    fprintf(f, "};\nconst uint16_t isa_bucket_start[BUCKET_COUNT + 1] = {\n");
    for (uint32_t bucket = 0; bucket <= BUCKET_COUNT; bucket++)
        fprintf(f, "%u,\n", start[bucket]);
    fprintf(f, "};\n");
}

int main(int argc, char **argv)
{
    FILE *f = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!f) {
        perror(argc == 2 ? argv[1] : "usage: decode_gen FILE.c");
        return 1;
    }
    for (unsigned id = 1; id < INSN_COUNT; id++)
        compile_pattern((enum insn)id);
    fprintf(f, "// Made by decode_gen.c from insns.def.\n#include \"core/isa/patterns.h\"\n\n"
               "const struct pattern isa_patterns[INSN_COUNT] = {\n");
    for (unsigned id = 0; id < INSN_COUNT; id++)
        write_pattern(f, &patterns[id]);
    fprintf(f, "};\n");
    write_buckets(f);
    return fclose(f) != 0;
}
