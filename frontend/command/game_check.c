// SPDX-License-Identifier: MIT
#include "game_check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo_files.h"
#include "doom_options.h"
#include "frontend/base/paths.h"
#include "wad.h"

enum { EPISODES = 9, MAPS = 9, MAPS_OF_DOOM2 = 99 };

static bool any_has(const struct text_list *wads, const char *lump)
{
    for (size_t i = 0; i < wads->count; i++) {
        if (wad_has_lump(wads->items[i], lump)) {
            return true;
        }
    }
    return false;
}

// DOOM II and what is made like it has MAP01 and so on, the others have episodes.
static bool has_episodes(const struct text_list *wads)
{
    return !wad_has_lump(wads->items[0], "MAP01");
}

// The engine looks at one digit.
static bool is_digit_to(const char *text, char most)
{
    return text[0] >= '1' && text[0] <= most && text[1] == '\0';
}

static bool check_skill(const struct options *options, struct failure *failure)
{
    const struct doom_option *skill = doom_options_given(options, "-skill");
    if (skill && !is_digit_to(skill->values.items[0], '5') && strcmp(skill->values.items[0], "0") != 0) {
        return fail(failure, STATUS_USAGE,
                    "-skill %s: it goes from 1 (I'm too young to die) to 5 (Nightmare!); 0 is a game without "
                    "monsters and things",
                    skill->values.items[0]);
    }
    return true;
}

static bool no_map(const struct text_list *wads, const char *option, const char *values, const char *map,
                   struct failure *failure)
{
    bool episodes = has_episodes(wads);
    char first[12] = "", last[12] = "", name[12];
    for (int i = 1; i <= (episodes ? EPISODES * MAPS : MAPS_OF_DOOM2); i++) {
        if (episodes) {
            snprintf(name, sizeof name, "E%dM%d", (i - 1) / MAPS + 1, (i - 1) % MAPS + 1);
        } else {
            snprintf(name, sizeof name, "MAP%02d", i);
        }
        if (any_has(wads, name)) {
            memcpy(last, name, sizeof last);
            if (!*first) {
                memcpy(first, name, sizeof first);
            }
        }
    }
    return fail(failure, STATUS_USAGE, "%s %s: %s%s has no map %s; it has %s to %s (%s, such as -warp %s)",
                option, values, path_name(wads->items[0]), wads->count > 1 ? " with its add-ons" : "", map,
                first, last, episodes ? "episode and map" : "the number alone", episodes ? "1 3" : "12");
}

static bool check_warp(const struct options *options, const struct text_list *wads, struct failure *failure)
{
    const struct doom_option *warp = doom_options_given(options, "-warp");
    if (!warp) {
        return true;
    }
    const char *one = warp->values.items[0], *two = warp->values.count > 1 ? warp->values.items[1] : NULL;
    char map[32];
    if (has_episodes(wads)) {
        snprintf(map, sizeof map, "E%.9sM%.9s", one, two ? two : "1");
        // One digit each; "10" would be E1 for the engine.
        two = two ? two : "1";
        if (is_digit_to(one, '9') && is_digit_to(two, '9') && any_has(wads, map)) {
            return true;
        }
    } else {
        snprintf(map, sizeof map, "MAP%02d", atoi(one));
        if (isdigit((unsigned char)*one) && any_has(wads, map)) {
            return true;
        }
        if (!isdigit((unsigned char)*one)) {
            snprintf(map, sizeof map, "%.20s", one);
        }
    }
    char *values = text_format("%s%s%s", one, warp->values.count > 1 ? " " : "",
                               warp->values.count > 1 ? warp->values.items[1] : "");
    no_map(wads, "-warp", values, map, failure);
    free(values);
    return false;
}

static bool check_episode(const struct options *options, const struct text_list *wads,
                          struct failure *failure)
{
    const struct doom_option *episode = doom_options_given(options, "-episode");
    char map[16];
    if (!episode || !has_episodes(wads)) { // DOOM II takes no notice of it
        return true;
    }
    snprintf(map, sizeof map, "E%.9sM1", episode->values.items[0]);
    return (is_digit_to(episode->values.items[0], '9') && any_has(wads, map)) ||
           no_map(wads, "-episode", episode->values.items[0], map, failure);
}

static bool check_demo(const struct options *options, const char *name, const struct text_list *wads,
                       const char *demos, struct failure *failure)
{
    const struct doom_option *option = doom_options_given(options, name);
    const char *given = option ? option->values.items[0] : "";
    char *file = option ? demo_files_find(given, demos) : NULL;
    bool there = !option || file || any_has(wads, given);
    free(file);
    return there ||
           fail(failure, STATUS_USAGE,
                "%s %s: there is no demo of that name: no file %s%s here%s%s, and no lump %s in %s%s. "
                "The WADs of most games have demo1, demo2 and demo3.",
                name, given, given, demo_files_is_lmp(given) ? "" : ".lmp", demos ? " or in " : "",
                demos ? demos : "", given, path_name(wads->items[0]),
                wads->count > 1 ? " and its add-ons" : "");
}

bool game_check(const struct options *options, const struct text_list *wads, const char *demos,
                struct failure *failure)
{
    return check_skill(options, failure) && check_warp(options, wads, failure) &&
           check_episode(options, wads, failure) && check_demo(options, "-playdemo", wads, demos, failure) &&
           check_demo(options, "-timedemo", wads, demos, failure);
}
