// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's video interface on the device page: palette indices and a palette, nothing more.
// Scaling, aspect and colours are the host's.
#include <limits.h>
#include <string.h>

#include "d_items.h"
#include "d_loop.h"
#include "deh_str.h"
#include "doomstat.h"
#include "i_input.h"
#include "i_system.h"
#include "i_timer.h"
#include "i_video.h"
#include "m_argv.h"
#include "m_config.h"
#include "m_menu.h"
#include "v_diskicon.h"
#include "v_video.h"
#include "w_wad.h"
#include "z_zone.h"

#include "platform.h"

_Static_assert(SCREENWIDTH == DEVICE_FRAME_WIDTH && SCREENHEIGHT == DEVICE_FRAME_HEIGHT,
               "the device page holds the engine's screen");

// The engine draws here; the page gets whole frames only.
static pixel_t screen[SCREENWIDTH * SCREENHEIGHT];
static uint8_t palette[256][3];
static boolean noblit;
static boolean fps_dots;

pixel_t *I_VideoBuffer = screen;
boolean screenvisible = true;
boolean screensaver_mode = false;
int usegamma = 0;
int png_screenshots = 0;

// The lowest two bits go, as on the 6-bit colour registers of a VGA card.
void I_SetPalette(byte *colours)
{
    for (int i = 0; i < 256; i++) {
        for (int channel = 0; channel < 3; channel++) {
            palette[i][channel] = gammatable[usegamma][*colours++] & ~3;
        }
    }
}

int I_GetPaletteIndex(int r, int g, int b)
{
    int best = 0;
    int best_distance = INT_MAX;
    for (int i = 0; i < 256; i++) {
        int dr = r - palette[i][0];
        int dg = g - palette[i][1];
        int db = b - palette[i][2];
        int distance = dr * dr + dg * dg + db * db;
        if (distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}

void I_GraphicsCheckCommandLine(void)
{
    noblit = M_ParmExists("-noblit");
}

void I_InitGraphics(void)
{
    memset(screen, 0, sizeof screen);
    page->info.drawn_at = (uintptr_t)screen;
    I_SetPalette(W_CacheLumpName(DEH_String("PLAYPAL"), PU_CACHE));
    V_RestoreBuffer();
}

// Under -devparm, one dot on the bottom line for each tic that the last frame took.
static void draw_fps_dots(void)
{
    enum { most = 20, apart = 4 };
    static int last;
    int now = I_GetTime();
    int tics = now - last;
    last = now;
    for (int i = 0; i < most; i++) {
        screen[(SCREENHEIGHT - 1) * SCREENWIDTH + i * apart] = i < tics ? 0xff : 0;
    }
}

_Static_assert((int)DEVICE_GAME_LEVEL == (int)GS_LEVEL &&
                   (int)DEVICE_GAME_INTERMISSION == (int)GS_INTERMISSION &&
                   (int)DEVICE_GAME_FINALE == (int)GS_FINALE &&
                   (int)DEVICE_GAME_DEMO_SCREEN == (int)GS_DEMOSCREEN,
               "the engine's states by their names");

// What the overlay and the tests want to know of the game.
static void publish(struct device_info *info)
{
    const player_t *player = &players[displayplayer];

    info->gametic = (uint32_t)gametic;
    info->game_state = gamestate;
    info->menu_active = menuactive;
    info->user_game = usergame;
    info->demo_playing = demoplayback;
    info->episode = (uint32_t)gameepisode;
    info->map = (uint32_t)gamemap;
    info->skill = gameskill;
    if (gamestate != GS_LEVEL || player->mo == NULL) {
        return;
    }
    info->player_x = player->mo->x;
    info->player_y = player->mo->y;
    info->player_angle = player->mo->angle;
    info->health = player->health;
    ammotype_t ammo = weaponinfo[player->readyweapon].ammo;
    info->ammo = ammo == am_noammo ? -1 : player->ammo[ammo];
}

void I_FinishUpdate(void)
{
    if (noblit) {
        return;
    }
    if (fps_dots) {
        draw_fps_dots();
    }
    V_DrawDiskIcon();
    memcpy(page->frame, screen, sizeof page->frame);
    memcpy(page->palette, palette, sizeof page->palette);
    publish(&page->info);
    page->info.frame++;
    fingerprints_of_frame();
    audio_advance();
    platform_present();
    clock_frame_presented();
    V_RestoreDiskBackground();
}

void I_ReadScreen(pixel_t *copy)
{
    memcpy(copy, screen, sizeof screen);
}

void I_DisplayFPSDots(boolean on)
{
    fps_dots = on;
}

void I_BindVideoVariables(void)
{
    M_BindIntVariable("use_mouse", &usemouse);
    M_BindIntVariable("usegamma", &usegamma);
}

// The window, its title, icon and mouse grab are the host's.

void I_StartFrame(void)
{
}

void I_UpdateNoBlit(void)
{
}

void I_SetWindowTitle(const char *title)
{
    (void)title;
}

void I_RegisterWindowIcon(const unsigned int *icon, int width, int height)
{
    (void)icon;
    (void)width;
    (void)height;
}

void I_SetGrabMouseCallback(grabmouse_callback_t wanted)
{
    (void)wanted;
}

void I_CheckIsScreensaver(void)
{
}
