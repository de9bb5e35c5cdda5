// SPDX-License-Identifier: MIT
// Of neurodoom_window.
#include "frontend/command/doom_options.h"
#include "frontend/window/doctor.h"
#include "frontend/window/window.h"
#include "play.h"
#include "prepare_beside.h"
#include "screen.h"

int screen_run(struct options *options, struct settings *settings, __attribute__((unused)) char **argv)
{
    if (options->request == REQUEST_PLAY) {
        // Nothing runs beside what is timed.
        bool timed = doom_options_given(options, "-timedemo") || options->csv || options->json ||
                     options->stats || options->profile || options->count || options->split;
        pid_t beside = timed ? 0 : prepare_beside_start(settings);
        int status = play_by(options, settings, window_run);
        prepare_beside_end(beside);
        return status;
    }
    if (options->request == REQUEST_DOCTOR) {
        return doctor_examine(settings, stdout) ? STATUS_OK : STATUS_USAGE;
    }
    doctor_features(stdout);
    return STATUS_OK;
}
