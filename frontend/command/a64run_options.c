// SPDX-License-Identifier: MIT
#include "a64run_options.h"

#include <string.h>

static const struct option own_options[] = {
    {"help", OPTION_REQUEST, 0, REQUEST_HELP},
    {"version", OPTION_REQUEST, 0, REQUEST_VERSION},
    {"dir", OPTION_LIST, 0, offsetof(struct options, folders)},
    {"engine", OPTION_SETTING, "machine.engine", 0},
    {"opt", OPTION_OPT, 0, 0},
    {"verify", OPTION_FIXED_SETTING, "neural.verify=on", 0},
    {"models", OPTION_PATH, 0, offsetof(struct options, models)},
    {"stats", OPTION_PATH, 0, offsetof(struct options, stats)},
    {"profile", OPTION_PATH, 0, offsetof(struct options, profile)},
    {"count", OPTION_PATH, 0, offsetof(struct options, count)},
    {"explain-loop", OPTION_LOOP, 0, 0},
    {"prepare", OPTION_REQUEST, 0, REQUEST_PREPARE},
    {"translate-rest", OPTION_REQUEST, 0, REQUEST_TRANSLATE_REST},
};
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

// Any program has to run as it would elsewhere and at once: what costs time at the start is off unless asked
// for.
static const char *const defaults[] = {"neural.dispatch=off", "neural.loops=off", "neural.idle=off"};

bool a64run_options_parse(struct options *options, int argc, char *const *argv, struct failure *failure)
{
    *options = (struct options){0};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        text_list_add(&options->settings, text_copy(defaults[i]));
    }
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (strcmp(argv[at], "-h") == 0) {
            options->request = REQUEST_HELP;
            continue;
        }
        const char *name = argv[at] + 2;
        size_t length = strcspn(name, "=");
        const struct option *option =
            argv[at][1] == '-' ? options_find(own_options, OWN_OPTIONS, name, length) : NULL;
        if (!option) {
            return fail(failure, STATUS_USAGE, "unknown option '%s'; try --help", argv[at]);
        }
        if (!options_apply(options, option, name + length, argc, argv, &at, failure)) {
            return false;
        }
    }
    options->program = argv + at;
    return at < argc || options->request == REQUEST_HELP || options->request == REQUEST_VERSION ||
           fail(failure, STATUS_USAGE, "which program? Try --help");
}

void a64run_options_print_help(FILE *stream)
{
    fputs(
        "usage: a64run [OPTION]... PROGRAM [ARGUMENT]...\n"
        "Runs PROGRAM, a static aarch64 Linux program, with its arguments and this environment.\n"
        "\n"
        "  --dir FOLDER     the program may read and write in FOLDER (may be repeated; the current\n"
        "                   folder if not given). It sees the same path, and of the other files only\n"
        "                   itself, /dev/null and the like, and a /tmp and a /dev/shm of its own,\n"
        "                   which are empty, and removed in the end\n"
        "  --engine NAME    interp or translate (the default where it is built in)\n"
        "  --opt dispatch=MODE  who picks the kernel of an instruction: off (the tables), hybrid (the "
        "tables,\n"
        "                   the net's answers counted), pure (the net alone), live (asked at every step)\n"
        "  --opt loops=on   loops that a net has proposed, once proved, are done by kernels (off if not "
        "given);\n"
        "  --opt idle=on    a loop that only waits gives its time back (off if not given); several --opt "
        "may\n"
        "                   be joined by commas\n"
        "  --verify         run the plain loop beside every replaced one, and compare\n"
        "  --models FOLDER  where the nets are, if not those that came with a64run\n"
        "  --stats FILE     write the counters of the run to FILE as JSON\n"
        "  --profile FILE   where host time goes, by function and loop of PROGRAM: samples as text, as "
        "folded\n"
        "                   stacks for flame graphs if FILE ends in .folded, as JSON if in .json\n"
        "  --count FILE     how many instructions each function and loop of PROGRAM executes, exactly; in\n"
        "                   the same forms. Everything is interpreted then, and no loop replaced\n"
        "  --explain-loop ADDRESS  at the end, what became of the loop that begins there\n"
        "  --prepare        translate PROGRAM ahead: run it with these arguments, several times, until next\n"
        "                   to nothing is left to translate, and keep the result for later runs. What it\n"
        "                   writes to standard output is dropped; standard input has to be a file, which\n"
        "                   each run reads from where it stands, or nothing\n"
        "  --translate-rest translate what earlier runs of PROGRAM have shown to be worth it, without\n"
        "                   running it. A run that leaves much of that starts this by itself when it\n"
        "                   ends, as a process of the lowest priority, so that the next run is fast; not\n"
        "                   where NEURODOOM_TRANSLATE_BEHIND=off is in the environment\n"
        "  --version        show which build this is\n"
        "  --help           show this text\n"
        "\n"
        "Exit status: that of PROGRAM, 128 + N if signal N ended it; 125 if a64run itself fails or\n"
        "--verify found a difference, 126 if PROGRAM is not a static aarch64 program, 127 if there is no\n"
        "such file.\n",
        stream);
}
