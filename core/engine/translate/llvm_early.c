// SPDX-License-Identifier: MIT
#include "llvm_early.h"

#include <llvm-c/Core.h>

#include "llvm_flow.h"
#include "llvm_leave.h"

// So likely, at least, is what is stored early stored at all. (0.55 and 0.95 make the demos as fast.)
static const float LIKELY = 0.8f, SELDOM = 0.2f;

void early_note(struct build *u)
{
    if (u->r->precise)
        return;
    LLVMBasicBlockRef block = LLVMGetInsertBlock(u->at);
    for (unsigned var = 0; var < VAR_COUNT; var++) {
        if (!var_has(&u->written, var))
            continue;
        unsigned n = u->definition_count;
        while (n > 0 && u->definitions[n - 1].from == u->block_index && u->definitions[n - 1].var != var)
            n--;
        bool again = n > 0 && u->definitions[n - 1].from == u->block_index;
        if (!again && u->definition_count == DEFINITIONS_MAX)
            continue;
        struct definition *d = &u->definitions[again ? n - 1 : u->definition_count++];
        *d =
            (struct definition){block, LLVMGetLastInstruction(block), (uint16_t)u->block_index, (uint8_t)var};
    }
    u->written = (var_set){{0}};
}

// How likely what is in the variable at the end of the block is stored before it is set again, from what is
// known so far of the blocks' starts.
static float likely_at_end(const struct region_block *b, const float *at_start, unsigned var)
{
    const bool is_flag = var >= VAR_FLAGS_A && var <= VAR_FLAGS_KIND;
    if (flow_stores_all(b))
        return is_flag && b->end == END_CALL && b->flags_dead ? 0 : 1;
    if (b->end != END_BRANCH)
        return at_start[b->next];
    const float taken = (float)b->seen.taken + 1, not_taken = (float)b->seen.not_taken + 1;
    return (taken * at_start[b->taken] + not_taken * at_start[b->next]) / (taken + not_taken);
}

static void find_likely(const struct build *u, unsigned var, float at_start[REGION_BLOCKS_MAX])
{
    const struct region *r = u->r;
    for (unsigned i = 0; i < r->block_count; i++)
        at_start[i] = 0;
    for (unsigned round = 0; round < 30; round++) {
        bool again = false;
        for (unsigned i = r->block_count; i-- > 0;) {
            if (var_has(&u->block[i].newer, var))
                continue;
            float likely = likely_at_end(&r->blocks[i], at_start, var);
            again |= likely > at_start[i] + 0.01f;
            at_start[i] = likely;
        }
        if (!again)
            break;
    }
}

static void add_store(struct build *u, const struct definition *d)
{
    build_behind(u, d->block, d->last);
    var_set one = {{0}};
    var_add(&one, d->var);
    leave_store(u, &one);
    var_remove(&u->block[d->from].newer, &one);
    var_join(&u->block[d->from].stored, &one);
}

// The blocks of loops that are compiled anew, too: what these copies leave is what the blocks leave.
static bool is_in_replaced_loop(const struct region *r, unsigned block)
{
    for (unsigned i = 0; i < r->loop_count; i++)
        for (unsigned k = 0; k < r->loops[i].count; k++)
            if (r->loops[i].blocks[k] == (int)block)
                return true;
    return false;
}

void early_add_stores(struct build *u)
{
    if (u->r->precise)
        return;
    bool excluded[REGION_BLOCKS_MAX];
    for (unsigned i = 0; i < u->r->block_count; i++)
        excluded[i] = is_in_replaced_loop(u->r, i);
    for (unsigned var = 0; var < VAR_COUNT; var++) {
        if (!var_has(&u->used, var) || var_is_passed(var))
            continue;
        float at_start[REGION_BLOCKS_MAX];
        find_likely(u, var, at_start);
        for (unsigned i = 0; i < u->r->block_count; i++)
            if (at_start[i] <= SELDOM)
                var_add(&u->block[i].seldom_stored, var);
        for (unsigned i = 0; i < u->definition_count; i++) {
            const struct definition *d = &u->definitions[i];
            const struct region_block *b = &u->r->blocks[d->from];
            if (d->var == var && !excluded[d->from] && likely_at_end(b, at_start, var) >= LIKELY)
                add_store(u, d);
        }
    }
}
