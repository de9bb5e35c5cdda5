// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

#include "audio_files.h"
#include "frontend/base/clock.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "png.h"
#include "profile.h"
#include "record.h"
#include "states.h"
#include "stats.h"
#include "writers.h"

struct output {
    const struct options *options;
    const struct settings *settings;
    const struct launch *launch;
    struct new_file hashes; // stream is NULL without --frame-hash
    struct states *states;
    struct audio_files *audio; // NULL without --wav and --audio-hash
    struct input_writer *input; // NULL without --record-input
    struct recording *whole; // of --csv and --json, or NULL
    pthread_mutex_t lock;
    struct recording *live; // under lock: started by a key, or NULL
    int64_t stats_written; // monotonic seconds
    bool failed; // a picture could not be written
    bool screenshots_done[]; // by options->screenshots
};

uint64_t output_frame_hash(const struct machine_frame *frame)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, frame->indices, DEVICE_FRAME_WIDTH * DEVICE_FRAME_HEIGHT);
    XXH3_64bits_update(&state, frame->palette, 768);
    return XXH3_64bits_digest(&state);
}

static bool add_orders(struct writers *w, const char *option, const struct frame_orders *orders,
                       struct failure *failure)
{
    bool good = true;
    for (size_t i = 0; good && i < orders->count; i++) {
        good = writers_add(w, option, orders->items[i].path, failure);
    }
    return good;
}

static bool check_files(const struct options *options, const struct launch *launch, struct failure *failure)
{
    const struct writer single[] = {
        {.option = "--frame-hash", .path = options->frame_hash},
        {.option = "--audio-hash", .path = options->audio_hash},
        {.option = "--wav", .path = options->wav},
        {.option = "--stats", .path = options->stats},
        {.option = "--profile", .path = options->profile},
        {.option = "--count", .path = options->count},
        {.option = "--csv", .path = options->csv},
        {.option = "--json", .path = options->json},
        {.option = "--record-input", .path = options->record_input},
    };
    struct writers w = {0};
    writers_note_read(&w, "--config", options->config_file);
    writers_note_read(&w, "--replay-input", options->replay_input);
    for (size_t i = 0; i < launch->wads.count; i++) {
        writers_note_read(&w, "a WAD of the game", launch->wads.items[i]);
    }
    bool good = true;
    for (size_t i = 0; good && i < sizeof single / sizeof *single; i++) {
        good = writers_add(&w, single[i].option, single[i].path, failure);
    }
    good = good && add_orders(&w, "--screenshot", &options->screenshots, failure) &&
           add_orders(&w, "--save-state", &options->saves, failure);
    writers_free(&w);
    return good;
}

static void release(struct output *o)
{
    pthread_mutex_destroy(&o->lock);
    free(o);
}

struct output *output_open(const struct options *options, const struct settings *settings,
                           const struct launch *launch, struct failure *failure)
{
    if (!check_files(options, launch, failure)) {
        return NULL;
    }
    size_t size = sizeof(struct output) + options->screenshots.count * sizeof(bool);
    struct output *o = memory_zeroed(size);
    pthread_mutex_init(&o->lock, NULL);
    o->states = states_open(options, launch, failure);
    bool good = o->states;
    if (good && options->frame_hash) {
        good = new_file_open(&o->hashes, options->frame_hash) ||
               fail(failure, STATUS_USAGE, "cannot write %s: %s", options->frame_hash, strerror(errno));
    }
    if (good && (options->wav || options->audio_hash)) {
        o->audio = audio_files_open(options->wav, options->audio_hash, failure);
        good = o->audio;
    }
    if (good && options->record_input) {
        o->input = input_writer_open(options->record_input, &launch->setup.config, failure);
        good = o->input;
    }
    if (!good) {
        output_abandon(o);
        return NULL;
    }
    o->options = options;
    o->settings = settings;
    o->launch = launch;
    if (options->csv || options->json) {
        o->whole = record_start();
    }
    return o;
}

static void cannot_record(struct output *o)
{
    log_line(LOG_ERROR, "cannot write %s: %s; nothing more is recorded", o->options->record_input,
             strerror(errno));
    o->failed = true;
}

static void take_screenshots(struct output *o, const struct machine_frame *frame)
{
    for (size_t i = 0; i < o->options->screenshots.count; i++) {
        const struct frame_order *order = &o->options->screenshots.items[i];
        if (order->frame != frame->number) {
            continue;
        }
        o->screenshots_done[i] = true;
        if (!png_write_frame(order->path, frame->indices, frame->palette)) {
            log_line(LOG_ERROR, "cannot write %s: %s", order->path, strerror(errno));
            o->failed = true;
        }
    }
}

static void record_input(struct output *o, struct session *s)
{
    if (o->input && !input_writer_take(o->input, session_machine(s))) {
        cannot_record(o);
    }
}

// Without a window nobody goes on where a replay has ended.
static bool replay_is_over(const struct output *o, struct session *s)
{
    const char *why;
    return o->options->replay_input && o->options->headless &&
           machine_get_replay(session_machine(s), &why) == MACHINE_REPLAY_NONE;
}

bool output_frame(struct output *o, struct session *s, const struct machine_frame *frame,
                  const struct frame_figures *figures)
{
    pthread_mutex_lock(&o->lock);
    bool recording = o->whole || o->live;
    uint64_t hash = o->hashes.stream || recording ? output_frame_hash(frame) : 0;
    if (o->hashes.stream) {
        fprintf(o->hashes.stream, "%u %u %016" PRIx64 "\n", frame->number, frame->gametic, hash);
    }
    if (recording) {
        struct device_info info = {0};
        machine_get_device_info(session_machine(s), &info);
        const char *phase = record_phase(&info);
        if (o->whole) {
            record_frame(o->whole, figures, phase, hash);
        }
        if (o->live) {
            record_frame(o->live, figures, phase, hash);
        }
    }
    pthread_mutex_unlock(&o->lock);
    take_screenshots(o, frame);
    states_frame(o->states, s, frame);
    record_input(o, s);
    return (!o->options->frames || frame->number < o->options->frames) && !replay_is_over(o, s);
}

bool output_begin(struct output *o, machine *m, struct failure *failure)
{
    return states_begin(o->states, m, o->input, failure);
}

void output_between(struct output *o, struct session *s)
{
    states_between(o->states, s);
}

void output_rewound(struct output *o, struct session *s, uint32_t frame)
{
    if (o->input && !input_writer_rewind(o->input, session_machine(s), frame)) {
        cannot_record(o);
    }
}

bool output_wants_audio(const struct output *o)
{
    return o->audio || o->options->record_input || o->options->replay_input;
}

void output_audio(struct output *o, const int16_t (*samples)[2], size_t count)
{
    if (o->audio) {
        audio_files_add(o->audio, samples, count);
    }
}

static uint32_t timed_tics(struct session *s)
{
    struct session_timing timing;
    return session_get_timing(s, &timing) ? timing.tics : 0;
}

// Writes a recording that a key started, as two files named by the time; returns the CSV's path or NULL.
static char *save_live(struct output *o, struct recording *r)
{
    char *folder = launch_data_folder("benchmarks");
    if (!folder) {
        return NULL;
    }
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    char *csv = text_format("%s/%s.csv", folder, stamp);
    char *json = text_format("%s/%s.json", folder, stamp);
    bool good = record_write_csv(r, csv) && record_write_json(r, json, o->launch, o->settings, 0);
    if (!good) {
        log_line(LOG_ERROR, "cannot write the recording %s: %s", csv, strerror(errno));
        free(csv);
        csv = NULL;
    }
    free(json);
    free(folder);
    return csv;
}

bool output_toggle_recording(struct output *o, char **saved, char **told)
{
    *saved = *told = NULL;
    pthread_mutex_lock(&o->lock);
    struct recording *ended = o->live;
    o->live = ended ? NULL : record_start();
    pthread_mutex_unlock(&o->lock);
    if (ended) {
        *saved = save_live(o, ended);
        *told = record_tell(ended);
        record_free(ended);
    }
    return !ended;
}

bool output_recording(struct output *o, uint32_t *frames)
{
    pthread_mutex_lock(&o->lock);
    struct recording *r = o->live ? o->live : o->whole;
    *frames = r ? record_count(r) : 0;
    pthread_mutex_unlock(&o->lock);
    return r != NULL;
}

void output_marker(struct output *o, const char *label)
{
    pthread_mutex_lock(&o->lock);
    if (o->whole) {
        record_marker(o->whole, label);
    }
    if (o->live) {
        record_marker(o->live, label);
    }
    pthread_mutex_unlock(&o->lock);
}

void output_renew_stats(struct output *o, struct session *s)
{
    int64_t second = clock_now_ns() / 1000000000;
    if (!o->options->stats || second == o->stats_written) {
        return;
    }
    o->stats_written = second;
    // A pipe or terminal gets the figures once, at the end.
    struct stat info;
    if (strcmp(o->options->stats, "-") != 0 &&
        (stat(o->options->stats, &info) != 0 || S_ISREG(info.st_mode))) {
        stats_write(s, o->options->stats);
    }
}

// What was recorded, and where it is.
static void report_recording(struct output *o, const char *path)
{
    char *told = record_tell(o->whole);
    log_line(LOG_INFO, "%s: %s", path, told);
    free(told);
}

static bool report_unwritten(bool good, const char *path)
{
    if (!good) {
        log_line(LOG_ERROR, "cannot write %s: %s", path, strerror(errno));
    }
    return good;
}

bool output_close(struct output *o, struct session *s)
{
    const struct options *options = o->options;
    record_input(o, s);
    if (o->input && !input_writer_close(o->input) && !o->failed) {
        cannot_record(o);
    }
    bool good = !o->failed & states_close(o->states);
    if (o->live) {
        char *saved, *told;
        output_toggle_recording(o, &saved, &told);
        if (saved) {
            log_line(LOG_INFO, "%s: %s", saved, told);
        }
        good &= saved != NULL;
        free(saved);
        free(told);
    }
    if (o->hashes.stream) {
        good &= report_unwritten(new_file_commit(&o->hashes), options->frame_hash);
    }
    if (o->audio) {
        good &= audio_files_close(o->audio);
    }
    const char *recorded = NULL;
    if (o->whole && options->csv) {
        bool written = (options->mangohud ? record_write_mangohud : record_write_csv)(o->whole, options->csv);
        good &= report_unwritten(written, options->csv);
        recorded = written ? options->csv : NULL;
    }
    if (o->whole && options->json) {
        bool written = record_write_json(o->whole, options->json, o->launch, o->settings, timed_tics(s));
        good &= report_unwritten(written, options->json);
        recorded = written && !recorded ? options->json : recorded;
    }
    if (options->stats) {
        good &= report_unwritten(stats_write(s, options->stats), options->stats);
    }
    good &= profile_report(session_machine(s), options->profile, PROFILE_TIME);
    good &= profile_report(session_machine(s), options->count, PROFILE_INSTRUCTIONS);
    for (size_t i = 0; i < options->screenshots.count; i++) {
        if (!o->screenshots_done[i]) {
            log_line(LOG_ERROR, "%s: the game ended before frame %u", options->screenshots.items[i].path,
                     options->screenshots.items[i].frame);
            good = false;
        }
    }
    if (recorded) {
        report_recording(o, recorded);
    }
    if (o->whole) {
        record_free(o->whole);
    }
    release(o);
    return good;
}

void output_abandon(struct output *o)
{
    if (o->input) {
        input_writer_close(o->input);
    }
    if (o->states) {
        states_free(o->states);
    }
    new_file_discard(&o->hashes);
    if (o->audio) {
        audio_files_abandon(o->audio);
    }
    if (o->whole) {
        record_free(o->whole);
    }
    release(o);
}
