// SPDX-License-Identifier: MIT
// frontend/record/turns.h: what is expected was worked out by hand. Frames here last 20 ms, so a turn is 25
// of them that settle, 100 and 125.
#include "frontend/record/turns.h"

#include <stdio.h>
#include <string.h>

enum { TURN = 250, SETTLING = 25, FRAME_MS = 20 };

static const char *const names[2] = {"loops on", "loops off"};
static struct turns t;
static uint32_t number;

static void expect(const char *what, bool good)
{
    printf("%s %s\n", good ? "ok" : "not ok", what);
}

static void expect_text(const char *what, bool over, const char *expected)
{
    char text[160];
    turns_tell(&t, names, over, text, sizeof text);
    bool good = strstr(text, expected) != NULL;
    printf("%s %s%s%s%s\n", good ? "ok" : "not ok", what, good ? "" : " (", good ? "" : text,
           good ? "" : ")");
}

static bool frame(double emu_ms, bool steady)
{
    struct frame_figures f = {.number = ++number, .frame_ms = FRAME_MS, .emu_ms = emu_ms};
    return turns_frame(&t, &f, steady);
}

// A turn whose frames take that long once they have settled; 1000 ms before. Returns after how many it ends.
static int turn(double emu_ms)
{
    for (int i = 1; i <= 2 * TURN; i++) {
        if (frame(i <= SETTLING ? 1000 : emu_ms, true)) {
            return i;
        }
    }
    return 0;
}

// Turns of which the one side takes 1 ms, the other that long.
static void turns(int count, double other)
{
    turns_start(&t, 0);
    number = 0;
    for (int i = 0; i < count; i++) {
        turn(t.side ? other : 1);
    }
}

static void test_swaps(void)
{
    turns_start(&t, 1);
    expect("a turn is five seconds of frames", turn(1) == TURN);
    expect("then it is the other side's", t.side == 0);
    turns(7, 2);
    expect("six swaps are complete in the first two seconds of the seventh turn", t.blocks == 6);
    turns(6, 2);
    expect_text("before, there is no interval", false, "loops on 1.00, off 2.00 ms so far, 5 of 6 swaps");
    expect_text("and at the end none, either", true, "loops on 1.00, off 2.00 ms: too few turns to say more");
    turns(1, 2);
    expect_text("of one turn nothing is said", true, "loops on, off: too few turns to say anything");
}

static void test_verdicts(void)
{
    turns(7, 2);
    expect_text("frames that settle do not count", false,
                "loops on 1.00, off 2.00 ms: 2.00× as fast (2.00 to 2.00)");
    turns(7, 0.25);
    expect_text("the faster side is named first", true,
                "loops off 0.25, on 1.00 ms: 4.00× as fast (4.00 to 4.00)");
    turns(7, 80);
    expect_text("many times are told by fewer digits", true, "off 80.0 ms: 80.0× as fast (80.0 to 80.0)");
    turns(9, 1);
    expect_text("of equal ones none is", true, "no difference found (1.00 to 1.00)");
}

// The game becomes a tenth harder with each turn: the side that comes later is slower, and that is each in
// turn.
static void test_drift(void)
{
    double ms = 1;
    turns_start(&t, 0);
    number = 0;
    for (int i = 0; i < 21; i++) {
        turn(ms);
        ms *= 1.1;
    }
    expect_text("what changes in the game is no difference of the sides", true, "no difference found (0.9");
}

static void test_disturbances(void)
{
    turns(7, 2);
    for (int i = 0; i < 60; i++) {
        frame(3, true); // a block begins with the eighth turn
    }
    frame(1000, false);
    int more = 0;
    while (!frame(++more <= SETTLING - 1 ? 1000 : 2, true)) {
    }
    expect("a frame that is not steady, and half a second after it, make the turn longer",
           61 + more == TURN + SETTLING);
    expect_text("and count for nothing", true, "loops on 1.00, off 2.00 ms:");

    turns(3, 2);
    size_t blocks = t.blocks;
    number += 100;
    expect("where frames are missing the turn begins anew", turn(2) == TURN);
    expect("and is not compared with the one before", t.blocks == blocks);
    number = 10;
    expect("so it does where the game goes back", turn(1) == TURN && t.blocks == blocks);
    turns(7, 2);
    turn(1);
    expect("what is missing is made up for later", t.blocks == 7);

    turns(TURNS_BLOCKS + 9, 2);
    expect("there is an end to it", turns_full(&t) && t.blocks == TURNS_BLOCKS);
}

int main(void)
{
    test_swaps();
    test_verdicts();
    test_drift();
    test_disturbances();
    return 0;
}
