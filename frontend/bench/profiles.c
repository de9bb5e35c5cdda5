// SPDX-License-Identifier: MIT
#include "profiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/record/report.h"
#include "svg.h"
#include "verdict.h"

enum { SHOWN = 9 }; // functions, and as many loops

static struct profile_part *part_of(struct profile_parts *parts, const char *function, const char *header)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (strcmp(parts->items[i].function, function) == 0 && strcmp(parts->items[i].header, header) == 0) {
            return &parts->items[i];
        }
    }
    parts->items = memory_resize(parts->items, (parts->count + 1) * sizeof *parts->items);
    struct profile_part *part = &parts->items[parts->count++];
    *part = (struct profile_part){.function = text_copy(function), .header = text_copy(header)};
    return part;
}

static void add_list(struct profile_parts *parts, size_t side, const cJSON *list)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        struct profile_part *part =
            part_of(parts, report_text_at(item, "function"), report_text_at(item, "header"));
        part->ms[side] += report_number_at(item, "ms");
        part->samples[side] += report_number_at(item, "samples");
        part->credited[side] += report_number_at(item, "credited");
    }
}

void profiles_add(struct profiles *p, size_t side, const cJSON *report)
{
    p->samples[side] += report_number_at(report, "samples");
    p->ms[side] += report_number_at(report, "cpu_ms");
    add_list(&p->functions, side, cJSON_GetObjectItem(report, "functions"));
    add_list(&p->loops, side, cJSON_GetObjectItem(report, "loops"));
}

static void add_counts(struct profile_parts *parts, const cJSON *list)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        part_of(parts, report_text_at(item, "function"), report_text_at(item, "header"))->instructions +=
            report_number_at(item, "instructions");
    }
}

void profiles_add_counts(struct profiles *p, const cJSON *report)
{
    p->instructions += report_number_at(report, "instructions");
    add_counts(&p->functions, cJSON_GetObjectItem(report, "functions"));
    add_counts(&p->loops, cJSON_GetObjectItem(report, "loops"));
}

static double longest(const struct profile_part *part)
{
    return fmax(part->ms[0], part->ms[1]);
}

static int by_time(const void *a, const void *b)
{
    double x = longest(a), y = longest(b);
    return (x < y) - (x > y);
}

void profiles_end(struct profiles *p, unsigned passes)
{
    struct profile_parts *const all[] = {&p->functions, &p->loops};
    p->passes = passes;
    for (size_t s = 0; s < 2; s++) {
        p->ms[s] /= passes;
    }
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < all[k]->count; i++) {
            for (size_t s = 0; s < 2; s++) {
                all[k]->items[i].ms[s] /= passes;
                all[k]->items[i].credited[s] /= passes;
            }
        }
        if (all[k]->count) {
            qsort(all[k]->items, all[k]->count, sizeof *all[k]->items, by_time);
        }
    }
}

static void free_parts(struct profile_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        free(parts->items[i].function);
        free(parts->items[i].header);
    }
    free(parts->items);
}

void profiles_free(struct profiles *p)
{
    free_parts(&p->functions);
    free_parts(&p->loops);
    *p = (struct profiles){0};
}

// ---- the page ----

// Half of the 95 % interval of a part's time.
static double margin(const struct profiles *p, const struct profile_part *part, size_t side)
{
    double n = p->samples[side], share = n > 0 ? part->samples[side] / n : 0;
    return n > 0 ? 1.96 * sqrt(share * (1 - share) / n) * p->ms[side] : 0;
}

static void write_bars(FILE *to, const struct profile_part *part, double largest)
{
    fputs("<td class=\"word\" style=\"width:54px\"><svg width=\"50\" height=\"13\" aria-hidden=\"true\">",
          to);
    for (unsigned s = 0; s < 2; s++) {
        fprintf(to, "<rect y=\"%u\" width=\"%.1f\" height=\"6\" fill=\"%s\"/>", s * 7,
                largest > 0 ? 50 * part->ms[s] / largest : 0, series_colour(s));
    }
    fputs("</svg></td></tr>\n", to);
}

// Million instructions a second: those of the plain run, in the time that a side takes for the part.
static double mips(const struct profile_part *part, size_t side)
{
    return part->ms[side] > 0 ? part->instructions / part->ms[side] / 1000 : 0;
}

static void write_figures(FILE *to, const struct profiles *p, const struct profile_part *part)
{
    if (part->instructions > 0) {
        fprintf(to, "<td>%.1f</td>", part->instructions / 1e6);
    } else {
        fputs("<td></td>", to);
    }
    for (size_t s = 0; s < 2; s++) {
        if (part->samples[s] > 0) {
            fprintf(to, "<td class=\"one\">%.1f <span class=\"small\">±%.1f</span></td>", part->ms[s],
                    margin(p, part, s));
        } else {
            fputs("<td>–</td>", to);
        }
        if (mips(part, s) > 0) {
            fprintf(to, "<td>%.0f</td>", mips(part, s));
        } else {
            fputs("<td></td>", to);
        }
    }
}

static void write_table(FILE *to, const struct comparison *c, const struct profile_parts *parts)
{
    bool loops = parts == &c->profiles.loops;
    double largest = parts->count ? longest(&parts->items[0]) : 0;
    fprintf(to, "<table><tr><th>%s</th><th>million<br>instr.</th>", loops ? "loop in" : "function");
    for (unsigned s = 0; s < 2; s++) {
        fputs("<th>", to);
        series_key(to, s);
        write_escaped(to, c->sides[s].name);
        fputs("<br>ms a pass</th><th><br>MIPS</th>", to);
    }
    fputs("<th></th></tr>\n", to);
    for (size_t i = 0; i < parts->count && i < SHOWN; i++) {
        const struct profile_part *part = &parts->items[i];
        fputs("<tr><td>", to);
        write_escaped(to, part->function);
        if (loops) {
            fprintf(to, " <span class=\"small\">%s</span>", part->header);
        }
        fputs("</td>", to);
        write_figures(to, &c->profiles, part);
        write_bars(to, part, largest);
    }
    fputs("</table>\n", to);
}

void profiles_write_page(FILE *to, const struct comparison *c)
{
    const struct profiles *p = &c->profiles;
    if (!p->passes) {
        return;
    }
    fputs("<section><h2>Where time goes</h2><div class=\"plots\"><div>\n", to);
    write_table(to, c, &p->functions);
    fputs("</div><div>\n", to);
    write_table(to, c, &p->loops);
    char *a = verdict_number(p->samples[0]), *b = verdict_number(p->samples[1]);
    fprintf(
        to,
        "</div></div><p class=\"small\">CPU time of the thread that emulates, sampled in %u further "
        "passes of "
        "each side (%s and %s samples), which count in no other figure; ± is half of a 95 %% interval. "
        "Instructions are exact: of a pass in which no loop is replaced; MIPS: million of these a second. A "
        "loop's figures are part of its function's. [system calls]: and devices; [engine]: decoding, putting "
        "translated code in its place; [host program]: what is done with frames.</p></section>\n",
        p->passes, a, b);
    free(a);
    free(b);
}

// ---- the report ----

static cJSON *list_json(const struct profile_parts *parts)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < parts->count; i++) {
        const struct profile_part *part = &parts->items[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "function", part->function);
        if (*part->header) {
            cJSON_AddStringToObject(object, "header", part->header);
        }
        cJSON_AddItemToObject(object, "ms", cJSON_CreateDoubleArray(part->ms, 2));
        cJSON_AddItemToObject(object, "samples", cJSON_CreateDoubleArray(part->samples, 2));
        cJSON_AddItemToObject(object, "credited", cJSON_CreateDoubleArray(part->credited, 2));
        cJSON_AddNumberToObject(object, "instructions", part->instructions);
        const double rates[2] = {mips(part, 0), mips(part, 1)};
        cJSON_AddItemToObject(object, "mips", cJSON_CreateDoubleArray(rates, 2));
        cJSON_AddItemToArray(list, object);
    }
    return list;
}

cJSON *profiles_json(const struct comparison *c)
{
    const struct profiles *p = &c->profiles;
    if (!p->passes) {
        return cJSON_CreateNull();
    }
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "passes", p->passes);
    cJSON_AddItemToObject(root, "samples", cJSON_CreateDoubleArray(p->samples, 2));
    cJSON_AddItemToObject(root, "ms", cJSON_CreateDoubleArray(p->ms, 2));
    cJSON_AddNumberToObject(root, "instructions", p->instructions);
    cJSON_AddItemToObject(root, "functions", list_json(&p->functions));
    cJSON_AddItemToObject(root, "loops", list_json(&p->loops));
    return root;
}
