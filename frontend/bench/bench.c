// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "files.h"
#include "frontend/base/host.h"
#include "frontend/base/interrupt.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "frontend/command/launch.h"
#include "frontend/record/png.h"
#include "frontend/record/writers.h"
#include "host_load.h"
#include "page.h"
#include "plan.h"
#include "runner.h"
#include "table.h"
#include "verdict.h"

// A second of the game.
enum { WARM_TICS = 35, QUICK_SOUND_FRAMES = 700 };

// Where the report goes: a folder of its own, named by the time.
static char *report_folder(const struct options *options, struct failure *failure)
{
    char stamp[32], *folder;
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    if (options->bench.out) {
        folder = text_copy(options->bench.out);
    } else {
        char *above = path_user(PATH_DATA, "benchmarks");
        folder = text_format("%s/%s", above, stamp);
        free(above);
    }
    char *absolute = path_make_folder(folder) ? path_absolute(folder) : NULL;
    if (!absolute) {
        fail(failure, STATUS_USAGE, "--bench: cannot create the folder %s: %s", folder, strerror(errno));
    }
    free(folder);
    return absolute;
}

// Adds a word, as a shell would have to be given it.
static void add_word(char **text, const char *word)
{
    const char *quote = *word == '\0' || word[strcspn(word, " *?&|;<>()$\"")] ? "'" : "";
    char *longer = text_format("%s %s%s%s", *text, quote, word, quote);
    free(*text);
    *text = longer;
}

// As it can be typed again.
static char *command_line(const struct options *options)
{
    const struct bench_options *bench = &options->bench;
    char *text = text_format("neurodoom --bench%s%s", *bench->works ? "=" : "", bench->works);
    add_word(&text, "--ab");
    add_word(&text, bench->sides ? bench->sides : "loops");
    if (bench->against) {
        add_word(&text, "--against");
        add_word(&text, bench->against);
    }
    for (size_t i = 0; i < options->passed.count; i++) {
        add_word(&text, options->passed.items[i]);
    }
    return text;
}

// The first frame that differs, as both sides show it.
static void picture_difference(struct comparison *c, const struct workshop *shop, const char *folder)
{
    struct difference *d = &c->difference;
    if (d->of_sound || c->sides[d->a].kind != SIDE_OURS || c->sides[d->b].kind != SIDE_OURS) {
        return;
    }
    char *a = text_format("%s/a.png", shop->folder), *b = text_format("%s/b.png", shop->folder);
    char *both = text_format("%s/difference.png", folder);
    if (child_picture(c, shop, d->a, d->work, d->frame, a) &&
        child_picture(c, shop, d->b, d->work, d->frame, b) && png_join(a, b, both)) {
        d->picture = both;
        both = NULL;
    }
    free(a);
    free(b);
    free(both);
}

struct report_file {
    const char *name, *given; // in the folder, unless another path was given
    bool (*write)(const struct comparison *c, const char *path);
};

static bool write_report(const struct comparison *c, const struct options *options, const char *folder)
{
    bool mangohud = options->mangohud;
    // A hundred megabytes of all demos are written if somebody asks for them.
    const char *frames = mangohud ? "mangohud" : plan_is_full(options) ? NULL : "frames.csv";
    const struct report_file files[] = {
        {"report.html", NULL, page_write},
        {"report.json", options->json, files_write_json},
        {"runs.csv", NULL, files_write_runs},
        {frames, options->csv, mangohud ? files_write_mangohud : files_write_frames},
        {NULL, options->bench.plot, page_write_plots},
    };
    bool good = true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = files[i].given  ? text_copy(files[i].given)
                     : files[i].name ? text_format("%s/%s", folder, files[i].name)
                                     : NULL;
        if (path && !files[i].write(c, path)) {
            fprintf(stderr, "neurodoom: --bench: cannot write %s: %s\n", path, strerror(errno));
            good = false;
        }
        free(path);
    }
    return good;
}

static int conclude(struct comparison *c, const struct options *options, const char *folder)
{
    verdict_warn(c);
    bool good = write_report(c, options, folder);
    FILE *to = log_result();
    table_print(c, to);
    if (c->difference.picture) {
        fprintf(to, "both pictures: %s\n", c->difference.picture);
    }
    if (good) {
        fprintf(to, "report: %s/report.html\n", folder);
    }
    fflush(to);
    return c->difference.found ? STATUS_DIFFERS
           : c->interrupted    ? STATUS_INTERRUPTED
           : good              ? STATUS_OK
                               : STATUS_USAGE;
}

int bench_run(const struct options *options, const struct settings *settings)
{
    struct failure failure = {0};
    struct comparison c = {0};
    struct scratch scratch = {0};
    struct workshop shop = {.passed = &options->passed};
    struct runner_orders orders = {.full = plan_is_full(options), .runs = options->bench.runs};
    char *folder = NULL, *beside = NULL;
    int status = STATUS_OK;
    struct writers writers = {0};
    interrupt_catch();
    c.seed = (uint32_t)time(NULL);
    c.warm_tics = shop.warm_tics = options->bench.warmup ? options->bench.warmup : WARM_TICS;
    c.command = command_line(options);
    c.load = host_load();
    struct host_time start = host_time_now();
    bool good = writers_add(&writers, "--csv", options->csv, &failure) &&
                writers_add(&writers, "--json", options->json, &failure) &&
                writers_add(&writers, "--plot", options->bench.plot, &failure) &&
                plan_make(&c, options, settings, &failure) &&
                (folder = report_folder(options, &failure)) != NULL;
    writers_free(&writers);
    if (good &&
        !(scratch_make(&scratch) && path_make_folder(beside = text_format("%s/beside", scratch.path)))) {
        good = fail(&failure, STATUS_USAGE, "--bench: no folder for temporary files: %s", strerror(errno));
    }
    if (good) {
        shop.program = path_absolute("/proc/self/exe");
        shop.folder = scratch.path;
        shop.beside = beside;
        shop.sound_frames = orders.full ? 0 : QUICK_SOUND_FRAMES;
        fprintf(stderr, "bench: %s; seed %u\n", c.command, c.seed);
        good = runner_run(&c, &shop, &orders, &failure);
        c.steal_percent = host_steal_percent(&start);
    }
    if (good && c.difference.found) {
        c.blocks = 0; // no speed
        picture_difference(&c, &shop, folder);
    }
    if (good) {
        status = conclude(&c, options, folder);
    }
    scratch_remove(&scratch);
    free(shop.program);
    free(folder);
    free(beside);
    comparison_free(&c);
    return failure.text ? failure_report(&failure) : status;
}
