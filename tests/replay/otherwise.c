// SPDX-License-Identifier: MIT
// A machine that goes astray: its hundredth frame is another one.
#include "core/devices/input_log.h"

bool __real_input_take_frame(struct input_log *log, uint64_t number, uint64_t fingerprint);
bool __wrap_input_take_frame(struct input_log *log, uint64_t number, uint64_t fingerprint);

bool __wrap_input_take_frame(struct input_log *log, uint64_t number, uint64_t fingerprint)
{
    return __real_input_take_frame(log, number, fingerprint ^ (number == 100));
}
