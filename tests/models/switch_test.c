// SPDX-License-Identifier: MIT
// Throws the dispatch switch all the time while a program runs: it must compute and count as with the switch
// left alone. usage: switch_test MODEL_BASE ENGINE PROGRAM; prints what PROGRAM prints, then a line "retired
// N"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../core/core.h"

int main(int argc, char **argv)
{
    const char *const arguments[] = {"program", NULL}, *const environment[] = {NULL};
    struct error error;
    struct machine_config config = {
        .argv = arguments, .envp = environment, .deterministic = true, .dispatch = MACHINE_DISPATCH_HYBRID};
    if (argc != 5 || !machine_engine_by_name(argv[2], &config.engine))
        return 1;
    config.dispatch_model = argv[1];
    config.program = argv[3];
    machine *m = machine_create(&config, &error);
    if (!m || !machine_has_dispatch(m)) {
        fprintf(stderr, "switch_test: %s\n", m ? "no dispatch net" : error.text);
        return 1;
    }
    bool switching = strcmp(argv[4], "switch") == 0;
    unsigned mode = 0, slice = 0;
    while (machine_run(m, 20000 + 7919 * (slice % 13)) == MACHINE_RUNNING) {
        mode = (mode + 1 + slice++ % 2) % MACHINE_DISPATCH_MODES;
        if (switching)
            machine_set_dispatch(m, (enum machine_dispatch)mode);
    }
    struct machine_stats stats;
    machine_get_stats(m, &stats);
    fflush(stdout);
    printf("retired %" PRIu64 "\n", stats.retired);
    int good = stats.dispatch_total > 0 && (stats.dispatch_total < stats.retired) == switching &&
               stats.dispatch_hit == stats.dispatch_total && machine_exit_status(m) == 0;
    machine_destroy(m);
    return good ? 0 : 1;
}
