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

static handler_function *choose_form(cpu *c, uint64_t pc, enum insn id, const op *o)
{
    const struct forms *f = &handlers[id];
    bool back = is_backward(id, o);
    if (f->counted && branch_is_counted(c, pc))
        return back ? f->counted_back : f->counted;
    return back ? f->back : f->forward;
}

// The ops at pc and behind it, decoded as far as that has been asked for.
struct ahead {
    uint64_t pc;
    unsigned count;
    bool ends; // nothing more can be part of a sequence
    enum insn ids[SEQUENCE_MAX];
    op ops[SEQUENCE_MAX];
};

// Whether the op at pc has to be come to one by one: it has a handler of its own, or a loop begins there that
// a plan runs.
static bool is_place_of_its_own(cpu *c, uint64_t pc)
{
    const struct loops *loops = machine_of(c)->loops;
    const struct loop *loop = loops ? loops_find(loops, (uint32_t)pc) : NULL;
    return (loop && loop->installed) || op_at(c, pc)->handler == handler_offset(do_enter);
}

// Decodes one more; false if it can be no part of a sequence.
static bool look_ahead(cpu *c, struct ahead *a)
{
    uint64_t pc = a->pc + a->count * 4;
    enum insn id = a->ids[a->count - 1];
    enum dispatch_verdict verdict;
    if (a->ends || isa_info[id].kind != KIND_OP || pc % GUEST_PAGE == 0 || is_place_of_its_own(c, pc)) {
        a->ends = true;
        return false;
    }
    id = decode_at(c, pc, &a->ops[a->count], &verdict);
    a->ids[a->count] = id;
    // What the dispatch net names wrongly and branches that are counted have handlers of their own.
    a->ends = verdict != DISPATCH_FINE || (isa_info[id].kind == KIND_CONDITION && branch_is_counted(c, pc));
    a->count += !a->ends;
    return !a->ends;
}

// The longest line that what is ahead begins with, or NULL.
static const struct sequence *find_sequence(cpu *c, struct ahead *a)
{
    struct lines l = {.low = sequences, .high = sequences + SEQUENCE_COUNT};
    const struct sequence *longest = NULL;
    for (unsigned n = 0;
         n < SEQUENCE_MAX && (n < a->count || look_ahead(c, a)) && compare_step(&l, a->ids[n], &a->ops[n]);
         n++)
        for (; l.low < l.high && !l.low->steps[n + 1]; l.low++)
            if (l.low->is_back == is_backward(a->ids[n], &a->ops[n]))
                longest = l.low;
    return longest;
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
        fault_raise(m->memory.pages[pc / GUEST_PAGE] & MEMORY_MAPPED ? FAULT_PERMISSION : FAULT_MAPPING, pc,
                    false);
    enum machine_dispatch mode = dispatch_mode(m->dispatch);
    enum dispatch_verdict verdict;
    struct ahead ahead = {.pc = pc, .count = 1};
    enum insn id = ahead.ids[0] = decode_at(c, pc, &ahead.ops[0], &verdict);
    const struct sequence *s = NULL;
    if (verdict == DISPATCH_FINE && mode != MACHINE_DISPATCH_LIVE && !m->loop_watch)
        s = find_sequence(c, &ahead);
    unsigned length = s ? sequence_length(s) : 1;
    handler_function *handler = s ? s->handler : choose_form(c, pc, id, &ahead.ops[0]);
    if (verdict == DISPATCH_FAULT) {
        handler = do_dispatch_fault;
    } else if (verdict == DISPATCH_MISNAMED || (mode == MACHINE_DISPATCH_LIVE && id != INSN_UNDEFINED)) {
        dispatch_remember(m->dispatch, pc, handler_offset(handler));
        handler = mode == MACHINE_DISPATCH_LIVE ? do_live : do_misnamed;
    }
    for (unsigned i = 1; i < length; i++) {
        ahead.ops[i].handler = o[i].handler;
        o[i] = ahead.ops[i];
    }
    ahead.ops[0].handler = handler_offset(handler);
    o[0] = ahead.ops[0];
    struct loop *loop = m->loops ? loops_find(m->loops, (uint32_t)pc) : NULL;
    if (loop && loop->installed && atomic_load_explicit(&loop->state, memory_order_acquire) == LOOP_EXAMINED)
        patch_loop(m, loop, o);
    if (m->loop_watch)
        watch_loops(m, pc, id);
}

// Handler 0: the op has not been decoded.
static op *decode_first(cpu *c, op *o, __attribute__((unused)) const char *code)
{
    decode_op(c, o);
    GO_ON(o);
}

#endif
