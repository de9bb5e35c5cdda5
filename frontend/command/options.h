// SPDX-License-Identifier: MIT
// What the command lines of neurodoom and a64run say, and how both read the options that are ours, in GNU
// style.
#ifndef FRONTEND_OPTIONS_H
#define FRONTEND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    REQUEST_PREPARE,
    REQUEST_TRANSLATE_REST,
    REQUEST_BENCH,
    REQUEST_COMPARE,
    REQUEST_RERUN,
};

// Files to be written when a certain frame has been presented.
struct frame_orders {
    struct frame_order {
        uint32_t frame; // the first frame is 1
        char *path;
    } * items;
    size_t count;
};

// What a DOOM option's values are, where they name files.
enum doom_files {
    DOOM_NO_FILES,
    DOOM_IWAD,
    DOOM_WADS,
    DOOM_READS, // any other file that is read
    DOOM_DEMO_READ, // NAME or NAME.lmp, or a lump of the WAD
    DOOM_DEMO_WRITTEN,
    DOOM_WRITTEN, // any other file that is written at the end, and may be read before
};

struct doom_option {
    const char *name; // with one dash
    enum doom_files files;
    struct text_list values;
};

// What --bench and its companions say. NULL, or 0: not given.
struct bench_options {
    char *works; // "" for a plain --bench
    char *sides, *against; // --ab, --against
    char *rerun; // its two sides
    char *out; // a folder
    char *plot; // a file
    char *earlier, *later; // reports to be compared
    uint32_t runs, warmup;
};

struct options {
    enum request request;
    bool headless;
    bool dispatch_given, loops_given, idle_given; // by --opt, which wins over --neural
    uint64_t explain_loop; // its address, or 0
    uint32_t frames; // stop after that many; 0: when the game ends
    uint32_t turns; // give way after each so many; 0: never
    struct frame_orders screenshots, saves; // pictures; states of the machine
    char *frame_hash, *stats, *profile, *count, *csv, *json, *wav, *audio_hash, *config_file,
        *models; // paths or NULL
    char *state, *record_input, *replay_input; // the same
    bool mangohud; // how --csv is written
    char *split; // what the two sides of a split screen are, or NULL
    struct bench_options bench;
    struct text_list passed; // the words of the command line that a run of --bench gets, too
    struct text_list folders; // that the program may write in
    struct text_list settings; // "section.key=value"
    struct doom_option *doom;
    size_t doom_count;
    char *const *program; // and its arguments, of the command line
};

void options_free(struct options *options);

// ---- our own options, as tables ----

enum option_kind {
    OPTION_REQUEST, // number: enum request
    OPTION_SETTING, // text: section.key; takes a value
    OPTION_FIXED_SETTING, // text: section.key=value
    OPTION_PATH, // number: offset of a char * in struct options
    OPTION_TEXT, // the same, of anything
    OPTION_LIST, // number: offset of a struct text_list in struct options; may be given again
    OPTION_HEADLESS,
    OPTION_COUNT, // number: offset of a uint32_t in struct options; text: of what
    OPTION_LOOP,
    OPTION_FRAME_FILE, // number: offset of a struct frame_orders in struct options; text: a file's name
    OPTION_SET,
    OPTION_OPT,
    OPTION_BENCH, // may have a value, after "="
    OPTION_COMPARE, // takes two values
    OPTION_RERUN,
    OPTION_CSV_FORMAT,
};

struct option {
    const char *name; // without dashes
    enum option_kind kind;
    const char *text;
    size_t number;
};

// The option of that name (length bytes) in a table of count options, or NULL.
const struct option *options_find(const struct option *table, size_t count, const char *name, size_t length);

// Does what the option at argv[*at] says, with its value in the same word, behind "=" (after_name: what
// follows its name there), or in the next one; *at moves to the last word used.
bool options_apply(struct options *options, const struct option *option, const char *after_name, int argc,
                   char *const *argv, int *at, struct failure *failure);

#endif
