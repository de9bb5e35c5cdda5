// SPDX-License-Identifier: MIT
// What else the machine is doing.
#ifndef FRONTEND_BENCH_HOST_LOAD_H
#define FRONTEND_BENCH_HOST_LOAD_H

// Processes that ran or wanted to, on average over the last minute; 0 if the system does not say.
double host_load(void);

struct host_time {
    double all, stolen; // of all cores since the system started, in ticks
};
struct host_time host_time_now(void);
// Which share of the time since then other guests of the host took, in per cent.
double host_steal_percent(const struct host_time *since);

#endif
