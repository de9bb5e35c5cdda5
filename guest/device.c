// SPDX-License-Identifier: GPL-2.0-or-later
// The device file: where there is one, the host draws, listens and keeps time; where there is
// none, the guest runs headless on a page of its own, with the virtual clock.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "i_system.h"

#include "platform.h"

static struct device_page headless_page = {
    .info = {.magic = DEVICE_MAGIC, .version = DEVICE_VERSION, .clock_mode = DEVICE_CLOCK_VIRTUAL},
};

struct device_page *page = &headless_page;

static int device = -1;

// Only leaving in good order counts as an end: an error, a fault or a kill does not.
static void mark_ended(void)
{
    page->info.ended = 1;
}

void platform_open(void)
{
    I_AtExit(mark_ended, false);
    device = open(DEVICE_PATH, O_RDWR | O_CLOEXEC);
    if (device < 0) {
        return;
    }
    void *mapping = mmap(NULL, DEVICE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
    if (mapping == MAP_FAILED) {
        I_Error("%s cannot be mapped", DEVICE_PATH);
    }
    page = mapping;
    if (page->info.magic != DEVICE_MAGIC || page->info.version != DEVICE_VERSION) {
        I_Error("%s speaks version %u of the device page, this guest version %u: build both anew",
                DEVICE_PATH, page->info.version, DEVICE_VERSION);
    }
}

void platform_present(void)
{
    if (device >= 0) {
        ioctl(device, DEVICE_PRESENT, 0);
    }
}

void platform_wait(unsigned milliseconds)
{
    if (device >= 0) {
        ioctl(device, DEVICE_WAIT, (unsigned long)milliseconds);
    }
}

boolean platform_take_audio(void)
{
    return device >= 0 && ioctl(device, DEVICE_AUDIO, 0) == 0;
}
