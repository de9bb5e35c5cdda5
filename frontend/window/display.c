// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // POLLRDHUP
#include "display.h"

#include <SDL.h>
#include <SDL_syswm.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "frontend/base/interrupt.h"
#include "frontend/base/log.h"
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

static atomic_bool lost;
static atomic_int connection = -1; // to the X server

// poll takes no descriptor below 0 for one at which nothing happens.
bool display_is_lost(void)
{
    return lost || poll(&(struct pollfd){.fd = connection, .events = POLLRDHUP}, 1, 0) > 0;
}

#ifdef SDL_VIDEO_DRIVER_X11
static int note_loss(Display *display)
{
    log_line(LOG_ERROR, "the display %s is gone; the game ends", DisplayString(display));
    lost = true;
    interrupt_raise();
    return 0;
}

static void go_on(Display *display, void *context)
{
    (void)display;
    (void)context;
}

// Xlib itself would end the process here, and with it what is recorded.
void display_watch(SDL_Window *window)
{
    SDL_SysWMinfo info;
    SDL_VERSION(&info.version);
    void *xlib = SDL_LoadObject("libX11.so.6"); // SDL's own: it loads the library in the same way
    XIOErrorHandler (*set_handler)(XIOErrorHandler) = SDL_LoadFunction(xlib, "XSetIOErrorHandler");
    void (*set_exit_handler)(Display *, XIOErrorExitHandler, void *) =
        SDL_LoadFunction(xlib, "XSetIOErrorExitHandler");
    if (set_handler && set_exit_handler && SDL_GetWindowWMInfo(window, &info) &&
        info.subsystem == SDL_SYSWM_X11) {
        set_handler(note_loss);
        set_exit_handler(info.info.x11.display, go_on, NULL);
        connection = ConnectionNumber(info.info.x11.display);
    }
}
#else
void display_watch(SDL_Window *window)
{
    (void)window;
}
#endif

void display_close(void)
{
    if (!display_is_lost()) { // else SDL waits for answers
        SDL_Quit();
        connection = -1;
    }
}
