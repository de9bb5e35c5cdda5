// SPDX-License-Identifier: MIT
// A machine's state in a file: in front of the machine's own bytes what it belongs to, and what it looks
// like.
#ifndef FRONTEND_STATE_FILE_H
#define FRONTEND_STATE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"
#include "frontend/base/status.h"
#include "frontend/base/text.h"
#include "guest/device_page.h"

#define STATE_WADS 64

// What a state belongs to: by contents, not by where it lies.
struct state_identity {
    char program[65]; // SHA-256 of the guest
    uint32_t wad_count;
    struct state_wad {
        char name[64]; // the last part of its path, cut to fit
        char sha256[65];
    } wads[STATE_WADS]; // the game's and its add-ons, in their order
};

// Reads the files: some tens of milliseconds. False: *failure.
bool state_identity_read(struct state_identity *identity, const char *program, const struct text_list *wads,
                         struct failure *failure);

// What there is to be shown of a state.
struct state_summary {
    char version[64]; // of the program that saved it
    char level[16]; // "E1M2", "MAP07"; "title"; "" between levels
    uint32_t frame, gametic;
    uint32_t seconds; // of gametics
    int64_t saved_at; // seconds since 1970
    uint8_t picture[DEVICE_FRAME_HEIGHT * DEVICE_FRAME_WIDTH];
    uint8_t palette[256][3];
};

// What the machine has last published, and when; the picture is the caller's to fill.
void state_summary_of(struct state_summary *summary, const machine *m, const char *first_wad);

// Writes a whole file or nothing, on the disk when this returns. False: *failure.
bool state_file_write(const char *path, const struct state_identity *identity,
                      const struct state_summary *summary, const struct machine_bytes *bytes,
                      struct failure *failure);

// What a file holds, without the machine's bytes. identity and summary may be NULL. False: *failure, what is
// wrong with the file.
bool state_file_look(const char *path, struct state_identity *identity, struct state_summary *summary,
                     struct failure *failure);
// All of it, if it belongs to identity: bytes->data is the caller's to free. False: *failure.
bool state_file_read(const char *path, const struct state_identity *identity, struct state_summary *summary,
                     struct machine_bytes *bytes, struct failure *failure);

#endif
