// SPDX-License-Identifier: MIT
#include "fullscreen.h"

#include <SDL_syswm.h>

#if defined(SDL_VIDEO_DRIVER_X11)
// SDL asks the window manager, and takes the new size for granted: on a bare X server the window would keep
// its size and show a part of the picture. The window manager, if there is one, is named by a property of the
// root window. libX11 is loaded as SDL does it, so that machines without X need none.
static bool without_window_manager(SDL_Window *window)
{
    SDL_SysWMinfo info;
    SDL_VERSION(&info.version);
    if (!SDL_GetWindowWMInfo(window, &info) || info.subsystem != SDL_SYSWM_X11) {
        return false;
    }
    void *library = SDL_LoadObject("libX11.so.6");
    if (!library) {
        return false;
    }
    Display *display = info.info.x11.display;
    Window (*root_window)(Display *) = (Window(*)(Display *))SDL_LoadFunction(library, "XDefaultRootWindow");
    Atom (*intern)(Display *, const char *, Bool) =
        (Atom(*)(Display *, const char *, Bool))SDL_LoadFunction(library, "XInternAtom");
    Atom *(*list)(Display *, Window, int *) =
        (Atom * (*)(Display *, Window, int *)) SDL_LoadFunction(library, "XListProperties");
    int (*release)(void *) = (int (*)(void *))SDL_LoadFunction(library, "XFree");
    bool found = true;
    if (root_window && intern && list && release) {
        found = false;
        Atom wanted = intern(display, "_NET_SUPPORTING_WM_CHECK", False);
        int count = 0;
        Atom *properties = list(display, root_window(display), &count);
        for (int i = 0; i < count; i++) {
            found |= properties[i] == wanted;
        }
        if (properties) {
            release(properties);
        }
    }
    SDL_UnloadObject(library);
    return !found;
}
#else
static bool without_window_manager(SDL_Window *window)
{
    (void)window;
    return false;
}
#endif

void fullscreen_set(SDL_Window *window, bool on, const SDL_Rect *windowed)
{
    if (!without_window_manager(window)) {
        SDL_SetWindowFullscreen(window, on ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);
        return;
    }
    SDL_Rect area = *windowed;
    if (on) {
        int display = SDL_GetWindowDisplayIndex(window);
        SDL_GetDisplayBounds(display < 0 ? 0 : display, &area);
    }
    SDL_SetWindowPosition(window, area.x, area.y);
    SDL_SetWindowSize(window, area.w, area.h);
}
