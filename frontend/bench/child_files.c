// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "child_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 20, ERROR_LINES = 6 };
// Of the CSV (frontend/record/record.c).
enum {
    AT_TIC = 1,
    AT_PHASE,
    AT_VARIANT,
    AT_T,
    AT_FRAME_MS,
    AT_EMU_MS,
    AT_RETIRED = 9,
    AT_CREDITED,
    AT_SKIPPED
};
enum { AT_DISPATCH_TOTAL = 15, AT_DISPATCH_HIT, AT_HASH = 18 };

// The whole file as text, or NULL with errno.
static char *read_text(const char *folder, const char *name)
{
    char *path = text_format("%s/%s", folder, name), *text = NULL;
    FILE *stream = fopen(path, "re");
    size_t size = 0;
    if (stream) {
        if (getdelim(&text, &size, '\0', stream) < 0) {
            free(text);
            text = text_copy("");
        }
        fclose(stream);
    }
    free(path);
    return text;
}

// Cuts the line at *text off and returns it; NULL where there is no more.
static char *next_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    if (!end) {
        return NULL;
    }
    *end = '\0';
    *text = end + 1;
    return line;
}

char *child_errors(const char *folder)
{
    char *text = read_text(folder, CHILD_ERRORS);
    if (!text) {
        return text_copy("");
    }
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n') {
        text[--length] = '\0';
    }
    char *from = text + length;
    for (unsigned lines = 0; from > text && lines < ERROR_LINES; from--) {
        lines += from[-1] == '\n';
    }
    char *last = text_copy(from == text ? from : from + 1);
    free(text);
    return last;
}

static void tell_difference(struct comparison *c, const struct run *run, bool of_sound, uint32_t frame)
{
    if (!c->difference.found) {
        c->difference = (struct difference){.found = true,
                                            .of_sound = of_sound,
                                            .work = run->work,
                                            .a = c->works[run->work].first_side,
                                            .b = run->side,
                                            .frame = frame};
    }
}

// Frame i of the run has that hash: the first run that got so far says what it has to be.
static void compare_frame(struct comparison *c, const struct run *run, size_t i, uint64_t hash)
{
    struct work *w = &c->works[run->work];
    if (!w->whole && i == w->frame_count) {
        w->frames = memory_resize(w->frames, (i + 1) * sizeof *w->frames);
        w->frames[w->frame_count++] = hash;
        w->first_side = run->side;
    } else if (i >= w->frame_count || w->frames[i] != hash) {
        tell_difference(c, run, false, (uint32_t)i + 1);
    }
}

// All frames of a whole run have been compared: are there as many?
static void compare_count(struct comparison *c, const struct run *run, size_t count)
{
    struct work *w = &c->works[run->work];
    if (count < w->frame_count) {
        tell_difference(c, run, false, (uint32_t)count + 1);
    }
    w->whole = true;
}

// A row of the report's CSV: the child's, with the side's name as variant, the frames that are not counted
// marked, and the run's number in front of what the child wrote.
static void write_row(FILE *to, char *const *field, const char *variant, bool warm)
{
    for (int i = 0; i < COLUMNS; i++) {
        fprintf(to, "%s%s", i ? "," : "",
                i == AT_VARIANT         ? variant
                : i == AT_PHASE && warm ? "warm"
                                        : field[i]);
    }
    fputc('\n', to);
}

static bool split(char *line, char **field)
{
    int count = 0;
    for (char *at = line; at && count < COLUMNS; count++) {
        field[count] = strsep(&at, ",");
    }
    return count == COLUMNS;
}

static bool read_frames(struct comparison *c, const struct child_run_files *files, struct run *run)
{
    char *text = read_text(files->shop->folder, CHILD_FRAMES), *at = text, *line, *field[COLUMNS];
    struct work *w = &c->works[run->work];
    bool good = text && next_line(&at), counting = false;
    size_t size, room = 0;
    FILE *rows = open_memstream(&run->rows, &size);
    while (good && (line = next_line(&at)) && (good = split(line, field))) {
        if (run->frame_count == room) {
            room = room ? 2 * room : 4096;
            run->frame_ms = memory_resize(run->frame_ms, room * sizeof *run->frame_ms);
        }
        uint32_t tic = (uint32_t)strtoul(field[AT_TIC], NULL, 10);
        counting |= tic > files->shop->warm_tics && run->frame_count > 0;
        compare_frame(c, run, run->frame_count, strtoull(field[AT_HASH], NULL, 16));
        run->frame_ms[run->frame_count++] = strtod(field[AT_FRAME_MS], NULL);
        run->warm += !counting;
        run->emulating_s += counting ? strtod(field[AT_EMU_MS], NULL) / 1000 : 0;
        run->retired += counting ? strtod(field[AT_RETIRED], NULL) : 0;
        run->credited += counting ? strtod(field[AT_CREDITED], NULL) : 0;
        run->skipped += counting ? strtod(field[AT_SKIPPED], NULL) : 0;
        run->dispatch_total += counting ? strtod(field[AT_DISPATCH_TOTAL], NULL) : 0;
        run->dispatch_hit += counting ? strtod(field[AT_DISPATCH_HIT], NULL) : 0;
        w->tics = tic > w->tics ? tic : w->tics;
        write_row(rows, field, c->sides[run->side].name, !counting);
    }
    fclose(rows);
    free(text);
    if (!files->sound || !files->shop->sound_frames) {
        compare_count(c, run, run->frame_count);
    }
    return good && run->frame_count;
}

// Lines "frame gametic hash" of a program that is not ours.
static bool read_hashes(struct comparison *c, const struct child_run_files *files, const struct run *run)
{
    char *text = read_text(files->shop->folder, CHILD_HASHES), *at = text, *line;
    bool good = text;
    size_t count = 0;
    while (good && (line = next_line(&at))) {
        uint64_t hash;
        good = sscanf(line, "%*u %*u %" SCNx64, &hash) == 1;
        compare_frame(c, run, count, hash);
        count++;
    }
    free(text);
    compare_count(c, run, count);
    return good && count;
}

// Lines "second hash": as many as both have. A second that is not over has no line, but at the end of a demo.
static bool read_sound(struct comparison *c, const struct child_run_files *files, const struct run *run)
{
    struct work *w = &c->works[run->work];
    char *text = read_text(files->shop->folder, CHILD_SOUND);
    if (!text || !*text) {
        free(text);
        return false;
    }
    if (!w->sound) {
        w->sound = text;
        return true;
    }
    const char *a = w->sound, *b = text;
    unsigned second = 0;
    for (; *a && *b; second++) {
        size_t length = strcspn(a, "\n"), other = strcspn(b, "\n");
        bool last = !a[length + 1] || !b[other + 1];
        if ((length != other || strncmp(a, b, length) != 0) && !(last && files->shop->sound_frames)) {
            tell_difference(c, run, true, second);
            break;
        }
        a += length + 1;
        b += other + 1;
    }
    w->sound_seconds = second > w->sound_seconds ? second : w->sound_seconds;
    free(text);
    return true;
}

static cJSON *read_json(const struct workshop *shop, const char *name)
{
    char *text = read_text(shop->folder, name);
    cJSON *json = text ? cJSON_Parse(text) : NULL;
    free(text);
    return json;
}

cJSON *child_counters(const struct workshop *shop)
{
    return read_json(shop, CHILD_COUNTERS);
}

cJSON *child_profile(const struct workshop *shop)
{
    return read_json(shop, CHILD_PROFILE);
}

static bool unreadable(const struct comparison *c, const struct run *run, const char *what,
                       struct failure *failure)
{
    return fail(failure, STATUS_USAGE, "--bench: %s, %s: the run left no %s that can be read%s%s",
                c->works[run->work].name, c->sides[run->side].name, what, errno ? ": " : "",
                errno ? strerror(errno) : "");
}

bool child_read(struct comparison *c, const struct child_run_files *files, struct run *run,
                struct failure *failure)
{
    errno = 0;
    if (!(files->own ? read_frames(c, files, run) : read_hashes(c, files, run))) {
        return unreadable(c, run, "frames", failure);
    }
    if (files->sound && !read_sound(c, files, run)) {
        return unreadable(c, run, "sound", failure);
    }
    if (files->own && files->counters) {
        cJSON *counters = child_counters(files->shop);
        const cJSON *compiling = cJSON_GetObjectItem(counters, "compile_ms");
        run->compile_s = compiling ? compiling->valuedouble / 1000 : 0;
        cJSON_Delete(counters);
    }
    return true;
}
