// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "host_load.h"

#include <stdio.h>
#include <stdlib.h>

double host_load(void)
{
    double load;
    return getloadavg(&load, 1) == 1 ? load : 0;
}

struct host_time host_time_now(void)
{
    struct host_time time = {0};
    FILE *stream = fopen("/proc/stat", "re");
    double part;
    // user, nice, system, idle, waiting for disks, two kinds of interrupts, stolen
    if (stream && fscanf(stream, "cpu") == 0) {
        for (int i = 0; i < 8 && fscanf(stream, "%lf", &part) == 1; i++) {
            time.all += part;
            time.stolen = part;
        }
    }
    if (stream) {
        fclose(stream);
    }
    return time;
}

double host_steal_percent(const struct host_time *since)
{
    struct host_time now = host_time_now();
    double all = now.all - since->all;
    return all > 0 ? 100 * (now.stolen - since->stolen) / all : 0;
}
