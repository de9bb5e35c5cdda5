// SPDX-License-Identifier: MIT
#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "frontend/base/paths.h"
#include "frontend/command/launch.h"
#include "frontend/record/counters.h"
#include "frontend/record/mangohud.h"
#include "frontend/record/record.h"
#include "frontend/record/report.h"
#include "profiles.h"
#include "verdict.h"

bool files_write_runs(const struct comparison *c, const char *path)
{
    struct new_file file;
    if (!new_file_open(&file, path)) {
        return false;
    }
    fputs("run,block,pass,side,work,core,cpu_s,start_s,wall_s,preempted,compile_s,frames\n", file.stream);
    for (size_t i = 0; i < c->run_count; i++) {
        const struct run *run = &c->runs[i];
        fprintf(file.stream, "%zu,%u,%u,%s,%s,%d,%.6f,%.6f,%.6f,%ld,%.6f,%zu\n", i + 1, run->block, run->pass,
                c->sides[run->side].name, c->works[run->work].name, run->core, run->cpu_s, run->start_s,
                run->wall_s, run->preempted, run->compile_s, run->frame_count);
    }
    return new_file_commit(&file);
}

// Each of the rows, with the number of the run in front.
static void write_rows(FILE *to, size_t number, const char *rows)
{
    for (const char *line = rows; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        fprintf(to, "%zu,%.*s", number, (int)length, line);
        line += length;
    }
}

bool files_write_frames(const struct comparison *c, const char *path)
{
    struct new_file file;
    if (!new_file_open(&file, path)) {
        return false;
    }
    fprintf(file.stream, "run,%s\n", record_csv_header);
    for (size_t i = 0; i < c->run_count; i++) {
        if (c->runs[i].rows) {
            write_rows(file.stream, i + 1, c->runs[i].rows);
        }
    }
    return new_file_commit(&file);
}

static bool write_mangohud(const struct comparison *c, size_t side, const char *path)
{
    struct new_file file;
    if (!new_file_open(&file, path)) {
        return false;
    }
    double elapsed = 0;
    mangohud_begin(file.stream);
    for (size_t i = 0; i < c->run_count; i++) {
        const struct run *run = &c->runs[i];
        for (size_t f = run->warm; run->block && run->side == side && f < run->frame_count; f++) {
            elapsed += run->frame_ms[f];
            mangohud_frame(file.stream, run->frame_ms[f], elapsed);
        }
    }
    return new_file_commit(&file);
}

bool files_write_mangohud(const struct comparison *c, const char *folder)
{
    bool good = path_make_folder(folder);
    for (size_t s = 0; good && s < c->side_count; s++) {
        if (c->sides[s].kind == SIDE_OURS) {
            char *path = text_format("%s/%s.csv", folder, c->sides[s].name);
            for (char *at = path + strlen(folder) + 1; *at; at++) {
                *at = *at == ' ' || *at == '/' ? '-' : *at;
            }
            good = write_mangohud(c, s, path);
            free(path);
        }
    }
    return good;
}

static void add_content(cJSON *root, const struct comparison *c)
{
    cJSON *content = cJSON_AddObjectToObject(root, "content");
    cJSON *works = cJSON_CreateArray();
    double tics = 0;
    for (size_t i = 0; i < c->work_count; i++) {
        const struct work *w = &c->works[i];
        cJSON *work = cJSON_CreateObject();
        cJSON_AddItemToObject(work, "name", report_text(w->name));
        cJSON_AddItemToObject(work, "file", report_text(path_name(w->wad ? w->wad : w->replay)));
        report_add_hash(work, "sha256", w->wad ? w->wad : w->replay);
        cJSON_AddNumberToObject(work, "frames", (double)w->frame_count);
        cJSON_AddNumberToObject(work, "tics", w->tics);
        cJSON_AddNumberToObject(work, "turn", w->turn);
        cJSON_AddItemToArray(works, work);
        tics += w->tics;
    }
    const struct work *first = &c->works[0];
    cJSON_AddItemToObject(content, "wad", report_text(path_name(first->wad ? first->wad : first->replay)));
    report_add_hash(content, "sha256", first->wad ? first->wad : first->replay);
    cJSON_AddItemToObject(content, "demo", report_text(first->demo ? path_name(first->demo) : first->name));
    cJSON_AddNumberToObject(content, "tics", tics);
    cJSON_AddItemToObject(content, "works", works);
    char *guest = launch_program();
    report_add_hash(cJSON_AddObjectToObject(root, "guest"), "elf_sha256", guest);
    free(guest);
}

static void add_settings(cJSON *root, const struct comparison *c)
{
    cJSON *settings = cJSON_AddObjectToObject(root, "settings");
    cJSON_AddNumberToObject(settings, "seed", c->seed);
    cJSON_AddNumberToObject(settings, "warm_tics", c->warm_tics);
    cJSON_AddNumberToObject(settings, "warm_rounds", c->warm_rounds);
    cJSON_AddBoolToObject(settings, "settled", c->settled);
    cJSON_AddNumberToObject(settings, "blocks", c->blocks);
    cJSON_AddNumberToObject(settings, "blocks_planned", c->planned);
    cJSON_AddBoolToObject(settings, "interrupted", c->interrupted);
}

static void add_passes(cJSON *variant, const struct comparison *c, size_t side)
{
    size_t count = (size_t)c->blocks * PASSES;
    double *cpu = memory_resize(NULL, (2 * count + 1) * sizeof *cpu), *start = cpu + count;
    figures_passes(c, side, cpu, start);
    cJSON *runs = cJSON_AddArrayToObject(variant, "runs");
    for (size_t i = 0; i < count; i++) {
        cJSON *run = cJSON_CreateObject();
        cJSON_AddNumberToObject(run, "block", (double)(i / PASSES + 1));
        cJSON_AddNumberToObject(run, "cpu_s", cpu[i]);
        cJSON_AddNumberToObject(run, "start_s", start[i]);
        cJSON_AddItemToArray(runs, run);
    }
    free(cpu);
}

static void add_figure(cJSON *object, const char *name, bool there, double value)
{
    if (there) {
        cJSON_AddNumberToObject(object, name, value);
    } else {
        cJSON_AddNullToObject(object, name);
    }
}

static void add_variant(cJSON *variants, const struct comparison *c, size_t side)
{
    static const char *const kinds[] = {
        [SIDE_OURS] = "neurodoom", [SIDE_NATIVE] = "native", [SIDE_QEMU] = "qemu-aarch64"};
    const struct side *s = &c->sides[side];
    struct side_figures f;
    figures_of_side(c, side, &f);
    cJSON *variant = cJSON_CreateObject();
    cJSON_AddItemToObject(variant, "name", report_text(s->name));
    cJSON_AddStringToObject(variant, "program", kinds[s->kind]);
    cJSON *options = cJSON_AddArrayToObject(variant, "options");
    for (size_t i = 0; i < s->words.count; i++) {
        cJSON_AddItemToArray(options, report_text(s->words.items[i]));
    }
    add_passes(variant, c, side);
    cJSON_AddNumberToObject(variant, "cpu_s", f.cpu_s);
    cJSON_AddNumberToObject(variant, "start_s", f.start_s);
    cJSON_AddNumberToObject(variant, "wall_s", f.wall_s);
    cJSON_AddNumberToObject(variant, "frames", (double)f.frames.frames);
    report_add_times(variant, &f.frames);
    add_figure(variant, "mips", f.has_frames, f.mips);
    add_figure(variant, "mips_effective", f.has_frames, f.mips_effective);
    add_figure(variant, "retired", f.has_frames, f.retired);
    add_figure(variant, "credited", f.has_frames, f.credited);
    add_figure(variant, "skipped", f.has_frames, f.skipped);
    add_figure(variant, "dispatch_accuracy", f.has_frames && f.dispatch_accuracy >= 0, f.dispatch_accuracy);
    cJSON_AddItemToArray(variants, variant);
}

static void add_interval(cJSON *object, const char *ratio, const char *name, bool enough,
                         const struct interval *i)
{
    add_figure(object, ratio, i->ratio > 0, i->ratio);
    if (enough) {
        const double ends[] = {i->low, i->high};
        cJSON_AddItemToObject(object, name, cJSON_CreateDoubleArray(ends, 2));
    } else {
        cJSON_AddNullToObject(object, name);
    }
}

static cJSON *ratio(const struct comparison *c, size_t a, size_t b, size_t work)
{
    struct interval i;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "a", report_text(c->sides[a].name));
    cJSON_AddItemToObject(object, "b", report_text(c->sides[b].name));
    if (work < c->work_count) {
        cJSON_AddItemToObject(object, "work", report_text(c->works[work].name));
    }
    bool enough = figures_compare_cpu(c, a, b, work, &i);
    add_interval(object, "speedup", "ci95", enough, &i);
    return object;
}

static void add_comparisons(cJSON *root, const struct comparison *c)
{
    struct interval i;
    cJSON *compare = ratio(c, 0, 1, c->work_count);
    bool enough = figures_compare_frames(c, 0, 1, &i);
    add_interval(compare, "frame_speedup", "frame_ci95", enough, &i);
    cJSON_AddBoolToObject(compare, "hash_equal", !c->difference.found);
    char *verdict = verdict_text(c);
    cJSON_AddStringToObject(compare, "verdict", verdict);
    free(verdict);
    cJSON_AddItemToObject(root, "compare", compare);
    cJSON *further = cJSON_AddArrayToObject(root, "further");
    for (size_t w = 0; c->work_count > 1 && w < c->work_count; w++) {
        cJSON_AddItemToArray(further, ratio(c, 0, 1, w));
    }
    for (size_t s = 2; s < c->side_count; s++) {
        cJSON_AddItemToArray(further, ratio(c, 1, s, c->work_count));
    }
}

bool files_write_json(const struct comparison *c, const char *path)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", REPORT_SCHEMA);
    cJSON_AddItemToObject(root, "command", report_text(c->command));
    report_add_program(root);
    report_add_machine(root);
    cJSON *machine = cJSON_GetObjectItem(root, "machine");
    cJSON_AddNumberToObject(machine, "load", c->load);
    cJSON_AddNumberToObject(machine, "steal_pct", c->steal_percent);
    add_content(root, c);
    add_settings(root, c);
    cJSON *variants = cJSON_AddArrayToObject(root, "variants");
    for (size_t s = 0; s < c->side_count; s++) {
        add_variant(variants, c, s);
    }
    add_comparisons(root, c);
    const cJSON *loops = cJSON_GetObjectItem(c->loops, "hot_loops");
    cJSON_AddItemToObject(root, "hot_loops", loops ? cJSON_Duplicate(loops, true) : cJSON_CreateArray());
    cJSON_AddItemToObject(root, "profile", profiles_json(c));
    cJSON *warnings = cJSON_AddArrayToObject(root, "warnings");
    for (size_t i = 0; i < c->warnings.count; i++) {
        cJSON_AddItemToArray(warnings, report_text(c->warnings.items[i]));
    }
    return counters_write(root, path);
}
