// SPDX-License-Identifier: MIT
// What reaches the guest from outside, as a log: written down while it happens, or read back in its place.
//
// A log is a list of records, each the answer to one question that the guest, or the host for it, asks at a
// defined point of the guest's run: the clock, with what is new in the ring of events and in the clock's
// mode; another number (a sleep cut short, the wall clock at the start). Between them stands the fingerprint
// of each presented frame, against which a replay is checked, and at the end how the program ended. Since
// there is a record for each question and no other place where anything gets in, the points need no numbers,
// and a log holds for every engine. Clock values are differences, counted from 0 again after each frame: a
// log can be cut behind any frame, and goes on from there.
//
// Emulation thread only.
#ifndef CORE_DEVICES_INPUT_LOG_H
#define CORE_DEVICES_INPUT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/device_page.h"

enum input_mode {
    INPUT_LIVE, // nothing is written down
    INPUT_RECORDED,
    INPUT_REPLAYED,
    INPUT_DIVERGED, // the guest did something else than in the recording: why says what
};

struct input_log {
    enum input_mode mode;
    uint64_t clock; // last value, of this frame
    // Recorded: bytes[0..size), on the heap.
    uint8_t *bytes;
    size_t size, room;
    bool ended; // nothing comes any more
    // Replayed: from[at..end), somebody else's; then, if there is more, what that fetches. It waits for it.
    const uint8_t *from;
    size_t at, end;
    bool (*more)(void *user, const void **log, size_t *size); // see machine_config.more_input
    void *user;
    uint64_t waited_ns, waited_cpu_ns; // for more; whoever counts that sets it back
    uint64_t frame; // number of the last one
    char why[160];
};

// What there is at a point where the clock is looked at.
struct input_point {
    uint64_t clock_ns;
    uint32_t clock_mode; // enum device_clock_mode
    bool has_input; // else the mode is as it was, and there are no events
    unsigned count;
    struct device_event events[DEVICE_EVENTS];
};

// Each takes what there is, and writes it down or puts what was written down in its place.
void input_take_point(struct input_log *log, struct input_point *point);
uint64_t input_take_number(struct input_log *log, uint64_t number); // below 2^62

// A frame has been presented. False: it was the last of a replayed log that does not reach to the program's
// end; the log is live from now on.
bool input_take_frame(struct input_log *log, uint64_t number, uint64_t fingerprint);
// The program has ended.
void input_take_end(struct input_log *log, uint32_t how);

// How far a log reaches.
struct input_extent {
    size_t size; // bytes up to the last frame, or the end
    uint64_t frames;
    bool to_end; // the program's end is in it
};
// Measures a log up to its frame number most, or to the last whole one. False: it makes no sense.
bool input_measure(const uint8_t *log, size_t size, uint64_t most, struct input_extent *extent);

#endif
