// SPDX-License-Identifier: MIT
#include "guest.h"

#include <asm/prctl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/isa/isa.h"

void guest_make_current(const struct guest *g)
{
    static _Thread_local const uint8_t *current;
    if (current != g->memory.base) {
        syscall(SYS_arch_prctl, ARCH_SET_GS, g->memory.base);
        current = g->memory.base;
    }
}

void guest_exit(struct guest *g, int status)
{
    g->state = MACHINE_EXITED;
    g->exit_status = status & 0xff;
}

static void write_report(struct guest *g)
{
    struct machine_fault *f = &g->fault;
    const cpu *c = &g->cpu;
    struct text t = {f->report, sizeof f->report};
    uint64_t offset;
    const char *symbol = g->host->symbol(g, f->pc, &offset);
    text_add(&t, "%s\n  pc %#" PRIx64, f->what, f->pc);
    if (symbol)
        text_add(&t, " in %s+%#" PRIx64, symbol, offset);
    text_add(&t, "\n");
    for (unsigned i = 0; i < 31; i++)
        text_add(&t, "%s%3s%u %016" PRIx64, i % 4 ? "" : i ? "\n " : " ", "x", i, c->x[i]);
    text_add(&t, "  sp %016" PRIx64 "\n  nzcv %x\n", c->x[REG_SP], get_nzcv(c) >> 28);
    text_add(&t, "  the instructions up to there:\n");
    for (uint64_t pc = f->pc >= 20 ? f->pc - 20 : 0; pc <= f->pc && pc < GUEST_SPACE; pc += 4) {
        uint32_t word;
        char line[128];
        if (!memory_read(&g->memory, pc, &word, sizeof word))
            continue;
        isa_disassemble(word, (uint32_t)pc, line, sizeof line);
        text_add(&t, "  %s %8" PRIx64 ":  %08" PRIx32 "  %s\n", pc == f->pc ? ">" : " ", pc, word, line);
    }
}

void guest_kill(struct guest *g, int signal, uint64_t address, const char *what)
{
    g->state = MACHINE_FAULTED;
    g->exit_status = 128 + signal;
    g->fault.signal = signal;
    g->fault.pc = g->cpu.pc;
    g->fault.address = address;
    snprintf(g->fault.what, sizeof g->fault.what, "%s", what);
    write_report(g);
}

void guest_refuse_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

void guest_log(const struct guest *g, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (g->config.log)
        g->config.log(g->config.user, line);
    else
        fprintf(stderr, "%s\n", line);
}

void guest_log_unkept(struct guest *g, const struct error *error)
{
    if (error->text[0] && !g->told_unkept) {
        g->told_unkept = true;
        guest_log(g, "%s", error->text);
    }
}
