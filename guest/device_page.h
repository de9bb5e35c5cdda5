// SPDX-License-Identifier: MIT
// The device page: the memory that the DOOM platform (guest/) and the machine (core/) share.
// The guest opens DEVICE_PATH and maps DEVICE_SIZE bytes of it, shared. Where the file does not
// exist (plain Linux, qemu-aarch64) the guest runs headless with the virtual clock.
// Everything is little-endian. Any change of layout or meaning raises DEVICE_VERSION.
#ifndef DEVICE_PAGE_H
#define DEVICE_PAGE_H

#include <stddef.h>
#include <stdint.h>

#define DEVICE_PATH "/dev/neurodoom"
#define DEVICE_MAGIC 0x4d4f4f44u // "DOOM"
#define DEVICE_VERSION 4u

// ioctl requests on the device file: a plain store would go unseen by the host.
enum {
    DEVICE_PRESENT = 0x4400, // the frame buffer, palette and counters hold a new frame
    DEVICE_WAIT = 0x4401, // argument: milliseconds; returns early when an event arrives
    DEVICE_AUDIO = 0x4402, // the ring of sound is full: the host takes what is in it, as it does at a present
};

enum device_clock_mode {
    DEVICE_CLOCK_REAL, // time is what clock_gettime says (the host scales and pauses it)
    DEVICE_CLOCK_VIRTUAL, // time is +29 ms a present, +n ms a sleep of n: see guest/clock.c
};

enum device_event_type {
    // A key or button. code: low byte the DOOM key (doomkeys.h) that it is where it is not bound, and in
    // menus,
    // or 0; high byte the control that it is bound to (enum device_control). ch: the character typed or 0.
    // dx: 1 = repeated
    DEVICE_EVENT_KEY_DOWN = 1,
    DEVICE_EVENT_KEY_UP = 2, // code: as it went down
    DEVICE_EVENT_MOUSE = 3, // dx, dy: motion
    // There is a pad, and its sticks have moved. code: what is held for menus (bit 0 yes, 1 back), dx, dy:
    // left
    // stick, ch: low half the right one's dx; -32768..32767, 0 within the dead zone
    DEVICE_EVENT_PAD = 4,
    DEVICE_EVENT_QUIT = 5, // the user asks to quit: the engine ends cleanly
    DEVICE_EVENT_RELEASE_ALL = 6, // focus lost: every held key and button goes up
};

enum device_control {
    DEVICE_CONTROL_NONE,
#define CONTROL(id, name, label, variable, bound) DEVICE_CONTROL_##id,
#include "controls.def"
#undef CONTROL
    DEVICE_CONTROLS,
};

struct device_event {
    uint16_t type; // enum device_event_type
    uint16_t code;
    int16_t dx, dy;
    uint32_t ch;
};

// The engine's gamestate_t.
enum device_game_state {
    DEVICE_GAME_LEVEL,
    DEVICE_GAME_INTERMISSION, // between levels
    DEVICE_GAME_FINALE,
    DEVICE_GAME_DEMO_SCREEN, // title, credits, and what else is shown between demos
    DEVICE_GAME_STATES,
};

// What the host tells once, and what the guest publishes with every frame.
struct device_info {
    uint32_t magic, version; // host
    uint32_t clock_mode; // host: enum device_clock_mode; may change while running
    uint32_t frame; // guest: frames presented, the first is 1
    uint32_t gametic; // guest: the engine's gametic at the last present
    uint32_t ended; // guest: 1 once the engine has ended in good order
    uint32_t timed_demo_tics; // guest: tics of a timed demo that has ended, else 0
    // guest: what the player sees, for tests and the overlay
    uint32_t game_state; // enum device_game_state
    uint32_t menu_active; // a menu is open
    uint32_t user_game; // a game started by the player, not a demo
    uint32_t episode, map, skill;
    int32_t player_x, player_y; // fixed point 16.16
    uint32_t player_angle; // BAM
    int32_t health, ammo; // ammo of the weapon in hand, -1: it needs none
    uint32_t demo_playing;
    // guest: the address in its memory where the picture is drawn, sizeof frame bytes that are copied to
    // frame before a present; 0: not told
    uint64_t drawn_at;
};

#define DEVICE_EVENTS 256u // a power of two

// What changes by itself, on a page of its own.
struct device_ring {
    uint64_t clock_us; // host: the guest's clock, microseconds since start
    uint32_t event_head; // host: events written so far
    uint32_t event_tail; // guest: events read so far
    struct device_event events[DEVICE_EVENTS];
};

#define DEVICE_AUDIO_FRAMES 8192u // a power of two
#define DEVICE_AUDIO_RATE 44100u // frames a second

// The way of sound to the host: 16-bit stereo. At every present the guest has written all samples up to one
// frame (29 ms) ahead of its clock, and the host takes them all.
struct device_audio {
    uint32_t wanted; // host: 0 = the guest makes no sound
    uint32_t head; // guest: frames written so far
    uint32_t tail; // host: frames taken so far
    uint32_t reserved;
    int16_t samples[DEVICE_AUDIO_FRAMES][2];
};

#define DEVICE_FRAME_WIDTH 320u
#define DEVICE_FRAME_HEIGHT 200u
#define DEVICE_PAGE 4096u

struct device_page {
    struct device_info info;
    _Alignas(256) uint8_t palette[256][3]; // R G B
    _Alignas(DEVICE_PAGE) uint8_t frame[DEVICE_FRAME_HEIGHT * DEVICE_FRAME_WIDTH]; // palette indices
    _Alignas(DEVICE_PAGE) struct device_ring ring;
    _Alignas(DEVICE_PAGE) struct device_audio audio;
};

#define DEVICE_SIZE sizeof(struct device_page)

_Static_assert(sizeof(struct device_event) == 12, "device page layout");
_Static_assert(offsetof(struct device_info, drawn_at) == 80, "device page layout");
_Static_assert(offsetof(struct device_page, palette) == 0x100, "device page layout");
_Static_assert(offsetof(struct device_page, frame) == 0x1000, "device page layout");
_Static_assert(offsetof(struct device_page, ring) == 0x11000, "device page layout");
_Static_assert(offsetof(struct device_page, audio) == 0x12000, "device page layout");
_Static_assert(sizeof(struct device_page) == 0x1b000, "device page layout");

#endif
