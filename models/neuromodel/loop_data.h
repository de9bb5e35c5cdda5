// SPDX-License-Identifier: MIT
// Loops as training data: what `neuromodel generate` and `neuromodel collect` write and what training and
// evaluation read.
#ifndef MODELS_LOOP_DATA_H
#define MODELS_LOOP_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"
#include "core/loops/propose/loop_nets.h"

enum { LOOP_TRIPS_MAX = 8 };

// What one instruction does to memory, but for the stack's own slots, from one iteration to the next.
struct loop_stream {
    bool is_store;
    uint8_t size; // bytes
    enum { STREAM_STEADY, STREAM_GATHER, STREAM_OTHER } kind; // GATHER: the address hangs on a load
    int64_t step; // STEADY: bytes, with the registers of the first recorded entry
};

struct loop_sample {
    struct loop_body body; // registers of the first recorded entry
    enum loop_class class;
    enum loop_type type;
    unsigned counter; // 31 = none
    bool counted; // the trip count is fixed when the loop is entered
    unsigned trips_count; // recorded entries, the first of which is body.x's
    uint64_t trips[LOOP_TRIPS_MAX];
    uint64_t entries, iterations; // seen in all
    unsigned stream_count; // of real programs
    struct loop_stream streams[LOOP_BODY_MAX];
    char program[48]; // the split is by program …
    char compiler[16]; // … and by compiler and level: "gcc-O2", "clang-Os"; "doom", … for real programs
    char function[48];
};

// How files and JSON name classes: as in loop_classes.def.
extern const char *const loop_class_words[LOOP_CLASSES];

struct loop_data {
    struct loop_sample *samples;
    size_t count, room;
};

// Reads a file of samples (text, one a line); false with a message in error.
bool loop_data_read(const char *path, struct loop_data *data, struct error *error);
// Replaces the file by one of these samples; false with a message in error.
bool loop_data_write(const char *path, const struct loop_data *data, struct error *error);
// False if there is no memory.
bool loop_data_add(struct loop_data *data, const struct loop_sample *sample);
void loop_data_free(struct loop_data *data);
enum { LOOP_STREAM_TEXT = 32 };
// As in files; returns text.
const char *loop_stream_text(const struct loop_stream *stream, char text[LOOP_STREAM_TEXT]);
// Drops samples whose bodies are equal but for the addresses in branches, ADR, ADRP and literals;
// entries and iterations add up.
void loop_data_deduplicate(struct loop_data *data);

#endif
