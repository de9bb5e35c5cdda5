// SPDX-License-Identifier: MIT
// What reaches a machine from outside: its clock, events, and the logs of them.
#include "core/devices/devices.h"
#include "core/devices/input_log.h"
#include "machine_internal.h"

void machine_set_speed(machine *m, unsigned percent)
{
    devices_set_speed(m->guest.devices, percent);
}

void machine_set_clock_paused(machine *m, bool paused)
{
    devices_set_paused(m->guest.devices, paused);
}

bool machine_post_event(machine *m, const struct device_event *event)
{
    return devices_post(m->guest.devices, event);
}

void machine_take_input(machine *m, uint8_t **bytes, size_t *size)
{
    devices_take_log(m->guest.devices, bytes, size);
}

void machine_record_input(machine *m)
{
    if (devices_get_log(m->guest.devices)->mode == INPUT_LIVE)
        devices_set_log(m->guest.devices, &(struct input_log){.mode = INPUT_RECORDED});
}

void machine_replay_input(machine *m, const void *log, size_t size)
{
    devices_set_log(m->guest.devices, &(struct input_log){.mode = INPUT_REPLAYED, .from = log, .end = size});
}

bool machine_measure_input(const void *log, size_t size, uint64_t most, struct machine_input *input)
{
    struct input_extent extent;
    bool good = input_measure(log, size, most, &extent);
    *input = (struct machine_input){extent.size, extent.frames, extent.to_end};
    return good;
}

enum machine_replay machine_get_replay(const machine *m, const char **why)
{
    const struct input_log *log = devices_get_log(m->guest.devices);
    *why = log->why;
    return log->mode == INPUT_REPLAYED   ? MACHINE_REPLAY_ON
           : log->mode == INPUT_DIVERGED ? MACHINE_REPLAY_DIVERGED
                                         : MACHINE_REPLAY_NONE;
}
