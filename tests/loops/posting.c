// SPDX-License-Identifier: MIT
// Posts an event some time after the machine has first run (the linker's --wrap).
#include <pthread.h>
#include <unistd.h>

#include "../../core/core.h"
#include "../../guest/device_page.h"

enum { AFTER_US = 300000 };

enum machine_state __real_machine_run(machine *m, uint64_t budget);
enum machine_state __wrap_machine_run(machine *m, uint64_t budget);

static void *post(void *m)
{
    usleep(AFTER_US);
    machine_post_event(m, &(struct device_event){.type = DEVICE_EVENT_MOUSE});
    return NULL;
}

enum machine_state __wrap_machine_run(machine *m, uint64_t budget)
{
    static bool started;
    pthread_t thread;
    if (!started && pthread_create(&thread, NULL, post, m) == 0)
        pthread_detach(thread);
    started = true;
    return __real_machine_run(m, budget);
}
