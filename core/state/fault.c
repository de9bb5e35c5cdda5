// SPDX-License-Identifier: MIT
// Host signals on guest memory become guest faults.
#include "fault.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static _Thread_local struct fault_context *innermost;
static struct sigaction previous_segv, previous_bus;
static fault_taker *take_sample, *take_sent;

void fault_begin(struct fault_context *context, struct guest *g)
{
    context->guest = g;
    context->outer = innermost;
    innermost = context;
}

void fault_end(struct fault_context *context)
{
    innermost = context->outer;
}

struct guest *fault_guest(void)
{
    return innermost->guest;
}

_Noreturn void fault_leave(void)
{
    __builtin_longjmp(innermost->env, 1);
}

_Noreturn void fault_raise(enum fault_kind kind, uint64_t address, bool is_store)
{
    cpu *c = &innermost->guest->cpu;
    c->fault_kind = kind;
    c->fault_address = address;
    c->fault_is_store = is_store;
    c->stop = STOP_FAULT;
    if (c->stepping)
        c->current = c->stepping;
    fault_leave();
}

static uint64_t host_pc(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#else
#error "tell here where this host says its program counter"
#endif
}

static bool is_store_fault(const ucontext_t *context)
{
#if defined(__x86_64__)
    return context->uc_mcontext.gregs[REG_ERR] & 2; // the page fault's error code, bit W
#else
#error "tell here how this host marks a faulting store"
#endif
}

// While a fault is handled, all other signals wait: a handler of theirs may change the mask that they return
// to (signals.c), which must not be one that this handler then puts back, and what another process sends
// again and again must not pile handlers up. A fault that is jumped out of does not return there.
static void restore_mask(const ucontext_t *context)
{
    sigset_t mask;
    sigemptyset(&mask);
    memcpy(&mask, &context->uc_sigmask, _NSIG / 8); // the kernel's has no more
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

// Runs on the faulting thread. Jumping out is sound: guest accesses are made only where no lock is held and
// no library function is interrupted.
static void on_fault(int signal, siginfo_t *info, void *host_context)
{
    struct fault_context *context = innermost;
    // Sent by kill, not raised here.
    if (info->si_code <= 0 && (take_sample(info, host_context) || take_sent(info, host_context)))
        return;
    if (context) {
        struct guest *g = context->guest;
        cpu *c = &g->cpu;
        uint64_t offset = (uint64_t)((uint8_t *)info->si_addr - g->memory.base);
        bool is_store = is_store_fault(host_context);
        if (offset < MEMORY_OPS_OFFSET) {
            uint64_t wild = c->wild_address;
            c->wild_address = 0;
            if (signal == SIGSEGV && is_store && memory_handle_write(&g->memory, offset))
                return;
            restore_mask(host_context);
            uint32_t pc;
            bool is_precise;
            if (g->blocks && g->host->block_pc(g->blocks, host_pc(host_context), &pc)) {
                c->current = g->memory.ops + pc / 4;
            } else if (g->translator &&
                       g->host->translated_pc(g->translator, host_pc(host_context), &pc, &is_precise)) {
                if (is_precise) {
                    c->stop = STOP_BACK;
                    fault_leave();
                }
                // What the region has retired is in a register of its own: what is known is the last
                // synchronisation.
                c->current = g->memory.ops + pc / 4;
                cpu_set_budget_at(c, c->current, c->budget);
            }
            bool mapped = offset < GUEST_SPACE && g->memory.pages[offset / GUEST_PAGE] & MEMORY_MAPPED;
            if (wild)
                fault_raise(FAULT_MAPPING, untagged_address(wild), is_store);
            fault_raise(signal == SIGBUS ? FAULT_FILE_END
                        : mapped         ? FAULT_PERMISSION
                                         : FAULT_MAPPING,
                        offset, is_store);
        }
        // The guest jumped to where nothing is executable: its op is not accessible.
        uint64_t pc = (offset - MEMORY_OPS_OFFSET) / sizeof(op) * 4;
        if (pc < GUEST_SPACE) {
            restore_mask(host_context);
            c->current = g->memory.ops + pc / 4;
            bool mapped = g->memory.pages[pc / GUEST_PAGE] & MEMORY_MAPPED;
            fault_raise(mapped ? FAULT_PERMISSION : FAULT_MAPPING, pc, false);
        }
    }
    // Not the guest's doing: the instruction runs again under the previous disposition.
    sigaction(signal, signal == SIGBUS ? &previous_bus : &previous_segv, NULL);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigfillset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_segv);
    sigaction(SIGBUS, &action, &previous_bus);
}

void fault_init(fault_taker *note_sample, fault_taker *note_sent)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    take_sample = note_sample;
    take_sent = note_sent;
    pthread_once(&once, install);
}
