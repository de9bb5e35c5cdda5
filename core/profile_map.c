// SPDX-License-Identifier: MIT
#include "profile_map.h"

#include <stdlib.h>
#include <string.h>

#include "core/isa/isa.h"

enum {
    LENGTH_MAX = 1 << 14, // instructions of a function that are looked at
    STUB_LENGTH = 4, // of a jump by a table
};

// Where an instruction calls, or jumps out of its function.
struct way {
    uint32_t to;
    bool is_call, is_computed; // the latter: to is not known
};

struct function {
    char *name; // NULL: none
    uint32_t start, length; // length in instructions
    bool current; // its code is still that
    uint32_t *words; // its code; NULL: that could not be read
    struct profile_frames *frames; // in front of each instruction; NULL as well
    struct way *ways; // all that it has, so that no sample need decode the function
    unsigned way_count;
    struct {
        uint32_t header, branch; // indices
    } * loops;
    unsigned loop_count;
    uint16_t *loop_of; // of each instruction: 1 + the index of its smallest loop, 0 = none; NULL: no loops
};

struct profile_map {
    struct guest *guest;
    struct function *functions;
    size_t count, room;
    size_t last; // that was found last; count: none
};

struct profile_map *profile_map_create(struct guest *g)
{
    struct profile_map *m = calloc(1, sizeof *m);
    if (m)
        m->guest = g;
    return m;
}

void profile_map_destroy(struct profile_map *m)
{
    for (size_t i = 0; m && i < m->count; i++) {
        free(m->functions[i].name);
        free(m->functions[i].words);
        free(m->functions[i].frames);
        free(m->functions[i].ways);
        free(m->functions[i].loops);
        free(m->functions[i].loop_of);
    }
    if (m)
        free(m->functions);
    free(m);
}

void profile_map_forget(struct profile_map *m)
{
    for (size_t i = 0; i < m->count; i++)
        m->functions[i].current = false;
    m->last = m->count;
}

// ---- the flow within a function ----

static int32_t inside(int64_t index, uint32_t length)
{
    return index >= 0 && index < length ? (int32_t)index : -1;
}

static struct profile_step step_of(uint32_t word, uint32_t start, uint32_t index, uint32_t length)
{
    op o;
    enum insn id = isa_decode(word, start + index * 4, &o);
    struct profile_step s = {.next = inside((int64_t)index + 1, length), .target = -1};
    if (id == INSN_UNDEFINED || id == INSN_ret || id == INSN_brk) {
        s.next = -1;
    } else if (id == INSN_br) {
        s.next = -1;
        s.anywhere = true;
    } else if (isa_info[id].kind == KIND_CONDITION || (isa_info[id].kind == KIND_JUMP && id != INSN_bl)) {
        s.target = inside((int64_t)index + o.disp, length);
        if (isa_info[id].kind == KIND_JUMP)
            s.next = -1;
    }
    return s;
}

struct flow {
    const struct profile_step *steps;
    uint32_t first, last; // the part that is looked at
    bool *reached; // from first, without leaving that part
    bool everywhere; // all of it is, by a switch
    bool *returns; // to first
};

static bool reach(struct flow *f, int32_t to)
{
    if (to < (int32_t)f->first || to > (int32_t)f->last || f->reached[to])
        return false;
    f->reached[to] = true;
    return true;
}

static bool reach_from(struct flow *f, uint32_t i)
{
    bool more = reach(f, f->steps[i].next) | reach(f, f->steps[i].target);
    if (f->steps[i].anywhere && !f->everywhere) {
        memset(f->reached + f->first, true, f->last - f->first + 1);
        f->everywhere = more = true;
    }
    return more;
}

static bool leads_back(const struct flow *f, int32_t to)
{
    return to == (int32_t)f->first || (to > (int32_t)f->first && to <= (int32_t)f->last && f->returns[to]);
}

// Finds which instructions of the part can be come to from its first, and lead back there.
static void find_ways(struct flow *f)
{
    memset(f->reached + f->first, 0, f->last - f->first + 1);
    memset(f->returns + f->first, 0, f->last - f->first + 1);
    f->reached[f->first] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = f->first; i <= f->last; i++)
            more |= f->reached[i] && reach_from(f, i);
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = f->last + 1; i-- > f->first;) {
            const struct profile_step *s = &f->steps[i];
            if (f->returns[i] || !(s->anywhere || leads_back(f, s->next) || leads_back(f, s->target)))
                continue;
            f->returns[i] = more = true;
        }
    }
}

// ---- loops ----

// The last branch in the function that goes back to header, or -1.
static int64_t last_branch_to(const struct profile_step *steps, uint32_t length, uint32_t header)
{
    int64_t last = -1;
    for (uint32_t i = header; i < length; i++)
        if (steps[i].target == (int32_t)header)
            last = i;
    return last;
}

static void add_loop(struct function *f, const struct flow *flow, uint32_t *sizes)
{
    uint32_t size = 0;
    for (uint32_t i = flow->first; i <= flow->last; i++)
        size += flow->reached[i] && flow->returns[i];
    void *more =
        f->loop_count < UINT16_MAX ? realloc(f->loops, (f->loop_count + 1) * sizeof *f->loops) : NULL;
    if (!more)
        return;
    f->loops = more;
    f->loops[f->loop_count].header = flow->first;
    f->loops[f->loop_count].branch = flow->last;
    f->loop_count++;
    for (uint32_t i = flow->first; i <= flow->last; i++) {
        if (!flow->reached[i] || !flow->returns[i] || size >= sizes[i])
            continue;
        sizes[i] = size;
        f->loop_of[i] = (uint16_t)f->loop_count;
    }
}

static void find_loops(struct function *f, const struct profile_step *steps)
{
    uint32_t *sizes = malloc(f->length * sizeof *sizes);
    bool *marks = malloc(2 * f->length);
    f->loop_of = calloc(f->length, sizeof *f->loop_of);
    bool good = sizes && marks && f->loop_of;
    for (uint32_t i = 0; good && i < f->length; i++)
        sizes[i] = UINT32_MAX;
    bool *is_header = good ? calloc(f->length, 1) : NULL;
    for (uint32_t i = 0; is_header && i < f->length; i++)
        if (steps[i].target >= 0 && steps[i].target <= (int32_t)i)
            is_header[steps[i].target] = true;
    for (uint32_t i = 0; is_header && i < f->length; i++) {
        if (!is_header[i])
            continue;
        struct flow flow = {.steps = steps,
                            .first = i,
                            .last = (uint32_t)last_branch_to(steps, f->length, i),
                            .reached = marks,
                            .returns = marks + f->length};
        find_ways(&flow);
        if (flow.reached[flow.last])
            add_loop(f, &flow, sizes);
    }
    free(sizes);
    free(marks);
    free(is_header);
}

// ---- functions ----

static bool is_inside(const struct function *f, uint32_t pc)
{
    return f->name && pc >= f->start && (pc - f->start) / 4 < f->length;
}

static bool way_of(const struct function *f, uint32_t index, struct way *way)
{
    op o;
    const enum insn id = isa_decode(f->words[index], f->start + index * 4, &o);
    const enum insn_kind kind = isa_info[id].kind;
    *way = (struct way){.is_call = id == INSN_bl || id == INSN_blr,
                        .is_computed = id == INSN_blr || id == INSN_br};
    if (way->is_computed)
        return way->is_call || profile_frames_are_callers(&f->frames[index]); // else it is a switch
    way->to = f->start + (index + (uint32_t)o.disp) * 4;
    return (kind == KIND_JUMP || kind == KIND_CONDITION) &&
           (way->is_call || way->to == f->start || !is_inside(f, way->to));
}

// Without memory there are none.
static void find_ways_out(struct function *f)
{
    struct way way;
    unsigned count = 0;
    for (uint32_t i = 0; i < f->length; i++)
        count += way_of(f, i, &way);
    f->ways = count ? malloc(count * sizeof *f->ways) : NULL;
    for (uint32_t i = 0; f->ways && i < f->length; i++)
        if (way_of(f, i, &way))
            f->ways[f->way_count++] = way;
}

static void look_at_code(struct profile_map *m, struct function *f)
{
    struct profile_step *steps = f->length ? malloc(f->length * sizeof *steps) : NULL;
    free(f->words);
    free(f->frames);
    free(f->ways);
    free(f->loops);
    free(f->loop_of);
    f->words = f->length ? malloc(f->length * sizeof *f->words) : NULL;
    f->frames = f->length ? malloc(f->length * sizeof *f->frames) : NULL;
    f->ways = NULL;
    f->loops = NULL;
    f->loop_of = NULL;
    f->loop_count = f->way_count = 0;
    f->current = true;
    if (steps && f->frames && f->words &&
        memory_read(&m->guest->memory, f->start, f->words, f->length * sizeof *f->words)) {
        for (uint32_t i = 0; i < f->length; i++)
            steps[i] = step_of(f->words[i], f->start, i, f->length);
        find_loops(f, steps);
        profile_frames_find(f->words, steps, f->length, f->frames);
        find_ways_out(f);
    } else {
        free(f->words);
        f->words = NULL;
    }
    free(steps);
}

static uint32_t length_of(const struct guest *g, const char *name, uint32_t start)
{
    uint32_t length = 0;
    uint64_t offset;
    if (!name)
        return GUEST_PAGE / 4;
    while (length < LENGTH_MAX && g->host->symbol(g, start + length * 4, &offset) && offset == length * 4)
        length++;
    return length;
}

static bool is_same(const struct function *f, const char *name, uint32_t start)
{
    return f->start == start && (name ? f->name && strcmp(f->name, name) == 0 : !f->name);
}

static struct function *function_at(struct profile_map *m, uint32_t pc)
{
    if (m->last < m->count && is_inside(&m->functions[m->last], pc))
        return &m->functions[m->last];
    uint64_t offset = pc % GUEST_PAGE;
    const char *name = m->guest->host->symbol(m->guest, pc, &offset);
    uint32_t start = name ? pc - (uint32_t)offset : pc & ~(uint32_t)(GUEST_PAGE - 1);
    for (size_t i = 0; i < m->count; i++)
        if (is_same(&m->functions[i], name, start))
            return &m->functions[m->last = i];
    if (m->count == m->room) {
        size_t room = m->room ? 2 * m->room : 64;
        void *more = realloc(m->functions, room * sizeof *m->functions);
        if (!more)
            return NULL;
        m->functions = more;
        m->room = room;
    }
    struct function *f = &m->functions[m->count];
    *f = (struct function){.start = start, .length = length_of(m->guest, name, start)};
    if (name && !(f->name = strdup(name)))
        return NULL;
    m->last = m->count++;
    return f;
}

// The function at pc, whose code has been looked at, or NULL without memory.
static struct function *current_at(struct profile_map *m, uint32_t pc)
{
    struct function *f = function_at(m, pc);
    if (f && !f->current)
        look_at_code(m, f);
    return f;
}

// One with a name, of whose code pc is a part and is known; else NULL.
static const struct function *known_at(struct profile_map *m, uint32_t pc)
{
    const struct function *f = current_at(m, pc);
    return f && f->words && is_inside(f, pc) ? f : NULL;
}

unsigned profile_map_frames(struct profile_map *m, uint32_t pc, unsigned count, struct profile_frame *frames,
                            unsigned room)
{
    const struct function *f = known_at(m, pc);
    unsigned found = 0;
    bool straight = true;
    for (uint32_t i = f ? (pc - f->start) / 4 : 0; f && straight && count-- && i < f->length; i++) {
        op o;
        for (unsigned k = 0; k < f->frames[i].count; k++)
            profile_frame_add(frames, &found, room, f->frames[i].of[k]);
        straight = isa_info[isa_decode(f->words[i], 0, &o)].kind == KIND_OP;
    }
    return found;
}

static enum insn insn_at(struct profile_map *m, uint32_t pc, op *o)
{
    const struct function *f = known_at(m, pc);
    uint32_t word;
    if (f)
        return isa_decode(f->words[(pc - f->start) / 4], pc, o);
    return memory_read(&m->guest->memory, pc, &word, sizeof word) ? isa_decode(word, pc, o) : INSN_UNDEFINED;
}

// Whether what begins at pc, which is no function, jumps at once to what it finds in a table.
static bool is_stub(struct profile_map *m, uint32_t pc)
{
    op o;
    for (unsigned i = 0; i < STUB_LENGTH; i++)
        if (insn_at(m, pc + i * 4, &o) == INSN_br)
            return true;
    return false;
}

// Whether one of the ways, calls or jumps, leads to the function that starts at to, or may, or is to one that
// jumps on there.
static bool lead_to(struct profile_map *m, const struct way *ways, unsigned count, bool by_calls, uint32_t to,
                    unsigned hops)
{
    for (unsigned i = 0; i < count; i++)
        if (ways[i].is_call == by_calls && (ways[i].is_computed || ways[i].to == to ||
                                            (hops && profile_map_passes_on(m, ways[i].to, to, hops))))
            return true;
    return false;
}

bool profile_map_passes_on(struct profile_map *m, uint32_t pc, uint32_t to, unsigned hops)
{
    const struct function *f = known_at(m, pc);
    return f && f->start == pc ? lead_to(m, f->ways, f->way_count, false, to, hops - 1) : is_stub(m, pc);
}

bool profile_map_calls(struct profile_map *m, uint32_t pc, uint32_t to, unsigned hops)
{
    const struct function *f = known_at(m, pc);
    return f && lead_to(m, f->ways, f->way_count, true, to, hops);
}

enum profile_call profile_map_call_at(struct profile_map *m, uint32_t pc, uint32_t *target)
{
    op o;
    enum insn id = insn_at(m, pc, &o);
    *target = id == INSN_bl ? pc + (uint32_t)o.disp * 4 : 0;
    return id == INSN_bl ? PROFILE_CALL : id == INSN_blr ? PROFILE_CALL_COMPUTED : PROFILE_NO_CALL;
}

struct profile_place profile_map_find(struct profile_map *m, uint32_t pc)
{
    const struct function *f = current_at(m, pc);
    if (!f)
        return (struct profile_place){0};
    struct profile_place place = {.function = f->name, .start = f->start};
    uint32_t index = (pc - f->start) / 4;
    unsigned loop = f->loop_of && index < f->length ? f->loop_of[index] : 0;
    if (loop) {
        place.header = f->start + f->loops[loop - 1].header * 4;
        place.branch = f->start + f->loops[loop - 1].branch * 4;
    }
    return place;
}
