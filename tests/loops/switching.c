// SPDX-License-Identifier: MIT
// Throws the switch for loops all the time, every fifth time the one for the engine, too, and more rarely the
// one for checking loops, for which everything is translated anew (the linker's --wrap).
#include "../../core/core.h"

enum machine_state __real_machine_run(machine *m, uint64_t budget);
enum machine_state __wrap_machine_run(machine *m, uint64_t budget);

enum machine_state __wrap_machine_run(machine *m, uint64_t budget)
{
    static unsigned slices;
    enum machine_engine other =
        machine_get_engine(m) == MACHINE_ENGINE_INTERP ? machine_default_engine() : MACHINE_ENGINE_INTERP;
    uint64_t part = 100000 + 7919 * (slices % 103);
    machine_set_loops(m, slices % 2);
    if (slices % 701 == 700)
        machine_set_verify(m, !machine_get_verify(m));
    if (slices++ % 5 == 4)
        machine_set_engine(m, other);
    return __real_machine_run(m, budget < part ? budget : part);
}
