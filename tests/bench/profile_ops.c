// SPDX-License-Identifier: MIT
// Counts how often the interpreter runs which instruction, for mine_sequences: takes the place of the
// interpreter in a program (the linker's --wrap), and runs every instruction on its own.
//
// At the end it writes to the file $PROFILE a line for each instruction that has run: address and word
// (hexadecimal), how often it ran, and how often it was come to other than from the instruction before.
#define INTERP_UNTHREADED
#define SEQUENCES_DEF "/dev/null"
#define ON_DISPATCH(c, o) count_op(c, o)
#define interp_stop_at profile_stop_at
#define interp_hot_target profile_hot_target
#define interp_hot_loop profile_hot_loop
#define interp_wild_target profile_wild_target
#define interp_aside profile_aside
#define interp_run __wrap_interp_run
#define interp_call __wrap_interp_call
#define interp_step __wrap_interp_step
#define interp_svc __wrap_interp_svc
#define interp_more __wrap_interp_more
#define interp_patch_entry __wrap_interp_patch_entry
#define interp_switch_dispatch __wrap_interp_switch_dispatch
#define interp_restore_entry __wrap_interp_restore_entry
#define interp_loop __wrap_interp_loop
#define interp_patch_loop __wrap_interp_patch_loop
#define interp_patch_trace __wrap_interp_patch_trace
#define interp_begin_check __wrap_interp_begin_check
#define interp_end_check __wrap_interp_end_check
#define interp_decode_anew __wrap_interp_decode_anew

#include "../../core/isa/cpu.h"

static void count_op(const cpu *c, const op *o);

#include "../../core/engine/interp/interp.c"

#define CODE_END (32u << 20)

static struct {
    uint64_t ran, arrived;
    uint32_t word;
} profile[CODE_END / 4];

static void count_op(const cpu *c, const op *o)
{
    static const op *previous;
    uint64_t pc = pc_of(c, o);
    if (pc < CODE_END) {
        profile[pc / 4].ran++;
        profile[pc / 4].arrived += o != previous + 1;
        profile[pc / 4].word = word_at(c, o);
    }
    previous = o;
}

void __real_loops_destroy(struct loops *l);
void __wrap_loops_destroy(struct loops *l);

void __wrap_loops_destroy(struct loops *l)
{
    const char *name = getenv("PROFILE");
    FILE *file = l && name ? fopen(name, "w") : NULL;
    for (uint32_t i = 0; file && i < CODE_END / 4; i++)
        if (profile[i].ran)
            fprintf(file, "%x %x %llu %llu\n", i * 4, profile[i].word, (unsigned long long)profile[i].ran,
                    (unsigned long long)profile[i].arrived);
    if (file && fclose(file) != 0)
        perror(name);
    __real_loops_destroy(l);
}
