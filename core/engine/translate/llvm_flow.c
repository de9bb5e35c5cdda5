// SPDX-License-Identifier: MIT
#include "llvm_flow.h"

#include <string.h>

unsigned flow_successors(const struct region_block *b, int to[2])
{
    unsigned count = 0;
    if (b->next >= 0 && b->end != END_STOP && b->end != END_EXIT)
        to[count++] = b->next;
    if (b->end == END_BRANCH && b->taken >= 0)
        to[count++] = b->taken;
    return count;
}

// Calls and exits store everything.
static bool leaves_all_stored(const struct region_block *b)
{
    return b->end != END_NEXT && b->end != END_BRANCH && b->end != END_RETURN;
}

// What may be newer than guest_cpu where the block ends.
var_set flow_leaving_dirty(const struct build *u, unsigned block)
{
    var_set out = {{0}};
    if (!leaves_all_stored(&u->r->blocks[block])) {
        out = u->block[block].dirty;
        var_join(&out, &u->block[block].written);
    }
    return out;
}

// Whether code that leads from block `from` back to it calls nobody: marks such loop headers.
static void find_quiet_loops(struct build *u)
{
    const struct region *r = u->r;
    for (unsigned header = 0; header < r->block_count; header++) {
        if (!r->blocks[header].loop_header)
            continue;
        // Backward from the branches to the header: the loop's body, which lies between the two (a callee
        // that is inlined does not), so that code that jumps into the middle of it is none of it.
        bool inside[REGION_BLOCKS_MAX] = {false};
        bool quiet = true;
        uint32_t first = r->blocks[header].pc, last = first;
        inside[header] = true;
        for (unsigned i = 0; i < r->block_count; i++) {
            int to[2];
            unsigned count = flow_successors(&r->blocks[i], to);
            for (unsigned k = 0; k < count; k++)
                if (to[k] == (int)header && r->blocks[i].pc > last)
                    last = r->blocks[i].pc;
        }
        for (bool again = true; again;) {
            again = false;
            for (unsigned i = 0; i < r->block_count; i++) {
                const struct region_block *b = &r->blocks[i];
                int to[2];
                unsigned count = flow_successors(b, to);
                bool between = b->context != r->blocks[header].context || (b->pc >= first && b->pc <= last);
                for (unsigned k = 0; k < count && between && !inside[i]; k++)
                    if (inside[to[k]])
                        inside[i] = again = true;
            }
        }
        for (unsigned i = 0; i < r->block_count; i++)
            quiet &= !inside[i] || !leaves_all_stored(&r->blocks[i]);
        u->block[header].quiet_loop = quiet;
    }
}

// Which variables are kept newer than guest_cpu at the start of each block. Where paths join, only those that
// are so on all of them: the others are stored on the edges, so that the path that comes from a call neither
// loads nor stores them again. The header of a loop that calls nobody takes what any path brings: nothing is
// stored inside. (Any choice is right: an edge stores what its target does not take.)
void flow_find_dirty(struct build *u)
{
    const struct region *r = u->r;
    find_quiet_loops(u);
    for (unsigned round = 0; round < 20; round++) {
        bool again = false;
        for (unsigned i = 0; i < r->block_count; i++) {
            var_set all = {{~0ull, ~0ull}}, any = {{0}};
            unsigned paths = i < r->entry_count;
            if (paths)
                all = any;
            for (unsigned from = 0; from < r->block_count; from++) {
                int to[2];
                unsigned count = flow_successors(&r->blocks[from], to);
                for (unsigned k = 0; k < count; k++) {
                    if (to[k] != (int)i)
                        continue;
                    var_set out = flow_leaving_dirty(u, from);
                    var_join(&any, &out);
                    all.bits[0] &= out.bits[0];
                    all.bits[1] &= out.bits[1];
                    paths++;
                }
            }
            var_set in = !paths ? (var_set){{0}} : u->block[i].quiet_loop ? any : all;
            again |= memcmp(&in, &u->block[i].dirty, sizeof in) != 0;
            u->block[i].dirty = in;
        }
        if (!again)
            break;
    }
}

// Whether the flags are live at the start of each block: backward over the region's edges; live where they
// leave it.
void flow_find_live_flags(struct build *u)
{
    const struct region *r = u->r;
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = r->block_count; i-- > 0;) {
            const struct region_block *b = &r->blocks[i];
            bool live = b->end != END_CALL || !b->flags_dead;
            if (b->end == END_NEXT || b->end == END_RETURN)
                live = u->block[b->next].flags_live;
            else if (b->end == END_BRANCH)
                live = u->block[b->next].flags_live || u->block[b->taken].flags_live;
            for (unsigned k = b->count; k-- > 0;) {
                const struct insn_info *info = &isa_info[r->ops[b->first + k].insn];
                live = info->reads & NZCV || (live && !(info->writes & NZCV));
            }
            again |= live != u->block[i].flags_live;
            u->block[i].flags_live = live;
        }
    }
}
