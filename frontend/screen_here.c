// SPDX-License-Identifier: MIT
// Of neurodoom_window.
#include "doctor.h"
#include "launch.h"
#include "screen.h"
#include "window.h"

int screen_run(const struct options *options, struct settings *settings, __attribute__((unused)) char **argv)
{
    if (options->request == REQUEST_PLAY) {
        return launch_play(options, settings, window_run);
    }
    if (options->request == REQUEST_DOCTOR) {
        doctor_examine(settings, stdout);
    } else {
        doctor_features(stdout);
    }
    return STATUS_OK;
}
