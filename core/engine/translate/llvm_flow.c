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

bool flow_stores_all(const struct region_block *b)
{
    return b->end != END_NEXT && b->end != END_BRANCH && b->end != END_RETURN;
}

var_set flow_dirty_at(const struct build *u, const struct place *place)
{
    var_set dirty = place->newer;
    if (!place->synchronized)
        var_join(&dirty, &u->block[place->from].dirty);
    return dirty;
}

var_set flow_dirty_at_end(const struct build *u, unsigned block)
{
    const struct block_build *x = &u->block[block];
    const struct place end = {.from = (uint16_t)block, .synchronized = x->synchronized, .newer = x->newer};
    var_set dirty = flow_dirty_at(u, &end);
    var_remove(&dirty, &x->stored);
    return dirty;
}

var_set flow_leaving_dirty(const struct build *u, unsigned block)
{
    static const var_set nothing;
    return flow_stores_all(&u->r->blocks[block]) ? nothing : flow_dirty_at_end(u, block);
}

// Marks the edges that lead back to a loop's header, and the headers of loops that call nobody, and where
// code is precise, make guest_cpu exact nowhere. A loop is what leads back to its header and is not reached
// from the region's first entry without it.
static void find_loops(struct build *u)
{
    const struct region *r = u->r;
    for (unsigned header = 0; header < r->block_count; header++) {
        if (!r->blocks[header].loop_header)
            continue;
        bool outside[REGION_BLOCKS_MAX] = {header != 0}, inside[REGION_BLOCKS_MAX] = {false};
        bool quiet = true;
        for (bool again = true; again;) {
            again = false;
            for (unsigned i = 0; i < r->block_count; i++) {
                int to[2];
                unsigned count = flow_successors(&r->blocks[i], to);
                for (unsigned k = 0; k < count && outside[i]; k++)
                    if (to[k] != (int)header && !outside[to[k]])
                        outside[to[k]] = again = true;
            }
        }
        inside[header] = true;
        for (bool again = true; again;) {
            again = false;
            for (unsigned i = r->block_count; i-- > 0;) {
                int to[2];
                unsigned count = flow_successors(&r->blocks[i], to);
                for (unsigned k = 0; k < count && !inside[i] && !outside[i]; k++)
                    if (inside[to[k]])
                        inside[i] = again = true;
            }
        }
        for (unsigned i = 0; i < r->block_count; i++) {
            int to[2];
            unsigned count = inside[i] ? flow_successors(&r->blocks[i], to) : 0;
            for (unsigned k = 0; k < count; k++)
                u->block[i].leads_back[k] |= to[k] == (int)header;
            quiet &= !inside[i] || (!flow_stores_all(&r->blocks[i]) && !u->block[i].synchronized);
        }
        u->block[header].quiet_loop = quiet;
    }
}

// Which variables are kept newer than guest_cpu at the start of each block. Where paths join, only those that
// are so on all of them, and those that will hardly ever be stored: the others are stored on the edges, so
// that the path that comes from a call neither loads nor stores them again. The header of a loop that calls
// nobody takes what any path brings: nothing is stored inside. Entries in the middle do not count: whoever
// comes in there may store once more what he has loaded. (Any choice is right: an edge stores what its target
// does not take.)
//
// In precise code an edge that stores makes guest_cpu exact, which takes more. So all blocks take what any
// path brings, but for headers of other loops, which take what comes from inside: the rest would be stored
// each time round.
void flow_find_dirty(struct build *u)
{
    const struct region *r = u->r;
    find_loops(u);
    for (unsigned round = 0; round < 20; round++) {
        bool again = false;
        for (unsigned i = 0; i < r->block_count; i++) {
            const bool is_loud = r->precise && r->blocks[i].loop_header && !u->block[i].quiet_loop;
            var_set all = {{~0ull, ~0ull}}, any = {{0}};
            unsigned paths = i == 0;
            if (paths)
                all = any;
            for (unsigned from = 0; from < r->block_count; from++) {
                int to[2];
                unsigned count = flow_successors(&r->blocks[from], to);
                for (unsigned k = 0; k < count; k++) {
                    if (to[k] != (int)i || (is_loud && !u->block[from].leads_back[k]))
                        continue;
                    var_set out = flow_leaving_dirty(u, from);
                    var_join(&any, &out);
                    var_keep(&all, &out);
                    paths++;
                }
            }
            if (!u->block[i].quiet_loop && !r->precise)
                var_keep(&any, &u->block[i].seldom_stored);
            var_join(&all, &any);
            const var_set in = paths ? all : (var_set){{0}};
            again |= memcmp(&in, &u->block[i].dirty, sizeof in) != 0;
            u->block[i].dirty = in;
        }
        if (!again)
            break;
    }
}

// Whether the flags are live at the start of each block: backward over the region's edges; live where they
// leave it. In precise code a fault may look at them anywhere.
void flow_find_live_flags(struct build *u)
{
    const struct region *r = u->r;
    for (unsigned i = 0; i < r->block_count; i++)
        u->block[i].flags_live = r->precise;
    for (bool again = !r->precise; again;) {
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
