// SPDX-License-Identifier: MIT
// What of the devices is in a state, and running ahead, which ends in a state's return.
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/state/saved.h"
#include "devices_internal.h"

#define DEVICES_PART 0x49564544u

static void transfer(struct devices *d, struct saved *s)
{
    uint32_t version = DEVICE_VERSION;
    uint8_t has_page = d->page != NULL;
    saved_part(s, DEVICES_PART);
    SAVED(s, version);
    SAVED(s, has_page);
    if (s->loading && version != DEVICE_VERSION)
        saved_fail(s, "the state is that of a program for version %u of the device page; this is %u", version,
                   DEVICE_VERSION);
    saved_expect(s, has_page == (d->page != NULL), "its device page");
    SAVED(s, d->ring_head);
    SAVED(s, d->audio_tail);
    SAVED(s, d->look.millisecond);
    SAVED(s, d->look.system_calls);
    SAVED(s, d->look.instructions);
    SAVED(s, d->look.events);
    SAVED(s, d->guest_ns);
    SAVED(s, d->events);
    SAVED(s, d->first_event);
    SAVED(s, d->event_count);
    saved_expect(s, d->first_event < DEVICE_EVENTS && d->event_count <= DEVICE_EVENTS, "its events");
    saved_expect(s, d->guest_ns <= UINT64_MAX / 4, "its clock");
    if (d->page && !s->failed)
        saved_bytes(s, d->page, DEVICE_SIZE);
}

void devices_save(struct devices *d, struct saved *s)
{
    pthread_mutex_lock(&d->lock);
    devices_anchor(d);
    transfer(d, s);
    pthread_mutex_unlock(&d->lock);
}

void devices_check(const struct devices *d, struct saved *s)
{
    struct devices unused = {.page = d->page ? malloc(DEVICE_SIZE) : NULL};
    if (d->page && !unused.page)
        saved_fail(s, "there is not enough memory to load the state");
    else
        transfer(&unused, s);
    free(unused.page);
}

// What has run ahead goes back; the clock and the queue have gone on without it.
static void take_back(struct devices *d, struct saved *s)
{
    static struct device_event events[DEVICE_EVENTS];
    uint64_t guest_ns = d->guest_ns;
    unsigned first = d->first_event, count = d->event_count;
    memcpy(events, d->events, sizeof events);
    transfer(d, s);
    memcpy(d->events, events, sizeof events);
    d->guest_ns = guest_ns;
    d->first_event = first;
    d->event_count = count;
    d->ahead = false;
    d->ahead_events = 0;
    d->input.mode = d->ahead_mode;
}

void devices_run_ahead(struct devices *d)
{
    pthread_mutex_lock(&d->lock);
    d->ahead_ns = devices_clock_locked(d);
    d->ahead = true;
    d->ahead_mode = d->input.mode;
    d->input.mode = INPUT_LIVE;
    d->page->info.clock_mode = devices_clock_mode(d);
    d->page->audio.wanted = false;
    pthread_mutex_unlock(&d->lock);
}

void devices_load(struct devices *d, struct saved *s)
{
    pthread_mutex_lock(&d->lock);
    if (d->ahead) {
        take_back(d, s);
    } else {
        transfer(d, s);
        d->host_ns = clock_monotonic_ns();
    }
    d->input.clock = 0; // as behind any frame
    if (d->page) { // what the host says there
        d->page->info.magic = DEVICE_MAGIC;
        d->page->info.version = DEVICE_VERSION;
        d->page->audio.wanted = d->hears;
        if (d->live)
            d->page->info.clock_mode = devices_clock_mode(d);
    }
    pthread_cond_broadcast(&d->wake);
    pthread_mutex_unlock(&d->lock);
}
