// SPDX-License-Identifier: GPL-2.0-or-later
// Where the engine keeps configuration and saves: see platform_save_folder.
#ifndef SHIM_SDL_FILESYSTEM_H
#define SHIM_SDL_FILESYSTEM_H

#include <stdlib.h>

#include "platform.h"

#define SDL_GetPrefPath(organisation, application) platform_save_folder(application)
#define SDL_free free

#endif
