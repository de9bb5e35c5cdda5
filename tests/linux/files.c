// SPDX-License-Identifier: MIT
// Files and folders: what a program does with them, and the errors that it gets.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "report.h"

#define LARGEFILE 0400000 // aarch64 Linux shows it for opened files, qemu 7.2 does not

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(const char *path)
{
    char *names[100];
    int count = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char text[NAME_MAX + 8];
        snprintf(text, sizeof text, "%s/%d", e->d_name, e->d_type);
        names[count++] = strdup(text);
    }
    if (d)
        closedir(d);
    qsort(names, count, sizeof *names, compare);
    printf("list %s:", path);
    for (int i = 0; i < count; i++)
        printf(" %s", names[i]);
    printf("\n");
}

static void status(const char *path)
{
    struct stat s;
    if (lstat(path, &s))
        printf("status %s: %s\n", path, strerrorname_np(errno));
    else
        printf("status %s: mode %o links %d size %ld blksize %ld mtime %ld.%09ld\n", path, s.st_mode,
               (int)s.st_nlink, S_ISDIR(s.st_mode) ? 0 : (long)s.st_size, (long)s.st_blksize,
               s.st_mtime > 1600000000 ? 0 : (long)s.st_mtime,
               s.st_mtime > 1600000000 ? 0 : s.st_mtim.tv_nsec);
}

static void reading_and_writing(void)
{
    char text[100] = "";
    int fd = open("file", O_RDWR | O_CREAT | O_EXCL, 0644);
    SHOW(fd);
    SHOW(open("file", O_RDWR | O_CREAT | O_EXCL, 0644));
    SHOW(write(fd, "hello, world\n", 13));
    SHOW(lseek(fd, 7, SEEK_SET));
    SHOW(read(fd, text, 5));
    printf("%s\n", text);
    SHOW(pread(fd, text, 5, 0));
    printf("%s\n", text);
    SHOW(pwrite(fd, "J", 1, 0));
    SHOW(lseek(fd, 0, SEEK_CUR));
    SHOW(lseek(fd, -100, SEEK_CUR));
    struct iovec v[3] = {{"ab", 2}, {"", 0}, {"cdef", 4}};
    SHOW(writev(fd, v, 3));
    SHOW(writev(fd, v, -1));
    SHOW(pwritev(fd, v, 3, 20));
    memset(text, 0, sizeof text);
    struct iovec r[2] = {{text, 3}, {text + 50, 10}};
    SHOW(preadv(fd, r, 2, 0));
    printf("%s %s\n", text, text + 50);
    SHOW(read(fd, (void *)1, 5));
    SHOW(write(fd, (void *)0x7000000000, 5));
    SHOW(write(fd, NULL, 0));
    SHOW(ftruncate(fd, 5));
    SHOW(lseek(fd, 0, SEEK_END));
    SHOW(fallocate(fd, 0, 0, 9000));
    SHOW(lseek(fd, 0, SEEK_END));
    SHOW(lseek(fd, 0, SEEK_HOLE) >= 0);
    SHOW(fsync(fd));
    SHOW(fdatasync(fd));
    SHOW(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL));
    SHOW(flock(fd, LOCK_EX));
    SHOW(lockf(fd, F_TLOCK, 10));
    SHOW(close(fd));
    SHOW(close(fd));
    SHOW(read(fd, text, 1));
    SHOW(truncate("file", 3));
    SHOW(truncate("none", 3));
    SHOW(truncate("file", -3));
    status("file");
}

static void descriptors(void)
{
    char text[10] = "";
    int fd = open("file", O_WRONLY | O_APPEND | O_CLOEXEC);
    SHOW(read(fd, text, 1));
    printf("flags %o\n", fcntl(fd, F_GETFL) & ~LARGEFILE);
    SHOW(fcntl(fd, F_GETFD));
    SHOW(fcntl(fd, F_SETFD, 0));
    SHOW(fcntl(fd, F_GETFD));
    SHOW(fcntl(fd, F_SETFL, O_NONBLOCK));
    printf("flags %o\n", fcntl(fd, F_GETFL) & ~LARGEFILE);
    SHOW(dup(fd));
    SHOW(dup2(fd, 20));
    SHOW(dup2(20, 20));
    SHOW(dup3(fd, fd, 0));
    SHOW(dup2(99, 21));
    SHOW(fcntl(fd, F_DUPFD, 30));
    SHOW(fcntl(30, F_GETFD));
    SHOW(fcntl(fd, F_DUPFD_CLOEXEC, 30));
    SHOW(fcntl(31, F_GETFD));
    SHOW(dup2(fd, 100000));
    SHOW(fcntl(77, F_GETFD));
    for (int i = fd; i < 40; i++)
        close(i);
    // Where there may be no more of them, no file is cut or made.
    struct rlimit limit, few;
    getrlimit(RLIMIT_NOFILE, &limit);
    few = (struct rlimit){fd, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    SHOW(open("file", O_RDWR | O_TRUNC));
    SHOW(open("more", O_RDWR | O_CREAT, 0600));
    setrlimit(RLIMIT_NOFILE, &limit);
    status("file");
    status("more");
    printf("flags %o\n", fcntl(open(".", O_RDONLY | O_DIRECTORY), F_GETFL) & ~LARGEFILE);
    int ends[2], count = 0;
    SHOW(pipe2(ends, O_NONBLOCK));
    SHOW(read(ends[0], text, 1));
    SHOW(write(ends[1], "abc", 3));
    SHOW(ioctl(ends[0], FIONREAD, &count));
    printf("%d bytes wait\n", count);
    SHOW(read(ends[0], text, 10));
    SHOW(lseek(ends[0], 0, SEEK_CUR));
    SHOW(close(ends[1]));
    SHOW(read(ends[0], text, 10));
    SHOW(isatty(ends[0]));
    SHOW(ftruncate(ends[0], 0));
    close(ends[0]);
}

static void folders(void)
{
    char path[PATH_MAX];
    SHOW(mkdir("folder", 0755));
    SHOW(mkdir("folder", 0755));
    SHOW(mkdir("folder/inner/", 0700));
    SHOW(mkdir("none/inner", 0700));
    SHOW(open("folder", O_WRONLY));
    SHOW(open("file", O_DIRECTORY));
    SHOW(open("file/x", O_RDONLY));
    SHOW(open("none", O_RDONLY));
    SHOW(open("", O_RDONLY));
    int fd = open("folder", O_RDONLY | O_DIRECTORY);
    SHOW(read(fd, path, 1));
    int inner = openat(fd, "inner/../inner/f", O_CREAT | O_WRONLY, 0600);
    SHOW(inner >= 0);
    SHOW(write(inner, "12", 2));
    SHOW(faccessat(fd, "inner/f", R_OK | W_OK, 0));
    SHOW(faccessat(fd, "inner/g", F_OK, 0));
    SHOW(renameat(fd, "inner/f", fd, "g"));
    SHOW(renameat(fd, "inner/f", fd, "g"));
    list("folder");
    SHOW(chdir("folder/inner"));
    printf("in %s\n", strrchr(getcwd(path, sizeof path), '/'));
    SHOW(getcwd(path, 3) != NULL);
    status("../g");
    list("..");
    SHOW(fchdir(fd));
    printf("in %s\n", strrchr(getcwd(path, sizeof path), '/'));
    SHOW(rename("inner", "moved"));
    SHOW(chdir(".."));
    SHOW(rmdir("folder"));
    SHOW(rmdir("folder/moved"));
    SHOW(unlink("folder"));
    SHOW(rmdir("file"));
    SHOW(unlinkat(fd, "g", 0));
    SHOW(rmdir("folder/."));
    SHOW(rmdir("folder/../"));
    SHOW(rmdir("/"));
    SHOW(rmdir("//"));
    SHOW(unlink("/"));
    SHOW(unlink("."));
    SHOW(rmdir("folder"));
    SHOW(openat(fd, "late", O_CREAT | O_WRONLY, 0600));
    SHOW(fchdir(inner));
    SHOW(chdir("file"));
    SHOW(chdir("none"));
    close(fd);
    close(inner);
    list(".");
}

static void links(void)
{
    char text[100] = "";
    SHOW(symlink("file", "link"));
    SHOW(symlink("file", "link"));
    SHOW(readlink("link", text, sizeof text));
    SHOW(readlink("link", text, 2));
    SHOW(readlink("file", text, sizeof text));
    SHOW(open("link", O_NOFOLLOW));
    SHOW(link("file", "hard"));
    SHOW(link("link", "hardlink"));
    status("file");
    status("link");
    status("hardlink");
    SHOW(linkat(AT_FDCWD, "link", AT_FDCWD, "followed", AT_SYMLINK_FOLLOW));
    status("followed");
    SHOW(symlink("loop", "loop"));
    SHOW(open("loop", O_RDONLY));
    SHOW(symlink("nothing", "dangling"));
    SHOW(open("dangling", O_RDONLY));
    SHOW(open("dangling", O_CREAT | O_EXCL | O_WRONLY, 0600));
    SHOW(access("nothing", F_OK));
    int made = open("dangling", O_CREAT | O_WRONLY, 0600);
    SHOW(made >= 0);
    close(made);
    SHOW(access("nothing", F_OK));
    getcwd(text, sizeof text - 10);
    strcat(text, "/file");
    SHOW(symlink(text, "absolute"));
    SHOW(access("absolute", F_OK));
    SHOW(mkdir("d", 0700));
    SHOW(symlink("d", "dlink"));
    SHOW(symlink("../file", "d/up"));
    SHOW(access("dlink/up", R_OK));
    SHOW(access("dlink/../d/up", R_OK));
    SHOW(mkdir("dlink/sub", 0700));
    SHOW(rmdir("dlink/sub"));
    SHOW(rmdir("dlink"));
    SHOW(unlink("d/up"));
    SHOW(rename("d", "e"));
    SHOW(access("dlink", F_OK));
    SHOW(rmdir("e"));
    static const char *const all[] = {"link",     "hard",    "hardlink", "followed", "loop",
                                      "dangling", "nothing", "absolute", "dlink"};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        SHOW(unlink(all[i]));
}

static void attributes(void)
{
    struct timespec times[2] = {{1000000000, 123456789}, {1100000000, 987654321}};
    SHOW(chmod("file", 0640));
    SHOW(utimensat(AT_FDCWD, "file", times, 0));
    status("file");
    int fd = open("file", O_RDWR);
    SHOW(fchmod(fd, 0600));
    times[1].tv_nsec = UTIME_OMIT;
    SHOW(futimens(fd, times));
    times[1].tv_nsec = 5000000000;
    SHOW(futimens(fd, times));
    status("file");
    struct statx x;
    SHOW(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x));
    printf("statx mode %o size %ld\n", x.stx_mode, (long)x.stx_size);
    SHOW(statx(AT_FDCWD, "none", 0, STATX_BASIC_STATS, &x));
    SHOW(chown("file", -1, -1));
    SHOW(fstatat(AT_FDCWD, "file", &(struct stat){0}, 0x8000));
    SHOW(statx(AT_FDCWD, "file", 0x8000, STATX_BASIC_STATS, &x));
    SHOW(utimensat(AT_FDCWD, "file", NULL, 0x8000));
    SHOW(fchownat(AT_FDCWD, "file", -1, -1, 0x8000));
    SHOW(syscall(SYS_utimensat, fd, NULL, NULL, AT_SYMLINK_NOFOLLOW));
    SHOW(fstatat(AT_FDCWD, "file", &(struct stat){0}, AT_NO_AUTOMOUNT));
    printf("umask %o\n", umask(027));
    int made = open("masked", O_CREAT | O_WRONLY, 0666);
    status("masked");
    close(made);
    unlink("masked");
    printf("umask %o\n", umask(022));
    struct statfs f;
    SHOW(statfs(".", &f));
    SHOW(f.f_bsize > 0 && f.f_namelen > 0);
    SHOW(fstatfs(fd, &f));
    SHOW(unlink("file"));
    SHOW(write(fd, "still here", 10));
    struct stat s;
    SHOW(fstat(fd, &s));
    printf("links %d size %d\n", (int)s.st_nlink, (int)s.st_size);
    int copy = open("copy", O_CREAT | O_RDWR, 0600);
    off_t from = 0;
    SHOW(sendfile(copy, fd, &from, 100));
    printf("offset %ld\n", (long)from);
    loff_t a = 0, b = 10;
    SHOW(copy_file_range(fd, &a, copy, &b, 5, 0));
    SHOW(lseek(copy, 0, SEEK_END));
    unlink("copy");
    close(fd);
    close(copy);
}

// Whether another process finds the file locked.
static bool is_locked(int fd)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int status;
    fflush(stdout);
    if (!fork()) {
        fcntl(fd, F_GETLK, &l);
        _exit(l.l_type != F_UNLCK);
    }
    wait(&status);
    return WEXITSTATUS(status);
}

// What a path says to be a folder.
static void tails(void)
{
    static const char *const paths[] = {
        "%s/l/.",           "%s/f/.",          "%s/f/",        "%s/d/../f/.",
        "%s/d/../l/./",     "%s/l/./",         "%s/missing/.", "%s/missing/",
        "%s/d/../missing/", "%s/f/..",         "%s/l/..",      "/dev/null/",
        "/dev/null/.",      "/proc/self/exe/", "/dev/.",       "/proc/self/maps/"};
    char folder[PATH_MAX / 2], path[PATH_MAX];
    struct stat s;
    SHOW(getcwd(folder, sizeof folder) != NULL);
    mkdir("d", 0700);
    symlink("d", "l");
    close(creat("f", 0600));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(path, sizeof path, paths[i], folder);
        printf("%s\n", paths[i]);
        SHOW(lstat(path, &s) || !S_ISDIR(s.st_mode) ? -1 : 1);
        SHOW(open(path, O_RDONLY) >= 0 ? 1 : -1);
        if (!strstr(path, folder))
            continue;
        SHOW(open(path, O_WRONLY | O_CREAT, 0600) >= 0 ? 1 : -1);
        SHOW(chmod(path, 0700));
        SHOW(truncate(path, 0));
        SHOW(unlink(path));
        SHOW(rmdir(path));
        if (strcmp(paths[i], "%s/missing/"))
            SHOW(mkdir(path, 0700));
        SHOW(mknod(path, S_IFREG | 0600, 0));
        SHOW(symlink("f", path));
        SHOW(link("f", path));
        SHOW(rename(path, "f"));
        SHOW(rename("f", path));
    }
    SHOW(access("missing", F_OK));
    unlink("f");
    unlink("l");
    rmdir("d");
}

// The links of /proc and /dev.
static void own_links(void)
{
    static const char *const links[] = {"/proc/self", "/proc/self/exe", "/proc/self/fd/0", "/dev/fd",
                                        "/dev/stdin"};
    char path[PATH_MAX], text[PATH_MAX];
    struct stat s;
    struct statx x;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        printf("%s\n", links[i]);
        SHOW(lstat(links[i], &s) ? -1 : S_ISLNK(s.st_mode));
        SHOW(statx(AT_FDCWD, links[i], AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &x) ? -1
                                                                                   : S_ISLNK(x.stx_mode));
        SHOW(stat(links[i], &s) ? -1 : S_ISLNK(s.st_mode));
        SHOW(readlink(links[i], text, sizeof text) > 0);
    }
    snprintf(path, sizeof path, "/proc/%d", getpid());
    SHOW(readlink(path, text, sizeof text));
    SHOW(realpath("/proc/self/fd/0", text) != NULL);
    SHOW(strcmp(text, "/dev/null"));
    SHOW(realpath("/dev/stdin", text) != NULL);
    SHOW(realpath("/proc/self/cwd", text) != NULL);
    SHOW(strcmp(text, getcwd(path, sizeof path)));
    int file = open("written", O_RDWR | O_CREAT, 0600), ends[2];
    pipe(ends);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    SHOW(access(path, R_OK | W_OK));
    SHOW(realpath(path, text) != NULL);
    SHOW(open(path, O_RDONLY | O_DIRECTORY));
    SHOW(open(strcat(strcpy(text, path), "/"), O_RDONLY));
    SHOW(fchmodat(AT_FDCWD, path, 0640, 0));
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    SHOW(access(path, W_OK));
    snprintf(path, sizeof path, "/proc/self/fd/%d", memfd_create("memory", 0));
    text[readlink(path, text, sizeof text - 1)] = 0;
    printf("%s\n", text);
    unlink("written");
    DIR *fds = opendir("/proc/self/fd");
    bool lists_itself = false;
    snprintf(path, sizeof path, "%d", dirfd(fds));
    for (const struct dirent *entry; (entry = readdir(fds));)
        lists_itself |= !strcmp(entry->d_name, path);
    SHOW(lists_itself);
    closedir(fds);
    SHOW(open("/no such folder/new", O_WRONLY | O_CREAT, 0600));
    SHOW(open("/proc/self/no such file", O_RDONLY));
}

// Paths that go on behind the links of /proc to folders.
static void through_links(void)
{
    char path[PATH_MAX], text[PATH_MAX];
    struct stat s;
    SHOW(getcwd(text, sizeof text) != NULL);
    mkdir("d", 0700);
    mkdir("d/sub", 0700);
    close(creat("d/file", 0600));
    const int top = open(".", O_RDONLY), folder = open("d", O_RDONLY);
    SHOW(lstat("/proc/self/cwd", &s) || !S_ISLNK(s.st_mode));
    SHOW(stat("/proc/self/cwd", &s) || !S_ISDIR(s.st_mode));
    SHOW(lstat("/proc/self/root", &s) || !S_ISLNK(s.st_mode));
    SHOW(access("/proc/self/cwd/d/file", R_OK));
    SHOW(access("/proc/self/cwd/d/sub/../file", R_OK));
    SHOW(access("/proc/self/cwd/none", F_OK));
    SHOW(close(open("/proc/self/cwd/made", O_WRONLY | O_CREAT | O_EXCL, 0600)));
    SHOW(rename("/proc/self/cwd/made", "/proc/self/cwd/d/made"));
    snprintf(path, sizeof path, "/proc/%d/cwd/d/made", getpid());
    SHOW(unlink(path));
    snprintf(path, sizeof path, "/proc/self/root%s/d/file", text);
    SHOW(access(path, R_OK));
    static const char *const below[] = {
        "",           "/",        "/file",        "/file/x", "/none", "/sub/", "/sub/../file",
        "/../d/file", "/../none", "/none/../file"};
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d%s", folder, below[i]);
        printf("%s\n", below[i]);
        SHOW(stat(path, &s) ? -1 : S_ISDIR(s.st_mode));
        snprintf(path, sizeof path, "/dev/fd/%d%s", folder, below[i]);
        const int opened = open(path, O_RDONLY);
        SHOW(opened >= 0);
        close(opened);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d/new", folder);
    SHOW(mkdir(path, 0700));
    SHOW(chdir(path));
    SHOW(strcmp(strrchr(getcwd(path, sizeof path), '/'), "/new"));
    // The folder that is the current one goes.
    SHOW(rmdir("../new"));
    SHOW(getcwd(path, sizeof path) != NULL);
    SHOW(open("file", O_WRONLY | O_CREAT, 0600));
    SHOW(stat(".", &s));
    path[readlink("/proc/self/cwd", path, sizeof path - 1)] = 0;
    printf("%s\n", strrchr(path, '/'));
    SHOW(access("../file", R_OK));
    SHOW(access("none/../../file", R_OK));
    SHOW(chdir(".."));
    SHOW(strcmp(strrchr(getcwd(path, sizeof path), '/'), "/d"));
    fchdir(top);
    SHOW(unlink("d/file"));
    SHOW(rmdir("d/sub"));
    SHOW(rmdir("d"));
    snprintf(path, sizeof path, "/proc/self/fd/%d", folder);
    SHOW(stat(path, &s));
    close(top);
    close(folder);
}

// A current folder that lies deeper than a path can say.
static void deep(void)
{
    char name[201] = "", path[PATH_MAX];
    memset(name, 'd', sizeof name - 1);
    const int top = open(".", O_RDONLY | O_DIRECTORY);
    while (syscall(SYS_getcwd, path, sizeof path) > 0 && !mkdir(name, 0700) && !chdir(name))
        continue;
    SHOW(syscall(SYS_getcwd, path, sizeof path));
    SHOW(fchdir(top));
    close(top);
}

// Descriptors that do not do what is asked of them.
static void misused(void)
{
    char link[40], text[4];
    struct stat s;
    symlink("named", "to_named");
    int file = open("named", O_RDWR | O_CREAT, 0600), named = open("named", O_PATH),
        folder = open(".", O_RDONLY);
    int to = open("to_named", O_PATH | O_NOFOLLOW);
    off_t start = 0;
    SHOW(write(file, "text", 4));
    SHOW(write(folder, "x", 1));
    SHOW(pwrite(folder, "x", 1, 0));
    SHOW(read(folder, text, 1));
    SHOW(fallocate(folder, 0, 0, 1));
    SHOW(sendfile(folder, file, &start, 1));
    SHOW(sendfile(file, folder, &start, 1));
    SHOW(read(named, text, 1));
    SHOW(syncfs(named));
    SHOW(futimens(named, NULL));
    snprintf(link, sizeof link, "/proc/self/fd/%d", named);
    SHOW(read(open(link, O_RDONLY), text, 4)); // what was only named can be opened
    SHOW(write(open(link, O_WRONLY), "T", 1));
    SHOW(read(open(link, O_PATH), text, 1));
    snprintf(link, sizeof link, "/proc/self/fd/%d", to);
    SHOW(open(link, O_RDONLY));
    SHOW(readlinkat(to, "", text, 4));
    SHOW(readlinkat(500, "", text, 4));
    SHOW(readlinkat(AT_FDCWD, "", text, 4));
    SHOW(fstat(file, &s) ? -1 : s.st_size);
    unlink("named");
    unlink("to_named");
}

// Looking at a file does not take the locks on it away.
static void locks(void)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat s;
    struct statx x;
    int fd = open("locked", O_RDWR | O_CREAT, 0600);
    SHOW(fcntl(fd, F_SETLK, &l));
    SHOW(is_locked(fd));
    SHOW(fstat(fd, &s));
    SHOW(is_locked(fd));
    SHOW(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x));
    SHOW(futimens(fd, NULL));
    SHOW(is_locked(fd));
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    SHOW(stat(link, &s));
    SHOW(is_locked(fd));
    SHOW(close(fd));
    unlink("locked");
}

// A file that is memory: where its offset is behind each way of writing to it.
static void in_memory(void)
{
    int fd = memfd_create("memory", 0), source = open("source", O_RDWR | O_CREAT, 0600);
    struct iovec words[2] = {{"five ", 5}, {"and six", 7}};
    off_t from = 4;
    loff_t to = 2;
    char text[100] = "";
    write(source, "0123456789", 10);
    SHOW(write(fd, "four", 4));
    SHOW(writev(fd, words, 2));
    SHOW(pwrite(fd, "F", 1, 0));
    SHOW(lseek(fd, 0, SEEK_CUR));
    SHOW(sendfile(fd, source, &from, 3));
    SHOW(from);
    SHOW(sendfile(fd, source, NULL, 3));
    SHOW(lseek(source, 1, SEEK_SET));
    SHOW(sendfile(fd, source, NULL, 100));
    SHOW(lseek(source, 0, SEEK_CUR));
    SHOW(lseek(fd, 1, SEEK_SET));
    SHOW(copy_file_range(fd, &to, fd, NULL, 1, 0));
    SHOW(lseek(fd, 0, SEEK_CUR));
    SHOW(fcntl(fd, F_SETFL, O_APPEND));
    SHOW(write(fd, "end", 3));
    SHOW(lseek(fd, 0, SEEK_CUR));
    SHOW(pwrite(fd, ".", 1, 0));
    SHOW(sendfile(fd, source, &from, 3));
    SHOW(copy_file_range(source, &from, fd, NULL, 1, 0));
    SHOW(write(fd, "", 0));
    SHOW(pread(fd, text, sizeof text - 1, 0));
    puts(text);
    unlink("source");
}

int main(void)
{
    in_memory();
    reading_and_writing();
    descriptors();
    folders();
    links();
    attributes();
    locks();
    tails();
    deep();
    misused();
    own_links();
    through_links();
    SHOW(open("/dev/null", O_RDWR) >= 0);
    SHOW(access("/dev/zero", R_OK | W_OK));
    FILE *t = tmpfile();
    printf("tmpfile %d\n", t != NULL && fputs("x", t) >= 0 && fclose(t) == 0);
    char name[PATH_MAX];
    SHOW(readlink("/proc/self/exe", name, sizeof name) > 0);
    SHOW(open("/nowhere/at/all", O_RDONLY));
    return 0;
}
