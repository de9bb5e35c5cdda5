// SPDX-License-Identifier: MIT
#include "machine_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "frontend/base/log.h"
#include "frontend/base/models.h"
#include "frontend/base/paths.h"
#include "frontend/base/prefix.h"
#include "prepared.h"

// The folder for translated code, or NULL. That is code for the host: the guest must not be able to write
// anything in there, nor the folder itself.
static char *make_cache_folder(const struct grants *grants)
{
    char *wanted = path_user(PATH_CACHE, NULL);
    char *folder = path_make_folder(wanted) ? path_absolute(wanted) : NULL;
    if (!folder) {
        log_line(LOG_WARNING, "cannot create the folder %s: %s; translated code is not kept", wanted,
                 strerror(errno));
    } else if (grants_reach(grants, folder)) {
        log_line(LOG_WARNING, "the guest may write to %s, so translated code is not kept", folder);
        free(folder);
        folder = NULL;
    }
    free(wanted);
    return folder;
}

static bool find_dispatch_net(struct machine_setup *setup, const char *folder, bool fixed,
                              struct failure *failure)
{
    struct machine_config *config = &setup->config;
    if (fixed && config->dispatch == MACHINE_DISPATCH_OFF) {
        return true;
    }
    if (find_model("dispatch-10279", folder, setup->dispatch_model, sizeof setup->dispatch_model)) {
        config->dispatch_model = setup->dispatch_model;
        return true;
    }
    setup->dispatch_model[0] = '\0';
    if (fixed) {
        return fail(failure, STATUS_USAGE, "there is no dispatch net; --models FOLDER tells where it is");
    }
    log_line(LOG_WARNING, "there is no dispatch net (%s/dispatch-10279.npy): the tables dispatch",
             folder ? folder : PREFIX_MODELS "/weights");
    return true;
}

static bool find_loop_nets(struct machine_setup *setup, const char *folder, bool fixed,
                           struct failure *failure)
{
    struct machine_config *config = &setup->config;
    if (fixed && !config->loops) {
        return !config->verify ||
               fail(failure, STATUS_USAGE, "--verify compares replaced loops: it needs --opt loops=on");
    }
    const char *missing = action_missing(ACTION_LOOPS);
    if (!missing && find_loop_models(folder, setup->loop_models, sizeof setup->loop_models)) {
        config->loop_models = setup->loop_models;
        if (config->verify && !config->loops) {
            log_line(LOG_WARNING, "--verify compares replaced loops, and with loops=off there are none");
        }
        return true;
    }
    setup->loop_models[0] = '\0';
    if (fixed) {
        return fail(failure, STATUS_USAGE, "%s",
                    missing ? missing : "there are no nets for loops; --models FOLDER tells where they are");
    }
    if (config->loops || config->verify) {
        log_line(LOG_WARNING, "%s%s", missing ? missing : "there are no nets for loops: no loop is replaced",
                 config->verify ? ", and --verify has nothing to compare" : "");
    }
    return true;
}

bool machine_setup_fill(struct machine_setup *setup, const struct options *options,
                        const struct settings *settings, bool fixed, struct failure *failure)
{
    struct machine_config *config = &setup->config;
    config->grants = setup->grants.list;
    config->grant_count = setup->grants.count;
    config->engine = (enum machine_engine)settings->engine;
    setup->cache = make_cache_folder(&setup->grants);
    config->cache_folder = setup->cache;
    setup->prepared = prepared_folder();
    config->prepared_folder = setup->prepared;
    setup->library = path_installed(PREFIX_LIBRARY);
    config->library_folder = setup->library;
    if (settings->neural || options->dispatch_given) {
        config->dispatch = (enum machine_dispatch)settings->dispatch;
    }
    config->loops = settings->loops && (settings->neural || options->loops_given);
    config->idle = settings->idle && (settings->neural || options->idle_given);
    config->verify = settings->verify;
    if (options->models && !path_is_folder(options->models)) {
        return fail(failure, STATUS_USAGE, "--models %s: there is no such folder", options->models);
    }
    return find_dispatch_net(setup, options->models, fixed, failure) &&
           find_loop_nets(setup, options->models, fixed, failure);
}

void machine_setup_free(struct machine_setup *setup)
{
    grants_free(&setup->grants);
    free(setup->cache);
    free(setup->prepared);
    free(setup->library);
    *setup = (struct machine_setup){0};
}
