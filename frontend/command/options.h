// SPDX-License-Identifier: MIT
// The command line: host options, mostly in GNU style, and DOOM's own options, which reach the engine
// unchanged whether they are written with one dash or two.
#ifndef FRONTEND_OPTIONS_H
#define FRONTEND_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "frontend/base/status.h"
#include "frontend/base/text.h"

enum request {
    REQUEST_PLAY,
    REQUEST_HELP,
    REQUEST_VERSION,
    REQUEST_FEATURES,
    REQUEST_DOCTOR,
    REQUEST_LIST_WADS,
    REQUEST_LIST_KEYS,
    REQUEST_DUMP_CONFIG,
};

struct screenshot_order {
    uint32_t frame; // the first frame is 1
    char *path;
};

// What a DOOM option's values are, where they name files.
enum doom_files {
    DOOM_NO_FILES,
    DOOM_IWAD,
    DOOM_WADS,
    DOOM_READS, // any other file that is read
    DOOM_DEMO_READ, // NAME or NAME.lmp, or a lump of the WAD
    DOOM_DEMO_WRITTEN,
    DOOM_CONFIGURATION, // read at the start and written at the end
};

struct doom_option {
    const char *name; // with one dash
    enum doom_files files;
    struct text_list values;
};

struct options {
    enum request request;
    bool headless;
    bool dispatch_given, loops_given, idle_given; // by --opt, which wins over --neural
    uint32_t frames; // stop after that many; 0: when the game ends
    struct screenshot_order *screenshots;
    size_t screenshot_count;
    char *frame_hash, *stats, *csv, *json, *wav, *audio_hash, *config_file; // paths or NULL
    struct text_list settings; // "section.key=value"
    struct doom_option *doom;
    size_t doom_count;
};

// False: *failure says what is wrong. In either case options_free is due.
bool options_parse(struct options *options, int argc, char *const *argv, struct failure *failure);
void options_free(struct options *options);

// The given DOOM option (with one dash), or NULL.
const struct doom_option *options_doom(const struct options *options, const char *name);

// The page that --help prints.
void options_print_help(FILE *stream);

#endif
