// SPDX-License-Identifier: MIT
#include "page.h"

void page_layout(struct sheet *s, const char *title, const char *text, const char *choices)
{
    int edge = sheet_px(s, 10), pad = sheet_px(s, 18), line = sheet_px(s, 18);
    SDL_Rect at = {edge, edge, s->width - 2 * edge, s->height - 2 * edge};
    int x = at.x + pad, width = at.w - 2 * pad, last = at.y + at.h - pad;
    sheet_card(s, at, 94);
    sheet_text(s, x, at.y + pad + font_ascent(s->fonts, STYLE_TITLE), STYLE_TITLE, (uint32_t)INK_OFF, "%s",
               title);
    int base = at.y + pad + sheet_px(s, 34) + font_ascent(s->fonts, STYLE_CODE);
    int most = (last - sheet_px(s, 20) - base) / line, lines = sheet_lines(s, width, STYLE_CODE, text);
    if (lines > most) {
        lines = most - 1;
        sheet_text(s, x, base + lines * line, STYLE_CODE, (uint32_t)INK_LABEL,
                   "The rest is on the terminal and in the log.");
    }
    sheet_paragraph(s, x, base, width, line, lines, STYLE_CODE, (uint32_t)INK_TEXT, text);
    sheet_text(s, x, last, STYLE_TEXT, (uint32_t)INK_ON, "%s", choices);
}
