// SPDX-License-Identifier: MIT
// The device page's host side: the guest's clock, its input events, presented frames, and waiting.
#ifndef CORE_DEVICES_DEVICES_H
#define CORE_DEVICES_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guest;
struct devices;
struct saved;
struct device_event;
struct device_info;
struct input_log;
struct machine_frame;

// As config.clock and config.device of the guest say. NULL with errno if the host denies the page.
struct devices *devices_create(const struct guest *g);
void devices_destroy(struct devices *d);
// The host descriptor (memfd) of the device page, to be mapped shared, DEVICE_SIZE bytes. Owned by d.
int devices_fd(struct devices *d);
// ioctl on the device file: returns the guest's result (0 or negative errno).
int64_t devices_ioctl(struct guest *g, uint32_t request, uint64_t argument);

// The guest's clock for clock_gettime and friends: nanoseconds since the machine started, scaled and
// pausable. Without the device, the host's own clocks are used as they are. takes_input: while there is a
// log, events may get into the ring, too.
uint64_t devices_clock_ns(struct guest *g, bool takes_input);
// Any thread; see machine_set_speed and machine_set_clock_paused.
void devices_set_speed(struct devices *d, unsigned percent);
void devices_set_paused(struct devices *d, bool paused);

// From now on until devices_load the guest runs ahead: what the host sees and hears of it does not change,
// its clock runs as fast as it can, and events that it gets to see stay in the queue. There is a page.
void devices_run_ahead(struct devices *d);

// The page, the clock and the events that wait to be put into the ring, in a saved state.
void devices_save(struct devices *d, struct saved *s);
// Reads what devices_save has written: s has failed if it is not sound. Changes nothing.
void devices_check(const struct devices *d, struct saved *s);
// Cannot fail where devices_check has not. Settings of the host (speed, pause, …) stay.
void devices_load(struct devices *d, struct saved *s);

// Sleeps for ns of guest time; returns false if interrupted (a signal or a requested stop).
bool devices_sleep(struct guest *g, uint64_t ns);
// The guest is about to look at its clock: sleeps if it only waits (machine_set_idle).
void devices_look(struct guest *g);
// Whether a guest that polls a word of the page may sleep: machine_set_idle, and the clock runs by itself.
bool devices_may_wait(struct guest *g);
// The guest only polls the page: sleeps until the guest's millisecond is over, or there is input, as far as
// it may; then the page is as devices_poll leaves it.
void devices_wait(struct guest *g);
// Any thread: ends a devices_sleep, devices_look, devices_wait or DEVICE_WAIT that is under way.
void devices_wake(struct devices *d);

// Any thread; see machine_post_event.
bool devices_post(struct devices *d, const struct device_event *event);
// Copies queued events into the guest's ring and the clock into its page: at budget ends. Does nothing while
// there is a log: where a budget ends hangs on the engine.
void devices_poll(struct devices *d);
// Any thread; see machine_get_device_info.
bool devices_get_info(const struct devices *d, struct device_info *info);
// Where in the guest's memory the picture is drawn, as it says; 0: it has not said. Emulation thread.
uint64_t devices_drawn_at(const struct devices *d);
// See machine_get_frame.
bool devices_get_frame(const struct guest *g, struct machine_frame *frame);

// ---- the log of what comes from outside (input_log.h), as the configuration wants it; emulation thread ----

// Another number from outside, below 2^62: it, or what the log has instead.
uint64_t devices_log_number(struct devices *d, uint64_t number);
// The program has ended; how: enum machine_state.
void devices_log_end(struct devices *d, uint32_t how);
// Hands over what has been written down since the last call, on the heap, or NULL.
void devices_take_log(struct devices *d, uint8_t **bytes, size_t *size);
const struct input_log *devices_get_log(const struct devices *d);
// From now on there is this one; what was written down in the one before goes.
void devices_set_log(struct devices *d, const struct input_log *log);

#endif
