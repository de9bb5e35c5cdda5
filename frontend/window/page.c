// SPDX-License-Identifier: MIT
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/text.h"

// Draws the first piece of text, as much as fits into a line of columns; returns where the next line begins.
static const char *draw_line(struct canvas *c, int x, int y, size_t columns, const char *text)
{
    size_t length = strcspn(text, "\n");
    const char *next = text + length + (text[length] == '\n');
    if (length > columns) {
        length = columns;
        next = text + columns;
    }
    char *line = text_format("%.*s", (int)length, text);
    canvas_text(c, x, y, INK_TEXT, line);
    free(line);
    return next;
}

void page_draw(struct canvas *c, int width, int height, const char *title, const char *text,
               const char *choices)
{
    int line = canvas_line_height(c), advance = canvas_advance(c);
    canvas_box(c, 0, 0, width, height, 0x000000e0);
    int x = 2 * advance, y = line;
    size_t columns = width > 5 * advance ? (size_t)((width - 4 * advance) / advance) : 1;
    canvas_text(c, x, y, INK_OFF, title);
    y += line * 2;
    while (*text && y < height - 3 * line) {
        text = draw_line(c, x, y, columns, text);
        y += line;
    }
    canvas_text(c, x, height - 2 * line, INK_ON, choices);
}

char *page_keys(const struct settings *settings)
{
    char *text = text_format("DOOM's keys are as ever: arrows, Ctrl fires, Space opens, 1-7 weapons,\n"
                             "Tab the map, Esc the menu, F1 its help. Besides, the leader key %s opens\n"
                             "the panel, and before one of these keys:\n\n",
                             settings->leader_key);
    for (int i = 0; i < ACTION_COUNT; i++) {
        const char *leader = settings->leader[i], *direct = settings->direct[i];
        bool has_leader = strcmp(leader, "-") != 0, has_direct = strcmp(direct, "-") != 0;
        if (!has_leader && !has_direct) {
            continue;
        }
        char *longer = text_format("%s%-8s %-22s %s%s%s\n", text, has_leader ? leader : "",
                                   action_table[i].label, has_direct ? "or " : "", has_direct ? direct : "",
                                   action_missing((enum action)i) ? " (not built in)" : "");
        free(text);
        text = longer;
    }
    return text;
}
