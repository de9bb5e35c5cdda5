// SPDX-License-Identifier: MIT
#include "actions.h"

#include <stddef.h>

#include "core/core.h"

#define NO_COMPARISON "the comparison of two settings is not built in"
#define NO_LOOPS "built without LLVM, no loop is replaced"
#define NO_TRANSLATOR "built without LLVM, there is only the interpreter"

const struct action_info action_table[ACTION_COUNT] = {
    [ACTION_NEURAL] = {"neural", "Everything neural", "all that nets do, and waiting", PAGE_NEURAL, "N",
                       "Insert", 0},
    [ACTION_LOOPS] = {"loops", "Loops", "hot loops, recognised and proved, run faster", PAGE_NEURAL, "L", "-",
                      0},
    [ACTION_DISPATCH] = {"dispatch", "Dispatch", "a net names instructions: hybrid, pure, live", PAGE_NEURAL,
                         "D", "-", 0},
    [ACTION_IDLE] = {"idle", "Waiting", "the processor sleeps while the game waits", PAGE_NEURAL, "I", "-",
                     0},
    [ACTION_ENGINE] = {"engine", "Engine", "translate to host code, or interpret: slower", PAGE_NEURAL, "X",
                       "-", 0},
    [ACTION_VERIFY] = {"verify", "Check everything", "loops run as they are, too, to compare: slower",
                       PAGE_NEURAL, "C", "-", 0},
    [ACTION_COMPARE] = {"compare", "Live A/B", "swaps two settings every 5 s and shows both", PAGE_COMPARE,
                        "A", "-", NO_COMPARISON},
    [ACTION_OVERLAY] = {"overlay", "Overlay", "off, mini, std or full", PAGE_PICTURE, "O", "Home", 0},
    [ACTION_GRAPH] = {"graph", "Graph", "time to emulate each of the last 150 frames", PAGE_PICTURE, "G", "-",
                      0},
    [ACTION_RECORD] = {"record", "Record frame times", "to a CSV and a JSON file, until pressed again",
                       PAGE_COMPARE, "B", "End", 0},
    [ACTION_MARKER] = {"marker", "Set a marker", "in the graph and in what is recorded", PAGE_COMPARE, "M",
                       "-", 0},
    [ACTION_RESET] = {"reset", "Reset the figures", "the graph and the means begin anew", PAGE_COMPARE, "R",
                      "Delete", 0},
    [ACTION_SLOWER] = {"slower", "Slower", "the next lower speed of the game", PAGE_PLAY, ",", "PageDown", 0},
    [ACTION_FASTER] = {"faster", "Faster", "the next higher speed of the game", PAGE_PLAY, ".", "PageUp", 0},
    [ACTION_NORMAL_SPEED] = {"normal-speed", "Speed 100 %", "as DOOM ran: 35 tics a second", PAGE_PLAY, "/",
                             "-", 0},
    [ACTION_MAX_SPEED] = {"max-speed", "As fast as possible", "no waiting between frames; silent", PAGE_PLAY,
                          "F", "-", 0},
    [ACTION_FAST_FORWARD] = {"fast-forward", "Fast-forward", "as fast as possible, while its key is held",
                             PAGE_PLAY, "Tab", "-", 0, true},
    [ACTION_REWIND] = {"rewind", "Rewind", "the game goes back while its key is held, up to a minute or so",
                       PAGE_PLAY, "Backspace", "-", 0, true},
    [ACTION_PAUSE] = {"pause", "Pause", "the game and its clock stand still", PAGE_PLAY, "P", "-", 0},
    [ACTION_STEP] = {"step", "One frame on", "then it pauses", PAGE_PLAY, "Space", "-", 0},
    [ACTION_SAVE_STATE] = {"save-state", "Save state", "the whole game as it is now, to the chosen slot",
                           PAGE_PLAY, "S", "-", 0},
    [ACTION_LOAD_STATE] = {"load-state", "Load state", "the game as it was saved to the chosen slot",
                           PAGE_PLAY, "W", "-", 0},
    [ACTION_SLOT] = {"slot", "Slot", "which of ten is saved to and loaded", PAGE_PLAY,
                     "0, 1, 2, 3, 4, 5, 6, 7, 8, 9", "-", 0},
    [ACTION_UNDO_STATE] = {"undo-state", "Undo", "what the last saving or loading of a state has done",
                           PAGE_PLAY, "U", "-", 0},
    [ACTION_PAUSE_UNFOCUSED] = {"pause-unfocused", "Pause without focus",
                                "while another window has the keyboard", PAGE_PLAY, "-", "-", 0},
    [ACTION_SCREENSHOT] = {"screenshot", "Screenshot", "a PNG file of what is seen, in the data folder",
                           PAGE_PICTURE, "T", "PrintScreen", 0},
    [ACTION_CLEAN_SCREENSHOT] = {"clean-screenshot", "Clean screenshot", "the game's picture alone, 320x200",
                                 PAGE_PICTURE, "E", "-", 0},
    [ACTION_FULLSCREEN] = {"fullscreen", "Fullscreen", "the whole screen, or a window", PAGE_PICTURE,
                           "Return", "Alt+Return", 0},
    [ACTION_SCALE] = {"scale", "Scale", "fit the window, whole steps only, or stretch", PAGE_PICTURE, "-",
                      "-", 0},
    [ACTION_ASPECT] = {"aspect", "Aspect", "4:3 as on old screens, or square pixels", PAGE_PICTURE, "-", "-",
                       0},
    [ACTION_FILTER] = {"filter", "Filter", "sharp edges, nearest pixel, or soft", PAGE_PICTURE, "-", "-", 0},
    [ACTION_VSYNC] = {"vsync", "Vsync", "pictures change with the screen: no tearing", PAGE_PICTURE, "-", "-",
                      0},
    [ACTION_LOOP_PAGE] = {"loop-page", "Loop page", "a hot loop: its code, nets, proof, savings", PAGE_NEURAL,
                          "J", "-", 0},
    [ACTION_CORNER] = {"overlay-corner", "Overlay corner", "where the figures stand", PAGE_PICTURE, "-", "-",
                       0},
    [ACTION_OPACITY] = {"overlay-opacity", "Overlay opacity", "how dark the ground behind figures is",
                        PAGE_PICTURE, "-", "-", 0},
    [ACTION_OVERLAY_SCALE] = {"overlay-scale", "Overlay size", "of its text", PAGE_PICTURE, "-", "-", 0},
    [ACTION_VOLUME] = {"volume", "Volume", "of the game, besides its own setting", PAGE_PICTURE, "-", "-", 0},
    [ACTION_MUTE_UNFOCUSED] = {"mute-unfocused", "Mute without focus",
                               "while another window has the keyboard", PAGE_PICTURE, "-", "-", 0},
    [ACTION_ALL_KEYS] = {"all-keys", "All keys to the game", "ours, too, until this one is pressed again",
                         PAGE_PLAY, "K", "ScrollLock", 0},
    [ACTION_HELP] = {"help", "Help", "what the figures mean, and the keys", PAGE_PLAY, "H", "-", 0},
    [ACTION_QUIT] = {"quit", "Quit", "the game ends in good order", PAGE_PLAY, "Q", "-", 0},
};

const char *action_missing(enum action action)
{
    enum machine_engine engine;
    if ((action == ACTION_ENGINE || action == ACTION_LOOPS || action == ACTION_VERIFY) &&
        !machine_engine_by_name("translate", &engine)) {
        return action == ACTION_ENGINE ? NO_TRANSLATOR : NO_LOOPS;
    }
    return action_table[action].missing;
}
