// SPDX-License-Identifier: MIT
#include "loop_label.h"

#include "core/loops/prove/prove.h"
#include "core/loops/propose/loop_code.h"

const char *const label_verdict_names[LABEL_VERDICTS] = {
    [LABEL_GOOD] = "good",
    [LABEL_TOO_LONG] = "too long",
    [LABEL_NO_LOOP] = "no inner loop",
    [LABEL_NO_CALL] = "no call left",
    [LABEL_OTHER_SHAPE] = "not of this shape",
    [LABEL_NO_CLASS] = "class not known",
    [LABEL_OTHER_CLASS] = "another class by its summary",
    [LABEL_NO_TYPE] = "exits not understood",
    [LABEL_UNCLEAR] = "not clear",
};

static int64_t evaluate(const struct linear *l, const uint64_t *x)
{
    uint64_t sum = l->constant;
    for (unsigned i = 0; i < l->count; i++)
        sum += l->var[i] < 32 ? (uint64_t)l->factor[i] * x[l->var[i]] : 0;
    return l->bits == 32 ? (int32_t)sum : (int64_t)sum;
}

// The register that an exit's counter is made of; 31 if there is none. up: whether it grows.
static unsigned counter_of(const struct loop_summary *s, const struct loop_exit *exit, const uint64_t *x,
                           bool *up)
{
    *up = evaluate(&exit->step, x) > 0;
    for (unsigned i = 0; i < exit->start.count; i++) {
        unsigned v = exit->start.var[i];
        int64_t step = v < 31 && s->vars[v].shape == VAR_AFFINE ? evaluate(&s->vars[v].step, x) : 0;
        if (step != 0) {
            *up = step > 0;
            return v;
        }
    }
    return 31;
}

static bool hangs_on_load(const struct loop_summary *s, unsigned node)
{
    bool needed[SUMMARY_NODES] = {false};
    needed[node] = true;
    for (unsigned i = node + 1; i-- > 0;) {
        const struct node *n = &s->nodes[i];
        if (!needed[i] || n->kind == NODE_CONSTANT || n->kind == NODE_VAR)
            continue;
        if (n->kind == NODE_LOAD)
            return true;
        needed[n->a] = true;
        if (n->kind < NODE_ZEXT)
            needed[n->b] = true;
        if (n->kind == NODE_SELECT)
            needed[n->c] = true;
    }
    return false;
}

// How the shape sees an exit that has no closed form in the summary; DATA if it sees several there.
static struct shape_exit seen_in_shape(const struct loop_shape *shape, const struct loop_summary *s,
                                       const struct loop_exit *exit)
{
    struct shape_exit seen = {0};
    unsigned found = 0;
    for (unsigned i = 0; i < shape->exit_count; i++)
        if (shape->exits[i].pc == exit->pc) {
            seen = shape->exits[i];
            found++;
        }
    bool fixed = seen.kind == SHAPE_EXIT_FIXED && hangs_on_load(s, exit->condition);
    return found == 1 && !fixed ? seen : (struct shape_exit){.kind = SHAPE_EXIT_DATA, .counter = 31};
}

// False if an exit is counted by nothing that moves, or none counts or hangs on anything. Where ways through
// the body meet, or a counter is narrower than a register, the summary may have no closed form; then the
// shape tells.
static bool exits_of(const struct loop_summary *s, const struct loop_shape *shape, struct loop_sample *sample)
{
    bool data = false, found = false, up = false;
    sample->counter = 31;
    for (unsigned i = 0; i < s->exit_count; i++) {
        const struct loop_exit *exit = &s->exits[i];
        struct shape_exit seen = seen_in_shape(shape, s, exit);
        bool counted = exit->counted || seen.kind == SHAPE_EXIT_UP || seen.kind == SHAPE_EXIT_DOWN;
        if (exit->counted && (!exit->step.valid || evaluate(&exit->step, sample->body.x) == 0))
            return false;
        data |= !counted && seen.kind != SHAPE_EXIT_FIXED;
        if (!counted || (found && !exit->at_end))
            continue;
        found = true;
        up = seen.kind == SHAPE_EXIT_UP;
        sample->counter = exit->counted ? counter_of(s, exit, sample->body.x, &up) : seen.counter;
    }
    sample->counted = !data;
    sample->type = data ? LOOP_TYPE_DATA : up ? LOOP_TYPE_UP : LOOP_TYPE_DOWN;
    return data || found;
}

// A summary shows OTHER if it shows no class at all, and MAP where it does not see through a look-up's index
// or that the elements that are exchanged are neighbours.
static bool agree(enum loop_class shown, enum loop_class said)
{
    return shown == said || shown == LOOP_OTHER ||
           (shown == LOOP_MAP && (said == LOOP_COLUMN || said == LOOP_SPAN || said == LOOP_SORT_PASS));
}

// Whether a loop of which no summary shows a class is of none: it stores other things than it has loaded, as
// no exchange does, and its shape excludes all other classes, but for MAP, which a summary would have shown.
static bool is_of_no_kind(const struct loop_shape *shape, bool summarized)
{
    if (!shape->stores || shape->copy_stores == shape->stores || loop_shape_allows(shape, LOOP_LIST_WALK))
        return false;
    if (!summarized && !shape->same_stores)
        return false; // of values chosen by a comparison, maybe
    for (unsigned c = 0; c < LOOP_OTHER; c++)
        if (c != LOOP_SORT_PASS && !(summarized && c == LOOP_MAP) && loop_shape_allows(shape, c))
            return false;
    return true;
}

// The class that the code shows by itself, LOOP_CLASSES if none.
static enum loop_class shown_class(const struct loop_shape *shape, const struct loop_summary *summary)
{
    enum loop_class class = summary ? prove_class(summary) : LOOP_OTHER;
    if (shape->calls)
        return LOOP_NONE;
    if (class == LOOP_OTHER)
        return is_of_no_kind(shape, summary) ? LOOP_OTHER : LOOP_CLASSES;
    return loop_shape_allows(shape, class) ? class : LOOP_CLASSES;
}

enum label_verdict loop_label(struct loop_sample *sample, uint32_t header, const uint32_t *words,
                              unsigned length)
{
    static struct loop_summary summary;
    const char *reason;
    struct loop_shape shape;
    loop_shape_of(header, words, length, &shape);
    if (!shape.loops || shape.inner)
        return LABEL_NO_LOOP;
    if (shape.returns && !shape.calls)
        return LABEL_NO_TYPE;
    // For a summary a slot on the stack is memory like any other.
    bool known = !shape.calls && !shape.slots && length <= SUMMARY_BODY_MAX &&
                 loop_summarize(&summary, header, words, length, &reason);
    if (sample->class == LOOP_CLASSES &&
        (sample->class = shown_class(&shape, known ? &summary : NULL)) == LOOP_CLASSES)
        return LABEL_NO_CLASS;
    if (shape.calls)
        sample->class = LOOP_NONE;
    else if (sample->class == LOOP_NONE)
        return LABEL_NO_CALL;
    if (!loop_shape_allows(&shape, sample->class))
        return LABEL_OTHER_SHAPE;
    if (known) {
        if (!agree(prove_class(&summary), sample->class))
            return LABEL_OTHER_CLASS;
        return exits_of(&summary, &shape, sample) ? LABEL_GOOD : LABEL_NO_TYPE;
    }
    if (shape.type == LOOP_TYPE_NONE || shape.strange)
        return LABEL_NO_TYPE;
    sample->type = shape.type;
    sample->counter = shape.counter;
    sample->counted = shape.counted;
    return LABEL_GOOD;
}

// Other code may lie between where a branch starts and where it leads back to.
static bool is_one_piece(const uint32_t *words, unsigned length)
{
    bool reached[SHAPE_LENGTH_MOST] = {true}, more = true;
    while (more) {
        more = false;
        for (unsigned i = 0; i < length; i++) {
            struct code_insn insn;
            code_decode(words[i], &insn);
            bool jumps = insn.id == INSN_br || insn.id == INSN_ret;
            int to = insn.kind == CODE_BRANCH ? (int)i + insn.target : -1;
            if (!reached[i])
                continue;
            if (to >= 0 && to < (int)length && !reached[to])
                more = reached[to] = true;
            if (!jumps && (insn.kind != CODE_BRANCH || insn.conditional) && i + 1 < length && !reached[i + 1])
                more = reached[i + 1] = true;
        }
    }
    for (unsigned i = 0; i < length; i++)
        if (!reached[i])
            return false;
    return true;
}

bool loop_is_unclear(const struct loop_sample *sample, const uint32_t *words, unsigned length)
{
    struct loop_shape shape;
    bool calls = false;
    loop_shape_of(0x10000, words, length, &shape);
    for (unsigned i = 0; i < sample->body.length; i++) {
        struct code_insn insn;
        code_decode(sample->body.words[i], &insn);
        calls |= insn.kind == CODE_LEAVES;
    }
    return (sample->class == LOOP_NONE && !(calls && shape.comes_to_call)) || !is_one_piece(words, length);
}
