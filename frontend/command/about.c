// SPDX-License-Identifier: MIT
#include "about.h"

#include <stdlib.h>
#include <string.h>

#include "bindings.h"

void about_keys(const struct settings *settings, FILE *stream)
{
    fprintf(
        stream,
        "The leader key %s, tapped, opens the panel; followed by a key, or held\n"
        "while one is pressed, it does what stands here. Keys are positions on a US keyboard; the settings\n"
        "[leader] and [direct] change them.\n\n"
        "%-16s %-10s %-16s %s\n",
        settings->leader_key, "setting", "leader +", "direct", "what");
    for (int i = 0; i < ACTION_COUNT; i++) {
        const struct action_info *info = &action_table[i];
        const char *leader = settings->leader[i], *direct = settings->direct[i];
        const char *missing = action_missing((enum action)i);
        fprintf(stream, "%-16s %-10s %-16s %s%s%s%s\n", info->name, strcmp(leader, "-") == 0 ? "" : leader,
                strcmp(direct, "-") == 0 ? "" : direct, info->label, missing ? " (" : "",
                missing ? missing : "", missing ? ")" : "");
    }
    fprintf(stream, "\nDOOM's own, in the settings [control]:\n\n");
    for (int i = 1; i < DEVICE_CONTROLS; i++) {
        fprintf(stream, "%-16s %-36s %s\n", control_table[i].name, settings->control[i],
                control_table[i].label);
    }
    char *conflicts = bindings_conflicts(settings);
    if (conflicts) {
        fprintf(stream, "\nTwo things on one key, of which the first does it:\n%s\n", conflicts);
    }
    free(conflicts);
}
