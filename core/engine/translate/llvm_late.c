// SPDX-License-Identifier: MIT
#include "llvm_late.h"

#include <llvm-c/Core.h>

#include "llvm_flow.h"
#include "llvm_leave.h"

void late_note(struct build *u, unsigned var, bool sets_all)
{
    struct block_build *x = &u->block[u->block_index];
    if (u->in_fast_loop || var_has(&x->touched, var))
        return;
    var_add(&x->touched, var);
    // Behind a branch of the block's own what is set may be so on one way only.
    if (!sets_all || LLVMGetInsertBlock(u->at) != x->body)
        var_add(&x->needed, var);
}

var_set late_absent_at_end(const struct build *u, unsigned block)
{
    var_set absent = flow_stores_all(&u->r->blocks[block]) ? u->used : u->block[block].absent;
    if (!flow_stores_all(&u->r->blocks[block]))
        var_remove(&absent, &u->block[block].touched);
    return absent;
}

// Absent is what is so by all ways to the block, for what is newer than guest_cpu is nowhere else. (Any
// choice is right beyond that: an edge loads what its target expects.) Guards of replaced loops may look at
// everything.
static void find_absent(struct build *u)
{
    const struct region *r = u->r;
    for (unsigned i = 0; i < r->block_count; i++)
        u->block[i].absent = u->used;
    for (unsigned i = 0; i < r->loop_count; i++)
        for (unsigned k = 0; k < r->loops[i].count; k++)
            u->block[r->loops[i].blocks[k]].absent = (var_set){{0}};
    for (unsigned i = 0; i < r->block_count; i++)
        var_remove(&u->block[i].absent, &u->block[i].dirty);
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < r->block_count; i++) {
            const var_set absent = late_absent_at_end(u, i);
            int to[2];
            for (unsigned k = flow_successors(&r->blocks[i], to); k-- > 0;)
                again |= var_keep(&u->block[to[k]].absent, &absent);
        }
    }
}

void late_add_loads(struct build *u)
{
    if (u->r->precise || u->r->verify)
        return; // who store all that is used
    find_absent(u);
    for (unsigned i = 0; i < u->r->block_count; i++) {
        const struct block_build *x = &u->block[i];
        var_set late = x->absent;
        var_keep(&late, &x->needed);
        build_at_start(u, x->body);
        leave_load(u, &late);
    }
}
