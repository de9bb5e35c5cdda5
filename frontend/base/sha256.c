// SPDX-License-Identifier: MIT
#include "sha256.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/nn/sha256.h"

bool sha256_file(const char *path, char text[65])
{
    text[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0) {
        return false;
    }
    size_t size = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? (size_t)info.st_size : 0;
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED) {
        return false;
    }
    nn_sha256(bytes, size, text);
    munmap(bytes, size);
    return true;
}
