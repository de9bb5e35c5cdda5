// SPDX-License-Identifier: MIT
// A recording of everything that a game hung on: how it was started, which files it could read, what was in
// the folders that it may write in, and the machine's log of input. Nothing else is needed to have that run
// again but the same program and WADs, which are named by their SHA-256.
#ifndef FRONTEND_INPUT_FILE_H
#define FRONTEND_INPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"
#include "frontend/base/status.h"
#include "frontend/base/text.h"

// ---- writing ----

struct input_writer;

// Begins a recording of a game that is to be started so; config has to have its grants. The file appears
// under its name with its first second, whole up to some second whenever the program ends. NULL: *failure.
struct input_writer *input_writer_open(const char *path, const struct machine_config *config,
                                       struct failure *failure);
// The machine, which has not run yet, has been made what was saved: state, or NULL for a game from its start.
// False, once: errno.
bool input_writer_begin(struct input_writer *w, machine *m, const struct machine_bytes *state);
// In the machine's present callback, or after its end: takes what it has recorded. False, once: the file
// cannot be written any more; errno.
bool input_writer_take(struct input_writer *w, machine *m);
// Adds what was recorded otherwise.
void input_writer_add(struct input_writer *w, const void *log, size_t size);
// The game stands behind that frame again: what was recorded later does not count. False, once: errno.
bool input_writer_rewind(struct input_writer *w, machine *m, uint32_t frame);
// False: errno.
bool input_writer_close(struct input_writer *w);

// ---- reading ----

// A file that the game could read, or one in a folder that it could write in.
struct input_part {
    char *guest; // absolute path
    char sha256[65]; // of what can only be read, else ""
    bool folder; // of what could be written
    uint8_t *bytes; // of a file within or at what could be written
    size_t size;
};

struct input_file {
    char program[65]; // SHA-256
    struct text_list arguments, environment;
    char *cwd; // or NULL
    uint64_t ram;
    bool virtual_clock;
    struct input_part *reads, *writes, *files; // files: what was in the second
    size_t read_count, write_count, file_count;
    size_t kept; // bytes of the third, names included
    struct machine_bytes state; // from which it goes on; none: from the start
    uint8_t *log; // extent.size bytes of it count
    struct machine_input extent;
    bool cut; // the file ends within a chunk
};

// Reads and checks a recording as something that an enemy may have made. NULL: *failure.
struct input_file *input_file_read(const char *path, struct failure *failure);
void input_file_free(struct input_file *f);

#endif
