// SPDX-License-Identifier: MIT
// ioctl: terminals, and the device page. Only requests that are known to be harmless reach the host (one that
// is not: TIOCSTI types into the host's terminal).
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "core/devices/devices.h"
#include "guest/device_page.h"
#include "paths.h"

// struct termios of the kernel: the same on every architecture that uses asm-generic
struct guest_termios {
    uint32_t input, output, control, local;
    uint8_t line, characters[19];
};
_Static_assert(sizeof(struct guest_termios) == 36, "struct termios");

// Reads and writes size bytes at the address that the request takes.
static int64_t pass(struct linux_process *p, int host, uint64_t request, uint64_t address, uint64_t size,
                    bool in, bool out)
{
    uint64_t value[8] = {0};
    if (in && !copy_in(p, address, value, size))
        return -EFAULT;
    int result = ioctl(host, request, value);
    if (result < 0)
        return -errno;
    return out && !copy_out(p, address, value, size) ? -EFAULT : result;
}

// A process group on a terminal, which has to be the guest's own.
static int64_t set_group(struct linux_process *p, int host, uint64_t address)
{
    int group;
    if (!copy_in(p, address, &group, sizeof group))
        return -EFAULT;
    if (group < 0)
        return -EINVAL;
    if (group == p->pid)
        group = getpid();
    if (group != getpgrp() && !process_may_name(p, group))
        return -EPERM;
    return blocking_call(p, true, SYS_ioctl, host, TIOCSPGRP, (long)&group, 0, 0, 0);
}

int64_t sys_ioctl(struct linux_process *p, const uint64_t *a)
{
    struct descriptor *d = descriptor_get_opened(p->files, a[0]);
    uint64_t request = (uint32_t)a[1], termios = sizeof(struct guest_termios);
    if (!d)
        return -EBADF;
    if (request == FIOCLEX || request == FIONCLEX) {
        d->close_on_exec = request == FIOCLEX;
        return 0;
    }
    if (d->kind == DESCRIPTOR_DEVICE)
        return devices_ioctl(p->guest, (uint32_t)request, a[2]);
    if (request == FIONBIO && d->host >= 0)
        return pass(p, d->host, request, a[2], sizeof(int), true, false);
    if (d->kind != DESCRIPTOR_FILE)
        return -ENOTTY;
    switch (request) {
    case TCGETS: return pass(p, d->host, request, a[2], termios, false, true);
    case TCSETS:
    case TCSETSW:
    case TCSETSF: {
        struct guest_termios settings;
        if (!copy_in(p, a[2], &settings, sizeof settings))
            return -EFAULT;
        return blocking_call(p, true, SYS_ioctl, d->host, (long)request, (long)&settings, 0, 0, 0);
    }
    case TIOCGWINSZ: return pass(p, d->host, request, a[2], sizeof(struct winsize), false, true);
    case TIOCSWINSZ: return pass(p, d->host, request, a[2], sizeof(struct winsize), true, false);
    case FIONREAD:
    case TIOCOUTQ:
    case TIOCGPGRP:
    case TIOCGSID: return pass(p, d->host, request, a[2], sizeof(int), false, true);
    case TIOCSPGRP: return p->owns_host ? set_group(p, d->host, a[2]) : -ENOTTY;
    case TCSBRK:
    case TCSBRKP:
    case TCXONC:
    case TCFLSH:
    case TIOCNOTTY: return blocking_call(p, true, SYS_ioctl, d->host, (long)request, (int)a[2], 0, 0, 0);
    case TIOCSCTTY: return ioctl(d->host, request, 0) ? -errno : 0; // 1 would take it from who has it
    default: return -ENOTTY;
    }
}
