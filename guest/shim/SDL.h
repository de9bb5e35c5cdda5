// SPDX-License-Identifier: GPL-2.0-or-later
// What the engine's i_system.c and OPL library ask of SDL, without SDL: errors go to stderr only, and the one
// thread waits for a callback by letting time pass.
#ifndef SHIM_SDL_H
#define SHIM_SDL_H

#include <stddef.h>

typedef union SDL_Event SDL_Event; // only named in prototypes of i_input.h

#define SDL_Quit() ((void)0)
#define SDL_ShowSimpleMessageBox(flags, title, message, window) ((void)(message))

typedef struct SDL_mutex SDL_mutex;
typedef struct SDL_cond SDL_cond;
void opl_driver_wait(void);
#define SDL_CreateMutex() NULL
#define SDL_DestroyMutex(mutex) ((void)(mutex))
#define SDL_LockMutex(mutex) ((void)(mutex))
#define SDL_UnlockMutex(mutex) ((void)(mutex))
#define SDL_CreateCond() NULL
#define SDL_DestroyCond(cond) ((void)(cond))
#define SDL_CondSignal(cond) ((void)(cond))
#define SDL_CondWait(cond, mutex) opl_driver_wait()

#endif
