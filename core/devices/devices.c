// SPDX-License-Identifier: MIT
// The page is memory that the guest may write at any time, so nothing read from it is trusted: what the host
// relies on (the ring's head, the frame count) is kept here and only copied there.
#include "devices.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/state/guest.h"
#include "guest/device_page.h"

#define SECOND 1000000000ull
#define VIRTUAL_READ_NS 1000 // what reading the virtual clock adds to it, so that polling loops end
#define MILLISECOND 1000000ull
#define WAIT_MAX_NS 100000000ull // of one sleep on the condition variable

// The guest's last look at its clock; emulation thread.
struct look {
    uint64_t millisecond; // of the guest's time
    uint64_t system_calls, instructions; // so far
    uint32_t events; // put into the ring so far
};

struct devices {
    int fd; // the page's memfd, -1 without a device
    struct device_page *page;
    uint32_t ring_head; // events put into the guest's ring so far; emulation thread
    uint32_t audio_tail; // samples taken from the guest's ring so far; emulation thread
    struct look look;
    pthread_mutex_t lock; // for all that follows
    pthread_cond_t wake;
    // the clock: guest time guest_ns at host time host_ns, running at speed percent since; 0 = virtual
    uint64_t guest_ns, host_ns;
    unsigned speed;
    bool paused;
    struct device_event events[DEVICE_EVENTS];
    unsigned first_event, event_count;
};

// ---- creation ----

static bool create_page(struct devices *d)
{
    d->fd = memfd_create("device page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (d->fd < 0 || ftruncate(d->fd, DEVICE_SIZE) ||
        fcntl(d->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return false;
    void *page = mmap(NULL, DEVICE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, 0);
    if (page == MAP_FAILED)
        return false;
    d->page = page;
    d->page->info.magic = DEVICE_MAGIC;
    d->page->info.version = DEVICE_VERSION;
    return true;
}

struct devices *devices_create(const struct guest *g)
{
    struct devices *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&d->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&d->lock, NULL);
    d->fd = -1;
    d->host_ns = clock_monotonic_ns();
    d->speed = g->config.clock == MACHINE_CLOCK_VIRTUAL ? 0 : 100;
    if (g->config.device && !create_page(d)) {
        int error = errno;
        devices_destroy(d);
        errno = error;
        return NULL;
    }
    if (d->page) {
        d->page->info.clock_mode = d->speed ? DEVICE_CLOCK_REAL : DEVICE_CLOCK_VIRTUAL;
        d->page->audio.wanted = g->config.audio != NULL;
    }
    return d;
}

void devices_destroy(struct devices *d)
{
    if (!d)
        return;
    if (d->page)
        munmap(d->page, DEVICE_SIZE);
    if (d->fd >= 0)
        close(d->fd);
    pthread_cond_destroy(&d->wake);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

int devices_fd(struct devices *d)
{
    return d->fd;
}

void devices_wake(struct devices *d)
{
    pthread_mutex_lock(&d->lock);
    pthread_cond_broadcast(&d->wake);
    pthread_mutex_unlock(&d->lock);
}

// ---- the clock; the lock is held ----

static uint64_t clock_locked(const struct devices *d)
{
    if (d->paused || !d->speed)
        return d->guest_ns;
    return d->guest_ns + (uint64_t)((unsigned __int128)(clock_monotonic_ns() - d->host_ns) * d->speed / 100);
}

// Makes the present moment the one from which the clock is reckoned, before speed or paused change.
static void set_anchor(struct devices *d)
{
    d->guest_ns = clock_locked(d);
    d->host_ns = clock_monotonic_ns();
}

uint64_t devices_clock_ns(struct devices *d)
{
    pthread_mutex_lock(&d->lock);
    if (!d->speed)
        d->guest_ns += VIRTUAL_READ_NS;
    uint64_t now = clock_locked(d);
    pthread_mutex_unlock(&d->lock);
    return now;
}

void devices_set_speed(struct devices *d, unsigned percent)
{
    pthread_mutex_lock(&d->lock);
    set_anchor(d);
    d->speed = percent;
    if (d->page)
        __atomic_store_n(&d->page->info.clock_mode, percent ? DEVICE_CLOCK_REAL : DEVICE_CLOCK_VIRTUAL,
                         __ATOMIC_RELAXED);
    pthread_cond_broadcast(&d->wake);
    pthread_mutex_unlock(&d->lock);
}

void devices_set_paused(struct devices *d, bool paused)
{
    pthread_mutex_lock(&d->lock);
    set_anchor(d);
    d->paused = paused;
    pthread_cond_broadcast(&d->wake);
    pthread_mutex_unlock(&d->lock);
}

// ---- waiting ----

// Waits until the guest's clock reaches deadline, or for an event if one shall end the wait, or a stop is
// requested. False: a stop or a signal came first.
static bool wait_until(struct guest *g, uint64_t deadline, bool for_event)
{
    struct devices *d = g->devices;
    uint64_t start = clock_monotonic_ns();
    bool reached = true;
    pthread_mutex_lock(&d->lock);
    while (clock_locked(d) < deadline && !(for_event && d->event_count)) {
        if (!d->speed) { // virtual time passes by itself
            if (!d->paused)
                d->guest_ns = deadline;
            else
                reached = false;
            break;
        }
        if (atomic_load(&g->stop_requested) || atomic_load(&g->signal_pending)) {
            reached = false;
            break;
        }
        uint64_t guest_left = deadline - clock_locked(d), left = WAIT_MAX_NS;
        if (!d->paused && guest_left < WAIT_MAX_NS)
            left = guest_left * 100 / d->speed + 1;
        uint64_t end = clock_monotonic_ns() + left;
        const struct timespec t = {(time_t)(end / SECOND), (long)(end % SECOND)};
        pthread_cond_timedwait(&d->wake, &d->lock, &t);
    }
    pthread_mutex_unlock(&d->lock);
    g->stats.idle_ns += clock_monotonic_ns() - start;
    return reached;
}

bool devices_sleep(struct guest *g, uint64_t ns)
{
    struct devices *d = g->devices;
    pthread_mutex_lock(&d->lock);
    uint64_t deadline = clock_locked(d) + ns;
    pthread_mutex_unlock(&d->lock);
    return wait_until(g, deadline, false);
}

// ---- events ----

bool devices_post(struct devices *d, const struct device_event *event)
{
    pthread_mutex_lock(&d->lock);
    bool room = d->event_count < DEVICE_EVENTS;
    if (room) {
        d->events[(d->first_event + d->event_count) % DEVICE_EVENTS] = *event;
        d->event_count++;
        pthread_cond_broadcast(&d->wake);
    }
    pthread_mutex_unlock(&d->lock);
    return room;
}

void devices_poll(struct devices *d)
{
    if (!d->page)
        return;
    struct device_ring *ring = &d->page->ring;
    pthread_mutex_lock(&d->lock);
    uint32_t waiting = d->ring_head - __atomic_load_n(&ring->event_tail, __ATOMIC_ACQUIRE);
    for (; d->event_count && waiting < DEVICE_EVENTS; waiting++) {
        ring->events[d->ring_head++ % DEVICE_EVENTS] = d->events[d->first_event];
        d->first_event = (d->first_event + 1) % DEVICE_EVENTS;
        d->event_count--;
    }
    uint64_t clock = clock_locked(d);
    pthread_mutex_unlock(&d->lock);
    ring->clock_us = clock / 1000;
    __atomic_store_n(&ring->event_head, d->ring_head, __ATOMIC_RELEASE);
}

// ---- idle ----

// Between two looks while it waits DOOM executes less than 300 instructions; between those in the midst of
// its work, 5,000 and more.
#define WAITING_INSTRUCTIONS 1000u

static struct look look_now(struct guest *g, uint64_t clock)
{
    return (struct look){.millisecond = clock / MILLISECOND,
                         .system_calls = g->stats.system_calls,
                         .instructions = g->stats.retired + g->stats.credited,
                         .events = g->devices->ring_head};
}

static uint64_t clock_now(struct devices *d)
{
    pthread_mutex_lock(&d->lock);
    uint64_t clock = clock_locked(d);
    pthread_mutex_unlock(&d->lock);
    return clock;
}

bool devices_may_wait(struct guest *g)
{
    struct devices *d = g->devices;
    pthread_mutex_lock(&d->lock);
    bool runs = d->speed && !d->paused;
    pthread_mutex_unlock(&d->lock);
    return runs && d->page && atomic_load_explicit(&g->idle_wanted, memory_order_relaxed);
}

void devices_wait(struct guest *g)
{
    if (devices_may_wait(g))
        wait_until(g, (clock_now(g->devices) / MILLISECOND + 1) * MILLISECOND, true);
    devices_poll(g->devices);
}

void devices_look(struct guest *g)
{
    struct devices *d = g->devices;
    struct look last = d->look, look = look_now(g, clock_now(d));
    d->look = look;
    if (look.millisecond != last.millisecond || look.system_calls != last.system_calls + 1 ||
        look.events != last.events || look.instructions - last.instructions > WAITING_INSTRUCTIONS ||
        !devices_may_wait(g))
        return;
    devices_wait(g);
    d->look = look_now(g, clock_now(d)); // what this look will see
}

// ---- sound ----

// Hands on what is in the ring. The guest may claim that there is more than fits: then the oldest is lost.
static void take_audio(struct guest *g)
{
    struct device_audio *ring = &g->devices->page->audio;
    uint32_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), tail = g->devices->audio_tail;
    if (!g->config.audio)
        return;
    if (head - tail > DEVICE_AUDIO_FRAMES)
        tail = head - DEVICE_AUDIO_FRAMES;
    while (tail != head) {
        uint32_t from = tail % DEVICE_AUDIO_FRAMES, count = head - tail;
        count = count < DEVICE_AUDIO_FRAMES - from ? count : DEVICE_AUDIO_FRAMES - from;
        g->config.audio(g->config.user, (const int16_t(*)[2])ring->samples + from, count);
        tail += count;
    }
    g->devices->audio_tail = tail;
    __atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
}

// ---- requests of the guest ----

static void present(struct guest *g)
{
    const struct device_page *page = g->devices->page;
    g->stats.frames++;
    take_audio(g);
    const struct machine_frame frame = {.indices = page->frame,
                                        .palette = page->palette,
                                        .number = (uint32_t)g->stats.frames,
                                        .gametic = page->info.gametic};
    g->host->present(g, &frame);
}

int64_t devices_ioctl(struct guest *g, uint32_t request, uint64_t argument)
{
    struct devices *d = g->devices;
    switch (request) {
    case DEVICE_PRESENT: present(g); break;
    case DEVICE_AUDIO: take_audio(g); break;
    case DEVICE_WAIT:
        if (argument > 1000000)
            return -EINVAL;
        pthread_mutex_lock(&d->lock);
        uint64_t deadline = clock_locked(d) + argument * 1000000u;
        bool is_virtual = !d->speed;
        pthread_mutex_unlock(&d->lock);
        if (!is_virtual)
            wait_until(g, deadline, true); // the guest looks at its clock itself
        break;
    default: return -ENOTTY;
    }
    devices_poll(d);
    return 0;
}

bool devices_get_info(const struct devices *d, struct device_info *info)
{
    if (!d->page)
        return false;
    memcpy(info, &d->page->info, sizeof *info);
    return true;
}
