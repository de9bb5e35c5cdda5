// SPDX-License-Identifier: MIT
// Finds regions, breadth first from the entry.
#include "region.h"

#include <string.h>

enum {
    PAGE = 4096,
    OPS_SOFT_MAX = 4900, // no new block is begun beyond
    INLINE_TINY_MAX = 24, // instructions of a callee, see is_inlined
    INLINE_LEAF_MAX = 160,
    INLINE_CALLING_MAX = 100,
    INLINE_CALLS_MAX = 8,
    INLINE_TIMES = 256, // less than it is called until it is asked for
    INLINE_DEPTH = 2,
    CALLEE_OPS_MAX = INLINE_LEAF_MAX,
    CALLEE_BRANCHES_MAX = 64, // that are not followed yet
    FLAGS_SCAN = 40, // instructions looked at for what a callee does with the flags
};

struct finder {
    struct region *r;
    const struct region_source *source;
};

static const uint8_t *page_bytes(struct finder *f, uint32_t address)
{
    struct region *r = f->r;
    for (unsigned i = 0; i < r->page_count; i++)
        if (r->pages[i].address == address)
            return r->pages[i].bytes;
    if (r->page_count == REGION_PAGES_MAX)
        return NULL;
    struct region_page *p = &r->pages[r->page_count];
    if (!f->source->read(f->source->user, address, p->bytes))
        return NULL;
    p->address = address;
    r->page_count++;
    return p->bytes;
}

// Decodes the instruction at pc; false where nothing can be read.
static bool decode_at(struct finder *f, uint32_t pc, struct region_op *out)
{
    const uint8_t *bytes = page_bytes(f, pc & ~(uint32_t)(PAGE - 1));
    if (!bytes)
        return false;
    uint32_t word;
    memcpy(&word, bytes + pc % PAGE, sizeof word);
    out->pc = pc;
    out->insn = (uint16_t)isa_decode(word, pc, &out->op);
    return true;
}

// Instructions that the interpreter has to run count as stops.
static enum insn_kind kind_of(const struct finder *f, const struct region_op *o)
{
    const enum insn id = (enum insn)o->insn;
    const bool runs_here = f->source->usable(f->source->user, id) && !isa_leaves_space(id, o->pc, &o->op);
    return runs_here ? isa_info[id].kind : KIND_STOP;
}

static bool is_return(const struct region_op *o)
{
    return o->insn == INSN_ret;
}

static bool is_call(const struct region_op *o)
{
    return o->insn == INSN_bl || o->insn == INSN_blr;
}

// What a function is like, before it is inlined.
struct callee {
    unsigned size; // instructions
    bool fits; // it is known to its end, and there is nothing in it that only the interpreter can run
    bool calls, loops; // the former also by going on elsewhere for good
    bool is_hot; // one of its branches has been taken or not so often
};

// Looks at all code from entry on, or what has run of it, up to so many instructions.
static struct callee look_at(struct finder *f, uint32_t entry, unsigned most, bool executed_only)
{
    struct callee c = {0};
    uint32_t pending[CALLEE_BRANCHES_MAX], seen[CALLEE_OPS_MAX];
    unsigned pending_count = 0;
    pending[pending_count++] = entry;
    while (pending_count) {
        uint32_t pc = pending[--pending_count];
        for (;;) {
            bool ends = executed_only && !f->source->executed(f->source->user, pc);
            for (unsigned i = 0; i < c.size; i++)
                ends |= seen[i] == pc;
            if (ends)
                break;
            struct region_op o;
            if (c.size == most || !decode_at(f, pc, &o) || kind_of(f, &o) == KIND_STOP)
                return c;
            seen[c.size++] = pc;
            enum insn_kind kind = kind_of(f, &o);
            c.calls |= is_call(&o) || (kind == KIND_INDIRECT && !is_return(&o));
            if (kind == KIND_INDIRECT && !is_call(&o))
                break;
            if (kind == KIND_CONDITION || (kind == KIND_JUMP && !is_call(&o))) {
                struct branch_counts times = f->source->branch_counts(f->source->user, pc);
                c.is_hot |= kind == KIND_CONDITION && times.taken + times.not_taken >= INLINE_TIMES;
                c.loops |= o.op.disp <= 0;
                if (pending_count == CALLEE_BRANCHES_MAX)
                    return c;
                pending[pending_count++] = pc + (uint32_t)o.op.disp * 4;
                if (kind == KIND_JUMP)
                    break;
            }
            pc += 4;
        }
    }
    c.fits = true;
    return c;
}

// Whether the function at entry is worth a copy in the place of a call: it is tiny; or it is hot, and the
// program has few such places, so that copies take little room. (With what calls others itself, up to 160
// instructions: the demos 1.5 % slower.)
static bool is_inlined(struct finder *f, uint32_t entry)
{
    struct callee c = look_at(f, entry, INLINE_TINY_MAX, false);
    if (c.fits && !c.calls && !c.loops)
        return true;
    if (f->source->calls(f->source->user, entry) > INLINE_CALLS_MAX)
        return false;
    c = look_at(f, entry, CALLEE_OPS_MAX, true);
    return c.fits && c.is_hot && c.size <= (c.calls ? INLINE_CALLING_MAX : INLINE_LEAF_MAX);
}

// Whether every path from pc sets the flags before it reads them, as far as *left instructions tell.
static bool flags_are_dead(struct finder *f, uint32_t pc, unsigned *left)
{
    for (;;) {
        struct region_op o;
        if (*left == 0 || !decode_at(f, pc, &o) || kind_of(f, &o) == KIND_STOP)
            return false;
        --*left;
        if (isa_info[o.insn].reads & NZCV)
            return false;
        if (isa_info[o.insn].writes & NZCV)
            return true;
        switch (kind_of(f, &o)) {
        case KIND_CONDITION:
            if (o.op.disp <= 0 || !flags_are_dead(f, pc + (uint32_t)o.op.disp * 4, left))
                return false;
            pc += 4;
            break;
        case KIND_JUMP:
            if (is_call(&o) || o.op.disp <= 0)
                return false;
            pc += (uint32_t)o.op.disp * 4;
            break;
        case KIND_OP: pc += 4; break;
        default: return false;
        }
    }
}

static int find_block(const struct region *r, uint32_t pc, unsigned context)
{
    for (unsigned i = 0; i < r->block_count; i++)
        if (r->blocks[i].pc == pc && r->blocks[i].context == context)
            return (int)i;
    return -1;
}

// A new block at pc in that context, if there is room, else -1.
static int want_block(struct region *r, uint32_t pc, unsigned context)
{
    if (r->body_count == REGION_BODIES_MAX || r->op_count > OPS_SOFT_MAX)
        return -1;
    r->body_count++;
    r->blocks[r->block_count] =
        (struct region_block){.pc = pc, .context = (uint8_t)context, .taken = -1, .next = -1};
    return (int)r->block_count++;
}

// The block at pc, or one that leaves for pc: where it has never been taken so far, or there is no room.
static int16_t successor(struct finder *f, uint32_t pc, unsigned context)
{
    struct region *r = f->r;
    int to = find_block(r, pc, context);
    if (to < 0 && f->source->executed(f->source->user, pc))
        to = want_block(r, pc, context);
    else if (to < 0 && r->left_out_count < REGION_LEFT_OUT_MAX)
        r->left_out[r->left_out_count++] = pc;
    if (to < 0) { // there is room: at most two for each body
        to = (int)r->block_count++;
        r->blocks[to] = (struct region_block){
            .pc = pc, .context = (uint8_t)context, .end = END_EXIT, .target_pc = pc, .taken = -1, .next = -1};
        r->blocks[to].first = UINT16_MAX; // complete
    }
    return (int16_t)to;
}

// Whether the function at entry is being called already, in that context.
static bool is_running(const struct region *r, unsigned context, uint32_t entry)
{
    for (; context; context = r->contexts[context].caller)
        if (r->contexts[context].entry == entry)
            return true;
    return r->entries[0] == entry;
}

static unsigned context_depth(const struct region *r, unsigned context)
{
    unsigned depth = 0;
    for (; context; context = r->contexts[context].caller)
        depth++;
    return depth;
}

// Ends block b with the call that is its last op.
static void end_with_call(struct finder *f, unsigned b, const struct region_op *o)
{
    struct region *r = f->r;
    struct region_block *block = &r->blocks[b];
    uint32_t after = o->pc + 4;
    if (o->insn == INSN_blr) {
        block->end = END_CALL_INDIRECT;
        block->target_pc = after;
        block->next = successor(f, after, block->context);
        return;
    }
    uint32_t callee = o->pc + (uint32_t)o->op.disp * 4;
    if (context_depth(r, block->context) < INLINE_DEPTH && r->context_count < REGION_CONTEXTS_MAX &&
        !is_running(r, block->context, callee) && is_inlined(f, callee)) {
        unsigned context = r->context_count++;
        r->contexts[context] = (struct region_context){after, callee, block->context};
        block->end = END_NEXT;
        block->next = successor(f, callee, context);
        return;
    }
    unsigned left = FLAGS_SCAN;
    block->end = END_CALL;
    block->target_pc = callee;
    block->flags_dead = flags_are_dead(f, callee, &left);
    block->next = successor(f, after, block->context);
}

static void end_block(struct finder *f, unsigned b, const struct region_op *o)
{
    struct region *r = f->r;
    struct region_block *block = &r->blocks[b];
    switch (kind_of(f, o)) {
    case KIND_CONDITION:
        block->end = END_BRANCH;
        block->seen = f->source->branch_counts(f->source->user, o->pc);
        block->taken = successor(f, o->pc + (uint32_t)o->op.disp * 4, block->context);
        block->next = successor(f, o->pc + 4, block->context);
        break;
    case KIND_JUMP:
        if (is_call(o)) {
            end_with_call(f, b, o);
        } else {
            block->end = END_NEXT;
            block->next = successor(f, o->pc + (uint32_t)o->op.disp * 4, block->context);
        }
        break;
    case KIND_INDIRECT:
        if (is_call(o)) {
            end_with_call(f, b, o);
        } else if (is_return(o) && block->context) {
            const struct region_context *context = &r->contexts[block->context];
            block->end = END_RETURN;
            block->target_pc = context->return_pc;
            block->next = successor(f, context->return_pc, context->caller);
        } else if (block->context) { // what is gone to returns to where the inlined callee would
            const struct region_context *context = &r->contexts[block->context];
            block->end = END_CALL_INDIRECT;
            block->target_pc = context->return_pc;
            block->next = successor(f, context->return_pc, context->caller);
        } else {
            block->end = END_INDIRECT;
        }
        break;
    case KIND_STOP:
        block->target_pc = o->pc;
        if (isa_info[o->insn].kind != KIND_OP && o->insn != INSN_svc) {
            block->end = END_STOP;
        } else {
            block->end = o->insn == INSN_svc ? END_SVC : END_STEP;
            block->next = successor(f, o->pc + 4, block->context);
        }
        break;
    case KIND_OP: break;
    }
}

// If block b turns out to start in the middle of an earlier one: cuts that short, and gives b its rest.
static bool take_rest(struct region *r, unsigned b)
{
    const uint32_t pc = r->blocks[b].pc;
    for (unsigned a = 0; a < r->block_count; a++) {
        struct region_block *earlier = &r->blocks[a];
        unsigned skipped = (pc - earlier->pc) / 4;
        if (earlier->context != r->blocks[b].context || pc <= earlier->pc || skipped >= earlier->count)
            continue;
        r->blocks[b] = *earlier;
        r->blocks[b].pc = pc;
        r->blocks[b].first = (uint16_t)(earlier->first + skipped);
        r->blocks[b].count = (uint16_t)(earlier->count - skipped);
        earlier->count = (uint16_t)skipped;
        earlier->end = END_NEXT;
        earlier->next = (int16_t)b;
        earlier->taken = -1;
        return true;
    }
    return false;
}

// Fills block b from its pc on, up to a branch, another block's start, or the limits.
static void fill_block(struct finder *f, unsigned b)
{
    struct region *r = f->r;
    uint32_t pc = r->blocks[b].pc;
    if (take_rest(r, b))
        return;
    r->blocks[b].first = (uint16_t)r->op_count;
    for (;;) {
        struct region_block *block = &r->blocks[b];
        struct region_op o;
        int other = pc == block->pc ? -1 : find_block(r, pc, block->context);
        if (other >= 0) {
            block->end = END_NEXT;
            block->next = (int16_t)other;
            break;
        }
        if (r->op_count == REGION_OPS_MAX || !decode_at(f, pc, &o)) {
            block->end = END_EXIT;
            block->target_pc = pc;
            break;
        }
        if (kind_of(f, &o) != KIND_STOP)
            r->ops[r->op_count++] = o;
        block->count = (uint16_t)(r->op_count - block->first);
        if (kind_of(f, &o) != KIND_OP) {
            end_block(f, b, &o);
            break;
        }
        pc += 4;
    }
    r->blocks[b].count = (uint16_t)(r->op_count - r->blocks[b].first);
}

// Marks the blocks that a way round a loop leads back to, as a walk from the entry finds them: each loop has
// one. (Compilers also lay out code backwards that goes round nothing: to look at the budget there cost 5 %
// of the demos.)
static void find_loop_headers(struct region *r)
{
    enum { NEW, OPEN, DONE } state[REGION_BLOCKS_MAX] = {NEW};
    struct {
        int16_t block, next;
    } path[REGION_BLOCKS_MAX];
    for (unsigned b = 0; b < r->block_count; b++)
        r->blocks[b].loop_header = false;
    for (unsigned depth = 0, root = 0; depth || root < r->entry_count;) {
        if (!depth) {
            if (state[root] == NEW) {
                state[root] = OPEN;
                path[depth].block = (int16_t)root;
                path[depth++].next = 0;
            }
            root++;
            continue;
        }
        unsigned at = depth - 1;
        const struct region_block *block = &r->blocks[path[at].block];
        if (path[at].next == 2) {
            state[path[at].block] = DONE;
            depth--;
            continue;
        }
        int to = path[at].next++ ? block->taken : block->next;
        if (to < 0)
            continue;
        if (state[to] == OPEN)
            r->blocks[to].loop_header = true;
        if (state[to] != NEW)
            continue;
        state[to] = OPEN;
        path[depth].block = (int16_t)to;
        path[depth++].next = 0;
    }
}

bool region_has(const struct region *r, uint32_t pc)
{
    for (unsigned i = 0; i < r->block_count; i++) {
        const struct region_block *b = &r->blocks[i];
        if (!b->context && b->first != UINT16_MAX && pc - b->pc < b->count * 4u)
            return true;
    }
    return false;
}

bool region_enters_at(const struct region *r, uint32_t pc)
{
    for (unsigned i = 0; i < r->entry_count; i++)
        if (r->entries[i] == pc)
            return true;
    return false;
}

bool region_loops_at(const struct region *r, uint32_t pc)
{
    int block = find_block(r, pc, 0);
    return block >= 0 && r->blocks[block].loop_header;
}

bool region_find(struct region *r, const uint32_t *entries, unsigned count,
                 const struct region_source *source)
{
    struct finder f = {r, source};
    r->entry_count = count;
    memcpy(r->entries, entries, count * sizeof *entries);
    r->op_count = r->block_count = r->body_count = r->page_count = r->loop_count = r->left_out_count = 0;
    r->context_count = 1;
    r->contexts[0] = (struct region_context){0, entries[0], 0};
    struct region_op first;
    if (!decode_at(&f, entries[0], &first) || kind_of(&f, &first) == KIND_STOP)
        return false;
    for (unsigned i = 0; i < count; i++)
        want_block(r, entries[i], 0);
    for (unsigned b = 0; b < r->block_count; b++)
        if (r->blocks[b].first != UINT16_MAX)
            fill_block(&f, b);
    find_loop_headers(r);
    return r->op_count > 0;
}

// The word at pc, which is on one of the region's pages.
static uint32_t word_at(const struct region *r, uint32_t pc)
{
    uint32_t word = 0;
    for (unsigned i = 0; i < r->page_count; i++)
        if (pc - r->pages[i].address < PAGE)
            memcpy(&word, r->pages[i].bytes + (pc - r->pages[i].address), sizeof word);
    return word;
}

unsigned region_loop_code(const struct region *r, unsigned header, struct region_loop *loop, uint32_t *words,
                          unsigned max)
{
    unsigned length = 0;
    int b = (int)header;
    loop->count = 0;
    for (;;) {
        const struct region_block *block = &r->blocks[b];
        if (loop->count == REGION_LOOP_BLOCKS_MAX || !block->count || length + block->count > max ||
            block->pc != r->blocks[header].pc + length * 4 || block->context != r->blocks[header].context ||
            (block->end != END_NEXT && block->end != END_BRANCH))
            return 0;
        loop->blocks[loop->count++] = (int16_t)b;
        for (unsigned k = 0; k < block->count; k++, length++) {
            uint32_t pc = r->ops[block->first + k].pc;
            if (pc != r->blocks[header].pc + length * 4) // inlined calls leave no gap, but lead elsewhere
                return 0;
            words[length] = word_at(r, pc);
        }
        bool closes = block->end == END_NEXT ? block->next == (int)header : block->taken == (int)header;
        if (closes)
            return isa_info[r->ops[block->first + block->count - 1].insn].kind == KIND_OP ? 0 : length;
        b = block->next;
    }
}
