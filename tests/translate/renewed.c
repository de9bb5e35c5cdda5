// SPDX-License-Identifier: MIT
// renewed PROGRAM blocks|regions N BUILD: runs generated.c, and looks at the memory that its code takes on
// the host: it fills up, and has room again. Writes what the program writes to the file `out`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/engine/stencil/block.h"
#include "core/engine/translate/translate_internal.h"
#include "core/state/guest.h"

#define FLAGS 0x30000000u // as in generated.c

enum { SLICE = 100000, PATIENCE = 3000 };

static FILE *out;
static unsigned stuck, renewed, longest; // slices at whose end there was no room; how often; the list's
static unsigned seen, waited; // regions that have been installed; slices since

static void ok(bool good, const char *what, unsigned number)
{
    printf("%sok %s (%u)\n", good ? "" : "not ", what, number);
}

static void write_out(void *user, int fd, const char *bytes, size_t size)
{
    (void)user, (void)fd;
    fwrite(bytes, 1, size, out);
}

static void look_at_blocks(const struct guest *g)
{
    const bool is_full = g->blocks && blocks_are_full(g->blocks);
    renewed += stuck && !is_full;
    stuck = is_full ? stuck + 1 : 0;
}

// Lets the program go on to its next loop when this one's code has been installed.
static void look_at_regions(struct guest *g)
{
    const struct translator *t = g->translator;
    if (!t)
        return;
    const unsigned installed = t->installed_before + t->installed_count;
    if (installed < seen) { // another translator, be it where the last one was
        renewed++;
        seen = 0;
    }
    stuck = t->lacks_slots && t->installed_before + t->installed_count >= RENEWED_MIN ? stuck + 1 : 0;
    if (t->installed_count > longest)
        longest = t->installed_count;
    uint32_t flags[2];
    if (!memory_read(&g->memory, FLAGS, flags, sizeof flags) || flags[0] == flags[1])
        return;
    if (installed > seen || ++waited > PATIENCE) {
        memcpy(g->memory.base + FLAGS + 4, &flags[0], 4);
        seen = installed;
        waited = 0;
    }
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    const bool regions = strcmp(argv[2], "regions") == 0;
    const char *const arguments[] = {argv[1], argv[2], argv[3], NULL}, *const environment[] = {NULL};
    const struct machine_grant grants[] = {{.host = argv[1], .guest = argv[1]}};
    const struct machine_config config = {
        .program = argv[1],
        .argv = arguments,
        .envp = environment,
        .cwd = "/",
        .grants = grants,
        .grant_count = 1,
        .deterministic = true,
        .clock = MACHINE_CLOCK_VIRTUAL,
        .engine = MACHINE_ENGINE_TRANSLATE,
        .library_folder = argv[4],
        .output = write_out,
    };
    struct error error;
    machine *m = machine_create(&config, &error);
    out = fopen("out", "w");
    if (!m || !out)
        return 2;
    unsigned most = 0;
    while (machine_run(m, SLICE) == MACHINE_RUNNING) {
        if (regions)
            look_at_regions((struct guest *)m);
        else
            look_at_blocks((struct guest *)m);
        most = stuck > most ? stuck : most;
    }
    ok(renewed > 0, "memory that is full of code that has changed is used anew", renewed);
    ok(most <= 2, "it does not stay full", most);
    if (regions)
        ok(longest && longest < 32, "the list of what may have to be forgotten stays short", longest);
    ok(machine_exit_status(m) == 0, "the program ends well", (unsigned)machine_exit_status(m));
    machine_destroy(m);
    fclose(out);
    return 0;
}
