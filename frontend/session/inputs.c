// SPDX-License-Identifier: MIT
#include "inputs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/base/text.h"

#define BYTES_MOST                                                                                           \
    (32u << 20) // a guest that waits without sleeping looks at its clock a million times a second

static struct input_of_frame *of(struct inputs *in, uint32_t frame)
{
    return &in->frames[frame % INPUTS_FRAMES];
}

static void drop(struct inputs *in, uint32_t frame)
{
    struct input_of_frame *f = of(in, frame);
    in->bytes -= f->size;
    in->count--;
    free(f->log);
    *f = (struct input_of_frame){0};
}

void inputs_begin(struct inputs *in, machine *m)
{
    machine_record_input(m);
    in->on = true;
}

void inputs_take(struct inputs *in, machine *m, uint32_t frame)
{
    uint8_t *log;
    size_t size;
    machine_take_input(m, &log, &size);
    while (in->count && (frame != in->last + 1 || in->count == INPUTS_FRAMES || in->bytes > BYTES_MOST)) {
        drop(in, in->last + 1 - (uint32_t)in->count);
    }
    uint8_t *smaller = size ? realloc(log, size) : log;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *of(in, frame) = (struct input_of_frame){smaller ? smaller : log, size,
                                             (int64_t)now.tv_sec * 1000000000 + now.tv_nsec};
    in->bytes += size;
    in->count++;
    in->last = frame;
}

void inputs_cut(struct inputs *in, machine *m, uint32_t frame)
{
    uint8_t *log;
    size_t size;
    if (!in->on) {
        return;
    }
    machine_take_input(m, &log, &size);
    free(log);
    while (in->count && in->last > frame) {
        drop(in, in->last--);
    }
}

void inputs_end(struct inputs *in)
{
    while (in->count) {
        drop(in, in->last--);
    }
    in->on = false;
}

uint32_t inputs_first(const struct inputs *in)
{
    return in->last - (uint32_t)in->count;
}

uint8_t *inputs_copy(const struct inputs *in, uint32_t behind, size_t *size, int64_t *since_ns)
{
    *size = 0;
    *since_ns = behind > inputs_first(in) ? in->frames[behind % INPUTS_FRAMES].at_ns : 0;
    for (uint32_t frame = behind + 1; frame <= in->last; frame++) {
        *size += in->frames[frame % INPUTS_FRAMES].size;
    }
    uint8_t *log = memory_resize(NULL, *size + 1), *to = log;
    for (uint32_t frame = behind + 1; frame <= in->last; frame++) {
        const struct input_of_frame *f = &in->frames[frame % INPUTS_FRAMES];
        memcpy(to, f->log, f->size);
        to += f->size;
        *since_ns = *since_ns ? *since_ns : f->at_ns;
    }
    return log;
}
