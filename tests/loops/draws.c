// SPDX-License-Identifier: MIT
// A guest that draws with loops of its own, for trace_test.c: `rise` writes column 20 down to a line that
// moves on with each frame, `wipe` all lines but the first, `skip` every pixel of line 5 but the multiples
// of 3.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "device_page.h"

enum { ABOVE = 3 }; // lines of memory before the picture
static unsigned char memory[ABOVE + DEVICE_FRAME_HEIGHT][DEVICE_FRAME_WIDTH], table[256];

__attribute__((noinline)) void rise(unsigned char *to, const unsigned char *from, long count)
{
    do {
        *to = table[*from++];
        to += DEVICE_FRAME_WIDTH;
    } while (--count);
}

__attribute__((noinline)) void wipe(unsigned char *from, unsigned char *to)
{
    while (to-- != from)
        *to = 7;
}

__attribute__((noinline)) void skip(unsigned char *to, const unsigned char *which, long count)
{
    for (long i = 0; i < count; i++)
        if (which[i])
            to[i] = 9;
}

int main(void)
{
    static unsigned char which[DEVICE_FRAME_WIDTH], column[DEVICE_FRAME_HEIGHT];
    int device = open(DEVICE_PATH, O_RDWR);
    struct device_page *page = mmap(NULL, DEVICE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
    if (page == MAP_FAILED)
        return 1;
    unsigned char(*screen)[DEVICE_FRAME_WIDTH] = memory + ABOVE;
    page->info.drawn_at = (unsigned long)screen;
    for (int i = 0; i < DEVICE_FRAME_WIDTH; i++)
        which[i] = i % 3;
    for (unsigned frame = 1;; frame++) {
        long height = (frame - 1) % DEVICE_FRAME_HEIGHT + 1;
        wipe(screen[1], screen[DEVICE_FRAME_HEIGHT]);
        rise(&screen[0][20], column, height);
        for (int often = 0; often < 40; often++) // to no place in the picture
            rise(memory[0], column, ABOVE);
        skip(screen[5], which, DEVICE_FRAME_WIDTH);
        __builtin_memcpy(page->frame, screen, sizeof page->frame);
        page->info.frame = frame;
        ioctl(device, DEVICE_PRESENT, 0);
    }
}
