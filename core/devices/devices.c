// SPDX-License-Identifier: MIT
// The device page's host side: the guest's clock, its input events, presented frames, and waiting.
//
// The page is memory that the guest may write at any time, so nothing read from it is trusted: what the host
// relies on (the ring's head, the frame count) is kept here and only copied there.
#include "core/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

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

struct devices *devices_create(machine *m)
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
    d->host_ns = now_ns();
    d->speed = m->config.clock == MACHINE_CLOCK_VIRTUAL ? 0 : 100;
    if (m->config.device && !create_page(d)) {
        int error = errno;
        devices_destroy(d);
        errno = error;
        return NULL;
    }
    if (d->page)
        d->page->info.clock_mode = d->speed ? DEVICE_CLOCK_REAL : DEVICE_CLOCK_VIRTUAL;
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
    return d->guest_ns + (uint64_t)((unsigned __int128)(now_ns() - d->host_ns) * d->speed / 100);
}

// Makes the present moment the one from which the clock is reckoned, before speed or paused change.
static void set_anchor(struct devices *d)
{
    d->guest_ns = clock_locked(d);
    d->host_ns = now_ns();
}

uint64_t devices_clock_ns(machine *m)
{
    struct devices *d = m->devices;
    pthread_mutex_lock(&d->lock);
    if (!d->speed)
        d->guest_ns += VIRTUAL_READ_NS;
    uint64_t now = clock_locked(d);
    pthread_mutex_unlock(&d->lock);
    return now;
}

void machine_set_speed(machine *m, unsigned percent)
{
    struct devices *d = m->devices;
    pthread_mutex_lock(&d->lock);
    set_anchor(d);
    d->speed = percent;
    if (d->page)
        __atomic_store_n(&d->page->info.clock_mode, percent ? DEVICE_CLOCK_REAL : DEVICE_CLOCK_VIRTUAL,
                         __ATOMIC_RELAXED);
    pthread_cond_broadcast(&d->wake);
    pthread_mutex_unlock(&d->lock);
}

void machine_set_clock_paused(machine *m, bool paused)
{
    struct devices *d = m->devices;
    pthread_mutex_lock(&d->lock);
    set_anchor(d);
    d->paused = paused;
    pthread_cond_broadcast(&d->wake);
    pthread_mutex_unlock(&d->lock);
}

// ---- waiting ----

// Waits until the guest's clock reaches deadline, or for an event if one shall end the wait, or a stop is
// requested. False: a stop or a signal came first.
static bool wait_until(machine *m, uint64_t deadline, bool for_event)
{
    struct devices *d = m->devices;
    uint64_t start = now_ns();
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
        if (atomic_load(&m->stop_requested) || atomic_load(&m->signal_pending)) {
            reached = false;
            break;
        }
        uint64_t guest_left = deadline - clock_locked(d), left = WAIT_MAX_NS;
        if (!d->paused && guest_left < WAIT_MAX_NS)
            left = guest_left * 100 / d->speed + 1;
        uint64_t end = now_ns() + left;
        const struct timespec t = {(time_t)(end / SECOND), (long)(end % SECOND)};
        pthread_cond_timedwait(&d->wake, &d->lock, &t);
    }
    pthread_mutex_unlock(&d->lock);
    m->stats.idle_ns += now_ns() - start;
    return reached;
}

bool devices_sleep(machine *m, uint64_t ns)
{
    struct devices *d = m->devices;
    pthread_mutex_lock(&d->lock);
    uint64_t deadline = clock_locked(d) + ns;
    pthread_mutex_unlock(&d->lock);
    return wait_until(m, deadline, false);
}

// ---- events ----

bool machine_post_event(machine *m, const struct device_event *event)
{
    struct devices *d = m->devices;
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

void devices_poll(machine *m)
{
    struct devices *d = m->devices;
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

static struct look look_now(machine *m, uint64_t clock)
{
    return (struct look){.millisecond = clock / MILLISECOND,
                         .system_calls = m->stats.system_calls,
                         .instructions = m->stats.retired + m->stats.credited,
                         .events = m->devices->ring_head};
}

static uint64_t clock_now(struct devices *d)
{
    pthread_mutex_lock(&d->lock);
    uint64_t clock = clock_locked(d);
    pthread_mutex_unlock(&d->lock);
    return clock;
}

bool devices_may_wait(machine *m)
{
    struct devices *d = m->devices;
    pthread_mutex_lock(&d->lock);
    bool runs = d->speed && !d->paused;
    pthread_mutex_unlock(&d->lock);
    return runs && d->page && machine_get_idle(m);
}

void devices_wait(machine *m)
{
    if (devices_may_wait(m))
        wait_until(m, (clock_now(m->devices) / MILLISECOND + 1) * MILLISECOND, true);
    devices_poll(m);
}

void devices_look(machine *m)
{
    struct devices *d = m->devices;
    struct look last = d->look, look = look_now(m, clock_now(d));
    d->look = look;
    if (look.millisecond != last.millisecond || look.system_calls != last.system_calls + 1 ||
        look.events != last.events || look.instructions - last.instructions > WAITING_INSTRUCTIONS ||
        !devices_may_wait(m))
        return;
    devices_wait(m);
    d->look = look_now(m, clock_now(d)); // what this look will see
}

// ---- requests of the guest ----

static void present(machine *m)
{
    const struct device_page *page = m->devices->page;
    m->stats.frames++;
    if (!m->config.present)
        return;
    const struct machine_frame frame = {.indices = page->frame,
                                        .palette = page->palette,
                                        .number = (uint32_t)m->stats.frames,
                                        .gametic = page->info.gametic};
    machine_publish(m);
    m->config.present(m->config.user, &frame);
    machine_skip_time(m);
}

int64_t devices_ioctl(machine *m, uint32_t request, uint64_t argument)
{
    struct devices *d = m->devices;
    switch (request) {
    case DEVICE_PRESENT: present(m); break;
    case DEVICE_WAIT:
        if (argument > 1000000)
            return -EINVAL;
        pthread_mutex_lock(&d->lock);
        uint64_t deadline = clock_locked(d) + argument * 1000000u;
        bool is_virtual = !d->speed;
        pthread_mutex_unlock(&d->lock);
        if (!is_virtual)
            wait_until(m, deadline, true); // the guest looks at its clock itself
        break;
    default: return -ENOTTY;
    }
    devices_poll(m);
    return 0;
}

bool machine_get_device_info(const machine *m, struct device_info *info)
{
    if (!m->devices->page)
        return false;
    memcpy(info, &m->devices->page->info, sizeof *info);
    return true;
}
