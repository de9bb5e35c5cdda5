// SPDX-License-Identifier: MIT
// Which pixels one loop writes: whenever the interpreter comes to its header, the summary says where the
// iteration that begins will store. Emulation thread only.
#ifndef CORE_LOOPS_TRACE_H
#define CORE_LOOPS_TRACE_H

#include "core/loops/expr/summary.h"
#include "core/state/guest.h"

enum { TRACE_PIXELS = 320 * 200 };

struct loop_trace {
    uint32_t header;
    uint32_t handler; // the interpreter's own: of the header's op
    unsigned frames; // presented since the header was patched: of the first only a part may be in shown
    uint8_t written[TRACE_PIXELS]; // since the last presented frame; 1: yes
    uint8_t shown[TRACE_PIXELS]; // in the frame presented last
    struct loop_summary summary;
};

// Of a loop that is known to g->loops. NULL: no other is, it has no summary, or there is no memory.
struct loop_trace *loop_trace_create(const struct guest *g, uint32_t header);
void loop_trace_destroy(struct loop_trace *t);

// Whether memory still holds the code that was summarised.
bool loop_trace_is_current(const struct loop_trace *t, struct memory *memory);
// The guest has come to the header: takes down the stores of this iteration that go to the pixels.
void loop_trace_arrive(struct loop_trace *t, struct guest *g);
// A frame is presented: what was written is what it shows, and the next frame begins.
void loop_trace_present(struct loop_trace *t);
// Whether shown is all that the loop has written in its frame.
bool loop_trace_is_whole(const struct loop_trace *t);

#endif
