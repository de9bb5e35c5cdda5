// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bindings.h"
#include "core/core.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"

#define BUILT_IN "built-in"
#define COMMAND_LINE "command line"
#define REMEMBERED "remembered.ini"

enum kind {
    KIND_CHOICE, // int, one of words
    KIND_ENGINE, // int, one of those in this build
    KIND_SWITCH, // bool, on or off
    KIND_NUMBER, // int, least..most
    KIND_FACTOR, // int, percent; written as a factor from 0.5 to 4
    KIND_SPEED, // int, a percentage, max or auto
    KIND_GEOMETRY, // char *, auto, WIDTHxHEIGHT or WIDTHxHEIGHT+X+Y
    KIND_TEXT, // char *
};

struct setting {
    const char *section, *key;
    enum kind kind;
    size_t offset; // in struct settings
    const char *initial; // NULL: the build's default engine
    const char *words[5]; // KIND_CHOICE
    int least, most; // KIND_NUMBER
};

#define AT(field) offsetof(struct settings, field)

static const struct setting fixed[] = {
    {"machine", "engine", KIND_ENGINE, AT(engine), NULL, {0}, 0, 0},
    {"machine", "speed", KIND_SPEED, AT(speed), "auto", {0}, 0, 0},
    {"machine", "clock", KIND_CHOICE, AT(clock), "auto", {"auto", "real", "virtual"}, 0, 0},
    {"machine", "ram", KIND_NUMBER, AT(ram), "256", {0}, 32, 2048},
    {"machine", "run-ahead", KIND_NUMBER, AT(run_ahead), "0", {0}, 0, 2},
    {"machine", "rewind", KIND_SWITCH, AT(rewind), "on", {0}, 0, 0},
    {"neural", "all", KIND_SWITCH, AT(neural), "on", {0}, 0, 0},
    {"neural", "dispatch", KIND_CHOICE, AT(dispatch), "hybrid", {"off", "hybrid", "pure", "live"}, 0, 0},
    {"neural", "loops", KIND_SWITCH, AT(loops), "on", {0}, 0, 0},
    {"neural", "idle", KIND_SWITCH, AT(idle), "on", {0}, 0, 0},
    {"neural", "verify", KIND_SWITCH, AT(verify), "off", {0}, 0, 0},
    {"window", "fullscreen", KIND_SWITCH, AT(fullscreen), "off", {0}, 0, 0},
    {"window", "geometry", KIND_GEOMETRY, AT(geometry), "auto", {0}, 0, 0},
    {"window", "display", KIND_NUMBER, AT(display), "0", {0}, 0, 16},
    {"window", "scale", KIND_CHOICE, AT(scale), "fit", {"fit", "integer", "stretch"}, 0, 0},
    {"window", "aspect", KIND_CHOICE, AT(aspect), "4:3", {"4:3", "square"}, 0, 0},
    {"window", "filter", KIND_CHOICE, AT(filter), "sharp", {"sharp", "nearest", "linear"}, 0, 0},
    {"window", "vsync", KIND_SWITCH, AT(vsync), "on", {0}, 0, 0},
    {"window", "screenshots", KIND_TEXT, AT(screenshots), "", {0}, 0, 0},
    {"window", "pause-unfocused", KIND_SWITCH, AT(pause_unfocused), "on", {0}, 0, 0},
    {"sound", "volume", KIND_NUMBER, AT(volume), "100", {0}, 0, 100},
    {"sound", "mute-unfocused", KIND_SWITCH, AT(mute_unfocused), "on", {0}, 0, 0},
    {"mouse", "vertical", KIND_SWITCH, AT(mouse_vertical), "on", {0}, 0, 0},
    {"pad", "dead-zone", KIND_NUMBER, AT(dead_zone), "24", {0}, 5, 50},
    {"pad", "rumble", KIND_SWITCH, AT(rumble), "on", {0}, 0, 0},
    {"overlay", "preset", KIND_CHOICE, AT(overlay), "mini", {"off", "mini", "std", "full"}, 0, 0},
    {"overlay", "graph", KIND_SWITCH, AT(graph), "on", {0}, 0, 0},
    {"overlay", "scale", KIND_FACTOR, AT(overlay_scale), "1", {0}, 0, 0},
    {"overlay",
     "corner",
     KIND_CHOICE,
     AT(overlay_corner),
     "top-right",
     {"top-right", "top-left", "bottom-left", "bottom-right"},
     0,
     0},
    {"overlay", "opacity", KIND_NUMBER, AT(overlay_opacity), "82", {0}, 20, 100},
    {"overlay", "font", KIND_TEXT, AT(overlay_font), "/usr/share/fonts/opentype/b612", {0}, 0, 0},
    {"log", "level", KIND_CHOICE, AT(log_level), "info", {"error", "warning", "info", "debug"}, 0, 0},
    {"game", "iwad", KIND_TEXT, AT(iwad), "", {0}, 0, 0},
    {"leader", "key", KIND_TEXT, AT(leader_key), LEADER_KEY, {0}, 0, 0},
    {"leader", "button", KIND_TEXT, AT(leader_button), LEADER_BUTTON, {0}, 0, 0},
};

enum {
    FIXED = sizeof fixed / sizeof *fixed,
    CONTROLS = DEVICE_CONTROLS - 1,
    SETTINGS = FIXED + 2 * ACTION_COUNT + CONTROLS,
};

// Where each setting's value came from, for --dump-config; and its value when config_watch was called.
static char *origins[SETTINGS], *watched[SETTINGS];

// What is being read goes here.
struct target {
    struct settings *settings;
    char **origins; // by setting; NULL: it has not been read
};

// Setting i of all: those above, then the two lists of each action, then those of DOOM's controls.
static struct setting setting_at(int i)
{
    if (i < FIXED) {
        return fixed[i];
    }
    if (i >= FIXED + 2 * ACTION_COUNT) {
        size_t control = (size_t)(i - FIXED - 2 * ACTION_COUNT + 1);
        return (struct setting){
            .section = "control",
            .key = control_table[control].name,
            .kind = KIND_TEXT,
            .offset = AT(control) + control * sizeof(char *),
            .initial = control_table[control].bound,
        };
    }
    int action = (i - FIXED) / 2;
    bool direct = (i - FIXED) % 2;
    const struct action_info *info = &action_table[action];
    return (struct setting){
        .section = direct ? "direct" : "leader",
        .key = info->name,
        .kind = KIND_TEXT,
        .offset = (direct ? AT(direct) : AT(leader)) + (size_t)action * sizeof(char *),
        .initial = direct ? info->direct : info->leader,
    };
}

static int find(const char *section, const char *key)
{
    for (int i = 0; i < SETTINGS; i++) {
        struct setting s = setting_at(i);
        if (strcmp(s.section, section) == 0 && strcmp(s.key, key) == 0) {
            return i;
        }
    }
    return -1;
}

// The same of "section.key".
static int find_name(const char *name)
{
    for (int i = 0; i < SETTINGS; i++) {
        struct setting s = setting_at(i);
        size_t length = strlen(s.section);
        if (strncmp(name, s.section, length) == 0 && name[length] == '.' &&
            strcmp(name + length + 1, s.key) == 0) {
            return i;
        }
    }
    return -1;
}

static void *place(const struct settings *settings, const struct setting *s)
{
    return (char *)settings + s->offset;
}

// A whole decimal number and nothing else.
static bool parse_number(const char *text, int *number)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < INT_MIN || value > INT_MAX || isspace((unsigned char)*text)) {
        return false;
    }
    *number = (int)value;
    return true;
}

bool config_geometry(const char *text, struct geometry *g)
{
    int size = 0, whole = 0;
    *g = (struct geometry){0};
    sscanf(text, "%5dx%5d%n+%6d+%6d%n", &g->width, &g->height, &size, &g->x, &g->y, &whole);
    g->placed = whole > 0;
    size = g->placed ? whole : size;
    return size > 0 && text[size] == '\0' && g->width >= 160 && g->height >= 100 && g->width <= 16384 &&
           g->height <= 16384;
}

// Sets *field, or returns what would have been right.
static char *parse_value(const struct setting *s, void *field, const char *value)
{
    switch (s->kind) {
    case KIND_CHOICE: {
        char *expected = text_copy("one of");
        for (int i = 0; i < 5 && s->words[i]; i++) {
            if (text_same(value, s->words[i])) {
                *(int *)field = i;
                free(expected);
                return NULL;
            }
            char *longer = text_format("%s%s %s", expected, i ? "," : "", s->words[i]);
            free(expected);
            expected = longer;
        }
        return expected;
    }
    case KIND_ENGINE: {
        enum machine_engine engine;
        if (machine_engine_by_name(value, &engine)) {
            *(int *)field = (int)engine;
            return NULL;
        }
        return text_format("an engine of this build: %s", machine_engine_names());
    }
    case KIND_SWITCH:
        if (text_same(value, "on") || text_same(value, "off")) {
            *(bool *)field = text_same(value, "on");
            return NULL;
        }
        return text_copy("on or off");
    case KIND_NUMBER: {
        int number;
        if (parse_number(value, &number) && number >= s->least && number <= s->most) {
            *(int *)field = number;
            return NULL;
        }
        return text_format("a number from %d to %d", s->least, s->most);
    }
    case KIND_FACTOR: {
        double factor;
        char after;
        if (sscanf(value, "%lf%c", &factor, &after) == 1 && factor >= 0.5 && factor <= 4) {
            *(int *)field = (int)(factor * 100 + 0.5);
            return NULL;
        }
        return text_copy("a factor from 0.5 to 4");
    }
    case KIND_SPEED: {
        int number;
        size_t length = strlen(value);
        char *digits = text_copy(value);
        if (length && digits[length - 1] == '%') {
            digits[length - 1] = '\0';
        }
        bool good = parse_number(digits, &number) && number >= 1 && number <= 10000;
        free(digits);
        if (text_same(value, "max") || text_same(value, "auto")) {
            number = text_same(value, "max") ? SPEED_MAX : SPEED_AUTO;
            good = true;
        }
        if (good) {
            *(int *)field = number;
            return NULL;
        }
        return text_copy("a percentage from 1 to 10000, or max");
    }
    case KIND_GEOMETRY: {
        struct geometry geometry;
        if (!text_same(value, "auto") && !config_geometry(value, &geometry)) {
            return text_copy("WIDTHxHEIGHT, such as 1280x960, or WIDTHxHEIGHT+X+Y");
        }
        break;
    }
    case KIND_TEXT: break;
    }
    char **text = field;
    free(*text);
    *text = text_copy(value);
    return NULL;
}

// origin: for messages and --dump-config, such as "command line" or "/etc/…, line 3".
static bool set_at(const struct target *to, int i, const char *value, const char *origin,
                   struct failure *failure)
{
    struct setting s = setting_at(i);
    char *expected = parse_value(&s, place(to->settings, &s), value);
    if (expected) {
        fail(failure, STATUS_USAGE, "%s: %s.%s is \"%s\" but has to be %s", origin, s.section, s.key, value,
             expected);
        free(expected);
        return false;
    }
    free(to->origins[i]);
    to->origins[i] = text_copy(origin);
    return true;
}

static bool set(const struct target *to, const char *section, const char *key, const char *value,
                const char *origin, struct failure *failure)
{
    int i = find(section, key);
    return i >= 0 ? set_at(to, i, value, origin, failure)
                  : fail(failure, STATUS_USAGE,
                         "%s: there is no setting %s.%s (neurodoom --dump-config lists all)", origin, section,
                         key);
}

// Cuts the blanks off both ends, in place.
static char *trim(char *text)
{
    while (isspace((unsigned char)*text)) {
        text++;
    }
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1])) {
        *--end = '\0';
    }
    return text;
}

// One line of a settings file; section carries over from line to line.
static bool read_line(const struct target *to, char *line, char section[32], const char *origin,
                      struct failure *failure)
{
    line = trim(line);
    if (*line == '\0' || *line == '#' || *line == ';') {
        return true;
    }
    size_t length = strlen(line);
    if (*line == '[') {
        if (line[length - 1] != ']' || length < 3 || length > 32) {
            return fail(failure, STATUS_USAGE, "%s: a section looks like [window], not \"%s\"", origin, line);
        }
        memcpy(section, line + 1, length - 2);
        section[length - 2] = '\0';
        return true;
    }
    char *equals = strchr(line, '=');
    if (!equals) {
        return fail(failure, STATUS_USAGE, "%s: \"%s\" is neither [section] nor key = value", origin, line);
    }
    *equals = '\0';
    return set(to, section, trim(line), trim(equals + 1), origin, failure);
}

// Some editors begin a file with it.
static const char byte_order_mark[] = "\xef\xbb\xbf";

static bool read_stream(const struct target *to, FILE *stream, const char *path, bool tolerant,
                        struct failure *failure)
{
    char section[32] = "", line[PATH_MAX + 64];
    bool good = true;
    for (int number = 1; good && fgets(line, sizeof line, stream); number++) {
        char *origin = text_format("%s, line %d", path, number);
        if (!strchr(line, '\n') && !feof(stream)) {
            good =
                fail(failure, STATUS_USAGE, "%s: the line is longer than %zu bytes", origin, sizeof line - 2);
        } else {
            bool marked = number == 1 && strncmp(line, byte_order_mark, strlen(byte_order_mark)) == 0;
            good = read_line(to, line + (marked ? strlen(byte_order_mark) : 0), section, origin, failure);
        }
        free(origin);
        if (!good && tolerant) {
            log_line(LOG_WARNING, "%s; left out", failure->text);
            free(failure->text);
            *failure = (struct failure){0};
            good = true;
        }
    }
    return good;
}

// must_exist: a missing file is an error, not an empty one.
static bool read_file(const struct target *to, const char *path, bool must_exist, struct failure *failure)
{
    FILE *stream = path_is_folder(path) ? NULL : fopen(path, "re");
    if (!stream) {
        if (!must_exist && (errno == ENOENT || errno == ENOTDIR)) {
            return true;
        }
        return fail(failure, STATUS_USAGE, "cannot read the settings file %s: %s", path,
                    path_is_folder(path) ? "it is a folder" : strerror(errno));
    }
    bool good = read_stream(to, stream, path, false, failure);
    fclose(stream);
    return good;
}

bool config_apply(struct settings *settings, const struct text_list *assignments, struct failure *failure)
{
    const struct target to = {settings, origins};
    for (size_t i = 0; i < assignments->count; i++) {
        char *section = text_copy(assignments->items[i]);
        char *equals = strchr(section, '=');
        char *dot = equals ? memchr(section, '.', (size_t)(equals - section)) : NULL;
        bool good;
        if (dot) {
            *dot = *equals = '\0';
            good = set(&to, trim(section), trim(dot + 1), trim(equals + 1), COMMAND_LINE, failure);
        } else {
            good = fail(failure, STATUS_USAGE,
                        "--set takes section.key=value, such as window.filter=linear, not \"%s\"", section);
        }
        free(section);
        if (!good) {
            return false;
        }
    }
    return true;
}

static void print_value(const struct setting *s, const void *field, FILE *stream)
{
    switch (s->kind) {
    case KIND_CHOICE: fputs(s->words[*(const int *)field], stream); break;
    case KIND_ENGINE: fputs(machine_engine_name((enum machine_engine) * (const int *)field), stream); break;
    case KIND_SWITCH: fputs(*(const bool *)field ? "on" : "off", stream); break;
    case KIND_NUMBER: fprintf(stream, "%d", *(const int *)field); break;
    case KIND_FACTOR: fprintf(stream, "%g", *(const int *)field / 100.0); break;
    case KIND_SPEED: {
        int speed = *(const int *)field;
        if (speed > 0) {
            fprintf(stream, "%d", speed);
        } else {
            fputs(speed == SPEED_MAX ? "max" : "auto", stream);
        }
        break;
    }
    case KIND_GEOMETRY:
    case KIND_TEXT: fputs(*(char *const *)field, stream); break;
    }
}

static char *value_text(const struct setting *s, const void *field)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) {
        return text_copy("");
    }
    print_value(s, field, stream);
    fclose(stream);
    return text;
}

// What was switched in the window, the last time. A line that will not do stops nobody: it is none of the
// user's.
static void read_remembered(const struct target *to)
{
    struct failure failure = {0};
    char *path = path_user(PATH_STATE, REMEMBERED);
    FILE *stream = path_is_file(path) ? fopen(path, "re") : NULL;
    if (stream) {
        read_stream(to, stream, path, true, &failure);
        fclose(stream);
    } else if (access(path, F_OK) == 0) {
        log_line(LOG_WARNING, "%s is not read: %s", path,
                 path_is_file(path) ? strerror(errno) : "it is no file");
    }
    free(path);
}

// The files that are read without being named on the command line.
static bool read_files(const struct target *to, bool with_remembered, struct failure *failure)
{
    const char *variable = getenv("NEURODOOM_CONFIG");
    char *user = path_user(PATH_CONFIG, "neurodoom.ini");
    bool good = read_file(to, "/etc/neurodoom/neurodoom.ini", false, failure);
    if (good && with_remembered) {
        read_remembered(to);
    }
    good = good && read_file(to, user, false, failure) &&
           (!variable || !*variable || read_file(to, variable, true, failure));
    free(user);
    return good;
}

bool config_load(struct settings *settings, const struct config_sources *sources, struct failure *failure)
{
    const struct target to = {settings, origins};
    *settings = (struct settings){0};
    for (int i = 0; i < SETTINGS; i++) {
        struct setting s = setting_at(i);
        const char *initial = s.initial ? s.initial : machine_engine_name(machine_default_engine());
        if (!set_at(&to, i, initial, BUILT_IN, failure)) {
            return false;
        }
    }
    return (!sources->files || read_files(&to, sources->remembered, failure)) &&
           (!sources->file || read_file(&to, sources->file, true, failure)) &&
           (!sources->command_line || config_apply(settings, sources->command_line, failure));
}

static void free_value(struct settings *settings, const struct setting *s)
{
    if (s->kind == KIND_TEXT || s->kind == KIND_GEOMETRY) {
        free(*(char **)place(settings, s));
    }
}

void config_free(struct settings *settings)
{
    for (int i = 0; i < SETTINGS; i++) {
        struct setting s = setting_at(i);
        free_value(settings, &s);
        free(origins[i]);
        free(watched[i]);
        origins[i] = watched[i] = NULL;
    }
    free(settings->wrong);
    *settings = (struct settings){0};
}

void config_dump(const struct settings *settings, FILE *stream)
{
    // A section's settings are not all neighbours in the table: each section is printed where it first
    // appears, with all of its keys.
    for (int first = 0; first < SETTINGS; first++) {
        const char *section = setting_at(first).section;
        bool seen = false;
        for (int i = 0; i < first; i++) {
            seen |= strcmp(setting_at(i).section, section) == 0;
        }
        if (seen) {
            continue;
        }
        fprintf(stream, "%s[%s]\n", first ? "\n" : "", section);
        for (int i = first; i < SETTINGS; i++) {
            struct setting s = setting_at(i);
            if (strcmp(s.section, section) == 0) {
                fprintf(stream, "# %s\n%s = ", origins[i], s.key);
                print_value(&s, place(settings, &s), stream);
                fputc('\n', stream);
            }
        }
    }
}

void config_watch(const struct settings *settings)
{
    for (int i = 0; i < SETTINGS; i++) {
        struct setting s = setting_at(i);
        free(watched[i]);
        watched[i] = value_text(&s, place(settings, &s));
    }
}

// Whether a line of a file gives this value back.
static bool fits_line(const char *value)
{
    char *copy = text_copy(value);
    bool fits = !strchr(copy, '\n') && strcmp(trim(copy), value) == 0;
    free(copy);
    return fits;
}

bool config_remember(const struct settings *settings)
{
    // Other games may have run meanwhile, and have changed what is in the file.
    struct settings kept = {0};
    char *in_file[SETTINGS] = {0}, *text = NULL;
    size_t size;
    bool any = false;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) {
        return false;
    }
    read_remembered(&(struct target){&kept, in_file});
    fputs("# What was last switched in the window. A settings file of your own wins over it.\n", stream);
    for (int i = 0; i < SETTINGS; i++) {
        struct setting s = setting_at(i);
        char *now = value_text(&s, place(settings, &s));
        bool changed = strcmp(now, watched[i]) != 0 && fits_line(now);
        if (changed || in_file[i]) {
            fprintf(stream, "[%s]\n%s = ", s.section, s.key);
            print_value(&s, place(changed ? settings : &kept, &s), stream);
            fputc('\n', stream);
        }
        any |= changed;
        free(now);
        free(in_file[i]);
        free_value(&kept, &s);
    }
    fclose(stream);
    char *folder = path_user(PATH_STATE, NULL), *path = path_user(PATH_STATE, REMEMBERED);
    bool good = !any || (path_make_folder(folder) && write_own_file(path, text, size));
    free(text);
    free(folder);
    free(path);
    config_watch(settings);
    return good;
}

bool config_is_given(const char *name)
{
    int i = find_name(name);
    return i >= 0 && strcmp(origins[i], COMMAND_LINE) == 0;
}

bool config_is_users(const char *name)
{
    int i = find_name(name);
    return i >= 0 && strcmp(origins[i], BUILT_IN) != 0 && !strstr(origins[i], REMEMBERED);
}

const char *config_choice_name(const char *name, int value)
{
    int i = find_name(name);
    return i >= 0 ? setting_at(i).words[value] : "";
}
