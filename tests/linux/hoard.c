// SPDX-License-Identifier: MIT
// Tries to have more memory than it may, in every way that keeps some, and whether what it gives back can be
// had again. Prints what goes wrong and ends with status 1 if there is something.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE (16ul << 20)
#define LIMIT (128ul << 20)
#define MOST (LIMIT / PIECE)
#define FAR (1l << 40)
enum { TRIES = 20 };

static int failures, checks;
static char *pieces[TRIES];
static int files[TRIES], source;

static void expect(const char *what, bool good)
{
    checks++;
    if (!good) {
        failures++;
        printf("wrong: %s\n", what);
    }
}

static bool take(int i, int flags, int fd)
{
    char *p = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (p == MAP_FAILED)
        return false;
    pieces[i] = p;
    p[0] = p[PIECE - 4096] = 1;
    return true;
}

static bool forbid(int i)
{
    return take(i, MAP_PRIVATE | MAP_ANONYMOUS, -1) && !mprotect(pieces[i], PIECE, PROT_NONE);
}

static bool forbid_file(int i)
{
    return take(i, MAP_PRIVATE, source) && !mprotect(pieces[i], PIECE, PROT_NONE);
}

static bool unmap_most(int i)
{
    return take(i, MAP_SHARED | MAP_ANONYMOUS, -1) && !munmap(pieces[i], PIECE - 4096);
}

static bool map_zero(int i)
{
    int fd = open("/dev/zero", O_RDWR);
    bool done = take(i, MAP_SHARED, fd);
    close(fd);
    return done && !munmap(pieces[i], PIECE - 4096);
}

static bool make_file(int i)
{
    files[i] = memfd_create("hoard", 0);
    return files[i] >= 0;
}

static bool cut(int i)
{
    return make_file(i) && !ftruncate(files[i], PIECE);
}

static bool cut_by_name(int i)
{
    char path[40];
    if (!make_file(i))
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", files[i]);
    return !truncate(path, PIECE);
}

static bool reserve(int i)
{
    return make_file(i) && !fallocate(files[i], FALLOC_FL_KEEP_SIZE, 0, PIECE);
}

static bool write_far(int i)
{
    return make_file(i) && pwrite(files[i], "x", 1, PIECE - 1) == 1;
}

static bool append(int i)
{
    static const char text[1 << 20];
    if (!make_file(i) || fcntl(files[i], F_SETFL, O_APPEND))
        return false;
    for (unsigned long done = 0; done < PIECE; done += sizeof text)
        if (pwrite(files[i], text, sizeof text, 0) != sizeof text)
            return false;
    return true;
}

static bool send(int i)
{
    off_t at = 0;
    if (!make_file(i))
        return false;
    while (at < (off_t)PIECE)
        if (sendfile(files[i], source, &at, PIECE) <= 0)
            return false;
    return true;
}

static bool copy(int i)
{
    off_t from = 0;
    if (!make_file(i))
        return false;
    while (from < (off_t)PIECE)
        if (copy_file_range(source, &from, files[i], NULL, PIECE, 0) <= 0)
            return errno == EXDEV && send(i); // what some hosts say of two file systems
    return true;
}

static bool cut_unmapped(int i) // mapped, closed and all but the end unmapped
{
    bool done = cut(i) && take(i, MAP_SHARED, files[i]) && !munmap(pieces[i], PIECE - 4096);
    close(files[i]);
    return done;
}

static bool cut_in_child(int i)
{
    int status;
    if (!make_file(i))
        return false;
    if (!fork())
        _exit(ftruncate(files[i], PIECE) != 0);
    wait(&status);
    return !status;
}

// Whether more than there may be is denied in the file, however far writes to it have been sent.
static bool is_bounded(int fd)
{
    static const char text[1 << 20];
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int other = open(path, O_WRONLY);
    off_t end = lseek(other, 0, SEEK_END), at = 0;
    while (at <= (off_t)LIMIT && pwrite(other, text, sizeof text, at) == sizeof text)
        at += sizeof text;
    close(other);
    close(fd);
    return end <= (off_t)LIMIT && at <= (off_t)LIMIT;
}

// A write that does not go to the end, although the file's are to.
static bool write_not_appended(void)
{
    struct iovec byte = {"x", 1};
    int fd = memfd_create("hoard", 0);
    fcntl(fd, F_SETFL, O_APPEND);
    syscall(SYS_pwritev2, fd, &byte, 1, FAR, 0, 0x20 /* RWF_NOAPPEND */);
    fcntl(fd, F_SETFL, 0);
    return is_bounded(fd);
}

// Another process has writes go elsewhere while they are made.
static bool write_moved(ssize_t (*write)(int fd))
{
    int fd = memfd_create("hoard", 0);
    pid_t other = fork();
    while (!other) {
        lseek(fd, FAR, SEEK_SET);
        lseek(fd, 0, SEEK_SET);
    }
    for (int i = 0; i < 100000; i++)
        write(fd);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    return is_bounded(fd);
}

static ssize_t write_one(int fd)
{
    return write(fd, "x", 1);
}

static ssize_t send_one(int fd)
{
    off_t at = 0;
    return sendfile(fd, source, &at, 1);
}

static ssize_t copy_one(int fd)
{
    off_t at = 0;
    return copy_file_range(source, &at, fd, NULL, 1, 0);
}

static void give_back(void)
{
    for (int i = 0; i < TRIES; i++) {
        if (pieces[i])
            munmap(pieces[i], PIECE);
        if (files[i])
            close(files[i]);
        pieces[i] = NULL;
        files[i] = 0;
    }
}

static void hoard(const char *name, bool (*try)(int i))
{
    int had = 0;
    while (had < TRIES && try(had))
        had++;
    char text[80];
    snprintf(text, sizeof text, "%s: %d of %lu pieces", name, had, MOST);
    expect(text, had >= (int)MOST / 2 && had < (int)MOST);
    give_back();
    void *p = mmap(NULL, LIMIT * 3 / 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    snprintf(text, sizeof text, "%s: given back", name);
    expect(text, p != MAP_FAILED);
    munmap(p, LIMIT * 3 / 4);
}

// Each child has its own, and leaves nothing; what one that is killed leaves is found when it is needed.
static void children(void)
{
    int status, killed = 0, ended = 0;
    pid_t other = fork(); // so that nothing is clear
    if (!other)
        for (;;)
            pause();
    for (int i = 0; i < TRIES; i++) {
        if (!fork())
            _exit(!take(0, MAP_SHARED | MAP_ANONYMOUS, -1));
        wait(&status);
        ended += !status;
    }
    expect("children that end", ended == TRIES);
    kill(other, SIGKILL);
    wait(&status);
    for (int i = 0; i < TRIES; i++) {
        if (!fork()) {
            if (take(0, MAP_SHARED | MAP_ANONYMOUS, -1))
                kill(getpid(), SIGKILL);
            _exit(1);
        }
        wait(&status);
        killed += WIFSIGNALED(status);
        expect("the parent", take(0, MAP_SHARED | MAP_ANONYMOUS, -1));
        give_back();
    }
    expect("children that are killed", killed >= (int)MOST / 2);
}

// What describes many mappings is long, and kept for whoever has it open.
static bool describe_often(void)
{
    enum { PAGES = 16000, OFTEN = 400 };
    static int open_files[OFTEN];
    char *p = mmap(NULL, PAGES * 4096ul, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int count = 0;
    for (size_t i = 0; i < PAGES; i += 2)
        mprotect(p + i * 4096, 4096, PROT_NONE);
    while (count < OFTEN && (open_files[count] = open("/proc/self/maps", O_RDONLY)) >= 0)
        count++;
    const bool refused = count && count < OFTEN && errno == ENOMEM;
    for (int i = 0; i < count; i++)
        close(open_files[i]);
    const int again = open("/proc/self/maps", O_RDONLY);
    close(again);
    munmap(p, PAGES * 4096ul);
    return refused && again >= 0;
}

int main(void)
{
    const struct rlimit limit = {LIMIT, LIMIT};
    int ends[2];
    source = open("source", O_RDWR | O_CREAT, 0600);
    ftruncate(source, PIECE);
    setrlimit(RLIMIT_AS, &limit);
    hoard("without rights", forbid);
    hoard("a file without rights", forbid_file);
    hoard("partly unmapped", unmap_most);
    hoard("/dev/zero", map_zero);
    hoard("ftruncate", cut);
    hoard("truncate", cut_by_name);
    hoard("fallocate", reserve);
    hoard("pwrite", write_far);
    hoard("appended", append);
    hoard("sendfile", send);
    hoard("copy_file_range", copy);
    hoard("closed", cut_unmapped);
    hoard("by children", cut_in_child);
    children();
    expect("a write that is not appended", write_not_appended());
    expect("write, its offset moved", write_moved(write_one));
    expect("sendfile, its offset moved", write_moved(send_one));
    expect("copy_file_range, its offset moved", write_moved(copy_one));
    expect("/proc/self/maps", describe_often());
    pipe(ends);
    expect("a pipe", fcntl(ends[1], F_SETPIPE_SZ, 64 << 20) < 0 && errno == EPERM);
    printf("%d checks, %d wrong\n", checks, failures);
    return failures != 0;
}
