// SPDX-License-Identifier: MIT
#include "profile_frames.h"

#include <string.h>

#include "core/isa/cpu.h"
#include "core/isa/isa.h"

enum { REG_FP = 29 };

// What one that stands like that comes to by the instruction.
static uint8_t behind(uint32_t word, uint8_t frame)
{
    op o;
    enum insn id = isa_decode(word, 0, &o);
    if (id == INSN_UNDEFINED)
        return frame;
    const struct insn_info *info = &isa_info[id];
    const uint32_t writes = isa_registers(info->writes, &o).x, reads = isa_registers(info->reads, &o).x;
    const bool writes_fp = writes >> REG_FP & 1, writes_lr = writes >> REG_LR & 1;
    if (info->writes & LR) // a call
        return frame & FRAME_OWN ? FRAME_OWN : FRAME_NONE;
    if (writes_fp && writes_lr) // both come back
        return FRAME_OF_CALLER;
    if (writes_fp)
        return !(info->reads & MEMORY) && reads >> REG_SP & 1 ? FRAME_OWN : FRAME_NONE;
    if (writes_lr)
        return frame & FRAME_OWN ? FRAME_OWN : FRAME_OF_CALLER;
    return frame;
}

static uint8_t all_behind(uint32_t word, uint8_t frames)
{
    uint8_t all = 0;
    for (uint8_t frame = FRAME_OF_CALLER; frame <= FRAME_NONE; frame = (uint8_t)(frame << 1))
        if (frames & frame)
            all |= behind(word, frame);
    return all;
}

static bool add(uint8_t *frames, int32_t at, uint8_t more)
{
    if (at < 0 || (frames[at] | more) == frames[at])
        return false;
    frames[at] |= more;
    return true;
}

void profile_frames_find(const uint32_t *words, const struct profile_step *steps, uint32_t length,
                         uint8_t *frames)
{
    uint8_t anywhere = 0;
    memset(frames, 0, length);
    frames[0] = FRAME_OF_CALLER;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < length; i++) {
            uint8_t out = frames[i] ? all_behind(words[i], frames[i]) : 0;
            more |= add(frames, steps[i].next, out) | add(frames, steps[i].target, out);
            anywhere |= steps[i].anywhere ? out : 0;
        }
        // A switch leads to what nothing else does, to begin with.
        const uint8_t *unreached = more ? NULL : memchr(frames, 0, length);
        if (unreached && anywhere)
            more = add(frames, (int32_t)(unreached - frames), anywhere);
    }
}
