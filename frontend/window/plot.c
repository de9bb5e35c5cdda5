// SPDX-License-Identifier: MIT
#include "plot.h"

#include <stdlib.h>

#define SHARE 0.95 // of the frames that have to fit
#define AIR 1.25 // above them
#define LOOKS 6 // before the range shrinks
#define TIC_MS (1000.0 / 35)
#define PACE_INK 0xbbbbbb90u

uint32_t plot_colour(enum plot_state state)
{
    static const uint32_t colours[] = {[PLOT_NEITHER] = INK_LABEL, [PLOT_OFF] = INK_OFF, [PLOT_ON] = INK_ON};
    return colours[state];
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// The emulating ms that this share of the frames does not exceed.
static double percentile(const struct plot *p, double share)
{
    float values[PLOT_FRAMES];
    for (unsigned i = 0; i < p->count; i++) {
        values[i] = p->frames[i].emulating;
    }
    qsort(values, p->count, sizeof *values, by_size);
    return (double)values[(unsigned)(share * (p->count - 1))];
}

// The smallest of 1, 2, 5, 10, 20, … (and their tenths and so on) that is not below ms.
static double round_up(double ms)
{
    double step = 0.01;
    while (step < 1e6) {
        for (int i = 0; i < 3; i++) {
            static const double steps[] = {1, 2, 5};
            if (step * steps[i] >= ms) {
                return step * steps[i];
            }
        }
        step *= 10;
    }
    return step;
}

void plot_scale(struct plot *p)
{
    if (p->count == 0) {
        return;
    }
    double wanted = round_up(percentile(p, SHARE) * AIR);
    p->idle_looks = wanted < p->range ? p->idle_looks + 1 : 0;
    if (wanted > p->range || p->idle_looks >= LOOKS) {
        p->range = wanted;
        p->idle_looks = 0;
    }
}

// The interval of a frame as a height: a tic is in the middle, none and two at the ends.
static int evenness(float interval, int height)
{
    double share = (double)interval / (2 * TIC_MS);
    return (int)((1 - (share > 1 ? 1 : share)) * (height - 1));
}

// The intervals, as few boxes as it takes: mostly they are all alike.
static void draw_evenness(const struct plot *p, struct canvas *c, const SDL_Rect *at, int unit)
{
    int start = at->x, last = evenness(p->frames[0].interval, at->h);
    for (unsigned i = 1; i <= p->count; i++) {
        int here = i < p->count ? evenness(p->frames[i].interval, at->h) : last;
        int x = at->x + (int)((long)i * at->w / PLOT_FRAMES);
        if (here == last && i < p->count) {
            continue;
        }
        canvas_box(c, &(SDL_Rect){start, at->y + last, x - start, unit}, 0, PACE_INK);
        int from = here < last ? here : last, to = here < last ? last : here;
        if (to > from) {
            canvas_box(c, &(SDL_Rect){x, at->y + from, unit, to - from}, 0, PACE_INK);
        }
        start = x;
        last = here;
    }
}

void plot_draw(const struct plot *p, struct canvas *c, const SDL_Rect *at, int unit)
{
    int pace = 8 * unit, height = at->h - pace - 2 * unit, bottom = at->y + height, last = 0;
    if (p->count == 0 || p->range <= 0) {
        return;
    }
    for (unsigned i = 0; i < p->count; i++) {
        const struct plot_frame *f = &p->frames[i];
        int x = at->x + (int)((long)i * at->w / PLOT_FRAMES);
        int width = at->x + (int)((long)(i + 1) * at->w / PLOT_FRAMES) - x;
        bool clipped = (double)f->emulating > p->range;
        int rise = clipped ? height : (int)((double)f->emulating * height / p->range), y = bottom - rise;
        int from = i && last < y ? last : y, to = i && last > y ? last : y;
        uint32_t colour = plot_colour(f->state);
        canvas_box(c, &(SDL_Rect){x, y, width, rise}, 0, (colour & ~0xffu) | 0x48);
        canvas_box(c, &(SDL_Rect){x, from, width, to - from + unit}, 0, colour);
        if (clipped) {
            canvas_box(c, &(SDL_Rect){x, at->y, width, 3 * unit}, 0, (uint32_t)INK_TEXT);
        }
        if (f->mark) {
            canvas_box(c, &(SDL_Rect){x, at->y, unit, height}, 0, (uint32_t)INK_MARK);
        }
        last = y;
    }
    canvas_box(c, &(SDL_Rect){at->x, bottom, at->w, unit}, 0, 0xffffff60);
    draw_evenness(p, c, &(SDL_Rect){at->x, bottom + 2 * unit, at->w, pace}, unit);
}
