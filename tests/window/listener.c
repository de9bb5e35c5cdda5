// SPDX-License-Identifier: MIT
// A guest that says what events it gets, and has a player who loses 30 points of health when Backspace is
// pressed.
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "device_page.h"

static const char *const types[] = {"", "down", "up", "mouse", "pad", "quit", "release"};

int main(void)
{
    int device = open(DEVICE_PATH, O_RDWR);
    struct device_page *page = mmap(NULL, DEVICE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
    if (page == MAP_FAILED)
        return 1;
    page->info.user_game = 1;
    page->info.health = 100;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (;;) {
        struct device_ring *ring = &page->ring;
        while (ring->event_tail != __atomic_load_n(&ring->event_head, __ATOMIC_ACQUIRE)) {
            struct device_event e = ring->events[ring->event_tail % DEVICE_EVENTS];
            __atomic_store_n(&ring->event_tail, ring->event_tail + 1, __ATOMIC_RELEASE);
            printf("%s key %u control %u dx %d dy %d ch %u\n", types[e.type], e.code & 0xff, e.code >> 8,
                   e.dx, e.dy, e.ch);
            if (e.type == DEVICE_EVENT_QUIT)
                return 0;
            if (e.type == DEVICE_EVENT_KEY_DOWN && (e.code & 0xff) == 0x7f)
                page->info.health -= 30;
        }
        page->info.frame++;
        ioctl(device, DEVICE_PRESENT, 0);
        ioctl(device, DEVICE_WAIT, 20L);
    }
}
