// SPDX-License-Identifier: MIT
// Frame times as MangoHud logs them, for mangoplot and others that read its files: two lines about the
// system, the names of 16 columns, a row a frame. What is not known here is 0.
#ifndef FRONTEND_MANGOHUD_H
#define FRONTEND_MANGOHUD_H

#include <stdio.h>

void mangohud_begin(FILE *to);
// A frame that took ms, and ended elapsed_ms after the first began.
void mangohud_frame(FILE *to, double ms, double elapsed_ms);

#endif
