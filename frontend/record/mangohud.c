// SPDX-License-Identifier: MIT
#include "mangohud.h"

#include "frontend/base/host.h"

void mangohud_begin(FILE *to)
{
    struct host_machine host;
    host_describe_machine(&host);
    fprintf(to,
            "os,cpu,gpu,ram,kernel,driver,cpuscheduler\n"
            "%s,%s,,%llu,%s,neurodoom %s,%s\n"
            "fps,frametime,cpu_load,cpu_power,gpu_load,cpu_temp,gpu_temp,gpu_core_clock,gpu_mem_clock,gpu_"
            "vram_used,"
            "gpu_power,ram_used,swap_used,process_rss,cpu_mhz,elapsed\n",
            host.system, host.cpu, (unsigned long long)(host.memory >> 10), host.kernel, host_version,
            host.governor);
}

void mangohud_frame(FILE *to, double ms, double elapsed_ms)
{
    fprintf(to, "%.4f,%.6f,0,0,0,0,0,0,0,0,0,0,0,0,0,%.0f\n", ms > 0 ? 1000 / ms : 0, ms, elapsed_ms * 1e6);
}
