// SPDX-License-Identifier: MIT
// Ctrl-C, SIGTERM and SIGHUP: noticed here, acted upon by whoever runs the program's main loop.
#ifndef FRONTEND_INTERRUPT_H
#define FRONTEND_INTERRUPT_H

#include <stdbool.h>

// From now on these signals are only noted, and writing to a closed pipe is an ordinary error.
void interrupt_catch(void);
// As if one of the signals had come.
void interrupt_raise(void);
bool interrupt_seen(void);

#endif
