// SPDX-License-Identifier: MIT
// The frame that a signal handler runs on, as the aarch64 kernel lays it out (arch/arm64 uapi sigcontext.h,
// ucontext.h): siginfo, ucontext, records of the SIMD registers and of the syndrome, and a frame record on
// top. And the alternate stack.
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "process.h"

#define GUEST_SS_AUTODISARM (1u << 31)
#define FPSIMD_MAGIC 0x46508001u
#define ESR_MAGIC 0x45535201u
#define RECORDS_SIZE 4096

struct fpsimd_record {
    uint32_t magic, size;
    uint32_t fpsr, fpcr;
    uint64_t v[32][2];
};

struct esr_record {
    uint32_t magic, size;
    uint64_t esr;
};

struct frame {
    uint8_t info[GUEST_SIGINFO_SIZE];
    uint64_t flags, link;
    uint64_t stack_base, stack_flags, stack_size;
    uint64_t mask;
    uint8_t unused[120];
    uint64_t padding;
    uint64_t fault_address;
    uint64_t x[31], sp, pc, pstate;
    uint64_t padding2;
    uint8_t records[RECORDS_SIZE];
    uint64_t record_fp, record_lr; // of the interrupted code, so that a debugger can walk on
};

_Static_assert(offsetof(struct frame, fault_address) == 128 + 176, "struct ucontext");
_Static_assert(offsetof(struct frame, records) == 128 + 464, "struct sigcontext");
_Static_assert(sizeof(struct frame) == 128 + 464 + 4096 + 16, "struct rt_sigframe");

bool signal_frame_on_altstack(const struct linux_process *p, uint64_t sp)
{
    const struct guest_altstack *stack = &p->signals.altstack;
    if (stack->flags & (SS_DISABLE | GUEST_SS_AUTODISARM))
        return false;
    return sp > stack->base && sp - stack->base <= stack->size;
}

static void put32(uint8_t *to, size_t offset, uint32_t value)
{
    memcpy(to + offset, &value, sizeof value);
}

static void put64(uint8_t *to, size_t offset, uint64_t value)
{
    memcpy(to + offset, &value, sizeof value);
}

void signal_frame_siginfo(const struct signal_info *info, uint8_t to[GUEST_SIGINFO_SIZE])
{
    memset(to, 0, GUEST_SIGINFO_SIZE);
    put32(to, 0, (uint32_t)info->number);
    put32(to, 8, (uint32_t)info->code);
    switch (info->kind) {
    case SIGNAL_FAULT: put64(to, 16, info->value); break;
    case SIGNAL_SENT:
    case SIGNAL_TIMER:
        put32(to, 16, (uint32_t)info->pid);
        put32(to, 20, info->uid);
        put64(to, 24, info->value);
        break;
    case SIGNAL_CHILD:
        put32(to, 16, (uint32_t)info->pid);
        put32(to, 20, info->uid);
        put32(to, 24, (uint32_t)info->status);
        put64(to, 32, (uint64_t)info->user_time);
        put64(to, 40, (uint64_t)info->system_time);
        break;
    }
}

// ESR_EL1 for an abort at EL0 (Arm ARM D17.2.37): what the kernel shows of the fault.
static uint64_t syndrome(const cpu *c, const struct signal_info *info)
{
    uint64_t status = c->fault_kind == FAULT_MAPPING      ? 0x07 // translation fault, level 3
                      : c->fault_kind == FAULT_PERMISSION ? 0x0f // permission fault, level 3
                      : c->fault_kind == FAULT_ALIGNMENT  ? 0x21
                                                          : 0x10; // synchronous external abort
    bool fetch = info->value == c->pc && !c->fault_is_store;
    return (fetch ? 0x20ull : 0x24ull) << 26 | 1ull << 25 | (uint64_t)c->fault_is_store << 6 | status;
}

static void fill_records(const cpu *c, const struct signal_info *info, uint8_t records[RECORDS_SIZE])
{
    struct fpsimd_record simd = {FPSIMD_MAGIC, sizeof simd, c->fpsr, c->fpcr, {{0}}};
    memcpy(simd.v, c->v, sizeof simd.v);
    memcpy(records, &simd, sizeof simd);
    if (info->kind == SIGNAL_FAULT && (info->number == SIGSEGV || info->number == SIGBUS)) {
        struct esr_record esr = {ESR_MAGIC, sizeof esr, syndrome(c, info)};
        memcpy(records + sizeof simd, &esr, sizeof esr);
    } // the record that ends them is all zeroes
}

bool signal_frame_push(struct linux_process *p, const struct signal_info *info,
                       const struct guest_action *action, uint64_t mask)
{
    struct guest_altstack *stack = &p->signals.altstack;
    cpu *c = &p->guest->cpu;
    struct frame f;
    uint64_t sp = c->x[REG_SP];
    bool on_stack = signal_frame_on_altstack(p, sp);
    memset(&f, 0, sizeof f);
    f.stack_base = stack->base;
    f.stack_flags = stack->flags & SS_DISABLE ? SS_DISABLE : stack->flags | (on_stack ? SS_ONSTACK : 0);
    f.stack_size = stack->size;
    if (action->flags & GUEST_SA_ONSTACK && !on_stack && !(stack->flags & SS_DISABLE)) {
        sp = stack->base + stack->size;
        if (stack->flags & GUEST_SS_AUTODISARM)
            *stack = (struct guest_altstack){.flags = SS_DISABLE};
    }
    signal_frame_siginfo(info, f.info);
    f.mask = mask;
    f.fault_address = info->kind == SIGNAL_FAULT ? info->value : 0;
    memcpy(f.x, c->x, sizeof f.x);
    f.sp = c->x[REG_SP];
    f.pc = c->pc;
    f.pstate = get_nzcv(c);
    fill_records(c, info, f.records);
    f.record_fp = c->x[29];
    f.record_lr = c->x[30];
    uint64_t address = (sp & ~15ull) - sizeof f;
    // An alternate stack that is too small must not be overrun.
    if (sp < sizeof f + 16 || (on_stack && !signal_frame_on_altstack(p, address + 1)) ||
        !copy_out(p, address, &f, sizeof f))
        return false;
    c->x[0] = (uint64_t)info->number;
    if (action->flags & GUEST_SA_SIGINFO) {
        c->x[1] = address;
        c->x[2] = address + offsetof(struct frame, flags);
    }
    c->x[29] = address + offsetof(struct frame, record_fp);
    c->x[30] = action->flags & GUEST_SA_RESTORER ? action->restorer : GUEST_TRAMPOLINE;
    c->x[REG_SP] = address;
    c->pc = action->handler;
    c->exclusive_address = EXCLUSIVE_NONE;
    return true;
}

// Finds and restores the SIMD record; false if there is none, or the records are damaged.
static bool restore_simd(cpu *c, const uint8_t records[RECORDS_SIZE])
{
    struct fpsimd_record simd;
    bool found = false;
    for (size_t at = 0; at + 8 <= RECORDS_SIZE;) {
        uint32_t magic, size;
        memcpy(&magic, records + at, 4);
        memcpy(&size, records + at + 4, 4);
        if (!magic && !size)
            break;
        if (size < 8 || size % 16 || size > RECORDS_SIZE - at)
            return false;
        if (magic == FPSIMD_MAGIC) {
            if (size != sizeof simd || found)
                return false;
            memcpy(&simd, records + at, sizeof simd);
            found = true;
        } else if (magic != ESR_MAGIC) {
            return false;
        }
        at += size;
    }
    if (!found)
        return false;
    memcpy(c->v, simd.v, sizeof simd.v);
    c->fpsr = simd.fpsr & FPSR_MASK;
    c->fpcr = simd.fpcr & FPCR_MASK;
    return true;
}

bool signal_frame_pop(struct linux_process *p)
{
    cpu *c = &p->guest->cpu;
    struct frame f;
    uint64_t address = c->x[REG_SP];
    if (address % 16 || !copy_in(p, address, &f, offsetof(struct frame, record_fp)) ||
        !restore_simd(c, f.records))
        return false;
    memcpy(c->x, f.x, sizeof f.x);
    c->x[REG_SP] = f.sp;
    c->pc = f.pc;
    set_flags_nzcv(c, (uint32_t)f.pstate);
    c->exclusive_address = EXCLUSIVE_NONE;
    signals_set_blocked(p, f.mask);
    uint32_t flags = (uint32_t)f.stack_flags;
    if (!signal_frame_on_altstack(p, f.sp) && !(flags & SS_ONSTACK))
        p->signals.altstack = (struct guest_altstack){f.stack_base, flags, f.stack_size};
    return true;
}

int64_t sys_sigaltstack(struct linux_process *p, const uint64_t *a)
{
    struct guest_altstack *stack = &p->signals.altstack;
    uint64_t new[3], old[3] = {stack->base, stack->flags, stack->size};
    bool in_use = signal_frame_on_altstack(p, p->guest->cpu.x[REG_SP]);
    if (in_use)
        old[1] |= SS_ONSTACK;
    if (a[0]) {
        if (!copy_in(p, a[0], new, sizeof new))
            return -EFAULT;
        if (in_use)
            return -EPERM;
        uint32_t flags = (uint32_t) new[1], mode = flags & ~GUEST_SS_AUTODISARM;
        if (mode != 0 && mode != SS_DISABLE && mode != SS_ONSTACK)
            return -EINVAL;
        if (mode == SS_DISABLE)
            *stack = (struct guest_altstack){.flags = flags};
        else if (new[2] < 5120) // MINSIGSTKSZ of aarch64
            return -ENOMEM;
        else
            *stack = (struct guest_altstack){new[0], flags, new[2]};
    }
    return a[1] && !copy_out(p, a[1], old, sizeof old) ? -EFAULT : 0;
}
