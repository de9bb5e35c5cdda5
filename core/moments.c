// SPDX-License-Identifier: MIT
// States of the last seconds. Each moment holds, packed, what leads from it to the one before: the pages that
// differ, and the rest of the state.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "core/devices/devices.h"
#include "core/state/journal.h"
#include "core/state/memory_state.h"
#include "machine_internal.h"

#define LEVEL 1 // of zstd: time counts
#define SCRATCH_KEPT (2u << 20) // bytes

struct moment {
    void *packed; // NULL: nothing leads further back
    size_t size; // of it
    size_t raw; // unpacked
};

struct moments {
    size_t limit;
    uint64_t first, last; // numbers; none if first is the larger
    struct moment *list; // of first to last
    size_t room;
    size_t packed; // bytes of all of them
    struct saved rest; // of the newest, not packed
    struct saved scratch;
    ZSTD_CCtx *packer;
    ZSTD_DCtx *unpacker;
};

static size_t count_of(const struct moments *k)
{
    return (size_t)(k->last + 1 - k->first);
}

// ---- life ----

static void forget(struct moments *k, struct moment *moment)
{
    free(moment->packed);
    k->packed -= moment->size;
    *moment = (struct moment){0};
}

static void forget_all(struct moments *k)
{
    for (size_t i = 0; i < count_of(k); i++)
        forget(k, &k->list[i]);
    k->first = k->last + 1;
}

void moments_destroy(machine *m)
{
    struct moments *k = m->moments;
    if (!k)
        return;
    forget_all(k);
    free(k->list);
    free(k->rest.data);
    free(k->scratch.data);
    ZSTD_freeCCtx(k->packer);
    ZSTD_freeDCtx(k->unpacker);
    free(k);
    m->moments = NULL;
}

static size_t bytes_of(const machine *m)
{
    const struct moments *k = m->moments;
    const struct journal *j = m->guest.memory.journal;
    return k->packed + k->rest.room + k->scratch.room + k->room * sizeof *k->list +
           (j ? j->held * GUEST_PAGE : 0);
}

// The oldest go, but never the newest.
static void trim(machine *m)
{
    struct moments *k = m->moments;
    size_t gone = 0, count = count_of(k);
    for (; gone + 1 < count && bytes_of(m) > k->limit; gone++) {
        forget(k, &k->list[gone]);
        forget(k, &k->list[gone + 1]);
    }
    memmove(k->list, k->list + gone, (count - gone) * sizeof *k->list);
    k->first += gone;
}

bool machine_keep_moments(machine *m, size_t limit, struct error *error)
{
    if (limit == 0) {
        moments_destroy(m);
        journal_end(&m->guest.memory);
        return true;
    }
    if (!m->moments) {
        struct moments *k = m->moments = calloc(1, sizeof *k);
        if (k) {
            k->packer = ZSTD_createCCtx();
            k->unpacker = ZSTD_createDCtx();
            k->first = 1;
        }
        if (!k || !k->packer || !k->unpacker) {
            moments_destroy(m);
            return error_set(error, "there is not enough memory to keep moments");
        }
        ZSTD_CCtx_setParameter(k->packer, ZSTD_c_compressionLevel, LEVEL);
    }
    m->moments->limit = limit;
    way_back_deny(m); // the journal is for moments now
    if (count_of(m->moments))
        trim(m);
    return true;
}

void machine_get_moments(const machine *m, struct machine_moments *moments)
{
    *moments = (struct machine_moments){0};
    if (m->moments && count_of(m->moments))
        *moments = (struct machine_moments){m->moments->first, m->moments->last, bytes_of(m)};
}

// ---- a new one ----

// In front of a moment's differences.
struct moment_header {
    uint32_t rest_size; // of the moment before
    uint32_t is_difference; // to that of this one, which is as long
};

static void rewind_scratch(struct saved *s)
{
    if (s->room > SCRATCH_KEPT) {
        free(s->data);
        *s = saved_writer();
    }
    s->size = s->at = 0;
    s->failed = s->loading = false;
}

static void exclusive_or(uint8_t *to, const uint8_t *with, size_t size)
{
    size_t i = 0;
    for (uint64_t a, b; i + sizeof a <= size; i += sizeof a) {
        memcpy(&a, to + i, sizeof a);
        memcpy(&b, with + i, sizeof b);
        a ^= b;
        memcpy(to + i, &a, sizeof a);
    }
    for (; i < size; i++)
        to[i] ^= with[i];
}

static void write_rest(struct saved *s, const struct saved *before, const struct saved *now)
{
    struct moment_header header = {(uint32_t)before->size, before->size == now->size};
    SAVED(s, header);
    uint8_t *to = saved_extend(s, before->size);
    if (!to)
        return;
    memcpy(to, before->data, before->size);
    if (header.is_difference)
        exclusive_or(to, now->data, now->size);
}

static bool pack(struct moments *k, struct moment *moment)
{
    size_t bound = ZSTD_compressBound(k->scratch.size);
    uint8_t *packed = malloc(bound);
    size_t size = packed ? ZSTD_compress2(k->packer, packed, bound, k->scratch.data, k->scratch.size) : 0;
    if (!packed || ZSTD_isError(size)) {
        free(packed);
        return false;
    }
    void *smaller = realloc(packed, size);
    *moment = (struct moment){smaller ? smaller : packed, size, k->scratch.size};
    return true;
}

static bool grow(struct moments *k)
{
    if (count_of(k) < k->room)
        return true;
    size_t room = k->room ? 2 * k->room : 256;
    struct moment *list = realloc(k->list, room * sizeof *list);
    if (!list)
        return false;
    k->list = list;
    k->room = room;
    return true;
}

// Whether what has happened since the newest moment is known.
static bool has_way_back(const machine *m)
{
    const struct journal *j = m->guest.memory.journal;
    return count_of(m->moments) && j && j->copies && !j->lost;
}

// Makes the moment that rest is the rest of.
static bool add(machine *m, struct saved *rest, struct error *error)
{
    struct guest *g = &m->guest;
    struct moments *k = m->moments;
    struct moment moment = {0};
    if (has_way_back(m)) {
        rewind_scratch(&k->scratch);
        write_rest(&k->scratch, &k->rest, rest);
        journal_write(&g->memory, &k->scratch);
        if (k->scratch.failed || !pack(k, &moment))
            return error_set(error, "there is not enough memory for a moment");
    } else {
        forget_all(k);
        if (!memory_check_shared(&g->memory, g->config.device ? devices_fd(g->devices) : -1, error))
            return false;
    }
    if (!grow(k) || !journal_begin(&g->memory)) {
        free(moment.packed);
        journal_end(&g->memory);
        return error_set(error, "the host denied the protection of the program's memory");
    }
    k->last++;
    k->list[k->last - k->first] = moment;
    k->packed += moment.size;
    free(k->rest.data);
    k->rest = *rest;
    *rest = saved_writer();
    trim(m);
    return true;
}

uint64_t machine_add_moment(machine *m, struct error *error)
{
    struct saved rest = saved_writer();
    bool good = m->moments || error_set(error, "no moments are kept");
    if (good) {
        machine_save_rest(m, &rest);
        good = !rest.failed || error_set(error, "%s", rest.error.text);
    }
    good = good && add(m, &rest, error);
    free(rest.data);
    return good ? m->moments->last : 0;
}

// ---- back ----

// Unpacks the first size bytes into the scratch.
static bool unpack(struct moments *k, const struct moment *moment, size_t size)
{
    rewind_scratch(&k->scratch);
    uint8_t *to = saved_extend(&k->scratch, size);
    ZSTD_inBuffer in = {moment->packed, moment->size, 0};
    ZSTD_outBuffer out = {to, size, 0};
    if (!to)
        return false;
    ZSTD_DCtx_reset(k->unpacker, ZSTD_reset_session_only);
    while (out.pos < out.size) {
        size_t before = out.pos + in.pos;
        if (ZSTD_isError(ZSTD_decompressStream(k->unpacker, &out, &in)) || out.pos + in.pos == before)
            return false;
    }
    k->scratch.loading = true;
    return true;
}

// Turns the rest of a moment into that of the one before.
static bool step_rest(struct moments *k, const struct moment *moment, struct saved *rest)
{
    struct moment_header header;
    if (!unpack(k, moment, sizeof header))
        return false;
    memcpy(&header, k->scratch.data, sizeof header);
    if (!unpack(k, moment, sizeof header + header.rest_size))
        return false;
    uint8_t *old = k->scratch.data + sizeof header;
    if (header.is_difference) {
        exclusive_or(rest->data, old, rest->size);
        return true;
    }
    rest->size = 0;
    uint8_t *to = saved_extend(rest, header.rest_size);
    if (to)
        memcpy(to, old, header.rest_size);
    return to;
}

// The rest of the moment, on the heap.
static bool find_rest(struct moments *k, uint64_t moment, struct saved *rest)
{
    *rest = saved_writer();
    uint8_t *to = saved_extend(rest, k->rest.size);
    if (!to)
        return false;
    memcpy(to, k->rest.data, k->rest.size);
    for (uint64_t i = k->last; i > moment; i--)
        if (!step_rest(k, &k->list[i - k->first], rest))
            return false;
    return true;
}

// Brings memory back; false: it is half there.
static bool go_back(machine *m, uint64_t moment)
{
    struct moments *k = m->moments;
    struct memory *memory = &m->guest.memory;
    rewind_scratch(&k->scratch);
    journal_write(memory, &k->scratch);
    memory->journal->copies = false;
    k->scratch.loading = true;
    bool good = !k->scratch.failed && journal_apply(memory, &k->scratch);
    for (uint64_t i = k->last; good && i > moment; i--) {
        struct moment *from = &k->list[i - k->first];
        struct moment_header header;
        good = unpack(k, from, from->raw);
        if (good) {
            SAVED(&k->scratch, header);
            k->scratch.at += header.rest_size;
            good = journal_apply(memory, &k->scratch);
        }
        forget(k, from);
    }
    return good && journal_restart(memory);
}

bool machine_return_to(machine *m, uint64_t moment, struct error *error)
{
    struct moments *k = m->moments;
    struct saved rest;
    if (!k || moment < k->first || moment > k->last)
        return error_set(error, "moment %" PRIu64 " is not kept", moment);
    if (!has_way_back(m))
        return error_set(error, "the program has made other processes or shared memory since");
    if (!find_rest(k, moment, &rest)) {
        free(rest.data);
        return error_set(error, "there is not enough memory to go back");
    }
    struct saved reader = saved_reader(rest.data, rest.size);
    struct rest_plan *plan = machine_plan_rest(m, &reader);
    if (!plan) {
        free(rest.data);
        return error_set(error, "%s", reader.error.text);
    }
    bool good = go_back(m, moment);
    if (good)
        machine_load_rest(m, plan);
    else
        machine_free_rest(plan);
    k->last = moment;
    free(k->rest.data);
    k->rest = rest;
    return good || machine_break(m, error);
}

// ---- for another machine ----

// In front of the rest of the newest moment, and of the way back from each to the one before.
struct past_header {
    uint64_t first, last, rest_size;
};
struct past_step {
    uint64_t size, raw;
};

bool machine_save_moments(machine *m, uint64_t first, struct machine_bytes *bytes, struct error *error)
{
    struct moments *k = m->moments;
    *bytes = (struct machine_bytes){NULL, 0};
    if (!k || first < k->first || first > k->last)
        return error_set(error, "moment %" PRIu64 " is not kept", first);
    struct saved s = saved_writer();
    struct past_header header = {first, k->last, k->rest.size};
    SAVED(&s, header);
    saved_bytes(&s, k->rest.data, k->rest.size);
    for (uint64_t i = first + 1; i <= k->last; i++) {
        struct moment *moment = &k->list[i - k->first];
        struct past_step step = {moment->size, moment->raw};
        SAVED(&s, step);
        saved_bytes(&s, moment->packed, moment->size);
    }
    if (s.failed) {
        free(s.data);
        return error_set(error, "there is not enough memory to keep moments");
    }
    *bytes = (struct machine_bytes){s.data, s.size};
    return true;
}

// Takes the steps over; what is there already stays if that fails.
static bool read_steps(struct moments *k, const struct past_header *header, struct saved *s)
{
    for (uint64_t i = header->first; i <= header->last; i++) {
        struct past_step step = {0};
        struct moment moment = {0};
        if (i > header->first) {
            SAVED(s, step);
            moment = (struct moment){malloc(step.size), step.size, step.raw};
        }
        if (!grow(k) || (step.size && !moment.packed)) {
            free(moment.packed);
            return false;
        }
        if (moment.packed)
            saved_bytes(s, moment.packed, moment.size);
        k->list[i - header->first] = moment;
        k->packed += moment.size;
        k->last = i;
    }
    return !s->failed;
}

bool machine_load_moments(machine *m, const void *data, size_t size, struct error *error)
{
    struct moments *k = m->moments;
    struct saved s = saved_reader(data, size), rest = saved_writer();
    struct past_header header;
    if (!k || !machine_add_moment(m, error))
        return k || error_set(error, "no moments are kept");
    SAVED(&s, header);
    uint8_t *to = saved_extend(&rest, header.rest_size);
    if (to)
        saved_bytes(&s, to, header.rest_size);
    forget_all(k);
    k->first = header.first;
    k->last = header.first - 1;
    free(k->rest.data);
    k->rest = rest;
    return (to && read_steps(k, &header, &s)) ||
           error_set(error, "there is not enough memory to keep moments");
}

// ---- and forward ----

#define AHEAD_MOST 200000000u // instructions; a frame has a hundredth of that

bool machine_run_ahead(machine *m, unsigned frames, struct error *error)
{
    struct guest *g = &m->guest;
    const struct machine_stats stats = g->stats;
    uint64_t end = stats.retired + AHEAD_MOST;
    error_set(error, "%s", "");
    if (!m->moments || !m->moments->last || !g->config.device)
        return error_set(error, "no moments are kept");
    machine_publish(m);
    devices_run_ahead(g->devices);
    g->ahead = true;
    g->ahead_frames = (int)frames;
    while (g->ahead_frames > 0 && g->state == MACHINE_RUNNING && g->stats.retired < end)
        machine_run(m, end - g->stats.retired);
    bool shown = g->ahead_frames == 0;
    g->state = MACHINE_RUNNING; // it may have ended there, but not here
    bool good = machine_return_to(m, m->moments->last, error);
    if (!good && g->state == MACHINE_RUNNING)
        machine_break(m, error);
    g->ahead = false;
    g->stats.emulating_ns = stats.emulating_ns;
    g->stats.idle_ns = stats.idle_ns;
    return good && shown;
}
