// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "frontend/base/host.h"
#include "frontend/base/text.h"

// The length of the character that begins there, 0 if none does: RFC 3629.
static size_t character_length(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (*text < 0x80) {
        return 1;
    }
    size_t length = *text < 0xc0 ? 0 : *text < 0xe0 ? 2 : *text < 0xf0 ? 3 : *text < 0xf8 ? 4 : 0;
    uint32_t code = *text & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3f);
    }
    return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

cJSON *report_text(const char *text)
{
    static const char mark[] = "\xef\xbf\xbd"; // U+FFFD
    char *utf8 = memory_resize(NULL, (sizeof mark - 1) * strlen(text) + 1), *to = utf8;
    while (*text) {
        size_t length = character_length((const unsigned char *)text);
        to = mempcpy(to, length ? text : mark, length ? length : sizeof mark - 1);
        text += length ? length : 1;
    }
    *to = '\0';
    cJSON *string = cJSON_CreateString(utf8);
    free(utf8);
    return string;
}

double report_number_at(const cJSON *object, const char *name)
{
    const cJSON *value = cJSON_GetObjectItem(object, name);
    return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

const char *report_text_at(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
    return text ? text : "";
}

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
