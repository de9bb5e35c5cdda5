// SPDX-License-Identifier: MIT
#include "doom_options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/log.h"
#include "wad.h"

static const struct option own_options[] = {
    {"help", OPTION_REQUEST, 0, REQUEST_HELP},
    {"version", OPTION_REQUEST, 0, REQUEST_VERSION},
    {"features", OPTION_REQUEST, 0, REQUEST_FEATURES},
    {"doctor", OPTION_REQUEST, 0, REQUEST_DOCTOR},
    {"list-wads", OPTION_REQUEST, 0, REQUEST_LIST_WADS},
    {"list-keys", OPTION_REQUEST, 0, REQUEST_LIST_KEYS},
    {"dump-config", OPTION_REQUEST, 0, REQUEST_DUMP_CONFIG},
    {"prepare", OPTION_REQUEST, 0, REQUEST_PREPARE},
    {"config", OPTION_PATH, 0, offsetof(struct options, config_file)},
    {"set", OPTION_SET, 0, 0},
    {"log-level", OPTION_SETTING, "log.level", 0},
    {"engine", OPTION_SETTING, "machine.engine", 0},
    {"speed", OPTION_SETTING, "machine.speed", 0},
    {"clock", OPTION_SETTING, "machine.clock", 0},
    {"ram", OPTION_SETTING, "machine.ram", 0},
    {"fullscreen", OPTION_FIXED_SETTING, "window.fullscreen=on", 0},
    {"window", OPTION_FIXED_SETTING, "window.fullscreen=off", 0},
    {"geometry", OPTION_SETTING, "window.geometry", 0},
    {"display", OPTION_SETTING, "window.display", 0},
    {"scale", OPTION_SETTING, "window.scale", 0},
    {"aspect", OPTION_SETTING, "window.aspect", 0},
    {"filter", OPTION_SETTING, "window.filter", 0},
    {"vsync", OPTION_SETTING, "window.vsync", 0},
    {"shotdir", OPTION_SETTING, "window.screenshots", 0},
    {"overlay", OPTION_SETTING, "overlay.preset", 0},
    {"overlay-scale", OPTION_SETTING, "overlay.scale", 0},
    {"headless", OPTION_HEADLESS, 0, 0},
    {"frames", OPTION_COUNT, "frames", offsetof(struct options, frames)},
    {"turns", OPTION_COUNT, "frames", offsetof(struct options, turns)},
    {"screenshot", OPTION_FRAME_FILE, "shot.png", offsetof(struct options, screenshots)},
    {"state", OPTION_PATH, 0, offsetof(struct options, state)},
    {"save-state", OPTION_FRAME_FILE, "game.state", offsetof(struct options, saves)},
    {"frame-hash", OPTION_PATH, 0, offsetof(struct options, frame_hash)},
    {"stats", OPTION_PATH, 0, offsetof(struct options, stats)},
    {"profile", OPTION_PATH, 0, offsetof(struct options, profile)},
    {"count", OPTION_PATH, 0, offsetof(struct options, count)},
    {"run-ahead", OPTION_SETTING, "machine.run-ahead", 0},
    {"record-input", OPTION_PATH, 0, offsetof(struct options, record_input)},
    {"replay-input", OPTION_PATH, 0, offsetof(struct options, replay_input)},
    {"explain-loop", OPTION_LOOP, 0, 0},
    {"csv", OPTION_PATH, 0, offsetof(struct options, csv)},
    {"json", OPTION_PATH, 0, offsetof(struct options, json)},
    {"wav", OPTION_PATH, 0, offsetof(struct options, wav)},
    {"audio-hash", OPTION_PATH, 0, offsetof(struct options, audio_hash)},
    {"volume", OPTION_SETTING, "sound.volume", 0},
    {"mute-unfocused", OPTION_SETTING, "sound.mute-unfocused", 0},
    {"neural", OPTION_SETTING, "neural.all", 0},
    {"opt", OPTION_OPT, 0, 0},
    {"verify", OPTION_FIXED_SETTING, "neural.verify=on", 0},
    {"split", OPTION_TEXT, 0, offsetof(struct options, split)},
    {"csv-format", OPTION_CSV_FORMAT, 0, 0},
    {"bench", OPTION_BENCH, 0, 0},
    {"ab", OPTION_TEXT, 0, offsetof(struct options, bench.sides)},
    {"against", OPTION_TEXT, 0, offsetof(struct options, bench.against)},
    {"runs", OPTION_COUNT, "runs", offsetof(struct options, bench.runs)},
    {"warmup", OPTION_COUNT, "tics", offsetof(struct options, bench.warmup)},
    {"out", OPTION_PATH, 0, offsetof(struct options, bench.out)},
    {"plot", OPTION_PATH, 0, offsetof(struct options, bench.plot)},
    {"compare", OPTION_COMPARE, 0, 0},
    {"rerun", OPTION_RERUN, 0, 0},
};
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

// Host options that DOOM ports have always written with one dash; only these may be.
static const char *const one_dash[] = {"fullscreen", "window", "geometry", "shotdir", "help", "version"};

// DOOM's options: how many values follow at least and at most.
static const struct {
    const char *name;
    unsigned least, most;
    enum doom_files files;
} doom_options[] = {
    {"iwad", 1, 1, DOOM_IWAD},
    {"file", 1, UINT_MAX, DOOM_WADS},
    {"merge", 1, UINT_MAX, DOOM_WADS},
    {"nwtmerge", 1, UINT_MAX, DOOM_WADS},
    {"af", 1, UINT_MAX, DOOM_WADS},
    {"as", 1, UINT_MAX, DOOM_WADS},
    {"aa", 1, UINT_MAX, DOOM_WADS},
    {"deh", 1, UINT_MAX, DOOM_READS},
    {"config", 1, 1, DOOM_WRITTEN},
    {"extraconfig", 1, 1, DOOM_WRITTEN},
    {"playdemo", 1, 1, DOOM_DEMO_READ},
    {"timedemo", 1, 1, DOOM_DEMO_READ},
    {"record", 1, 1, DOOM_DEMO_WRITTEN},
    {"warp", 1, 2, DOOM_NO_FILES},
    {"wart", 1, 2, DOOM_NO_FILES},
    {"skill", 1, 1, DOOM_NO_FILES},
    {"episode", 1, 1, DOOM_NO_FILES},
    {"loadgame", 1, 1, DOOM_NO_FILES},
    {"turbo", 0, 1, DOOM_NO_FILES},
    {"timer", 1, 1, DOOM_NO_FILES},
    {"maxdemo", 1, 1, DOOM_NO_FILES},
    {"mb", 1, 1, DOOM_NO_FILES},
    {"gameversion", 1, 1, DOOM_NO_FILES},
    {"pack", 1, 1, DOOM_NO_FILES},
    {"dup", 1, 1, DOOM_NO_FILES},
    {"extratics", 1, 1, DOOM_NO_FILES},
    {"spechit", 1, 1, DOOM_NO_FILES},
    {"statdump", 1, 1, DOOM_WRITTEN},
    {"framehash", 1, 1, DOOM_NO_FILES},
    {"audiohash", 1, 1, DOOM_NO_FILES},
    {"avg", 0, 0, DOOM_NO_FILES},
    {"altdeath", 0, 0, DOOM_NO_FILES},
    {"deathmatch", 0, 0, DOOM_NO_FILES},
    {"dehlump", 0, 0, DOOM_NO_FILES},
    {"devparm", 0, 0, DOOM_NO_FILES},
    {"fast", 0, 0, DOOM_NO_FILES},
    {"longtics", 0, 0, DOOM_NO_FILES},
    {"noautoload", 0, 0, DOOM_NO_FILES},
    {"noblit", 0, 0, DOOM_NO_FILES},
    {"nodeh", 0, 0, DOOM_NO_FILES},
    {"nodraw", 0, 0, DOOM_NO_FILES},
    {"nograbmouse", 0, 0, DOOM_NO_FILES},
    {"nogui", 0, 0, DOOM_NO_FILES},
    {"nomonsters", 0, 0, DOOM_NO_FILES},
    {"nomouse", 0, 0, DOOM_NO_FILES},
    {"nomusic", 0, 0, DOOM_NO_FILES},
    {"nosfx", 0, 0, DOOM_NO_FILES},
    {"nosound", 0, 0, DOOM_NO_FILES},
    {"respawn", 0, 0, DOOM_NO_FILES},
    {"shorttics", 0, 0, DOOM_NO_FILES},
    {"solo-net", 0, 0, DOOM_NO_FILES},
    {"strictdemos", 0, 0, DOOM_NO_FILES},
};
enum { DOOM_OPTIONS = sizeof doom_options / sizeof *doom_options };

// The engine compares options whatever the case of their letters, so this does too.
static int find_doom(const char *name)
{
    for (int i = 0; i < DOOM_OPTIONS; i++) {
        if (text_same(name, doom_options[i].name)) {
            return i;
        }
    }
    return -1;
}

static bool may_have_one_dash(const char *name)
{
    for (size_t i = 0; i < sizeof one_dash / sizeof *one_dash; i++) {
        if (strcmp(one_dash[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static struct doom_option *add_doom(struct options *options, const char *name, enum doom_files files)
{
    options->doom = memory_resize(options->doom, (options->doom_count + 1) * sizeof *options->doom);
    struct doom_option *option = &options->doom[options->doom_count++];
    *option = (struct doom_option){.name = name, .files = files};
    return option;
}

// A DOOM option at argv[*at] and the values that follow; index: in doom_options, or -1 for one that only
// the engine may know, which takes whatever words follow.
static bool parse_doom(struct options *options, int index, int argc, char *const *argv, int *at,
                       struct failure *failure)
{
    const char *word = argv[*at];
    const char *name = word[1] == '-' ? word + 1 : word;
    unsigned least = index < 0 ? 0 : doom_options[index].least;
    unsigned most = index < 0 ? UINT_MAX : doom_options[index].most;
    struct doom_option *option =
        add_doom(options, name, index < 0 ? DOOM_NO_FILES : doom_options[index].files);
    bool empty = false;
    while (*at + 1 < argc && option->values.count < most && argv[*at + 1][0] != '-') {
        empty |= !argv[*at + 1][0];
        text_list_add(&option->values, text_copy(argv[++*at]));
    }
    if (option->values.count < least || (empty && option->files != DOOM_NO_FILES)) {
        return fail(failure, STATUS_USAGE, "%s needs %s; see neurodoom --help", name,
                    option->files != DOOM_NO_FILES ? "the name of a file" : "a value");
    }
    return true;
}

// The engine takes only the first option of a name, with all of its files.
static struct doom_option *find_or_add(struct options *options, const char *name, enum doom_files files)
{
    for (size_t i = 0; i < options->doom_count; i++) {
        if (text_same(options->doom[i].name, name)) {
            return &options->doom[i];
        }
    }
    return add_doom(options, name, files);
}

// A file without an option in front, as file managers pass it.
static bool add_loose_file(struct options *options, const char *path, struct failure *failure)
{
    size_t length = strlen(path);
    const char *suffix = length > 4 ? path + length - 4 : "";
    struct wad_info info;
    wad_inspect(path, &info);
    struct doom_option *option;
    if (text_same(suffix, ".lmp")) {
        option = add_doom(options, "-playdemo", DOOM_DEMO_READ);
    } else if (text_same(suffix, ".deh") || text_same(suffix, ".bex")) {
        option = find_or_add(options, "-deh", DOOM_READS);
    } else if (info.kind == WAD_IWAD) {
        option = add_doom(options, "-iwad", DOOM_IWAD);
    } else if (info.kind == WAD_PWAD) {
        option = find_or_add(options, "-file", DOOM_WADS);
    } else {
        return fail(failure, STATUS_USAGE,
                    "%s is %s%s: neither an option nor a file to play; see neurodoom --help", path,
                    info.kind == WAD_IWAD ? "the IWAD of " : "", info.what);
    }
    text_list_add(&option->values, text_copy(path));
    return true;
}

static bool unknown(const char *word, struct failure *failure)
{
    const char *name = word + 2;
    char *bare = text_format("%.*s", (int)strcspn(name, "="), name);
    const char *close = text_closest(bare, &own_options[0].name, OWN_OPTIONS, sizeof *own_options);
    if (!close) {
        close = text_closest(bare, &doom_options[0].name, DOOM_OPTIONS, sizeof *doom_options);
    }
    fail(failure, STATUS_USAGE, "there is no option %s%s%s%s; see neurodoom --help", word,
         close ? "; did you mean --" : "", close ? close : "", close ? "?" : "");
    free(bare);
    return false;
}

// What a run of --bench is told as well: the game, and how the machine is set up.
static bool is_passed(const struct option *own)
{
    return !own || own->kind == OPTION_SETTING || own->kind == OPTION_FIXED_SETTING ||
           own->kind == OPTION_SET || own->kind == OPTION_OPT || strcmp(own->name, "config") == 0;
}

static bool parse_word(struct options *options, int argc, char *const *argv, int *at,
                       const struct option **own_option, struct failure *failure)
{
    const char *word = argv[*at];
    *own_option = NULL;
    if (strcmp(word, "-h") == 0) {
        options->request = REQUEST_HELP;
        return true;
    }
    if (word[0] != '-' || word[1] == '\0') {
        return add_loose_file(options, word, failure);
    }
    bool two = word[1] == '-';
    const char *name = word + 1 + two;
    size_t length = strcspn(name, "=");
    const struct option *own = options_find(own_options, OWN_OPTIONS, name, length);
    // With one dash, -config and the like are the engine's.
    if (own && (two || may_have_one_dash(own->name))) {
        *own_option = own;
        return options_apply(options, own, name + length, argc, argv, at, failure);
    }
    int doom = find_doom(name);
    if (doom < 0 && two) {
        return unknown(word, failure);
    }
    if (doom < 0) {
        const char *close = text_closest(name, &own_options[0].name, OWN_OPTIONS, sizeof *own_options);
        const char *dashes = "--";
        if (!close) {
            close = text_closest(name, &doom_options[0].name, DOOM_OPTIONS, sizeof *doom_options);
            dashes = "-";
        }
        log_line(LOG_WARNING, "%s is passed to the engine, which may not know it%s%s%s%s", word,
                 close ? "; did you mean " : "", close ? dashes : "", close ? close : "", close ? "?" : "");
    }
    return parse_doom(options, doom, argc, argv, at, failure);
}

// What a split screen cannot go with.
static bool check_split(const struct options *options, struct failure *failure)
{
    if (options->headless || options->request != REQUEST_PLAY) {
        return fail(failure, STATUS_USAGE,
                    "--split shows two pictures while you play. Without a window this compares the same:\n"
                    "    neurodoom --bench --ab %s%s%s",
                    strchr(options->split, ' ') ? "'" : "", options->split,
                    strchr(options->split, ' ') ? "'" : "");
    }
    if (options->record_input) {
        return fail(failure, STATUS_USAGE,
                    "--split: what you do is recorded for the right side already; leave out --record-input");
    }
    return !options->replay_input ||
           fail(failure, STATUS_USAGE,
                "--split takes what you do while you play. A recording is compared like this:\n"
                "    neurodoom --bench=%s --ab %s",
                options->replay_input, options->split);
}

bool doom_options_parse(struct options *options, int argc, char *const *argv, struct failure *failure)
{
    *options = (struct options){0};
    for (int at = 1; at < argc; at++) {
        const struct option *own;
        int first = at;
        if (!parse_word(options, argc, argv, &at, &own, failure)) {
            return false;
        }
        for (int i = first; is_passed(own) && i <= at; i++) {
            text_list_add(&options->passed, text_copy(argv[i]));
        }
    }
    if (options->request == REQUEST_PLAY && (options->bench.sides || options->bench.against)) {
        options->request = REQUEST_BENCH;
        options->bench.works = text_copy("");
    }
    return !options->split || check_split(options, failure);
}

const struct doom_option *doom_options_given(const struct options *options, const char *name)
{
    for (size_t i = 0; i < options->doom_count; i++) {
        if (text_same(options->doom[i].name, name)) {
            return &options->doom[i];
        }
    }
    return NULL;
}

// Where in the game it begins.
static const char *const starts[] = {"-warp", "-wart", "-episode", "-loadgame", NULL};

const struct doom_option *doom_options_start(const struct options *options)
{
    const struct doom_option *given = NULL;
    for (const char *const *start = starts; *start && !given; start++) {
        given = doom_options_given(options, *start);
    }
    return given;
}

bool doom_options_playable(const char *path, struct failure *failure)
{
    struct options scratch = {0};
    bool good = add_loose_file(&scratch, path, failure);
    options_free(&scratch);
    return good;
}

bool doom_options_play(struct options *options, const struct text_list *files, struct failure *failure)
{
    size_t kept = 0;
    for (size_t i = 0; i < options->doom_count; i++) {
        struct doom_option *option = &options->doom[i];
        bool drop = option->files != DOOM_NO_FILES && option->files != DOOM_WRITTEN;
        for (const char *const *start = starts; *start; start++) {
            drop |= text_same(option->name, *start);
        }
        if (drop) {
            text_list_free(&option->values);
        } else {
            options->doom[kept++] = *option;
        }
    }
    options->doom_count = kept;
    bool good = true;
    for (size_t i = 0; good && i < files->count; i++) {
        good = add_loose_file(options, files->items[i], failure);
    }
    return good;
}

void doom_options_print_help(FILE *stream)
{
    fputs("neurodoom: DOOM as an ARM64 program on an ARM64 core of our own\n"
          "usage: neurodoom [OPTION]... [FILE.wad | DEMO.lmp]\n"
          "\n"
          "DOOM's own options, with one dash or two, reach the engine unchanged, for example:\n"
          "  -iwad FILE            the game's WAD: a path, or a name to look for (--list-wads)\n"
          "  -file FILE...         add-on WADs; -loadgame SLOT: a saved game (0..5)\n"
          "  -warp [E] M           start on that map; -skill 1..5 -nomonsters -fast -respawn\n"
          "  -record NAME          record a demo; -playdemo NAME plays it, -timedemo NAME times it\n"
          "machine\n"
          "  --engine interp|translate   what executes the guest\n"
          "  --speed PCT|max       speed of the guest's clock; --ram MiB: its memory (256)\n"
          "  --clock real|virtual  virtual: every run is identical (with --headless the default)\n"
          "  --neural on|off       all that nets switch; --opt of single ones wins\n"
          "  --opt dispatch=MODE   who picks the kernel of an instruction: off, tables; hybrid, tables, the\n"
          "                        net's answers counted; pure, the net; live, hybrid, asked at every step\n"
          "  --opt loops=on|off    loops that a net has proposed, once proved, are done by kernels\n"
          "  --opt idle=on|off     a guest that only waits for its clock sleeps (real clock)\n"
          "  --verify              run replaced loops plainly, too; --explain-loop ADDRESS: what became of "
          "one\n"
          "  --prepare             translate the game ahead, by its recorded demos: no slow first run\n"
          "window\n"
          "  -fullscreen, -window, -geometry WxH[+X+Y], --display N, --vsync on|off, -shotdir FOLDER\n"
          "  --scale fit|integer|stretch, --aspect 4:3|square, --filter sharp|nearest|linear\n"
          "  --overlay off|mini|std|full, --overlay-scale N\n"
          "sound\n"
          "  --volume PCT, --mute-unfocused on|off; DOOM's -nosound, -nosfx, -nomusic\n"
          "  --wav FILE            what is heard; --audio-hash FILE: a line a second: second, XXH3-64\n"
          "without a window\n"
          "  --headless            run, and end with the demo or after --frames N; --screenshot "
          "FRAME:FILE.png\n"
          "  --frame-hash FILE     a line a frame: frame, gametic, XXH3-64 of picture and palette\n"
          "machine states\n"
          "  --save-state FRAME:FILE  the whole machine behind that frame; --state FILE goes on from there\n"
          "  --record-input FILE   record all that the game hangs on: keys, mouse, clock, saved games\n"
          "  --replay-input FILE   the same game again, with any engine and switches; --rerun 'A;B' two\n"
          "  --run-ahead 0..2      show what the game will show so many tics later, if keys stay: less lag\n"
          "figures (FILE - is standard output)\n"
          "  --csv FILE            a row a frame (--csv-format native|mangohud); --json FILE the summary\n"
          "  --stats FILE.json     counters; --profile FILE: where time goes; --count FILE: instructions\n"
          "comparing: which of two is faster, by how much, and do both show the same?\n"
          "  --bench               loops off and on, one minute; =full all demos, =DEMO,... or =FILE.replay\n"
          "  --ab loops|dispatch|idle|engine|neural  what is compared; or A,B: settings or options\n"
          "  --against native,qemu beside them; --runs N a side, --warmup TICS, --out DIR, --plot FILE.svg\n"
          "  --split loops|dispatch|engine|neural  play both at once, side by side, with the time of each\n"
          "  --compare EARLIER.json LATER.json  is the later one slower? (--turns N: for --bench)\n"
          "information\n"
          "  --doctor (what works here), --list-wads, --list-keys, --features, --version, --help\n"
          "  --dump-config, --config FILE, --set SECTION.KEY=VALUE, --log-level error|warning|info|debug\n"
          "\n"
          "In the game: ` opens the panel: every switch, what the figures mean (H), all keys (page Keys).\n"
          "Exit status: 0 ok, 1 usage, 2 no WAD, 3 no display, 4 guest fault, 5 a difference was found,\n"
          "6 engine error, 7 slower (--compare), 130 Ctrl-C\n",
          stream);
}
