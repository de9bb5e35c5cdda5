// SPDX-License-Identifier: MIT
#include "stats.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>

#include "frontend/base/host.h"
#include "frontend/base/text.h"

enum { LOOPS_LISTED = 32 };

// hit of n, and n; null where nothing was counted.
static void add_share(cJSON *root, const char *name, const char *n_name, uint64_t hit, uint64_t n)
{
    if (n) {
        cJSON_AddNumberToObject(root, name, (double)hit / (double)n);
    } else {
        cJSON_AddNullToObject(root, name);
    }
    cJSON_AddNumberToObject(root, n_name, (double)n);
}

static void add_loop_list(cJSON *root, struct session *s)
{
    static const char *const verdicts[] = {[MACHINE_LOOP_PROPOSED] = "proposed",
                                           [MACHINE_LOOP_PROVED] = "proved",
                                           [MACHINE_LOOP_REJECTED] = "rejected"};
    struct machine_loop loops[LOOPS_LISTED];
    size_t count = session_list_loops(s, loops, LOOPS_LISTED);
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

static void add_loops(cJSON *root, struct session *s, const struct machine_stats *stats)
{
    bool there = session_has_loops(s);
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
    cJSON_AddStringToObject(root, "loops", !there ? "n/a" : session_get_loops(s) ? "on" : "off");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (there) {
            cJSON_AddNumberToObject(root, figures[i].name, figures[i].value);
        } else {
            cJSON_AddNullToObject(root, figures[i].name);
        }
    }
    add_loop_list(root, s);
}

static void add_counters(cJSON *root, struct session *s)
{
    struct machine_stats stats;
    session_get_stats(s, &stats);
    double seconds = (double)stats.emulating_ns / 1e9;
    cJSON_AddStringToObject(root, "engine", machine_engine_name(session_engine(s)));
    cJSON_AddNumberToObject(root, "retired", (double)stats.retired);
    cJSON_AddNumberToObject(root, "emulating_ms", (double)stats.emulating_ns / 1e6);
    cJSON_AddNumberToObject(root, "ips", seconds > 0 ? (double)stats.retired / seconds : 0);
    cJSON_AddNumberToObject(root, "translated_regions", (double)stats.translated_regions);
    cJSON_AddNumberToObject(root, "cached_regions", (double)stats.cached_regions);
    cJSON_AddNumberToObject(root, "compile_ms", (double)stats.compile_ns / 1e6);
    cJSON_AddNumberToObject(root, "idle_ms", (double)stats.idle_ns / 1e6);
    cJSON_AddNumberToObject(root, "system_calls", (double)stats.system_calls);
    cJSON_AddNumberToObject(root, "memory_mapped", (double)stats.memory_mapped);
    cJSON_AddStringToObject(root, "idle", session_get_idle(s) ? "on" : "off");
    add_loops(root, s, &stats);
    cJSON_AddStringToObject(root, "dispatch", machine_dispatch_names[session_get_dispatch(s)]);
    add_share(root, "dispatch_accuracy", "dispatch_total", stats.dispatch_hit, stats.dispatch_total);
    add_share(root, "dispatch_accuracy_static", "dispatch_words", stats.dispatch_words_hit,
              stats.dispatch_words);
}

static void add_game(cJSON *root, const struct device_info *info)
{
    cJSON *game = cJSON_AddObjectToObject(root, "game");
    cJSON_AddNumberToObject(game, "frame", info->frame);
    cJSON_AddNumberToObject(game, "gametic", info->gametic);
    cJSON_AddBoolToObject(game, "ended", info->ended != 0);
    cJSON_AddNumberToObject(game, "timed_demo_tics", info->timed_demo_tics);
    cJSON_AddNumberToObject(game, "game_state", info->game_state);
    cJSON_AddBoolToObject(game, "menu_active", info->menu_active != 0);
    cJSON_AddBoolToObject(game, "user_game", info->user_game != 0);
    cJSON_AddBoolToObject(game, "demo_playing", info->demo_playing != 0);
    cJSON_AddNumberToObject(game, "episode", info->episode);
    cJSON_AddNumberToObject(game, "map", info->map);
    cJSON_AddNumberToObject(game, "skill", info->skill);
    cJSON_AddNumberToObject(game, "player_x", info->player_x / 65536.0);
    cJSON_AddNumberToObject(game, "player_y", info->player_y / 65536.0);
    cJSON_AddNumberToObject(game, "player_angle", info->player_angle * (360.0 / 4294967296.0));
    cJSON_AddNumberToObject(game, "health", info->health);
    cJSON_AddNumberToObject(game, "ammo", info->ammo);
}

char *stats_json(struct session *s)
{
    static const char *const ends[] = {"running", "exited", "faulted", "stopped"};
    struct session_state state;
    session_get_state(s, &state);
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", "neurodoom-stats-1");
    cJSON_AddStringToObject(root, "state", ends[state.end]);
    cJSON_AddBoolToObject(root, "paused", state.paused);
    cJSON_AddNumberToObject(root, "exit_status", state.exit_status);
    cJSON_AddNumberToObject(root, "frames", state.frames);
    cJSON_AddNumberToObject(root, "seconds", state.seconds);
    cJSON_AddNumberToObject(root, "first_frame_ms", state.first_frame_ms);
    cJSON_AddNumberToObject(root, "peak_memory", (double)host_peak_memory());
    add_counters(root, s);
    struct device_info info;
    if (session_get_info(s, &info)) {
        add_game(root, &info);
    } else {
        cJSON_AddNullToObject(root, "game");
    }
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    char *lines = text_format("%s\n", text);
    cJSON_free(text);
    return lines;
}
