// SPDX-License-Identifier: GPL-2.0-or-later
#include "opl_driver.h"

#include <string.h>

#include "doomtype.h"
#include "opl.h"
#include "opl3.h"
#include "opl_internal.h"
#include "opl_queue.h"

#include "platform.h"

static boolean is_open;
static opl3_chip chip;
static opl_callback_queue_t *queue;
static uint64_t played; // samples; stands still while the song is paused
static boolean paused;
static int selected; // register
// The library looks for a chip by its first timer, and uses none later.
static unsigned timer_value;
static boolean timer_on;
static uint64_t timer_end; // microseconds

static uint64_t now(void)
{
    return played * OPL_SECOND / DEVICE_AUDIO_RATE;
}

static void call_back(void)
{
    opl_callback_t callback;
    void *data;
    while (!paused && !OPL_Queue_IsEmpty(queue) && OPL_Queue_Peek(queue) <= now() &&
           OPL_Queue_Pop(queue, &callback, &data)) {
        callback(data);
    }
}

// Samples until the next callback, at most `most`.
static unsigned samples_left(unsigned most)
{
    if (paused || OPL_Queue_IsEmpty(queue)) {
        return most;
    }
    uint64_t next = OPL_Queue_Peek(queue), time = now();
    uint64_t left = next > time ? ((next - time) * DEVICE_AUDIO_RATE + OPL_SECOND - 1) / OPL_SECOND : 0;
    return left < most ? (unsigned)left : most;
}

void opl_driver_make(int16_t (*samples)[2], unsigned count)
{
    if (!is_open) {
        memset(samples, 0, count * sizeof *samples);
        return;
    }
    while (count > 0) {
        unsigned part = samples_left(count);
        OPL3_GenerateStream(&chip, samples[0], part);
        played += paused ? 0 : part;
        samples += part;
        count -= part;
        call_back();
    }
}

void opl_driver_wait(void)
{
    played += samples_left(DEVICE_AUDIO_RATE);
    call_back();
}

static int open_chip(unsigned port_base)
{
    (void)port_base;
    queue = OPL_Queue_Create();
    OPL3_Reset(&chip, DEVICE_AUDIO_RATE);
    is_open = true;
    return 1;
}

static void close_chip(void)
{
    OPL_Queue_Destroy(queue);
    is_open = false;
}

static unsigned read_port(opl_port_t port)
{
    enum { NO_SECOND_CHIP = 0xff, TIMER_1_OVER = 0xc0 };
    if (port == OPL_REGISTER_PORT_OPL3) {
        return NO_SECOND_CHIP;
    }
    return timer_on && now() > timer_end ? TIMER_1_OVER : 0;
}

static void write_timers(unsigned value)
{
    enum { RESET = 0x80, MASK_1 = 0x40, START_1 = 0x01, TICK_US = 80 };
    if (value & RESET) {
        timer_on = false;
    } else if (!(value & MASK_1)) {
        timer_on = value & START_1;
        timer_end = now() + (0x100 - timer_value) * TICK_US;
    }
}

static void write_port(opl_port_t port, unsigned value)
{
    if (port != OPL_DATA_PORT) {
        selected = (int)value | (port == OPL_REGISTER_PORT_OPL3 ? 0x100 : 0);
    } else if (selected == OPL_REG_TIMER1) {
        timer_value = value;
    } else if (selected == OPL_REG_TIMER_CTRL) {
        write_timers(value);
    } else if (selected != OPL_REG_TIMER2) {
        OPL3_WriteRegBuffered(&chip, (Bit16u)selected, (Bit8u)value);
    }
}

static void set_callback(uint64_t us, opl_callback_t callback, void *data)
{
    OPL_Queue_Push(queue, callback, data, now() + us);
}

static void clear_callbacks(void)
{
    OPL_Queue_Clear(queue);
}

// Callbacks are called by nobody else's thread.
static void do_nothing(void)
{
}

static void set_paused(int wanted)
{
    paused = wanted != 0;
}

static void adjust_callbacks(float factor)
{
    OPL_Queue_AdjustCallbacks(queue, now(), factor);
}

// By the name under which the library looks for a driver that asks for no hardware.
opl_driver_t opl_sdl_driver = {
    .name = "neurodoom",
    .init_func = open_chip,
    .shutdown_func = close_chip,
    .read_port_func = read_port,
    .write_port_func = write_port,
    .set_callback_func = set_callback,
    .clear_callbacks_func = clear_callbacks,
    .lock_func = do_nothing,
    .unlock_func = do_nothing,
    .set_paused_func = set_paused,
    .adjust_callbacks_func = adjust_callbacks,
};
