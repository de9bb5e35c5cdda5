// SPDX-License-Identifier: MIT
// The lines of sequences.def, which LINES_DEF names, as data.
#ifndef TESTS_LOCKSTEP_LINES_H
#define TESTS_LOCKSTEP_LINES_H

#include <stdint.h>

#include "core/engine/interp/sequences.h"
#include "core/isa/cpu.h"

static const struct line {
    int number;
    enum sequence_direction direction;
    struct {
        uint16_t insn;
        uint8_t bytes[4]; // d, n, m, a
    } steps[SEQUENCE_MAX];
} lines[] = {
#define STEP(name, d, n, m, a) {INSN_##name, {d, n, m, a}},
#define LAST_CONDITION(name, d, n, m, a) {INSN_##name, {d, n, m, a}},
#define LAST_JUMP(name) {INSN_##name, {_, _, _, _}},
#define LAST_INDIRECT(name) {INSN_##name, {_, _, _, _}},
#define SEQUENCE(number, direction, steps) {number, direction, {steps}},
#define PART(number) 1
#include LINES_DEF
};

enum { LINES = sizeof lines / sizeof lines[0] };

static inline unsigned length_of(const struct line *l)
{
    unsigned length = 0;
    while (length < SEQUENCE_MAX && l->steps[length].insn != INSN_UNDEFINED)
        length++;
    return length;
}

#endif
