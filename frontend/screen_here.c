// SPDX-License-Identifier: MIT
// Of neurodoom_window.
#include "frontend/window/doctor.h"
#include "frontend/window/window.h"
#include "play.h"
#include "screen.h"

int screen_run(struct options *options, struct settings *settings, __attribute__((unused)) char **argv)
{
    if (options->request == REQUEST_PLAY) {
        return play_by(options, settings, window_run);
    }
    if (options->request == REQUEST_DOCTOR) {
        return doctor_examine(settings, stdout) ? STATUS_OK : STATUS_USAGE;
    }
    doctor_features(stdout);
    return STATUS_OK;
}
