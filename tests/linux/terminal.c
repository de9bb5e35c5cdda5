// SPDX-License-Identifier: MIT
// Job control: processes in the background of a terminal, and the terminal's own signals.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "report.h"

static struct termios settings;

static void on_signal(int number)
{
    (void)number;
}

static int reads(void)
{
    char c;
    return read(0, &c, 1) < 0 ? errno : 0;
}

static int writes(void)
{
    return write(1, "from behind\n", 12) < 0 ? errno : 0;
}

static int sets(void)
{
    return tcsetattr(0, TCSANOW, &settings) ? errno : 0;
}

static int drains(void)
{
    return tcdrain(0) ? errno : 0;
}

static int flushes(void)
{
    return tcflush(0, TCIFLUSH) ? errno : 0;
}

static int breaks(void)
{
    return tcsendbreak(0, 0) ? errno : 0;
}

static int takes(void)
{
    return tcsetpgrp(0, getpid()) ? errno : 0;
}

static int waits(void)
{
    for (;;)
        pause();
}

enum { DEFAULT, IGNORED, BLOCKED, HANDLED };

// A child in a group of its own that does so, with those two signals treated so.
static pid_t start(int (*action)(void), int how)
{
    pid_t child = fork();
    if (!child) {
        sigset_t set;
        struct sigaction handler = {.sa_handler = how == IGNORED   ? SIG_IGN
                                                  : how == HANDLED ? on_signal
                                                                   : SIG_DFL};
        setpgid(0, 0);
        sigaction(SIGTTIN, &handler, NULL);
        sigaction(SIGTTOU, &handler, NULL);
        sigemptyset(&set);
        sigaddset(&set, SIGTTIN);
        sigaddset(&set, SIGTTOU);
        sigprocmask(how == BLOCKED ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
        alarm(10);
        _exit(action());
    }
    setpgid(child, child);
    return child;
}

static void tell(const char *name, pid_t child, int options)
{
    int status;
    waitpid(child, &status, options);
    if (WIFSTOPPED(status))
        printf("%s: stopped by %d\n", name, WSTOPSIG(status));
    else if (WIFCONTINUED(status))
        printf("%s: goes on\n", name);
    else if (WIFSIGNALED(status))
        printf("%s: ended by %d\n", name, WTERMSIG(status));
    else
        printf("%s: status %d\n", name, WEXITSTATUS(status));
}

static void behind(const char *name, int (*action)(void))
{
    static const char *const words[] = {"as usual", "ignored", "blocked", "handled"};
    char text[40];
    for (int how = DEFAULT; how < HANDLED + (action == reads); how++) {
        pid_t child = start(action, how);
        snprintf(text, sizeof text, "%s, %s", name, words[how]);
        tell(text, child, WUNTRACED);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        SHOW(tcsetpgrp(0, getpgrp()));
    }
}

// What stopped it is done when it goes on with the terminal.
static void continued(const char *name, int (*action)(void))
{
    pid_t child = start(action, DEFAULT);
    tell(name, child, WUNTRACED);
    SHOW(tcsetpgrp(0, child));
    SHOW(kill(child, SIGCONT));
    tell(name, child, 0);
    SHOW(tcsetpgrp(0, getpgrp()));
}

int main(int argc, char **argv)
{
    (void)argv;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 1) { // the terminal that somebody else has
        pid_t child = fork();
        if (!child) {
            setsid();
            _exit(ioctl(0, TIOCSCTTY, 1) ? errno : 0);
        }
        tell("taking it", child, 0);
        return 0;
    }
    signal(SIGTTOU, SIG_IGN);
    SHOW(isatty(0));
    SHOW(tcgetpgrp(0) == getpgrp());
    tcgetattr(0, &settings);
    settings.c_lflag |= TOSTOP;
    SHOW(tcsetattr(0, TCSADRAIN, &settings));
    behind("reads", reads);
    behind("writes", writes);
    behind("sets", sets);
    behind("drains", drains);
    behind("flushes", flushes);
    behind("breaks", breaks);
    behind("takes", takes);
    continued("sets", sets);
    continued("drains", drains);
    continued("flushes", flushes);
    continued("breaks", breaks);
    pid_t child = start(waits, DEFAULT);
    SHOW(tcsetpgrp(0, child));
    SHOW(tcgetpgrp(0) == child);
    SHOW(kill(-child, SIGTSTP));
    tell("stopped", child, WUNTRACED);
    SHOW(kill(-child, SIGCONT));
    tell("continued", child, WCONTINUED);
    SHOW(kill(-child, SIGINT));
    tell("interrupted", child, WUNTRACED);
    SHOW(tcsetpgrp(0, -1));
    SHOW(tcsetpgrp(0, getpgrp()));
    child = fork();
    if (!child) {
        SHOW(setsid() == getpid());
        SHOW(open("/dev/tty", O_RDWR));
        SHOW(tcgetpgrp(0));
        _exit(0);
    }
    tell("session", child, 0);
    return 0;
}
