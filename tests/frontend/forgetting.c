// SPDX-License-Identifier: MIT
// A machine that now and then has forgotten all loops, as it does when their code is written anew (the
// linker's
// --wrap).
#include "../../core/core.h"

void __real_machine_get_stats(const machine *m, struct machine_stats *stats);
void __wrap_machine_get_stats(const machine *m, struct machine_stats *stats);

void __wrap_machine_get_stats(const machine *m, struct machine_stats *stats)
{
    static unsigned calls;
    __real_machine_get_stats(m, stats);
    stats->loops_detected = stats->loops_rejected = 20 + calls % 3;
    if (calls++ % 5 == 4)
        stats->loops_detected = stats->loops_rejected = 0;
}
