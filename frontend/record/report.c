// SPDX-License-Identifier: MIT
#include "report.h"

#include "core/core.h"
#include "frontend/base/host.h"

void report_add_program(cJSON *root)
{
    cJSON *program = cJSON_AddObjectToObject(root, "program");
    cJSON_AddStringToObject(program, "version", host_version);
    cJSON_AddStringToObject(program, "git", host_git);
    cJSON_AddStringToObject(program, "flags", host_flags);
}

void report_add_machine(cJSON *root)
{
    struct host_machine host;
    host_describe_machine(&host);
    cJSON *machine = cJSON_AddObjectToObject(root, "machine");
    cJSON_AddStringToObject(machine, "cpu", host.cpu);
    cJSON_AddNumberToObject(machine, "cores", host.cores);
    cJSON_AddStringToObject(machine, "governor", host.governor);
    cJSON_AddStringToObject(machine, "turbo", host.turbo);
    cJSON_AddNumberToObject(machine, "memory_bytes", (double)host.memory);
    cJSON_AddStringToObject(machine, "kernel", host.kernel);
    cJSON_AddStringToObject(machine, "system", host.system);
    cJSON_AddStringToObject(machine, "blas", host.blas);
}

void report_add_hash(cJSON *object, const char *name, const char *path)
{
    char hash[65];
    if (sha256_file(path, hash)) {
        cJSON_AddStringToObject(object, name, hash);
    } else {
        cJSON_AddNullToObject(object, name);
    }
}

void report_add_times(cJSON *variant, const struct frame_statistics *statistics)
{
    cJSON_AddNumberToObject(variant, "avg_fps", statistics->average_fps);
    cJSON *times = cJSON_AddObjectToObject(variant, "ft_ms");
    cJSON_AddNumberToObject(times, "p50", statistics->p50);
    cJSON_AddNumberToObject(times, "p95", statistics->p95);
    cJSON_AddNumberToObject(times, "p99", statistics->p99);
    cJSON_AddNumberToObject(times, "p99_9", statistics->p99_9);
    cJSON_AddNumberToObject(times, "max", statistics->max);
    cJSON_AddNumberToObject(variant, "low1_pct_fps", statistics->low1_percentile_fps);
    cJSON_AddNumberToObject(variant, "low1_avg_fps", statistics->low1_average_fps);
    cJSON_AddNumberToObject(variant, "stutter_pct", statistics->stutter_percent);
    cJSON_AddNumberToObject(variant, "stable_pct", statistics->stable_percent);
}
