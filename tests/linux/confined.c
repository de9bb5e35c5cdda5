// SPDX-License-Identifier: MIT
// Tries to get out of the granted folder and out of the machine. Prints each success and ends with status 1
// if there was one. Runs in work/granted; work/outside/secret is what it must not reach (see the run script).
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int escapes, checks;

static void expect(const char *what, bool contained)
{
    checks++;
    if (!contained) {
        escapes++;
        printf("wrong: %s\n", what);
    }
}

// Whether the open descriptor gives the secret.
static bool is_secret(int fd)
{
    char text[16] = "";
    if (fd < 0)
        return false;
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    close(fd);
    return n > 0 && strstr(text, "secret");
}

static void expect_closed(const char *path)
{
    struct stat s;
    char text[PATH_MAX];
    expect(path, !is_secret(open(path, O_RDONLY)));
    snprintf(text, sizeof text, "%s for writing", path);
    int fd = open(path, O_WRONLY);
    expect(text, fd < 0);
    close(fd);
    snprintf(text, sizeof text, "truncate %s", path);
    expect(text, truncate(path, 0) < 0);
    snprintf(text, sizeof text, "stat %s", path);
    expect(text, stat(path, &s) < 0 || s.st_size != 7);
    snprintf(text, sizeof text, "link %s", path);
    expect(text, linkat(AT_FDCWD, path, AT_FDCWD, "stolen", AT_SYMLINK_FOLLOW) < 0);
    snprintf(text, sizeof text, "rename %s", path);
    if (strstr(path, "secret"))
        expect(text, rename(path, "stolen") < 0);
}

static void paths(const char *outside)
{
    char path[PATH_MAX];
    expect_closed("../outside/secret");
    expect_closed("inner/../../outside/secret");
    expect_closed("./../granted/../outside/secret");
    expect_closed("absolute");
    expect_closed("relative");
    expect_closed("folder/secret");
    expect_closed("inner/chain");
    snprintf(path, sizeof path, "%s/secret", outside);
    expect_closed(path);
    snprintf(path, sizeof path, "root%s/secret", outside);
    expect_closed(path);
    snprintf(path, sizeof path, "/proc/self/root%s/secret", outside);
    expect_closed(path);
    snprintf(path, sizeof path, "/proc/%d/root%s/secret", getpid(), outside);
    expect_closed(path);
    snprintf(path, sizeof path, "/proc/1/root%s/secret", outside);
    expect_closed(path);
    expect_closed("/proc/self/cwd/../outside/secret");
    expect_closed("/dev/fd/../../../outside/secret");
    int fd = open(".", O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "/proc/self/fd/%d/../outside/secret", fd);
    expect_closed(path);
    expect("openat with ..", !is_secret(openat(fd, "../outside/secret", O_RDONLY)));
    int up = openat(fd, "..", O_RDONLY | O_DIRECTORY);
    expect("openat from above", !is_secret(openat(up, "outside/secret", O_RDONLY)));
    up = open("..", O_PATH | O_DIRECTORY);
    expect("openat from above with O_PATH", !is_secret(openat(up, "outside/secret", O_RDONLY)));
    expect("fchdir above", fchdir(up) < 0 || !is_secret(open("outside/secret", O_RDONLY)));
    fchdir(fd);
    expect("chdir above", chdir("..") < 0 || !is_secret(open("outside/secret", O_RDONLY)));
    fchdir(fd);
    expect("chdir through a link", chdir("folder") < 0);
    expect("openat2 with a root", syscall(437, fd, "absolute", (uint64_t[3]){O_RDONLY, 0, 0x10}, 24) < 0);
    static const char *const files[] = {
        "/etc/passwd", "/etc/hostname",     "/proc/self/mem",  "/proc/self/environ", "/proc/1/environ",
        "/proc/kcore", "/sys/kernel/notes", "/dev/mem",        "/dev/sda",           "/dev/kmsg",
        "/dev/ptmx",   "/dev/neurodoom",    "root/etc/passwd", "/proc/version"};
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
        expect(files[i], open(files[i], O_RDONLY) < 0);
        expect(files[i], open(files[i], O_WRONLY) < 0);
    }
}

static void changes(const char *outside)
{
    char path[PATH_MAX];
    expect("create above", open("../new", O_CREAT | O_WRONLY, 0600) < 0);
    expect("create through a link", open("folder/new", O_CREAT | O_WRONLY, 0600) < 0);
    expect("create through a dangling link", open("dangling", O_CREAT | O_WRONLY, 0600) < 0);
    snprintf(path, sizeof path, "%s/new", outside);
    expect("create outside", open(path, O_CREAT | O_WRONLY, 0600) < 0);
    expect("make a folder above", mkdir("../new", 0700) < 0);
    expect("make a folder outside", mkdir(path, 0700) < 0);
    expect("make a link outside", symlink("x", path) < 0);
    expect("make a fifo outside", mknod(path, S_IFIFO | 0600, 0) < 0);
    expect("move out", rename("mine", "../mine") < 0);
    expect("move out by name", rename("mine", path) < 0);
    expect("move out through a link", rename("mine", "folder/mine") < 0);
    expect("move the grant", rename("../granted", "../other") < 0);
    expect("exchange", renameat2(AT_FDCWD, "mine", AT_FDCWD, "folder/secret", RENAME_EXCHANGE) < 0);
    expect("link out", link("mine", "folder/mine") < 0);
    expect("remove above", unlink("../outside/secret") < 0);
    expect("remove through a link", unlink("folder/secret") < 0);
    expect("remove a folder above", rmdir("../empty") < 0);
    expect("chmod above", chmod("../outside/secret", 0777) < 0);
    expect("chmod through a link", chmod("absolute", 0777) < 0);
    expect("chown through a link", chown("absolute", 0, 0) < 0);
    expect("touch through a link", utimensat(AT_FDCWD, "absolute", NULL, 0) < 0);
    expect("set-user-id", chmod("mine", 04755) < 0);
    expect("device", mknod("device", S_IFCHR | 0600, 1 << 8 | 1) < 0);
    // To open one can be to do something. The run script's has no driver, which who opens it would be told.
    expect("a device of the host's, as it is to be opened",
           open("driverless", O_RDONLY) < 0 && errno != ENXIO);
    expect("mount", mount("none", "inner", "tmpfs", 0, NULL) < 0);
    expect("chroot", chroot("..") < 0);
    expect("file handles", syscall(SYS_open_by_handle_at, AT_FDCWD, path, O_RDONLY) < 0);
    // The program outside the granted folder may be read, not written.
    expect("write the program", open("/proc/self/exe", O_WRONLY) < 0 && open("/proc/self/exe", O_RDWR) < 0);
    int self = open("/proc/self/exe", O_RDONLY);
    snprintf(path, sizeof path, "/proc/self/fd/%d", self);
    expect("read the program", self >= 0);
    expect("reopen it for writing", open(path, O_RDWR) < 0);
    expect("reopen it truncated", open(path, O_RDONLY | O_TRUNC) < 0);
    expect("chmod it", fchmod(self, 0777) < 0);
    expect("link it", linkat(AT_FDCWD, path, AT_FDCWD, "stolen", AT_SYMLINK_FOLLOW) < 0);
    expect("truncate it", ftruncate(self, 0) < 0);
}

// What has to go on working beside all that.
static void inside(const char *outside)
{
    char path[PATH_MAX], cwd[PATH_MAX];
    expect("a link inside", access("inner/up", R_OK) == 0);
    expect("an absolute link inside", access("inside", R_OK) == 0);
    expect(".. inside", access("inner/../mine", R_OK) == 0);
    expect("the absolute path", access(realpath("mine", path), R_OK) == 0);
    snprintf(path, sizeof path, "%s/../granted/mine", outside);
    expect("back from outside", access(path, R_OK) == 0 || errno == ENOENT);
    getcwd(cwd, sizeof cwd);
    expect("the root", access("/", R_OK) == 0 && chdir("/") == 0 && access(cwd + 1, R_OK) == 0);
    expect("the way back", chdir(cwd) == 0 && access("mine", R_OK) == 0);
    expect("the parent's name", chdir("..") == 0 && chdir("granted") == 0 && access("mine", R_OK) == 0);
    DIR *d = opendir("..");
    bool shown = false, hidden = true;
    for (struct dirent *e; d && (e = readdir(d));) {
        shown |= !strcmp(e->d_name, "granted");
        hidden &= strcmp(e->d_name, "outside") != 0;
    }
    expect("the parent shows the way only", d && shown && hidden);
    expect("/dev/null", open("/dev/null", O_RDWR) >= 0);
}

// One process swaps a folder with a link to the outside while another goes through it.
static void race(void)
{
    pid_t child = fork();
    if (!child) {
        alarm(30); // should the parent die
        for (;;)
            renameat2(AT_FDCWD, "swap", AT_FDCWD, "folder", RENAME_EXCHANGE);
    }
    bool caught = false;
    for (int i = 0; i < 3000 && !caught; i++)
        caught = is_secret(open("swap/secret", O_RDONLY)) || is_secret(open("swap/../swap/secret", O_RDONLY));
    expect("a race", !caught);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

// System calls on memory that vanishes meanwhile: another process cuts the mapped file again and again.
static void vanishing_memory(void)
{
    int fd = open("mapped", O_RDWR | O_CREAT, 0600);
    char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pid_t child = fork();
    if (!child) {
        alarm(30);
        for (;;) {
            ftruncate(fd, 8192);
            ftruncate(fd, 0);
        }
    }
    int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDONLY), good = 0, refused = 0;
    for (int i = 0; i < 5000; i++) {
        int results[] = {fstat(null, (struct stat *)(p + 4096)),
                         access(p + 100, F_OK),
                         uname((struct utsname *)p),
                         (int)write(null, p, 8192),
                         (int)read(zero, p, 8192),
                         (int)syscall(SYS_rt_sigaction, SIGUSR1, p, NULL, 8),
                         getrlimit(RLIMIT_CPU, (struct rlimit *)(p + 4095))};
        for (unsigned j = 0; j < sizeof results / sizeof *results; j++)
            results[j] < 0 ? refused++ : good++;
    }
    expect("both outcomes", good && refused);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    unlink("mapped");
}

// A made folder, read from any place in it.
static void made_folders(void)
{
    char records[512];
    int fd = open("/proc", O_RDONLY | O_DIRECTORY);
    for (off_t at = 0; at < 200; at++) {
        long n = lseek(fd, at, SEEK_SET) == at ? syscall(SYS_getdents64, fd, records, sizeof records) : -1;
        expect("a place in /proc", n >= 0 ? n <= (long)sizeof records : errno == EINVAL);
    }
    close(fd);
}

static void *thread(void *unused)
{
    return unused;
}

static void system_calls(void)
{
    pthread_t t;
    struct sockaddr_un name = {AF_UNIX, "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    expect("a local socket", fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) < 0);
    expect("a network socket", socket(AF_INET, SOCK_STREAM, 0) < 0 && socket(AF_NETLINK, SOCK_RAW, 0) < 0);
    expect("a thread", pthread_create(&t, NULL, thread, NULL) == EAGAIN);
    expect("another's signals", kill(1, 0) < 0 && kill(getppid(), 0) < 0);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL};
    int timer;
    for (event.sigev_signo = 32; event.sigev_signo <= 33; event.sigev_signo++)
        expect("a timer's signal that the host cannot catch",
               syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) < 0 && errno == EINVAL);
    event.sigev_notify = SIGEV_NONE;
    expect("a timer of another's processor time",
           syscall(SYS_timer_create, ~1l << 3 | 2, &event, &timer) < 0 && errno == EINVAL);
    expect("a timer of its own", syscall(SYS_timer_create, ~(long)getpid() << 3 | 2, &event, &timer) == 0);
    expect("ptrace", ptrace(PTRACE_ATTACH, getppid(), 0, 0) < 0);
    char byte = 0;
    struct iovec v = {&byte, 1};
    expect("another's memory", process_vm_readv(getppid(), &v, 1, &v, 1, 0) < 0);
    expect("typing", ioctl(0, TIOCSTI, "x") < 0);
    expect("another program", execl("/bin/sh", "sh", "-c", "echo escaped", NULL) < 0);
    expect("unknown calls", syscall(9999) < 0 && errno == ENOSYS && syscall(-1) < 0);
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    expect("urgent bytes", send(pair[0], "ab", 2, MSG_OOB) < 0 && errno == EOPNOTSUPP);
    expect("and their answer", recv(pair[1], &byte, 1, MSG_OOB | MSG_DONTWAIT) < 0 && errno == EOPNOTSUPP);
    expect("a name that others reach", bind(pair[0], (void *)&(struct sockaddr_un){AF_UNIX, "name"}, 10) < 0);
    expect("another's socket", connect(pair[0], (void *)&(struct sockaddr_un){AF_UNIX, "name"}, 10) < 0);
    expect("other groups", setgroups(1, &(gid_t){54321}) < 0 && errno == EPERM);
    expect("a higher priority",
           sched_setscheduler(0, SCHED_RR, &(struct sched_param){1}) < 0 && errno == EPERM);
    expect("io_uring", syscall(425, 8, &v) < 0);
    expect("bpf", syscall(SYS_bpf, 0, &v, 8) < 0);
    expect("host descriptors", fcntl(100, F_GETFD) < 0);
    for (int i = 3; i < 64; i++) { // only what this program has opened itself
        char path[40], target[PATH_MAX] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", i);
        readlink(path, target, sizeof target - 1);
        expect(target, !strstr(target, "outside"));
    }
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc < 2)
        return 2;
    inside(argv[1]);
    paths(argv[1]);
    changes(argv[1]);
    race();
    vanishing_memory();
    made_folders();
    system_calls();
    printf("%d checks, %d wrong\n", checks, escapes);
    return escapes != 0;
}
