// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "progress.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/clock.h"

void progress_begin(struct progress *p, FILE *out, const char *what, const char *unit, uint64_t total,
                    uint64_t first)
{
    *p = (struct progress){.out = out, .what = what, .unit = unit, .total = total, .first = first};
    const char *terminal = getenv("TERM");
    p->terminal = isatty(fileno(out)) && terminal && *terminal;
    p->started = p->shown = clock_seconds();
}

static void erase(struct progress *p)
{
    if (p->dirty)
        fputs("\r\033[K", p->out);
    p->dirty = false;
}

void progress_update(struct progress *p, uint64_t done, const char *note)
{
    double time = clock_seconds();
    if (time - p->shown < (p->terminal ? 0.1 : 10))
        return;
    p->shown = time;
    double rate = (double)(done - p->first) / (time - p->started);
    double left = rate > 0 ? (double)(p->total - done) / rate : 0;
    char line[200];
    int at = snprintf(line, sizeof line, "%s %3.0f %%", p->what, 100.0 * (double)done / (double)p->total);
    if (note)
        at += snprintf(line + at, sizeof line - at, ", %s", note);
    if (rate > 0 && at < (int)sizeof line)
        snprintf(line + at, sizeof line - at, ", %.*f %s/s, %d:%02d:%02d left", rate < 10 ? 2 : 0, rate,
                 p->unit, (int)(left / 3600), (int)(left / 60) % 60, (int)left % 60);
    struct winsize size;
    int columns = p->terminal && ioctl(fileno(p->out), TIOCGWINSZ, &size) == 0 ? size.ws_col - 1 : 199;
    erase(p);
    fprintf(p->out, "%.*s", columns > 0 ? columns : 199, line);
    if (p->terminal)
        p->dirty = true;
    else
        fputc('\n', p->out);
    fflush(p->out);
}

void progress_say(struct progress *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    erase(p);
    vfprintf(p->out, format, arguments);
    fputc('\n', p->out);
    fflush(p->out);
    va_end(arguments);
}

void progress_end(struct progress *p)
{
    erase(p);
    fflush(p->out);
}

static volatile sig_atomic_t noted;

static void note_signal(int signal)
{
    (void)signal;
    noted = 1;
}

void interrupt_note(void)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupt_noted(void)
{
    return noted;
}
