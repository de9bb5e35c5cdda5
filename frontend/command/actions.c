// SPDX-License-Identifier: MIT
#include "actions.h"

#include <stddef.h>

#include "core/core.h"

#define NO_LOOPS "built without LLVM, no loop is replaced"
#define NO_TRANSLATOR "built without LLVM, there is only the interpreter"

const struct action_info action_table[ACTION_COUNT] = {
    [ACTION_NEURAL] = {"neural", "Everything neural", "all that nets do, and waiting", PAGE_NEURAL, "N",
                       "Insert"},
    [ACTION_LOOPS] = {"loops", "Loops", "hot loops, recognised and proved, run faster", PAGE_NEURAL, "L",
                      "-"},
    [ACTION_DISPATCH] = {"dispatch", "Dispatch", "a net names instructions: hybrid, pure, live", PAGE_NEURAL,
                         "D", "-"},
    [ACTION_IDLE] = {"idle", "Waiting", "the processor sleeps while the game waits", PAGE_NEURAL, "I", "-"},
    [ACTION_ENGINE] = {"engine", "Engine", "translate to host code, or interpret: slower", PAGE_NEURAL, "X",
                       "-"},
    [ACTION_VERIFY] = {"verify", "Check everything", "loops run as they are, too, to compare: slower",
                       PAGE_NEURAL, "C", "-"},
    [ACTION_COMPARE] = {"compare", "Live A/B", "throws a switch every 5 s and says which side wins",
                        PAGE_COMPARE, "A", "-"},
    [ACTION_AGAIN] = {"instant-replay", "Instant replay A/B",
                      "your last 10 s again, with both sides of a switch", PAGE_COMPARE, "V", "-"},
    [ACTION_OVERLAY] = {"overlay", "Overlay", "off, mini, std or full", PAGE_PICTURE, "O", "Home"},
    [ACTION_GRAPH] = {"graph", "Graph", "time to emulate each of the last 150 frames", PAGE_PICTURE, "G",
                      "-"},
    [ACTION_RECORD] = {"record", "Record frame times", "to a CSV and a JSON file, until pressed again",
                       PAGE_COMPARE, "B", "End"},
    [ACTION_MARKER] = {"marker", "Set a marker", "in the graph and in what is recorded", PAGE_COMPARE, "M",
                       "-"},
    [ACTION_RESET] = {"reset", "Reset the figures", "the graph and the means begin anew", PAGE_COMPARE, "R",
                      "Delete"},
    [ACTION_SLOWER] = {"slower", "Slower", "the next lower speed of the game", PAGE_PLAY, ",", "PageDown"},
    [ACTION_FASTER] = {"faster", "Faster", "the next higher speed of the game", PAGE_PLAY, ".", "PageUp"},
    [ACTION_NORMAL_SPEED] = {"normal-speed", "Speed 100 %", "as DOOM ran: 35 tics a second", PAGE_PLAY, "/",
                             "-"},
    [ACTION_MAX_SPEED] = {"max-speed", "As fast as possible", "no waiting between frames; silent", PAGE_PLAY,
                          "F", "-"},
    [ACTION_FAST_FORWARD] = {"fast-forward", "Fast-forward", "as fast as possible, while its key is held",
                             PAGE_PLAY, "Tab", "-", true},
    [ACTION_REWIND] = {"rewind", "Rewind", "the game goes back while its key is held, up to a minute or so",
                       PAGE_PLAY, "Backspace", "-", true},
    [ACTION_PAUSE] = {"pause", "Pause", "the game and its clock stand still", PAGE_PLAY, "P", "-"},
    [ACTION_STEP] = {"step", "One frame on", "then it pauses", PAGE_PLAY, "Space", "-"},
    [ACTION_SAVE_STATE] = {"save-state", "Save state", "the whole game as it is now, to the chosen slot",
                           PAGE_PLAY, "S", "-"},
    [ACTION_LOAD_STATE] = {"load-state", "Load state", "the game as it was saved to the chosen slot",
                           PAGE_PLAY, "W", "-"},
    [ACTION_SLOT] = {"slot", "Slot", "which of ten is saved to and loaded", PAGE_PLAY,
                     "0, 1, 2, 3, 4, 5, 6, 7, 8, 9", "-"},
    [ACTION_UNDO_STATE] = {"undo-state", "Undo", "what the last saving or loading of a state has done",
                           PAGE_PLAY, "U", "-"},
    [ACTION_PAUSE_UNFOCUSED] = {"pause-unfocused", "Pause without focus",
                                "while another window has the keyboard", PAGE_PLAY, "-", "-"},
    [ACTION_SCREENSHOT] = {"screenshot", "Screenshot", "a PNG file of what is seen, in the data folder",
                           PAGE_PICTURE, "T", "PrintScreen"},
    [ACTION_CLEAN_SCREENSHOT] = {"clean-screenshot", "Clean screenshot", "the game's picture alone, 320x200",
                                 PAGE_PICTURE, "E", "-"},
    [ACTION_FULLSCREEN] = {"fullscreen", "Fullscreen", "the whole screen, or a window", PAGE_PICTURE,
                           "Return", "Alt+Return"},
    [ACTION_SCALE] = {"scale", "Scale", "fit the window, whole steps only, or stretch", PAGE_PICTURE, "-",
                      "-"},
    [ACTION_ASPECT] = {"aspect", "Aspect", "4:3 as on old screens, or square pixels", PAGE_PICTURE, "-", "-"},
    [ACTION_FILTER] = {"filter", "Filter", "sharp edges, nearest pixel, or soft", PAGE_PICTURE, "-", "-"},
    [ACTION_VSYNC] = {"vsync", "Vsync", "pictures change with the screen: no tearing", PAGE_PICTURE, "-",
                      "-"},
    [ACTION_LOOP_PAGE] = {"loop-page", "Loop page", "a hot loop: its code, proof, savings, pixels",
                          PAGE_NEURAL, "J", "-"},
    [ACTION_CORNER] = {"overlay-corner", "Overlay corner", "where the figures stand", PAGE_PICTURE, "-", "-"},
    [ACTION_OPACITY] = {"overlay-opacity", "Overlay opacity", "how dark the ground behind figures is",
                        PAGE_PICTURE, "-", "-"},
    [ACTION_OVERLAY_SCALE] = {"overlay-scale", "Overlay size", "of its text", PAGE_PICTURE, "-", "-"},
    [ACTION_VOLUME] = {"volume", "Volume", "of the game, besides its own setting", PAGE_PICTURE, "-", "-"},
    [ACTION_MUTE_UNFOCUSED] = {"mute-unfocused", "Mute without focus",
                               "while another window has the keyboard", PAGE_PICTURE, "-", "-"},
    [ACTION_ALL_KEYS] = {"all-keys", "All keys to the game", "ours, too, until this one is pressed again",
                         PAGE_PLAY, "K", "ScrollLock"},
    [ACTION_HELP] = {"help", "Help", "what the figures mean, and the keys", PAGE_PLAY, "H", "-"},
    [ACTION_QUIT] = {"quit", "Quit", "the game ends in good order", PAGE_PLAY, "Q", "-"},
};

const char *action_missing(enum action action)
{
    enum machine_engine engine;
    if ((action == ACTION_ENGINE || action == ACTION_LOOPS || action == ACTION_VERIFY) &&
        !machine_engine_by_name("translate", &engine)) {
        return action == ACTION_ENGINE ? NO_TRANSLATOR : NO_LOOPS;
    }
    return NULL;
}
