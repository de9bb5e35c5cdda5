// SPDX-License-Identifier: MIT
// A running game: a machine, and the emulation thread that owns it. The main thread sends input and
// requests, and takes frames out of a triple buffer; neither side ever waits for the other's drawing.
#ifndef FRONTEND_SESSION_H
#define FRONTEND_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"
#include "frontend/base/status.h"
#include "guest/device_page.h"

struct session;

// One presented frame in figures. Times are host times in ms; an interval reaches from the moment the
// previous frame was presented to the moment this one was, less the time the game stood paused.
struct frame_figures {
    uint32_t number; // the first frame is 1
    uint32_t gametic;
    double at_ms; // since the session started, pauses included
    double frame_ms; // the interval
    double emu_ms; // of it: executing guest instructions
    double present_ms; // of it: taking over the previous frame
    double sleep_ms; // the rest: the guest, or the host for it, slept
    double idle_ms; // given back while the guest waited
    uint64_t retired; // guest instructions in the interval
    // How things were switched at its end:
    enum machine_engine engine;
    enum machine_dispatch dispatch;
    bool replaces_loops; // some can be replaced, and that is on
    bool idle;
    bool verify; // replaced loops are checked
    bool warming; // much code was compiled lately
    unsigned speed; // percent, 0 = as fast as possible
    uint64_t dispatch_total, dispatch_hit; // of them seen, and named rightly, by the dispatch net
    bool has_loops; // else what follows is 0
    uint64_t credited, iterations_skipped; // instructions and iterations of loops that were replaced
    uint64_t loops_active; // proved and switched on
    uint64_t loops_new,
        loops_rejected; // proposed or refused in the interval, as far as there were never more
};

// Called on the emulation thread, whatever it does delays the guest.
struct session_callbacks {
    void *user;
    // The machine has been created and has not run. False with *failure: the session does not start. NULL:
    // nothing.
    bool (*begin)(void *user, machine *m, struct failure *failure);
    // After session_ask_between, between two frames: the machine stands, right behind the one that was last
    // presented. NULL: nothing.
    void (*between)(void *user, struct session *s);
    // The game has been gone back in: it stands behind that frame again, as if nothing had come after it.
    // NULL: nothing.
    void (*rewound)(void *user, struct session *s, uint32_t frame);
    // A frame has been presented. NULL: none. False: that was enough, and the
    // guest is asked to end; no more frames are reported.
    bool (*frame)(void *user, struct session *s, const struct machine_frame *frame,
                  const struct frame_figures *figures);
    // See machine_config.audio. NULL: the guest makes no sound.
    void (*audio)(void *user, const int16_t (*samples)[2], size_t count);
    // See machine_config.more_input. NULL: nothing is replayed in this way.
    bool (*more_input)(void *user, const void **log, size_t *size);
    // What the guest prints is kept for session_end_text only, not printed again.
    bool silent;
    // There is a new frame to take, or the session has ended. NULL: nobody takes any, and none is kept. Has
    // to be quick.
    void (*wake)(void *user);
};

// A frame for drawing.
struct session_picture {
    uint8_t indices[DEVICE_FRAME_HEIGHT * DEVICE_FRAME_WIDTH];
    uint8_t palette[256][3];
    uint32_t number, gametic;
    uint32_t traced_loop; // header of the loop that machine_trace_loop is after, or 0
    uint8_t traced[DEVICE_FRAME_HEIGHT * DEVICE_FRAME_WIDTH]; // then: not 0 where it has written
};

enum session_end {
    SESSION_RUNNING,
    SESSION_EXITED, // the guest ended; exit_status below
    SESSION_FAULTED, // fault_report below
    SESSION_STOPPED, // by session_stop, or because the guest did not end when it had presented enough
};

// What the host makes of the guest's sound.
struct session_sound {
    bool heard; // there is a device
    uint32_t under_runs; // times that a sound was due which had not been made
    double latency_ms; // from a sample's being made to its being handed to the device, lately
};

struct session_state {
    enum session_end end;
    int exit_status; // of the guest
    bool paused;
    bool rewinding; // the game goes back, or stands at the beginning of what is known
    uint32_t jumps; // times that it has become another one than it was: gone back in, or loaded
    uint32_t frames;
    double seconds; // host time from the start to now or the end
    double first_frame_ms; // host time from the start to the first frame, 0 before that
    struct session_sound sound;
};

// What a timed demo took: from its first frame to its last.
struct session_timing {
    uint32_t frames; // intervals between them
    uint32_t tics; // as the engine counts them
    double seconds;
    double emulating_seconds; // of these
    uint64_t retired, credited;
};

// Creates the machine and starts the emulation thread. config's callbacks are the session's own; everything
// that config points to has to outlive the session. speed: percent, 0 = as fast as possible.
// NULL: *failure.
struct session *session_start(const struct machine_config *config, unsigned speed,
                              const struct session_callbacks *callbacks, struct failure *failure);

// The newest frame if there is one that has not been taken yet, else NULL. It stays valid until the next
// call.
const struct session_picture *session_take_picture(struct session *s);

// The machine, for those functions of core.h that any thread may call.
machine *session_machine(struct session *s);

void session_get_state(struct session *s, struct session_state *state);

// Copies the figures of the last frames, oldest first; returns how many, at most SESSION_HISTORY.
#define SESSION_HISTORY 512
unsigned session_get_history(struct session *s, struct frame_figures figures[SESSION_HISTORY]);

// Who plays the sound says how that goes.
void session_set_sound(struct session *s, const struct session_sound *sound);

// False where no timed demo has ended.
bool session_get_timing(struct session *s, struct session_timing *timing);

// After SESSION_FAULTED: the report. After SESSION_EXITED: the end of what the guest wrote to its standard
// error, or else output. Valid until session_stop.
const char *session_end_text(struct session *s);

// On the emulation thread, while a frame is presented: callbacks.between is to be called behind it.
void session_ask_between(struct session *s);

void session_post(struct session *s, const struct device_event *event);

// Any thread: has call made on the emulation thread while the machine stands; its clock does so, too. What
// has not been made when the session ends is dropped.
void session_call(struct session *s, void (*call)(void *user, struct session *s), void *user);
// In such a call: the game becomes the saved one. False with *error: it goes on as it was.
bool session_load(struct session *s, const struct machine_bytes *bytes, struct error *error);

// Keeps what is needed to go back in the game, in that many bytes; and shows not the frame that the game has
// presented, but the one that so many frames later it would, were the keys held on: 0 to 2. Once, after the
// start.
void session_keep_past(struct session *s, size_t bytes, unsigned run_ahead);
// While it is on, the game goes back, twice as fast as it went; it goes on from there.
void session_rewind(struct session *s, bool on);

// On the emulation thread, while a frame is presented: calls wait, and leaves the time that takes out of all
// figures and of the guest's clock.
void session_leave_out(struct session *s, void (*wait)(void *user), void *user);

// Pausing also stops the guest's clock. A step runs until the next frame has been presented.
void session_pause(struct session *s, bool paused);
void session_step(struct session *s);
void session_set_speed(struct session *s, unsigned percent);

// Takes effect soon; a translator that cannot start leaves the interpreter, and a message.
void session_set_engine(struct session *s, enum machine_engine engine);

// The last thing that the machine or the session had to say to the user, once; on the heap, or NULL if there
// is nothing new.
char *session_take_message(struct session *s);
// Any thread: a message for the user.
void session_tell(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

void session_set_dispatch(struct session *s, enum machine_dispatch dispatch); // takes effect soon

// Asks the guest to end in good order: it saves its configuration. A pause is lifted.
void session_ask_to_quit(struct session *s);

// Waits until the session has ended, at most so long; returns whether it has.
bool session_wait(struct session *s, unsigned milliseconds);

// Ends the emulation thread wherever the guest is; the state and figures stay readable.
void session_stop(struct session *s);
// Stops and frees. False if what was to be kept for later runs is not: why has been logged.
bool session_end(struct session *s);

#endif
