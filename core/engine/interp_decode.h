// SPDX-License-Identifier: MIT
// Part of interp.c: from a word of the guest to an op with a handler, when it is first come to.
#ifndef CORE_ENGINE_INTERP_DECODE_H
#define CORE_ENGINE_INTERP_DECODE_H

// The forms of a handler, those that it has.
struct forms {
    handler_function *forward, *back, *counted, *counted_back;
};

#define FORMS_OP(name) .forward = name
#define FORMS_STOP(name) .forward = name
#define FORMS_INDIRECT(name) .forward = name
#define FORMS_JUMP(name) .forward = name, .back = name##_back
#define FORMS_CONDITION(name)                                                                                \
    .forward = name, .back = name##_back, .counted = name##_counted, .counted_back = name##_back_counted

static const struct forms handlers[INSN_COUNT] = {
    [INSN_UNDEFINED] = {.forward = do_undefined},
#define INSN(name, kind, group, pattern, text) [INSN_##name] = {FORMS_##kind(do_##name)},
#include "../isa/insns.def"
#undef INSN
};

enum { FUSED_MAX = 3 };

static const struct {
    struct forms forms;
    enum insn insns[FUSED_MAX]; // INSN_UNDEFINED behind the last
} fused[] = {
#define FUSED2(kind, a, b) {{FORMS_##kind(do_##a##_##b)}, {INSN_##a, INSN_##b}},
#define FUSED3(kind, a, b, c) {{FORMS_##kind(do_##a##_##b##_##c)}, {INSN_##a, INSN_##b, INSN_##c}},
#include "fused.def"
#undef FUSED2
#undef FUSED3
};

static bool begins_sequence(enum insn id)
{
    return false
#define FUSED2(kind, a, b) || id == INSN_##a
#define FUSED3(kind, a, b, c) || id == INSN_##a
#include "fused.def"
#undef FUSED2
#undef FUSED3
        ;
}

// ---- decoding ----

static bool is_backward(enum insn id, const op *o)
{
    enum insn_kind kind = isa_info[id].kind;
    return (kind == KIND_CONDITION || kind == KIND_JUMP) && o->disp <= 0;
}

// Decodes the word at pc into *out, but for its handler.
static enum insn decode_at(cpu *c, uint64_t pc, op *out, enum dispatch_verdict *verdict)
{
    uint32_t word;
    __builtin_memcpy(&word, c->memory + pc, sizeof word);
    enum insn id = dispatch_decode(machine_of(c)->dispatch, word, (uint32_t)pc, out, verdict);
    enum insn_kind kind = isa_info[id].kind;
    if (kind == KIND_CONDITION || kind == KIND_JUMP) {
        // A target outside the address space: address 0 stands in for it, where nothing is ever mapped.
        int64_t target = (int64_t)pc + (int64_t)out->disp * 4;
        if (target < 0 || target >= (int64_t)GUEST_SPACE)
            out->disp = -(int32_t)(pc / 4);
    }
    return id;
}

static handler_function *choose_form(cpu *c, uint64_t pc, const struct forms *f, enum insn id, const op *o)
{
    bool back = is_backward(id, o);
    if (f->counted && branch_is_counted(c, pc))
        return back ? f->counted_back : f->counted;
    return back ? f->back : f->forward;
}

// The handler for the sequence at pc that starts with ids[0], of which count are known; *length is how many
// it runs.
static handler_function *choose_handler(cpu *c, uint64_t pc, const enum insn *ids, const op *ops,
                                        unsigned count, unsigned *length)
{
    for (size_t i = 0; count > 1 && i < sizeof fused / sizeof fused[0]; i++) {
        unsigned n = 0;
        while (n < FUSED_MAX && fused[i].insns[n] != INSN_UNDEFINED && n < count &&
               fused[i].insns[n] == ids[n])
            n++;
        if (n == FUSED_MAX || fused[i].insns[n] == INSN_UNDEFINED) {
            *length = n;
            return choose_form(c, pc + (n - 1) * 4, &fused[i].forms, ids[n - 1], &ops[n - 1]);
        }
    }
    *length = 1;
    return choose_form(c, pc, &handlers[ids[0]], ids[0], &ops[0]);
}

// ---- runs that are watched, for their loops ----

static uint32_t times_taken(const cpu *c, uint32_t branch)
{
    return op_at(c, branch)->count;
}

static __attribute__((noinline)) handler_function *observe(cpu *c, const op *o, const char *code)
{
    struct loop_watch *d = machine_of(c)->loop_watch;
    uint32_t pc = (uint32_t)pc_of(c, o);
    loop_watch_arrive(d, pc, c, times_taken);
    return (handler_function *)(code + (int32_t)loop_watch_handler(d, pc));
}

// A loop's header, or what is behind its branch, in a run that is watched.
DEFINE(do_observe)
{
    return observe(c, o, code)(c, o, code);
}

// The op at a place to watch: if it is decoded, what stands there now goes behind the watch.
static void watch_place(struct machine *m, op *o)
{
    uint32_t observed = handler_offset(do_observe);
    if (!o->handler || o->handler == observed)
        return;
    loop_watch_set_handler(m->loop_watch, (uint32_t)pc_of(&m->cpu, o), o->handler);
    o->handler = observed;
}

// The op at pc has been decoded: watches the loop that it closes, and the places of known ones.
static void watch_loops(struct machine *m, uint64_t pc, enum insn id)
{
    op *o = op_at(&m->cpu, pc);
    if (is_backward(id, o) && id != INSN_bl &&
        loop_watch_add(m->loop_watch, (uint32_t)pc_of(&m->cpu, o + o->disp), (uint32_t)pc)) {
        watch_place(m, o + o->disp);
        watch_place(m, o + 1);
    }
    if (loop_watch_is_place(m->loop_watch, (uint32_t)pc))
        watch_place(m, o);
}

// ---- an op ----

// Gives the op at o its operands and handler. A sequence's later ops get their operands only: who jumps to
// them has them decoded then. Apart from decode_first, because a function whose locals are known elsewhere
// makes no sibling calls: the host's stack would grow with every op.
static __attribute__((noinline)) void decode_op(cpu *c, op *o)
{
    struct machine *m = machine_of(c);
    uint64_t pc = pc_of(c, o);
    c->current = o;
    if (!memory_mark_code(&m->memory, pc))
        fault_raise(c, m->memory.pages[pc / GUEST_PAGE] & MEMORY_MAPPED ? FAULT_PERMISSION : FAULT_MAPPING,
                    pc, false);
    enum machine_dispatch mode = dispatch_mode(m->dispatch);
    enum insn ids[FUSED_MAX];
    op decoded[FUSED_MAX];
    enum dispatch_verdict verdicts[FUSED_MAX];
    unsigned count = 0, length;
    do {
        ids[count] = decode_at(c, pc + count * 4, &decoded[count], &verdicts[count]);
        if (count && verdicts[count] != DISPATCH_FINE)
            break; // has to be counted, so it is no part of a sequence
        count++;
    } while (count < FUSED_MAX && (pc + count * 4) % GUEST_PAGE && isa_info[ids[count - 1]].kind == KIND_OP &&
             begins_sequence(ids[0]) && verdicts[0] == DISPATCH_FINE && mode != MACHINE_DISPATCH_LIVE &&
             !m->loop_watch);
    handler_function *handler = choose_handler(c, pc, ids, decoded, count, &length);
    if (verdicts[0] == DISPATCH_FAULT) {
        handler = do_dispatch_fault;
    } else if (verdicts[0] == DISPATCH_MISNAMED ||
               (mode == MACHINE_DISPATCH_LIVE && ids[0] != INSN_UNDEFINED)) {
        dispatch_remember(m->dispatch, pc, handler_offset(handler));
        handler = mode == MACHINE_DISPATCH_LIVE ? do_live : do_misnamed;
    }
    for (unsigned i = 1; i < length; i++) {
        decoded[i].handler = o[i].handler;
        o[i] = decoded[i];
    }
    decoded[0].handler = handler_offset(handler);
    o[0] = decoded[0];
    struct loop *loop = m->loops ? loops_find(m->loops, (uint32_t)pc) : NULL;
    if (loop && loop->installed && atomic_load_explicit(&loop->state, memory_order_acquire) == LOOP_EXAMINED)
        patch_loop(m, loop, o);
    if (m->loop_watch)
        watch_loops(m, pc, ids[0]);
}

// Handler 0: the op has not been decoded.
static op *decode_first(cpu *c, op *o, __attribute__((unused)) const char *code)
{
    decode_op(c, o);
    GO_ON(o);
}

#endif
