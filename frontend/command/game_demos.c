// SPDX-License-Identifier: MIT
#include "game_demos.h"

#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "doom_options.h"
#include "wad.h"
#include "wad_search.h"

static void add(struct game_demos *demos, char *wad)
{
    for (unsigned i = 1; wad && i <= 4; i++) {
        struct game_demo demo;
        snprintf(demo.name, sizeof demo.name, "demo%u", i);
        if (!wad_has_lump(wad, demo.name)) {
            continue;
        }
        demo.wad = text_copy(wad);
        demos->items = memory_resize(demos->items, (demos->count + 1) * sizeof *demos->items);
        demos->items[demos->count++] = demo;
    }
    free(wad);
}

bool game_demos_find(struct game_demos *demos, const struct options *options, const struct settings *settings,
                     const char *who, struct failure *failure)
{
    *demos = (struct game_demos){0};
    const struct doom_option *option = doom_options_given(options, "-iwad");
    const char *given = option ? option->values.items[0] : settings->iwad;
    // What was played last may be gone meanwhile, or have no demos.
    bool named = *given && (option || config_is_users("game.iwad"));
    if (*given) {
        add(demos, wad_resolve(given));
    }
    if (!demos->count && !named) {
        add(demos, wad_resolve("freedoom1.wad"));
        add(demos, wad_resolve("freedoom2.wad"));
    }
    if (!demos->count && !named) {
        add(demos, wad_find_any(NULL));
    }
    return demos->count || fail(failure, STATUS_NO_WAD,
                                "%s runs a game's recorded demos, and there are none in %s\n"
                                "    neurodoom --list-wads       shows the WADs on this machine\n"
                                "    sudo apt install freedoom   installs free ones with demos",
                                who, named ? given : "any WAD that was found");
}

void game_demos_free(struct game_demos *demos)
{
    for (size_t i = 0; i < demos->count; i++) {
        free(demos->items[i].wad);
    }
    free(demos->items);
    *demos = (struct game_demos){0};
}
