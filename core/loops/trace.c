// SPDX-License-Identifier: MIT
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "core/devices/devices.h"
#include "optimizer.h"

struct loop_trace *loop_trace_create(const struct guest *g, uint32_t header)
{
    struct loop_copy copy;
    const char *reason;
    struct loop_trace *t = NULL;
    if (g->loops && loops_copy(g->loops, header, &copy) && copy.body.pc == header)
        t = calloc(1, sizeof *t);
    if (t && !loop_summarize(&t->summary, header, copy.body.words, copy.body.length, &reason)) {
        loop_trace_destroy(t);
        t = NULL;
    }
    if (t)
        t->header = header;
    return t;
}

void loop_trace_destroy(struct loop_trace *t)
{
    free(t);
}

bool loop_trace_is_current(const struct loop_trace *t, struct memory *memory)
{
    const struct loop_summary *s = &t->summary;
    for (uint32_t pc = s->header; pc <= s->branch; pc += 4) {
        uint32_t word;
        if (!memory_read(memory, pc, &word, sizeof word) || word != s->words[(pc - s->header) / 4])
            return false;
    }
    return true;
}

// The state at an iteration's start.
struct state {
    const struct loop_summary *s;
    struct memory *memory;
    uint64_t vars[LOOP_VARS];
};

static uint64_t load(void *user, unsigned access, uint64_t address)
{
    const struct state *state = user;
    uint64_t value = 0;
    return memory_read(state->memory, address, &value, state->s->accesses[access].size) ? value : 0;
}

static uint64_t evaluate(struct state *state, unsigned node)
{
    const struct node *n = &state->s->nodes[node];
    return n->kind == NODE_CONSTANT ? n->value : loop_evaluate(state->s, node, state->vars, load, state);
}

// Most are linear in the registers, which is sooner computed than the node is evaluated.
static uint64_t address_of(struct state *state, const struct access *a)
{
    const struct linear *l = &a->base;
    uint64_t sum = l->constant;
    if ((a->shape != ACCESS_STREAM && a->shape != ACCESS_INVARIANT) || !l->valid || l->bits != 64)
        return evaluate(state, a->address);
    for (unsigned i = 0; i < l->count; i++) {
        if (l->var[i] >= LINEAR_LOAD)
            return evaluate(state, a->address);
        sum += (uint64_t)l->factor[i] * state->vars[l->var[i]];
    }
    return sum;
}

static bool has_left(struct state *state, unsigned access)
{
    const struct loop_summary *s = state->s;
    for (unsigned i = 0; i < s->exit_count; i++)
        if (s->exits[i].accesses_before <= access && evaluate(state, s->exits[i].condition))
            return true;
    return false;
}

void loop_trace_arrive(struct loop_trace *t, struct guest *g)
{
    const struct loop_summary *s = &t->summary;
    const uint64_t picture = devices_drawn_at(g->devices);
    struct state state = {.s = s, .memory = &g->memory};
    if (!picture)
        return;
    loop_start_vars(state.vars, &g->cpu);
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct access *a = &s->accesses[i];
        if (!a->is_store || !evaluate(&state, a->condition))
            continue;
        if (has_left(&state, i))
            break;
        uint64_t at = (address_of(&state, a) << 8 >> 8) - picture; // the top byte is ignored
        for (unsigned k = 0; k < a->size; k++)
            if (at + k < TRACE_PIXELS)
                t->written[at + k] = 1;
    }
}

void loop_trace_present(struct loop_trace *t)
{
    memcpy(t->shown, t->written, sizeof t->shown);
    memset(t->written, 0, sizeof t->written);
    t->frames += t->frames < 2;
}

bool loop_trace_is_whole(const struct loop_trace *t)
{
    return t->frames == 2;
}
