// SPDX-License-Identifier: MIT
#include "llvm_near.h"

#include <llvm-c/Core.h>
#include <string.h>

#include "llvm_flow.h"

enum {
    NOWHERE = UINT16_MAX,
    NEAR = MEMORY_NEAR,
};

static const struct near nothing = {{[0 ... 31] = NOWHERE}};

// ---- blocks ----

static void visit(const struct build *u, unsigned block, bool *seen, uint16_t *done, unsigned *count)
{
    struct {
        uint16_t block;
        uint8_t next;
    } path[REGION_BLOCKS_MAX];
    unsigned depth = 0;
    path[depth].block = (uint16_t)block;
    path[depth++].next = 0;
    seen[block] = true;
    while (depth) {
        unsigned at = path[depth - 1].block;
        int to[2];
        if (path[depth - 1].next == flow_successors(&u->r->blocks[at], to)) {
            done[(*count)++] = (uint16_t)at;
            depth--;
            continue;
        }
        unsigned next = (unsigned)to[path[depth - 1].next++];
        if (seen[next])
            continue;
        seen[next] = true;
        path[depth].block = (uint16_t)next;
        path[depth++].next = 0;
    }
}

void near_order(struct build *u, uint16_t order[REGION_BLOCKS_MAX])
{
    for (unsigned i = 0; i < u->r->block_count && !u->r->checked; i++)
        order[i] = (uint16_t)i;
    if (!u->r->checked)
        return;
    bool seen[REGION_BLOCKS_MAX] = {false};
    uint16_t done[REGION_BLOCKS_MAX];
    unsigned count = 0;
    for (unsigned i = u->r->block_count; i-- > 0;)
        if (!seen[i] && (i < u->r->entry_count))
            visit(u, i, seen, done, &count);
    for (unsigned i = 0; i < u->r->block_count; i++)
        if (!seen[i])
            visit(u, i, seen, done, &count);
    for (unsigned i = 0; i < count; i++)
        order[i] = done[count - 1 - i];
}

// What a block's instructions may write; all, where it does not simply go on.
static uint32_t written_by(const struct region *r, const struct region_block *b)
{
    uint32_t written = 0;
    if (b->end != END_NEXT && b->end != END_BRANCH && b->end != END_RETURN)
        return UINT32_MAX;
    for (unsigned k = 0; k < b->count; k++) {
        const struct region_op *o = &r->ops[b->first + k];
        written |= isa_registers(isa_info[o->insn].writes, &o->op).x;
    }
    return written;
}

// What may be written on the ways to the block that have not been copied, from where they leave it: loops.
static uint32_t written_around(const struct build *u, unsigned block)
{
    const struct region *r = u->r;
    bool inside[REGION_BLOCKS_MAX] = {false};
    uint32_t written = written_by(r, &r->blocks[block]);
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = r->block_count; i-- > 0;) {
            int to[2];
            unsigned count = flow_successors(&r->blocks[i], to);
            bool leads = false;
            for (unsigned k = 0; k < count; k++)
                leads |= (unsigned)to[k] == block ? !u->block[i].copied : inside[to[k]];
            if (!leads || inside[i] || i == block)
                continue;
            inside[i] = again = true;
            written |= i < r->entry_count ? UINT32_MAX : written_by(r, &r->blocks[i]);
        }
    }
    return written;
}

void near_begin_block(struct build *u, unsigned block)
{
    const struct region *r = u->r;
    bool any = false, around = false;
    u->near = nothing;
    if (block < r->entry_count || !r->checked)
        return;
    for (unsigned i = 0; i < r->block_count; i++) {
        int to[2];
        unsigned count = flow_successors(&r->blocks[i], to);
        for (unsigned k = 0; k < count; k++) {
            if ((unsigned)to[k] != block)
                continue;
            const struct block_build *from = &u->block[i];
            around |= !from->copied;
            if (!from->copied)
                continue;
            for (unsigned x = 0; x < 32; x++)
                u->near.x[x] = !any || from->near.x[x] > u->near.x[x] ? from->near.x[x] : u->near.x[x];
            any = true;
        }
    }
    uint32_t written = around ? written_around(u, block) : 0;
    for (unsigned x = 0; x < 32; x++)
        if (written >> x & 1)
            u->near.x[x] = NOWHERE;
}

void near_end_block(struct build *u, unsigned block)
{
    const struct region_block *b = &u->r->blocks[block];
    bool goes_on = b->end == END_NEXT || b->end == END_BRANCH || b->end == END_RETURN;
    u->block[block].near = goes_on ? u->near : nothing;
    u->block[block].copied = true;
}

// ---- instructions ----

void near_begin_op(struct build *u)
{
    u->near_loads = 0;
    u->near_check = NULL;
    u->near_sometimes = false;
}

// The register that the variable's part at offset is, all of it; 32 if none is.
static unsigned register_at(uint32_t offset, LLVMValueRef value)
{
    unsigned var = var_at(offset);
    bool is_whole = var < VAR_X + 32 && var_offset(var) == offset &&
                    LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind &&
                    LLVMGetIntTypeWidth(LLVMTypeOf(value)) == 64;
    return is_whole ? var - VAR_X : 32;
}

void near_note_load(struct build *u, uint32_t offset, LLVMValueRef value)
{
    unsigned x = register_at(offset, value);
    if (x < 32 && u->near_loads < NEAR_LOADS_MAX)
        u->near_load[u->near_loads++] = (struct near_load){value, (uint8_t)x, true, u->near.x[x]};
}

// The load that value comes from, by adding *offset; NULL if it comes from none.
static struct near_load *find_load(struct build *u, LLVMValueRef value, uint64_t *offset)
{
    *offset = 0;
    for (unsigned steps = 0; steps < 8; steps++) {
        for (unsigned i = 0; i < u->near_loads; i++)
            if (u->near_load[i].value == value)
                return &u->near_load[i];
        if (!LLVMIsABinaryOperator(value))
            return NULL;
        LLVMValueRef a = LLVMGetOperand(value, 0), b = LLVMGetOperand(value, 1);
        LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
        if (LLVMIsAConstantInt(a) && (opcode == LLVMAdd || opcode == LLVMOr)) {
            LLVMValueRef other = a;
            a = b;
            b = other;
        }
        if (!LLVMIsAConstantInt(b) || LLVMGetIntTypeWidth(LLVMTypeOf(b)) != 64)
            return NULL;
        uint64_t c = LLVMConstIntGetZExtValue(b);
        if (opcode == LLVMAdd || opcode == LLVMSub)
            *offset += opcode == LLVMAdd ? c : -c;
        else if ((opcode != LLVMOr && opcode != LLVMShl && opcode != LLVMXor) || c)
            return NULL;
        value = a;
    }
    return NULL;
}

static uint64_t magnitude(uint64_t offset)
{
    return (int64_t)offset < 0 ? -offset : offset;
}

static uint16_t further(uint16_t distance, uint64_t offset)
{
    if (distance == NOWHERE || magnitude(offset) > NEAR)
        return NOWHERE;
    uint64_t sum = distance + magnitude(offset);
    return sum <= NEAR ? (uint16_t)sum : NOWHERE;
}

void near_note_store(struct build *u, uint32_t offset, LLVMValueRef value)
{
    unsigned var = var_at(offset), x = register_at(offset, value);
    if (var >= VAR_X + 32)
        return;
    uint64_t more;
    const struct near_load *from = x < 32 && !u->near_sometimes ? find_load(u, value, &more) : NULL;
    uint16_t distance = from ? further(from->distance, more) : NOWHERE;
    if (x < 32 && !u->near_sometimes && LLVMIsAConstantInt(value)) {
        uint64_t address = LLVMConstIntGetZExtValue(value);
        distance = address >= GUEST_MMAP_MIN && address < GUEST_MMAP_END ? 0 : NOWHERE;
    }
    u->near.x[var - VAR_X] = distance;
    for (unsigned i = 0; i < u->near_loads; i++)
        if (u->near_load[i].x == var - VAR_X)
            u->near_load[i].is_current = false;
}

void near_note_branch(struct build *u, LLVMValueRef condition)
{
    u->near_sometimes |= !condition || condition != u->near_check;
}

bool near_covers(struct build *u, LLVMValueRef address)
{
    uint64_t offset;
    const struct near_load *from = u->in_fast_loop ? NULL : find_load(u, address, &offset);
    return from && further(from->distance, offset) != NOWHERE;
}

void near_note_access(struct build *u, LLVMValueRef pointer)
{
    uint64_t offset;
    if (u->near_sometimes || !LLVMIsAIntToPtrInst(pointer) || !LLVMIsATruncInst(LLVMGetOperand(pointer, 0)))
        return;
    LLVMValueRef address = LLVMGetOperand(LLVMGetOperand(pointer, 0), 0);
    struct near_load *from = find_load(u, address, &offset);
    if (!from || magnitude(offset) > NEAR)
        return;
    from->distance = (uint16_t)magnitude(offset);
    if (from->is_current)
        u->near.x[from->x] = from->distance;
}

void near_note_check(struct build *u, LLVMValueRef condition)
{
    u->near_check = condition;
}
