// SPDX-License-Identifier: MIT
#include "display.h"

#include <SDL.h>
#include <stdlib.h>

#include "frontend/base/text.h"

static bool shows_nothing(const char *driver)
{
    return text_same(driver, "offscreen") || text_same(driver, "dummy");
}

static bool no_display(struct failure *failure, const char *what)
{
    const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return fail(failure, STATUS_NO_DISPLAY,
                "no display: %s\n"
                "DISPLAY is %s%s, WAYLAND_DISPLAY is %s%s.\n"
                "Without a window the game runs like this:\n"
                "    neurodoom --headless --frames 350 --screenshot 350:doom.png",
                what, x11 && *x11 ? "set to " : "unset", x11 ? x11 : "",
                wayland && *wayland ? "set to " : "unset", wayland ? wayland : "");
}

bool display_open(struct failure *failure)
{
    // Signals are ours; the name is that of the desktop file, for the task bar.
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    SDL_SetHint(SDL_HINT_APP_NAME, "neurodoom");
    if (SDL_Init(SDL_INIT_VIDEO) != 0) {
        char *what = text_format("SDL found no video driver that works (%s).", SDL_GetError());
        no_display(failure, what);
        free(what);
        return false;
    }
    const char *driver = SDL_GetCurrentVideoDriver(), *wanted = getenv("SDL_VIDEODRIVER");
    if (shows_nothing(driver) && !(wanted && text_same(wanted, driver))) {
        char *what = text_format("SDL got the driver \"%s\", which shows nothing.", driver);
        no_display(failure, what);
        free(what);
        display_close();
        return false;
    }
    return true;
}

void display_close(void)
{
    SDL_Quit();
}
