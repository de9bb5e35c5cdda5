// SPDX-License-Identifier: MIT
#include "play.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/interrupt.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"

int play_by(struct options *options, struct settings *settings,
            int (*run)(struct options *options, struct settings *settings))
{
    char *folder = path_user(PATH_STATE, NULL);
    char *path = path_user(PATH_STATE, "neurodoom.log");
    if (path_make_folder(folder)) {
        log_open(path);
    } else {
        log_line(LOG_WARNING, "cannot create the folder %s: %s; no log is kept", folder, strerror(errno));
    }
    free(folder);
    free(path);
    interrupt_catch();
    int status = run(options, settings);
    log_close();
    return status;
}
