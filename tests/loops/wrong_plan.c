// SPDX-License-Identifier: MIT
// Replacements that are wrong (the linker's --wrap): of what one stores, the first byte is another. These are
// plans, and what translated code does in place of a loop while that is checked. Standard error says which
// byte it is, and what it is then.
#include <stdio.h>

#include "../../core/loops/optimizer.h"

enum { RANGES = 8, SAID_MAX = 1000 };

struct plan_result __real_plan_run(const struct loop_plan *p, cpu *c, struct memory *memory);
void __real_interp_begin_check(struct guest *g);
void __real_interp_end_check(struct guest *g);
struct plan_result __wrap_plan_run(const struct loop_plan *p, cpu *c, struct memory *memory);
void __wrap_interp_begin_check(struct guest *g);
void __wrap_interp_end_check(struct guest *g);

// The first byte that the plan would store, or NULL.
static uint8_t *first_stored(const struct loop_plan *p, cpu *c, struct memory *memory)
{
    struct plan_range ranges[RANGES];
    return plan_writes(p, c, memory, ranges, RANGES) > 0 ? memory->base + ranges[0].address : NULL;
}

static void spoil(const struct memory *memory, uint8_t *byte)
{
    static unsigned said;
    *byte ^= 1;
    if (said++ < SAID_MAX)
        fprintf(stderr, "wrong_plan: %#llx %#x\n", (unsigned long long)(byte - memory->base), *byte);
}

struct plan_result __wrap_plan_run(const struct loop_plan *p, cpu *c, struct memory *memory)
{
    uint8_t *byte = first_stored(p, c, memory);
    struct plan_result r = __real_plan_run(p, c, memory);
    if (byte && r.iterations)
        spoil(memory, byte);
    return r;
}

static uint8_t *checked;

void __wrap_interp_begin_check(struct guest *g)
{
    const struct loop *loop = loops_find(g->loops, (uint32_t)g->cpu.cold_pc);
    checked = loop->plan ? first_stored(loop->plan, &g->cpu, &g->memory) : NULL;
    __real_interp_begin_check(g);
}

void __wrap_interp_end_check(struct guest *g)
{
    if (checked)
        spoil(&g->memory, checked);
    __real_interp_end_check(g);
}
