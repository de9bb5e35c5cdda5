// SPDX-License-Identifier: MIT
// Sockets: connected pairs between the guest's own processes, nothing that reaches beyond them.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "paths.h"

#define SAFE_FLAGS (MSG_PEEK | MSG_WAITALL | MSG_DONTWAIT | MSG_NOSIGNAL | MSG_TRUNC | MSG_EOR)

int64_t sys_socket(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return -EAFNOSUPPORT; // no network, and no meeting points in the host's file system
}

int64_t sys_socketpair(struct linux_process *p, const uint64_t *a)
{
    int host[2];
    if ((int)a[0] != AF_UNIX)
        return -EAFNOSUPPORT;
    if (socketpair(AF_UNIX, (int)a[1] | SOCK_CLOEXEC, (int)a[2], host))
        return -errno;
    return descriptor_add_pair(p, host, a[1] & SOCK_CLOEXEC, a[3]);
}

// A socket that the guest made. Its standard descriptors may be sockets of the host's: those it only reads
// and writes.
static const struct descriptor *socket_of(struct linux_process *p, uint64_t fd, int64_t *error)
{
    const struct descriptor *d = descriptor_get(p->files, fd);
    int type;
    socklen_t size = sizeof type;
    *error = !d ? -EBADF : -ENOTSOCK;
    if (!d || d->kind != DESCRIPTOR_FILE || getsockopt(d->host, SOL_SOCKET, SO_TYPE, &type, &size))
        return NULL;
    struct sockaddr_un name = {.sun_family = AF_UNSPEC};
    size = sizeof name;
    // Both ends of a pair have no name.
    if (getsockname(d->host, (struct sockaddr *)&name, &size) || name.sun_family != AF_UNIX ||
        size > sizeof name.sun_family)
        return NULL;
    return d;
}

// A pair is connected, and has no name by which others could reach it.
static int64_t refuse(struct linux_process *p, uint64_t fd, int64_t why)
{
    int64_t error;
    return socket_of(p, fd, &error) ? why : error;
}

int64_t sys_bind(struct linux_process *p, const uint64_t *a)
{
    return refuse(p, a[0], -EACCES);
}

int64_t sys_listen(struct linux_process *p, const uint64_t *a)
{
    return refuse(p, a[0], -EINVAL);
}

int64_t sys_accept(struct linux_process *p, const uint64_t *a)
{
    return refuse(p, a[0], -EINVAL);
}

int64_t sys_connect(struct linux_process *p, const uint64_t *a)
{
    return refuse(p, a[0], -ECONNREFUSED);
}

static int64_t write_name(struct linux_process *p, uint64_t fd, uint64_t address, uint64_t size_address)
{
    const uint16_t family = AF_UNIX;
    int64_t error;
    uint32_t size, length = sizeof family;
    if (!socket_of(p, fd, &error))
        return error;
    if (!copy_in(p, size_address, &size, sizeof size))
        return -EFAULT;
    if ((int32_t)size < 0)
        return -EINVAL;
    if (!copy_out(p, address, &family, size < length ? size : length) ||
        !copy_out(p, size_address, &length, sizeof length))
        return -EFAULT;
    return 0;
}

int64_t sys_getsockname(struct linux_process *p, const uint64_t *a)
{
    return write_name(p, a[0], a[1], a[2]);
}

int64_t sys_getpeername(struct linux_process *p, const uint64_t *a)
{
    return write_name(p, a[0], a[1], a[2]);
}

// Urgent bytes are refused, as Linux before 5.15 did for these sockets: its code for them is young and has
// let programs out of their confinement.
static const struct descriptor *socket_for_messages(struct linux_process *p, uint64_t fd, uint64_t flags,
                                                    int64_t *error)
{
    const struct descriptor *d = socket_of(p, fd, error);
    if (!d || !(flags & MSG_OOB))
        return d;
    *error = -EOPNOTSUPP;
    return NULL;
}

int64_t sys_sendto(struct linux_process *p, const uint64_t *a)
{
    int64_t error;
    const struct descriptor *d = socket_for_messages(p, a[0], a[3], &error);
    if (!d)
        return error;
    if (a[4])
        return -EISCONN;
    uint64_t length = a[2];
    void *bytes = memory_access_prefix(&p->guest->memory, a[1], &length, PROT_READ);
    if (!bytes)
        return -EFAULT;
    return blocking_call(p, !(a[3] & MSG_DONTWAIT), SYS_sendto, d->host, (long)bytes, (long)length,
                         (long)(a[3] & SAFE_FLAGS), 0, 0);
}

int64_t sys_recvfrom(struct linux_process *p, const uint64_t *a)
{
    int64_t error;
    const struct descriptor *d = socket_for_messages(p, a[0], a[3], &error);
    if (!d)
        return error;
    uint64_t length = a[2];
    void *bytes = memory_access_prefix(&p->guest->memory, a[1], &length, PROT_WRITE);
    if (!bytes)
        return -EFAULT;
    const uint32_t none = 0;
    if (a[4] && a[5] && !copy_out(p, a[5], &none, sizeof none))
        return -EFAULT;
    return blocking_call(p, !(a[3] & MSG_DONTWAIT), SYS_recvfrom, d->host, (long)bytes, (long)length,
                         (long)(a[3] & SAFE_FLAGS), 0, 0);
}

// struct msghdr as every 64-bit kernel has it
struct guest_message {
    uint64_t name;
    uint32_t name_length, padding;
    uint64_t vectors, vector_count;
    uint64_t control, control_length;
    uint32_t flags, padding2;
};

static int64_t message(struct linux_process *p, const uint64_t *a, int prot, long number)
{
    struct guest_message guest;
    struct iovec fixed[COPY_IOVECS], *more;
    int64_t result;
    const struct descriptor *d = socket_for_messages(p, a[0], a[2], &result);
    if (!d)
        return result;
    if (!copy_in(p, a[1], &guest, sizeof guest))
        return -EFAULT;
    if (prot == PROT_READ && guest.control_length)
        return -EINVAL; // descriptors and credentials are not passed on
    int count = copy_iovecs(p, guest.vectors, guest.vector_count, prot, fixed, &more);
    if (count < 0)
        return count;
    struct msghdr host = {.msg_iov = more ? more : fixed, .msg_iovlen = (size_t)count};
    result = blocking_call(p, !(a[2] & MSG_DONTWAIT), number, d->host, (long)&host, (long)(a[2] & SAFE_FLAGS),
                           0, 0, 0);
    free(more);
    if (result >= 0 && prot == PROT_WRITE) {
        guest.name_length = 0;
        guest.control_length = 0;
        guest.flags = (uint32_t)host.msg_flags;
        if (!copy_out(p, a[1], &guest, sizeof guest))
            return -EFAULT;
    }
    return result;
}

int64_t sys_sendmsg(struct linux_process *p, const uint64_t *a)
{
    return message(p, a, PROT_READ, SYS_sendmsg);
}

int64_t sys_recvmsg(struct linux_process *p, const uint64_t *a)
{
    return message(p, a, PROT_WRITE, SYS_recvmsg);
}

static bool is_known_option(uint64_t level, uint64_t name)
{
    static const uint8_t known[] = {
        SO_TYPE,     SO_ERROR,      SO_SNDBUF,    SO_RCVBUF,    SO_DOMAIN, SO_PROTOCOL,  SO_RCVTIMEO,
        SO_SNDTIMEO, SO_ACCEPTCONN, SO_REUSEADDR, SO_KEEPALIVE, SO_LINGER, SO_BROADCAST, SO_RCVLOWAT,
    };
    return level == SOL_SOCKET && name <= UINT8_MAX && memchr(known, (int)name, sizeof known);
}

int64_t sys_getsockopt(struct linux_process *p, const uint64_t *a)
{
    int64_t error;
    const struct descriptor *d = socket_of(p, a[0], &error);
    uint8_t value[16];
    uint32_t room;
    socklen_t size = sizeof value;
    if (!d)
        return error;
    if (!is_known_option(a[1], a[2]))
        return -ENOPROTOOPT;
    if (!copy_in(p, a[4], &room, sizeof room))
        return -EFAULT;
    if ((int32_t)room < 0)
        return -EINVAL;
    if (getsockopt(d->host, SOL_SOCKET, (int)a[2], value, &size))
        return -errno;
    size = room < size ? room : size;
    return copy_out(p, a[3], value, size) && copy_out(p, a[4], &size, sizeof size) ? 0 : -EFAULT;
}

int64_t sys_setsockopt(struct linux_process *p, const uint64_t *a)
{
    int64_t error;
    const struct descriptor *d = socket_of(p, a[0], &error);
    uint8_t value[16];
    if (!d)
        return error;
    if (!is_known_option(a[1], a[2]))
        return -ENOPROTOOPT;
    if (a[4] > sizeof value)
        return -EINVAL;
    if (!copy_in(p, a[3], value, a[4]))
        return -EFAULT;
    return setsockopt(d->host, SOL_SOCKET, (int)a[2], value, (socklen_t)a[4]) ? -errno : 0;
}

int64_t sys_shutdown(struct linux_process *p, const uint64_t *a)
{
    int64_t error;
    const struct descriptor *d = socket_of(p, a[0], &error);
    return !d ? error : shutdown(d->host, (int)a[1]) ? -errno : 0;
}
