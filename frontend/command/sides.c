// SPDX-License-Identifier: MIT
#include "sides.h"

#include <stdlib.h>
#include <string.h>

// Those that have a name.
static const struct {
    const char *word, *options[2], *names[2];
} known[] = {
    {"loops", {"--opt loops=off", "--opt loops=on"}, {"loops off", "loops on"}},
    {"dispatch", {"--opt dispatch=off", "--opt dispatch=hybrid"}, {"dispatch off", "dispatch hybrid"}},
    {"idle", {"--opt idle=off", "--opt idle=on"}, {"idle off", "idle on"}},
    {"engine", {"--engine interp", "--engine translate"}, {"interpreter", "translator"}},
    {"neural", {"--neural off", "--neural on"}, {"neural off", "neural on"}},
};

// Separated by blanks.
static void add_words(struct text_list *list, const char *words)
{
    for (const char *at = words + strspn(words, " "); *at;) {
        size_t length = strcspn(at, " ");
        text_list_add(list, text_format("%.*s", (int)length, at));
        at += length;
        at += strspn(at, " ");
    }
}

static void take_side(struct side_words *side, const char *text, size_t length)
{
    char *given = text_format("%.*s", (int)length, text);
    char *options = *given && *given != '-' ? text_format("--opt %s", given) : text_copy(given);
    add_words(&side->words, options);
    free(options);
    for (char *comma; (comma = strchr(given, ',')); *comma = ' ') { // names stand in a CSV
    }
    side->name = *given ? text_copy(given) : text_copy("as it is");
    free(given);
}

// Two sides of one name could not be told apart.
static void tell_apart(struct side_words sides[2])
{
    if (strcmp(sides[0].name, sides[1].name) == 0) {
        char *other = text_format("%s, again", sides[1].name);
        free(sides[1].name);
        sides[1].name = other;
    }
}

bool sides_parse(struct side_words sides[2], const char *option, const char *value, struct failure *failure)
{
    sides[0] = sides[1] = (struct side_words){0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (size_t k = 0; strcmp(value, known[i].word) == 0 && k < 2; k++) {
            sides[k].name = text_copy(known[i].names[k]);
            add_words(&sides[k].words, known[i].options[k]);
        }
    }
    // Options may hold commas themselves: where the second side is one, the cut is in front of it.
    const char *comma = strstr(value, ",-") ? strstr(value, ",-") : strchr(value, ',');
    if (!sides[0].name && comma) {
        take_side(&sides[0], value, (size_t)(comma - value));
        take_side(&sides[1], comma + 1, strlen(comma + 1));
        tell_apart(sides);
    }
    return sides[0].name || fail(failure, STATUS_USAGE,
                                 "--%s takes loops, dispatch, idle, engine or neural, or two sides with a "
                                 "comma between, such as\n"
                                 "    --%s dispatch=off,dispatch=pure\n"
                                 "    --%s '--engine interp,--engine translate --opt loops=off'\n"
                                 "not \"%s\"",
                                 option, option, option, value);
}

void sides_free(struct side_words sides[2])
{
    for (int i = 0; i < 2; i++) {
        free(sides[i].name);
        text_list_free(&sides[i].words);
        sides[i] = (struct side_words){0};
    }
}
