// SPDX-License-Identifier: MIT
#include "statistics_json.h"

void statistics_add(cJSON *variant, const struct frame_statistics *statistics)
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
