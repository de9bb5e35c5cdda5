// SPDX-License-Identifier: MIT
// The program: command line and settings, then one of the things it can do.
#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "doctor.h"
#include "headless.h"
#include "interrupt.h"
#include "log.h"
#include "options.h"
#include "paths.h"
#include "wad.h"
#include "window.h"

static void open_log(void)
{
    char *folder = path_user(PATH_STATE, NULL);
    char *path = path_user(PATH_STATE, "neurodoom.log");
    if (path_make_folder(folder)) {
        log_open(path);
    }
    free(folder);
    free(path);
}

static int play(const struct options *options, struct settings *settings)
{
    open_log();
    interrupt_catch();
    int status = options->headless ? headless_run(options, settings) : window_run(options, settings);
    log_close();
    return status;
}

static int answer(const struct options *options, struct settings *settings)
{
    switch (options->request) {
    case REQUEST_PLAY: return play(options, settings);
    case REQUEST_HELP: options_print_help(stdout); break;
    case REQUEST_VERSION: doctor_version(stdout); break;
    case REQUEST_FEATURES: doctor_features(stdout); break;
    case REQUEST_DOCTOR: doctor_examine(settings, stdout); break;
    case REQUEST_LIST_WADS: return wad_list(stdout) ? STATUS_OK : STATUS_NO_WAD;
    case REQUEST_LIST_KEYS: doctor_keys(settings, stdout); break;
    case REQUEST_DUMP_CONFIG: config_dump(settings, stdout); break;
    }
    return STATUS_OK;
}

int main(int argc, char **argv)
{
    struct options options;
    struct settings settings = {0};
    struct failure failure = {0};
    int status;
    bool parsed = options_parse(&options, argc, argv, &failure);
    struct config_sources sources = {options.config_file, &options.settings};
    if (!parsed || !config_load(&settings, &sources, &failure)) {
        status = failure_report(&failure);
    } else {
        log_set_level((enum log_level)settings.log_level);
        status = answer(&options, &settings);
    }
    config_free(&settings);
    options_free(&options);
    return status;
}
