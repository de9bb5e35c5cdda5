// SPDX-License-Identifier: MIT
// Progress of long work, and Ctrl-C. On a terminal one line that is rewritten ten times a second at most;
// elsewhere a plain line every ten seconds at most, so that a log stays readable.
#ifndef NN_PROGRESS_H
#define NN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *out;
    const char *what; // "training", "words"
    const char *unit; // what is counted, for the rate: "samples"
    uint64_t total, first; // first: where a resumed run began
    double started, shown; // seconds
    bool terminal, dirty;
};

// out: usually stderr. Strings have to outlive p.
void progress_begin(struct progress *p, FILE *out, const char *what, const char *unit, uint64_t total,
                    uint64_t first);
// done out of total; note: "epoch 3 of 40, loss 0.0123" or NULL. Shows rate and time left.
void progress_update(struct progress *p, uint64_t done, const char *note);
// A line that stays, on a line of its own.
void progress_say(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Ends the line.
void progress_end(struct progress *p);

// From now on the first Ctrl-C or SIGTERM is only noted, for the work to stop in good order; a second one
// ends the program at once.
void interrupt_note(void);
bool interrupt_noted(void);

#endif
