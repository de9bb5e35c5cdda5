// SPDX-License-Identifier: MIT
// What is seen. Main thread only.
#ifndef FRONTEND_DRAW_H
#define FRONTEND_DRAW_H

#include "app.h"

// Takes the newest picture over and draws everything, if anything has changed.
void draw_all(struct app *app);

#endif
