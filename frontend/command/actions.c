// SPDX-License-Identifier: MIT
#include "actions.h"

#include <stddef.h>

#include "core/core.h"

#define NO_COMPARISON "the comparison of two settings is not built in"
#define NO_LOOPS "built without LLVM, no loop is replaced"
#define NO_TRANSLATOR "built without LLVM, there is only the interpreter"

const struct action_info action_table[ACTION_COUNT] = {
    [ACTION_NEURAL] = {"neural", "neural, all of it", "N", "Insert", 0},
    [ACTION_DISPATCH] = {"dispatch", "dispatch by net", "D", "-", 0},
    [ACTION_LOOPS] = {"loops", "loop replacement", "L", "-", 0},
    [ACTION_IDLE] = {"idle", "idle waits", "I", "-", 0},
    [ACTION_ENGINE] = {"engine", "engine", "X", "-", 0},
    [ACTION_COMPARE] = {"compare", "live A/B", "A", "-", NO_COMPARISON},
    [ACTION_OVERLAY] = {"overlay", "overlay", "O", "Home", 0},
    [ACTION_GRAPH] = {"graph", "graph", "G", "-", 0},
    [ACTION_RECORD] = {"record", "record frame times", "B", "End", 0},
    [ACTION_MARKER] = {"marker", "set a marker", "M", "-", 0},
    [ACTION_RESET] = {"reset", "reset the figures", "R", "Delete", 0},
    [ACTION_SLOWER] = {"slower", "slower", ",", "PageDown", 0},
    [ACTION_FASTER] = {"faster", "faster", ".", "PageUp", 0},
    [ACTION_NORMAL_SPEED] = {"normal-speed", "speed 100 %", "/", "-", 0},
    [ACTION_MAX_SPEED] = {"max-speed", "as fast as possible", "F", "-", 0},
    [ACTION_PAUSE] = {"pause", "pause", "P", "-", 0},
    [ACTION_STEP] = {"step", "one frame on", "Space", "-", 0},
    [ACTION_SCREENSHOT] = {"screenshot", "screenshot", "T", "PrintScreen", 0},
    [ACTION_FULLSCREEN] = {"fullscreen", "fullscreen", "Return", "Alt+Return", 0},
    [ACTION_SCALE] = {"scale", "scale", "-", "-", 0},
    [ACTION_ASPECT] = {"aspect", "aspect", "-", "-", 0},
    [ACTION_FILTER] = {"filter", "filter", "-", "-", 0},
    [ACTION_VSYNC] = {"vsync", "vsync", "-", "-", 0},
    [ACTION_HELP] = {"help", "help", "H", "-", 0},
    [ACTION_QUIT] = {"quit", "quit", "Q", "-", 0},
};

const char *action_missing(enum action action)
{
    enum machine_engine engine;
    if ((action == ACTION_ENGINE || action == ACTION_LOOPS) &&
        !machine_engine_by_name("translate", &engine)) {
        return action == ACTION_ENGINE ? NO_TRANSLATOR : NO_LOOPS;
    }
    return action_table[action].missing;
}
