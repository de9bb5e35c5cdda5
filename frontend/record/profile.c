// SPDX-License-Identifier: MIT
#include "profile.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "frontend/base/text.h"

enum { LOOPS_MAX = 8192 };

static const char *const kinds[MACHINE_PROFILE_KINDS] = {
    [MACHINE_PROFILE_TRANSLATED] = "translated", [MACHINE_PROFILE_INTERPRETED] = "interpreted",
    [MACHINE_PROFILE_KERNEL] = "kernel",         [MACHINE_PROFILE_ENGINE] = "[engine]",
    [MACHINE_PROFILE_SYSTEM] = "[system calls]", [MACHINE_PROFILE_PROGRAM] = "[host program]",
};
#define GUEST_KINDS (MACHINE_PROFILE_KERNEL + 1u) // the first ones

// A function, a loop, or what is no code of the guest.
struct entry {
    char *name; // of the function
    uint32_t start, header, branch; // header 0: a function
    uint64_t samples, of_kind[GUEST_KINDS], instructions;
    const struct machine_loop *counted; // of a loop that the optimizer has counted, else NULL
    uint64_t credited;
};

struct entries {
    struct entry *items;
    size_t count;
};

struct report {
    enum profile_measure measure;
    bool counted_all; // instructions are known
    struct machine_profile profile;
    struct machine_stats stats;
    const machine *m;
    struct machine_loop *counted;
    size_t counted_count;
    struct entries functions, loops;
};

// ---- what there is to tell ----

static char *name_of(const struct machine_profile_row *row)
{
    return row->kind >= GUEST_KINDS ? text_copy(kinds[row->kind])
           : row->function          ? text_copy(row->function)
                                    : text_format("[%#" PRIx32 "]", row->start);
}

static bool has_entry(const struct entries *list, const char *name, uint32_t header)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].header == header && strcmp(list->items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static struct entry *entry_of(struct entries *list, const char *name, uint32_t start, uint32_t header,
                              uint32_t branch)
{
    for (size_t i = 0; i < list->count; i++) {
        struct entry *e = &list->items[i];
        if (e->start == start && e->header == header && strcmp(e->name, name) == 0) {
            e->branch = e->branch > branch ? e->branch : branch;
            return e;
        }
    }
    list->items = memory_resize(list->items, (list->count + 1) * sizeof *list->items);
    struct entry *e = &list->items[list->count++];
    *e = (struct entry){.name = text_copy(name), .start = start, .header = header, .branch = branch};
    return e;
}

static void add_row(struct entry *e, const struct machine_profile_row *row)
{
    e->samples += row->samples;
    e->instructions += row->instructions;
    if (row->kind < GUEST_KINDS) {
        e->of_kind[row->kind] += row->samples;
    }
}

static void add_rows(struct report *r)
{
    for (size_t i = 0; i < r->profile.row_count; i++) {
        const struct machine_profile_row *row = &r->profile.rows[i];
        char *name = name_of(row);
        add_row(entry_of(&r->functions, name, row->start, 0, 0), row);
        if (row->header) {
            add_row(entry_of(&r->loops, name, row->start, row->header, row->branch), row);
        }
        free(name);
    }
}

// What has been counted of loops that were sampled, or have done something.
static void add_counted(struct report *r)
{
    for (size_t i = 0; i < r->counted_count; i++) {
        const struct machine_loop *loop = &r->counted[i];
        uint64_t offset = loop->header % 4096;
        const char *symbol = machine_symbol(r->m, loop->header, &offset);
        uint32_t start = loop->header - (uint32_t)offset;
        char *name = symbol ? text_copy(symbol) : text_format("[%#" PRIx32 "]", start);
        if (loop->credited || has_entry(&r->loops, name, loop->header)) {
            struct entry *e = entry_of(&r->loops, name, start, loop->header, 0);
            e->counted = loop;
            e->credited = loop->credited;
            entry_of(&r->functions, name, start, 0, 0)->credited += loop->credited;
        }
        free(name);
    }
}

static int by_place(const struct entry *x, const struct entry *y)
{
    return x->credited != y->credited ? (x->credited < y->credited ? 1 : -1)
                                      : (x->header > y->header) - (x->header < y->header);
}

static int by_samples(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->samples != y->samples ? (x->samples < y->samples ? 1 : -1) : by_place(x, y);
}

static int by_instructions(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->instructions != y->instructions ? (x->instructions < y->instructions ? 1 : -1) : by_place(x, y);
}

static void report_make(struct report *r, const machine *m, enum profile_measure measure)
{
    *r = (struct report){.m = m, .measure = measure};
    machine_get_profile(m, &r->profile);
    r->counted_all = r->profile.instructions > 0;
    machine_get_stats(m, &r->stats);
    r->counted = memory_resize(NULL, LOOPS_MAX * sizeof *r->counted);
    r->counted_count = machine_list_loops(m, r->counted, LOOPS_MAX);
    add_rows(r);
    add_counted(r);
    struct entries *const lists[] = {&r->functions, &r->loops};
    for (size_t i = 0; i < 2; i++) {
        if (lists[i]->count) {
            qsort(lists[i]->items, lists[i]->count, sizeof *lists[i]->items,
                  measure == PROFILE_TIME ? by_samples : by_instructions);
        }
    }
}

static void entries_free(struct entries *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
    }
    free(list->items);
}

static void report_free(struct report *r)
{
    entries_free(&r->functions);
    entries_free(&r->loops);
    free(r->counted);
}

// ---- figures ----

static double share(const struct report *r, uint64_t samples)
{
    return r->profile.samples ? (double)samples / (double)r->profile.samples : 0;
}

static double share_counted(const struct report *r, uint64_t instructions)
{
    return r->counted_all ? (double)instructions / (double)r->profile.instructions : 0;
}

static double milliseconds(const struct report *r, uint64_t samples)
{
    return share(r, samples) * (double)r->profile.cpu_ns / 1e6;
}

// Of a share p of n samples lies its 95 % interval as far to either side.
static double margin(const struct report *r, uint64_t samples)
{
    double p = share(r, samples), n = (double)r->profile.samples;
    return n > 0 ? 1.96 * sqrt(p * (1 - p) / n) : 0;
}

static const char *verdict_of(const struct machine_loop *loop)
{
    static const char *const verdicts[] = {[MACHINE_LOOP_PROPOSED] = "proposed",
                                           [MACHINE_LOOP_PROVED] = "proved",
                                           [MACHINE_LOOP_REJECTED] = "rejected"};
    return verdicts[loop->verdict];
}

// ---- where time goes, as text ----

static void write_head(FILE *to, const struct report *r)
{
    const struct machine_stats *s = &r->stats;
    fprintf(to,
            "host time     %.3f s of CPU time, the emulation thread's (exact)\n"
            "samples       %" PRIu64 " of it, on average one in %.2f ms; %" PRIu64 " lost\n"
            "translating   %.3f s of CPU time, a thread's of its own (exact), and in no line below\n"
            "instructions  %" PRIu64 " executed, %" PRIu64 " credited (exact)\n"
            "engine        %s; loops %s\n"
            "\n"
            "share, +-, samples and ms are sampled; entries, rounds and credited are exact\n",
            (double)r->profile.cpu_ns / 1e9, r->profile.samples,
            r->profile.samples ? (double)r->profile.cpu_ns / 1e6 / (double)r->profile.samples : 0,
            r->profile.lost, (double)s->compile_ns / 1e9, s->retired, s->credited,
            machine_engine_name(machine_get_engine(r->m)),
            !machine_has_loops(r->m)  ? "n/a"
            : machine_get_loops(r->m) ? "on"
                                      : "off");
}

static void write_sampled(FILE *to, const struct report *r, const struct entry *e)
{
    fprintf(to, "%6.2f %%%6.2f%9" PRIu64 "%11.1f", 100 * share(r, e->samples), 100 * margin(r, e->samples),
            e->samples, milliseconds(r, e->samples));
}

// A column that is there where instructions have been counted.
static void write_instructions(FILE *to, const struct report *r, uint64_t instructions)
{
    if (r->counted_all) {
        fprintf(to, "%16" PRIu64, instructions);
    }
}

static void write_functions(FILE *to, const struct report *r)
{
    fprintf(to, "\n%8s%6s%9s%11s%12s%12s%8s%16s%s  %s\n", "share", "+-", "samples", "ms", kinds[0], kinds[1],
            kinds[2], "credited", r->counted_all ? "    instructions" : "", "function");
    for (size_t i = 0; i < r->functions.count; i++) {
        const struct entry *e = &r->functions.items[i];
        write_sampled(to, r, e);
        fprintf(to, "%12" PRIu64 "%12" PRIu64 "%8" PRIu64 "%16" PRIu64, e->of_kind[0], e->of_kind[1],
                e->of_kind[2], e->credited);
        write_instructions(to, r, e->instructions);
        fprintf(to, "  %s\n", e->name);
    }
    fprintf(to, "%6.2f %%%6s%9" PRIu64 "%11.1f%48s", 100 * share(r, r->profile.samples), "",
            r->profile.samples, milliseconds(r, r->profile.samples), "");
    write_instructions(to, r, r->profile.instructions);
    fputs("  all\n", to);
}

static void write_loops(FILE *to, const struct report *r)
{
    fprintf(to, "\n%8s%6s%9s%11s%12s%14s%16s %-9s%s %-10s  %s\n", "share", "+-", "samples", "ms", "entries",
            "rounds", "credited", "verdict", r->counted_all ? "    instructions" : "", "loop", "in function");
    for (size_t i = 0; i < r->loops.count; i++) {
        const struct entry *e = &r->loops.items[i];
        write_sampled(to, r, e);
        if (e->counted) {
            fprintf(to, "%12" PRIu64 "%14" PRIu64 "%16" PRIu64 " %-9s", e->counted->entries,
                    e->counted->iterations, e->credited, verdict_of(e->counted));
        } else {
            fprintf(to, "%12s%14s%16s %-9s", "-", "-", "-", "-");
        }
        write_instructions(to, r, e->instructions);
        fprintf(to, " %#-10" PRIx32 "  %s\n", e->header, e->name);
    }
}

// ---- where instructions are, as text ----

static void write_counted(FILE *to, const struct report *r, uint64_t instructions)
{
    fprintf(to, "%6.2f %%%16" PRIu64, 100 * share_counted(r, instructions), instructions);
}

static void write_counts(FILE *to, const struct report *r)
{
    fprintf(to,
            "instructions  %" PRIu64 " (exact); all of them interpreted, and no loop replaced\n"
            "\n%8s%16s  function\n",
            r->profile.instructions, "share", "instructions");
    for (size_t i = 0; i < r->functions.count; i++) {
        write_counted(to, r, r->functions.items[i].instructions);
        fprintf(to, "  %s\n", r->functions.items[i].name);
    }
    write_counted(to, r, r->profile.instructions);
    fprintf(to, "  all\n\n%8s%16s  %-10s  in function\n", "share", "instructions", "loop");
    for (size_t i = 0; i < r->loops.count; i++) {
        const struct entry *e = &r->loops.items[i];
        write_counted(to, r, e->instructions);
        fprintf(to, "  %#-10" PRIx32 "  %s\n", e->header, e->name);
    }
}

static void write_text(FILE *to, const struct report *r)
{
    if (r->measure == PROFILE_INSTRUCTIONS) {
        write_counts(to, r);
        return;
    }
    write_head(to, r);
    write_functions(to, r);
    write_loops(to, r);
}

// ---- as folded stacks ----

// Whoever called, the outermost first.
static void write_callers(FILE *to, const struct report *r, uint32_t caller)
{
    if (caller == MACHINE_PROFILE_UNKNOWN_CALLER) {
        fputs("[unknown caller];", to);
    } else if (caller != MACHINE_PROFILE_OUTERMOST) {
        write_callers(to, r, r->profile.callers[caller].outer);
        fprintf(to, "%s;", r->profile.callers[caller].function);
    }
}

static void write_folded(FILE *to, const struct report *r)
{
    for (size_t i = 0; i < r->profile.row_count; i++) {
        const struct machine_profile_row *row = &r->profile.rows[i];
        uint64_t weight = r->measure == PROFILE_TIME ? row->samples : row->instructions;
        if (!weight) {
            continue;
        }
        char *name = name_of(row);
        write_callers(to, r, row->caller);
        fputs(name, to);
        if (row->header) {
            fprintf(to, ";loop@%#" PRIx32, row->header);
        }
        if (row->kind < GUEST_KINDS) {
            fprintf(to, ";%s", kinds[row->kind]);
        }
        fprintf(to, " %" PRIu64 "\n", weight);
        free(name);
    }
}

// ---- as JSON ----

static cJSON *object_of(const struct report *r, const struct entry *e)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "function", e->name);
    if (e->header) {
        char header[16];
        snprintf(header, sizeof header, "%#" PRIx32, e->header);
        cJSON_AddStringToObject(object, "header", header);
    }
    if (r->counted_all) {
        cJSON_AddNumberToObject(object, "instructions", (double)e->instructions);
    }
    if (r->measure == PROFILE_INSTRUCTIONS) {
        cJSON_AddNumberToObject(object, "share", share_counted(r, e->instructions));
        return object;
    }
    cJSON_AddNumberToObject(object, "samples", (double)e->samples);
    cJSON_AddNumberToObject(object, "share", share(r, e->samples));
    cJSON_AddNumberToObject(object, "ms", milliseconds(r, e->samples));
    for (unsigned k = 0; k < GUEST_KINDS; k++) {
        cJSON_AddNumberToObject(object, kinds[k], (double)e->of_kind[k]);
    }
    cJSON_AddNumberToObject(object, "credited", (double)e->credited);
    if (e->counted) {
        cJSON_AddNumberToObject(object, "entries", (double)e->counted->entries);
        cJSON_AddNumberToObject(object, "iterations", (double)e->counted->iterations);
        cJSON_AddStringToObject(object, "verdict", verdict_of(e->counted));
    }
    return object;
}

static void add_list(cJSON *root, const char *name, const struct report *r, const struct entries *list)
{
    cJSON *array = cJSON_AddArrayToObject(root, name);
    for (size_t i = 0; i < list->count; i++) {
        cJSON_AddItemToArray(array, object_of(r, &list->items[i]));
    }
}

static void write_json(FILE *to, const struct report *r)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", "neurodoom-profile-1");
    if (r->counted_all) {
        cJSON_AddNumberToObject(root, "instructions", (double)r->profile.instructions);
    }
    if (r->measure == PROFILE_TIME) {
        cJSON_AddNumberToObject(root, "samples", (double)r->profile.samples);
        cJSON_AddNumberToObject(root, "lost", (double)r->profile.lost);
        cJSON_AddNumberToObject(root, "cpu_ms", (double)r->profile.cpu_ns / 1e6);
        cJSON_AddNumberToObject(root, "compile_ms", (double)r->stats.compile_ns / 1e6);
    }
    cJSON_AddNumberToObject(root, "retired", (double)r->stats.retired);
    cJSON_AddNumberToObject(root, "credited", (double)r->stats.credited);
    add_list(root, "functions", r, &r->functions);
    add_list(root, "loops", r, &r->loops);
    char *text = cJSON_Print(root);
    fprintf(to, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(root);
}

// ---- the file ----

static bool ends_in(const char *path, const char *extension)
{
    size_t length = strlen(path), wanted = strlen(extension);
    return length >= wanted && strcmp(path + length - wanted, extension) == 0;
}

static bool write_file(const machine *m, const char *path, enum profile_measure measure)
{
    struct report r;
    struct new_file file;
    if (!new_file_open(&file, path)) {
        return false;
    }
    report_make(&r, m, measure);
    (ends_in(path, ".folded") ? write_folded
     : ends_in(path, ".json") ? write_json
                              : write_text)(file.stream, &r);
    report_free(&r);
    return new_file_commit(&file);
}

bool profile_report(const machine *m, const char *path, enum profile_measure measure)
{
    if (!path || write_file(m, path, measure)) {
        return true;
    }
    log_line(LOG_ERROR, "cannot write %s: %s", path, strerror(errno));
    return false;
}
