// SPDX-License-Identifier: MIT
// Writes a static AArch64 program of random instructions, drawn from the patterns of insns.def, that prints
// its registers and memory at the end. Run by two implementations, the output has to be the same.
//
//   random_program [-g SELECTION] [-x FILE] [-l] SEED LENGTH OUT   writes the program OUT
//   random_program -d DUMP                                         prints the output of such a program as
//   text
//
// -g: names of insns.def, shell patterns allowed, or groups (arith logic ldst branch muldiv shift system), or
//     `general` or `vector` (without and with vector registers), separated by commas; default all
// -x: a file of names (shell patterns), each with the reason why it is left out
// -l: lists the program, one line a word: unit, address, word, disassembly
//
// The same seed and selection with a smaller length give the same instructions, only fewer: LENGTH counts
// units, a unit being an instruction with whatever it needs in front (an address in its base register, a
// special operand).
#include <stddef.h>
#include <unistd.h>

#include "a64_emit.h"
#include "random_instruction.h"

enum {
    SCRATCH = DATA_BASE + PAGE - 1024, // what loads and stores touch: around a page boundary
    SCRATCH_SIZE = 2048,
    ACCESS_MAX = 64, // bytes that one instruction may touch
    SLOTS = DATA_BASE + 2 * PAGE, // dumps of the registers, one after the other
    UNITS_PER_SLOT = 16,
    POOL = 128, // vectors at the start of the code, to refresh operands from
};

// One dump.
struct slot {
    uint64_t x[31], sp, nzcv, fpcr, fpsr, unused;
    uint64_t v[32][2];
};

static struct code code;
static uint32_t *unit_of; // of each word, for the listing

// ---- branches: always forward, to the start of a later unit ----

struct pending {
    uint32_t at; // index of the word
    unsigned target; // unit
};

static struct pending pending[64];
static unsigned pending_count;

// The word with a pc-relative distance, in words, in the field where this kind of instruction has it.
static uint32_t with_distance(uint32_t word, uint32_t distance)
{
    if ((word & 0x7c000000) == 0x14000000) // B, BL
        return (word & ~0x3ffffffu) | (distance & 0x3ffffff);
    if ((word & 0x7e000000) == 0x36000000) // TBZ, TBNZ
        return (word & ~(0x3fffu << 5)) | (distance & 0x3fff) << 5;
    return (word & ~(0x7ffffu << 5)) | (distance & 0x7ffff)
                                           << 5; // the others, and ADR as far as multiples of 4
}

// Lets the branches that wait for this unit, or with all = true every one, arrive here.
static void resolve_branches(unsigned unit, bool all)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < pending_count; i++) {
        if (all || pending[i].target <= unit)
            code.words[pending[i].at] = with_distance(code.words[pending[i].at], code.count - pending[i].at);
        else
            pending[kept++] = pending[i];
    }
    pending_count = kept;
}

// The word about to be emitted goes some units ahead.
static void branch_ahead(unsigned unit)
{
    if (pending_count == sizeof pending / sizeof pending[0])
        resolve_branches(unit, true);
    pending[pending_count++] = (struct pending){code.count, unit + 1 + random_below(4)};
}

// ---- what an instruction needs in front ----

static void emit_refreshed_operands(const struct instruction *i)
{
    for (unsigned f = 0; f < FIELD_COUNT; f++) {
        bool vector = BIT(f) & vectors;
        field_set wanted = vectors | general_sources;
        if (!(i->present & BIT(f) & wanted) || f == F_Rn_sp || !one_in(vector ? 3 : 4))
            continue;
        if (vector || i->value[f] != 31)
            emit_literal(&code, i->value[f], random_below(POOL) * 4, vector);
    }
}

static void emit_base(unsigned n, uint64_t base)
{
    if (n != 31) {
        if (one_in(8))
            base += random64() << 56; // a tag, which loads and stores ignore
        emit_mov(&code, n, base);
    } else {
        emit_mov(&code, SCRATCH_REGISTER, base);
        emit_mov_sp(&code, SCRATCH_REGISTER);
    }
}

// The index register of a register offset, set to anything; returns what it adds to the base.
static uint64_t emit_index(const struct instruction *i)
{
    unsigned m = i->value[F_Rm], shift = (unsigned)i->op.imm;
    uint64_t value = m == 31 ? 0 : random_general();
    if (m != 31)
        emit_mov(&code, m, value);
    if (name_has(i, "_uxtw"))
        return (uint64_t)(uint32_t)value << shift;
    if (name_has(i, "_sxtw"))
        return (uint64_t)(int64_t)(int32_t)value << shift;
    return value << shift;
}

// Sets base and index so that the access lies in the scratch area. Returns false if the operands do not allow
// it.
static bool emit_address(const struct instruction *i)
{
    uint64_t target = SCRATCH + 16 + random_below(SCRATCH_SIZE - 16 - ACCESS_MAX), offset = 0;
    unsigned n = i->value[F_Rn_sp];
    bool index = name_has(i, "_reg") || name_has(i, "_uxtw") || name_has(i, "_sxtw");
    if (index && i->value[F_Rm] == n && n != 31)
        return false;
    if (is_aligned_access(i) || one_in(2))
        target &= ~15ull;
    if (index)
        offset = emit_index(i);
    else if (!name_has(i, "_post") && (has(i, F_imm12) || has(i, F_simm9) || has(i, F_simm7)))
        offset = i->op.imm;
    uint64_t base = target - offset;
    emit_base(n, n == 31 ? base & ~15ull : base); // SP has to be a multiple of 16
    return true;
}

// After a load-exclusive: a store-exclusive of the same size to the same place, which then succeeds.
static void emit_matching_store(const struct instruction *load)
{
    unsigned n = load->value[F_Rn_sp], t = load->value[F_Rt];
    bool pair = has(load, F_Rt2);
    unsigned t2 = pair ? load->value[F_Rt2] : 31;
    if ((t == n && n != 31) || (pair && t2 == n && n != 31))
        return; // the base is gone
    unsigned s, new_t = random_below(27), new_t2 = pair ? random_below(27) : 31;
    do
        s = random_below(27);
    while (s == n || s == new_t || s == new_t2);
    uint32_t kept = load->word & 0xffe083e0 & ~(1u << 22);
    emit(&code, kept | s << 16 | new_t2 << 10 | new_t);
}

static bool emit_prepared(struct instruction *i, unsigned unit)
{
    static const uint32_t fpcr_mask = 0x07c00000, fpsr_mask = 0x0800009f;
    bool cache = name_starts(i, "dc_") || name_starts(i, "ic_");
    if (name_starts(i, "msr_fp")) {
        if (i->value[F_Rts] != 31)
            emit_mov(&code, i->value[F_Rts], random64() & (name_has(i, "fpcr") ? fpcr_mask : fpsr_mask));
    } else if (cache) {
        if (i->value[F_Rts] == 31)
            return false;
        emit_base(i->value[F_Rts], SCRATCH + ACCESS_MAX + random_below(SCRATCH_SIZE - 2 * ACCESS_MAX));
    } else if (isa_info[i->id].kind == KIND_INDIRECT) {
        if (i->value[F_Rn] == 31)
            return false;
        branch_ahead(unit);
        emit(&code, 0x10000000 | i->value[F_Rn]); // ADR
    } else if (isa_info[i->id].kind == KIND_CONDITION || isa_info[i->id].kind == KIND_JUMP) {
        emit_refreshed_operands(i);
        branch_ahead(unit);
    } else if (name_has(i, "_lit")) {
        i->word = with_distance(i->word, random_below(code.count) - code.count);
    } else {
        emit_refreshed_operands(i);
        if (has(i, F_Rn_sp) && isa_info[i->id].group == GROUP_LDST && !emit_address(i))
            return false;
        if (is_exclusive(i) && has(i, F_Rs))
            emit(&code, 0xd5033f5f); // CLREX: a lone store-exclusive fails
    }
    return true;
}

static void emit_unit(unsigned unit)
{
    struct instruction i;
    do
        i = draw_instruction();
    while (!emit_prepared(&i, unit));
    emit(&code, i.word);
    if (is_exclusive(&i) && has(&i, F_Rt) && one_in(2))
        emit_matching_store(&i);
}

// ---- the frame ----

static void emit_pool(void)
{
    for (unsigned i = 0; i < POOL; i++) {
        uint32_t words[4];
        uint64_t general[2] = {random_general(), random_general()};
        random_vector((uint8_t *)words);
        if (i % 2) // LDR Xt takes the first half of an entry
            memcpy(words, general, sizeof words);
        for (unsigned w = 0; w < 4; w++)
            emit(&code, words[w]);
    }
}

static void emit_prologue(void)
{
    for (unsigned v = 0; v < 32; v++)
        emit_literal(&code, v, random_below(POOL / 2) * 8, true);
    emit_mov(&code, 0, one_in(2) ? 0 : random64() & 0x07c00000);
    emit(&code, 0xd51b4400); // MSR FPCR, X0
    emit(&code, 0xd51b443f); // MSR FPSR, XZR
    emit_mov(&code, 0, random64() & 0xf0000000);
    emit(&code, 0xd51b4200); // MSR NZCV, X0
    emit_mov(&code, 0, SCRATCH);
    emit_mov_sp(&code, 0);
    for (unsigned x = 0; x < 31; x++)
        emit_mov(&code, x, random_general());
}

// Stores every register to the slot, and changes none but TPIDR_EL0.
static void emit_dump(unsigned slot)
{
    static const struct {
        uint32_t word; // reads a register to X1
        size_t offset;
    } special[] = {
        {0xd53bd041, offsetof(struct slot, x[0])}, // MRS X1, TPIDR_EL0
        {0x910003e1, offsetof(struct slot, sp)}, // MOV X1, SP
        {0xd53b4201, offsetof(struct slot, nzcv)}, {0xd53b4401, offsetof(struct slot, fpcr)},
        {0xd53b4421, offsetof(struct slot, fpsr)},
    };
    emit(&code, 0xd51bd040); // MSR TPIDR_EL0, X0
    emit_mov(&code, 0, SLOTS + slot * sizeof(struct slot));
    for (unsigned x = 1; x < 31; x++)
        emit_str(&code, x, 0, x * 8);
    for (unsigned i = 0; i < sizeof special / sizeof special[0]; i++) {
        emit(&code, special[i].word);
        emit_str(&code, 1, 0, (unsigned)special[i].offset);
    }
    for (unsigned v = 0; v < 32; v++)
        emit_str_q(&code, v, 0, (unsigned)offsetof(struct slot, v[v]));
    emit_ldr(&code, 1, 0, 8);
    emit(&code, 0xd53bd040); // MRS X0, TPIDR_EL0
}

static void note_unit(unsigned unit)
{
    static uint32_t noted;
    unit_of = realloc(unit_of, code.room * sizeof unit_of[0]);
    if (!unit_of)
        abort();
    while (noted < code.count)
        unit_of[noted++] = unit;
}

// The random part. A loop runs some of its units a few times.
static void emit_body(unsigned length)
{
    unsigned loop_end = 0;
    uint32_t loop_start = 0;
    for (unsigned unit = 1; unit <= length; unit++) {
        resolve_branches(unit, false);
        if (loop_end == 0 && unit % UNITS_PER_SLOT == 0)
            emit_dump(unit / UNITS_PER_SLOT - 1);
        if (loop_end == 0 && one_in(16)) {
            resolve_branches(unit, true); // into a loop they would miss its counter
            loop_end = unit + 1 + random_below(10);
            emit_mov(&code, LOOP_REGISTER, 2 + random_below(4));
            loop_start = code.count;
        }
        note_unit(unit);
        emit_unit(unit);
        if (loop_end && (unit == loop_end || unit == length)) {
            resolve_branches(unit, true);
            emit(&code, 0xd1000400 | LOOP_REGISTER << 5 | LOOP_REGISTER); // SUB X28, X28, #1
            emit(&code, with_distance(0xb5000000 | LOOP_REGISTER, loop_start - code.count)); // CBNZ X28
            loop_end = 0;
        }
        note_unit(unit);
    }
    resolve_branches(length, true);
}

static void list(void)
{
    for (uint32_t i = POOL * 4; i < code.count; i++) {
        char text[128];
        isa_disassemble(code.words[i], code_address(i), text, sizeof text);
        printf("%u\t%x\t%08x\t%s\n", unit_of[i], code_address(i), code.words[i], text);
    }
}

static void write_program(const char *path, unsigned length, bool listing)
{
    static uint8_t data[SLOTS - DATA_BASE];
    unsigned slots = length / UNITS_PER_SLOT + 1;
    size_t size = sizeof data + slots * sizeof(struct slot);
    for (unsigned i = 0; i < SCRATCH_SIZE; i += 16)
        random_vector(data + (SCRATCH - DATA_BASE) + i);
    emit_pool();
    emit_prologue();
    note_unit(0);
    emit_body(length);
    emit_dump(slots - 1);
    emit_write_and_exit(&code, DATA_BASE, size);
    note_unit(length + 1);
    write_elf(path, &code, POOL * 4, data, sizeof data, size);
    if (listing)
        list();
}

// ---- dumps as text ----

static void print_slot(unsigned number, const struct slot *s)
{
    for (unsigned x = 0; x < 31; x++)
        printf("dump %u x%u %016llx\n", number, x, (unsigned long long)s->x[x]);
    printf("dump %u sp %016llx\n", number, (unsigned long long)s->sp);
    printf("dump %u nzcv %08llx fpcr %08llx\n", number, (unsigned long long)s->nzcv,
           (unsigned long long)s->fpcr);
    printf("dump %u fpsr %08llx\n", number, (unsigned long long)s->fpsr);
    for (unsigned v = 0; v < 32; v++)
        printf("dump %u v%u %016llx%016llx\n", number, v, (unsigned long long)s->v[v][1],
               (unsigned long long)s->v[v][0]);
}

static int print_dump(const char *path)
{
    static uint8_t data[SLOTS - DATA_BASE];
    struct slot slot;
    FILE *f = fopen(path, "rb");
    if (!f || fread(data, sizeof data, 1, f) != 1) {
        fprintf(stderr, "random_program: %s is no dump\n", path);
        return 1;
    }
    for (unsigned i = 0; fread(&slot, sizeof slot, 1, f) == 1; i++)
        print_slot(i, &slot);
    fclose(f);
    for (unsigned i = SCRATCH - DATA_BASE; i < SCRATCH - DATA_BASE + SCRATCH_SIZE; i++)
        printf("memory %x %02x\n", DATA_BASE + i, data[i]);
    return 0;
}

int main(int argc, char **argv)
{
    const char *selection = "all";
    FILE *exceptions = NULL;
    bool listing = false;
    for (int option; (option = getopt(argc, argv, "g:x:ld:")) != -1;) {
        switch (option) {
        case 'g': selection = optarg; break;
        case 'x':
            exceptions = fopen(optarg, "r");
            if (!exceptions) {
                perror(optarg);
                return 2;
            }
            break;
        case 'l': listing = true; break;
        case 'd': return print_dump(optarg);
        default: return 2;
        }
    }
    if (argc - optind != 3) {
        fprintf(stderr, "usage: random_program [-g SELECTION] [-x FILE] [-l] SEED LENGTH OUT | -d DUMP\n");
        return 2;
    }
    select_instructions(selection, exceptions);
    random_state = strtoull(argv[optind], NULL, 0);
    write_program(argv[optind + 2], (unsigned)atoi(argv[optind + 1]), listing);
    return 0;
}
