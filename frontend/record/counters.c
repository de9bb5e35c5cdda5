// SPDX-License-Identifier: MIT
#include "counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/paths.h"
#include "frontend/base/text.h"

enum { LOOPS_LISTED = 32 };

// hit of n, as a share, and both; the share is null where nothing was counted.
static void add_share(cJSON *root, const char *name, const char *hit_name, const char *n_name, uint64_t hit,
                      uint64_t n)
{
    if (n) {
        cJSON_AddNumberToObject(root, name, (double)hit / (double)n);
    } else {
        cJSON_AddNullToObject(root, name);
    }
    cJSON_AddNumberToObject(root, n_name, (double)n);
    cJSON_AddNumberToObject(root, hit_name, (double)hit);
}

static void add_loop_list(cJSON *root, const machine *m)
{
    static const char *const verdicts[] = {[MACHINE_LOOP_PROPOSED] = "proposed",
                                           [MACHINE_LOOP_PROVED] = "proved",
                                           [MACHINE_LOOP_REJECTED] = "rejected"};
    struct machine_loop loops[LOOPS_LISTED];
    size_t count = machine_list_loops(m, loops, LOOPS_LISTED);
    cJSON *list = cJSON_AddArrayToObject(root, "hot_loops");
    for (size_t i = 0; i < count; i++) {
        const struct machine_loop *loop = &loops[i];
        char header[16];
        snprintf(header, sizeof header, "%#" PRIx32, loop->header);
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "header", header);
        cJSON_AddStringToObject(object, "function", loop->function);
        cJSON_AddStringToObject(object, "class", loop->class_name);
        cJSON_AddStringToObject(object, "verdict", verdicts[loop->verdict]);
        cJSON_AddStringToObject(object, "reason", loop->reason);
        cJSON_AddNumberToObject(object, "entries", (double)loop->entries);
        cJSON_AddNumberToObject(object, "iterations", (double)loop->iterations);
        cJSON_AddNumberToObject(object, "saved", (double)loop->credited);
        cJSON_AddNumberToObject(object, "share", loop->share);
        cJSON_AddItemToArray(list, object);
    }
}

static void add_loops(cJSON *root, const machine *m, const struct machine_stats *stats)
{
    bool there = machine_has_loops(m);
    double seconds = (double)stats->emulating_ns / 1e9;
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"credited", (double)stats->credited},
        {"ips_effective", seconds > 0 ? (double)(stats->retired + stats->credited) / seconds : 0},
        {"iterations_skipped", (double)stats->iterations_skipped},
        {"loops_detected", (double)stats->loops_detected},
        {"loops_proved", (double)stats->loops_proved},
        {"loops_rejected", (double)stats->loops_rejected},
        {"verify_failures", (double)stats->verify_failures},
    };
    cJSON_AddStringToObject(root, "loops", !there ? "n/a" : machine_get_loops(m) ? "on" : "off");
    cJSON_AddStringToObject(root, "verify", !there ? "n/a" : machine_get_verify(m) ? "on" : "off");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (there) {
            cJSON_AddNumberToObject(root, figures[i].name, figures[i].value);
        } else {
            cJSON_AddNullToObject(root, figures[i].name);
        }
    }
    add_loop_list(root, m);
}

void counters_add(cJSON *root, const machine *m)
{
    struct machine_stats stats;
    machine_get_stats(m, &stats);
    double seconds = (double)stats.emulating_ns / 1e9;
    cJSON_AddStringToObject(root, "engine", machine_engine_name(machine_get_engine(m)));
    cJSON_AddNumberToObject(root, "retired", (double)stats.retired);
    cJSON_AddNumberToObject(root, "emulating_ms", (double)stats.emulating_ns / 1e6);
    cJSON_AddNumberToObject(root, "ips", seconds > 0 ? (double)stats.retired / seconds : 0);
    cJSON_AddNumberToObject(root, "translated_regions", (double)stats.translated_regions);
    cJSON_AddNumberToObject(root, "cached_regions", (double)stats.cached_regions);
    cJSON_AddNumberToObject(root, "compile_ms", (double)stats.compile_ns / 1e6);
    cJSON_AddNumberToObject(root, "idle_ms", (double)stats.idle_ns / 1e6);
    cJSON_AddNumberToObject(root, "system_calls", (double)stats.system_calls);
    cJSON_AddNumberToObject(root, "memory_mapped", (double)stats.memory_mapped);
    cJSON_AddStringToObject(root, "idle", machine_get_idle(m) ? "on" : "off");
    add_loops(root, m, &stats);
    cJSON_AddStringToObject(root, "dispatch", machine_dispatch_names[machine_get_dispatch(m)]);
    add_share(root, "dispatch_accuracy", "dispatch_hit", "dispatch_total", stats.dispatch_hit,
              stats.dispatch_total);
    add_share(root, "dispatch_accuracy_static", "dispatch_words_hit", "dispatch_words",
              stats.dispatch_words_hit, stats.dispatch_words);
}

bool counters_write(cJSON *object, const char *path)
{
    char *text = cJSON_Print(object);
    cJSON_Delete(object);
    char *lines = text_format("%s\n", text);
    cJSON_free(text);
    bool good = write_whole_file(path, lines, strlen(lines));
    free(lines);
    return good;
}
