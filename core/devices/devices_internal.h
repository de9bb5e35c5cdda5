// SPDX-License-Identifier: MIT
// The inside of the devices, for the files of this folder.
#ifndef CORE_DEVICES_DEVICES_INTERNAL_H
#define CORE_DEVICES_DEVICES_INTERNAL_H

#include <pthread.h>

#include "devices.h"
#include "guest/device_page.h"
#include "input_log.h"

// The guest's last look at its clock; emulation thread.
struct look {
    uint64_t millisecond; // of the guest's time
    uint64_t system_calls, instructions; // so far
    uint32_t events; // put into the ring so far
};

struct devices {
    int fd; // the page's memfd, -1 without a device
    struct device_page *page;
    bool hears; // somebody takes the sound
    uint32_t ring_head; // events put into the guest's ring so far; emulation thread
    uint32_t audio_tail; // samples taken from the guest's ring so far; emulation thread
    struct look look;
    struct input_log input; // emulation thread
    uint64_t logged_ns; // the clock at its last point; emulation thread
    pthread_mutex_t lock; // for all that follows
    bool live; // there is no log: input.mode is INPUT_LIVE
    pthread_cond_t wake;
    // the clock: guest time guest_ns at host time host_ns, running at speed percent since; 0 = virtual
    uint64_t guest_ns, host_ns;
    unsigned speed;
    bool paused;
    struct device_event events[DEVICE_EVENTS];
    unsigned first_event, event_count;
    // The guest runs ahead: time goes as fast as it can, and what waits in the queue stays there.
    bool ahead;
    uint64_t ahead_ns; // its clock then
    unsigned ahead_events; // of the queue, that it has seen
    enum input_mode ahead_mode; // of the log, which stands still
};

// The clock's mode as the page tells it. The lock is held for these three, or nobody else is there.
uint32_t devices_clock_mode(const struct devices *d);
uint64_t devices_clock_locked(const struct devices *d);
// Makes the present moment the one from which the clock is reckoned, before speed or paused change.
void devices_anchor(struct devices *d);

#endif
