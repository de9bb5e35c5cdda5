// SPDX-License-Identifier: MIT
// The page is memory that the guest may write at any time, so nothing read from it is trusted: what the host
// relies on (the ring's head, the frame count) is kept here and only copied there.
#include "devices_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/clock.h"
#include "core/state/guest.h"

#define SECOND 1000000000ull
#define VIRTUAL_READ_NS 1000 // what reading the virtual clock adds to it, so that polling loops end
#define MILLISECOND 1000000ull
#define WAIT_MAX_NS 100000000ull // of one sleep on the condition variable
#define LATE_NS 100000000ull // by so much a replay may be late and still catch up
#define STARVED_NS 100000u // to fetch a piece of a log that is there takes less

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

uint32_t devices_clock_mode(const struct devices *d)
{
    return d->speed && !d->ahead ? DEVICE_CLOCK_REAL : DEVICE_CLOCK_VIRTUAL;
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
    d->hears = g->config.audio != NULL;
    d->host_ns = clock_monotonic_ns();
    d->speed = g->config.clock == MACHINE_CLOCK_VIRTUAL ? 0 : 100;
    if (g->config.device && !create_page(d)) {
        int error = errno;
        devices_destroy(d);
        errno = error;
        return NULL;
    }
    if (d->page) {
        d->page->info.clock_mode = devices_clock_mode(d);
        d->page->audio.wanted = d->hears;
    }
    d->live = true;
    if (g->config.record_input)
        devices_set_log(d, &(struct input_log){.mode = INPUT_RECORDED});
    if (g->config.more_input)
        devices_set_log(d, &(struct input_log){
                               .mode = INPUT_REPLAYED, .more = g->config.more_input, .user = g->config.user});
    if (g->config.replay_input)
        devices_set_log(d, &(struct input_log){.mode = INPUT_REPLAYED,
                                               .from = g->config.replay_input,
                                               .end = g->config.replay_size});
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
    free(d->input.bytes);
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

uint64_t devices_clock_locked(const struct devices *d)
{
    if (d->ahead)
        return d->ahead_ns;
    if (d->paused || !d->speed)
        return d->guest_ns;
    return d->guest_ns + (uint64_t)((unsigned __int128)(clock_monotonic_ns() - d->host_ns) * d->speed / 100);
}

void devices_anchor(struct devices *d)
{
    bool ahead = d->ahead;
    d->ahead = false;
    d->guest_ns = devices_clock_locked(d);
    d->ahead = ahead;
    d->host_ns = clock_monotonic_ns();
}

void devices_set_speed(struct devices *d, unsigned percent)
{
    pthread_mutex_lock(&d->lock);
    devices_anchor(d);
    d->speed = percent;
    if (d->page && d->live)
        __atomic_store_n(&d->page->info.clock_mode, devices_clock_mode(d), __ATOMIC_RELAXED);
    pthread_cond_broadcast(&d->wake);
    pthread_mutex_unlock(&d->lock);
}

void devices_set_paused(struct devices *d, bool paused)
{
    pthread_mutex_lock(&d->lock);
    devices_anchor(d);
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
    while (devices_clock_locked(d) < deadline && !(for_event && d->event_count)) {
        if (d->ahead) {
            d->ahead_ns = deadline;
            break;
        }
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
        uint64_t guest_left = deadline - devices_clock_locked(d), left = WAIT_MAX_NS;
        if (!d->paused && guest_left < WAIT_MAX_NS)
            left = guest_left * 100 / d->speed + 1;
        uint64_t end = clock_monotonic_ns() + left;
        const struct timespec t = {(time_t)(end / SECOND), (long)(end % SECOND)};
        uint64_t cpu = clock_thread_ns();
        pthread_cond_timedwait(&d->wake, &d->lock, &t);
        g->stats.idle_cpu_ns += clock_thread_ns() - cpu;
    }
    pthread_mutex_unlock(&d->lock);
    g->stats.idle_ns += clock_monotonic_ns() - start;
    return reached;
}

static uint64_t clock_now(struct devices *d)
{
    pthread_mutex_lock(&d->lock);
    uint64_t clock = devices_clock_locked(d);
    pthread_mutex_unlock(&d->lock);
    return clock;
}

bool devices_sleep(struct guest *g, uint64_t ns)
{
    struct devices *d = g->devices;
    // A replayed sleep takes its time when the guest next looks at the clock.
    bool reached = d->input.mode == INPUT_REPLAYED || wait_until(g, clock_now(d) + ns, false);
    return input_take_number(&d->input, reached);
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

// What there is at this point; the events leave the queue. The lock is held.
static void gather(struct devices *d, bool takes_input, struct input_point *point)
{
    point->clock_ns = devices_clock_locked(d);
    point->clock_mode = devices_clock_mode(d);
    point->count = 0;
    point->has_input = false;
    if (!d->page || !takes_input)
        return;
    uint32_t waiting = d->ring_head - __atomic_load_n(&d->page->ring.event_tail, __ATOMIC_ACQUIRE);
    unsigned seen = d->ahead_events;
    for (; seen < d->event_count && waiting < DEVICE_EVENTS; waiting++)
        point->events[point->count++] = d->events[(d->first_event + seen++) % DEVICE_EVENTS];
    if (d->ahead) {
        d->ahead_events = seen;
    } else {
        d->first_event = (d->first_event + seen) % DEVICE_EVENTS;
        d->event_count -= seen;
    }
    point->has_input = point->count || point->clock_mode != d->page->info.clock_mode;
}

// Shows the guest what there is at this point.
static void show(struct devices *d, const struct input_point *point)
{
    if (!d->page)
        return;
    struct device_ring *ring = &d->page->ring;
    for (unsigned i = 0; i < point->count; i++)
        ring->events[d->ring_head++ % DEVICE_EVENTS] = point->events[i];
    if (point->has_input)
        __atomic_store_n(&d->page->info.clock_mode, point->clock_mode, __ATOMIC_RELAXED);
    ring->clock_us = point->clock_ns / 1000;
    __atomic_store_n(&ring->event_head, d->ring_head, __ATOMIC_RELEASE);
}

// What a guest sees at a time of its own clock, it sees when that time has come. anew: it is now.
static void keep_pace(struct guest *g, uint64_t clock, bool anew)
{
    struct devices *d = g->devices;
    pthread_mutex_lock(&d->lock);
    bool paced = d->speed;
    d->event_count = 0; // what the user does meanwhile does not count
    if (!paced || anew || devices_clock_locked(d) > clock + LATE_NS) {
        d->guest_ns = clock;
        d->host_ns = clock_monotonic_ns();
    }
    pthread_mutex_unlock(&d->lock);
    if (paced)
        wait_until(g, clock, false);
}

// Since the last point, for more of a log that is still being made. Returns whether there was nothing.
static bool count_wait_for_log(struct guest *g)
{
    struct input_log *log = &g->devices->input;
    bool waited = log->waited_ns > STARVED_NS;
    g->stats.idle_ns += log->waited_ns;
    g->stats.idle_cpu_ns += log->waited_cpu_ns;
    log->waited_ns = log->waited_cpu_ns = 0;
    return waited;
}

// A point of the log: the guest looks at its clock, and input may get in. Returns what the clock says.
static uint64_t pass_point(struct guest *g, bool takes_input)
{
    struct devices *d = g->devices;
    struct input_point point;
    pthread_mutex_lock(&d->lock);
    if (d->input.mode == INPUT_RECORDED)
        gather(d, takes_input, &point);
    pthread_mutex_unlock(&d->lock);
    input_take_point(&d->input, &point);
    bool had_to_wait = count_wait_for_log(g);
    if (d->input.mode != INPUT_RECORDED)
        keep_pace(g, point.clock_ns, had_to_wait);
    if (d->input.mode == INPUT_DIVERGED)
        atomic_store(&g->stop_requested, true);
    show(d, &point);
    d->logged_ns = point.clock_ns;
    return point.clock_ns;
}

uint64_t devices_clock_ns(struct guest *g, bool takes_input)
{
    struct devices *d = g->devices;
    pthread_mutex_lock(&d->lock);
    if (d->ahead)
        d->ahead_ns += VIRTUAL_READ_NS;
    else if (!d->speed)
        d->guest_ns += VIRTUAL_READ_NS;
    uint64_t now = devices_clock_locked(d);
    pthread_mutex_unlock(&d->lock);
    return d->input.mode == INPUT_LIVE ? now : pass_point(g, takes_input);
}

void devices_poll(struct devices *d)
{
    if (!d->page || d->input.mode != INPUT_LIVE)
        return;
    struct input_point point;
    pthread_mutex_lock(&d->lock);
    gather(d, true, &point);
    pthread_mutex_unlock(&d->lock);
    show(d, &point);
}

// The log that was replayed has ended, and the guest goes on with what the host has: from the time that it
// was told last, with no key held.
static void go_live(struct devices *d)
{
    pthread_mutex_lock(&d->lock);
    d->live = true;
    d->guest_ns = d->logged_ns;
    d->host_ns = clock_monotonic_ns();
    d->page->info.clock_mode = devices_clock_mode(d);
    d->first_event = 0;
    d->event_count = 1;
    d->events[0] = (struct device_event){.type = DEVICE_EVENT_RELEASE_ALL};
    pthread_mutex_unlock(&d->lock);
}

static void log_frame(struct guest *g)
{
    struct devices *d = g->devices;
    const struct device_page *page = d->page;
    uint64_t palette = XXH3_64bits(page->palette, sizeof page->palette);
    if (!input_take_frame(&d->input, g->stats.frames,
                          XXH3_64bits_withSeed(page->frame, sizeof page->frame, palette)))
        go_live(d);
}

uint64_t devices_log_number(struct devices *d, uint64_t number)
{
    return input_take_number(&d->input, number);
}

void devices_log_end(struct devices *d, uint32_t how)
{
    input_take_end(&d->input, how);
}

void devices_take_log(struct devices *d, uint8_t **bytes, size_t *size)
{
    *bytes = d->input.bytes;
    *size = d->input.size;
    d->input.bytes = NULL;
    d->input.size = d->input.room = 0;
}

const struct input_log *devices_get_log(const struct devices *d)
{
    return &d->input;
}

void devices_set_log(struct devices *d, const struct input_log *log)
{
    pthread_mutex_lock(&d->lock);
    free(d->input.bytes);
    d->input = *log;
    d->live = log->mode == INPUT_LIVE;
    pthread_mutex_unlock(&d->lock);
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

static bool may_sleep(struct guest *g)
{
    struct devices *d = g->devices;
    pthread_mutex_lock(&d->lock);
    bool runs = d->speed && !d->paused && !d->ahead;
    pthread_mutex_unlock(&d->lock);
    return runs && d->page && atomic_load_explicit(&g->idle_wanted, memory_order_relaxed);
}

bool devices_may_wait(struct guest *g)
{
    return g->devices->input.mode == INPUT_LIVE && may_sleep(g);
}

void devices_wait(struct guest *g)
{
    if (may_sleep(g))
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
        d->input.mode == INPUT_REPLAYED || !may_sleep(g))
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
    struct machine_frame frame;
    g->stats.frames++;
    if (g->devices->input.mode != INPUT_LIVE)
        log_frame(g);
    take_audio(g);
    devices_get_frame(g, &frame);
    g->host->present(g, &frame);
}

int64_t devices_ioctl(struct guest *g, uint32_t request, uint64_t argument)
{
    struct devices *d = g->devices;
    bool logs = d->input.mode != INPUT_LIVE;
    switch (request) {
    case DEVICE_PRESENT:
        // A frame is the last that the log has of it, so that the log can be cut there.
        if (logs)
            pass_point(g, true);
        present(g);
        break;
    case DEVICE_AUDIO: take_audio(g); break;
    case DEVICE_WAIT:
        if (argument > 1000000)
            return -EINVAL;
        pthread_mutex_lock(&d->lock);
        uint64_t deadline = devices_clock_locked(d) + argument * 1000000u;
        bool is_virtual = !d->speed || d->ahead;
        pthread_mutex_unlock(&d->lock);
        if (!is_virtual && d->input.mode != INPUT_REPLAYED)
            wait_until(g, deadline, true); // the guest looks at its clock itself
        break;
    default: return -ENOTTY;
    }
    if (!logs)
        devices_poll(d);
    else if (request != DEVICE_PRESENT)
        pass_point(g, true);
    return 0;
}

bool devices_get_frame(const struct guest *g, struct machine_frame *frame)
{
    const struct device_page *page = g->devices->page;
    if (page)
        *frame = (struct machine_frame){.indices = page->frame,
                                        .palette = page->palette,
                                        .number = (uint32_t)g->stats.frames,
                                        .gametic = page->info.gametic};
    return page;
}

uint64_t devices_drawn_at(const struct devices *d)
{
    return d->page ? d->page->info.drawn_at : 0;
}

bool devices_get_info(const struct devices *d, struct device_info *info)
{
    if (!d->page)
        return false;
    memcpy(info, &d->page->info, sizeof *info);
    return true;
}
