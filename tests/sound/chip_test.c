// SPDX-License-Identifier: GPL-2.0-or-later
// The OPL chip as we play it against the one of the engine's source package: any writes to its registers, of
// both banks, the rhythm section, four-operator voices and all waveforms among them, give the same samples.
// The second bank is left alone for a while first, as DOOM's music does, and again and again put to rest.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "opl3.h"

enum { SAMPLES = 3000000, RATE = 49716, WRITE_EVERY = 40, SEEDS = 3 };

#define CHIP(prefix)                                                                                         \
    void prefix##OPL3_Reset(opl3_chip *chip, Bit32u rate);                                                   \
    void prefix##OPL3_WriteReg(opl3_chip *chip, Bit16u reg, Bit8u value);                                    \
    void prefix##OPL3_Generate(opl3_chip *chip, Bit16s *samples);
CHIP(package_)
CHIP(ours_)

static opl3_chip package, ours;

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 32) * limit >> 32);
}

static void write_both(unsigned reg, unsigned value)
{
    package_OPL3_WriteReg(&package, (Bit16u)reg, (Bit8u)value);
    ours_OPL3_WriteReg(&ours, (Bit16u)reg, (Bit8u)value);
}

// Notes go off oftener than on, and mostly fade soon, so that at any time many slots are silent.
static void write_something(uint64_t *state, unsigned banks)
{
    unsigned bank = random_below(state, banks) << 8, channel = random_below(state, 9),
             slot = random_below(state, 22), value = random_below(state, 256);
    switch (random_below(state, 12)) {
    case 0: write_both(bank | (0x20 + slot), value); break;
    case 1: write_both(bank | (0x40 + slot), value); break;
    case 2: write_both(bank | (0x60 + slot), value | 0x44); break;
    case 3: write_both(bank | (0x80 + slot), value | 0x08); break;
    case 4: write_both(bank | (0xa0 + channel), value); break;
    case 5:
    case 6: write_both(bank | (0xb0 + channel), value); break;
    case 7: write_both(bank | (0xc0 + channel), value); break;
    case 8: write_both(bank | (0xe0 + slot), value); break;
    case 9: write_both(random_below(state, 2) ? 0x105 : 0x104, value); break;
    case 10: write_both(0xbd, value); break;
    default: write_both(bank | (0xb0 + channel), value & ~0x20u); break;
    }
}

static void all_off(void)
{
    for (unsigned reg = 0xb0; reg < 0xb9; reg++) {
        write_both(reg, 0);
        write_both(0x100 | reg, 0);
    }
}

// The second bank gets notes without a frequency, which begin anew, or end and fade soon.
static void put_to_rest(bool begin)
{
    for (unsigned slot = 0; slot < 22; slot++)
        write_both(0x180 | slot, 0xff);
    for (unsigned channel = 0; channel < 9; channel++) {
        write_both(0x1a0 | channel, 0);
        write_both(0x1b0 | channel, begin ? 0x20 : 0);
    }
}

int main(void)
{
    uint64_t silent = 0, at_rest = 0;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        uint64_t state = seed;
        package_OPL3_Reset(&package, RATE);
        ours_OPL3_Reset(&ours, RATE);
        for (unsigned i = 0; i < SAMPLES; i++) {
            Bit16s expected[2], got[2];
            // One second of three the second bank is left alone.
            unsigned at = i % (3 * RATE);
            bool alone = at < RATE;
            if (at == 10 || at == 20)
                put_to_rest(at == 10);
            if (random_below(&state, WRITE_EVERY) == 0)
                write_something(&state, alone ? 1 : 2);
            if (i % RATE == 0)
                all_off();
            package_OPL3_Generate(&package, expected);
            ours_OPL3_Generate(&ours, got);
            if (expected[0] != got[0] || expected[1] != got[1]) {
                printf("not ok the chip: seed %u, sample %u: %d %d, not %d %d\n", seed, i, got[0], got[1],
                       expected[0], expected[1]);
                return 1;
            }
            for (unsigned k = 0; k < 36; k++)
                silent += package.slot[k].eg_rout == 0x1ff && !package.slot[k].key;
            at_rest += ours.second_rests;
        }
    }
    double share = (double)silent / 36 / SAMPLES / SEEDS, rests = (double)at_rest / SAMPLES / SEEDS;
    printf("%s the chip: %u samples, %.0f %% of its slots silent, in %.0f %% the second bank at rest\n",
           share > 0.2 && share < 0.95 && rests > 0.1 && rests < 0.4 ? "ok" : "not ok", SAMPLES * SEEDS,
           100 * share, 100 * rests);
    return 0;
}
