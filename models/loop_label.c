// SPDX-License-Identifier: MIT
#include "loop_label.h"

#include "../core/loops/plan.h"
#include "loop_shape.h"

const char *const label_verdict_names[LABEL_VERDICTS] = {
    [LABEL_GOOD] = "good",
    [LABEL_NO_LOOP] = "no inner loop",
    [LABEL_NO_CALL] = "no call left",
    [LABEL_OTHER_SHAPE] = "not of this shape",
    [LABEL_OTHER_CLASS] = "another class by its summary",
    [LABEL_NO_TYPE] = "exits not understood",
};

static int64_t evaluate(const struct linear *l, const uint64_t *x)
{
    uint64_t sum = l->constant;
    for (unsigned i = 0; i < l->count; i++)
        sum += l->var[i] < 32 ? (uint64_t)l->factor[i] * x[l->var[i]] : 0;
    return l->bits == 32 ? (int32_t)sum : (int64_t)sum;
}

// The register that an exit's counter is made of; 31 if there is none.
static unsigned counter_of(const struct loop_summary *s, const struct loop_exit *exit, const uint64_t *x)
{
    for (unsigned i = 0; i < exit->start.count; i++) {
        unsigned v = exit->start.var[i];
        if (v < 31 && s->vars[v].shape == VAR_AFFINE && evaluate(&s->vars[v].step, x) != 0)
            return v;
    }
    return 31;
}

// False if an exit is counted by nothing that moves, or there is none.
static bool exits_of(const struct loop_summary *s, struct loop_sample *sample)
{
    const struct loop_exit *counted = NULL;
    unsigned others = 0;
    for (unsigned i = 0; i < s->exit_count; i++) {
        const struct loop_exit *exit = &s->exits[i];
        bool moves = exit->counted && exit->step.valid && evaluate(&exit->step, sample->body.x) != 0;
        if (exit->counted && !moves)
            return false;
        others += !exit->counted;
        if (moves && (!counted || exit->at_end))
            counted = exit;
    }
    if (s->exit_count == 0)
        return false;
    sample->counted = others == 0;
    sample->counter = counted ? counter_of(s, counted, sample->body.x) : 31;
    sample->type = others                                         ? LOOP_TYPE_DATA
                   : evaluate(&counted->step, sample->body.x) > 0 ? LOOP_TYPE_UP
                                                                  : LOOP_TYPE_DOWN;
    return true;
}

enum label_verdict loop_label(struct loop_sample *sample)
{
    static struct loop_summary summary;
    const struct loop_body *body = &sample->body;
    const char *reason;
    struct loop_shape shape;
    loop_shape_of(body, &shape);
    if (!shape.loops || shape.inner)
        return LABEL_NO_LOOP;
    if (shape.calls)
        sample->class = LOOP_NONE;
    else if (sample->class == LOOP_NONE)
        return LABEL_NO_CALL;
    if (!loop_shape_allows(&shape, sample->class))
        return LABEL_OTHER_SHAPE;
    if (!shape.calls && loop_summarize(&summary, body->pc, body->words, body->length, &reason)) {
        enum loop_class class = plan_class_of(&summary);
        if (class != LOOP_OTHER && class != sample->class)
            return LABEL_OTHER_CLASS;
        return exits_of(&summary, sample) ? LABEL_GOOD : LABEL_NO_TYPE;
    }
    if (shape.type == LOOP_TYPE_NONE || shape.strange)
        return LABEL_NO_TYPE;
    sample->type = shape.type;
    sample->counter = shape.counter;
    sample->counted = shape.counted;
    return LABEL_GOOD;
}
