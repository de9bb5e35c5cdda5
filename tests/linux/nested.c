// SPDX-License-Identifier: MIT
// Grants within grants: the innermost one decides, whatever leads there. Runs in a writable folder, in which
// ro and deep/ro are read-only, and so is the file fixed; ro/rw is writable again (see the run script).
// Prints what goes wrong and ends with status 1 if there is something.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failures, checks;

static void expect(const char *what, bool good)
{
    checks++;
    if (!good) {
        failures++;
        printf("wrong: %s (%s)\n", what, strerrorname_np(errno));
    }
}

// The call fails with that error.
#define DENIED(error, call)                                                                                  \
    do {                                                                                                     \
        errno = 0;                                                                                           \
        bool failed = (call) < 0;                                                                            \
        expect(#call, failed &&errno == (error));                                                            \
    } while (0)
#define ALLOWED(call) expect(#call, (call) >= 0)

static void keeps(const char *file)
{
    char other[128];
    DENIED(EROFS, open(file, O_WRONLY));
    DENIED(EROFS, open(file, O_RDWR));
    DENIED(EROFS, open(file, O_RDONLY | O_TRUNC));
    DENIED(EROFS, truncate(file, 0));
    DENIED(EROFS, chmod(file, 0600));
    DENIED(EROFS, utimensat(AT_FDCWD, file, NULL, 0));
    DENIED(EROFS, access(file, W_OK));
    DENIED(EXDEV, linkat(AT_FDCWD, file, AT_FDCWD, "stolen", AT_SYMLINK_FOLLOW));
    ALLOWED(access(file, R_OK));
    int fd = open(file, O_RDONLY);
    snprintf(other, sizeof other, "/proc/self/fd/%d", fd);
    DENIED(EACCES, open(other, O_WRONLY));
    DENIED(EPERM, fchmod(fd, 0600));
    close(fd);
    fd = open(file, O_PATH);
    snprintf(other, sizeof other, "/proc/self/fd/%d", fd);
    ALLOWED(open(other, O_RDONLY));
    DENIED(EACCES, open(other, O_WRONLY));
    DENIED(EACCES, open(other, O_RDWR));
    DENIED(EACCES, open(other, O_RDONLY | O_TRUNC));
    close(fd);
}

static void keeps_folder(const char *folder)
{
    char path[128], other[128];
    snprintf(path, sizeof path, "%s/secret", folder);
    keeps(path);
    DENIED(EROFS, unlink(path));
    DENIED(EROFS, rename(path, "stolen"));
    DENIED(EROFS, rename("mine", path));
    DENIED(EROFS, renameat2(AT_FDCWD, "mine", AT_FDCWD, path, RENAME_EXCHANGE));
    DENIED(EEXIST, link("mine", path));
    snprintf(other, sizeof other, "%s/new", folder);
    DENIED(EROFS, open(other, O_CREAT | O_WRONLY, 0600));
    DENIED(EROFS, mkdir(other, 0700));
    DENIED(EROFS, symlink("x", other));
    DENIED(EROFS, open(folder, O_TMPFILE | O_WRONLY, 0600));
    int fd = open(folder, O_PATH | O_DIRECTORY);
    ALLOWED(fd);
    DENIED(EROFS, openat(fd, "secret", O_WRONLY));
    DENIED(EROFS, unlinkat(fd, "secret", 0));
    close(fd);
}

// The name stays what it is.
static void stays(const char *name)
{
    DENIED(EBUSY, rename(name, "elsewhere"));
    DENIED(EBUSY, rename("folder", name));
    DENIED(EBUSY, renameat2(AT_FDCWD, "folder", AT_FDCWD, name, RENAME_EXCHANGE));
    DENIED(EEXIST, mkdir(name, 0700));
    DENIED(EEXIST, symlink("folder", name));
    DENIED(EEXIST, link("mine", name));
    DENIED(EBUSY, unlinkat(AT_FDCWD, name, AT_REMOVEDIR));
    DENIED(EBUSY, unlinkat(AT_FDCWD, name, 0));
}

int main(void)
{
    ALLOWED(mkdir("folder", 0700));
    ALLOWED(symlink("ro/secret", "to_secret"));
    ALLOWED(symlink("ro", "to_ro"));
    ALLOWED(symlink("deep/../ro", "folder/up"));
    ALLOWED(symlink("../deep", "folder/deep"));
    ALLOWED(symlink("fixed", "to_fixed"));
    ALLOWED(symlink("ro/new", "dangling"));
    int top = open(".", O_PATH | O_DIRECTORY);
    keeps_folder("ro");
    keeps_folder("./deep/ro");
    keeps_folder("to_ro");
    keeps_folder("folder/deep/ro");
    keeps("to_secret");
    keeps("fixed");
    keeps("to_fixed");
    DENIED(EROFS, open("dangling", O_CREAT | O_WRONLY, 0600));
    DENIED(EROFS, openat(top, "to_secret", O_WRONLY));
    DENIED(EROFS, openat(top, "to_ro/secret", O_WRONLY));
    stays("ro");
    stays("deep");
    stays("deep/ro");
    stays("to_ro/rw");
    stays("fixed");
    stays("ro/");
    stays("/area/./ro");
    stays("/area/./deep/./ro/");
    DENIED(EISDIR, open("absent", O_CREAT | O_WRONLY, 0600));
    DENIED(EEXIST, mkdir("absent", 0700));
    DENIED(EROFS, open("absent/way/secret", O_WRONLY));
    ALLOWED(open("ro/rw/new", O_CREAT | O_WRONLY, 0600));
    ALLOWED(open("to_ro/rw/new", O_WRONLY));
    ALLOWED(open("ro/to_rw", O_WRONLY));
    ALLOWED(rename("ro/rw/new", "taken"));
    ALLOWED(open("mine", O_RDWR));
    ALLOWED(rename("folder", "folder2"));
    ALLOWED(chdir("ro"));
    DENIED(EROFS, open("secret", O_WRONLY));
    ALLOWED(open("rw/new", O_CREAT | O_WRONLY, 0600));
    ALLOWED(open("../mine", O_RDWR));
    printf("%d checks, %d wrong\n", checks, failures);
    return failures != 0;
}
