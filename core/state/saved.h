// SPDX-License-Identifier: MIT
// A machine's state as a row of bytes. What describes a structure calls saved_bytes for each of its fields,
// and the same description writes and reads it.
#ifndef CORE_STATE_SAVED_H
#define CORE_STATE_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

struct saved {
    uint8_t *data; // written: on the heap, the caller's to free; read: not owned
    size_t size; // of them there, when reading; written so far
    size_t at; // read so far
    size_t room;
    bool loading;
    bool failed; // error says why; what is read from then on is zero, what is written is lost
    struct error error; // of the first failure
};

struct saved saved_writer(void);
struct saved saved_reader(const void *data, size_t size);

// Writes the bytes, or replaces them by those that were written.
void saved_bytes(struct saved *s, void *bytes, size_t size);
#define SAVED(s, field) saved_bytes(s, &(field), sizeof(field))

// A zero-terminated text on the heap, NULL like "", of at most most bytes; read: the caller's to free.
void saved_text(struct saved *s, char **text, size_t most);

// Where a part begins: its name has to be the one that was written.
void saved_part(struct saved *s, uint32_t name);

// Fails unless good, when reading: such a state is no machine's.
void saved_expect(struct saved *s, bool good, const char *what);
void saved_fail(struct saved *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Room for size bytes at the end of what is written, or NULL: then s has failed.
uint8_t *saved_extend(struct saved *s, size_t size);

#endif
