// SPDX-License-Identifier: GPL-2.0-or-later
// What the engine's i_system.c asks of SDL, without SDL: errors go to stderr only.
#ifndef SHIM_SDL_H
#define SHIM_SDL_H

#include <stddef.h>

typedef union SDL_Event SDL_Event; // only named in prototypes of i_input.h

#define SDL_Quit() ((void)0)
#define SDL_ShowSimpleMessageBox(flags, title, message, window) ((void)(message))

#endif
