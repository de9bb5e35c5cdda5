// SPDX-License-Identifier: MIT
#include "record.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "frontend/base/paths.h"
#include "frontend/base/text.h"
#include "mangohud.h"
#include "report.h"

enum { MARKER_SIZE = 64 };

struct row {
    struct frame_figures figures;
    const char *phase;
    uint64_t hash;
    char marker[MARKER_SIZE];
};

// Rows stay in memory until they are written as a whole: a disk that stalls must not be seen in the times.
struct recording {
    pthread_mutex_t lock;
    struct row *rows;
    uint32_t count, room;
    char marker[MARKER_SIZE]; // for the next row
};

struct recording *record_start(void)
{
    struct recording *r = memory_zeroed(sizeof *r);
    pthread_mutex_init(&r->lock, NULL);
    r->room = 1 << 14;
    r->rows = memory_resize(NULL, r->room * sizeof *r->rows);
    return r;
}

void record_free(struct recording *r)
{
    pthread_mutex_destroy(&r->lock);
    free(r->rows);
    free(r);
}

void record_frame(struct recording *r, const struct frame_figures *figures, const char *phase, uint64_t hash)
{
    pthread_mutex_lock(&r->lock);
    if (r->count == r->room) {
        r->room *= 2;
        r->rows = memory_resize(r->rows, r->room * sizeof *r->rows);
    }
    struct row *row = &r->rows[r->count++];
    *row = (struct row){.figures = *figures, .phase = phase, .hash = hash};
    memcpy(row->marker, r->marker, MARKER_SIZE);
    r->marker[0] = '\0';
    pthread_mutex_unlock(&r->lock);
}

void record_marker(struct recording *r, const char *label)
{
    pthread_mutex_lock(&r->lock);
    size_t length = strlen(r->marker);
    // Several between two frames: joined, as far as there is room.
    snprintf(r->marker + length, MARKER_SIZE - length, "%s%s", length ? "+" : "", label);
    pthread_mutex_unlock(&r->lock);
}

uint32_t record_count(struct recording *r)
{
    pthread_mutex_lock(&r->lock);
    uint32_t count = r->count;
    pthread_mutex_unlock(&r->lock);
    return count;
}

const char *record_phase(const struct device_info *info)
{
    static const char *const phases[2][DEVICE_GAME_STATES] = {
        {"level", "intermission", "finale", "demoscreen"},
        {"demo-level", "demo-intermission", "demo-finale", "demo-demoscreen"},
    };
    return phases[info->demo_playing != 0][info->game_state % DEVICE_GAME_STATES];
}

enum { VARIANT_SIZE = 48 };

// A variant is an engine, with or without replaced loops and the dispatch net.
static void name_variant(char name[VARIANT_SIZE], const struct frame_figures *f)
{
    bool dispatch = f->dispatch != MACHINE_DISPATCH_OFF;
    snprintf(name, VARIANT_SIZE, "%s%s%s%s", machine_engine_name(f->engine),
             f->replaces_loops ? "+loops" : "", dispatch ? "+dispatch-" : "",
             dispatch ? machine_dispatch_names[f->dispatch] : "");
}

static bool same_variant(const struct frame_figures *a, const struct frame_figures *b)
{
    return a->engine == b->engine && a->replaces_loops == b->replaces_loops && a->dispatch == b->dispatch;
}

const char record_csv_header[] =
    "frame,tic,phase,variant,t_ms,frame_ms,emu_ms,present_ms,sleep_ms,retired,credited,iterations_skipped,"
    "loops_active,loops_new,loops_rejected,dispatch_total,dispatch_hit,idle_ms,frame_hash,marker";

bool record_write_mangohud(struct recording *r, const char *path)
{
    struct new_file file;
    if (!new_file_open(&file, path)) {
        return false;
    }
    mangohud_begin(file.stream);
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < r->count; i++) {
        const struct frame_figures *f = &r->rows[i].figures;
        mangohud_frame(file.stream, f->frame_ms, f->at_ms - r->rows[0].figures.at_ms);
    }
    pthread_mutex_unlock(&r->lock);
    return new_file_commit(&file);
}

bool record_write_csv(struct recording *r, const char *path)
{
    struct new_file file;
    if (!new_file_open(&file, path)) {
        return false;
    }
    fprintf(file.stream, "%s\n", record_csv_header);
    pthread_mutex_lock(&r->lock);
    double start = r->count ? r->rows[0].figures.at_ms : 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct row *row = &r->rows[i];
        const struct frame_figures *f = &row->figures;
        char loops[128] = ",,,,", variant[VARIANT_SIZE];
        name_variant(variant, f);
        if (f->has_loops) {
            snprintf(loops, sizeof loops, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                     f->credited, f->iterations_skipped, f->loops_active, f->loops_new, f->loops_rejected);
        }
        fprintf(file.stream,
                "%u,%u,%s%s,%s,%.4f,%.4f,%.4f,%.4f,%.4f,%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64
                ",%.4f,%016" PRIx64 ",%s\n",
                f->number, f->gametic, f->warming ? "warm-" : "", row->phase, variant, f->at_ms - start,
                f->frame_ms, f->emu_ms, f->present_ms, f->sleep_ms, f->retired, loops, f->dispatch_total,
                f->dispatch_hit, f->idle_ms, row->hash, row->marker);
    }
    pthread_mutex_unlock(&r->lock);
    return new_file_commit(&file);
}

// Times exclude the first row: its interval began before there was anything to see.
static uint32_t first_row(const struct recording *r)
{
    return r->count > 1;
}

// The median and what 99 % do not exceed of the rows that are warm, or not; returns how many there are.
static size_t take_times(struct recording *r, bool warm, struct frame_statistics *of_frames,
                         struct frame_statistics *of_emulating)
{
    double *times = memory_resize(NULL, 2 * (r->count + 1) * sizeof *times), *emulating = times + r->count;
    struct frame_sample frames = {0}, emulated = {0};
    size_t count = 0;
    for (uint32_t i = first_row(r); i < r->count; i++) {
        if (r->rows[i].figures.warming == warm) {
            times[count] = r->rows[i].figures.frame_ms;
            emulating[count++] = r->rows[i].figures.emu_ms;
        }
    }
    frame_sample_add(&frames, times, count);
    frame_sample_add(&emulated, emulating, count);
    frame_statistics_take(&frames, of_frames);
    frame_statistics_take(&emulated, of_emulating);
    frame_sample_free(&frames);
    frame_sample_free(&emulated);
    free(times);
    return count;
}

char *record_tell(struct recording *r)
{
    struct frame_statistics warm, warm_emulating, frames, emulating;
    pthread_mutex_lock(&r->lock);
    uint32_t count = r->count;
    size_t warming = take_times(r, true, &warm, &warm_emulating);
    if (!take_times(r, false, &frames, &emulating)) {
        frames = warm;
        emulating = warm_emulating;
    }
    pthread_mutex_unlock(&r->lock);
    char *still = warming ? text_format(" (%zu warming up)", warming) : text_copy("");
    char *text = text_format("%u frames%s: median %.2f ms, 99 %% within %.2f ms; median to emulate %.2f ms",
                             count, still, frames.p50, frames.p99, emulating.p50);
    free(still);
    return text;
}

// The figures of the rows of the variant that this frame is of.
static cJSON *variant(struct recording *r, const struct frame_figures *of)
{
    pthread_mutex_lock(&r->lock);
    uint32_t skip = first_row(r), count = 0;
    double *times = memory_resize(NULL, (r->count + 1) * sizeof *times);
    double total_ms = 0, emulating_ms = 0;
    uint64_t retired = 0, credited = 0, skipped = 0, dispatch_total = 0, dispatch_hit = 0;
    bool has_loops = false;
    for (uint32_t i = skip; i < r->count; i++) {
        const struct frame_figures *f = &r->rows[i].figures;
        if (!same_variant(f, of)) {
            continue;
        }
        times[count++] = f->frame_ms;
        total_ms += f->frame_ms;
        emulating_ms += f->emu_ms;
        retired += f->retired;
        has_loops |= f->has_loops;
        credited += f->credited;
        skipped += f->iterations_skipped;
        dispatch_total += f->dispatch_total;
        dispatch_hit += f->dispatch_hit;
    }
    pthread_mutex_unlock(&r->lock);
    struct frame_sample sample = {0};
    struct frame_statistics summary;
    frame_sample_add(&sample, times, count);
    frame_statistics_take(&sample, &summary);
    frame_sample_free(&sample);
    free(times);

    cJSON *object = cJSON_CreateObject();
    char name[VARIANT_SIZE];
    name_variant(name, of);
    cJSON_AddStringToObject(object, "name", name);
    cJSON *run = cJSON_CreateObject();
    cJSON_AddNumberToObject(run, "frames", count);
    cJSON_AddNumberToObject(run, "seconds", total_ms / 1000);
    cJSON_AddNumberToObject(run, "emulating_seconds", emulating_ms / 1000);
    cJSON_AddNumberToObject(run, "retired", (double)retired);
    cJSON_AddNumberToObject(run, "avg_fps", summary.average_fps);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(object, "runs"), run);
    cJSON_AddNumberToObject(object, "frames", count);
    report_add_times(object, &summary);
    cJSON_AddNumberToObject(object, "mips", emulating_ms > 0 ? (double)retired / emulating_ms / 1000 : 0);
    if (has_loops) {
        cJSON_AddNumberToObject(object, "mips_effective",
                                emulating_ms > 0 ? (double)(retired + credited) / emulating_ms / 1000 : 0);
        cJSON_AddNumberToObject(object, "skipped", (double)skipped);
    } else {
        cJSON_AddNullToObject(object, "mips_effective");
        cJSON_AddNullToObject(object, "skipped");
    }
    if (dispatch_total) {
        cJSON_AddNumberToObject(object, "dispatch_accuracy", (double)dispatch_hit / (double)dispatch_total);
    } else {
        cJSON_AddNullToObject(object, "dispatch_accuracy");
    }
    return object;
}

// How things were switched at the last row of the recording; at the start of the program if it has none.
static struct frame_figures switches(struct recording *r, const struct launch *launch)
{
    const struct machine_config *started = &launch->setup.config;
    struct frame_figures f = {
        .engine = started->engine,
        .dispatch = started->dispatch_model ? started->dispatch : MACHINE_DISPATCH_OFF,
        .replaces_loops = started->loop_models && started->loops,
        .idle = started->idle,
        .verify = started->verify,
        .speed = (unsigned)launch->speed,
    };
    pthread_mutex_lock(&r->lock);
    if (r->count) {
        f = r->rows[r->count - 1].figures;
    }
    pthread_mutex_unlock(&r->lock);
    return f;
}

// The variants that presented frames, in their order; the one of the start if none did.
static void add_variants(cJSON *root, struct recording *r, const struct launch *launch)
{
    enum { MOST = 2 * 2 * MACHINE_DISPATCH_MODES };
    cJSON *array = cJSON_AddArrayToObject(root, "variants");
    struct frame_figures seen[MOST] = {switches(r, launch)};
    size_t count = 0;
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = first_row(r); i < r->count; i++) {
        size_t k = 0;
        while (k < count && !same_variant(&seen[k], &r->rows[i].figures)) {
            k++;
        }
        if (k == count) {
            seen[count++] = r->rows[i].figures;
        }
    }
    pthread_mutex_unlock(&r->lock);
    for (size_t k = 0; k < count || k == 0; k++) {
        cJSON_AddItemToArray(array, variant(r, &seen[k]));
    }
}

// Was anything switched between its rows?
static bool switched(struct recording *r)
{
    bool any = false;
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 1; i < r->count; i++) {
        const struct frame_figures *a = &r->rows[i - 1].figures, *b = &r->rows[i].figures;
        any |= a->engine != b->engine || a->dispatch != b->dispatch ||
               a->replaces_loops != b->replaces_loops || a->idle != b->idle || a->verify != b->verify ||
               a->speed != b->speed;
    }
    pthread_mutex_unlock(&r->lock);
    return any;
}

// As they are at the end: with the keys of the window anything may have been switched.
static void add_settings(cJSON *root, struct recording *r, const struct launch *launch,
                         const struct settings *settings)
{
    const struct machine_config *started = &launch->setup.config;
    struct frame_figures f = switches(r, launch);
    cJSON *object = cJSON_AddObjectToObject(root, "settings");
    cJSON_AddStringToObject(object, "engine", machine_engine_name(f.engine));
    cJSON_AddStringToObject(object, "clock", started->clock == MACHINE_CLOCK_VIRTUAL ? "virtual" : "real");
    if (f.speed == SPEED_MAX) {
        cJSON_AddStringToObject(object, "speed", "max");
    } else {
        cJSON_AddNumberToObject(object, "speed", f.speed);
    }
    cJSON_AddNumberToObject(object, "ram_mib", settings->ram);
    cJSON_AddStringToObject(object, "dispatch", machine_dispatch_names[f.dispatch]);
    cJSON_AddBoolToObject(object, "loops", f.replaces_loops);
    cJSON_AddBoolToObject(object, "idle", f.idle);
    cJSON_AddBoolToObject(object, "verify", f.verify);
    cJSON *arguments = cJSON_AddArrayToObject(object, "arguments");
    for (size_t i = 1; i < launch->arguments.count; i++) {
        cJSON_AddItemToArray(arguments, report_text(launch->arguments.items[i]));
    }
}

bool record_write_json(struct recording *r, const char *path, const struct launch *launch,
                       const struct settings *settings, uint32_t tics)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", REPORT_SCHEMA);
    report_add_program(root);
    report_add_machine(root);

    cJSON *content = cJSON_AddObjectToObject(root, "content");
    cJSON_AddItemToObject(content, "wad", report_text(path_name(launch->iwad)));
    report_add_hash(content, "sha256", launch->iwad);
    if (launch->demo) {
        cJSON_AddItemToObject(content, "demo", report_text(launch->demo));
    } else {
        cJSON_AddNullToObject(content, "demo");
    }
    if (tics) {
        cJSON_AddNumberToObject(content, "tics", tics);
    } else {
        cJSON_AddNullToObject(content, "tics");
    }
    report_add_hash(cJSON_AddObjectToObject(root, "guest"), "elf_sha256", launch->program);
    add_settings(root, r, launch, settings);
    add_variants(root, r, launch);
    // There is nothing to compare with one variant: the fields are there, with no values.
    cJSON *comparison = cJSON_AddObjectToObject(root, "compare");
    static const char *const fields[] = {"a", "b", "speedup", "ci95", "hash_equal"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        cJSON_AddNullToObject(comparison, fields[i]);
    }
    cJSON *warnings = cJSON_AddArrayToObject(root, "warnings");
    if (record_count(r) < 100) {
        cJSON_AddItemToArray(warnings,
                             cJSON_CreateString("fewer than 100 frames: the percentiles mean little"));
    }
    if (launch->setup.config.clock == MACHINE_CLOCK_REAL && !launch->timed_demo &&
        switches(r, launch).speed != SPEED_MAX) {
        cJSON_AddItemToArray(
            warnings,
            cJSON_CreateString("the engine was paced by the clock: fps does not tell what was possible"));
    }
    if (switched(r)) {
        cJSON_AddItemToArray(warnings, cJSON_CreateString("switches were thrown while recording: settings "
                                                          "are those of the last frame, the CSV tells when"));
    }
    return counters_write(root, path);
}
