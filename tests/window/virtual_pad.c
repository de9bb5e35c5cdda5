// SPDX-License-Identifier: MIT
// The window's program with pads that are not there (the linker's --wrap): they do what the lines say that
// are appended to the file PAD ("add", "remove", "axis N VALUE", "button N 0|1": what "pad 0|1" has named,
// at first 0), and when one shakes a line is appended to PAD_SHAKES. "drop PATH" drops a file on the window.
#include <SDL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int __real_SDL_WaitEventTimeout(SDL_Event *event, int timeout);
int __wrap_SDL_WaitEventTimeout(SDL_Event *event, int timeout);

static int shake(void *user, Uint16 low, Uint16 high)
{
    FILE *told = fopen(getenv("PAD_SHAKES"), "a");
    fprintf(told, "shake %u %u\n", low, high);
    fclose(told);
    return user ? 0 : 0;
}

static void obey(const char *line)
{
    static SDL_Joystick *pads[2];
    static int named;
    SDL_Joystick *pad = pads[named];
    int number, value;
    if (sscanf(line, "pad %d", &number) == 1) {
        named = number == 1;
    } else if (strncmp(line, "add", 3) == 0) {
        SDL_VirtualJoystickDesc desc = {.version = SDL_VIRTUAL_JOYSTICK_DESC_VERSION,
                                        .type = SDL_JOYSTICK_TYPE_GAMECONTROLLER,
                                        .naxes = SDL_CONTROLLER_AXIS_MAX,
                                        .nbuttons = SDL_CONTROLLER_BUTTON_MAX,
                                        .Rumble = shake};
        pads[named] = SDL_JoystickOpen(SDL_JoystickAttachVirtualEx(&desc));
    } else if (strncmp(line, "remove", 6) == 0) {
        for (int device = 0; device < SDL_NumJoysticks(); device++) {
            if (SDL_JoystickGetDeviceInstanceID(device) == SDL_JoystickInstanceID(pad)) {
                SDL_JoystickClose(pad);
                SDL_JoystickDetachVirtual(device);
                break;
            }
        }
    } else if (strncmp(line, "drop ", 5) == 0) {
        SDL_Event event = {.drop = {.type = SDL_DROPFILE, .file = SDL_strdup(line + 5)}};
        event.drop.file[strcspn(event.drop.file, "\n")] = '\0';
        SDL_PushEvent(&event);
        SDL_PushEvent(&(SDL_Event){.type = SDL_DROPCOMPLETE});
    } else if (sscanf(line, "axis %d %d", &number, &value) == 2) {
        SDL_JoystickSetVirtualAxis(pad, number, (Sint16)value);
    } else if (sscanf(line, "button %d %d", &number, &value) == 2) {
        SDL_JoystickSetVirtualButton(pad, number, (Uint8)value);
    }
}

int __wrap_SDL_WaitEventTimeout(SDL_Event *event, int timeout)
{
    static FILE *orders;
    char line[80];
    orders = orders ? orders : fopen(getenv("PAD"), "r");
    clearerr(orders);
    while (fgets(line, sizeof line, orders))
        obey(line);
    return __real_SDL_WaitEventTimeout(event, timeout);
}
