// SPDX-License-Identifier: MIT
// Loops that a bit decides, run one iteration after the other, and how far code_find_way says that they have
// to go: the sign bit is a comparison with 0, no other bit is.
#include <stdio.h>

#include "core/loops/propose/loop_code.h"

struct bit_loop {
    const char *what;
    int64_t start, step;
    unsigned bit;
    bool while_set;
};

// add (or sub) x0, x0, #step; tbnz (or tbz) x0, #bit, the addition
static struct loop_body body_of(const struct bit_loop *l)
{
    const uint32_t amount = (uint32_t)(l->step < 0 ? -l->step : l->step);
    const uint32_t add = (l->step < 0 ? 0xd1000000u : 0x91000000u) | amount << 10;
    const uint32_t test = (l->while_set ? 0x37000000u : 0x36000000u) | (l->bit >> 5) << 31 |
                          (l->bit & 31) << 19 | (uint32_t)(-1 & 0x3fff) << 5;
    return (struct loop_body){.pc = 0x400000, .length = 2, .words = {add, test}, .x = {(uint64_t)l->start}};
}

static uint64_t count_iterations(const struct bit_loop *l)
{
    uint64_t x = (uint64_t)l->start, count = 0;
    do {
        x += (uint64_t)l->step;
        count++;
    } while ((x >> l->bit & 1) == l->while_set);
    return count;
}

// Iterations until the distance is used up, the one that ends the loop among them.
static uint64_t iterations_of(const struct code_way *way)
{
    const uint64_t distance = (uint64_t)(way->distance < 0 ? -way->distance : way->distance);
    const uint64_t step = (uint64_t)(way->step < 0 ? -way->step : way->step);
    return way->inclusive ? distance / step + 1 : (distance + step - 1) / step;
}

static void find_way(const struct bit_loop *l, struct code_way *way)
{
    const struct loop_body body = body_of(l);
    struct code_body code;
    code_read(&body, &code);
    code_find_way(&code, body.x, 31, way);
}

int main(void)
{
    static const struct bit_loop loops[] = {
        {"down to below 0, bit 63", 100, -3, 63, false},
        {"down to below 0 at once, bit 63", 2, -3, 63, false},
        {"up to 0, bit 63", -100, 3, 63, true},
        {"down to below 0, bit 31", 70, -7, 31, false},
    };
    static const struct bit_loop others[] = {
        {"bit 62", -1, -3, 62, true}, {"bit 5", 63, -1, 5, true}, {"bit 30", -1, -3, 30, true}};
    int bad = 0;
    for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++) {
        struct code_way way;
        find_way(&loops[i], &way);
        const uint64_t is = count_iterations(&loops[i]);
        const bool good =
            way.found && way.counter == 0 && way.step == loops[i].step && iterations_of(&way) == is;
        printf("%sok %s: %llu iterations\n", good ? "" : "not ", loops[i].what, (unsigned long long)is);
        bad += !good;
    }
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        struct code_way way;
        find_way(&others[i], &way);
        printf("%sok %s is no sign\n", way.found ? "not " : "", others[i].what);
        bad += way.found;
    }
    return bad != 0;
}
