// SPDX-License-Identifier: MIT
// A record begins with a number, seven bits a byte, the lowest first, whose two lowest bits say what it is:
//   CLOCK   the rest is how far the clock has gone on
//   INPUT   so, and then: a byte, the clock's mode; a number, how many events; the events
//   NUMBER  the rest is that number
//   MARK    the rest is 0: a frame, and its fingerprint follows (8 bytes); else 1 + how the program ended
#include "input_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"

enum kind { CLOCK, INPUT, NUMBER, MARK, KINDS };
#define NUMBER_MOST 10 // bytes of 64 bits

// ---- writing ----

static void add(struct input_log *log, const void *bytes, size_t size)
{
    if (log->room - log->size < size) {
        log->room = 2 * log->room + size + 4096;
        log->bytes = realloc(log->bytes, log->room);
        if (!log->bytes)
            abort();
    }
    memcpy(log->bytes + log->size, bytes, size);
    log->size += size;
}

static void add_number(struct input_log *log, uint64_t number)
{
    uint8_t bytes[NUMBER_MOST];
    unsigned n = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[n++] = (uint8_t)(number | 0x80);
    bytes[n++] = (uint8_t)number;
    add(log, bytes, n);
}

static void add_record(struct input_log *log, enum kind kind, uint64_t value)
{
    add_number(log, value * KINDS + kind);
}

// ---- reading ----

struct reader {
    const uint8_t *at, *end;
};

static bool read_number(struct reader *r, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        uint8_t byte = *r->at++;
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

// A record as it is read: which of the members counts hangs on the kind.
struct record {
    enum kind kind;
    uint64_t value; // of a clock: the difference
    uint32_t clock_mode;
    uint64_t count;
    const uint8_t *events; // not aligned
    uint64_t fingerprint;
};

// False: there is no whole record, or none that makes sense.
static bool read_record(struct reader *r, struct record *record)
{
    uint64_t number;
    if (!read_number(r, &number))
        return false;
    record->kind = (enum kind)(number % KINDS);
    record->value = number / KINDS;
    size_t follow = 0;
    if (record->kind == INPUT) {
        if (r->at == r->end)
            return false;
        record->clock_mode = *r->at++;
        if (record->clock_mode > DEVICE_CLOCK_VIRTUAL || !read_number(r, &record->count) ||
            record->count > DEVICE_EVENTS)
            return false;
        record->events = r->at;
        follow = record->count * sizeof(struct device_event);
    } else if (record->kind == MARK && record->value == 0) {
        follow = sizeof record->fingerprint;
    }
    if ((size_t)(r->end - r->at) < follow)
        return false;
    if (record->kind == MARK && follow)
        memcpy(&record->fingerprint, r->at, follow);
    r->at += follow;
    return true;
}

bool input_measure(const uint8_t *log, size_t size, uint64_t most, struct input_extent *extent)
{
    struct reader r = {log, log + size};
    struct record record;
    *extent = (struct input_extent){0};
    while (extent->frames < most && !extent->to_end && r.at < r.end) {
        if (!read_record(&r, &record))
            return false;
        if (record.kind == MARK) {
            extent->size = (size_t)(r.at - log);
            extent->frames += record.value == 0;
            extent->to_end = record.value != 0;
        }
    }
    return !extent->to_end || r.at == r.end;
}

// ---- replaying ----

static void diverge(struct input_log *log, const char *what, const char *recorded)
{
    log->mode = INPUT_DIVERGED;
    snprintf(log->why, sizeof log->why, "before frame %" PRIu64 " the program %s; in the recording it %s",
             log->frame + 1, what, recorded);
}

// Behind the last piece of a log that is still being made: gets the next one.
static void fetch(struct input_log *log)
{
    const void *piece;
    size_t size;
    if (log->at < log->end || !log->more)
        return;
    uint64_t start = clock_monotonic_ns(), cpu = clock_thread_ns();
    if (log->more(log->user, &piece, &size)) {
        log->from = piece;
        log->at = 0;
        log->end = size;
    }
    log->waited_ns += clock_monotonic_ns() - start;
    log->waited_cpu_ns += clock_thread_ns() - cpu;
}

// The next record, which has to be of that kind; kind CLOCK stands for INPUT, too. False: it is not, and the
// log has diverged.
static bool next(struct input_log *log, enum kind kind, struct record *record)
{
    static const char *const doings[KINDS] = {
        [CLOCK] = "looked at its clock",
        [INPUT] = "took input",
        [NUMBER] = "slept or asked for the date",
        [MARK] = "presented it, or ended",
    };
    if (log->mode != INPUT_REPLAYED)
        return false;
    fetch(log);
    struct reader r = {log->from + log->at, log->from + log->end};
    if (!read_record(&r, record)) {
        diverge(log, doings[kind], "had ended");
        return false;
    }
    if (record->kind != kind && !(record->kind == INPUT && kind == CLOCK)) {
        diverge(log, doings[kind], doings[record->kind]);
        return false;
    }
    log->at = (size_t)(r.at - log->from);
    return true;
}

// ---- points ----

void input_take_point(struct input_log *log, struct input_point *point)
{
    struct record record;
    switch (log->mode) {
    case INPUT_LIVE: break;
    case INPUT_RECORDED:
        add_record(log, point->has_input ? INPUT : CLOCK, point->clock_ns - log->clock);
        if (point->has_input) {
            add(log, &(uint8_t){(uint8_t)point->clock_mode}, 1);
            add_number(log, point->count);
            add(log, point->events, point->count * sizeof *point->events);
        }
        log->clock = point->clock_ns;
        break;
    case INPUT_REPLAYED:
    case INPUT_DIVERGED:
        if (!next(log, CLOCK, &record))
            record = (struct record){.kind = CLOCK};
        log->clock += record.value;
        point->clock_ns = log->clock;
        point->has_input = record.kind == INPUT;
        point->count = 0;
        if (point->has_input) {
            point->clock_mode = record.clock_mode;
            point->count = (unsigned)record.count;
            memcpy(point->events, record.events, record.count * sizeof *point->events);
        }
        break;
    }
}

uint64_t input_take_number(struct input_log *log, uint64_t number)
{
    struct record record;
    if (log->mode == INPUT_RECORDED)
        add_record(log, NUMBER, number);
    else if (log->mode != INPUT_LIVE && next(log, NUMBER, &record))
        return record.value;
    return number;
}

bool input_take_frame(struct input_log *log, uint64_t number, uint64_t fingerprint)
{
    struct record record;
    log->clock = 0;
    log->frame = number;
    if (log->mode == INPUT_RECORDED) {
        add_record(log, MARK, 0);
        add(log, &fingerprint, sizeof fingerprint);
    } else if (next(log, MARK, &record)) {
        if (record.value != 0) {
            log->mode = INPUT_DIVERGED;
            snprintf(log->why, sizeof log->why,
                     "there is a frame %" PRIu64 "; in the recording the program ended", number);
        } else if (record.fingerprint != fingerprint) {
            log->mode = INPUT_DIVERGED;
            snprintf(log->why, sizeof log->why, "frame %" PRIu64 " is not the one that was recorded", number);
        }
        if (log->mode == INPUT_REPLAYED && log->at == log->end && !log->more) {
            log->mode = INPUT_LIVE;
            return false;
        }
    }
    return true;
}

void input_take_end(struct input_log *log, uint32_t how)
{
    struct record record;
    if (log->ended)
        return;
    log->ended = true;
    if (log->mode == INPUT_RECORDED)
        add_record(log, MARK, 1ull + how);
    else if (next(log, MARK, &record) && record.value != 1ull + how)
        diverge(log, "ended", record.value ? "ended in another way" : "went on");
}
