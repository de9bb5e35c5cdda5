// SPDX-License-Identifier: MIT
// What the lines of sequences.def are written in.
#ifndef CORE_ENGINE_INTERP_SEQUENCES_H
#define CORE_ENGINE_INTERP_SEQUENCES_H

enum {
    SEQUENCE_MAX = 12, // instructions
    SEQUENCE_FIELD = 64, // plus a field's value
    _ = 255, // whatever the op has there
};

// Where the direct branch at a sequence's end goes: ROUND is back to its begin, by a condition.
enum sequence_direction { FORWARD, BACKWARD, ROUND };

#endif
