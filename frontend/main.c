// SPDX-License-Identifier: MIT
// The program: command line and settings, then one of the things it can do.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "frontend/base/host.h"
#include "frontend/base/log.h"
#include "frontend/base/streams.h"
#include "frontend/bench/bench.h"
#include "frontend/bench/rerun.h"
#include "frontend/command/about.h"
#include "frontend/command/config.h"
#include "frontend/command/doom_options.h"
#include "frontend/command/wad.h"
#include "frontend/command/wad_search.h"
#include "headless.h"
#include "play.h"
#include "prepare.h"
#include "screen.h"

bool screen_needed(const struct options *options)
{
    return options->request == REQUEST_DOCTOR || options->request == REQUEST_FEATURES ||
           (options->request == REQUEST_PLAY && !options->headless);
}

// Who asks for these may be about to find out what is wrong with the settings.
static bool does_without_settings(enum request request)
{
    return request == REQUEST_HELP || request == REQUEST_VERSION || request == REQUEST_FEATURES ||
           request == REQUEST_LIST_WADS || request == REQUEST_DOCTOR;
}

static bool load_settings(const struct options *options, struct settings *settings, struct failure *failure)
{
    const struct config_sources sources = {.files = true,
                                           .remembered =
                                               !options->headless && options->request != REQUEST_BENCH,
                                           .file = options->config_file,
                                           .command_line = &options->settings};
    if (config_load(settings, &sources, failure)) {
        return true;
    }
    if (!does_without_settings(options->request)) {
        return false;
    }
    settings->wrong = failure->text;
    *failure = (struct failure){0};
    return true;
}

static int answer(struct options *options, struct settings *settings)
{
    if (settings->wrong) {
        log_line(LOG_WARNING, "%s", settings->wrong);
    }
    switch (options->request) {
    case REQUEST_PLAY: return play_by(options, settings, headless_run);
    case REQUEST_HELP: doom_options_print_help(stdout); break;
    case REQUEST_VERSION: host_print_version("neurodoom", stdout); break;
    case REQUEST_LIST_WADS: return wad_list(stdout, settings->iwad) ? STATUS_OK : STATUS_NO_WAD;
    case REQUEST_LIST_KEYS: about_keys(settings, stdout); break;
    case REQUEST_DUMP_CONFIG: config_dump(settings, stdout); break;
    case REQUEST_BENCH: return bench_run(options, settings);
    case REQUEST_COMPARE: return bench_compare(options);
    case REQUEST_RERUN: return rerun_run(options, settings);
    case REQUEST_PREPARE: return prepare_run(options, settings);
    case REQUEST_TRANSLATE_REST: break; // a64run's
    case REQUEST_DOCTOR:
    case REQUEST_FEATURES: break; // screen_run's
    }
    return STATUS_OK;
}

int main(int argc, char **argv)
{
    struct options options;
    struct settings settings = {0};
    struct failure failure = {0};
    int status;
    streams_hold();
    if (!doom_options_parse(&options, argc, argv, &failure) ||
        !load_settings(&options, &settings, &failure)) {
        status = failure_report(&failure);
    } else {
        log_set_level((enum log_level)settings.log_level);
        status =
            screen_needed(&options) ? screen_run(&options, &settings, argv) : answer(&options, &settings);
    }
    if (!streams_end() && status == STATUS_OK) {
        fail(&failure, STATUS_USAGE, "cannot write to standard output: %s", strerror(errno));
        status = failure_report(&failure);
    }
    config_free(&settings);
    options_free(&options);
    return status;
}
