// SPDX-License-Identifier: MIT
#include "loop_run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/nn/rng.h"
#include "guest/device_page.h"

enum { SLOTS = 1 << 16 };

struct run {
    struct seen_loops *seen;
    uint32_t *table; // SLOTS of index + 1 into seen->loops
    size_t room;
    struct rng random;
    bool no_memory;
};

static struct seen_loop *find_or_add(struct run *run, const struct machine_loop_entry *entry)
{
    struct seen_loops *seen = run->seen;
    size_t slot = (entry->header * 0x9e3779b1u ^ entry->branch * 0x85ebca6bu) % SLOTS;
    for (; run->table[slot]; slot = (slot + 1) % SLOTS) {
        struct seen_loop *loop = &seen->loops[run->table[slot] - 1];
        if (loop->header == entry->header && loop->branch == entry->branch)
            return loop;
    }
    if (seen->count == SLOTS / 2)
        return NULL;
    if (seen->count == run->room) {
        size_t room = run->room ? 2 * run->room : 1024;
        struct seen_loop *bigger = realloc(seen->loops, room * sizeof *bigger);
        if (!bigger)
            return NULL;
        seen->loops = bigger;
        run->room = room;
    }
    struct seen_loop *loop = &seen->loops[seen->count++];
    *loop = (struct seen_loop){.header = entry->header, .branch = entry->branch};
    memcpy(loop->x, entry->x, sizeof loop->x);
    run->table[slot] = (uint32_t)seen->count;
    return loop;
}

static void loop_entered(void *user, const struct machine_loop_entry *entry)
{
    struct run *run = user;
    struct seen_loop *loop = find_or_add(run, entry);
    if (!loop) {
        run->no_memory = true;
        return;
    }
    if (loop->entries < LOOP_TRIPS_MAX) {
        loop->trips[loop->entries] = entry->trips;
    } else {
        uint64_t place = rng_next(&run->random) % loop->entries;
        if (place < LOOP_TRIPS_MAX - 1)
            loop->trips[1 + place] = entry->trips;
    }
    loop->entries++;
    loop->iterations += entry->trips;
}

static void ignore_output(void *user, int fd, const char *text, size_t length)
{
    (void)user, (void)fd, (void)text, (void)length;
}

static void ignore_log(void *user, const char *line)
{
    (void)user, (void)line;
}

static void ignore_frame(void *user, const struct machine_frame *frame)
{
    (void)user, (void)frame;
}

static int by_address(const void *a, const void *b)
{
    const struct seen_loop *x = a, *y = b;
    if (x->header != y->header)
        return x->header < y->header ? -1 : 1;
    return (x->branch > y->branch) - (x->branch < y->branch);
}

// To the end. Events are for a program that asks for them: nobody takes them out of the ring otherwise.
static enum machine_state run_machine(machine *m, const struct run_options *options)
{
    struct rng random = {options->events_seed};
    struct machine_stats stats;
    enum machine_state state;
    do {
        uint64_t budget = options->most;
        if (options->events_seed) {
            budget = 100 + rng_below(&random, 1u << (7 + rng_below(&random, 8)));
            const struct device_event event = {.type = DEVICE_EVENT_KEY_UP};
            struct device_info info;
            if (machine_get_device_info(m, &info) && info.menu_active)
                machine_post_event(m, &event);
        }
        state = machine_run(m, budget);
        machine_get_stats(m, &stats);
    } while (state == MACHINE_RUNNING && stats.retired < options->most);
    return state;
}

bool loop_run(const struct run_options *options, struct seen_loops *seen, struct error *error)
{
    char folder[PATH_MAX] = "", program[PATH_MAX];
    const char *environment[] = {"HOME=/", NULL};
    struct run run = {.seen = seen, .table = calloc(SLOTS, sizeof *run.table), .random = {1}};
    *seen = (struct seen_loops){NULL, 0};
    if (!run.table || !realpath(options->argv[0], program) ||
        (options->folder && !realpath(options->folder, folder))) {
        error_set(error, "cannot run %s: no such file or folder", options->argv[0]);
        free(run.table);
        return false;
    }
    const struct machine_grant grants[] = {
        {.host = program, .guest = program},
        {.host = "/usr/share", .guest = "/usr/share"},
        {.host = folder, .guest = folder, .writable = true},
    };
    const struct machine_config config = {
        .program = program,
        .argv = options->argv,
        .envp = environment,
        .cwd = options->folder ? folder : "/",
        .grants = grants,
        .grant_count = options->folder ? 3 : 1,
        .device = options->events_seed != 0,
        .deterministic = true,
        .clock = MACHINE_CLOCK_VIRTUAL,
        .engine = MACHINE_ENGINE_INTERP,
        .user = &run,
        .present = ignore_frame,
        .log = ignore_log,
        .loop_entered = loop_entered,
        .output = ignore_output,
    };
    machine *m = machine_create(&config, error);
    if (!m) {
        free(run.table);
        return false;
    }
    enum machine_state state = run_machine(m, options);
    int status = machine_exit_status(m);
    const struct machine_fault *fault = machine_get_fault(m);
    uint64_t offset;
    const char *name = state == MACHINE_FAULTED ? machine_symbol(m, fault->pc, &offset) : NULL;
    if (state == MACHINE_RUNNING)
        error_set(error, "%s does not end", options->argv[0]);
    else if (state == MACHINE_FAULTED)
        error_set(error, "%s: in %s: %s", options->argv[0], name ? name : "?", fault->what);
    else if (status != 0)
        error_set(error, "%s ended with status %d", options->argv[0], status);
    // Loops that only the machine's end reports stay without a name.
    size_t named = seen->count;
    struct name {
        char function[48];
        uint64_t offset;
    } *names = calloc(named + 1, sizeof *names);
    for (size_t i = 0; names && i < named; i++) {
        // A jump back to another function is a call at the end of one.
        const char *of_branch = machine_symbol(m, seen->loops[i].branch, &offset);
        name = machine_symbol(m, seen->loops[i].header, &names[i].offset);
        name = name && of_branch && strcmp(name, of_branch) == 0 ? name : NULL;
        snprintf(names[i].function, sizeof names[i].function, "%s", name ? name : "");
    }
    machine_destroy(m);
    for (size_t i = 0; names && i < named; i++) {
        memcpy(seen->loops[i].function, names[i].function, sizeof names[i].function);
        seen->loops[i].offset = (uint32_t)names[i].offset;
    }
    bool good = state == MACHINE_EXITED && status == 0 && names && !run.no_memory;
    if (run.no_memory || !names)
        error_set(error, "%s: no memory for its loops", options->argv[0]);
    free(names);
    free(run.table);
    qsort(seen->loops, seen->count, sizeof *seen->loops, by_address);
    if (!good) {
        free(seen->loops);
        *seen = (struct seen_loops){NULL, 0};
    }
    return good;
}
