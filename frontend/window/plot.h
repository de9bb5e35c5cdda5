// SPDX-License-Identifier: MIT
// The graph: the time that it took to emulate each of the last frames, in the colour of what made it; below,
// as a thin line, how evenly the frames came. Main thread only.
#ifndef FRONTEND_PLOT_H
#define FRONTEND_PLOT_H

#include "canvas.h"
#include "frontend/session/session.h"

enum { PLOT_FRAMES = 150 };

// What ran the loops of a frame.
enum plot_state { PLOT_NEITHER, PLOT_OFF, PLOT_ON }; // nothing can be replaced; switched off; on
uint32_t plot_colour(enum plot_state state);

struct plot {
    double range; // ms that reach to the top; 0 before the first frame
    unsigned idle_looks; // in a row at which a smaller range would have done
    unsigned count; // frames, the oldest first
    struct plot_frame {
        float emulating, interval; // ms
        enum plot_state state;
        bool mark; // something was switched here
    } frames[PLOT_FRAMES];
};

// Sets the range to a round number that most frames fit into: at once where it is too small, and only after a
// while where it is too large. Once for each refresh of the figures.
void plot_scale(struct plot *p);

// unit: pixels of a line.
void plot_draw(const struct plot *p, struct canvas *c, const SDL_Rect *at, int unit);

#endif
