// SPDX-License-Identifier: MIT
#include "stats.h"

#include "counters.h"
#include "frontend/base/host.h"

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

bool stats_write(struct session *s, const char *path)
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
    if (state.sound.heard) {
        cJSON *sound = cJSON_AddObjectToObject(root, "sound");
        cJSON_AddNumberToObject(sound, "under_runs", state.sound.under_runs);
        cJSON_AddNumberToObject(sound, "latency_ms", state.sound.latency_ms);
    } else {
        cJSON_AddNullToObject(root, "sound");
    }
    counters_add(root, session_machine(s));
    struct device_info info;
    if (machine_get_device_info(session_machine(s), &info)) {
        add_game(root, &info);
    } else {
        cJSON_AddNullToObject(root, "game");
    }
    return counters_write(root, path);
}
