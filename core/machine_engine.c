// SPDX-License-Identifier: MIT
// Which engine runs the guest: what the wishes of other threads change between two slices.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/engine/engine.h"
#include "core/engine/stencil/block.h"
#include "core/engine/translate/translate.h"
#include "core/linux/linux.h"
#include "core/loops/optimizer.h"
#include "core/loops/trace.h"
#include "machine_internal.h"

#ifdef TRANSLATE
#define FASTEST_ENGINE MACHINE_ENGINE_TRANSLATE
#else
#define FASTEST_ENGINE MACHINE_ENGINE_INTERP
#endif

const char *machine_engine_name(enum machine_engine engine)
{
    return engine == MACHINE_ENGINE_TRANSLATE ? "translate" : "interp";
}

bool machine_engine_by_name(const char *name, enum machine_engine *engine)
{
    *engine = strcmp(name, "translate") == 0 ? MACHINE_ENGINE_TRANSLATE : MACHINE_ENGINE_INTERP;
    return strcmp(name, machine_engine_name(*engine)) == 0 && *engine <= FASTEST_ENGINE;
}

const char *machine_engine_names(void)
{
    return FASTEST_ENGINE == MACHINE_ENGINE_TRANSLATE ? "interp, translate" : "interp";
}

enum machine_engine machine_default_engine(void)
{
    return FASTEST_ENGINE;
}

void machine_set_engine(machine *m, enum machine_engine engine)
{
    atomic_store_explicit(&m->engine, engine, memory_order_relaxed);
}

enum machine_engine machine_get_engine(const machine *m)
{
    return atomic_load_explicit(&m->engine, memory_order_relaxed);
}

// Without a translator, everything is interpreted.
static void start_translator(machine *m, bool precise)
{
    struct guest *g = &m->guest;
    struct error error;
    g->translator = translator_create(g, precise, &error);
    if (!g->translator) {
        guest_log(g, "the program is interpreted: %s", error.text);
        machine_set_engine(m, MACHINE_ENGINE_INTERP);
        g->translating = false;
        interp_decode_anew(g); // blocks count branches for the translator
    } else if (g->config.cache_folder && !g->verify) { // checking makes other code
        translate_load_cache(g->translator, g->config.cache_folder, linux_program(g->process),
                             &g->shared_history);
        struct machine_stats stats;
        translate_get_stats(g->translator, &stats);
        m->is_settled = stats.cached_regions > 0;
    }
}

// What is traced or counted, only the interpreter can.
static bool wants_translation(const machine *m)
{
    return machine_get_engine(m) == MACHINE_ENGINE_TRANSLATE && !m->guest.trace && !m->guest.counts;
}

// Follows machine_set_engine. The translator is started when it is first wanted.
static void switch_engine(machine *m)
{
    struct guest *g = &m->guest;
    g->translating = wants_translation(m);
    if (g->translating && !g->translator)
        start_translator(m, way_back_is_denied(m));
    if (g->stats.retired)
        interp_decode_anew(g); // as blocks or sequences
}

// Follows machine_trace_loop. Loops are looked at anew: the one that is traced runs plainly.
static void switch_trace(machine *m, uint32_t header)
{
    struct guest *g = &m->guest;
    if (g->loops)
        loops_uninstall(g->loops);
    if (g->trace)
        interp_patch_trace(g, false);
    loop_trace_destroy(g->trace);
    g->trace = header ? loop_trace_create(g, header) : NULL;
    m->trace_tried = header;
}

static void set_entering(machine *m, bool entering)
{
    struct guest *g = &m->guest;
    if (entering == g->entering)
        return;
    g->entering = entering;
    translate_set_entered(g->translator, entering);
}

bool machine_keeps_code(const machine *m)
{
    return m->guest.translator && translate_is_kept(m->guest.translator);
}

uint64_t machine_keep_code(machine *m)
{
    return m->guest.translator ? translate_keep(m->guest.translator) : 0;
}

void machine_leave_rest(machine *m, uint64_t interpreted_ns)
{
    if (interpreted_ns && m->guest.config.leave_rest)
        m->guest.config.leave_rest(m->guest.config.user, m->program[0] ? m->program : NULL, interpreted_ns);
}

static void stop_translator(machine *m)
{
    set_entering(m, false);
    translator_destroy(m->guest.translator);
    m->guest.translator = NULL;
}

// Follows machine_set_verify: translated code has its checks inside, the interpreter at the loop's header.
static void switch_verify(machine *m)
{
    struct guest *g = &m->guest;
    if (g->loops)
        loops_uninstall(g->loops);
    stop_translator(m);
    g->verify = !g->verify; // only now: the compile thread has looked at it
    if (g->translating)
        start_translator(m, way_back_is_denied(m));
}

void machine_translate_rest(machine *m)
{
    // What pays most comes first, and is kept before the rest is begun. Only a run tells whether the guest
    // needs precise code.
    for (unsigned all = 0; all < 2; all++) {
        for (unsigned precise = 0; precise < 2; precise++) {
            stop_translator(m);
            start_translator(m, precise);
            if (m->guest.translator)
                translate_rest(m->guest.translator, all);
        }
    }
}

bool machine_may_enter(const machine *m)
{
    return !way_back_is_denied(m) || translator_is_precise(m->guest.translator);
}

// Precise code serves every need: there is one change at most.
static void update_entering(machine *m)
{
    struct guest *g = &m->guest;
    if (g->translating && !machine_may_enter(m)) {
        stop_translator(m);
        start_translator(m, way_back_is_denied(m));
    }
    set_entering(m, g->translating && machine_may_enter(m));
}

// What is known of the new program, and kept, is another history. (What the old one leaves to be translated
// stays: nobody may have a child that it has not made.)
static void follow_program(machine *m)
{
    struct guest *g = &m->guest;
    g->program_is_new = false;
    char file[40];
    snprintf(file, sizeof file, "/proc/self/fd/%d", linux_program(g->process));
    const ssize_t length = readlink(file, m->program, sizeof m->program - 1);
    m->program[length > 0 ? length : 0] = '\0';
    if (!g->translator)
        return;
    stop_translator(m);
    start_translator(m, way_back_is_denied(m));
}

static bool blocks_are_used_up(const struct guest *g)
{
    return g->blocks && blocks_are_full(g->blocks);
}

static bool translator_is_used_up(const struct guest *g)
{
    return g->translator && translate_is_used_up(g->translator);
}

static bool has_to_renew(const struct guest *g)
{
    return blocks_are_used_up(g) || translator_is_used_up(g);
}

// Programs that make code go on making it, while memory for ours only fills up: now and then it begins anew.
static void renew_code(machine *m)
{
    struct guest *g = &m->guest;
    if (translator_is_used_up(g)) {
        stop_translator(m);
        start_translator(m, way_back_is_denied(m));
    }
    if (blocks_are_used_up(g)) {
        struct blocks *blocks = g->blocks;
        interp_decode_anew(g);
        g->blocks = NULL;
        blocks_destroy(blocks);
    }
}

static uint32_t trace_wanted(const machine *m)
{
    return atomic_load_explicit(&m->trace_wanted, memory_order_relaxed);
}

void machine_follow_engine(machine *m)
{
    struct guest *g = &m->guest;
    if (trace_wanted(m) != m->trace_tried)
        switch_trace(m, trace_wanted(m));
    if (g->program_is_new)
        follow_program(m);
    if (g->translating != wants_translation(m))
        switch_engine(m);
    if (g->verify != machine_get_verify(m))
        switch_verify(m);
    if (has_to_renew(g))
        renew_code(m);
    way_back_keep(m);
    update_entering(m);
}

bool machine_wants_engine(const machine *m)
{
    const struct guest *g = &m->guest;
    return trace_wanted(m) != m->trace_tried || g->program_is_new || g->translating != wants_translation(m) ||
           g->verify != machine_get_verify(m) || has_to_renew(g) || way_back_is_due(m) ||
           !machine_may_enter(m);
}
